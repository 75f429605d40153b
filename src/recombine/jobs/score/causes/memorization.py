"""Memorization: predictions at an unseen cell follow single seen cells that look like it."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.causes.cause import Cause, CauseColumns
from recombine.jobs.score.regression import Regressors

#: A network that varies by less than this share beyond what other columns say adds nothing of its own.
EXPLAINED_ALREADY = 1e-3


class MemorizationCause(Cause):
    """One column per pair of factors, how seen cells of that pair depart; and one of a wide network beyond all others.

    Pairs are there for three to six factors, the network where it can be fitted to the seen cells.
    """

    name = "memorization"
    title = "single cells are remembered"
    meaning = "memorised: explained by similarity to single seen cells"
    action = (
        "Measure seen cells more often, or collect more of them: what is remembered of a single cell holds its noise."
    )
    of = "model"
    colour = "#f0e442"
    ridge_in_own_units = True

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns | None:
        """Return how pairs depart, and what the network says beyond those and the ``preceding`` columns."""
        blocks = [] if regressors.remembered is None else [regressors.remembered]
        if regressors.network is not None:
            others = np.column_stack([preceding, *map(regressors.centred, blocks)])
            residuals = regressors.residuals((regressors.network - regressors.determined)[:, None], others)
            # Rounding alone would make a column of what is explained already; zeros keep the number of columns.
            blocks.append(residuals * (residuals.std() > EXPLAINED_ALREADY * regressors.network.std()))
        if not blocks:
            return None
        values = np.column_stack(blocks)
        return CauseColumns(values, ("",) * values.shape[1])
