"""One-hot networks of the first paper, small: they follow the kernel of their regime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.lab.papers import Standing, find
from recombine.lab.papers.kernel_theory.experiments.onehot import onehot_addition, onehot_context, onehot_equivalence
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

PAPER = find("kernel-theory")
SGD = {"width": 400, "stop": 1e-3, "seeds": [0, 1]}


def unit(**setting: object) -> Unit:
    return Unit("test", 1, setting)


def test_lazy_networks_shrink_sums_as_their_random_features_say() -> None:
    rows = onehot_addition(unit(set="extrapolation", sigma=1.0, rate=0.01, steps=1500, **SGD | {"seeds": [0, 1, 2, 3]}))
    measured = float(np.mean([row["slope"] for row in rows]))
    nngp, ntk = (float(slope(kernel.salience[0], 1)) for kernel in (OverlapKernel.relu(1, 2), OverlapKernel.ntk(1, 2)))
    assert abs(measured - nngp) < 0.05 < abs(measured - ntk)
    assert all(row["train loss"] <= 1e-3 for row in rows)


@pytest.mark.slow
def test_the_loss_decides_the_shortcut() -> None:
    shared = {"left out": 3, "sigma": 1.0, **SGD}
    logistic = onehot_context(unit(loss="logistic", rate=0.1, steps=500, **shared))
    squared = onehot_context(unit(loss="mse", rate=0.012, steps=2000, **shared))
    assert [row["accuracy"] for row in logistic] == [0.0, 0.0]
    assert [row["accuracy"] for row in squared] == [1.0, 1.0]
    assert all(row["context"] > row["right"] for row in logistic)
    assert all(row["context"] < row["right"] for row in squared)


def test_rich_networks_solve_equivalence() -> None:
    setting = {"loss": "mse", "sigma": 1e-3, "width": 200, "rate": 0.05, "steps": 800, "records": 5, "seeds": [0, 1]}
    rows = onehot_equivalence(unit(**setting))
    assert [row["step"] for row in rows if row["seed"] == 0] == [0, 200, 400, 600, 800]
    last = [row for row in rows if row["step"] == 800]
    assert [row["accuracy"] for row in last] == [1.0, 1.0]
    assert min(row["margin"] for row in last) > 0.5


def test_network_claims_and_figures_read_these_rows() -> None:
    def rows(sigma: float, accuracy: float) -> list[dict[str, object]]:
        about = {"loss": "mse", "sigma": sigma, "width": 1, "depth": 1}
        return [
            {**about, "seed": seed, "step": step, "train accuracy": 1.0, "accuracy": accuracy, "margin": accuracy - 0.4}
            for seed in range(6)
            for step in (0, 10)
        ]

    story = Provenance("onehot-equivalence", "quick", "", "", "cpu", 1.0, [], {})
    good = {"onehot-equivalence": Evidence(Table.from_rows(rows(1.0, 0.5) + rows(1e-6, 1.0)), story)}
    bad = {"onehot-equivalence": Evidence(Table.from_rows(rows(1.0, 0.9) + rows(1e-6, 1.0)), story)}
    assert PAPER.claim("9b").judge(good).verdict is Standing.HOLDS
    assert PAPER.claim("9b").judge(bad).verdict is Standing.FAILS
    plot = next(plot for plot in PAPER.figures if plot.name == "equivalence")
    assert PaperFigure(plot, good).svg().startswith("<svg")
