"""Values that follow, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.structure.held_out_ranges import HeldOutRanges
from recombine.writing import few_digits, number

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


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
        return f"{ranges.obstacle[0].upper()}{ranges.obstacle[1:]}."
    missed = f"half of them are missed by more than {few_digits(float(np.median(np.abs(ranges.misses))))}."
    lead = f"A 90 % range is for {ranges.what}"
    cells = f"It rests on {len(ranges.misses):,} seen cells"
    if isinstance(ranges, HeldOutRanges):
        return f"{lead}. {cells} that were held out: {missed}"
    noise = "" if ranges.replicated else "; no rows repeat, so noise is in it"
    return f"{lead}{noise}. {cells}, each predicted from the others: {missed}"
