"""Effects of conjunctions up to an order add on the outcome's own scale: add, pairs, triples and beyond."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_cells
from recombine.errors import InputError
from recombine.theory.structures.shrinkage import TermsFit, fit_terms
from recombine.theory.structures.structure import Predicts, Structure, StructureData, StructureFit
from recombine.theory.structures.terms import terms_of

if TYPE_CHECKING:
    from recombine.theory.components.held_out import HeldOutComponents

#: Terms of conjunctions up to which a structure is tried unasked.
MAX_TERMS_UNASKED = 20_000
#: Entries of their design, with every factor in every row, up to which their terms are listed unasked.
MAX_ENTRIES_UNASKED = 30_000_000
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


class OfConjunctions(Structure):
    """What structures of conjunctions of up to ``order`` factors share: how many terms they may have."""

    max_terms: float = float("inf")
    max_terms_unasked: int = MAX_TERMS_UNASKED

    def obstacle(self, data: StructureData) -> str:
        """Say that there are too few factors, or more terms than fit or than cells."""
        if self.order > data.factors:
            return f"{self.name} need {self.order} factors and there are {data.factors}"
        if self.order == 1 and self.max_terms == float("inf"):
            return ""
        try:
            columns = terms_of(data.cells, self.order, symmetric=data.symmetric).columns
        except InputError as error:
            return str(error)
        if columns > self.max_terms:
            return f"{self.name} has {columns:,} terms and at most {self.max_terms:,} are fitted under a curve"
        if self.order > 1 and columns > len(data.cells):
            return f"{self.name} have {columns:,} terms, more than the {len(data.cells):,} cells"
        return ""

    def affordable(self, data: StructureData) -> bool:
        """Say whether to try it unasked."""
        # The count of all conjunctions of levels is quick; it spares listing those of tables that are far too wide.
        conjunctions = float(data.levels) ** self.order / (2.0 if self.order == 2 else 6.0)
        entries = len(data.cells) * math.comb(data.factors, self.order)
        if self.order >= data.factors or conjunctions > 8 * MAX_TERMS_UNASKED or entries > MAX_ENTRIES_UNASKED:
            return False
        try:
            return terms_of(data.cells, self.order, symmetric=data.symmetric).columns <= self.max_terms_unasked
        except InputError:
            return False


class Sum(OfConjunctions):
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

    def affordable(self, data: StructureData) -> bool:
        """Say that single factors always are, and conjunctions if they are few."""
        return self.order == 1 or super().affordable(data)

    def fit(self, data: StructureData) -> TermsFit:
        """Fit shrunk effects by least squares."""
        return fit_terms(data.cells, data.y, self.order, weights=data.weights, symmetric=data.symmetric)

    def reading(self, components: HeldOutComponents) -> FloatArray | None:
        """Return what components of as many factors say."""
        return components.values(self.order)

    def nothing_over(self, components: HeldOutComponents) -> bool:
        """Say whether no interaction of so many factors is beyond chance."""
        return self.order > 1 and not components.carries(self.order)

    def least_squares_scale(self, y: FloatArray) -> FloatArray:
        """Return the outcomes themselves."""
        return y

    def from_sums(self, sums: Predicts, residuals: FloatArray, weights: FloatArray | None = None) -> SumFit:
        """Return the sums as a fit."""
        return SumFit(sums)
