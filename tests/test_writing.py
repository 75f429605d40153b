"""Numbers and shares as a reader expects them."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.writing import listing, percent, printable, printable_lines

#: Kinds of marks that turn the direction of writing.
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0.0 %"), (5, 5, "100.0 %"), (99_999, 100_000, "> 99.9 %"), (1, 10**15, "< 0.1 %"), (1, 8, "12.5 %")],
)
def test_percent_never_rounds_to_none_or_all(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 20])
def test_listing_accounts_for_every_item(count: int) -> None:
    text = listing([f"item{index}" for index in range(count)], limit=3)
    shown = text.count("item")
    left = int(text.rsplit("(", 1)[1].split()[0]) if "more)" in text else 0
    assert shown == min(count, 3)
    assert shown + left == count


@given(st.text(), st.text(alphabet="::#[\n\t \\nu0a\r\x0b\u2028\u202e\x1b\x85\U000e0041", max_size=12))
def test_what_is_printable_is_one_line_that_nobody_obeys(plain: str, hostile: str) -> None:
    for text in (hostile, plain, hostile + plain):
        shown = printable(text)
        assert len(shown.splitlines()) <= 1
        assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in shown)
        assert not any(unicodedata.bidirectional(letter) in TURNING for letter in shown)
        assert not shown.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", shown)
        assert printable(shown) == shown
        assert json.loads(f'"{printable(json.dumps(text, ensure_ascii=False)[1:-1])}"') == text


def test_a_line_end_is_not_written_as_a_backslash_and_an_n() -> None:
    assert len({printable(text) for text in ("a\nb", "a\\nb", "a\rb", "a b", "a\\u0009b", "a\u2028b")}) == 6


def test_lines_of_a_text_stay_lines() -> None:
    assert printable_lines("a\n  b\tc\n\n::d") == "a\n  b\\u0009c\n\n\\u003a:d"
