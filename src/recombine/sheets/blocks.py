"""Rows that are no measurements: names over blocks of rows, and rows that sum up or average others."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recombine.sheets.rules import rule_limit, rule_pattern, rule_words

#: What the factor is called whose levels stand over blocks of rows, where they do not say it themselves.
UNNAMED_SECTIONS = "section"
#: Cells that are looked at to find rows that sum up others, at most.
MAX_CELLS_SUMMED = 300_000


@dataclass(frozen=True)
class Sections:
    """Names over blocks of rows: what they are names of, the rows they stand in, and the name of every other row."""

    factor: str
    rows: tuple[int, ...]
    names: tuple[str, ...]

    def name_of(self, row: int) -> str:
        """Return the name over a row."""
        return self.names[bisect_left(self.rows, row) - 1]


def sections_of(rows: Sequence[Sequence[str]], top: int, start: int, last: int) -> Sections | None:
    """Return the names that stand over blocks of rows, if all of them have one.

    They are rows with a single text; a header that stands again below each may have a name and a value above it.

    Examples
    --------
    >>> rows = [("drug", "gain"), ("Line: A", ""), ("x", "1"), ("y", "2"), ("Line: B", ""), ("x", "3"), ("y", "5")]
    >>> sections_of(rows, 0, 1, 7)
    Sections(factor='Line', rows=(1, 4), names=('A', 'B'))
    """
    again = {index for index in range(start, last) if rows[index] == rows[top]}
    heads = [_above(rows, index) for index in (top, *sorted(again))] if again else []
    named = [index for index in range(start, last) if rows[index][:1] != ("",) and not any(rows[index][1:])]
    if again and all(head is not None and 0 < sum(map(bool, rows[head])) < 3 and rows[head][0] for head in heads):
        named = [head for head in heads if head is not None]
    elif again or not named or named[0] != next((index for index in range(start, last) if any(rows[index])), -1):
        return None
    apart = {*named, *again}
    body = [index for index in range(start, last) if any(rows[index]) and index not in apart]
    between = [high - low for low, high in pairwise(bisect_left(body, index) for index in (*named, last))]
    if len(named) < 2 or min(between) < 2 or not all(rows[index][0] and any(rows[index][1:]) for index in body):
        return None
    told = [_told(rows[index]) for index in named]
    factors, names = {factor for factor, _ in told}, tuple(name for _, name in told)
    # Names that repeat, or that are rows' labels too, say something else.
    if len(factors) > 1 or len(set(names)) < len(names) or set(names) & {rows[index][0] for index in body}:
        return None
    return Sections(factors.pop() or UNNAMED_SECTIONS, tuple(named), names)


def _above(rows: Sequence[Sequence[str]], index: int) -> int | None:
    return next((above for above in range(index - 1, -1, -1) if any(rows[above])), None)


def _told(row: Sequence[str]) -> tuple[str, str]:
    """Return what a name over rows is a name of, "" where it does not say so, and the name."""
    label, value = row[0], next(filter(None, row[1:]), "")
    match = rule_pattern("section").fullmatch(label)
    if value:
        return label.rstrip(" :="), value
    return (match[1], match[2]) if match else ("", label)


def rows_of_totals(
    labels: Sequence[Sequence[str]], measured: Sequence[Sequence[str]]
) -> tuple[frozenset[int], frozenset[tuple[int, str]]]:
    """Return rows whose label says that they sum up or average others, and do; and other levels that are such sums.

    ``labels`` and ``measured`` are columns of texts, the latter of plain numbers. A level is a pair of its column and
    its text. Sums that no label tells have so many digits that they are none by chance.

    Examples
    --------
    >>> rows_of_totals([["a", "b", "Mean"]], [["1.5", "2.5", "2.0"]])
    (frozenset({2}), frozenset())
    """
    sums: set[int] = set()
    levels: set[tuple[int, str]] = set()
    rows = len(labels[0]) if labels else 0
    if rows * len(labels) * (len(labels) + len(measured)) > MAX_CELLS_SUMMED:
        return frozenset(), frozenset()
    columns = [[_number(text) for text in texts] for texts in measured]
    for col, column in enumerate(labels):
        others = [tuple(cells[row] for at, cells in enumerate(labels) if at != col) for row in range(rows)]
        for numbers, texts in zip(columns, measured, strict=True):
            summing = _summing(column, others, numbers, texts)
            levels |= {(col, level) for level in summing if not is_total(level)}
            if _closes(column, numbers, texts):
                levels.add((col, column[-1]))
            if any(map(is_total, summing)):  # standard deviations beside means are no measurements either
                sums |= {row for row, level in enumerate(column) if level in summing or is_summary(level)}
    # Where nothing else is there, they sum up nothing.
    return frozenset(sums if len(sums) < rows else ()), frozenset(levels)


def is_total(level: str) -> bool:
    """Whether a level says that it sums up or averages others: Total, Mean, All products.

    Examples
    --------
    >>> is_total("All products"), is_total("Insgesamt"), is_total("Allegra")
    (True, True, False)
    """
    folded = level.casefold()
    return is_summary(level) or folded in rule_words("all_levels") or folded.startswith("all ")


def is_summary(level: str) -> bool:
    """Say whether a level is a word for a sum, a mean, a spread or the like.

    Examples
    --------
    >>> is_summary("SD"), is_summary("Total: Campaigns"), is_summary("all")
    (True, True, False)
    """
    return level.casefold() in rule_words("totals") or rule_pattern("total_label").fullmatch(level) is not None


def _summing(
    column: Sequence[str], others: Sequence[tuple[str, ...]], numbers: Sequence[float], texts: Sequence[str]
) -> dict[str, list[int]]:
    """Return the levels that are in every group of rows the sum of its other rows, or their mean, with their rows."""
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    by_level: defaultdict[str, list[int]] = defaultdict(list)
    for row, group in enumerate(others):
        if not math.isnan(numbers[row]):
            groups[group].append(row)
            by_level[column[row]].append(row)
    step = 10.0 ** -max(map(_decimals, texts), default=0)
    totals = {group: _sum(numbers[row] for row in rows) for group, rows in groups.items()}
    summing = {}
    for level, rows in by_level.items():
        if 3 * len(rows) > sum(map(len, groups.values())):  # three levels at least
            continue
        sizes = [len(groups[others[row]]) - 1 for row in rows]
        if len({others[row] for row in rows}) < len(rows) or min(sizes) < 2:
            continue
        sums = [(row, totals[others[row]] - numbers[row], size) for row, size in zip(rows, sizes, strict=True)]
        summed = all(abs(numbers[row] - others_sum) < step * (size + 1) / 2 for row, others_sum, size in sums)
        mean = is_total(level) and all(
            abs(numbers[row] - others_sum / size) < 10.0 ** -_decimals(texts[row]) * 0.51
            for row, others_sum, size in sums
        )
        digits = sum(len(texts[row].replace(".", "").strip("-0")) for row in rows)
        told = is_total(level) or (
            digits >= rule_limit("digits of sums that no label tells") and not rule_pattern("number").fullmatch(level)
        )
        if told and (summed or mean):
            summing[level] = rows
    return summing


def _closes(column: Sequence[str], numbers: Sequence[float], texts: Sequence[str]) -> bool:
    """Whether the last row, of a level that no other row has, is the sum of all above, by more than chance."""
    *above, total = numbers
    new = len(above) > 2 and column.count(column[-1]) == 1 and not rule_pattern("number").fullmatch(column[-1])
    near = new and abs(total - _sum(above)) < 10.0 ** -max(map(_decimals, texts)) * len(texts) / 2
    return near and len(texts[-1].replace(".", "").strip("-0")) >= rule_limit("digits of a sum in the last row")


def _sum(numbers: Iterable[float]) -> float:
    """Return a sum as the page's, to the last bit, which of numbers beyond all limits is none."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _number(text: str) -> float:
    """Return a number that is written digit by digit, of which is known to what decimal it was rounded."""
    return float(text) if "e" not in text.casefold() and rule_pattern("number").fullmatch(text) else math.nan


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
