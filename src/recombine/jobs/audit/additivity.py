"""Does additivity hold here? Seen cells are predicted from the others, order by order, against two yardsticks.

A verdict says what follows *if* effects add. This check says whether they do, on the cells where it can be tested: the
error of predicting a seen cell from all other seen cells (where those determine it; in closed form, else by folds),
beside the error of the plain mean and beside the noise floor. Where rows repeat, the classical test of lack of fit says
whether effects interact at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.audit.noise import CellNoise, LackOfFit, cell_noise, lack_of_fit_test
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.jobs.listing import level_columns
from recombine.progress import each
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import AdditiveFit, fit_additive, leave_one_out, leave_one_out_noise
from recombine.theory.identification.identify import identify
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.nullspace import Route
from recombine.theory.identification.scaled.routes import leverage_for
from recombine.verdicts import Verdict

FOLDS = 5
#: Up to so many seen cells all folds are held out in turn; with more, one fold alone says as much.
MAX_CELLS_ALL_FOLDS = 4_000
#: Up to so many columns verdicts of left-out cells are exact.
MAX_COLUMNS_EXACT = 300
#: Operations (see `Leverage.cost`) that an order nobody asked for may take: about two seconds.
MAX_OPERATIONS = 1e10
#: Differences below this share of the largest outcome are those of floating point.
ROUNDING = 1e-12


class AdditivityState(StrEnum):
    """Whether effects add, as far as seen cells and replicates tell.

    ``HOLDS`` and ``HOLDS_ROUGHLY`` go by the share of the explainable variance that is predicted; ``FAILS`` where
    replicates show that effects interact; ``NOT_SHOWN`` where neither was shown; ``UNCHECKED`` with too few cells or
    too much noise.
    """

    HOLDS = auto()
    HOLDS_ROUGHLY = auto()
    FAILS = auto()
    NOT_SHOWN = auto()
    UNCHECKED = auto()

    @property
    def adds(self) -> bool:
        """Whether effects add, at least roughly."""
        return self in (AdditivityState.HOLDS, AdditivityState.HOLDS_ROUGHLY)


@dataclass(frozen=True, eq=False)
class OrderCheck:
    """How well the additive model of one order predicts seen cells from the others.

    ``tested`` of the ``seen`` cells are determined by the rest, of ``tried`` that were left out; ``error`` and
    ``baseline`` are root mean squared errors of the model and of the mean on those. Where the noise is known (None
    elsewhere), ``noise`` is that of the tested cells' own means and ``expected`` the error noise alone would give the
    model if effects truly add; ``at_most`` says that these are only the most that noise can be. All in outcome units.
    """

    order: int
    tested: int
    error: float
    baseline: float
    noise: float | None
    expected: float | None
    at_most: bool
    lack_of_fit: LackOfFit | None
    seen: int
    tried: int
    predicted: FloatArray = field(repr=False)
    determined: BoolArray = field(repr=False)

    @property
    def share(self) -> float:
        """Share of the explainable variance that the predictions explain; negative if worse than the mean."""
        # The most that noise can be would explain away any interaction; only what is known is taken off.
        noise, expected = (0.0, 0.0) if self.at_most else (self.noise or 0.0, self.expected or 0.0)
        explainable = self.baseline**2 - noise**2
        if explainable <= 0:
            return float("nan")
        return 1.0 - max(self.error**2 - expected**2, 0.0) / explainable

    @property
    def few(self) -> bool:
        """Whether too few cells were tested to say anything."""
        return self.tested < AUDIT_LIMITS.min_cells_tested

    @property
    def thin(self) -> bool:
        """Whether the tested cells are too small a share of the seen ones to speak for the others."""
        return self.tested < AUDIT_LIMITS.min_share_tested * self.tried

    @property
    def drowned(self) -> bool:
        """Whether noise alone accounts for most of the plain mean's error."""
        return self.expected is not None and self.expected**2 > AUDIT_LIMITS.max_noise_share * self.baseline**2


