"""RC106: determined cells with a high leverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Leverage above which a determined cell is called shaky: its error is over twice that of one measurement.
SHAKY_LEVERAGE = 4.0


class DeterminedButShaky(FindingKind["Audit"]):
    """Determined cells whose value adds up much noise."""

    code = "RC106"
    title = "determined but shaky"
    severity = Severity.NOTE
    meaning = (
        "Some determined cells rest on long chains of seen cells; noise adds up along the chain (leverage above 4 "
        "means the error of the prediction is more than twice that of one measurement)."
    )
    action = "Measure again along the chain, or collect a combination that makes it shorter, before you rely on them."

    def check(self, audit: Audit) -> FindingEvidence | None:
        """Count those above the limit and take the shakiest, with its range where there is one."""
        matters = audit.matters
        determined = (audit.codes == Verdict.DETERMINED) & (True if matters is None else matters.weights > 0)
        leverage = np.where(determined, audit.leverage, np.nan)
        shaky = int((leverage > SHAKY_LEVERAGE).sum())
        if not shaky:
            return None
        shakiest = int(np.nanargmax(leverage))
        ends = [float(audit.verdicts[end][shakiest]) for end in ("low", "high") if end in audit.verdicts.columns]
        return FindingEvidence(
            {
                "cells": shaky,
                "of": int((~np.isnan(leverage)).sum()),
                "weighted": matters is not None,
                "largest": float(leverage[shakiest]),
                "cell": audit.design.label(audit.listing.cells[shakiest]),
                "range": ends if ends and np.isfinite(ends).all() else None,
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
