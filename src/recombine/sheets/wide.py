"""Wide tables: the levels of one factor are columns, and become rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from recombine.errors import InputError
from recombine.sheets.layout import Sheet
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.sheets.numerals import decimal_sign, plain_number
from recombine.sheets.rules import rule_limit, rule_pattern, rule_words
from recombine.sheets.units import unit_spelling
from recombine.sheets.values import TextKinds, written_number
from recombine.writing import listing


def melted(sheet: Sheet, wide: str | None, delimiter: str) -> Sheet:
    """Make rows of the columns that are levels of one factor, if there are such; ``wide`` says factor=outcome.

    Examples
    --------
    >>> sheet = Sheet(("drug", "1", "2"), (("a", "b"), ("0.5", "2.5"), ("1.5", "")), [2, 3], above=("", "", ""))
    >>> melted(sheet, "dose=gain", ",").rows
    [('a', '1', '0.5'), ('a', '2', '1.5'), ('b', '1', '2.5')]
    """
    kinds = sheet.kinds
    if wide is not None:
        factor, outcome = _asked(wide)
        places = _value_columns(sheet, kinds, delimiter) or _numeric_end(kinds)
        if len(places) < 2 or len(places) == len(sheet.names):
            raise InputError(
                f"--wide {wide}: two columns of numbers beside a column of labels are needed, and there are "
                f"{listing(sheet.names)}; leave --wide out, or name the columns' roles"
            )
        return _rows_of(sheet, places, factor, outcome)
    if not (places := _value_columns(sheet, kinds, delimiter)):
        return _joined(_told(sheet, kinds, delimiter))
    groups = {sheet.above[col] for col in places} - {""}
    factor = groups.pop() if len(groups) == 1 else "column"
    return _rows_of(sheet, places, _free(factor, sheet.names), _free("value", sheet.names))


def _asked(wide: str) -> tuple[str, str]:
    factor, _, outcome = (word.strip() for word in wide.partition("="))
    if not factor or not outcome or factor == outcome:
        raise InputError(f"--wide {wide!r} names no factor and outcome; write them as cell_line=viability")
    return factor, outcome


def _free(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def _is_values(kinds: TextKinds) -> bool:
    return bool(kinds.counts) and not kinds.others


def _numeric_end(kinds: Sequence[TextKinds]) -> list[int]:
    """Return the columns of numbers after the last column of labels; a column of few remarks is no label."""
    return _end(kinds, 1)


def _end(kinds: Sequence[TextKinds], labels: int) -> list[int]:
    places = [col for col in range(labels, len(kinds)) if not _is_remarks(kinds[col], kinds[0])]
    while places and not all(_is_values(kinds[col]) or not kinds[col].counts for col in places):
        places = places[1:]
    return places


def _is_remarks(kinds: TextKinds, first: TextKinds) -> bool:
    return bool(kinds.others) and 2 * kinds.counts.total() < first.counts.total()


def _value_columns(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> list[int]:
    """Return the columns that are levels of one factor, or none."""
    grouped = [col for col, name in enumerate(sheet.above) if name and _is_values(kinds[col])]
    if len(grouped) > 1 and len({sheet.above[col] for col in grouped}) == 1:
        return grouped
    levels = [col for col, name in enumerate(sheet.names) if col and _is_amount(name) and _is_values(kinds[col])]
    labels = [col for col in range(len(kinds)) if col not in levels]
    if len(levels) > 1:
        keys = set(zip(*(sheet.columns[col] for col in labels), strict=True))
        if len(keys) == len(sheet.lines) or _are_labels([kinds[col] for col in labels]):
            return levels
    return _word_columns(sheet, kinds, delimiter)


def _is_amount(name: str) -> bool:
    """Whether a name is a number, alone, with a unit, or after a word that counts levels: 10 uM, day 3."""
    number = written_number(name)
    if number is not None and (not number.unit or number.unit == "%" or unit_spelling(number.unit)):
        return True
    if len(name) < 40 and rule_pattern("range_name").fullmatch(name):
        return True
    match = rule_pattern("item_name").fullmatch(name) if len(name) < 40 else None
    return match is not None and match[1].strip(" _.-").casefold() in rule_words("level_stems")


def _are_labels(kinds: Sequence[TextKinds]) -> bool:
    """Whether columns could be labels: no numbers with decimals."""
    return bool(kinds) and not any("." in number.digits for kind in kinds for number in kind.numbers.values())


def _word_columns(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> list[int]:
    """Return columns named by words that are as alike as levels of one factor are, and identified by their labels."""
    for labels in range(1, len(kinds) - 1):
        keys = set(zip(*sheet.columns[:labels], strict=True))
        if len(keys) < len(sheet.lines) or not all(map(all, keys)):
            continue
        places = _end(kinds, labels)
        count = len(sheet.names) - labels - sum(_is_remarks(kind, kinds[0]) for kind in kinds[labels:])
        few = all(
            len(kind.counts) <= rule_limit("levels of the labels of a wide table, at most") for kind in kinds[:labels]
        )
        named = [sheet.names[col] for col in places]
        words = len(places) == count <= rule_limit("word-named columns of a wide table, at most")
        if labels == 1 and list(sheet.columns[0]) == [str(index + 1) for index in range(len(sheet.lines))]:
            return []  # rows that are numbered are not labelled
        levels = {name.casefold() for name in named} <= rule_words("either_case") or not any(map(_is_measured, named))
        plain = len(sheet.lines) > 1 and count > 1 and words and few and levels
        return places if plain and _alike([kinds[col] for col in places], delimiter) else []
    return []


def _is_measured(name: str) -> bool:
    """Whether a name is that of a measured variable or of an item of a list: age, Sepal.Length, x1."""
    words = "".join(sign if sign.isalnum() else " " for sign in name).casefold().split()
    return any(word in rule_words("measured") for word in words) or any(map(str.isdigit, name))


def _alike(kinds: Sequence[TextKinds], delimiter: str) -> bool:
    """Whether numbers of columns are of one size: middles of one order, and some number inside all ranges."""
    numbers = [[abs(number) for number in _numbers(kind, delimiter)] for kind in kinds]
    if not all(numbers):
        return False
    middles = sorted(median(column) for column in numbers)
    many = all(kind.measured for kind in kinds)
    return many and middles[-1] <= rule_limit("largest ratio of middle values of alike columns") * max(
        middles[0], 1e-300
    )


def _numbers(kinds: TextKinds, delimiter: str) -> list[float]:
    sign = decimal_sign(kinds, delimiter) or "."
    plain = [plain_number(number, sign) for number in kinds.numbers.values()]
    values = [float(text) for text in plain if rule_pattern("number").fullmatch(text)]
    return [value for value in values if math.isfinite(value)]


def _rows_of(sheet: Sheet, places: Sequence[int], factor: str, outcome: str) -> Sheet:
    """Write one row for each cell of some columns."""
    labels = [col for col in range(len(sheet.names)) if col not in places]
    before = [col for col in labels if col < places[0]]
    names = (*(sheet.names[col] for col in before), factor, outcome)
    names = (*names, *(sheet.names[col] for col in labels if col > places[0]))
    if len(set(names)) < len(names):
        raise InputError(f"--wide {factor}={outcome}: there is a column of that name; choose another")
    rows = [
        [*(row[at] for at in before), sheet.names[col], row[col], *(row[at] for at in labels if at > places[0])]
        for row in sheet.rows
        for col in places
        if row[col]  # what was never measured has no row
    ]
    levels = tuple(sheet.names[col] for col in places)
    return replace(
        sheet,
        names=names,
        columns=tuple(zip(*rows, strict=True)) or ((),) * len(names),
        lines=[line for line, row in zip(sheet.lines, sheet.rows, strict=True) for col in places if row[col]],
        above=("",) * len(names),
        factors=(*(sheet.names[col] for col in before), factor),
        outcome=outcome,
        notes=sheet.noted(Note("wide", factor, (), (outcome, *levels)[:MAX_NAMED_VALUES], len(levels))),
    )


def _told(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> Sheet:
    return sheet


def _joined(sheet: Sheet) -> Sheet:
    """Join names over groups of columns with the names below them."""
    if not any(sheet.above):
        return sheet
    pairs = zip(sheet.above, sheet.names, strict=True)
    names = tuple(f"{above} {name}" if above and name and above != name else name or above for above, name in pairs)
    new = tuple(name for name, old in zip(names, sheet.names, strict=True) if name != old)
    return replace(sheet, names=names, notes=sheet.noted(Note("joined_header", "", (), new)), above=("",) * len(names))