@dataclass(frozen=True, eq=False)
class AdditivityCheck:
    """The check at every order tried, a lack-of-fit test where rows repeat, and the cells that break additivity most.

    ``folds`` says how many fifths of the seen cells were held out, 0 where each was left out by itself; ``untried``
    are orders that would have taken too long.

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = [[i, j] for i in range(5) for j in range(5) if (i, j) != (4, 4)]
    >>> check = check_additivity(Design.from_cells(cells, outcome=[i + 2.0 * j for i, j in cells]))
    >>> check
    AdditivityCheck(holds at order 1)
    >>> check.orders[0].tested, round(check.orders[0].error, 9)
    (24, 0.0)
    """

    design: Design
    orders: tuple[OrderCheck, ...]
    noise: CellNoise | None
    folds: int = 0
    untried: tuple[int, ...] = ()
    beyond_chance: bool = True  #: Without, effects are not shown to add: there may be none.

    def __repr__(self) -> str:
        states = ", ".join(f"{self.state_at(check.order)} at order {check.order}" for check in self.orders)
        return f"AdditivityCheck({states or 'no order tried'})"

    @property
    def state(self) -> AdditivityState:
        """Whether effects add at order 1."""
        return self.state_at(1)

    def at(self, order: int) -> OrderCheck | None:
        """Return the check of one order, or None if it was not tried."""
        return next((check for check in self.orders if check.order == order), None)

    def state_at(self, order: int) -> AdditivityState:
        """Return whether effects add up to interactions of ``order`` factors."""
        check = self.at(order)
        state = AdditivityState.UNCHECKED if check is None else _state(check)
        return AdditivityState.NOT_SHOWN if state.adds and not self.beyond_chance else state

    @cached_property
    def table(self) -> Table:
        """One row per order: cells tested, errors, the share explained, lack of fit, state."""
        tests = [check.lack_of_fit for check in self.orders]
        return Table(
            {
                "order": [check.order for check in self.orders],
                "cells tested": [check.tested for check in self.orders],
                "error": [check.error for check in self.orders],
                "mean baseline": [check.baseline for check in self.orders],
                "error if effects add": np.array([check.expected for check in self.orders], dtype=float),
                "share explained": [check.share for check in self.orders],
                "lack of fit F": np.array([test and test.statistic for test in tests], dtype=float),
                "lack of fit p": np.array([test and test.p_value for test in tests], dtype=float),
                "additivity": [self.state_at(check.order) for check in self.orders],
            }
        )

    def breakers(self, count: int = 5) -> Table:
        """Return the seen cells whose value the others predict worst at order 1: observed, predicted, difference."""
        if not self.orders or self.design.outcome is None:
            return Table({"difference": []})
        check, observed = self.orders[0], self.design.observed.seen_outcome
        gap = np.where(check.determined, np.abs(observed - check.predicted), 0.0)
        # Gaps that differ by rounding are equal: on every machine the same cell comes first.
        alike = np.round(gap / (gap.max(initial=0.0) or 1.0), 9)
        worst = np.argsort(np.where(check.determined, -alike, 1.0), kind="stable")[: min(count, check.tested)]
        columns = {
            "rows": self.design.observed.rows[self.design.train][worst],
            "observed": observed[worst],
            "predicted": check.predicted[worst],
            "difference": observed[worst] - check.predicted[worst],
        }
        return Table({**level_columns(self.design, self.design.seen[worst], columns), **columns})


def _by_share(share: float, otherwise: AdditivityState) -> AdditivityState:
    if share >= AUDIT_LIMITS.share_holds:
        return AdditivityState.HOLDS
    return AdditivityState.HOLDS_ROUGHLY if share >= AUDIT_LIMITS.share_holds_roughly else otherwise


def _state(check: OrderCheck) -> AdditivityState:
    test, share = check.lack_of_fit, check.share
    if check.baseline == 0:
        return AdditivityState.UNCHECKED
    if check.few or np.isnan(share) or check.drowned:
        return AdditivityState.UNCHECKED if test is None else _state_by_test(test, check)
    state = _by_share(share, _state_by_misses(check))
    return AdditivityState.UNCHECKED if check.thin and state.adds else state


