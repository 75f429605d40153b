"""Gradient resists: the theory against oracles."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.papers.gradient_resists.experiments.theory import (
    binary_entropy,
    counterexample,
    exact_covariances,
    first_step,
    held_out_information,
    processing,
)
from recombine.runs.experiment import Unit
from recombine.tables.table import Table
from recombine.worlds import plane as world


def test_first_step_weighs_inputs_by_their_covariance_with_the_label() -> None:
    exact = np.array([float(value) for value in exact_covariances()])
    samples = world.draw_training("text", 5, 200_000)
    drawn = [np.cov(samples.labels, samples.points[:, place])[0, 1] for place in (0, 1)]
    np.testing.assert_allclose(drawn, exact, atol=0.005)
    rows = Table.from_rows(first_step(Unit("first-step", 1, {"samples": 5000, "seeds": [1, 2]})))
    step, sampled = rows.only(route="one step"), rows.only(route="samples")
    np.testing.assert_allclose(2 * step["second"], sampled["second"], rtol=0, atol=1e-13)


def test_closed_form_of_the_held_out_quadrant_is_the_information_of_its_table() -> None:
    for share in (0.0, 0.3, 1.0):
        # P(prediction = 1) in the cells (Y_1, Y_2), which are equally likely on the probe.
        chances = np.array([[0.0, 0.0], [1.0, share]])
        within = binary_entropy(chances.mean(axis=1)) - binary_entropy(chances).mean(axis=1)
        assert held_out_information(share) == pytest.approx(within.mean(), abs=1e-12)


def test_information_without_a_gradient() -> None:
    soft, step = counterexample(Unit("c", 1, {"steepness": [1e-9, 0], "points": 1000}))
    assert soft["information"] == pytest.approx(0, abs=1e-9)
    assert soft["gradient"] > 0
    assert (step["information"], step["gradient"], step["share"]) == (1.0, 0.0, 0.0)


def test_processing_loses_information_and_a_copy_of_the_input_loses_none() -> None:
    rows = Table.from_rows(processing(Unit("p", 1, {"problems": 200, "seeds": [3]})))
    assert (rows["of input"] >= rows["of label"] - 1e-12).all()
    # Otherwise the check would compare a number with itself.
    assert (rows["of input"] > rows["of label"] + 0.01).mean() > 0.5
