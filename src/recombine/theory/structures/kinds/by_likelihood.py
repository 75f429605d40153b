"""What structures fitted by likelihood share: limits where outcomes are separated, and how large they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.theory.structures.structure import StructureData, StructureFit
from recombine.theory.structures.work import spend
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.theory.structures.likelihood import LikelihoodFit

#: Cells and levels up to which chances and counts are fitted by likelihood, whose existence is decided first.
MAX_CELLS_FOR_LIKELIHOOD, MAX_LEVELS_FOR_LIKELIHOOD = 20_000, 400
#: Nanoseconds on a laptop of such a fit, for each cell and for each cell and level.
NANOSECONDS_PER_CELL_OF_LIKELIHOOD, NANOSECONDS_PER_CELL_AND_LEVEL = 50_000.0, 300.0


@dataclass(frozen=True, eq=False)
class FitByLikelihood(StructureFit):
    """Chances or means, some of them at a limit or open because outcomes are separated."""

    likelihood: LikelihoodFit

    leaves_open = True

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the chance or mean at ``cells`` (N, C)."""
        return self.likelihood.predict(cells)

    def judge(self, cells: IntArray, codes: IntArray) -> IntArray:
        """Open cells without a value: separated outcomes send effects to infinity, and some against each other."""
        judged, determined = codes.copy(), np.flatnonzero(codes == Verdict.DETERMINED)
        if len(determined):
            judged[determined[np.isnan(self.predict(cells[determined]))]] = Verdict.DISCONNECTED
        return judged

    def limit_of(self, cell: IntArray) -> str:
        """Say at which limit ``cell`` (C,) is determined; empty where its value is an ordinary one."""
        from recombine.theory.structures.separation.families import Limit

        limit = Limit(int(self.likelihood.existence.limits_of(cell[None])[0]))
        return "" if limit is Limit.FINITE else limit.word


def spend_on_likelihood(data: StructureData) -> None:
    """Say what a fit by likelihood is going to take."""
    each_cell = NANOSECONDS_PER_CELL_OF_LIKELIHOOD + NANOSECONDS_PER_CELL_AND_LEVEL * data.levels
    spend(len(data.cells) * each_cell)


def likelihood_obstacle(name: str, data: StructureData) -> str:
    """Say that the data are too large for a fit by likelihood, or have symmetric factors; empty if they are not."""
    levels = int((data.cells.max(axis=0) + 1).sum())
    if data.symmetric or len(data.cells) > MAX_CELLS_FOR_LIKELIHOOD or levels > MAX_LEVELS_FOR_LIKELIHOOD:
        largest = f"at most {MAX_CELLS_FOR_LIKELIHOOD:,} cells and {MAX_LEVELS_FOR_LIKELIHOOD} levels"
        return f"{name} is fitted by likelihood, which takes {largest} and no symmetric factors"
    return ""