def _state_by_test(test: LackOfFit, check: OrderCheck) -> AdditivityState:
    """Where cells cannot predict each other the replicates decide; they must rule out what is not to be there."""
    if test.p_value <= AUDIT_LIMITS.p_value_shown:
        return _by_share(np.fmin(test.share, check.share), AdditivityState.FAILS)
    if test.p_value <= AUDIT_LIMITS.p_value_hinted:
        return AdditivityState.NOT_SHOWN
    # Cells that no other determines fit any model; under noise passing proves little.
    if check.tested < check.tried or check.drowned:
        return AdditivityState.UNCHECKED
    return _by_share(test.least_share, AdditivityState.UNCHECKED)


def _state_by_misses(check: OrderCheck) -> AdditivityState:
    """Return the state of a model that predicts badly: interaction is blamed only where replicates show it."""
    if check.expected is None:
        return AdditivityState.NOT_SHOWN
    clear = check.error**2 > AUDIT_LIMITS.min_excess * check.expected**2
    if check.at_most:
        return AdditivityState.NOT_SHOWN if clear else AdditivityState.UNCHECKED
    if (test := check.lack_of_fit) is None:
        return AdditivityState.FAILS if clear else AdditivityState.NOT_SHOWN
    if test.p_value <= AUDIT_LIMITS.p_value_shown:
        return AdditivityState.FAILS
    return AdditivityState.NOT_SHOWN if test.p_value <= AUDIT_LIMITS.p_value_hinted else AdditivityState.UNCHECKED


def check_additivity(
    design: Design,
    orders: tuple[int, ...] = (1, 2),
    seed: int = 0,
    *,
    asked: int = 1,
    fits: Mapping[int, AdditiveFit] | None = None,
) -> AdditivityCheck:
    """Predict every seen cell from the other seen cells under the additive model of each order.

    Orders beside 1 and the one that was ``asked`` for are left out where they would take more than a few seconds;
    ``fits`` holds fits of the seen cells by order that there are already.
    """
    # With all factors interacting something follows only where levels share a curve.
    possible = [
        order
        for order in orders
        if order == 1 or (order <= len(design.factors) and not design.features(order).saturated)
    ]
    ready = {order: fit for order, fit in (fits or {}).items() if order in possible}
    for order in possible:
        if order in ready:
            continue
        normal = None if order in (1, asked) else affordable_inverse(design, order)
        if order in (1, asked) or normal is not None:
            ready[order] = fit_order(design, order, normal)
    noise = cell_noise(design, ready.get(1))
    checks = [_check(design, order, ready[order], noise, seed) for order in possible if order in ready]
    untried = tuple(order for order in possible if order not in ready)
    folds = next((count for _, count in checks if count), 0)
    return AdditivityCheck(design, tuple(check for check, _ in checks), noise, folds, untried)


def _check(design: Design, order: int, fit: AdditiveFit, noise: CellNoise | None, seed: int) -> tuple[OrderCheck, int]:
    """Return the check of one order, and how many folds were held out for it."""
    outcome, variances = design.observed.seen_outcome, None if noise is None else noise.variances
    trial = leave_out(design, fit, variances, seed)
    tested, rounding = trial.determined, ROUNDING * np.abs(outcome).max()
    # What is left of an exact sum is rounding, not an error.
    predicted = np.where(np.abs(outcome - trial.predicted) <= rounding, outcome, trial.predicted)
    mean = (outcome.sum() - outcome) / max(len(outcome) - 1, 1)
    baseline = root_mean_square((outcome - mean)[tested])
    check = OrderCheck(
        order,
        int(tested.sum()),
        root_mean_square((outcome - predicted)[tested]),
        0.0 if baseline <= rounding else baseline,  # an outcome that never varies
        _root(variances, tested),
        _root(trial.expected, tested),
        noise is not None and noise.at_most,
        lack_of_fit_test(design, order, fit),
        len(outcome),
        trial.tried,
        predicted,
        tested,
    )
    return check, trial.folds


