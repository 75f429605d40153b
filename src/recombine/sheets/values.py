"""What the texts of one column are: numbers in one of many ways of writing them, nothing, limits, or labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.sheets.rules import rule_limit, rule_pattern, rule_words
from recombine.sheets.units import unit_spelling

#: Units of numbers that are looked for behind other texts.
MAX_UNITS = 8
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})


class Numeral(NamedTuple):
    """A number as it is written: its sign, digits with what stands between them, currency, unit (as spelled)."""

    sign: str
    digits: str
    currency: str = ""
    unit: str = ""
    plain: bool = False


def written_number(text: str) -> Numeral | None:
    """Take a text apart that writes a number in one of many ways; None where it does not.

    Examples
    --------
    >>> written_number("-$1,234.50").digits, written_number("(5 %)"), written_number("fifth")
    ('1,234.50', Numeral(sign='-', digits='5', currency='', unit='%', plain=False), None)
    """
    if rule_pattern("number").fullmatch(text):
        return Numeral(text[0], text[1:], plain=True) if text[0] in "+-" else Numeral("", text, plain=True)
    match = rule_pattern("decorated").fullmatch(text) if len(text) <= rule_limit("letters of a number") else None
    if match is None or bool(match[1]) != bool(match[7]) or not any(map(str.isdigit, match[5])):
        return None
    sign, inner = ((match[col] or "").translate(_MINUS) for col in (2, 4))
    digits = match[5].translate(_MINUS)
    behind = "-" * (digits[-1] == "-" and digits.rstrip("-")[-1] not in ".,")  # 1.50- is -1.50, and 12,- is 12
    if len(sign + inner + behind) + bool(match[1]) > 1:
        return None
    currency, unit = match[3] or "", (match[6] or "").strip()
    if rule_pattern("currency").fullmatch(unit):
        currency, unit = currency + unit, ""
    if rule_pattern("mark").fullmatch(unit):  # 0.41* points to a footnote
        unit = ""
    return Numeral("-" if match[1] else sign or inner or behind, digits.rstrip("-"), currency, unit)


@dataclass(frozen=True)
class TextKinds:
    """The distinct texts of a column by what they are, and how many cells hold each."""

    counts: Counter[str]
    numbers: Mapping[str, Numeral]
    nothing: frozenset[str]
    limits: frozenset[str]
    others: frozenset[str]

    def cells(self, texts: Iterable[str]) -> int:
        """Count the cells that hold one of some texts."""
        return sum(self.counts[text] for text in texts)

    @cached_property
    def plain(self) -> bool:
        """Whether every number is written as one already."""
        return all(number.plain for number in self.numbers.values())

    @cached_property
    def measured(self) -> bool:
        """Whether numbers are as many as those of measurements, not of levels."""
        count = len(self.numbers)
        return count > rule_limit("distinct numbers of a measured column") or 3 * count >= 2 * self.cells(self.numbers)

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of all numbers but zeros without one, in one spelling; "" for a text that is no known unit."""
        used = {""} if self.plain else {number.unit for number in self.numbers.values()}
        if "" in used and used != {""}:
            used = {number.unit for number in self.numbers.values() if number.unit or not _is_zero(number)}
        return frozenset(self._unit(unit) for unit in used)

    def _unit(self, unit: str) -> str:
        same = unit in ("", "%") or all(number.unit == unit for number in self.numbers.values())
        return unit if same else unit_spelling(unit) or f"? {unit}"

    def are_numbers(self, *, outcome: bool = False) -> bool:
        """Whether every cell that says something writes a number, with one unit and one currency at most.

        Limits are read of measurements only: <18 may be a level. An ``outcome`` is measured, however few its numbers.
        """
        measured = self.measured or outcome
        share = rule_limit("share of numbers that makes a column of numbers")
        marks = {""} if self.plain else {number.currency for number in self.numbers.values() if not _is_zero(number)}
        return (
            bool(self.numbers)
            and not self.others
            and self.cells(self.numbers) >= share * self.counts.total()
            and (measured or not self.limits)
            and len(marks) == 1
            and len(self.units) == 1
            and (measured or all(unit in ("", "%") or unit_spelling(unit) for unit in self.units))
            and not any(number.digits[0] == "0" and number.digits[1:2].isdigit() for number in self.numbers.values())
        )


def _is_zero(number: Numeral) -> bool:
    return not set(number.digits) - set("0.,")


def text_kinds(cells: Iterable[str]) -> TextKinds:
    """Sort the distinct texts of a column, whose cells have no blanks around them.

    Examples
    --------
    >>> kinds = text_kinds(["1", "2.5", "7", "n.d.", "-", ""])
    >>> kinds.are_numbers(), sorted(kinds.limits), sorted(kinds.nothing)
    (True, ['n.d.'], ['-'])
    """
    counts = Counter(cells)
    counts.pop("", None)
    numbers = {text: number for text in counts if (number := written_number(text)) is not None}
    units = list(dict.fromkeys(number.unit for number in numbers.values() if number.unit))[:MAX_UNITS]
    short = (text for text in counts if text not in numbers and len(text) <= rule_limit("letters of a number"))
    bare = {text: _without(text, units) for text in short}
    nothing = frozenset(text for text, word in bare.items() if word.casefold() in rule_words("nothing"))
    limits = frozenset(text for text, word in bare.items() if rule_pattern("limit").fullmatch(word)) - nothing
    return TextKinds(counts, numbers, nothing, limits, frozenset(counts) - numbers.keys() - nothing - limits)


def _without(text: str, units: Iterable[str]) -> str:
    """Return a text without a unit of other cells behind it: n.d. mg is n.d."""
    return next((text[: -len(unit)].strip() for unit in units if text.endswith(unit) and text != unit), text)


@dataclass(frozen=True)
class Column:
    """One column on its way: its name, cells without blanks around them, the lines they stand in."""

    name: str
    cells: Sequence[str]
    lines: Sequence[int]
    kinds: TextKinds

    def note(self, kind: str, texts: Collection[str], *, lines: bool = False) -> Note:
        """Return a note on the cells that hold one of some texts, in the order in which these come."""
        ordered = tuple(text for text in self.kinds.counts if text in texts)[:MAX_NAMED_VALUES]
        at = [line for cell, line in zip(self.cells, self.lines, strict=True) if cell in texts] if lines else []
        return Note(kind, self.name, tuple(at[:MAX_NAMED_VALUES]), ordered, self.kinds.cells(texts))
