"""Words and numbers as every output writes them."""

from __future__ import annotations

import pytest

from recombine.report.written import percent


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0.0 %"), (5, 5, "100.0 %"), (99_999, 100_000, "> 99.9 %"), (1, 10**15, "< 0.1 %"), (1, 8, "12.5 %")],
)
def test_percent_never_rounds_to_none_or_all(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text
