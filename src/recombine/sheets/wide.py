"""Wide tables, whose columns are levels of one factor, and tables on their side, whose rows are variables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from recombine.errors import InputError
from recombine.sheets.layout import Sheet, free_name
from recombine.sheets.notes import MAX_NAMED_VALUES, REPEAT_NUMBER, UNNAMED_FACTOR, Note
from recombine.sheets.numerals import decimal_sign, plain_number
from recombine.sheets.rules import role_rules, rule_limit, rule_pattern, rule_words
from recombine.sheets.units import unit_spelling
from recombine.sheets.values import TextKinds, text_kinds, written_number
from recombine.writing import listing


def turned(sheet: Sheet) -> Sheet:
    """Exchange rows and columns where the first column holds the names of variables.

    Examples
    --------
    >>> sheet = Sheet(("drug", "a", "a", "b"), (("dose", "gain"), ("1", "0.5"), ("2", "1.5"), ("1", "2")), [2, 3])
    >>> turned(sheet).names, turned(sheet).rows[0]
    (('drug', 'dose', 'gain'), ('a', '1', '0.5'))
    """
    rows = [sheet.names, *sheet.rows] if len(sheet.lines) + 1 < len(sheet.names) else []
    if not rows or not _lies_on_its_side(sheet, rows):
        return sheet
    names = tuple(row[0] for row in rows)
    notes = sheet.noted(Note("transposed", "", (), names[:MAX_NAMED_VALUES], len(names)))
    lines = [sheet.lines[0] - 1] * (len(sheet.names) - 1)
    return Sheet(names, tuple(row[1:] for row in rows), lines, notes, ("",) * len(names))


def _lies_on_its_side(sheet: Sheet, rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is of one kind and columns are mixed, or the names of columns repeat as levels do.

    Names that stand twice may be a slip: where they are none, rows of whole numbers stand beside rows of decimals.
    """
    names = [row[0] for row in rows]
    if len(rows) < 2 or len(sheet.names) < 4 or not all(names) or len(set(names)) < len(names) or any(sheet.above):
        return False
    if text_kinds(names).numbers:
        return False
    kinds = [text_kinds(row[1:]) for row in rows]
    one_kind = all(not kind.others or not kind.numbers for kind in kinds)
    if not one_kind or not any(kind.numbers for kind in kinds[1:]):
        return False
    named = [name for name in sheet.names if name]
    repeated = len(set(named)) < len(named)
    numbers = [[number.digits for number in kind.numbers.values()] for kind in kinds[1:]]
    decimals = {2 * sum("." in digits for digits in row) >= len(row) for row in numbers}
    return any(kind.others for kind in kinds[1:]) or (repeated and len(decimals) > 1)


def melted(sheet: Sheet, wide: str | None, delimiter: str) -> Sheet:
    """Make rows of the columns that are levels of one factor, if there are such; ``wide`` says factor=outcome.

    Examples
    --------
    >>> sheet = Sheet(("drug", "1", "2"), (("a", "b"), ("0.5", "2.5"), ("1.5", "")), [2, 3], above=("", "", ""))
    >>> melted(sheet, "dose=gain", ",").rows
    [('a', '1', '0.5'), ('a', '2', '1.5'), ('b', '1', '2.5')]
    """
    if ticked := _with_ticks(sheet):
        names = _asked(wide) if wide is not None else [free_name(name, sheet.names) for name in ("column", "value")]
        return _rows_of(ticked, range(1, len(sheet.names)), *names)
    levels_only = _without_totals(sheet)
    if wide is not None or _value_columns(levels_only, levels_only.kinds, delimiter):
        sheet = levels_only
    kinds = sheet.kinds
    if wide is not None:
        factor, outcome = _asked(wide)
        places = _value_columns(sheet, kinds, delimiter) or _word_columns(sheet, kinds, delimiter) or _end(kinds, 1)
        if len(places) < 2 or len(places) == len(sheet.names):
            raise InputError(
                f"--wide {wide}: two columns of numbers beside one of labels are needed, not {listing(sheet.names)}; "
                "leave --wide out, or name the columns' roles"
            )
        return _rows_of(sheet, places, factor, outcome, levels=_replicated([sheet.names[col] for col in places]))
    if not (places := _value_columns(sheet, kinds, delimiter)):
        return _joined(_told(sheet, kinds, delimiter))
    groups = {sheet.above[col] for col in places} - {""}
    group = groups.pop() if len(groups) == 1 else ""
    measured = _repeatedly_measured([sheet.names[col] for col in places])
    factor, outcome = (
        (group or "column", "value") if measured is None else (REPEAT_NUMBER, measured or group or "value")
    )
    long = _rows_of(
        sheet, places, free_name(factor, sheet.names), free_name(outcome, sheet.names), measured is not None
    )
    # A label that is the same in all rows is no factor: nobody named it as one.
    constant = [name for name, cells in zip(long.names, long.columns, strict=True) if len(set(cells)) == 1]
    varied = tuple(name for name in long.factors if name not in constant)
    return replace(long, factors=varied if len(varied) > 1 else long.factors)


