"""Seen cells predicted from the other seen cells: each from all others where that has a closed form, else by folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.design.design import Design
from recombine.progress import each
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import (
    AdditiveFit,
    fit_additive,
    leave_one_out,
    leave_one_out_noise,
)
from recombine.theory.identification.identify import identify
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.nullspace import Route
from recombine.theory.identification.scaled.routes import leverage_for
from recombine.verdicts import Verdict

FOLDS = 5
#: Up to so many seen cells all folds are held out in turn; with more, one fold alone says as much.
ALL_FOLDS = 4_000
FEW_COLUMNS = 300
LEAVE_ONE_OUT = "leave one cell out"
#: Operations (see `Leverage.cost`) that an order nobody asked for may take: about two seconds.
OPERATIONS = 1e10


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Seen cells predicted from others, arrays of shape (N,) over all seen cells.

    Attributes
    ----------
    method : str
        How they were left out, in words.
    predicted : float array
        NaN where ``determined`` is False.
    determined : bool array
        Cells that were tried and that the cells they were predicted from determine.
    tried : int
        Cells that were left out at all.
    expected : float array or None
        Variance that noise alone gives each miss, where the noise is known.
    """

    method: str
    predicted: FloatArray
    determined: BoolArray
    tried: int
    expected: FloatArray | None


def affordable_inverse(design: Design, order: int) -> Leverage | None:
    """Return what it takes to leave out every cell at ``order`` in closed form; None if that is beyond the budget.

    The budget counts operations, not seconds, so that the same table is always treated alike.

    Examples
    --------
    >>> cells = np.indices((20, 20, 20)).reshape(3, -1).T
    >>> affordable_inverse(Design.from_cells(cells, cells.sum(axis=1)), 2) is None
    False
    """
    features = design.features(order)
    left = features.columns - max(len(block) for block in features.blocks.values())
    # Among many cells all columns occur, and there is no need to look.
    most = left if len(design.seen) > 4 * features.columns else 0
    if float(most) ** 3 + 10.0 * len(design.seen) * len(features.subsets) ** 2 > OPERATIONS:
        return None
    normal = leverage_for(features, design.seen, design.precision[design.train])
    return normal if not normal.solved_singly and normal.cost <= OPERATIONS else None


def fit_order(design: Design, order: int, normal: Leverage | None = None) -> AdditiveFit:
    """Fit the additive model of one order to the seen cells by their precision."""
    assert design.outcome is not None
    seen = design.train
    return fit_additive(design.features(order), design.seen, design.outcome[seen], design.precision[seen], normal)


def leave_out(design: Design, fit: AdditiveFit, noise: FloatArray | None, seed: int) -> LeftOut:
    """Predict seen cells from the others under the model of ``fit``; ``noise`` (N,) holds variances where known."""
    assert design.outcome is not None
    outcome = design.outcome[design.train]
    if fit.leverage is not None:
        predicted, determined = leave_one_out(fit, outcome)
        expected = None if noise is None else leave_one_out_noise(fit, noise)
        return LeftOut(LEAVE_ONE_OUT, predicted, determined, len(outcome), expected)
    # With so many cells the noise of the fit itself is negligible.
    return _folds(design, fit.conjunctions, outcome, noise, seed)


def _folds(design: Design, features: Conjunctions, outcome: FloatArray, noise: FloatArray | None, seed: int) -> LeftOut:
    """Cross-validate by folds where leave-one-out would need too large a matrix."""
    weight, cells = design.precision[design.train], design.seen
    fold = np.random.default_rng(seed).integers(FOLDS, size=len(outcome))
    predicted = np.full(len(outcome), np.nan)
    determined = np.zeros(len(outcome), dtype=bool)
    # Floating point is good enough to choose cells to score: what it leaves undecided is not scored.
    route = Route.PROJECTION if features.columns > FEW_COLUMNS else None
    rounds = FOLDS if len(outcome) <= ALL_FOLDS else 1
    for held in each("cells held out", range(rounds)):
        test, rest = np.flatnonzero(fold == held), fold != held
        found = identify(cells[rest], cells[test], features.order, **design.shape, route=route)
        known = test[found.verdicts == Verdict.DETERMINED]
        fit = fit_additive(features, cells[rest], outcome[rest], weight[rest])
        predicted[known] = fit.predict(cells[known])
        determined[known] = True
    method = f"{rounds} of {FOLDS} random folds of cells held out"
    return LeftOut(method, predicted, determined, int((fold < rounds).sum()), noise)


def determined_values(predict: Callable[[IntArray], FloatArray], cells: IntArray, codes: IntArray) -> FloatArray:
    """Return the values (N,) of those of ``cells`` (N, C) whose verdict ``codes`` (N,) allow one, NaN elsewhere."""
    values, known = np.full(len(cells), np.nan), codes <= Verdict.DETERMINED
    values[known] = predict(cells[known])
    return values


def held_out_errors(design: Design, codes: IntArray, predicted: FloatArray) -> Table:
    """Return errors on held-out cells (H,) by verdict, of values that follow and of the plain mean."""
    assert design.outcome is not None
    truth = design.outcome[~design.train]
    missed, spread = truth - design.outcome_column.bounded(predicted), truth - design.outcome[design.train].mean()
    rows = []
    for verdict in Verdict:
        chosen = codes == verdict
        if chosen.any():
            known = verdict in (Verdict.SEEN, Verdict.DETERMINED)
            error = float(np.sqrt(np.mean(missed[chosen] ** 2))) if known else float("nan")
            rows.append((verdict.word, int(chosen.sum()), error, float(np.sqrt(np.mean(spread[chosen] ** 2)))))
    names = ("verdict", "cells", "additive error", "mean error")
    return Table({name: [row[place] for row in rows] for place, name in enumerate(names)})
