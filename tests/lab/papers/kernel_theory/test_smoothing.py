"""Smoothed labels: the optimum against its closed form and against gradient descent; readings that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from recombine.lab import tasks
from recombine.lab.papers import Standing, find
from recombine.lab.papers.kernel_theory.experiments.kernels import fitted_values, network_kernel
from recombine.lab.papers.kernel_theory.experiments.smoothing import (
    ceiling,
    grams,
    smoothed_slope,
    smoothed_values,
    smoothing_images,
    smoothing_networks,
    time_until_right,
)
from recombine.lab.papers.kernel_theory.readings.smoothing import images_over_steps
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

PAPER = find("kernel-theory")
STORY = Provenance("smoothing", "quick", "", "", "cpu", 0.0, [], {})


def smoothed_loss(outputs: np.ndarray, amount: float) -> np.ndarray:
    """Cross-entropy of the answer +1 with probability 1 - amount / 2."""
    return -(1 - amount / 2) * np.log(expit(outputs)) - amount / 2 * np.log(expit(-outputs))


@pytest.mark.parametrize("amount", [0.001, 0.01, 0.1, 0.5])
def test_the_ceiling_is_where_the_smoothed_loss_is_smallest(amount: float) -> None:
    outputs = np.linspace(-10, 10, 200_001)
    assert outputs[smoothed_loss(outputs, amount).argmin()] == pytest.approx(ceiling(amount), abs=2e-4)


def test_the_slope_is_the_derivative_of_the_loss() -> None:
    outputs, step = np.linspace(-4, 4, 9), 1e-6
    slope = (smoothed_loss(outputs + step, 0.1) - smoothed_loss(outputs - step, 0.1)) / (2 * step)
    assert smoothed_slope(outputs, np.ones(9), 0.1) == pytest.approx(slope, abs=1e-8)
    assert smoothed_slope(-outputs, -np.ones(9), 0.1) == pytest.approx(-slope, abs=1e-8)


@pytest.mark.parametrize("depth", [1, 3, 5])
@pytest.mark.parametrize("left_out", [1, 2, 3])
@pytest.mark.parametrize("amount", [0.001, 0.1])
def test_kernels_end_at_a_multiple_of_the_squared_loss_solution(depth: int, left_out: int, amount: float) -> None:
    task, kernel = tasks.context_dependence(left_out), network_kernel("relu", depth, 3)
    values = smoothed_values(task, kernel, amount)
    assert values[task.train] == pytest.approx(ceiling(amount) * task.target[task.train], rel=1e-9)
    assert values == pytest.approx(ceiling(amount) * fitted_values(task, kernel), rel=1e-7, abs=1e-9)


def test_gradient_descent_from_zero_gets_there_and_turns_when_the_flow_does() -> None:
    task, kernel, amount, rate = tasks.context_dependence(3), network_kernel("relu", 3, 3), 0.5, 8.0
    seen, every = grams(task, kernel)
    dual, last_wrong = np.zeros(len(seen)), 0
    for step in range(5000):
        dual -= rate / len(seen) * smoothed_slope(seen @ dual, task.target[task.train], amount)
        if ((every[task.test] @ dual) * task.target[task.test] <= 0).any():
            last_wrong = step + 1
    assert every @ dual == pytest.approx(smoothed_values(task, kernel, amount), abs=1e-4)
    # The flow is read on a grid of 40 times per factor of ten, 6% apart.
    assert time_until_right(task, kernel, amount) == pytest.approx(rate * last_wrong, rel=0.08)


def test_networks_stop_at_the_ceiling() -> None:
    pytest.importorskip("torch")
    setting: dict[str, Any] = {"left out": 3, "smoothing": 0.5, "sigma": 1.0, "width": 300, "rate": 0.3}
    unit = Unit("kernel-theory/smoothing-networks", 1, {**setting, "steps": 2000, "record": [0, 2000], "seeds": [7]})
    first, last = smoothing_networks(unit)
    assert (first["step"], last["step"]) == (0, 2000)
    assert last["smallest seen"] == pytest.approx(ceiling(0.5), rel=0.01)
    assert last["accuracy"] == 1.0


def kernel_rows(**changes: float) -> Table:
    """Rows as theory has them, with changes to those of smoothing 0.01."""
    good = {"activation": "relu", "task": "CD-3", "from ceiling": 0.0, "from squared": 0.0}
    return Table.from_rows(
        [
            {**good, "depth": depth, "smoothing": amount, "accuracy": float(amount > 0), "relative margin": 0.5}
            | {"time": 50 / amount if amount else float("nan")}
            | (changes if amount == 0.01 else {})
            for depth in (1, 3, 5)
            for amount in (0.0, 0.001, 0.01, 0.1)
        ]
    )


def network_rows(**right: float) -> Table:
    """Accuracies of two networks on the last step, by smoothing."""
    shares = {"0": 0.0, "0.001": 0.0, "0.01": 1.0, "0.1": 1.0} | right
    return Table.from_rows(
        [
            {"task": "CD-3", "smoothing": float(amount), "seed": seed, "step": step, "accuracy": share}
            | {"train accuracy": 1.0}
            for amount, share in shares.items()
            for seed in (0, 1)
            for step in (10, 100)
        ]
    )


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        ("53", {"accuracy": 0.5}),
        ("53", {"from ceiling": 1e-5}),
        ("53", {"from squared": 1e-5}),
        ("55", {"time": 50 / 0.001}),
        ("55", {"time": float("nan")}),
    ],
)
def test_claims_of_kernels_can_fail(number: str, changes: dict[str, float]) -> None:
    claim = PAPER.claim(number)
    assert claim.read(kernel_rows()).verdict is Standing.HOLDS
    assert claim.read(kernel_rows(**changes)).verdict is Standing.FAILS


@pytest.mark.parametrize("right", [{"0": 1.0}, {"0.01": 0.9}, {"0.001": 1.0}])
def test_the_claim_of_networks_can_fail(right: dict[str, float]) -> None:
    claim = PAPER.claim("54")
    assert claim.read(network_rows()).verdict is Standing.HOLDS
    assert claim.read(network_rows(**right)).verdict is Standing.FAILS


#: Shares of unseen images right at steps 10, 100 and 1,000, as pilots had them, by loss and smoothing.
IMAGES = {("logistic", 0.0): (0.4, 0.2, 0.2), ("logistic", 0.01): (0.4, 0.2, 0.6), ("logistic", 0.1): (0.4, 0.6, 0.7)}
IMAGES |= {("mse", 0.0): (0.4, 0.5, 0.7)}


def image_rows(changed: tuple[str, float] = ("", 0.0), shares: tuple[float, ...] = (), accurate: int = 10) -> Table:
    """Rows of five networks, with other shares for one loss and smoothing; seeds are a point or two apart."""
    settings = {**IMAGES, **({changed: shares} if shares else {})}
    return Table.from_rows(
        [
            {"task": "CD-3", "loss": loss, "smoothing": amount, "seed": seed, "step": step}
            | {"accuracy": share + 0.01 * (seed - 2), "train accuracy": float(step >= accurate)}
            for (loss, amount), line in settings.items()
            for step, share in zip((10, 100, 1000), line, strict=True)
            for seed in range(5)
        ]
    )


@pytest.mark.parametrize(
    ("number", "changed", "shares"),
    [
        ("61", ("logistic", 0.0), (0.4, 0.2, 0.53)),
        ("61", ("logistic", 0.1), (0.4, 0.6, 0.4)),
        ("62", ("logistic", 0.1), (0.4, 0.6, 0.82)),
        ("62", ("mse", 0.0), (0.4, 0.5, 0.82)),
        ("63", ("logistic", 0.01), (0.4, 0.2, 0.4)),
        ("63", ("logistic", 0.01), (0.4, 0.6, 0.7)),
        ("63", ("logistic", 0.1), (0.6, 0.6, 0.7)),
    ],
)
def test_claims_of_networks_on_images_can_fail(number: str, changed: tuple[str, float], shares: tuple[float]) -> None:
    claim = PAPER.claim(number)
    assert claim.read(image_rows()).verdict is Standing.HOLDS
    assert claim.read(image_rows(changed, shares)).verdict is Standing.FAILS


@pytest.mark.parametrize("number", ["61", "62", "63"])
def test_one_network_on_images_says_nothing(number: str) -> None:
    rows = image_rows()
    assert PAPER.claim(number).read(rows.only(seed=1)).verdict is Standing.NOT_RUN


def test_a_network_counts_from_the_step_on_after_which_it_stays_above_chance() -> None:
    # Above chance at step 10 but not at step 100: it gets there at step 1,000, as all do.
    numbers = images_over_steps(image_rows(("logistic", 0.01), (0.6, 0.4, 0.6))).numbers
    assert numbers["steps with 0.01 over steps with 0.1"].mean == pytest.approx(10)
    # One that never does has needed all steps at least.
    numbers = images_over_steps(image_rows(("logistic", 0.01), (0.4, 0.4, 0.4))).numbers
    assert numbers["steps with 0.01 over steps with 0.1"].mean == pytest.approx(10)
    assert images_over_steps(image_rows(("logistic", 0.1), (0.4, 0.4, 0.4))).numbers["never with 0.1"] == 5
    # Where training is never accurate nothing is known, and nothing holds.
    numbers = images_over_steps(image_rows(accurate=2000)).numbers
    assert np.isnan(numbers["below chance when training is right, 0.1, points"].mean)


def test_networks_on_images_are_followed_while_they_train() -> None:
    pytest.importorskip("torch")
    setting = {**PAPER.by_name["smoothing-images"].settings("quick")[1], "total": 108, "per cell": 2}
    rows = smoothing_images(Unit("kernel-theory/smoothing-images", 1, {**setting, "record": [0, 3]}))
    assert [(row["step"], row["seed"]) for row in rows] == [(0, 0), (0, 1), (3, 0), (3, 1)]
    assert {(row["loss"], row["smoothing"], row["task"]) for row in rows} == {("logistic", 0.1, "CD-3")}
    # Both losses start from the same networks; smoothing enters with the first step.
    other = smoothing_images(Unit("kernel-theory/smoothing-images", 1, {**setting, "smoothing": 0.0, "record": [0, 3]}))
    for before, after in ((rows[0], other[0]), (rows[1], other[1])):
        assert before["margin"] == after["margin"]
    assert rows[2]["margin"] != other[2]["margin"]
    assert all(isinstance(value, str | int | float) for row in rows for value in row.values())


def test_the_figure_says_how_many_cells_are_right() -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == "smoothing")
    results = {"smoothing": Evidence(kernel_rows(), STORY), "smoothing-networks": Evidence(network_rows(), STORY)}
    assert PaperFigure(plot, results).svg().startswith("<svg")
    figure = PaperFigure(plot, results | {"smoothing-images": Evidence(image_rows(), STORY)})
    text = figure.svg()
    assert text.startswith("<svg")
    assert "mathdefault" not in text
    assert "networks get 0% with none, 0% with 0.001, 100% with 0.01, 100% with 0.1" in figure.alternative
    assert "digits get 20% with none, 60% with 0.01, 70% with 0.1, 70% with squared loss" in figure.alternative