def _repeatedly_measured(names: Sequence[str]) -> str | None:
    """Return what columns measured again and again, empty where their names do not say; None if they are levels.

    ``OD rep 1`` and ``OD rep 2`` measured OD twice.
    """
    measured = {_repeated(name) for name in names}
    return measured.pop() if len(measured) == 1 else None


def _repeated(name: str) -> str | None:
    match = rule_pattern("repeat_name").fullmatch(name[:40])
    return (match[1] or "").rstrip(" _.-([") if match else None


def _replicated(names: Sequence[str]) -> tuple[str, ...]:
    """Return the levels of columns that stand side by side, of which several may be replicates of one.

    ``drugA_rep1`` and ``drugA_rep2`` are drugA; so is ``drugA.1`` beside ``drugA``, as programs number equal names.

    Examples
    --------
    >>> _replicated(["drugA_rep1", "drugA_rep2", "drugB", "drugB.1"]), _replicated(["OD rep 1", "OD rep 2"])
    (('drugA', 'drugA', 'drugB', 'drugB'), ('OD rep 1', 'OD rep 2'))
    """
    levels = [_repeated(name) or (bare if (bare := _unnumbered(name)) in names else name) for name in names]
    return tuple(levels if len(set(levels)) > 1 else names)


def _unnumbered(name: str) -> str:
    """Return a name without a number behind a point, as of ``drugA.1``; ``1.5`` and ``v1.2`` are names themselves."""
    bare, _, number = name.rpartition(".")
    return bare if number.isdecimal() and bare and not bare[-1].isdigit() else name


def _with_ticks(sheet: Sheet) -> Sheet | None:
    """Write 1 and 0 for yes and no, where all columns beside labels that tell rows apart hold these; None elsewhere.

    Where nobody wrote no, an empty cell is one.
    """
    labels, *answers = sheet.columns or ((),)
    yes, no = rule_words("yes_answers"), rule_words("no_answers")
    texts = {cell for column in answers for cell in column}
    folded = {cell.casefold() for cell in texts}
    few = len(answers) < 3 or len(labels) < 2 or not folded & yes or not (folded & no or "" in folded)
    if few or folded - yes - no - {""} or len(set(labels)) < len(labels) or "" in labels:
        return None
    if not rule_words("naming_labels").union(role_rules().words["names"]).isdisjoint(_words(sheet.names[0])):
        return None  # answers of people
    numbers = {cell: "1" if cell.casefold() in yes else "0" if cell or not folded & no else "" for cell in texts}
    columns = (labels, *(tuple(numbers[cell] for cell in column) for column in answers))
    told = tuple(sorted(texts - {""}))
    return replace(sheet, columns=columns, notes=sheet.noted(Note("ticks", "", (), told[:MAX_NAMED_VALUES], len(told))))


