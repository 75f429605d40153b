"""Cells left out one by one, against models that were really fitted without them."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_arrangement, every_cell
from recombine.theory.kernels import KernelRegressor, OverlapKernel, predict_left_out


@pytest.mark.parametrize("kernel", [OverlapKernel.ntk(1, 3), OverlapKernel.relu(2, 3), OverlapKernel.relu(4, 3)])
def test_leaving_out_is_refitting_without(kernel):
    generator = np.random.default_rng(3)
    cells = every_cell((4, 3, 3))
    cells = cells[generator.random(len(cells)) < 0.7]
    outcome = generator.normal(size=len(cells)) + 5
    found = predict_left_out(kernel, cells, outcome)
    for place in range(len(cells)):
        rest = np.arange(len(cells)) != place
        refit = KernelRegressor(kernel, intercept=True).fit(cells[rest], outcome[rest])
        assert found[place] == pytest.approx(refit.predict(cells[[place]])[0], abs=1e-6)


def test_interchangeable_factors_are_left_out_in_every_order():
    generator = np.random.default_rng(4)
    pairs = np.array([[i, j, k] for i in range(5) for j in range(i, 5) for k in range(2)])
    outcome = generator.normal(size=len(pairs))
    kernel = OverlapKernel.ntk(1, 3)
    found = predict_left_out(kernel, pairs, outcome, symmetric=[(0, 1)])
    for place in (0, 7, 20):
        rest = np.arange(len(pairs)) != place
        shown = every_arrangement(pairs[rest], [(0, 1)])
        value = {tuple(cell): answer for cell, answer in zip(pairs[rest].tolist(), outcome[rest], strict=True)}
        answers = [value[(*sorted(cell[:2]), cell[2])] for cell in shown.tolist()]
        refit = KernelRegressor(kernel, intercept=True).fit(shown, answers)
        assert found[place] == pytest.approx(refit.predict(pairs[[place]])[0], abs=1e-6)


def test_an_outcome_shifted_by_a_constant_shifts_the_predictions():
    cells = every_cell((3, 4))
    outcome = np.random.default_rng(0).normal(size=12)
    kernel = OverlapKernel.relu(1, 2)
    assert np.allclose(
        predict_left_out(kernel, cells, outcome + 1e4), predict_left_out(kernel, cells, outcome) + 1e4, atol=1e-5
    )


def test_what_does_not_fit_is_refused():
    kernel = OverlapKernel.relu(1, 2)
    with pytest.raises(rc.InputError, match="two cells or more"):
        predict_left_out(kernel, [[0, 0]], [1.0])
    with pytest.raises(rc.InputError, match="too many"):
        predict_left_out(kernel, every_cell((50, 50)), np.zeros(2500))
