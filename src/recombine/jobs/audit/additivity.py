"""Does additivity hold here? Seen cells are predicted from the others, order by order, against two yardsticks.

A verdict says what follows *if* effects add. This check says whether they do, on the cells where it can be tested: the
error of predicting a seen cell from all other seen cells (where those determine it), beside the error of the plain mean
and beside the noise floor. Where rows repeat, the classical test of lack of fit says whether effects interact at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.design.design import Design
from recombine.jobs.audit.left_out_cells import LEAVE_ONE_OUT, affordable_inverse, fit_order, leave_out
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.audit.noise import CellNoise, LackOfFit, cell_noise, lack_of_fit_test
from recombine.jobs.listing import level_columns
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import AdditiveFit

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

    Examples
    --------
    >>> cells = [[i, j] for i in range(5) for j in range(5) if (i, j) != (4, 4)]
    >>> check = check_additivity(Design.from_cells(cells, outcome=[i + 2.0 * j for i, j in cells]))
    >>> check
    AdditivityCheck(holds at order 1; leave one cell out)
    >>> check.orders[0].tested, round(check.orders[0].error, 9)
    (24, 0.0)
    """

    design: Design
    orders: tuple[OrderCheck, ...]
    noise: CellNoise | None
    method: str
    left_out: str = ""

    def __repr__(self) -> str:
        states = ", ".join(f"{self.state_at(check.order)} at order {check.order}" for check in self.orders)
        return f"AdditivityCheck({states or 'no order could be tried'}; {self.method})"

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
        return AdditivityState.UNCHECKED if check is None else _state(check)

    @property
    def lack_of_fit(self) -> LackOfFit | None:
        """The test of order 1 against the noise of the replicates; None where no rows repeat or no cell is to spare."""
        check = self.at(1)
        return None if check is None else check.lack_of_fit

    @cached_property
    def table(self) -> Table:
        """One row per order: cells tested, error, baseline, noise floor, share explained, lack of fit, state."""
        return Table(
            {
                "order": [check.order for check in self.orders],
                "cells tested": [check.tested for check in self.orders],
                "error": [check.error for check in self.orders],
                "mean baseline": [check.baseline for check in self.orders],
                "noise floor": [np.nan if check.expected is None else check.expected for check in self.orders],
                "share explained": [check.share for check in self.orders],
                "lack of fit F": [_of_test(check, "statistic") for check in self.orders],
                "lack of fit p": [_of_test(check, "p_value") for check in self.orders],
                "additivity": [self.state_at(check.order) for check in self.orders],
            }
        )

    def breakers(self, count: int = 5) -> Table:
        """Return the seen cells whose value the others predict worst at order 1: observed, predicted, difference."""
        if not self.orders or self.design.outcome is None:
            return Table({"difference": []})
        check, observed = self.orders[0], self.design.outcome[self.design.train]
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


def _of_test(check: OrderCheck, name: str) -> float:
    return float("nan") if check.lack_of_fit is None else float(getattr(check.lack_of_fit, name))


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
    if check.lack_of_fit is None:
        return AdditivityState.FAILS if clear else AdditivityState.NOT_SHOWN
    if check.lack_of_fit.p_value <= AUDIT_LIMITS.p_value_shown:
        return AdditivityState.FAILS
    return (
        AdditivityState.NOT_SHOWN
        if check.lack_of_fit.p_value <= AUDIT_LIMITS.p_value_hinted
        else AdditivityState.UNCHECKED
    )


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
    assert design.outcome is not None
    # With all factors interacting something follows only where levels share a curve.
    most = len(design.factors)
    tried = [order for order in orders if order == 1 or (order <= most and not design.features(order).saturated)]
    known = {order: fit for order, fit in (fits or {}).items() if order in tried}
    beyond = []
    for order in tried:
        if order in known:
            continue
        normal = None
        if order not in (1, asked):
            normal = affordable_inverse(design, order)
            if normal is None:
                beyond.append(order)
                continue
        known[order] = fit_order(design, order, normal)
    noise = cell_noise(design, known.get(1))
    found = [_check(design, order, known[order], noise, seed) for order in tried if order not in beyond]
    methods = [method for _, method in found if method != LEAVE_ONE_OUT]
    checks = tuple(check for check, _ in found)
    return AdditivityCheck(design, checks, noise, methods[0] if methods else LEAVE_ONE_OUT, _left_out(design, beyond))


def _left_out(design: Design, orders: list[int]) -> str:
    """Say which orders were left out to save time, and how to have them."""
    return " ".join(
        f"Whether interactions of {order} factors would account for more was left out to save time "
        f"({len(design.seen):,} seen cells, {design.features(order).columns:,} conjunctions); --order {order} asks."
        for order in orders
    )


def _check(design: Design, order: int, fit: AdditiveFit, known: CellNoise | None, seed: int) -> tuple[OrderCheck, str]:
    assert design.outcome is not None
    outcome, noise = design.outcome[design.train], None if known is None else known.variances
    left = leave_out(design, fit, noise, seed)
    tested, least = left.determined, ROUNDING * np.abs(outcome).max()
    # What is left of an exact sum is rounding, not an error.
    predicted = np.where(np.abs(outcome - left.predicted) <= least, outcome, left.predicted)
    count = max(len(outcome) - 1, 1)
    mean = (outcome.sum() - outcome) / count
    baseline = _rms((outcome - mean)[tested])
    if baseline <= least:
        baseline = 0.0  # the outcome never varies; what is left is rounding
    check = OrderCheck(
        order,
        int(tested.sum()),
        _rms((outcome - predicted)[tested]),
        baseline,
        _root(noise, tested),
        _root(left.expected, tested),
        known is not None and known.at_most,
        lack_of_fit_test(design, order, fit),
        len(outcome),
        left.tried,
        predicted,
        tested,
    )
    return check, left.method


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _root(variances: FloatArray | None, tested: BoolArray) -> float | None:
    """Return the root of the mean variance over the tested cells."""
    return None if variances is None or not tested.any() else float(np.sqrt(np.mean(variances[tested])))