def _without_totals(sheet: Sheet) -> Sheet:
    """Leave out columns that sum up others, by their names: they are no levels."""
    totals = [col for col, name in enumerate(sheet.names) if name.casefold() in rule_words("totals")]
    if not totals:
        return sheet
    places, names = _others(totals, sheet), tuple(sheet.names[col] for col in totals)
    level_names, above = (tuple(texts[col] for col in places) for texts in (sheet.names, sheet.above))
    note = Note("total_column", "", (), names[:MAX_NAMED_VALUES], len(names))
    columns = tuple(sheet.columns[col] for col in places)
    return replace(sheet, names=level_names, above=above, columns=columns, notes=sheet.noted(note))


def _asked(wide: str) -> tuple[str, str]:
    factor, _, outcome = (word.strip() for word in wide.partition("="))
    if not factor or not outcome or factor == outcome:
        raise InputError(f"--wide {wide!r} names no factor and outcome; write them as cell_line=viability")
    return factor, outcome


def _is_values(kinds: TextKinds) -> bool:
    return bool(kinds.counts) and not kinds.others


def _end(kinds: Sequence[TextKinds], labels: int) -> list[int]:
    """Return the columns of numbers after the last column of labels; a column of few remarks is no label."""
    places: list[int] = []
    for col in range(len(kinds) - 1, labels - 1, -1):
        if _is_values(kinds[col]) or not kinds[col].counts:
            places.append(col)
        elif not _is_remarks(kinds[col], kinds[0]):
            break
    return places[::-1]


def _others(places: Sequence[int], sheet: Sheet) -> list[int]:
    return sorted(set(range(len(sheet.names))) - set(places))


def _is_remarks(kinds: TextKinds, first: TextKinds) -> bool:
    return bool(kinds.others) and 2 * kinds.counts.total() < first.counts.total()


