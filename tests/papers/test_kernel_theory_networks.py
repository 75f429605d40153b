"""One-hot networks of the first paper, small: they follow the kernel of their regime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine import tasks
from recombine.papers import Standing, find
from recombine.papers.kernel_theory_context import KINDS
from recombine.papers.kernel_theory_networks import _kinds, addition, additivity_unseen, context, equivalence, one_hot
from recombine.papers.results import Evidence, Provenance, as_table
from recombine.report.paper_figure import PaperFigure
from recombine.runs.experiment import Unit
from recombine.theory.leak import slope
from recombine.theory.overlap import OverlapKernel

PAPER = find("kernel-theory")
SGD = {"width": 400, "stop": 1e-3, "seeds": [0, 1]}


def unit(**setting: object) -> Unit:
    return Unit("test", 1, setting)


def test_lazy_networks_shrink_sums_as_their_random_features_say() -> None:
    rows = addition(unit(set="extrapolation", sigma=1.0, rate=0.01, steps=1500, **SGD | {"seeds": [0, 1, 2, 3]}))
    measured = float(np.mean([row["slope"] for row in rows]))
    nngp, ntk = (float(slope(kernel.salience[0], 1)) for kernel in (OverlapKernel.relu(1, 2), OverlapKernel.ntk(1, 2)))
    assert abs(measured - nngp) < 0.05 < abs(measured - ntk)
    assert all(row["train loss"] <= 1e-3 for row in rows)


def test_the_loss_decides_the_shortcut() -> None:
    shared = {"left out": 3, "sigma": 1.0, **SGD}
    logistic = context(unit(loss="logistic", rate=0.1, steps=500, **shared))
    squared = context(unit(loss="mse", rate=0.012, steps=2000, **shared))
    assert [row["accuracy"] for row in logistic] == [0.0, 0.0]
    assert [row["accuracy"] for row in squared] == [1.0, 1.0]
    assert all(row["context"] > row["right"] for row in logistic)
    assert all(row["context"] < row["right"] for row in squared)


def test_rich_networks_solve_equivalence() -> None:
    setting = {"loss": "mse", "sigma": 1e-3, "width": 200, "rate": 0.05, "steps": 800, "records": 5, "seeds": [0, 1]}
    rows = equivalence(unit(**setting))
    assert [row["step"] for row in rows if row["seed"] == 0] == [0, 200, 400, 600, 800]
    last = [row for row in rows if row["step"] == 800]
    assert [row["accuracy"] for row in last] == [1.0, 1.0]
    assert min(row["margin"] for row in last) > 0.5


def test_additivity_on_unseen_pairs_sees_what_the_average_hides() -> None:
    task = tasks.symbolic_addition(anchors=[0])
    bent = np.where(task.test, np.minimum(*(task.cells.T)), task.target)
    honest = additivity_unseen(task, bent.astype(float))
    assert 0.5 < honest < 0.95
    assert additivity_unseen(task, task.target * 0.3 + 1) == pytest.approx(1)


def test_kinds_recover_what_outputs_are_made_of() -> None:
    task = tasks.context_dependence(1)
    sizes = _kinds(task, np.where(task.cells[:, 0] == 0, 1.0, -1.0))
    assert set(sizes) == set(KINDS)
    assert max(sizes, key=lambda kind: sizes[kind]) == "context"
    assert sizes["right"] == pytest.approx(sizes["wrong"], abs=0.05)


def test_inputs_are_one_hot_per_factor() -> None:
    codes = one_hot(tasks.context_dependence())
    assert codes.shape == (72, 14)
    assert (codes.sum(axis=1) == 3).all()


def test_network_claims_and_figures_read_these_rows() -> None:
    def rows(sigma: float, accuracy: float) -> list[dict[str, object]]:
        about = {"loss": "mse", "sigma": sigma, "width": 1, "depth": 1}
        return [
            {**about, "seed": seed, "step": step, "train accuracy": 1.0, "accuracy": accuracy, "margin": accuracy - 0.5}
            for seed in range(6)
            for step in (0, 10)
        ]

    story = Provenance("onehot-equivalence", "quick", "", "", "cpu", 1.0, [], {})
    good = {"onehot-equivalence": Evidence(as_table(rows(1.0, 0.5) + rows(1e-6, 1.0)), story)}
    bad = {"onehot-equivalence": Evidence(as_table(rows(1.0, 0.9) + rows(1e-6, 1.0)), story)}
    assert PAPER.claim("9b").judge(good).verdict is Standing.HOLDS
    assert PAPER.claim("9b").judge(bad).verdict is Standing.FAILS
    plot = next(plot for plot in PAPER.figures if plot.name == "equivalence")
    assert PaperFigure(plot, good).svg().startswith("<svg")
