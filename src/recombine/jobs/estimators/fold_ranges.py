"""90 % ranges of any structure's predictions, calibrated on seen cells that are held out in folds.

Where a structure is plain least squares its misses have a closed form, and ranges are the audit's. Elsewhere the seen
cells are held out in ten parts; each that the others determine is predicted from them and missed. A miss holds the
noise of the cell's own mean and what the structure gets wrong, departure^2 + noise^2 / p, p being the measurements
behind the mean. Misses in units of that are scores, and the range of a new cell is its predicted value plus and minus
the 90 % quantile of the scores of held-out cells whose predicted values are nearest: a curve that is flat at its ends
misses less there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import distinct
from recombine.errors import RecombineError
from recombine.jobs.audit.ranges import Spread, fit_spread, local_quantiles
from recombine.jobs.structure.held_out_ranges import MIN_MISSES
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict

#: Parts that are held out in turn, and held-out cells after which no further part is.
RANGE_FOLDS, ENOUGH_CELLS_HELD_OUT = 10, 20_000

#: From rows (cells and outcomes) and asked cells to predictions there.
Predictor = Callable[[IntArray, FloatArray, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class FoldRanges:
    """What held-out seen cells say about how far predictions miss; see `hold_out`.

    Attributes
    ----------
    predicted : float array of shape (n,)
        Of the held-out cells that the others determine.
    misses : float array of shape (n,)
        Mean outcome there minus predicted.
    scores : float array of shape (n,)
        Misses, without sign, in units of their spread.
    spread : Spread
    replicated : bool
        Whether repeated rows say what noise is: the range is for a mean like those seen; else for one measurement.
    own : float
        Share of one measurement's noise in what a range is for.
    chances : bool
        Whether the outcome has two values and no rows repeat, so that chances are not seen.
    """

    predicted: FloatArray = field(repr=False)
    misses: FloatArray = field(repr=False)
    scores: FloatArray = field(repr=False)
    spread: Spread
    replicated: bool
    own: float = 1.0
    chances: bool = False

    __repr__ = brief_repr

    @property
    def obstacle(self) -> str:
        """Why no range can be given; empty if one can."""
        if self.chances:
            return "no 90 % range: the outcome has two values and no rows repeat, so chances are not seen"
        count = len(self.misses)
        few = f"no 90 % range: of the held-out seen cells {count} followed from the others, and it takes"
        return "" if count >= MIN_MISSES else f"{few} {MIN_MISSES}"

    @property
    def statement(self) -> str:
        """One sentence on what the ranges are for and rest on."""
        if self.obstacle:
            return f"{self.obstacle[0].upper()}{self.obstacle[1:]}."
        what = "one more cell measured like the seen ones" if self.replicated else "one measurement of the cell"
        return f"A 90 % range is for {what}. It rests on {len(self.misses):,} seen cells, each held out and predicted."

    def half_width(self, predicted: FloatArray) -> FloatArray:
        """Return how far the range of cells with these predicted values (N,) reaches to either side; NaN for none."""
        if self.obstacle:
            return np.full(len(predicted), np.nan)
        own = np.full(len(predicted), self.own)
        nothing = np.zeros(len(predicted))
        return np.asarray(np.interp(predicted, *self._knots) * self.spread.of(own, nothing, nothing))

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        return local_quantiles(self.predicted, self.scores, len(self.scores))


def hold_out(
    predictor: Predictor, cells: IntArray, y: FloatArray, order: int, sizes: Sequence[int], seed: int = 0
) -> FoldRanges:
    """Hold out seen cells in parts, predict them from the others, and return how far they are missed.

    Parameters
    ----------
    predictor : callable
        ``predictor(cells, y, asked)`` fits a structure to rows and returns predictions at ``asked`` (M, C).
    cells : int array of shape (N, C)
        One row per measurement; a cell with several is held out as a whole.
    y : float array of shape (N,)
    order : int
        Factors in the structure's largest conjunctions.
    sizes : sequence of int
        Levels of each factor.
    seed : int

    Examples
    --------
    >>> cells = np.indices((8, 8)).reshape(2, -1).T
    >>> y = cells.sum(axis=1) + np.random.default_rng(0).normal(size=64)
    >>> from recombine.theory.structures import fit_terms
    >>> found = hold_out(lambda seen, y, asked: fit_terms(seen, y).predict(asked), cells, y, 1, (8, 8))
    >>> len(found.misses), found.half_width(np.array([7.0])).round(1)
    (64, array([1.4]))
    """
    rows, which = distinct(cells)
    count = np.bincount(which).astype(float)
    means = np.bincount(which, y) / count
    noise = _noise(y - means[which], len(y) - len(rows))
    fold_of = np.random.default_rng(seed).permutation(len(rows)) % RANGE_FOLDS
    predicted = np.full(len(rows), np.nan)
    for fold in range(RANGE_FOLDS):
        tested, training = np.flatnonzero(fold_of == fold), fold_of != fold
        if not len(tested) or not training.any():
            continue
        asked = identify(rows[training], rows[tested], order, sizes=sizes)
        determined = tested[asked.verdicts == Verdict.DETERMINED]
        predicted[determined] = _tried(predictor, cells[training[which]], y[training[which]], rows[determined])
        if np.isfinite(predicted).sum() >= ENOUGH_CELLS_HELD_OUT:
            break
    done = np.flatnonzero(np.isfinite(predicted))
    misses, own, nothing = means[done] - predicted[done], 1 / count[done], np.zeros(len(done))
    spread = fit_spread(misses, own, nothing, nothing, noise)
    size = spread.of(own, nothing, nothing)
    scores = np.divide(np.abs(misses), size, out=np.zeros(len(misses)), where=size > 0)
    # A mean that noise explains wholly would have a range of no width: what is measured is what the range is for.
    usual = float(np.median(own)) if len(own) and noise is not None else 1.0
    return FoldRanges(predicted[done], misses, scores, spread, noise is not None, own=usual)


def _tried(predictor: Predictor, cells: IntArray, y: FloatArray, asked: IntArray) -> FloatArray:
    """Predict, or return NaN (M,) where too little is left to fit."""
    if not len(asked):
        return np.zeros(0)
    try:
        return predictor(cells, y, asked)
    except RecombineError:
        return np.full(len(asked), np.nan)


def _noise(within: FloatArray, freedom: int) -> float | None:
    """Return the variance of one measurement about its cell's mean; None if no cell has two."""
    return float(within @ within) / freedom if freedom else None
