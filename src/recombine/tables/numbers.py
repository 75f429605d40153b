"""What texts write: numbers, dates or labels, and which look alike. A text stays the text it is."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.sheets.rules import rule_pattern
from recombine.sheets.units import base_amount

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
#: A version of a program: 3.9 and 3.10.
_VERSION = re.compile(r"([1-9][0-9]?)\.(0|[1-9][0-9]?)", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
#: Blanks, and dashes and underscores between letters: a dash at the end may mean something (A-).
_GAPS = re.compile(r"\s+|(?<=\w)\s*[_\-\u2010-\u2015]+\s*(?=\w)|(?<=\s)[_\-\u2010-\u2015]+\s*(?=\w)|[\u200b\ufeff]+")
#: An amount: a number, perhaps a blank, and its unit, which a letter, a percent or a degree sign begins.
_AMOUNT = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?) ?((?:[^\W\d_]|[%°]).*)", re.DOTALL)
_MICRO = re.compile(r"μ(?=[^\W\d_])")
_FLAGS = frozenset({"t", "f", "y", "n", "no", "yes", "true", "false"})
#: How far below 3.10 the next version is, at most.
MAX_VERSIONS_APART = 4
#: Shorter labels may mean something by their case: the alleles A and a, the units S and s.
MIN_LETTERS_FOLDED = 3


def is_number(text: str) -> bool:
    """Say whether a text writes a finite number."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def kind_of_texts(texts: Collection[str]) -> str:
    """Return what all of some texts could be read as: a number padded with zeros (007) is a label."""
    if texts and all(map(is_number, texts)) and not any(map(rule_pattern("padded").fullmatch, texts)):
        return "integer" if all(float(text).is_integer() for text in texts) else "number"
    return "date" if texts and all(map(rule_pattern("date_like").fullmatch, texts)) else "text"


def level_text(level: object) -> str:
    """Return a level as the reader would write it: no trailing zeros, no midnight, no digit lost."""
    if isinstance(level, float):
        short = f"{level:g}"
        return short if float(short) == level else repr(level).removesuffix(".0")
    if isinstance(level, datetime) and level.time() == time():
        return str(level.date())
    return str(level)


def missing_values(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say which of ``values`` (N,) are missing, whatever stands for that."""
    if values.dtype.kind == "O":
        listed = values.tolist()
        if not any(map(is_nothing, set(listed))):  # of the few values that stand in many rows each is looked at once
            return np.zeros(len(listed), dtype=bool)
        return np.fromiter(map(is_nothing, listed), dtype=bool, count=len(listed))
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)
    return np.zeros(len(values), dtype=bool)


def is_nothing(value: Any) -> bool:
    """Say whether a value of a table is missing; pandas has missing values that refuse to be compared."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def filled_values(values: npt.NDArray[Any]) -> list[Any]:
    """Return the values of a column, None where a field is blank."""
    return [None if is_nothing(value) or value == "" else value for value in values.tolist()]


def look_alikes(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of labels that differ only by case, blanks, dashes, or the way a number, unit or amount is written.

    Misspellings are not looked for: in 2,996 columns of real tables 3,634 pairs of levels are one letter apart
    (``benchmarks/spellings.py``), and levels such as ``A1`` and ``A2`` are so too.
    """
    labels, groups, amounts = list(labels), dict[object, list[str]](), dict[object, object]()
    versions = are_versions(labels)
    for label in labels:
        spelling = label if versions and is_number(label) else spelled(label)
        if (amount := _amount_of(label)) is not None:
            spelling = amounts.setdefault(amount, spelling)
        groups.setdefault(spelling, []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def spelled(label: str) -> object:
    """Return what a label is read as: its number, its number and unit, or its letters; equal of two spellings.

    Examples
    --------
    >>> spelled("5 µM") == spelled("5.0uM"), spelled("Low-dose ") == spelled("low dose"), spelled("5 mW")
    (True, True, (5.0, 'mw'))
    """
    if is_number(label):
        return float(label)
    if _HEXADECIMAL.fullmatch(label.strip()):
        return float(int(label, 16))
    letters = _GAPS.sub(" ", unicodedata.normalize("NFKC", label).strip()).strip()
    if (amount := _AMOUNT.fullmatch(letters)) and math.isfinite(float(amount[1])):
        return float(amount[1]), _unit(amount[2])
    folded = letters.casefold()
    return (folded if len(letters) >= MIN_LETTERS_FOLDED or folded in _FLAGS else letters) or label


def _amount_of(label: str) -> tuple[float, str] | None:
    """How much of its base unit a label is: ``100 nM`` is ``0.1 µM``; None where it names none."""
    written = _AMOUNT.fullmatch(_GAPS.sub(" ", unicodedata.normalize("NFKC", label).strip()).strip())
    return None if written is None else base_amount(f"{written[1]} {written[2]}")


def _unit(text: str) -> str:
    """A unit without case, but that of one letter alone, and of m and M before another: milli and mega."""
    text = _MICRO.sub("u", text)
    return text if len(text) == 1 else text[0] + text[1:].casefold() if text[0] in "mM" else text.casefold()


def are_versions(labels: Iterable[str]) -> bool:
    """Whether the numbers among labels are versions: 3.10 stands among 3.8, 3.9 and the like, and is not 3.1.

    Examples
    --------
    >>> are_versions(["3.8", "3.9", "3.10", "pypy3.9"]), are_versions(["2.5", "2.50"]), are_versions(["8.5", "9.0"])
    (True, False, False)
    """
    matches = [_VERSION.fullmatch(label) for label in labels if is_number(label)]
    versions = {(int(match[1]), int(match[2])) for match in matches if match}
    return all(matches) and any(
        minor == 10 and any((major, 10 - back) in versions for back in range(1, MAX_VERSIONS_APART + 1))
        for major, minor in versions
    )


def measured_span(labels: Sequence[str]) -> tuple[int, float, float] | None:
    """Return how many levels are numbers that look measured, the smallest and the largest; None for codes 1, 2, 3."""
    if len(labels) < 3 or kind_of_texts(labels) not in ("integer", "number") or are_versions(labels):
        return None
    numbers = sorted(map(float, labels))
    if all(number.is_integer() for number in numbers) and numbers[-1] - numbers[0] <= len(set(numbers)) - 1:
        return None
    return len(labels), numbers[0], numbers[-1]
