"""RC106: determined cells with a high leverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.values import Values

#: Leverage above which a determined cell is called shaky: its error is over twice that of one measurement.
SHAKY_LEVERAGE = 4.0


class DeterminedButShaky(FindingKind["Values"]):
    """Determined cells whose value adds up much noise."""

    code = "RC106"
    title = "determined but shaky"
    severity = Severity.NOTE
    meaning = (
        "Some determined cells rest on long chains of seen cells; noise adds up along the chain (leverage above 4 "
        "means the error of the prediction is more than twice that of one measurement)."
    )
    action = "Measure again along the chain, or collect a combination that makes it shorter, before you rely on them."

    part = "values"

    def check(self, values: Values) -> FindingEvidence | None:
        """Count those above the limit and take the shakiest, with its range where there is one."""
        decided, matters = values.decided, values.decided.matters
        determined = (decided.codes == Verdict.DETERMINED) & (True if matters is None else matters.weights > 0)
        leverage = np.where(determined, decided.leverage, np.nan)
        shaky = int((leverage > SHAKY_LEVERAGE).sum())
        if not shaky:
            return None
        shakiest = int(np.nanargmax(leverage))
        cell = decided.listing.cells[[shakiest]]
        ranges = values.ranges_of(cell, decided.leverage[[shakiest]])
        ends = [float(ranges.low[0]), float(ranges.high[0])]
        return FindingEvidence(
            {
                "cells": shaky,
                "of": int((~np.isnan(leverage)).sum()),
                "weighted": matters is not None,
                "largest": float(leverage[shakiest]),
                "cell": decided.design.label(cell[0]),
                "range": ends if np.isfinite(ends).all() else None,
            }
        )

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many, and how shaky the worst is."""
        ends = evidence["range"]
        return (
            f"{evidence['cells']:,} of {evidence['of']:,} determined cells "
            f"{'that matter and were ' if evidence['weighted'] else ''}looked at "
            f"{'has' if evidence['cells'] == 1 else 'have'} leverage above {SHAKY_LEVERAGE:g} (largest "
            f"{evidence['largest']:.1f}: {evidence['cell']}"
            f"{'' if ends is None else f', 90 % range {ends[0]:.4g} to {ends[1]:.4g}'})"
        )


RC106 = DeterminedButShaky()
