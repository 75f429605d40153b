"""Models trained on a design: what they miss, against models trained by hand, and what a budget leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPRegressor

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.limits import TRAINING_LIMITS
from recombine.jobs.training.train import LAYERS, TrainingTask
from recombine.theory.identification import identify
from recombine.verdicts import Verdict

pytestmark = pytest.mark.trains


def table(sizes: tuple[int, ...] = (8, 6), seed: int = 0, share: float = 0.7, split: bool = True) -> rc.Design:
    generator = np.random.default_rng(seed)
    cells = every_cell(sizes)
    outcome = sum(generator.normal(size=size)[cells[:, factor]] for factor, size in enumerate(sizes))
    outcome = 10 + 3 * (np.asarray(outcome) + 0.3 * generator.normal(size=len(cells)))
    train = generator.random(len(cells)) < share
    if split:
        return rc.Design.from_cells(cells, outcome, train=train)
    return rc.Design.from_cells(cells[train], outcome[train], sizes=sizes)


def limited(monkeypatch: pytest.MonkeyPatch, **limits: Any) -> None:
    changed = replace(TRAINING_LIMITS, **limits)
    monkeypatch.setattr("recombine.jobs.training.train.TRAINING_LIMITS", changed)


def test_the_network_is_the_one_that_anybody_would_train() -> None:
    """One column per level, standardised outcome, scikit-learn's usual network: the same error as by hand."""
    design = table()
    held = np.flatnonzero(~design.train)
    training = TrainingTask(design, held, names=()).training

    def one_hot(cells: np.ndarray) -> np.ndarray:
        return np.hstack([np.eye(size)[cells[:, factor]] for factor, size in enumerate((8, 6))])

    y = design.outcome[design.train]
    network = MLPRegressor(hidden_layer_sizes=(100,), max_iter=2_000, random_state=0)
    network.fit(one_hot(design.seen), (y - y.mean()) / y.std())
    told = y.mean() + y.std() * network.predict(one_hot(design.held_out))
    assert training.network.predicted == pytest.approx(told, rel=0.02)
    assert training.network.error == pytest.approx(np.sqrt(np.mean((told - design.outcome[held]) ** 2)), rel=0.05)
    assert (training.folds, training.at_unseen) == (0, None)


@pytest.mark.slow
def test_no_cell_is_asked_of_a_model_that_has_seen_it() -> None:
    """An outcome of noise alone: a model that had seen a cell would know it; one that has not misses by its spread."""
    cells = every_cell((9, 9))
    noise = np.random.default_rng(1).normal(size=len(cells))
    training = TrainingTask(rc.Design.from_cells(cells, noise), np.arange(81)).training
    assert training.folds == TRAINING_LIMITS.max_folds
    assert training.scored.all()
    assert training.network.error > 0.9 * noise.std()


def test_by_folds_only_cells_are_scored_that_the_other_folds_determine() -> None:
    design = table((12, 10), share=0.3, split=False)
    task = TrainingTask(design, np.arange(len(design.cells)), names=())
    scored = task.training.scored
    alone = np.array(
        [
            identify(np.delete(design.seen, row, axis=0), design.seen[[row]], 1, **design.shape).verdicts[0]
            for row in range(len(design.seen))
        ]
    )
    assert 0 < scored.sum() < len(scored)
    assert (alone[scored] == Verdict.DETERMINED).all()


@pytest.mark.slow
def test_the_same_table_gives_the_same_models_and_numbers() -> None:
    first, again = (TrainingTask(table(), np.flatnonzero(~table().train)).training for _ in range(2))
    assert [model.error for model in first.models] == [model.error for model in again.models]
    assert [model.name for model in first.models] == list(LAYERS)


@pytest.mark.slow
def test_what_the_work_does_not_suffice_for_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    design = table(split=False)
    task = TrainingTask(design, np.arange(len(design.cells)))
    limited(monkeypatch, work_at_once=0.6)
    few = task.training
    assert few.network.error > 0
    assert few.left_out
    assert {model.name for model in few.models}.isdisjoint(few.left_out)
    limited(monkeypatch, work_at_once=0.2)
    assert replace(task).training is None or replace(task).training.fewer_folds
    limited(monkeypatch, max_cells_trained=10)
    assert replace(task).training is None
    assert replace(task, thorough=True, names=()).training.folds == TRAINING_LIMITS.max_folds


def test_a_network_that_has_not_converged_in_its_work_is_no_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    design = table()
    limited(monkeypatch, work_at_once=0.01)
    assert TrainingTask(design, np.flatnonzero(~design.train)).training is None


@pytest.mark.slow
def test_two_values_have_a_share_of_right_answers_counted_by_hand() -> None:
    cells = every_cell((8, 7))
    outcome = (cells[:, 0] + cells[:, 1] > 6).astype(float)
    train = np.random.default_rng(0).random(len(cells)) < 0.7
    design = rc.Design.from_cells(cells, outcome, train=train)
    training = TrainingTask(design, np.flatnonzero(~train)).training
    assert 0.7 < training.network.accuracy <= 1
    # Of repeated rows the cell's mean is the share of the higher value: no answer is right for all of them.
    shares = np.where(outcome > 0, 0.75, 0.25)
    rows = np.repeat(cells, 4, axis=0)
    values = (np.tile(np.arange(4), len(cells)) < np.repeat(4 * shares, 4)).astype(float)
    repeated = rc.Design.from_cells(rows, values, train=np.repeat(train, 4))
    told = TrainingTask(repeated, np.flatnonzero(~repeated.train)).training
    sides = (told.network.predicted > 0.5) == (outcome[~train] > 0)
    assert told.network.accuracy == pytest.approx(np.where(sides, 0.75, 0.25).mean())


def test_interchangeable_factors_are_answered_in_either_order() -> None:
    pairs = every_cell((7, 7))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    outcome = pairs.sum(axis=1) + np.random.default_rng(0).normal(size=len(pairs))
    train = np.random.default_rng(0).random(len(pairs)) < 0.7
    errors = []
    for shown in (pairs, pairs[:, ::-1]):
        design = rc.Design.from_cells(shown, outcome, train=train, symmetric=[(0, 1)], sizes=(7, 7))
        errors.append(TrainingTask(design, np.flatnonzero(~design.train), names=()).training.network.error)
    assert errors[0] == errors[1]


def test_scores_train_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands beside a user's model in a score is theory: only an audit's own answer trains."""

    def refuse(task: TrainingTask) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr("recombine.jobs.training.train._train", refuse)
    design = table()
    levels = {name: design.held_out[:, factor] for factor, name in enumerate(design.names)}
    predictions = pd.DataFrame({**levels, "model": design.outcome[~design.train] + 1.0})
    assert rc.score(design, predictions, ["model"]).models[0].name == "model"
    with pytest.raises(AssertionError, match="trained"):
        str(rc.audit(design))
    assert str(rc.audit(design, forecast="theory"))