def _value_columns(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> list[int]:
    """Return the columns that are levels of one factor, or none."""
    grouped = [col for col, name in enumerate(sheet.above) if name and _is_values(kinds[col])]
    groups = {sheet.above[col] for col in grouped}
    if len(grouped) > 1 and (len(groups) == 1 or _are_crossed(sheet, grouped)):
        return grouped
    if len(groups) > 1:
        return []
    values = [(col, name) for col, name in enumerate(sheet.names) if col and _is_values(kinds[col])]
    measured = {_repeated(name) for _, name in values} - {None}
    if len(measured) > 1:
        return []
    levels = [col for col, name in values if _repeated(name) is not None or (not measured and _is_amount(name))]
    if len(levels) > 1:  # a control beside doses is one more of them
        controls = [col for col, name in enumerate(sheet.names) if name.casefold() in rule_words("control_levels")]
        levels = sorted({*levels, *(col for col in controls if col and _is_values(kinds[col]))})
    others = [col for col in _others(levels, sheet) if not _is_remarks(kinds[col], kinds[0])]
    if len(levels) > 1 and max(others) < min(levels) and _are_labels([kinds[col] for col in others]):
        return levels
    places = _word_columns(sheet, kinds, delimiter)
    labels, names = sheet.names[: min(places, default=0)], [sheet.names[col] for col in places]
    return places if _named_as_levels(labels, names) else []


def _are_crossed(sheet: Sheet, places: Sequence[int]) -> bool:
    """Whether the same names, of nothing measured, stand below each group: a column is a level of two factors."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for col in places:
        groups[sheet.above[col]].append(sheet.names[col])
    lists = {tuple(sorted(names)) for names in groups.values()}
    return len(groups) > 1 and len(lists) == 1 and not _are_measured(lists.pop())


def _is_amount(name: str) -> bool:
    """Whether a name is a number, alone, with a unit, or after a word that counts levels: 10 uM, day 3."""
    number = written_number(name)
    if number is not None and (not number.unit or number.unit == "%" or unit_spelling(number.unit)):
        return any(rule_pattern(f"{sign}_number").fullmatch(number.digits) for sign in ("point", "comma"))
    if len(name) < 40 and rule_pattern("range_name").fullmatch(name):
        return True
    return _is_item(name) and _stem(name).casefold() in rule_words("level_stems")


def _are_labels(kinds: Sequence[TextKinds]) -> bool:
    """Whether columns could be labels: no numbers with decimals, unless they are few."""
    few = rule_limit("levels of labels of a wide table, at most")
    fine = [kind for kind in kinds if any("." in number.digits for number in kind.numbers.values())]
    return bool(kinds) and all(len(kind.numbers) <= few for kind in fine)


def _word_columns(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> list[int]:
    """Return columns whose numbers are alike, beside labels that tell rows apart.

    A table of several measured variables looks the same: only names tell.
    """
    limit, few = (rule_limit(f"{what} of a wide table, at most") for what in ("word-named columns", "levels of labels"))
    if list(*sheet.columns[:1]) == [str(index + 1) for index in range(len(sheet.lines))]:
        return []  # rows that are numbered are not labelled
    for labels in range(1, len(kinds) - 1) if len(sheet.lines) > 1 and len(kinds) < 2 * limit else ():
        keys = set(zip(*sheet.columns[:labels], strict=True))
        if len(kinds[labels - 1].counts) > few:
            break
        if len(keys) < len(sheet.lines) or not all(map(all, keys)):
            continue
        places = _end(kinds, labels)
        remarks = [col for col in range(labels, len(kinds)) if _is_remarks(kinds[col], kinds[0])]
        complete = 1 < len(places) <= limit and len(places) + len(remarks) + labels == len(kinds)
        if complete and _alike([kinds[col] for col in places], delimiter):
            return places
    return []


def _named_as_levels(labels: Sequence[str], names: Sequence[str]) -> bool:
    """Whether names are words for levels (low, high; placebo), or written otherwise than the names of the labels."""
    words = [_words(name) for name in names]
    letters = any(len(name) == 1 and name.islower() for name in names)  # y and n are rather an outcome and a count
    if names and not letters and all(word and set(word) <= rule_words("level_words") for word in words):
        return True
    naming = any(label.casefold() in rule_words("naming_labels") for label in labels)
    otherwise = all(label[:1].islower() for label in labels) and all(name[:1].isupper() for name in names)
    codes = all(name == name.upper() for name in names) and 2 * sum(map(_has_digit, names)) >= len(names)
    return (otherwise or (codes and not any(map(_has_digit, labels)))) and not naming and not _are_measured(names)


def _has_digit(name: str) -> bool:
    return any(map(str.isdigit, name))


def _are_measured(names: Sequence[str]) -> bool:
    """Whether a name is that of a measured variable, or all are items of one list: age, Sepal.Length; x1, x2."""
    roles = role_rules().words
    measured = rule_words("measured").union(*(roles[role] for role in ("outcome", "covariate", "time", "status")))
    stems = {_stem(name).casefold() for name in names}
    items = all(map(_is_item, names)) and len(stems) == 1 and not stems <= rule_words("level_stems")
    return items or any(set(_words(name)) & measured for name in names)


def _words(name: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in name).casefold().split()


def _alike(kinds: Sequence[TextKinds], delimiter: str) -> bool:
    """Whether numbers of columns are of one size: middles of one order, and some number inside all ranges."""
    repeated = any(4 * len(kind.numbers) < kind.cells(kind.numbers) for kind in kinds)
    numbers = [[abs(number) for number in _numbers(kind, delimiter)] for kind in kinds if kind.numbers]
    middles = sorted(median(column) for column in numbers if column)
    ratio = rule_limit("largest ratio of middle values of alike columns")
    return bool(middles) and not repeated and middles[-1] <= ratio * max(middles[0], 1e-300)


def _numbers(kinds: TextKinds, delimiter: str) -> list[float]:
    sign = decimal_sign(kinds, delimiter) or "."
    plain = [plain_number(number, sign) for number in kinds.numbers.values()]
    values = [float(text) for text in plain if rule_pattern("number").fullmatch(text)]
    return [value for value in values if math.isfinite(value)]


def _rows_of(
    sheet: Sheet, places: Sequence[int], factor: str, outcome: str, repeats: bool = False, levels: Sequence[str] = ()
) -> Sheet:
    """Write one row for each cell of some columns; ``repeats`` says that these are no levels of a factor.

    ``levels`` are what columns are read as, by default their names.
    """
    labels = _others(places, sheet)
    before, behind = [col for col in labels if col < places[0]], [col for col in labels if col > places[0]]
    crossed = _are_crossed(sheet, places)
    factors = (*(sheet.names[col] or sheet.above[col] for col in before), *(["group"] if crossed else []), factor)
    names = (*factors, outcome, *(sheet.names[col] for col in behind))
    headings = tuple(sheet.names[col] for col in places)
    level_of = dict(zip(places, levels or headings, strict=True))
    if not crossed and len(set(headings)) < len(headings):
        twice = next(name for at, name in enumerate(headings) if name in headings[:at])
        raise InputError(f"two columns are named {twice!r}; give each its own name")
    if len(set(names)) < len(names):
        raise InputError(f"--wide {factor}={outcome}: there is a column of that name; choose another")
    if len(sheet.lines) * len(places) * len(names) > rule_limit("cells of a melted table, at most"):
        raise InputError(
            f"{len(places):,} columns as levels beside {len(labels):,} others are too many; leave some out"
        )
    # What was never measured has no row.
    cells = [(line, row, col) for line, row in zip(sheet.lines, sheet.rows, strict=True) for col in places if row[col]]
    groups = {col: [sheet.above[col]] if crossed else [] for col in places}
    rows = [
        [*(row[at] for at in before), *groups[col], level_of[col], row[col], *(row[at] for at in behind)]
        for _, row, col in cells
    ]
    told = (outcome, *dict.fromkeys(level_of.values()))[:MAX_NAMED_VALUES]
    return replace(
        sheet,
        names=names,
        columns=tuple(zip(*rows, strict=True)) or ((),) * len(names),
        lines=[line for line, _, _ in cells],
        above=("",) * len(names),
        factors=factors[:-1] if repeats else factors,
        outcome=outcome,
        notes=sheet.noted(Note("repeats" if repeats else "wide", factor, (), told, len(headings))),
    )


def _told(sheet: Sheet, kinds: Sequence[TextKinds], delimiter: str) -> Sheet:
    """Note columns of numbers that may be levels after all: items of one list, or other names beside labels."""
    places = [col for col, name in enumerate(sheet.names) if _is_item(name) and _is_values(kinds[col])]
    stems = {_stem(sheet.names[col]) for col in places}
    others = _others(places, sheet)
    if len(places) < 3 or len(stems) > 1 or not _are_labels([kinds[col] for col in others]):
        places = _word_columns(sheet, kinds, delimiter)
        stems = {UNNAMED_FACTOR}
        if _are_measured([sheet.names[col] for col in places]):
            return sheet
    names = tuple(sheet.names[col] for col in places)
    note = Note("looks_wide", stems.pop() or "item", (), names[:MAX_NAMED_VALUES], len(names))
    return replace(sheet, notes=sheet.noted(note))


def _is_item(name: str) -> bool:
    return len(name) < 40 and rule_pattern("item_name").fullmatch(name) is not None


def _stem(name: str) -> str:
    match = rule_pattern("item_name").fullmatch(name)
    return match[1].strip(" _.-") if match else ""


def _joined(sheet: Sheet) -> Sheet:
    """Join names over groups of columns with the names below them."""
    if not any(sheet.above):
        return sheet
    pairs = zip(sheet.above, sheet.names, strict=True)
    names = tuple(f"{above} {name}" if above and name and above != name else name or above for above, name in pairs)
    new = tuple(name for name, old in zip(names, sheet.names, strict=True) if name != old)
    return replace(
        sheet, names=names, notes=sheet.noted(Note("joined_header", "", (), new, len(new))), above=("",) * len(names)
    )
