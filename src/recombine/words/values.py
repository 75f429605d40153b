"""Values that follow, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.writing import number

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

MODELS = "Error by verdict when trained on part of the seen cells (root mean square)"


def held_out_sentence(audit: Audit) -> str:
    """Say how the values that follow compare with the outcomes of the held-out rows; empty without any."""
    if audit.held_out_errors is None:
        return ""
    parts = []
    for row in audit.held_out_errors.rows():
        error, mean = row["additive error"], row["mean error"]
        scored = "" if np.isnan(error) else f", off by {number(error)} (the plain mean by {number(mean)})"
        parts.append(f"{row['cells']:,} {row['verdict']}{scored}")
    return f"Held-out cells: {'; '.join(parts)}"
