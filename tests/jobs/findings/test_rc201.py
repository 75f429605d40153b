"""RC201: a network would lose part of an effect on unseen cells."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from known_tasks import symbolic_addition
from recombine.data import hit_rate
from recombine.jobs.audit.forecast import Forecast


def design_of(task) -> rc.Design:
    return rc.Design.from_cells(task.cells, task.target, train=task.train, names=["left", "right"])


def test_one_anchor_leaks_by_what_the_fitted_kernels_say(found):
    design = design_of(symbolic_addition(n=9, anchors=[4]))
    message = found(design, "RC201").message
    row = min(rc.audit(design).forecast.slopes.rows(), key=lambda row: row["slope"])
    assert f"about {100 * row['slope']:.0f} % of the effect of {row['factor']!r}" in message
    assert f"{100 * row['ntk']:.0f} % to {100 * row['nngp']:.0f} %" in message
    assert f"right in {hit_rate('leak')}" in message


def test_many_anchors_leak_little(found):
    assert found(design_of(symbolic_addition(n=9, anchors=[0, 2, 4, 6, 7, 8])), "RC201") is None


def test_the_factor_that_loses_most_is_the_one_named(found):
    cells = [[i, j] for i in range(8) for j in range(8)]
    train = [i < 4 or j == 0 for i, j in cells]
    design = rc.Design.from_cells(cells, [float(i + j) for i, j in cells], train=train, names=["wide", "narrow"])
    assert "'wide'" in found(design, "RC201").message
    assert found(design, "RC201").subjects == ("wide",)


def test_without_an_outcome_nothing_is_said_of_networks(found):
    task = symbolic_addition(n=9, anchors=[4])
    assert found(rc.Design.from_cells(task.cells[task.train], names=["left", "right"]), "RC201") is None


@pytest.mark.trains
def test_the_share_is_the_mean_of_theory_and_of_the_trained_network(found):
    design = design_of(symbolic_addition(n=9, anchors=[4]))
    told = rc.audit(design).forecast
    weakest = min(told.arrives, key=lambda row: row["arrives"])
    factor, share = weakest["factor"], weakest["arrives"]
    (row,) = (row for row in told.slopes.rows() if row["factor"] == factor)
    assert share == pytest.approx(np.mean([row["slope"], told.trained_slopes[factor]]))
    message = found(design, "RC201").message
    assert f"about {100 * share:.0f} % of the effect of {factor!r}" in message
    assert f"one that was trained {100 * told.trained_slopes[factor]:.0f} %" in message


@pytest.mark.trains
def test_what_the_trained_network_contradicts_is_not_raised(found, monkeypatch):
    monkeypatch.setattr(Forecast, "trained_slopes", {"left": 0.95, "right": 0.95})
    design = design_of(symbolic_addition(n=9, anchors=[4]))
    assert (
        min(row["arrives"] for row in rc.audit(design).forecast.arrives) < 0.9
    )  # theory alone, and its mean with the network's, would say so
    assert found(design, "RC201") is None
