"""What predictions are compared with: determined values, noise, and regressors that cells confuse."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.jobs.score.determined import confounded_columns, held_out_noise, regressors_of
from recombine.verdicts import Verdict


def table(two: bool = False, repeats: int = 4, seed: int = 0) -> rc.Design:
    rng = np.random.default_rng(seed)
    cells = np.indices((6, 5, 4)).reshape(3, -1).T
    train = rng.random(len(cells)) < 0.6
    rows = np.repeat(np.arange(len(cells)), repeats)
    mean = 0.5 + 0.05 * (cells - [2.5, 2, 1.5]).sum(axis=1)
    values = (
        (rng.random(len(rows)) < mean[rows]).astype(float) if two else mean[rows] + 0.3 * rng.normal(size=len(rows))
    )
    return rc.Design.from_cells(cells[rows], values, train=train[rows], names=["a", "b", "c"])


def test_parts_add_up_to_what_is_determined() -> None:
    for structure in ("add", "pairs"):
        audit = rc.audit(table(), structure=structure)
        cells = audit.design.held_out
        cells = cells[audit.decided.verdicts_of(cells) == Verdict.DETERMINED]
        found = regressors_of([audit], cells)
        outcome, weight = (part[audit.design.train] for part in (audit.design.outcome, audit.design.precision))
        total = np.average(outcome, weights=weight) + found.effects.sum(axis=1) + found.beyond
        assert total == pytest.approx(audit.values.certified_of(cells))
        assert bool(found.beyond.any()) == (structure == "pairs")


def test_noise_is_that_of_the_replicates() -> None:
    design = table()
    audit = rc.audit(design, structure="add")
    places = np.flatnonzero(~design.train)
    found = held_out_noise([audit], places)
    assert found is not None
    assert found.variances == pytest.approx(
        np.full(len(places), design.observed.spread.sum() / design.observed.freedom.sum() / 4)
    )
    assert found.variances.mean() == pytest.approx(0.09 / 4, rel=0.15)
    assert found.carried == pytest.approx(
        audit.decided.leverage_of(design.held_out) * design.observed.spread.sum() / design.observed.freedom.sum()
    )


def test_noise_of_chances_is_each_cells_own() -> None:
    design = table(two=True, repeats=6)
    places = np.flatnonzero(~design.train)
    found = held_out_noise([rc.audit(design, structure="add")], places)
    assert found is not None
    chance = design.outcome[places]
    assert found.variances == pytest.approx(chance * (1 - chance) / 5)  # unbiased for p (1 - p) / 6


def test_without_replicates_there_is_no_noise() -> None:
    design = table(repeats=1)
    assert held_out_noise([rc.audit(design, structure="add")], np.flatnonzero(~design.train)) is None


def test_only_confused_factors_are_named() -> None:
    rng = np.random.default_rng(0)
    one, two, three = rng.normal(size=(3, 50))
    known = regressors_of([rc.audit(table(), structure="add")], table().held_out)
    assert confounded_columns(known) == ()
    effects = np.column_stack([one, two, three])
    same = type(known)(one, effects, np.column_stack([0 * one, one + 0.01 * three, 0 * one]), 0 * one, ("a", "b", "c"))
    assert confounded_columns(same) == ((("leak", "a"), ("shortcut", "b")),)
    for unit in (1e-15, 1e15):
        scaled = type(known)(unit * one, unit * effects, unit * same.misleading, 0 * one, ("a", "b", "c"))
        assert confounded_columns(scaled) == confounded_columns(same)


def test_a_model_that_remembers_pairs_is_told_so() -> None:
    rng = np.random.default_rng(1)
    cells = np.indices((8, 6, 5)).reshape(3, -1).T
    pairs = rng.normal(size=(8, 6))[cells[:, 0], cells[:, 1]]
    train = rng.random(len(cells)) < 0.6
    design = rc.Design.from_cells(cells, cells @ [1.0, 0.5, 0.3] + pairs, train=train)
    audit = rc.audit(design, structure="add")
    assert design.outcome is not None
    departures = design.outcome[design.train] - audit.values.certified_of(design.seen)
    alike = [(design.seen[:, :2] == cell[:2]).all(axis=1) for cell in design.held_out]
    remembered = np.array([departures[mine].mean() if mine.any() else 0.0 for mine in alike])
    told = audit.values.certified_of(design.held_out) + remembered
    model = rc.score(audit, {"net": told}).models[0]
    assert model.attribution is not None
    error = model.attribution.error.value
    assert np.mean(remembered**2) > 0.1 * error
    # What it remembers is right here: it makes up for what the structure misses.
    expected = np.mean((remembered - remembered.mean()) * (told - design.outcome[~design.train]))
    assert model.causes["memorization"].value == pytest.approx(expected, abs=0.01 * error)
    assert abs(model.causes["leak"].value) < 0.01 * error
    assert abs(model.causes["rest"].value) < 0.01 * error


def test_without_noise_redraws_are_what_was_fitted() -> None:
    cells = np.indices((6, 5, 4)).reshape(3, -1).T
    train = np.random.default_rng(0).random(len(cells)) < 0.6
    sums = cells @ [1.0, -0.5, 0.3] + 0.7 * (cells[:, 0] == 2)
    with_pairs = sums + cells[:, 0] * cells[:, 1]
    # Nothing is left to effects that add; and replicates without spread say that there is no noise, whatever is left.
    for structure, outcome, repeats in (("add", sums, 1), ("add", with_pairs, 2), ("pairs", with_pairs, 2)):
        rows = np.repeat(np.arange(len(cells)), repeats)
        audit = rc.audit(rc.Design.from_cells(cells[rows], outcome[rows], train=train[rows]), structure=structure)
        scored = audit.design.held_out
        scored = scored[audit.decided.verdicts_of(scored) == Verdict.DETERMINED]
        expected = regressors_of([audit], scored)
        assert len(expected.noisy_draws) > 1
        assert np.abs(expected.misleading).max() > 0.01
        for determined, effects, misleading in expected.noisy_draws:
            assert determined == pytest.approx(expected.determined)
            assert effects == pytest.approx(expected.effects)
            assert misleading == pytest.approx(expected.misleading)


@pytest.mark.parametrize("repeats", [1, 4])
def test_redraws_scatter_as_leverage_says(repeats: int) -> None:
    audit = rc.audit(table(repeats=repeats), structure="add")
    design, scored = audit.design, audit.design.held_out
    regressors = regressors_of([audit], scored)
    scatter = np.stack([determined for determined, _, _ in regressors.noisy_draws]) - regressors.determined
    # Noise of one measurement is 0.3: the values made of the seen cells vary by leverage times that, per measurement.
    expected = 0.3**2 * audit.decided.leverage_of(scored)
    assert np.mean(scatter**2) == pytest.approx(expected.mean(), rel=0.35)
    assert len(design.seen) > 50


def test_errors_of_pooled_noise_and_of_single_cells_add_up() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((6, 5)).reshape(2, -1).T
    rows = np.repeat(np.arange(len(cells)), rng.integers(1, 7, size=len(cells)))
    outcome = (rng.random(len(rows)) < 0.3 + 0.1 * cells[rows, 1]).astype(float)
    design = rc.Design.from_cells(cells[rows], outcome, train=rng.random(len(cells))[rows] < 0.6)
    scored = np.flatnonzero(~design.train)
    assert design.observed.freedom is not None
    assert design.observed.spread is not None
    noise = held_out_noise([rc.audit(design, structure="add")], scored)
    assert noise is not None
    spread, freedom = design.observed.spread, design.observed.freedom
    pooled = spread.sum() / freedom.sum()
    single = freedom[scored] == 0
    assert 0 < single.sum() < len(scored)
    assert noise.variances[single] == pytest.approx(np.full(single.sum(), pooled))
    assert noise.variances[~single] == pytest.approx(
        (spread / np.maximum(freedom, 1) / design.precision)[scored][~single]
    )
    # The pooled variance is off by chance as a variance of normal values is, or as its cells differ, and only the cells
    # with one row lean on it; that error and the one over cells add up to the whole.
    by_cells = np.sqrt(np.sum((spread - pooled * freedom) ** 2)) / freedom.sum()
    leaning = max(pooled * np.sqrt(2 / freedom.sum()), by_cells) * single.sum() / len(scored)
    over_cells = np.std(noise.variances) / np.sqrt(len(scored))
    assert np.hypot(noise.error, over_cells) == pytest.approx(leaning + over_cells)


def test_departures_of_pairs_are_means_of_seen_cells() -> None:
    """Three factors have three pairs; the mean departure of the seen cells of each pair, by loops."""
    rng = np.random.default_rng(2)
    cells = np.indices((4, 4, 5)).reshape(3, -1).T
    train = np.arange(80) % 8 < 5
    outcome = cells @ [1.0, 2.0, 3.0] + rng.normal(size=80)
    audit = rc.audit(rc.Design.from_cells(cells, outcome, train=train), structure="add")
    assert len(audit.design.held_out) == 30
    remembered = regressors_of([audit], audit.design.held_out).remembered
    departures = outcome[train] - audit.values.certified_of(cells[train])
    for row, cell in zip(remembered, audit.design.held_out, strict=True):
        for value, (first, second) in zip(row, [(0, 1), (0, 2), (1, 2)], strict=True):
            alike = (cells[train][:, first] == cell[first]) & (cells[train][:, second] == cell[second])
            assert value == pytest.approx(departures[alike].mean() if alike.any() else 0.0)
