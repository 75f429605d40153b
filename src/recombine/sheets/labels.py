"""Columns of labels: spellings of one unit, dates, and levels that sloppy typing made two of one."""

from __future__ import annotations

from collections import defaultdict

from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.sheets.numerals import plain_number
from recombine.sheets.rules import rule_limit, rule_pattern, rule_words
from recombine.sheets.units import base_amount, unit_spelling
from recombine.sheets.values import Column


def read_labels(column: Column, *, sloppy: bool = False) -> tuple[dict[str, str], list[Note]]:
    """Return what texts of a column of labels are read as, of those read otherwise than written, and notes.

    Levels that differ by case alone are one level only in a column that was written sloppily: one in which the same
    level stands with and without blanks around it. Elsewhere case may mean something, as of TP53 and Tp53.
    """
    kinds = column.kinds
    nothing = frozenset(text for text in kinds.counts if text.casefold() in rule_words("nothing_anywhere"))
    texts = dict.fromkeys(nothing, "")
    notes = [column.note("nothing", nothing)] if nothing else []
    dated, dates = _dates(column)
    if dated or dates:
        return texts | dated, notes + dates
    spelled = _units(column)
    if spelled:
        notes.append(Note("unit_spelling", column.name, (), tuple(dict.fromkeys(spelled.values()))[:MAX_NAMED_VALUES]))
    alike = _alike(column) if sloppy else {}
    if alike:
        notes.append(column.note("alike", alike.keys() | set(alike.values())))
    amounts = _same_amounts({spelled.get(text, text) for text in kinds.counts})
    notes += [Note("same_amount", column.name, (), amounts)] if amounts else []
    totals = frozenset(text for text in kinds.counts if text.casefold() in rule_words("total_levels"))
    suspects = {"misfit": _misfits(column), "gene_date": _gene_dates(column)}
    suspects |= {"mixed": _mixed(column), "total_level": totals if len(totals) < len(kinds.counts) else frozenset()}
    return texts | spelled | alike, notes + [column.note(kind, of, lines=True) for kind, of in suspects.items() if of]


def _units(column: Column) -> dict[str, str]:
    """Return levels in one spelling of their unit, where there is a level in two."""
    numbers = {text: number for text, number in column.kinds.numbers.items() if unit_spelling(number.unit)}
    spelled = {
        text: f"{plain_number(number, '.')} {unit_spelling(number.unit)}"
        for text, number in numbers.items()
        if not number.currency and "," not in number.digits
    }
    return {text: to for text, to in spelled.items() if text != to} if len(set(spelled.values())) < len(spelled) else {}


def _same_amounts(levels: set[str]) -> tuple[str, ...]:
    amounts: defaultdict[tuple[float, str], list[str]] = defaultdict(list)
    for level in sorted(levels):
        if (amount := base_amount(level)) is not None:
            amounts[amount].append(level)
    return tuple(level for same in amounts.values() if len(same) > 1 for level in same)[:MAX_NAMED_VALUES]


def _misfits(column: Column) -> frozenset[str]:
    """Return the texts that are no numbers in a column of which most are."""
    kinds = column.kinds
    misfits = kinds.others | kinds.limits
    mainly = (
        kinds.cells(kinds.numbers) >= rule_limit("share of numbers that makes others misfits") * kinds.counts.total()
    )
    bare = all(not number.unit or number.unit == "%" for number in kinds.numbers.values())
    mostly = 10 * kinds.cells(kinds.numbers) >= 9 * kinds.counts.total() and len(kinds.numbers) > 4
    fit = mainly and bare and (kinds.measured or mostly) and len(kinds.numbers) > 2 * len(misfits)
    return misfits if fit else frozenset()


def _mixed(column: Column) -> frozenset[str]:
    """Return the numbers of a measured column that are not written in one way: 21,86 and 1.5; 3 mg and 20 ug."""
    kinds = column.kinds
    numbers = kinds.numbers if kinds.measured and not kinds.others else {}
    mainly = kinds.cells(numbers) >= rule_limit("share of numbers that makes others misfits") * kinds.counts.total()
    plain = all(number.plain for number in numbers.values())
    signs = [rule_pattern(f"{sign}_number") for sign in ("point", "comma")]
    fit = all(any(sign.fullmatch(number.digits) for sign in signs) for number in numbers.values())
    padded = any(rule_pattern("padded").fullmatch(number.digits) for number in numbers.values())
    return frozenset(numbers) if mainly and fit and not plain and not padded else frozenset()


def _dates(column: Column) -> tuple[dict[str, str], list[Note]]:
    """Return dates such as 31/12/2020 as year-month-day where one order fits all, or note that two do."""
    kinds = column.kinds
    levels = [text for text in kinds.counts if text not in kinds.nothing]
    matches = {text: rule_pattern("slash_date").fullmatch(text) for text in levels}
    parts = {text: (int(match[1]), int(match[3]), int(match[4])) for text, match in matches.items() if match}
    if not parts or len(parts) < len(levels):
        return {}, []
    firsts, seconds = (max(date[col] for date in parts.values()) for col in (0, 1))
    if (firsts > 12) == (seconds > 12):
        return {}, [column.note("unclear_date", parts.keys())] if firsts <= 12 else []
    day, month = (0, 1) if firsts > 12 else (1, 0)
    dated = {text: f"{date[2]}-{date[month]:02}-{date[day]:02}" for text, date in parts.items()}
    return dated, [Note("date", column.name, count=kinds.cells(parts))]


def _gene_dates(column: Column) -> frozenset[str]:
    """Return dates in a column of which most texts look like names of genes, or are ranges such as 10-19."""
    texts = column.kinds.counts
    dates = frozenset(text for text in texts if len(text) < 30 and rule_pattern("gene_date").fullmatch(text))
    names = [text for text in texts if len(text) < 20 and rule_pattern("gene_name").fullmatch(text)]
    with_digits = sum(any(map(str.isdigit, text)) for text in names)
    ranges = [text for text in texts if rule_pattern("range_name").fullmatch(text) and not text.isdecimal()]
    genes = 2 * len(names) >= len(texts) and 4 * with_digits >= len(names)
    return dates if genes or 2 * len(ranges) > len(texts) else frozenset()


def _alike(column: Column) -> dict[str, str]:
    """Return levels that differ by case from one that more cells hold, which is what they are read as."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for text in column.kinds.counts:
        groups[text.casefold()].append(text)
    variants = {folded: texts for folded, texts in groups.items() if len(texts) > 1}
    short_too = len(variants) > 1 or groups.keys() <= rule_words("either_case")
    result: dict[str, str] = {}
    for folded, texts in variants.items():
        long = sum(map(str.isalpha, folded)) >= rule_limit("letters whose case is folded")
        if (long or short_too) and not rule_pattern("genotype").fullmatch(folded):
            usual = max(texts, key=column.kinds.counts.__getitem__)
            result |= {text: usual for text in texts if text != usual}
    return result
