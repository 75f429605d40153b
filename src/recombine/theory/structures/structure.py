"""What effects do, as objects: a `Structure` says it in words and fits it, a `StructureFit` is what came of it.

Whoever adds a structure writes both in one file of `kinds` and lists the structure in `all_structures`. The base
classes are those of a sum: no curve, no limits, nothing left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Subset
from recombine.registry import help_address
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.theory.components.held_out import HeldOutComponents
    from recombine.theory.structures.curve import Curve
    from recombine.theory.structures.monotone_bounds import MonotoneBounds

#: Sums this share of the seen range outside it still count as inside: they are sums of rounded effects.
RANGE_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class StructureData:
    """Seen ``cells`` (N, C) with their outcomes ``y`` (N,), as structures take them."""

    cells: IntArray
    y: FloatArray
    weights: FloatArray | None = None  #: (N,): one over the variance of each outcome, up to a common factor.
    #: (N,): measurements behind each outcome, for structures of chances and counts; one each, if None.
    counts: FloatArray | None = None
    symmetric: Sequence[Subset] = ()
    sizes: tuple[int, ...] = ()  #: Levels of each factor; those of the cells, if empty.
    #: The two values that single measurements have, where there are only two.
    two_values: tuple[float, float] | None = None
    #: Where chances have no likeliest effects: keep the limits, or add prior observations so that they have some.
    separated: Literal["limits", "prior"] = "limits"

    @property
    def factors(self) -> int:
        """Number of factors C."""
        return int(self.cells.shape[1])

    @property
    def levels(self) -> int:
        """Levels of all factors together."""
        return sum(self.sizes) if self.sizes else int((self.cells.max(axis=0) + 1).sum())

    def rows(self, indices: IntArray) -> StructureData:
        """Return the same of some rows (n,)."""
        weights, counts = (None if array is None else array[indices] for array in (self.weights, self.counts))
        return replace(self, cells=self.cells[indices], y=self.y[indices], weights=weights, counts=counts)


@dataclass(frozen=True)
class OpenSum:
    """Why a cell is left open: its sum of effects lies outside those of all seen cells, ``low`` to ``high``."""

    value: float
    low: float
    high: float


class OpenProduct(StrEnum):
    """Why a product is left open though its logarithms add up: its sign, or its size because seen products are zero."""

    SIGN = auto()
    SIZE = auto()


class Predicts(Protocol):
    """Anything with values at cells."""

    def predict(self, cells: IntArray) -> FloatArray:
        """Return the values at ``cells`` (N, C)."""
        ...


class StructureFit:
    """A structure fitted to seen cells."""

    #: From the sum of effects to the outcome, where there is one to draw; smallest and largest sum of a seen cell,
    #: where nothing is known of the outcome beyond.
    curve: Curve | None = None
    seen_range: tuple[float, float] | None = None
    outcome_bounds: tuple[float, float] = (-np.inf, np.inf)  #: Between what outcomes lie.
    leaves_open: bool = False  #: Whether `judge` may leave cells open that their sums would determine.

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C), shape (N,); NaN where the fit leaves it open."""
        raise NotImplementedError

    def latent(self, cells: npt.ArrayLike) -> FloatArray | None:
        """Return the sums of effects of ``cells`` (N, C) on the scale on which they add; None if there is none."""
        return None

    def centre(self, cells: npt.ArrayLike) -> FloatArray:
        """Return what ranges of ``cells`` (N, C) lie around, on a scale that `to_outcome` brings back."""
        return self.predict(cells)

    def from_outcome(self, y: FloatArray) -> FloatArray:
        """Return outcomes on the scale of `centre`."""
        return y

    def to_outcome(self, values: FloatArray, *, mean: bool = False) -> FloatArray:
        """Return values on the scale of `centre` as outcomes; with ``mean``, as means of outcomes."""
        return values

    def beyond(self, cells: npt.ArrayLike) -> BoolArray:
        """Say for each of ``cells`` (N, C) whether its sum of effects lies outside the seen range."""
        codes = np.asarray(cells)
        if self.seen_range is None or (sums := self.latent(codes)) is None:
            return np.zeros(len(codes), dtype=bool)
        low, high = self.seen_range
        slack = RANGE_SLACK * (high - low)
        return np.asarray((sums < low - slack) | (sums > high + slack))

    def judge(self, cells: IntArray, codes: IntArray) -> IntArray:
        """Return the verdict codes (N,) of ``cells`` (N, C) whose sums have the verdict codes ``codes`` (N,)."""
        if self.seen_range is None:
            return codes
        judged, determined = codes.copy(), np.flatnonzero(codes == Verdict.DETERMINED)
        judged[determined[self.beyond(cells[determined])]] = Verdict.BEYOND
        return judged

    def why_open(self, cell: IntArray) -> OpenSum | None:
        """Return where the sum of ``cell`` (C,) lies, if it is outside the seen range."""
        if self.seen_range is None or (sums := self.latent(cell[None])) is None or not self.beyond(cell[None])[0]:
            return None
        return OpenSum(float(sums[0]), *self.seen_range)

    def open_product(self, cell: IntArray) -> OpenProduct | None:
        """Return what leaves the product of ``cell`` (C,), whose sum is determined, open; None if nothing does."""
        return None

    def limit_of(self, cell: IntArray) -> str:
        """Say at which limit the value of ``cell`` (C,) is determined, such as one; empty where it is none."""
        return ""

    def bounds_of(self, data: StructureData, cell: IntArray) -> tuple[MonotoneBounds, float] | None:
        """Return what bounds ``cell`` (C,) whatever the curve, and from which difference on outcomes are ordered."""
        return None