def _root(variances: FloatArray | None, tested: BoolArray) -> float | None:
    """Return the root of the mean variance over the tested cells."""
    return None if variances is None or not tested.any() else float(np.sqrt(np.mean(variances[tested])))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Seen cells predicted from others, arrays of shape (N,) over all seen cells.

    ``predicted`` is NaN but where ``determined``, of cells that were tried and that the others determine; ``tried``
    counts the former. ``folds`` of five were held out, 0 if each cell was. ``expected`` is the variance that noise
    alone gives each miss, where the noise is known.
    """

    folds: int
    predicted: FloatArray
    determined: BoolArray
    tried: int
    expected: FloatArray | None


def root_mean_square(values: FloatArray) -> float:
    """Return the root of the mean square, NaN of nothing."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def affordable_inverse(design: Design, order: int) -> Leverage | None:
    """Return what it takes to leave out every cell at ``order`` in closed form; None if that is beyond the budget.

    The budget counts operations, not seconds, so that the same table is always treated alike.

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = np.indices((20, 20, 20)).reshape(3, -1).T
    >>> affordable_inverse(Design.from_cells(cells, cells.sum(axis=1)), 2) is None
    False
    """
    features = design.features(order)
    columns = features.columns - max(len(block) for block in features.blocks.values())
    # Among many cells all columns occur, and there is no need to look.
    inverted = columns if len(design.seen) > 4 * features.columns else 0
    if float(inverted) ** 3 + 10.0 * len(design.seen) * len(features.subsets) ** 2 > MAX_OPERATIONS:
        return None
    normal = leverage_for(features, design.seen, design.precision[design.train])
    return normal if not normal.solved_singly and normal.cost <= MAX_OPERATIONS else None


def fit_order(design: Design, order: int, normal: Leverage | None = None) -> AdditiveFit:
    """Fit the additive model of one order to the seen cells by their precision."""
    outcome, precision = design.observed.seen_outcome, design.precision[design.train]
    return fit_additive(design.features(order), design.seen, outcome, precision, normal)


def leave_out(design: Design, fit: AdditiveFit, noise: FloatArray | None, seed: int) -> LeftOut:
    """Predict seen cells from the others under the model of ``fit``; ``noise`` (N,) holds variances where known."""
    outcome = design.observed.seen_outcome
    if fit.leverage is not None:
        predicted, determined = leave_one_out(fit, outcome)
        expected = None if noise is None else leave_one_out_noise(fit, noise)
        return LeftOut(0, predicted, determined, len(outcome), expected)
    # Leave-one-out would need too large a matrix. With so many cells the noise of the fit itself is negligible.
    features, weight, cells = fit.conjunctions, design.precision[design.train], design.seen
    fold_of = np.random.default_rng(seed).integers(FOLDS, size=len(outcome))
    predicted, determined = np.full(len(outcome), np.nan), np.zeros(len(outcome), dtype=bool)
    # Floating point is good enough to choose cells to score: what it leaves undecided is not scored.
    route = Route.PROJECTION if features.columns > MAX_COLUMNS_EXACT else None
    folds = FOLDS if len(outcome) <= MAX_CELLS_ALL_FOLDS else 1
    numbers = each("cells held out", range(folds))
    for training, rows in determined_by_others(cells, fold_of, numbers, features.order, route=route, **design.shape):
        fitted = fit_additive(features, cells[training], outcome[training], weight[training])
        predicted[rows], determined[rows] = fitted.predict(cells[rows]), True
    return LeftOut(folds, predicted, determined, int((fold_of < folds).sum()), noise)


def determined_by_others(
    cells: IntArray, fold: IntArray, numbers: Iterable[int], order: int, **about: Any
) -> Iterator[tuple[BoolArray, IntArray]]:
    """Yield for each fold which ``cells`` (N, C) are outside it, and the places of those in it that they determine."""
    for number in numbers:
        tested, training = np.flatnonzero(fold == number), fold != number
        if len(tested) and training.any():
            verdicts = identify(cells[training], cells[tested], order, **about).verdicts
            yield training, tested[verdicts == Verdict.DETERMINED]


def held_out_errors(design: Design, codes: IntArray, predicted: FloatArray) -> Table:
    """Return errors on held-out cells (H,) by verdict, of their values and of the plain mean."""
    truth = design.observed.measured[~design.train]
    missed, spread = truth - design.outcome_column.bounded(predicted), truth - design.observed.seen_outcome.mean()
    rows = []
    for verdict in Verdict:
        chosen = codes == verdict
        if chosen.any():
            errors = {"value error": root_mean_square(missed[chosen]), "mean error": root_mean_square(spread[chosen])}
            rows.append({"verdict": verdict.word, "cells": int(chosen.sum()), **errors})
    return Table.from_rows(rows)
