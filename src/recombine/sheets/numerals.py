"""Columns of numbers, written as plain numbers: without currency, percent signs and what stands between thousands."""

from __future__ import annotations

from recombine.sheets.notes import Note
from recombine.sheets.rules import rule_pattern, rule_section, rule_words
from recombine.sheets.units import unit_spelling
from recombine.sheets.values import Column, Numeral, TextKinds

_GAPS = str.maketrans("", "", " '\u2019\u00a0\u2009\u202f")


def decimal_sign(kinds: TextKinds, delimiter: str, commas: bool = False) -> str:
    """Return the decimal sign of a column of numbers, "" if no one fits all.

    ``commas`` says that other columns of the sheet have decimal commas.

    Examples
    --------
    >>> from recombine.sheets.values import text_kinds
    >>> [decimal_sign(text_kinds(texts), ";") for texts in (["1,5", "2"], ["1,234", "2,345"], ["1.5", "2,5"])]
    [',', '.', '']
    """
    if kinds.plain and not commas and delimiter != ";":
        return "."
    digits = [number.digits for number in kinds.numbers.values()]
    point, comma = (all(map(rule_pattern(f"{sign}_number").fullmatch, digits)) for sign in ("point", "comma"))
    if point:
        grouped = [text for text in digits if "," in text or "." in text] if comma else []
        # Semicolons stand between fields where commas are decimal signs; decimals would seldom end with so many zeros.
        thousands = delimiter == ";" and 2 * sum(text.endswith("0") and "." in text for text in grouped) > len(grouped)
        return "," if grouped and (commas or thousands) else "."
    # Between commas, 1,2 in quotes is rather a list of two.
    clear = delimiter not in ("", ",") or commas or any(map(rule_pattern("clear_decimals").fullmatch, digits))
    return "," if comma and clear else ""


def plain_number(number: Numeral, sign: str) -> str:
    """Write a number with a decimal point and nothing else.

    Examples
    --------
    >>> plain_number(Numeral("-", "1.234,5"), ",")
    '-1234.5'
    """
    digits = number.digits.translate(_GAPS)
    digits = digits.replace(",", "") if sign == "." else digits.replace(".", "").replace(",", ".")
    return number.sign.replace("+", "") + digits


def read_numbers(
    column: Column, delimiter: str, sign: str, *, commas: bool = False, keep_unit: bool = False
) -> tuple[dict[str, str], list[Note]]:
    """Return what texts of a column of numbers are read as, of those read otherwise than written, and notes.

    A factor keeps its unit (``keep_unit``), in one spelling.
    """
    kinds = column.kinds
    sentinels = _sentinels(kinds)
    if kinds.plain and sign == "." and len(kinds.numbers) == len(kinds.counts) and delimiter in ("", ","):
        return {}, [column.note("sentinel", sentinels)] if sentinels else []
    texts = {text: plain_number(number, sign) for text, number in kinds.numbers.items() if not _stays(number, sign)}
    notes = _notes(column, sign, unclear=not commas and delimiter not in ("", ","))
    [unit] = kinds.units
    if keep_unit and unit_spelling(unit):
        levels = {text: f"{plain} {unit_spelling(unit)}" for text, plain in texts.items() if kinds.numbers[text].unit}
        once = len(set(levels.values())) == len(levels)
        texts = {} if once else levels
        notes = [] if once else [Note("unit_spelling", column.name, (), tuple(dict.fromkeys(levels.values())))]
    missing = kinds.nothing - set(rule_section("words")["missing"])
    if missing:
        notes.append(column.note("nothing", missing))
    if sentinels:
        notes.append(column.note("sentinel", sentinels))
    if kinds.limits:
        notes.append(column.note("limit", kinds.limits, lines=True))
    changed = {text: plain for text, plain in texts.items() if plain != text}
    return changed | dict.fromkeys(kinds.nothing | kinds.limits, ""), notes


def _sentinels(kinds: TextKinds) -> frozenset[str]:
    """Return numbers such as -9999 that are far from all others of a column, and may say that there is nothing."""
    sentinels = frozenset(kinds.counts.keys() & rule_words("sentinels"))
    if not sentinels or not kinds.plain:
        return frozenset()
    others = [abs(float(text)) for text in kinds.numbers if text not in sentinels]
    smallest = min(abs(float(text)) for text in sentinels)
    return sentinels if others and 10 * max(others) < smallest else frozenset()


def _stays(number: Numeral, sign: str) -> bool:
    return number.plain and (sign == "." or "." not in number.digits)


def _notes(column: Column, sign: str, *, unclear: bool) -> list[Note]:
    numbers = column.kinds.numbers
    marks = {
        "percent": ["%" for number in numbers.values() if number.unit == "%"],
        "currency": [number.currency for number in numbers.values()],
        "unit": [number.unit for number in numbers.values() if number.unit != "%"],
    }
    notes = [Note(kind, column.name, (), tuple(filter(None, dict.fromkeys(used)))) for kind, used in marks.items()]
    between = "," if sign == "." else "."
    grouped = {text for text, number in numbers.items() if set(number.digits) & {between, *map(chr, _GAPS)}}
    pointed = {text for text, number in numbers.items() if sign == "." and "." in number.digits}
    grouped_points = unclear and all(
        map(rule_pattern("point_groups").fullmatch, (numbers[text].digits for text in pointed))
    )
    ambiguous = unclear and sign == "." and all(_ambiguous(numbers[text].digits) for text in grouped)
    by_kind = {
        "unclear_comma" if ambiguous else "thousands": grouped,
        "unclear_point": pointed if grouped_points else set(),
        "decimal_comma": {text for text, number in numbers.items() if sign == "," and "," in number.digits},
        "marked": {text for text in numbers if rule_pattern("mark").fullmatch(text[-1])},
        "negative": {text for text, number in numbers.items() if number.sign == "-" and "-" not in text},
    }
    return [note for note in notes if note.values] + [column.note(kind, of) for kind, of in by_kind.items() if of]


def _ambiguous(digits: str) -> bool:
    return digits.count(",") == 1 and rule_pattern("comma_groups").fullmatch(digits) is not None
