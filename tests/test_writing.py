"""Numbers and shares as a reader expects them."""

from __future__ import annotations

import pytest

from recombine.writing import listing, percent


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
