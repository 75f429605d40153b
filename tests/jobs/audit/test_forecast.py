"""Forecasts against models that are really fitted, the kernel theory's own tasks, and planted leaks and shortcuts."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_tasks import symbolic_addition
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit import fitted_networks
from recombine.jobs.audit.additivity import check_additivity
from recombine.jobs.audit.fitted_networks import ForecastSource
from recombine.jobs.audit.forecast import forecast, level_values
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.kernels import KernelRegressor, OverlapKernel
from recombine.theory.kernels.leak import slope
from recombine.verdicts import Verdict
from recombine.words.forecast import (
    error_caption,
    error_rows,
    error_sentences,
    shallow_sentence,
    slopes_trust,
    why_not_forecast,
)


def design_of(task) -> rc.Design:
    return rc.Design.from_cells(task.cells, task.target, train=task.train, names=list(task.factors))


def limited(monkeypatch, **limits) -> None:
    """Set limits of the audit, for networks."""
    monkeypatch.setattr(fitted_networks, "AUDIT_LIMITS", replace(AUDIT_LIMITS, **limits))


def table(seed: int, sizes=(6, 5, 4), share=0.6, noise=0.3, split=True) -> rc.Design:
    generator = np.random.default_rng(seed)
    cells = every_cell(sizes)
    outcome = sum(generator.normal(size=size)[cells[:, place]] for place, size in enumerate(sizes))
    outcome = outcome + noise * generator.normal(size=len(cells))
    train = generator.random(len(cells)) < share
    if split:
        return rc.Design.from_cells(cells, outcome, train=train, sizes=sizes)
    return rc.Design.from_cells(cells[train], outcome[train], sizes=sizes)


@pytest.mark.parametrize(("name", "kernel"), [("ntk", OverlapKernel.ntk), ("nngp", OverlapKernel.relu)])
def test_held_out_error_is_that_of_a_kernel_fitted_to_the_training_cells(name, kernel):
    design = table(0)
    found = rc.audit(design).forecast
    truth = design.outcome[~design.train]
    for depth in (1, 2, 3, 4):
        model = KernelRegressor(kernel(depth, 3), intercept=True).fit(design.seen, design.outcome[design.train])
        error = float(np.sqrt(np.mean((model.predict(design.held_out) - truth) ** 2)))
        assert found.depths[name][depth - 1] == pytest.approx(error, rel=1e-4)
    assert getattr(found.error, name) == found.depths[name][0]
    assert found.error.source is ForecastSource.HELD_OUT_ROWS
    assert found.error.cells == len(truth) == found.unseen


@pytest.mark.slow
def test_additive_and_mean_errors_are_those_of_the_audit():
    split, whole = rc.audit(table(0)), rc.audit(table(0, split=False))
    row = next(row for row in split.values.held_out_errors.rows() if row["verdict"] == "determined")
    misses = split.values.certified_of(split.design.held_out) - split.design.outcome[~split.design.train]
    assert split.forecast.error.additive == pytest.approx(np.sqrt(np.mean(misses**2)))
    assert split.forecast.error.mean == pytest.approx(row["mean error"])
    check = whole.structure.additivity.at(1)
    assert whole.forecast.error.additive == pytest.approx(check.error)
    assert whole.forecast.error.mean == pytest.approx(check.baseline)
    assert whole.forecast.error.cells == check.tested
    assert whole.forecast.error.source is ForecastSource.SEEN_CELLS


def test_noise_is_that_of_the_scored_cells():
    generator = np.random.default_rng(0)
    cells = np.repeat(every_cell((5, 6)), 4, axis=0)
    train = np.repeat(np.arange(30) % 3 > 0, 4)
    design = rc.Design.from_cells(cells, cells.sum(axis=1) + 2 * generator.normal(size=len(cells)), train=train)
    assert rc.audit(design).forecast.error.noise == pytest.approx(1.0, rel=0.25)  # 2 / sqrt(4)
    assert rc.audit(table(0)).forecast.error.noise is None


@pytest.mark.slow
def test_a_tenth_is_held_out_where_leaving_out_each_cell_would_be_too_large(monkeypatch):
    design = table(1, sizes=(9, 9, 5), share=0.7, split=False)
    exact = rc.audit(design).forecast.error
    limited(monkeypatch, max_cells_left_out=50)
    monkeypatch.setattr(fitted_networks, "HELD_SHARE", 0.3)
    rough = rc.audit(design).forecast.error
    assert rough.source is ForecastSource.HELD_OUT_CELLS
    assert rough.ntk == pytest.approx(exact.ntk, rel=0.35)
    assert rough.cells < exact.cells


def test_slopes_of_anchor_addition_are_those_of_equation_3():
    # Free intercepts and uneven effects do not matter here: the seen cells are two full rows and two full columns.
    task = symbolic_addition(n=9, anchors=[0, 8])
    found = forecast(design_of(task), task.cells[~task.train])
    expected = float(slope(OverlapKernel.relu(depth=1, factors=2).salience[0], 2))
    assert np.allclose(found.slopes["nngp"], expected, atol=0.01)
    assert (found.slopes["ntk"] < found.slopes["nngp"]).all()
    assert len(found.arrives) == 2


def test_cells_seen_in_training_are_no_test_of_recombination():
    task = symbolic_addition(n=9, anchors=[4])
    plain = rc.audit(design_of(task)).forecast
    # The same split, with every training cell measured once more on the held-out side.
    cells = np.vstack([task.cells, task.cells[task.train]])
    target = np.concatenate([task.target, task.target[task.train]])
    train = np.concatenate([task.train, np.zeros(task.train.sum(), dtype=bool)])
    repeated = rc.audit(rc.Design.from_cells(cells, target, train=train, names=list(task.factors))).forecast
    assert repeated.error == plain.error
    assert repeated.slopes["slope"].tolist() == plain.slopes["slope"].tolist()


def test_held_out_cells_that_nothing_determines_are_not_scored():
    task = symbolic_addition(n=9, anchors=[4])
    plain = rc.audit(design_of(task)).forecast
    cells = np.vstack([task.cells, [[9, 3], [9, 9], [2, 9]]])
    target, train = np.append(task.target, [1e3, 2e3, 3e3]), np.append(task.train, [False] * 3)
    more = rc.audit(rc.Design.from_cells(cells, target, train=train, names=list(task.factors))).forecast
    assert more.error.cells == plain.error.cells
    assert more.error.ntk == pytest.approx(plain.error.ntk)


def test_symmetric_designs_give_both_places_one_slope_and_answer_in_either_order():
    pairs = every_cell((7, 7))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    outcome = pairs.sum(axis=1) + np.random.default_rng(0).normal(size=len(pairs))
    train = np.random.default_rng(0).random(len(pairs)) < 0.6
    for split in (train, None):
        kept = slice(None) if split is not None else train
        first, second = (
            rc.audit(
                rc.Design.from_cells(shown[kept], outcome[kept], train=split, symmetric=[(0, 1)], sizes=(7, 7))
            ).forecast
            for shown in (pairs, pairs[:, ::-1])
        )
        assert first.slopes["slope"][0] == first.slopes["slope"][1]
        assert first.error == second.error


def test_effects_and_marginals_are_what_their_names_say():
    design = table(5, noise=0.0)
    fit = fit_additive(design.features(1), design.seen, design.outcome[design.train])
    mean, effects, marginals = level_values(design, fit, design.seen)
    outcome = design.outcome[design.train]
    assert np.allclose(mean + effects.sum(axis=1), outcome)
    frame = pd.DataFrame({"level": design.seen[:, 1], "y": outcome - mean})
    assert np.allclose(marginals[:, 1], frame.groupby("level")["y"].transform("mean"))


def test_a_factor_tied_to_another_in_training_is_a_shortcut():
    # Treatment works, hospital does nothing, but in training the good hospital gave the good treatment.
    cells = every_cell((2, 8, 4))
    outcome = cells[:, 1] * 1.0 + 0.1 * np.sin(np.arange(len(cells)))
    train = (cells[:, 0] == (cells[:, 1] >= 4)) | (cells[:, 1:] == 0).all(axis=1) | (cells[:, 1:] == [7, 3]).all(axis=1)
    names = ["hospital", "treatment", "ward"]
    found = rc.audit(rc.Design.from_cells(cells, outcome, train=train, names=names)).forecast
    assert [item.factor for item in found.shortcuts if item.misleads] == ["hospital"]


@pytest.mark.slow
def test_random_gaps_in_an_additive_table_are_no_shortcut():
    alarms = [item.misleads for seed in range(20) for item in rc.audit(table(seed, share=0.5)).forecast.shortcuts]
    assert len(alarms) == 60
    assert sum(alarms) <= 1


def test_a_full_factorial_has_an_error_but_no_slopes():
    found = rc.audit(table(0, sizes=(5, 5), share=2.0, split=False)).forecast
    assert found.error.cells == 25
    assert (len(found.slopes), found.arrives, found.shortcuts, found.unseen) == (0, [], (), 0)


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        (rc.Design.from_cells(every_cell((3, 3))[:7]), "no outcome"),
        (rc.Design.from_cells(every_cell((3, 3))[:7], np.ones(7), sizes=(3, 3)), "same in every seen cell"),
        (rc.Design.from_cells([[0, 0], [1, 1]], [0.0, 1.0]), "fewer than 8"),
    ],
)
def test_what_cannot_be_known_is_not_forecast(design, reason):
    found = rc.audit(design).forecast
    assert found.error is None
    assert reason in why_not_forecast(found)
    assert (len(found.slopes), len(found.depths), found.shortcuts) == (0, 0, ())


@pytest.mark.slow
def test_the_budget_is_said(monkeypatch):
    design = table(1, sizes=(5, 5, 4), split=False)
    limited(monkeypatch, max_cells_left_out=10, max_cells_by_depth=10)
    monkeypatch.setattr(fitted_networks, "HELD_SHARE", 0.3)
    found = rc.audit(design).forecast
    assert found.depths["hidden layers"].tolist() == [1]
    assert "two layers and more were left out" in shallow_sentence(found)
    limited(monkeypatch, max_cells_left_out=10, max_cells_fitted=10)
    assert "more than 10 seen cells" in why_not_forecast(rc.audit(design).forecast)


def test_a_budget_of_steps_leaves_networks_out_and_says_so(monkeypatch):
    """Few steps for many cells: no forecast from a solve that did not converge, and a reason with its numbers."""
    generator = np.random.default_rng(0)
    cells = np.unique(generator.integers(0, 40, size=(6_000, 3)), axis=0)
    design = rc.Design.from_cells(cells, cells.sum(axis=1) + generator.standard_normal(len(cells)), sizes=(40, 40, 40))
    unseen = np.array([[i, i, j] for i in range(40) for j in range(40)])
    check = check_additivity(design, (1,)).at(1)
    monkeypatch.setattr("recombine.jobs.audit.fitted_networks.MAX_STEP_ENTRIES", 0)
    monkeypatch.setattr("recombine.jobs.audit.fitted_networks.MIN_STEPS", 2)
    found = forecast(design, unseen, check=check)
    assert found.error is None
    assert not len(found.slopes)
    assert "not fitted within 2 steps" in why_not_forecast(found)


@pytest.mark.slow
def test_a_factor_in_which_another_lies_has_no_slope_of_its_own():
    generator = np.random.default_rng(0)
    cells = np.array([[plant, plant // 4, dose] for plant in range(12) for dose in range(6)])
    cells = cells[generator.permutation(len(cells))[:60]]
    outcome = 3.0 * cells[:, 0] + cells[:, 2] + 0.1 * generator.standard_normal(len(cells))
    design = rc.Design.from_cells(cells, outcome, names=["plant", "soil", "dose"], nested=["plant/soil"])
    found = rc.audit(design).forecast
    assert found.error is not None
    assert list(found.slopes["factor"]) == ["plant", "dose"]
    assert [item.factor for item in found.shortcuts] == ["plant", "dose"]
    flat = rc.Design.from_cells(cells[:, [0, 2]], outcome, names=["plant", "dose"])
    # Without the soil adding says the same: a plant's level has it in itself.
    assert found.slopes["effect"] == pytest.approx(rc.audit(flat).forecast.slopes["effect"])


def paired(split: bool = True) -> rc.Design:
    """Interactions of two factors; the seen cells determine all others if effects add, and fewer with the pairs."""
    generator = np.random.default_rng(3)
    sizes = (5, 5, 6)
    cells, outcome = every_cell(sizes), np.zeros(150)
    for left, right in ((0, 1), (0, 2), (1, 2)):
        outcome += 2 * generator.normal(size=(sizes[left], sizes[right]))[cells[:, left], cells[:, right]]
    train = generator.random(len(cells)) < 0.5
    if split:
        return rc.Design.from_cells(cells, outcome, train=train, sizes=sizes)
    return rc.Design.from_cells(cells[train], outcome[train], sizes=sizes)


@pytest.mark.slow
def test_errors_are_over_the_cells_that_the_assumed_structure_determines():
    design = paired()
    by_pairs, by_adding = rc.audit(design, order=2), rc.audit(design, order=1)
    row = next(row for row in by_pairs.values.held_out_errors.rows() if row["verdict"] == "determined")
    assert by_pairs.forecast.error.cells == by_pairs.forecast.unseen == row["cells"] < by_adding.forecast.error.cells
    assert by_pairs.forecast.error.mean == pytest.approx(row["mean error"])
    chosen = by_pairs.decided.verdicts_of(design.held_out) == Verdict.DETERMINED
    cells, truth = design.held_out[chosen], design.outcome[~design.train][chosen]
    model = KernelRegressor(OverlapKernel.ntk(1, 3), intercept=True).fit(design.seen, design.outcome[design.train])
    assert by_pairs.forecast.error.ntk == pytest.approx(np.sqrt(np.mean((model.predict(cells) - truth) ** 2)), rel=1e-4)
    added = fit_additive(design.features(1), design.seen, design.outcome[design.train]).predict(cells)
    assert by_pairs.forecast.error.additive == pytest.approx(np.sqrt(np.mean((added - truth) ** 2)))


def test_seen_cells_are_scored_where_the_others_determine_them_under_the_assumed_structure():
    found = rc.audit(paired(split=False), order=2)
    checks = found.structure.additivity
    both = checks.at(1).determined & checks.at(2).determined
    assert found.forecast.error.source is ForecastSource.SEEN_CELLS
    assert found.forecast.error.cells == both.sum() < checks.at(1).tested


@pytest.mark.slow
def test_rates_of_trials_are_told_of_the_cells_that_the_trials_were_about():
    by_pairs, by_adding = rc.audit(paired(), order=2), rc.audit(paired(), order=1)
    assert (by_pairs.forecast.adding, by_adding.forecast.adding) == (False, True)
    for audit, told in ((by_adding, True), (by_pairs, False)):
        sentences = [str(audit.answer), slopes_trust(audit.forecast), *error_sentences(audit.forecast)]
        sentences += [finding.message for finding in audit.findings if finding.code in {"RC201", "RC202"}]
        assert any("trials" in sentence for sentence in sentences) == told
    assert "determined if effects add up to interactions of 2 factors" in error_caption(by_pairs)
    full = rc.audit(table(0, share=0.95), order=2)  # so many are seen that both determine the same cells
    assert full.forecast.adding


def test_the_noise_is_an_estimate_with_the_spread_that_it_really_has():
    """What noise alone makes of a perfect model, over the estimate: its spread is what the row says."""
    generator, ratios = np.random.default_rng(0), []
    cells = np.repeat(every_cell((5, 6)), 2, axis=0)
    train = np.repeat(np.arange(30) % 3 > 0, 2)
    for _ in range(40):
        truth = cells.sum(axis=1).astype(float)
        design = rc.Design.from_cells(cells, truth + generator.normal(size=len(cells)), train=train)
        misses = design.outcome[~design.train] - design.held_out.sum(axis=1)
        noise = fitted_networks.noise_at(design, np.flatnonzero(~design.train))
        ratios.append(np.sqrt(np.mean(misses**2) / noise.mean()))
    label = error_rows(rc.audit(design))[-1]["model"]
    assert float(re.search(r"± (\d+)", label)[1]) == pytest.approx(100 * np.std(ratios), rel=0.35)
    assert min(ratios) < 0.9
