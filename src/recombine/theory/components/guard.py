"""How far values may leave the mean: as far as left-out cells confirm, less what chance could have done."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray


def confirmed_share(y: FloatArray, left_out: FloatArray, weights: FloatArray) -> float:
    """Return the share, 0 to 1, of how left-out values (n,) differ from the mean that outcomes (n,) confirm.

    It is the slope of outcomes on left-out values, both about the mean of the other outcomes, less its standard error
    (that of White, as errors differ in size): saliences were learned with every cell, so that left-out values are a
    little too good. Outcomes count by ``weights`` (n,), one over their variances up to a factor.

    Examples
    --------
    >>> y = np.arange(40.0) % 5
    >>> confirmed_share(y, y, np.ones(40)), confirmed_share(y, -y, np.ones(40))
    (1.0, 0.0)
    >>> round(confirmed_share(y, 2 * y + np.arange(40) % 3, np.ones(40)), 2)
    0.21
    """
    mean = (y.sum() - y) / (len(y) - 1)
    distances, outcomes = left_out - mean, y - mean
    total = float(weights @ distances**2)
    if total <= 1e-24 * float(weights @ outcomes**2):
        return 0.0
    slope = float((weights * distances) @ outcomes) / total
    error = float(np.linalg.norm(weights * distances * (outcomes - slope * distances))) / total
    return float(np.clip(slope - error, 0.0, 1.0))
