"""Values that follow, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.structure.held_out_ranges import HeldOutRanges, NoRange, RangeOf
from recombine.jobs.structure.limits import STRUCTURE_LIMITS
from recombine.writing import few_digits, number, plural

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.ranges import Ranges


def held_out_sentence(audit: Audit) -> str:
    """Say how the values that follow compare with the outcomes of the held-out rows; empty without any."""
    if audit.values.held_out_errors is None:
        return ""
    parts = []
    for row in audit.values.held_out_errors.rows():
        error, mean = row["additive error"], row["mean error"]
        scored = "" if np.isnan(error) else f", off by {number(error)} (the plain mean by {number(mean)})"
        parts.append(f"{row['cells']:,} {row['verdict']}{scored}")
    return f"Held-out cells: {'; '.join(parts)}"


def ranges_sentence(audit: Audit) -> str:
    """Say what the ranges are for and rest on, or why there are none; empty without an outcome."""
    ranges = audit.values.ranges
    if ranges is None:
        return (
            "No standard error or range: there are too many levels to work out leverages." if audit.values.fit else ""
        )
    if ranges.obstacle:
        return f"No 90 % range: {_why_none(ranges)}."
    missed = f"half of them are missed by more than {few_digits(float(np.median(np.abs(ranges.misses))))}."
    lead = f"A 90 % range is for {range_of(ranges)}"
    cells = f"It rests on {len(ranges.misses):,} seen cells"
    if isinstance(ranges, HeldOutRanges):
        return f"{lead}. {cells} that were held out: {missed}"
    noise = "" if ranges.replicated else "; no rows repeat, so noise is in it"
    return f"{lead}{noise}. {cells}, each predicted from the others: {missed}"


def range_of(ranges: Ranges | HeldOutRanges) -> str:
    """Say what a range is for."""
    if ranges.what is RangeOf.MEAN_OF_ROWS and not isinstance(ranges, HeldOutRanges):
        return f"one more row of the cell, a mean of about {1 / ranges.own:.3g} measurements"
    return {
        RangeOf.CELL_MEAN: "the cell's mean",
        RangeOf.MEASUREMENT: "one measurement of the cell",
        RangeOf.NEW_CELL: "one more cell measured like the seen ones",
    }[ranges.what]


def _why_none(ranges: Ranges | HeldOutRanges) -> str:
    """Say why no range can be given."""
    if ranges.obstacle is NoRange.CHANCES_UNSEEN:
        return "the outcome has two values and no rows repeat, so chances are not seen"
    if isinstance(ranges, HeldOutRanges):
        told = f"{plural(len(ranges.misses), 'seen cell')} held out"
    elif ranges.obstacle is NoRange.FEW_DEGREES:
        told = f"the seen cells leave {plural(ranges.freedom, 'degree')} of freedom about the additive fit"
    else:
        count = ranges.independent
        told = f"only {count} seen cell{'s are' if count != 1 else ' is'}" if count else "no seen cell is"
        told += " determined by the others"
    return f"{told}, and it takes {STRUCTURE_LIMITS.min_misses}"
