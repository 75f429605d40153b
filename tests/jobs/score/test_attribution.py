"""Causes add up to the error, agree with refitting by hand, and blame nothing on chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray
from recombine.jobs.limits import AUDIT_LIMITS, SCORE_LIMITS
from recombine.jobs.score import HeldOutNoise, Regressors, attribute
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.attribution import design_matrix
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.score.regression import RIDGE


def drawn(seed: int, cells: int = 80, factors: int = 3) -> tuple[Regressors, np.random.Generator]:
    rng = np.random.default_rng(seed)
    effects, misleading = rng.normal(size=(2, cells, factors))
    beyond = 0.5 * rng.normal(size=cells)
    names = tuple("abcdef"[:factors])
    return Regressors(4.0 + effects.sum(axis=1) + beyond, effects, misleading, beyond, names), rng


def test_causes_add_up_to_the_error_exactly() -> None:
    for seed in range(5):
        known, rng = drawn(seed)
        predicted, observed = rng.normal(size=(2, 80)) + known.determined
        noise = HeldOutNoise(rng.random(80), 0.1, rng.random(80), 20.0)
        for told in (None, noise):
            found = attribute(predicted, observed, known, told)
            total = sum(amount.value for amount in found.causes.values())
            assert total == pytest.approx(np.mean((predicted - observed) ** 2), rel=1e-12)
            assert sum(found.parts.values()) == pytest.approx(predicted - observed, abs=1e-12)
            assert sum(amount.value for amount in found.per_factor["leak"].amounts.values()) == pytest.approx(
                found.causes["leak"].value
            )


def test_a_cells_parts_come_from_a_fit_without_it() -> None:
    known, rng = drawn(1, cells=40)
    predicted = known.determined - 0.4 * known.effects[:, 0] + rng.normal(size=40)
    found = attribute(predicted, known.determined + rng.normal(size=40), known)
    columns = np.column_stack([np.ones(40), design_matrix(known).columns[:, :7]])
    ridge = 40 * RIDGE * max(predicted.var(), known.determined.var()) * np.diag([0.0] + [1.0] * 7)
    for cell in (0, 17, 39):
        others = np.delete(np.arange(40), cell)
        gap = (predicted - known.determined)[others]
        by_hand = np.linalg.solve(columns[others].T @ columns[others] + ridge, columns[others].T @ gap)
        assert found.parts["leak"][cell] == pytest.approx(columns[cell, 1:4] @ by_hand[1:4])
        assert found.parts["shortcut"][cell] == pytest.approx(columns[cell, 4:7] @ by_hand[4:7])
        assert found.parts["interaction"][cell] == pytest.approx(columns[cell, 7] * by_hand[7])
        assert found.parts["offset"][cell] == pytest.approx(by_hand[0])


def test_what_was_planted_is_found() -> None:
    known, rng = drawn(2, cells=300)
    predicted = (
        known.determined
        - 0.3 * known.effects[:, 1]
        + 0.5 * known.misleading[:, 0]
        - 0.8 * known.beyond
        + 0.2
        + 0.1 * rng.normal(size=300)
    )
    found = attribute(predicted, known.determined, known)
    assert found.per_factor["leak"].coefficients["b"].value == pytest.approx(0.7, abs=0.03)
    assert found.per_factor["leak"].coefficients["a"].value == pytest.approx(1.0, abs=0.03)
    assert found.per_factor["shortcut"].coefficients["a"].value == pytest.approx(0.5, abs=0.03)
    assert found.causes["leak"].value == pytest.approx(0.09, abs=0.03)
    assert found.causes["shortcut"].value == pytest.approx(0.25, abs=0.06)
    assert found.causes["interaction"].value == pytest.approx(0.64 * 0.25, abs=0.04)
    assert found.causes["offset"].value == pytest.approx(0.04, abs=0.02)
    assert found.causes["rest"].value == pytest.approx(0.01, abs=0.004)
    assert found.causes["structure"].value == pytest.approx(0.0, abs=1e-12)


def test_what_a_network_does_beyond_the_rest_is_memorization() -> None:
    known, rng = drawn(7, cells=300)
    own = 0.5 * rng.normal(size=300)
    network = known.determined - 0.4 * known.effects[:, 0] + own
    seen = Regressors(known.determined, known.effects, known.misleading, known.beyond, known.names, network)
    found = attribute(network + 0.1 * rng.normal(size=300), known.determined, seen)
    assert found.causes["leak"].value == pytest.approx(0.16 * known.effects[:, 0].var(), rel=0.2)
    assert found.causes["memorization"].value == pytest.approx(own.var(), rel=0.15)
    assert found.causes["rest"].value == pytest.approx(0.01, abs=0.005)
    assert sum(amount.value for amount in found.causes.values()) == pytest.approx(found.error.value, rel=1e-12)


def test_pairs_are_one_column_where_cells_are_few() -> None:
    for cells, columns in ((22, 3), (21, 1)):
        known, rng = drawn(0, cells=cells)
        known = replace(known, beyond=np.zeros(cells), remembered=rng.normal(size=(cells, 3)))
        matrix = design_matrix(known)
        assert matrix.of_cause("memorization").sum() == columns
    pooled = known.remembered.sum(axis=1)
    assert matrix.columns[:, matrix.of_cause("memorization")][:, 0] == pytest.approx(pooled - pooled.mean())


def test_noise_that_a_model_does_not_share_widens_amounts() -> None:
    known, rng = drawn(3)
    moved = [0.3 * rng.normal(size=known.effects.shape) for _ in range(8)]
    draws = tuple((known.determined + by.sum(axis=1), known.effects + by, known.misleading) for by in moved)
    noisy, shares = replace(known, noisy_draws=draws), known.determined - 0.4 * known.effects[:, 0]
    lacks = shares + 0.3 * rng.normal(size=known.effects.shape).sum(axis=1)
    observed, widths = known.determined + rng.normal(size=80), {}
    for name, predicted in (("shares", shares), ("lacks", lacks)):
        for cause in ("leak", "rest"):
            amounts = [attribute(predicted, observed, told).causes[cause] for told in (known, noisy)]
            widths[name, cause] = [amount.high - amount.low for amount in amounts]
    for cause in ("leak", "rest"):
        # A model that departs by nothing but a leak carries all of that noise: its amounts hold none of it.
        assert widths["shares", cause][1] == pytest.approx(widths["shares", cause][0], rel=0.02, abs=1e-3)
        assert widths["lacks", cause][1] > 1.05 * widths["lacks", cause][0]


@pytest.mark.slow
def test_random_predictions_are_no_leak_on_average() -> None:
    amounts = []
    for seed in range(300):
        known, rng = drawn(seed, cells=30)
        predicted = known.determined + rng.normal(size=30)
        amounts.append(attribute(predicted, known.determined, known, draws=2).causes["leak"].value)
    # Coefficients fitted to the cell itself would blame 3 / 30 of the variance on leak.
    assert abs(np.mean(amounts)) < 4 * np.std(amounts) / np.sqrt(300) < 0.04


def test_the_error_of_a_slope_is_that_of_least_squares() -> None:
    known, rng = drawn(3, cells=400)
    predicted = known.determined + rng.normal(size=400)
    found = attribute(predicted, known.determined, known, draws=2_000)
    columns = np.column_stack([np.ones(400), design_matrix(known).columns[:, :7]])
    gap = predicted - known.determined
    left = gap - columns @ np.linalg.lstsq(columns, gap, rcond=None)[0]
    expected = np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * (left @ left) / 392)[1:4]
    for error, slope in zip(expected, found.per_factor["leak"].coefficients.values(), strict=True):
        assert (slope.high - slope.low) / 2 / 1.966 == pytest.approx(error, rel=0.12)


def test_units_do_not_matter() -> None:
    known, rng = drawn(4)
    predicted, observed = known.determined + rng.normal(size=(2, 80))

    def scaled(factor: float) -> FloatArray:
        parts = [factor * part for part in (known.determined, known.effects, known.misleading, known.beyond)]
        found = attribute(factor * predicted, factor * observed, Regressors(*parts, known.names))
        return np.array([[a.value, a.low, a.high] for a in found.causes.values()]) / factor**2

    assert scaled(1e6) == pytest.approx(scaled(1e-6), rel=1e-6)


def test_very_many_cells_are_drawn_in_groups() -> None:
    known, rng = drawn(5, cells=5_000)
    predicted = known.determined - 0.3 * known.effects[:, 0] + rng.normal(size=5_000)
    found = attribute(predicted, known.determined, known)
    width = (
        (found.per_factor["leak"].coefficients["a"].high - found.per_factor["leak"].coefficients["a"].low) / 2 / 1.96
    )
    assert width == pytest.approx(1 / np.sqrt(5_000), rel=0.2)


def test_without_beyond_there_is_no_interaction() -> None:
    known, rng = drawn(6)
    plain = Regressors(known.determined, known.effects, 0 * known.misleading, 0 * known.beyond, known.names)
    found = attribute(known.determined + rng.normal(size=80), known.determined, plain)
    assert "interaction" not in found.causes
    assert found.per_factor["shortcut"].coefficients == {}
    assert found.causes["shortcut"].value == 0


def test_a_factor_alone_in_its_cause_has_the_cause_s_range() -> None:
    rng = np.random.default_rng(0)
    effects = np.column_stack([rng.normal(size=60), np.zeros(60)])
    misleading = np.column_stack([np.zeros(60), rng.normal(size=60)])
    truth = effects.sum(axis=1)
    regressors = Regressors(truth, effects, misleading, np.zeros(60), ("dose", "site"))
    told = truth - 0.3 * effects[:, 0] + 0.2 * misleading[:, 1] + 0.1 * rng.normal(size=60)
    attribution = attribute(told, truth + 0.2 * rng.normal(size=60), regressors)
    for cause, factor in (("leak", "dose"), ("shortcut", "site")):
        amounts = attribution.per_factor[cause].amounts
        assert list(amounts) == [factor]
        assert amounts[factor].value == pytest.approx(attribution.causes[cause].value)
        assert amounts[factor].low == pytest.approx(attribution.causes[cause].low)
        assert amounts[factor].high == pytest.approx(attribution.causes[cause].high)
    # As these hold different parts of the error, their ranges are not those of each other.
    widths = [attribution.causes[cause].high - attribution.causes[cause].value for cause in ("leak", "shortcut")]
    assert widths[0] != pytest.approx(widths[1], rel=0.05)


@pytest.mark.parametrize(
    ("cause", "low", "high", "told"),
    [
        ("leak", AUDIT_LIMITS.min_slope, 0.99, False),  # it may be that nearly all arrives
        ("leak", 0.3, AUDIT_LIMITS.min_slope, False),
        ("leak", 0.3, AUDIT_LIMITS.min_slope - 0.01, True),
        ("leak", SCORE_LIMITS.max_slope, 3.0, False),
        ("leak", SCORE_LIMITS.max_slope + 0.01, 3.0, True),
        ("shortcut", AUDIT_LIMITS.shortcut_pull, 0.9, False),
        ("shortcut", AUDIT_LIMITS.shortcut_pull + 0.01, 0.9, True),
    ],
)
def test_a_coefficient_is_told_where_all_of_its_range_is_off(cause: str, low: float, high: float, told: bool) -> None:
    message = CAUSES[cause].message("dose", Amount((low + high) / 2, low, high))
    assert (message != "") is told
    if told:
        assert message.startswith(f"dose: {50 * (low + high):.0f} % of its ")
        assert f"95 % range {100 * low:.0f} to {100 * high:.0f} %" in message


def test_undoing_one_cause_alone_wins_what_is_said_and_ranges_hold_it() -> None:
    held = []
    for seed in range(40):
        known, rng = drawn(seed, cells=200)
        # marginals that mislead along the effects: undone together they win another amount than one by one
        known.misleading[:] = 0.5 * known.misleading - 0.5 * known.effects
        lost, followed = -0.4 * known.effects[:, 0], 0.3 * known.misleading[:, 0]
        errors = lost + followed + 0.3 * rng.normal(size=200)
        found = attribute(known.determined + errors, known.determined + 0.1 * rng.normal(size=200), known)
        assert set(found.removals) == {"leak", "shortcut", "interaction", "offset"}
        leak = found.removals["leak"]
        # leave-one-out parts: a mean square of what is left, to the last digit
        parts = found.parts
        left = sum(part for name, part in parts.items() if name != "leak")
        assert leak.value == pytest.approx(found.error.value - np.mean(np.square(left)))
        # effects and misleading parts have variances 1 and 1/2 and a covariance of -1/2 over all cells
        truth = 2 * (0.16 + 0.4 * 0.3 * 0.5) - 0.16
        held.append(leak.low <= truth <= leak.high)
    assert np.mean(held) >= 0.85


@pytest.mark.slow
def test_a_model_without_a_fault_has_nothing_to_undo() -> None:
    clear = 0
    for seed in range(60):
        known, rng = drawn(seed)
        found = attribute(known.determined + rng.normal(size=80), known.determined, known)
        clear += sum(removal.low > 0 for removal in found.removals.values())
    assert clear <= 6
