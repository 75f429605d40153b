"""Deployment weights in the score: a cell of weight n counts as n cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.importance import ANY, Importance
from recombine.jobs.score import Regressors, Score, attribute


def table(seed: int = 0) -> tuple[rc.Design, np.ndarray]:
    rng = np.random.default_rng(seed)
    cells = np.indices((8, 6, 4)).reshape(3, -1).T
    train = rng.random(len(cells)) < 0.5
    design = rc.Design.from_cells(cells, cells @ [1.0, 0.5, 0.3] + rng.normal(size=len(cells)), train=train)
    return design, design.held_out @ [0.6, 0.5, 0.3] + 0.3 * rng.normal(size=int((~train).sum()))


def test_a_weight_is_a_number_of_copies() -> None:
    rng = np.random.default_rng(0)
    effects, misleading, beyond = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), rng.normal(size=40)
    truth = effects.sum(axis=1) + beyond
    told, counts = truth + rng.normal(size=40), rng.integers(1, 4, size=40)
    names, where = ("a", "b"), np.repeat(np.arange(40), counts)
    known = Regressors(truth, effects, misleading, beyond, names, weights=counts / counts.mean())
    again = Regressors(truth[where], effects[where], misleading[where], beyond[where], names)
    weighted = attribute(told, truth, known)
    copied = attribute(told[where], truth[where], again)
    assert weighted.error.value == pytest.approx(copied.error.value)
    for name, slope in copied.per_factor["leak"].coefficients.items():
        assert weighted.per_factor["leak"].coefficients[name].value == pytest.approx(slope.value, rel=1e-9)
    assert sum(amount.value for amount in weighted.causes.values()) == pytest.approx(weighted.error.value)


def test_equal_weights_change_nothing() -> None:
    design, told = table()
    plain = rc.score(design, {"net": told}, structure="add").models[0]
    weights = Importance(np.full((1, 3), ANY), np.array([7.0]))
    weighted = rc.score(design, {"net": told}, structure="add", importance=weights).models[0]
    assert weighted.unseen_error.value == pytest.approx(plain.unseen_error.value)
    for name, amount in plain.causes.items():
        assert weighted.causes[name].value == pytest.approx(amount.value, abs=1e-12)
        assert weighted.causes[name].high == pytest.approx(amount.high, abs=1e-12)


def test_only_what_matters_counts(tmp_path: Path) -> None:
    design, told = table()
    matters = pd.DataFrame({"x0": ["0", "1", "2"], "importance": [1.0, 1.0, 0.0]})
    matters = matters.rename(columns={"x0": design.names[0]})
    matters.to_csv(tmp_path / "weights.csv", index=False)
    found: Score = rc.score(design, {"net": told}, structure="add", importance=tmp_path / "weights.csv")
    mine = design.held_out[:, 0] <= 1
    squares = (told - design.outcome[~design.train]) ** 2  # type: ignore[index]
    assert found.models[0].unseen_error.value == pytest.approx(squares[mine].mean())
    assert found.errors["squared error"][0] == pytest.approx(squares[mine].mean())
    assert set(found.worst("net", 5)[design.names[0]].tolist()) <= {"0", "1"}
    kept = Importance(design.seen[:1], np.array([1.0]))
    with pytest.raises(rc.InputError, match="nothing that matters is scored"):
        rc.score(design, {"net": told}, structure="add", importance=kept)


def test_forecasts_stand_beside_scores_in_which_cells_count_alike() -> None:
    design, told = table()
    audit = rc.audit(design, structure="add")
    plain = rc.score(audit, {"net": told}).errors
    named = dict(zip(plain["predictions"], plain["squared error"], strict=True))
    error = audit.forecast.error
    assert error is not None
    assert named["forecast: wide network"] == pytest.approx(error.ntk**2)
    assert named["forecast: wide network, readout"] == pytest.approx(error.nngp**2)
    weights = Importance(np.array([[0, ANY, ANY], [ANY, ANY, ANY]]), np.array([3.0, 1.0]))
    weighted = rc.score(audit, {"net": told}, importance=weights).errors
    assert [name for name in plain["predictions"] if "forecast" not in name] == list(weighted["predictions"])
