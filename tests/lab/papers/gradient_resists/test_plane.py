"""Two dimensions, small: networks use X_2 where they can, linear models less and less."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.nets.by_hand.playground import LOSSES, Playground
from recombine.lab.papers.gradient_resists.experiments.plane import Rows, boundaries, plane
from recombine.lab.papers.gradient_resists.readings.plane import first_step_tilt
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.plane import READINGS, draw_training


def unit(**changes: object) -> Unit:
    base = {"reading": "text", "setting": "A", "model": "network", "epochs": 64, "seeds": list(range(10))}
    return Unit("plane", 1, base | changes)


def mean(rows: Rows, column: str, epoch: int) -> float:
    return float(np.mean([row[column] for row in rows if row["epoch"] == epoch]))


@pytest.mark.slow
def test_networks_use_x2_when_it_tells_something() -> None:
    a, b = plane(unit()), plane(unit(setting="B"))
    assert mean(a, "held-out accuracy", 1) < 0.3
    assert mean(b, "held-out accuracy", 64) - mean(a, "held-out accuracy", 64) > 0.03
    assert mean(a, "slope 2", 64) > 5 * mean(b, "slope 2", 64)
    assert mean(a, "train accuracy", 64) > 0.97


def test_a_linear_model_repairs_itself() -> None:
    rows = plane(unit(model="linear", epochs=256))
    tilts = [mean(rows, "tilt", epoch) for epoch in (1, 64, 256)]
    assert tilts[0] == pytest.approx(0.35, abs=0.05)
    assert tilts[0] > tilts[1] > tilts[2]
    assert mean(rows, "held-out accuracy", 1) < mean(rows, "held-out accuracy", 256)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_step_of_a_linear_model_is_the_one_in_closed_form(loss: str, centred: bool) -> None:
    """Labels are not balanced: as trained, inputs not centred, the first tilt is 1/3; it would be 1/2 if they were."""
    samples = draw_training("text", seed=0, count=200_000)
    points = samples.points - samples.points.mean(axis=0) if centred else samples.points
    shares = np.full((1, len(points)), 1 / len(points))
    (by_weight,), _ = Playground.zero(1).gradients(points[np.newaxis], samples.labels[np.newaxis], shares, loss)
    first, second = by_weight[0, :, 0]
    assert -second / first == pytest.approx(first_step_tilt(centred), abs=0.01)


@pytest.mark.parametrize("reading", list(READINGS))
def test_boundaries_show_the_held_out_accuracy(reading: str) -> None:
    setting = {"reading": reading, "epochs": 4, "seeds": [0, 1, 2]}
    side, half, edge = 80, READINGS[reading].edge / 80, READINGS[reading].edge
    strips = boundaries(unit(**setting), side=side)
    for row in plane(unit(**setting)):
        gap = READINGS[reading].gap
        mine = [s for s in strips if (s["seed"], s["epoch"]) == (row["seed"], row["epoch"]) and s["X2"] > gap]
        lengths = [max(0.0, s["to"] - max(s["from"], gap)) for s in mine]
        area = sum(lengths) * 2 * half / (edge - gap) ** 2
        assert area == pytest.approx(row["held-out accuracy"], abs=0.05)


def test_rows_say_what_they_are() -> None:
    rows = plane(unit(epochs=3, seeds=[4, 9]))
    assert [(row["seed"], row["epoch"]) for row in rows] == [(4, 0), (9, 0), (4, 1), (9, 1), (4, 3), (9, 3)]
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert {(row["reading"], row["setting"], row["model"]) for row in rows} == {("text", "A", "network")}


def test_bad_settings_are_named() -> None:
    with pytest.raises(InputError, match="setting is 'C'"):
        plane(unit(setting="C"))
    with pytest.raises(InputError, match="model is 'forest'"):
        plane(unit(model="forest"))
