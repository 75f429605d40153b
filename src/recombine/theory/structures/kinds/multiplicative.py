"""Effects that multiply, one number of any sign per level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.theory.structures.products import SeenProducts
from recombine.theory.structures.structure import OpenProduct, Structure, StructureData, StructureFit
from recombine.theory.structures.terms import as_outcomes
from recombine.theory.structures.work import spend
from recombine.verdicts import Verdict

#: Most sweeps over the factors, and the change of the misfit, as a share of the outcomes' power, at which they stop.
MAX_SWEEPS, SWEEPS_SETTLED = 300, 1e-7
#: Further starts at random signs, and sweeps after which only the best goes on.
STARTS, FIRST_SWEEPS = 4, 20
#: Nanoseconds on a laptop of a sweep, for each cell and factor.
NANOSECONDS_PER_CELL_OF_SWEEP = 20.0
#: Factors up to which products are fitted level by level.
MAX_FACTORS = 12


class Multiplicative(Structure):
    """Effects multiply.

    Examples
    --------
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> y = np.array([1.0, -2.0, 3.0])[cells[:, 0]] * np.array([2.0, 1.0, -1.0])[cells[:, 1]]
    >>> Multiplicative().fit(StructureData(cells[:-1], y[:-1])).predict(cells[-1:]).round(3)
    array([-3.])
    """

    name = "multiplicative"
    assumption = "effects multiply"
    complexity = 40
    help = "Every level has one number of either sign, and a combination is their product."

    def obstacle(self, data: StructureData) -> str:
        """Say that factors are symmetric or too many, where they are."""
        if data.symmetric or data.factors > MAX_FACTORS:
            return f"products of symmetric factors, or of more than {MAX_FACTORS}, are not fitted; see log"
        return ""

    def affordable(self, data: StructureData) -> bool:
        """Say that outcomes of two values are tried on log odds instead."""
        return data.two_values is None

    def fit(self, data: StructureData) -> ProductFit:
        """Fit one number per level by alternating least squares, shrunk to each factor's mean."""
        values, weights = as_outcomes(data.y, data.weights, len(data.cells))
        rng = np.random.default_rng(0)
        sizes = [int(top) + 1 for top in data.cells.max(axis=0)]
        scale = float(np.sqrt(np.mean(values**2))) or 1.0
        starts = [[np.ones(count) for count in sizes]]
        if values.min() < 0 < values.max():
            starts += [[rng.choice([-1.0, 1.0], count) for count in sizes] for _ in range(STARTS)]
        columns = np.ascontiguousarray(data.cells.T)
        fits = [_alternated(columns, values / scale, weights, start, FIRST_SWEEPS) for start in starts]
        best = min(fits, key=lambda fit: fit[0])[1]
        levels = tuple(_alternated(columns, values / scale, weights, best, MAX_SWEEPS)[1])
        return ProductFit(scale, levels, SeenProducts.of(data.cells, data.y))


@record
class ProductFit(StructureFit):
    """Effects that multiply."""

    scale: float
    factors: tuple[FloatArray, ...]  #: One number per level; a level never seen has that of the mean level.
    seen: SeenProducts  #: What says which products follow, whatever the signs.

    @property
    def leaves_open(self) -> bool:  # type: ignore[override]
        """Whether signs or zeros may leave a cell open whose sum is determined."""
        return not self.seen.all_follow

    def judge(self, cells: IntArray, codes: IntArray) -> IntArray:
        """Open cells whose sign or size does not follow."""
        judged, determined = codes.copy(), np.flatnonzero(codes == Verdict.DETERMINED)
        followed = self.seen.size_follows(cells[determined]) & self.seen.sign_follows(cells[determined])
        judged[determined[~followed]] = Verdict.DISCONNECTED
        return judged

    def open_product(self, cell: IntArray) -> OpenProduct | None:
        """Return what leaves the product of ``cell`` (C,), whose sum is determined, open; None if nothing does."""
        if not self.seen.size_follows(cell[None])[0]:
            return OpenProduct.SIZE
        return None if self.seen.sign_follows(cell[None])[0] else OpenProduct.SIGN

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C)."""
        codes = as_cells(cells, factors=len(self.factors))
        return self.scale * _product(self.factors, codes)


def _alternated(
    columns: IntArray, y: FloatArray, weights: FloatArray, factors: list[FloatArray], sweeps: int
) -> tuple[float, list[FloatArray]]:
    """Fit one factor after another; ``columns`` (C, N) are the cells, one row per factor."""
    factors = list(factors)
    misfit, total = np.inf, float(weights @ y**2)
    for _ in range(sweeps):
        spend(NANOSECONDS_PER_CELL_OF_SWEEP * columns.size)
        after = [np.ones(len(y))]  # products of the factors that are still to come
        for levels, codes in zip(factors[:0:-1], columns[:0:-1], strict=True):
            after.append(after[-1] * levels[codes])
        before = np.ones(len(y))
        for factor, codes in enumerate(columns):
            factors[factor] = _levels(codes, y, weights, before * after[-1 - factor], factors[factor], misfit)
            before = before * factors[factor][codes]
        last, misfit = misfit, float(weights @ (y - before) ** 2)
        if last - misfit < SWEEPS_SETTLED * total:
            break
    return misfit, factors


def _levels(
    codes: IntArray, y: FloatArray, weights: FloatArray, others: FloatArray, old: FloatArray, misfit: float
) -> FloatArray:
    """Return one number per level: least squares, shrunk to their mean by noise over their variance."""
    power = np.bincount(codes, weights * others**2, minlength=len(old))
    cross = np.bincount(codes, weights * others * y, minlength=len(old))
    mean, spread = float(old.mean()), float(old.var())
    noise = misfit / len(y) if np.isfinite(misfit) else 0.0
    shrink = noise / spread if spread > 0 else 0.0
    least = 1e-12 * max(float(power.max()), 1e-300)
    return np.asarray((cross + (shrink + least) * mean) / (power + shrink + least))


def _product(factors: Sequence[FloatArray], codes: IntArray) -> FloatArray:
    total = np.ones(len(codes))
    for column, factor in enumerate(factors):
        seen = codes[:, column] < len(factor)
        total *= np.where(seen, factor[np.minimum(codes[:, column], len(factor) - 1)], factor.mean())
    return total
