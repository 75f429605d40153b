"""Gradient resists: the theory against oracles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from recombine.lab.nets.by_hand.playground import Playground, train_playground
from recombine.lab.papers.gradient_resists.experiments.theory import (
    bits_of,
    chains,
    counterexample,
    quadrants,
    smooth_step,
    step_slope,
)
from recombine.lab.papers.gradient_resists.readings.plane import binary_entropy, held_out_information
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds import plane as world


def exact_covariances() -> list[Fraction]:
    """Cov(L, X_1) and Cov(L, X_2), with L = 2 Y_1 - 1 and X_k = Y_k - U[0, 1] on the three seen cells."""
    labels = [Fraction(2 * first - 1) for first, _ in world.SEEN]
    means = [[Fraction(2 * cell[place] - 1, 2) for cell in world.SEEN] for place in (0, 1)]
    middle = sum(labels) / 3
    return [
        Fraction(sum((label - middle) * mean for label, mean in zip(labels, column, strict=True)) / 3)
        for column in means
    ]


def test_the_first_step_weighs_inputs_by_their_covariance_with_the_label() -> None:
    """Section 4 in an exact form: from zero weights X_2 gets weight because it goes with the label, -1/2 of X_1's."""
    exact = exact_covariances()
    assert exact == [Fraction(4, 9), Fraction(-2, 9)]
    samples = world.draw_training("text", 5, 200_000)
    centred = samples.points - samples.points.mean(axis=0)
    drawn = (samples.labels - samples.labels.mean()) @ centred / len(centred)
    np.testing.assert_allclose(drawn, [float(value) for value in exact], atol=0.005)
    start, labels, size = Playground.zero(1), samples.labels[None], len(centred)
    kept = train_playground(start, centred[None], labels, record=[1], rate=1.0, batch=size, loss="logistic")
    np.testing.assert_allclose(2 * kept[1].weights[0].ravel(), drawn, rtol=0, atol=1e-12)


def test_closed_form_of_the_held_out_quadrant_is_the_information_of_its_table() -> None:
    for share in (0.0, 0.3, 1.0):
        # P(prediction = 1) in the cells (Y_1, Y_2), which are equally likely on the probe.
        chances = np.array([[0.0, 0.0], [1.0, share]])
        within = binary_entropy(chances.mean(axis=1)) - binary_entropy(chances).mean(axis=1)
        assert held_out_information(share) == pytest.approx(within.mean(), abs=1e-12)


def test_the_smooth_step_has_the_slope_that_is_said() -> None:
    x = np.linspace(-1, 1, 401)
    quotients = (smooth_step(x + 1e-6) - smooth_step(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(step_slope(x), quotients, atol=1e-6)
    assert (smooth_step(x[x <= -0.5]) == 0).all()
    assert (smooth_step(x[x >= 0.5]) == 1).all()
    assert (step_slope(x[np.abs(x) >= 0.5]) == 0).all()


def test_information_without_a_slope_and_a_slope_without_information() -> None:
    gap, sine, whole = counterexample(Unit("c", 1, {"points": 1000}))
    assert gap["information"] == pytest.approx(1, abs=1e-12)
    assert (gap["slope"], gap["quotient"]) == (0.0, 0.0)
    assert sine["information"] == 0
    assert sine["slope"] == pytest.approx(np.pi)
    assert sine["quotient"] == pytest.approx(np.pi, rel=1e-6)
    # Without the gap the same map has a slope, as the proposition asks.
    assert whole["slope"] == pytest.approx(2, rel=1e-3)
    assert whole["information"] > 1


def test_predictions_of_x_tell_no_more_about_y_and_a_copy_tells_all() -> None:
    rows = chains(Unit("c", 1, {"worlds": 300, "seeds": [1]}))
    assert all(row["about X"] >= row["about Y"] - 1e-12 for row in rows)
    assert len({round(row["about Y"], 6) for row in rows}) > 250
    # Four equal inputs that predictions copy: two bits, and one where they tell two halves apart.
    assert bits_of(np.eye(4) / 4) == pytest.approx(2)
    assert bits_of(np.kron(np.eye(2), np.ones((2, 2))) / 8) == pytest.approx(1)


def test_samples_of_every_quadrant_are_counted_once() -> None:
    for reading in ("code", "text"):
        rows = quadrants(Unit("q", 1, {"reading": reading, "seeds": [0]}))
        assert sum(row["seen"] for row in rows) == len(world.draw_training(reading, 0).points)
        assert {(row["right"], row["up"]) for row in rows if row["held out"]} == {(True, True)}
