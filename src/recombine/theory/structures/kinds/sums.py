"""Effects of conjunctions up to an order add on the outcome's own scale: add, pairs, triples and beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_cells
from recombine.theory.structures.shrinkage import TermsFit, fit_terms
from recombine.theory.structures.structure import Predicts, Structure, StructureData, StructureFit

#: Names of sums by order; others are called "order 4".
NAMES = {1: "add", 2: "pairs", 3: "triples"}


@dataclass(frozen=True, eq=False)
class SumFit(StructureFit):
    """Sums of effects as they are."""

    sums: Predicts

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C)."""
        return self.sums.predict(as_cells(cells))

    latent = predict


class Sum(Structure):
    """Effects of conjunctions of up to ``order`` factors add.

    Examples
    --------
    >>> Sum(1), Sum(2).name, Sum(4).assumption
    (Structure(add: effects add), 'pairs', 'effects add up to interactions of 4 factors')
    """

    is_sum = True
    needs_outcome = False

    def __init__(self, order: int = 1) -> None:
        self.order = order
        self.name = NAMES.get(order, f"order {order}")
        self.assumption = "effects add" if order == 1 else f"effects add up to interactions of {order} factors"
        self.costly = order > 1
        self.complexity = 10 if order == 1 else 20 * (order + 1)
        self.hit_rate = None if order == 1 else "structure"
        self.help = (
            "Every level has one effect, and a combination is their sum."
            if order == 1
            else f"Every combination of up to {order} levels has an effect, and a combination of all is their sum."
        )

    def fit(self, data: StructureData) -> TermsFit:
        """Fit shrunk effects by least squares."""
        return fit_terms(data.cells, data.y, self.order, weights=data.weights, symmetric=data.symmetric)

    def least_squares_scale(self, y: FloatArray) -> FloatArray:
        """Return the outcomes themselves."""
        return y

    def from_sums(self, sums: Predicts, residuals: FloatArray) -> SumFit:
        """Return the sums as a fit."""
        return SumFit(sums)
