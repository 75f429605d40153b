"""Forecasts against the kernel theory's own tasks, and against models that are really fitted."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit.forecast import forecast
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel


def design_of(task) -> rc.Design:
    return rc.Design.from_cells(task.cells, task.target, train=task.train, names=list(task.factors))


@pytest.fixture(scope="module")
def context() -> rc.Audit:
    return rc.audit(design_of(rc.tasks.context_dependence(left_out=3)))


def test_context_is_the_shortcut_of_context_dependence(context):
    misleading = [item.factor for item in context.forecast.shortcuts if item.misleads]
    assert misleading == ["context"]
    item = context.forecast.shortcuts[0]
    # Context's mean answer is +-1/3 in training and of the other sign on every unseen cell: 1 - (4/3)^2.
    assert item.unseen == pytest.approx(1 - 16 / 9)
    assert context.forecast.shortcut_truth == "held-out rows"


def test_the_shortcut_is_taken_under_cross_entropy_and_not_under_squared_loss(context):
    table = context.forecast.accuracy
    assert table["depth"].tolist() == [1, 2, 3, 4] * 2
    assert table["accuracy"][table["loss"] == "cross-entropy"].tolist() == [0.0] * 4
    assert table["accuracy"][table["loss"] == "squared"].tolist() == [1.0] * 4


def test_slopes_of_anchor_addition_are_those_of_equation_3():
    found = forecast(design_of(task := rc.tasks.symbolic_addition(n=9, anchors=[0, 8])), task.cells[~task.train])
    for depth in (1, 2, 3, 4):
        expected = slope(OverlapKernel.relu(depth=depth, factors=2).salience[0], 2)
        assert np.allclose(found.slopes[f"depth {depth}"], expected, atol=1e-9)
    shares = found.curve["additive share"]
    assert np.allclose(found.curve[task.factors[0]], slope(shares / 2, 2), atol=1e-7)
    assert found.weakest is not None
    assert found.accuracy is None


def test_cells_seen_in_training_are_no_test_of_recombination():
    task = rc.tasks.symbolic_addition(n=9, anchors=[4])
    plain = rc.audit(design_of(task)).forecast
    # The same split, with every training cell measured once more on the held-out side.
    cells = np.vstack([task.cells, task.cells[task.train]])
    target = np.concatenate([task.target, task.target[task.train]])
    train = np.concatenate([task.train, np.zeros(task.train.sum(), dtype=bool)])
    repeated = rc.audit(rc.Design.from_cells(cells, target, train=train, names=list(task.factors))).forecast
    assert repeated.unseen == plain.unseen
    assert repeated.slopes["depth 1"].tolist() == plain.slopes["depth 1"].tolist()


def test_held_out_cells_that_nothing_determines_do_not_dilute_the_slopes():
    task = rc.tasks.symbolic_addition(n=9, anchors=[4])
    plain = rc.audit(design_of(task)).forecast
    cells = np.vstack([task.cells, [[9, 3], [9, 9], [2, 9]]])
    target, train = np.append(task.target, [1.0, 2.0, 3.0]), np.append(task.train, [False] * 3)
    more = rc.audit(rc.Design.from_cells(cells, target, train=train, names=list(task.factors))).forecast
    assert np.allclose(more.slopes["depth 2"], plain.slopes["depth 2"])


def test_symmetric_designs_give_both_places_one_slope_and_answer_in_either_order():
    pairs = every_cell((6, 6))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    answer = np.where(pairs.sum(axis=1) > 5, 1.0, 0.0)
    train = np.random.default_rng(0).random(len(pairs)) < 0.7
    design = rc.Design.from_cells(pairs, answer, train=train, symmetric=[(0, 1)], sizes=(6, 6))
    swapped = rc.Design.from_cells(pairs[:, ::-1], answer, train=train, symmetric=[(0, 1)], sizes=(6, 6))
    first, second = rc.audit(design).forecast, rc.audit(swapped).forecast
    assert first.slopes["depth 1"][0] == first.slopes["depth 1"][1]
    assert first.slopes["depth 1"].tolist() == second.slopes["depth 1"].tolist()
    assert first.accuracy is not None
    assert first.accuracy["accuracy"].tolist() == second.accuracy["accuracy"].tolist()


def random_table(seed: int, truth) -> rc.Design:
    generator = np.random.default_rng(seed)
    sizes = tuple(generator.integers(3, 9, size=3))
    cells = every_cell(sizes)
    train = generator.random(len(cells)) < 0.4
    noise = 0.1 * generator.standard_normal(len(cells))
    return rc.Design.from_cells(cells, truth(generator, sizes, cells) + noise, train=train, sizes=sizes)


def additive_truth(generator, sizes, cells):
    effects = [generator.standard_normal(size) for size in sizes]
    return sum(effect[cells[:, place]] for place, effect in enumerate(effects))


def test_random_gaps_in_an_additive_table_rarely_look_like_a_shortcut(monkeypatch):
    monkeypatch.setattr(sys.modules["recombine.jobs.audit.forecast"], "MOST_CELLS", 0)  # no slopes, for speed
    alarms = 0
    for seed in range(60):
        design = random_table(seed, additive_truth)
        found = forecast(design, design.held_out, design.outcome[~design.train])
        alarms += sum(item.misleads for item in found.shortcuts)
    assert alarms <= 3  # of 180 factors


def test_a_factor_confounded_in_training_is_a_shortcut():
    # Treatment works, hospital does nothing, but in training the good hospital gave the good treatment.
    cells = every_cell((2, 2, 8))
    outcome = cells[:, 1] * 2.0 + 0.1 * np.sin(np.arange(len(cells)))
    train = cells[:, 0] == cells[:, 1]
    train[(cells[:, 2] == 0)] = True
    names = ["hospital", "treatment", "ward"]
    audit = rc.audit(rc.Design.from_cells(cells, outcome, train=train, names=names))
    assert [item.factor for item in audit.forecast.shortcuts if item.misleads] == ["hospital"]


def test_two_classes_in_training_are_needed_for_an_accuracy():
    cells = every_cell((3, 3))
    train = np.arange(9) < 6
    design = rc.Design.from_cells(cells, np.where(train, 1.0, 0.0), train=train)
    assert rc.audit(design).forecast.accuracy is None


def test_nothing_unseen_means_nothing_to_forecast():
    found = rc.audit(rc.Design.from_cells(every_cell((3, 3)), np.arange(9.0))).forecast
    assert (len(found.slopes), found.weakest, found.shortcuts, found.unseen) == (0, None, (), 0)


def test_a_constant_outcome_has_no_shortcut():
    cells = every_cell((3, 3))
    assert rc.audit(rc.Design.from_cells(cells[:7], np.ones(7), sizes=(3, 3))).forecast.shortcuts == ()
