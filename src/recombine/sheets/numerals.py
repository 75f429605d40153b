"""Columns of numbers, written as plain numbers: without currency, percent signs and what stands between thousands."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.sheets.notes import Note
from recombine.sheets.rules import rule_limit, rule_pattern, rule_section
from recombine.sheets.units import unit_spelling
from recombine.sheets.values import Column, Numeral, TextKinds

_GAPS = str.maketrans("", "", " '\u2019\u00a0\u2009\u202f")


def decimal_sign(kinds: TextKinds, delimiter: str, sheet_sign: str = "") -> str:
    """Return the decimal sign of a column of numbers, "" if no one fits all.

    ``sheet_sign`` is the sign of other columns of the sheet, where they tell.

    Examples
    --------
    >>> from recombine.sheets.values import text_kinds
    >>> [decimal_sign(text_kinds(texts), ";") for texts in (["1,5", "2"], ["1,234", "2,345"], ["1.5", "2,5"])]
    [',', ',', '']
    """
    # A workbook writes its own numbers with points, whatever its texts are.
    if kinds.plain and (not delimiter or (sheet_sign != "," and delimiter != ";")):
        return "."
    digits = [number.digits for number in kinds.numbers.values()]
    point, comma = (all(map(rule_pattern(f"{sign}_number").fullmatch, digits)) for sign in ("point", "comma"))
    if point:
        grouped = [text for text in digits if "," in text or "." in text] if comma else []
        if delimiter == ";" and sheet_sign != "." and any("," in text for text in grouped):
            return ","  # semicolons stand between fields because commas are decimal signs
        return "," if grouped and (sheet_sign or "," * _points_between_thousands(digits, delimiter)) == "," else "."
    # Between commas, 1,2 in quotes is rather a list of two.
    clear = (
        delimiter not in ("", ",") or sheet_sign == "," or any(map(rule_pattern("clear_decimals").fullmatch, digits))
    )
    return "," if comma and clear else ""


def told_sign(columns: Sequence[TextKinds], delimiter: str) -> str:
    """Return the decimal sign that some column of numbers tells: "," for 1,5 and "." for 2.25, but none for 1.234."""
    signs = set()
    for kinds in columns:
        sign = decimal_sign(kinds, delimiter)
        opposite = rule_pattern("point_number" if sign == "," else "comma_number")
        if not all(opposite.fullmatch(number.digits) for number in kinds.numbers.values()):
            signs.add(sign)
    return "," if "," in signs else "." if "." in signs else ""


def _points_between_thousands(digits: list[str], delimiter: str) -> bool:
    """Whether 1.278 is rather 1278 in a column in which it may be both.

    Semicolons stand between fields where commas are decimal signs; decimals would seldom end with so many zeros, and
    beside 1.278 the number 639 would be far from all others.
    """
    pointed = [text for text in digits if "." in text]
    integers = [float(text) for text in digits if text.isdecimal()]
    ends = 2 * sum(text.endswith("0") for text in pointed) > len(pointed)
    below = max(map(float, pointed), default=1000) < max(integers, default=0) and 100 <= max(integers) < 1000
    return delimiter == ";" and (ends or below)


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
    column: Column, delimiter: str, sign: str, *, sheet_sign: str = "", keep_unit: bool = False
) -> tuple[dict[str, str], list[Note]]:
    """Return what texts of a column of numbers are read as, of those read otherwise than written, and notes.

    A factor keeps its unit (``keep_unit``), in one spelling.
    """
    kinds = column.kinds
    codes = _codes(kinds, sign)
    if kinds.plain and sign == "." and len(kinds.numbers) == len(kinds.counts) and delimiter in ("", ",") and not codes:
        return {}, []
    texts = {
        text: plain_number(number, sign)
        for text, number in kinds.numbers.items()
        if not number.plain or (sign != "." and "." in number.digits)
    }
    notes = _notes(column, sign, unclear=not sheet_sign and delimiter not in ("", ","))
    [unit] = kinds.units
    if keep_unit and unit_spelling(unit):
        levels = {text: f"{plain} {unit_spelling(unit)}" for text, plain in texts.items() if kinds.numbers[text].unit}
        once = len(set(levels.values())) == len(levels)
        texts = {} if once else levels
        notes = [] if once else [Note("unit_spelling", column.name, (), tuple(dict.fromkeys(levels.values())))]
    missing = kinds.nothing - set(rule_section("words")["missing"])
    if missing:
        notes.append(column.note("nothing", missing))
    gone = {text for text, is_code in codes.items() if is_code}
    for kind, texts_of in {"sentinel": codes.keys() - gone, "code": gone}.items():
        if texts_of:
            notes.append(column.note(kind, texts_of, lines=True))
    if kinds.limits:
        notes.append(column.note("limit", kinds.limits, lines=True))
    changed = {text: plain for text, plain in texts.items() if plain != text}
    return changed | dict.fromkeys(kinds.nothing | kinds.limits | gone, ""), notes


def _codes(kinds: TextKinds, sign: str) -> dict[str, bool]:
    """Return numbers such as -9999 that may say that there is nothing, and whether they do.

    They do in a measured column where they repeat, are the fewer, and are far from all others.
    """
    codes = set(filter(rule_pattern("sentinel").fullmatch, kinds.numbers))
    others = [float(plain_number(kinds.numbers[text], sign)) for text in kinds.numbers.keys() - codes] if codes else []
    if not others:
        return {}
    low, high, is_missing = min(others), max(others), {}
    for text in codes:
        code = float(plain_number(kinds.numbers[text], sign))
        far = max(low - code, code - high) > rule_limit("ranges between a code and the numbers") * (high - low)
        if far or (code < -9 and low >= 0):
            is_missing[text] = (
                far and kinds.measured and len(others) > 2 and 1 < kinds.cells(codes) < kinds.counts.total() / 2
            )
    return is_missing


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
    # 1.234 and 1,234 may be decimals and thousands.
    either = {
        text for text, number in numbers.items() if unclear and rule_pattern("one_group").fullmatch(number.digits)
    }
    by_kind = {
        "unclear_comma" if sign == "." and unclear and grouped <= either else "thousands": grouped,
        "unclear_point": pointed if pointed <= either else set(),
        "decimal_comma": {text for text, number in numbers.items() if sign == "," and "," in number.digits},
        "marked": {text for text in numbers if rule_pattern("mark").fullmatch(text[-1])},
        "negative": {
            text
            for text, number in numbers.items()
            if number.sign == "-" and "-" not in text.split(number.digits[0])[0]
        },
    }
    return [note for note in notes if note.values] + [column.note(kind, of) for kind, of in by_kind.items() if of]