class Structure:
    """What effects do; the registry `STRUCTURES` has one object of each kind.

    Attributes
    ----------
    assumption, explains : str
        What effects do, after "if": "effects add on the outcome's logarithm"; the same before a share of variance.
    """

    #: As options take it, and what they and the documentation say of it.
    name: str
    assumption: str
    complexity: int  #: Position on the ladder; simpler ones are preferred.
    order: int = 1  #: Factors in its largest conjunctions: verdicts are decided at this order.
    #: Whether values are sums of seen outcomes, and whether verdicts depend on outcomes.
    is_sum: bool = False
    needs_outcome: bool = True
    costly: bool = False  #: Whether it may be left out for want of cells or of time, which is then said.
    min_cells: int = 1  #: Fewest cells that a fit takes.
    hit_rate: str | None = "structure"  #: Key of the record that says how often choosing it was right.
    help: str = ""

    @property
    def explains(self) -> str:
        """What effects do and explain, before a share."""
        return f"{self.assumption}; they explain"

    @property
    def address(self) -> str:
        """Where the documentation tells more; empty where none is named."""
        return help_address("structure", self.name)

    @property
    def adds(self) -> bool:
        """Whether effects of single factors add on the outcome's own scale."""
        return self.is_sum and self.order == 1

    def obstacle(self, data: StructureData) -> str:
        """Say why these data cannot carry it; empty if they can."""
        return ""

    def affordable(self, data: StructureData) -> bool:
        """Say whether to try it unasked."""
        return True

    def fit(self, data: StructureData) -> StructureFit:
        """Fit it to seen cells."""
        raise NotImplementedError

    def reading(self, components: HeldOutComponents) -> FloatArray | None:
        """Return what variance components say of seen cells (N,) that are held out if it holds, NaN for the others.

        None where they cannot say it: it is then fitted to the cells outside every fold.
        """
        return None

    def nothing_over(self, components: HeldOutComponents) -> bool:
        """Say whether components leave nothing that it could carry beyond simpler structures."""
        return False

    def rescaled(self, fit: StructureFit, data: StructureData, low: float, width: float) -> StructureFit:
        """Return the ``fit`` to ``data`` for outcomes ``low + width * y``: fitted again, unless its scale is free."""
        return self.fit(replace(data, y=low + width * data.y))

    def least_squares_scale(self, y: FloatArray) -> FloatArray | None:
        """Return outcomes (N,) on the scale on which effects add by plain least squares; None if there is none."""
        return None

    def from_sums(self, sums: Predicts, residuals: FloatArray, weights: FloatArray | None = None) -> StructureFit:
        """Return the fit whose sums, on the scale of `least_squares_scale`, are ``sums`` and leave ``residuals``.

        Residuals (N,) count by ``weights`` (N,).
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"Structure({self.name}: {self.assumption})"
