"""Levels that look alike: spellings that differ only by what a person would not have meant as a difference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from recombine.tables.numbers import is_number, kind_of_texts

_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
#: Blanks, and dashes and underscores between letters: a dash at the end may mean something (A-).
_GAPS = re.compile(r"\s+|(?<=\w)\s*[_\-\u2010-\u2015]+\s*(?=\w)|(?<=\s)[_\-\u2010-\u2015]+\s*(?=\w)|[\u200b\ufeff]+")
_FLAGS = frozenset({"t", "f", "y", "n", "no", "yes", "true", "false"})
#: Shorter labels may mean something by their case: the alleles A and a, the units S and s.
MIN_LETTERS_FOLDED = 3


def look_alikes(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of labels that differ only by case, blanks, dashes, or the way a number is written.

    Misspellings are not looked for: in 2,996 columns of real tables 3,634 pairs of levels are one letter apart
    (``benchmarks/reading.py``), and levels such as ``A1`` and ``A2`` are so too.
    """
    groups: dict[object, list[str]] = {}
    for label in labels:
        groups.setdefault(_reading(label), []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _reading(label: str) -> object:
    """What a label is read as: its number, or its letters."""
    if is_number(label):
        return float(label)
    if _HEXADECIMAL.fullmatch(label.strip()):
        return float(int(label, 16))
    letters = _GAPS.sub(" ", unicodedata.normalize("NFKC", label)).strip()
    folded = letters.casefold()
    return (folded if len(letters) >= MIN_LETTERS_FOLDED or folded in _FLAGS else letters) or label


def measured_span(labels: Sequence[str]) -> tuple[int, float, float] | None:
    """Return how many levels are numbers that look measured, the smallest and the largest; None for codes 1, 2, 3."""
    if len(labels) < 3 or kind_of_texts(labels) not in ("integer", "number"):
        return None
    numbers = sorted(map(float, labels))
    if all(number.is_integer() for number in numbers) and numbers[-1] - numbers[0] <= len(set(numbers)) - 1:
        return None
    return len(labels), numbers[0], numbers[-1]
