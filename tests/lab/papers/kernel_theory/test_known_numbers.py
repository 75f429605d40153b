"""Numbers that were worked out apart from this package, to all their digits: they fail through a defect alone."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.context import simplex
from recombine.lab.papers.kernel_theory.experiments.kernels import (
    DISPERSED_SALIENCE,
    fitted_values,
    network_kernel,
    two_factor,
)
from recombine.theory.kernels.shortcut import context_dependence_margin
from recombine.theory.kernels.solvers import Quotient, solve_kernels

#: (activation, depth, factors) -> S(1..C;C).
SALIENCE = {
    ("relu", 1, 2): (0.426422, 0.147155),
    ("relu", 5, 2): (0.282169, 0.435661),
    ("relu", 3, 3): (0.203501, 0.094238, 0.106783),
    ("quadratic", 2, 3): (0.146891, 0.141077, 0.136094),
    ("gaussian", 10, 4): (0.014461, 0.039430, 0.058895, 0.469995),
    ("ntk", 1, 2): (0.371068, 0.257864),
    ("ntk", 2, 3): (0.171232, 0.091317, 0.212351),
}
#: Depth -> margin on CD-3 of a wide random ReLU network.
CD3 = {
    "hinge": {1: -0.5589, 2: -0.3436, 3: -0.2167, 5: -0.0775, 10: 0.0478},
    "squared": {1: 0.7951, 2: 0.6356, 3: 0.5223, 5: 0.3701, 10: 0.1759},
}
#: Error of dispersed addition by salience, averaged over seeds 1 to 50: exact, and with a tube of 0.1.
DISPERSED = {
    None: (13.227937, 9.563902, 7.052915, 5.063567, 3.079513, 1.760275, 0.243260, 0.0),
    0.1: (13.2282, 9.6361, 7.1658, 5.2075, 3.2719, 2.0231, 0.5383, 0.1214),
}


@pytest.mark.parametrize(("network", "salience"), SALIENCE.items(), ids=str)
def test_salience_of_networks(network: tuple[str, int, int], salience: tuple[float, ...]) -> None:
    assert network_kernel(*network).salience == pytest.approx(salience, abs=1e-6)


@pytest.mark.parametrize("loss", CD3)
def test_margins_of_relu_networks_on_cd3(loss: str) -> None:
    kernels = [network_kernel("relu", depth, 3).values for depth in CD3[loss]]
    task = tasks.context_dependence(3)
    quotient = Quotient.of(task.cells, task.target, task.train)
    found = solve_kernels(quotient, kernels, loss=loss).margin  # type: ignore[arg-type]
    assert found == pytest.approx(list(CD3[loss].values()), abs=1e-4)


@pytest.mark.parametrize(("tube", "within"), [(None, 1e-5), (0.1, 2e-3)])
def test_errors_of_dispersed_addition(tube: float | None, within: float) -> None:
    for place in (1, 4, 7):
        kernel = two_factor(DISPERSED_SALIENCE[place])
        errors = []
        for seed in range(1, 51):
            task = tasks.dispersed_addition(seed=seed)
            errors.append(np.mean((fitted_values(task, kernel, epsilon=tube) - task.target)[task.test] ** 2))
        assert np.mean(errors) == pytest.approx(DISPERSED[tube][place], abs=within)


def test_offsets_of_the_asymmetric_set() -> None:
    task = tasks.symbolic_addition(anchors=[0])
    for intercept, expected in ((False, -0.860215), (True, -1.980952)):
        answer = fitted_values(task, two_factor(0.4), intercept=intercept)
        assert np.polyfit(task.target[task.test], answer[task.test], 1)[1] == pytest.approx(expected, abs=1e-6)


def test_share_of_kernels_that_solve_cd3() -> None:
    points = simplex(120)
    inner = points[(points > 0).all(axis=1)]
    assert context_dependence_margin(*inner.T).correct.mean() == pytest.approx(0.52, abs=0.01)
