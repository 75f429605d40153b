"""Least squares on sparse terms with one shrinkage per order of conjunction, chosen by the data themselves.

Effects of one order are taken as draws of one variance: main effects of one, pairs of another. Both variances and that
of the noise maximize the marginal likelihood (evidence), by MacKay's fixed point: an effect's prior variance is the sum
of squared effects over how many of them the data determine. Where pairs explain nothing theirs goes to zero, and the
fit is that of main effects alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset
from recombine.cells.threads import one_thread
from recombine.checks import real
from recombine.theory.structures.normal_equations import normal_equations
from recombine.theory.structures.structure import StructureFit
from recombine.theory.structures.terms import Terms, as_outcomes, design_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

#: Rounds of the fixed point, and the relative change of every shrinkage at which it stops.
MAX_ROUNDS_OF_RIDGE, RIDGE_SETTLED = 30, 0.02
#: Bounds of a shrinkage, as a share of the mean diagonal of the normal matrix.
MIN_RIDGE_SHARE, MAX_RIDGE_SHARE = 1e-9, 1e6


@record
class TermsFit(StructureFit):
    """Effects of all terms."""

    terms: Terms
    constant: float  #: Outcome where every factor is at the level the others depart from.
    effects: FloatArray
    ridge: FloatArray  #: Shrinkage of the effects of each order, in units of a cell of mean weight.
    #: Variance of the outcomes about the fit, at mean weight, and effective number of effects and the constant.
    noise: float
    freedom: float

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C); meaningful where the verdict is ``determined``."""
        return np.asarray(self.constant + self.terms.matrix(cells) @ self.effects)


def fit_terms(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    order: int = 1,
    *,
    weights: npt.ArrayLike | None = None,
    symmetric: Sequence[Subset] = (),
    ridge: float | None = None,
) -> TermsFit:
    """Fit effects of conjunctions up to ``order`` factors to outcomes ``y`` (N,) of the seen ``cells`` (N, C).

    ``weights`` (N,) are one over the variance of each outcome, up to a common factor; ``ridge`` is one shrinkage for
    all effects, and each order's own is found from the data, unless it is given.

    Examples
    --------
    >>> cells = np.indices((4, 4)).reshape(2, -1).T
    >>> fit = fit_terms(cells[:-1], 10.0 * cells[:-1, 0] + cells[:-1, 1], ridge=1e-9)
    >>> fit.predict(cells[-1:]).round(6)
    array([33.])
    """
    codes = as_cells(cells)
    values, counted = as_outcomes(y, weights, len(codes))
    terms, design = design_of(codes, order, symmetric)
    given = None if ridge is None else real(ridge, "ridge", at_least=0) * np.ones(terms.order)
    return fit_design(terms, design, values, counted, given)


def fit_design(
    terms: Terms, design: csr_array, y: FloatArray, weights: FloatArray, ridge: FloatArray | None = None
) -> TermsFit:
    """Fit effects to a design (N, P) with outcomes and weights (N,) of mean one; see `fit_terms`."""
    centre = float(weights @ y / weights.sum())
    if not terms.columns:
        return TermsFit(terms, centre, np.zeros(0), np.zeros(terms.order), float(np.mean((y - centre) ** 2)), 1.0)
    with one_thread():
        system = normal_equations(terms, design, y - centre, weights)
        scale = system.diagonal.mean() or 1.0
        shrunk = np.full(terms.order, 1e-3 * scale) if ridge is None else ridge
        for _ in range(MAX_ROUNDS_OF_RIDGE):
            effects, spread = system.solve(shrunk[terms.size - 1] + (MIN_RIDGE_SHARE * scale))
            determined = determined_effects(shrunk, spread, terms.size)
            freedom = 1.0 + sum(determined.tolist())
            noise = system.misfit(effects) / max(len(y) - freedom, 1.0)
            if ridge is not None:
                break
            old = shrunk
            shrunk = next_ridge(effects, determined, noise, terms.size, scale)
            if np.all(np.abs(np.log(shrunk / old)) < RIDGE_SETTLED):
                break
    constant = centre - float(system.means @ effects)
    return TermsFit(terms, constant, effects, shrunk, noise, freedom)


def determined_effects(ridge: FloatArray, spread: FloatArray, size: IntArray) -> FloatArray:
    """Return how many effects of each order the data determine: their number - ridge * trace of their inverse."""
    members = [size == order + 1 for order in range(len(ridge))]
    counts = [of.sum() - shrink * spread[of].sum() for of, shrink in zip(members, ridge, strict=True)]
    return np.asarray(np.maximum(counts, 1e-9))


def next_ridge(effects: FloatArray, determined: FloatArray, noise: float, size: IntArray, scale: float) -> FloatArray:
    """Return the shrinkage of each order (order,) at the next round of the fixed point."""
    power = np.array([np.square(effects[size == order + 1]).sum() for order in range(len(determined))])
    with np.errstate(divide="ignore", over="ignore"):
        ridge = np.where(power > 0, noise * determined / np.where(power > 0, power, 1.0), np.inf)
    return np.clip(ridge, MIN_RIDGE_SHARE * scale, MAX_RIDGE_SHARE * scale)
