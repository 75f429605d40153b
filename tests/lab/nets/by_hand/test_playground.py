"""The Playground network against a sample-by-sample account of its trainer that shares no code with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.nets.by_hand.playground import Playground, train_playground
from recombine.lab.worlds.plane import Redraw, draw_training, stack_samples

Nested = list[Any]


class SlowNetwork:
    """One network, one sample at a time, in plain Python: ReLU layers, tanh output, gradients held until it moves."""

    def __init__(self, networks: Playground, place: int) -> None:
        self.weights: Nested = [layer[place].tolist() for layer in networks.weights]
        self.biases: Nested = [layer[place, 0].tolist() for layer in networks.biases]
        self.clear()

    def clear(self) -> None:
        self.held = 0
        self.by_weight: Nested = [[[0.0] * len(row) for row in layer] for layer in self.weights]
        self.by_bias: Nested = [[0.0] * len(layer) for layer in self.biases]

    def visit(self, point: list[float], label: float) -> None:
        values, totals = [point], []
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            z = [bias[j] + sum(weight[i][j] * values[-1][i] for i in range(len(weight))) for j in range(len(bias))]
            totals.append(z)
            last = number == len(self.weights) - 1
            values.append([math.tanh(one) if last else max(0.0, one) for one in z])
        error = [values[-1][0] - label]
        for number in reversed(range(len(self.weights))):
            last = number == len(self.weights) - 1
            slope = [1 - math.tanh(one) ** 2 if last else float(one > 0) for one in totals[number]]
            back = [one * by for one, by in zip(error, slope, strict=True)]
            for j, one in enumerate(back):
                self.by_bias[number][j] += one
                for i, value in enumerate(values[number]):
                    self.by_weight[number][i][j] += one * value
            error = [sum(row[j] * one for j, one in enumerate(back)) for row in self.weights[number]]
        self.held += 1

    def move(self, rate: float) -> None:
        step = rate / self.held
        for number, layer in enumerate(self.weights):
            for j in range(len(self.biases[number])):
                self.biases[number][j] -= step * self.by_bias[number][j]
                for i in range(len(layer)):
                    layer[i][j] -= step * self.by_weight[number][i][j]
        self.clear()

    def epoch(self, points: Nested, labels: list[float]) -> None:
        for number, (point, label) in enumerate(zip(points, labels, strict=True), start=1):
            self.visit(point, label)
            if number % 10 == 0:
                self.move(0.1)


@pytest.mark.parametrize("redrawn", [False, True])
def test_three_epochs_are_those_of_the_slow_network(redrawn: bool) -> None:
    # 47, 30 and 58 samples: with and without samples left over, and with fewer batches than another network.
    seeds = [0, 1, 2]
    samples = stack_samples(
        [draw_training("text", seed, count) for seed, count in zip(seeds, (47, 30, 58), strict=True)]
    )
    first = Playground.initial(seeds)
    points = Redraw("text", samples, seeds) if redrawn else samples.points
    trained = train_playground(first, points, samples.labels, record=[3])[3]
    again = Redraw("text", samples, seeds)
    passes = [again() if redrawn else samples.points for _ in range(3)]
    for place in range(3):
        slow, there = SlowNetwork(first, place), samples.labels[place] != 0
        for visited in passes:
            slow.epoch(visited[place, there].tolist(), samples.labels[place, there].tolist())
        for layer in range(4):
            assert np.abs(trained.weights[layer][place] - slow.weights[layer]).max() < 1e-10
            assert np.abs(trained.biases[layer][place, 0] - slow.biases[layer]).max() < 1e-10
        assert np.abs(trained.weights[0][place] - first.weights[0][place]).max() > 1e-3


def test_samples_left_over_are_not_lost() -> None:
    samples = stack_samples([draw_training("text", 0, count=19)])
    first = Playground.initial([0])
    whole = train_playground(first, samples.points, samples.labels, record=[1, 2])
    labels = samples.labels.copy()
    labels[:, 10:] = 0
    cut = train_playground(first, samples.points, labels, record=[1, 2])
    assert (whole[1].weights[0] == cut[1].weights[0]).all()
    assert (whole[2].weights[0] != cut[2].weights[0]).any()


def test_a_network_trains_alone_as_in_a_stack() -> None:
    seeds = [3, 4, 5]
    drawn = [draw_training("code", seed) for seed in seeds]
    together = stack_samples(drawn)
    record = [0, 1, 5]
    several = train_playground(Playground.initial(seeds), together.points, together.labels, record=record)
    alone = train_playground(
        Playground.initial([4]), drawn[1].points[np.newaxis], drawn[1].labels[np.newaxis], record=record
    )
    assert list(several) == record
    for epoch in record:
        assert several[epoch].weights[1][1] == pytest.approx(alone[epoch].weights[1][0], abs=1e-12)


def test_slopes_are_those_of_the_outputs() -> None:
    networks, points, step = Playground.initial(range(5)), np.random.default_rng(0).uniform(-1, 1, (40, 2)), 1e-6
    for component in (0, 1):
        moved = np.zeros(2)
        moved[component] = step
        differences = (networks.outputs(points + moved) - networks.outputs(points - moved)) / (2 * step)
        assert networks.slopes(points)[..., component] == pytest.approx(differences, abs=1e-8)


def test_first_weights_are_uniform_and_fixed_by_the_seed() -> None:
    networks = Playground.initial(range(2000))
    drawn = np.concatenate([layer.reshape(-1) for layer in networks.weights])
    assert drawn.min() >= -0.5
    assert drawn.max() < 0.5
    assert drawn.var() == pytest.approx(1 / 12, rel=0.01)
    assert all((layer == 0.1).all() for layer in networks.biases)
    assert (Playground.initial([7]).weights[1][0] == networks.weights[1][7]).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_first_linear_step_is_the_covariance_with_the_label(loss: str) -> None:
    samples = draw_training("text", 0, count=500)
    centred = samples.points - samples.points.mean(axis=0)
    trained = train_playground(
        Playground.zero(1), centred[np.newaxis], samples.labels[np.newaxis], record=[1], batch=500, loss=loss
    )[1]
    covariance = [np.cov(samples.labels, centred[:, k], bias=True)[0, 1] for k in (0, 1)]
    weights = trained.weights[0][0, :, 0] / {"squared": 0.1, "logistic": 0.05}[loss]
    assert weights == pytest.approx(covariance, abs=1e-12)


def test_training_leaves_the_first_networks_alone() -> None:
    samples, first = stack_samples([draw_training("text", 0)]), Playground.initial([0])
    before = first.copy()
    kept = train_playground(first, samples.points, samples.labels, record=[0, 2])
    assert all((one == other).all() for one, other in zip(first.weights, before.weights, strict=True))
    assert all((one == other).all() for one, other in zip(kept[0].weights, before.weights, strict=True))
    assert (kept[2].weights[0] != before.weights[0]).any()


def test_bad_input_says_what_to_do() -> None:
    samples, networks = stack_samples([draw_training("text", 0, count=20)]), Playground.initial([0])
    gap = samples.labels.copy()
    gap[0, 3] = 0
    with pytest.raises(InputError, match="loss 'hinge' is not one of"):
        train_playground(networks, samples.points, samples.labels, record=[1], loss="hinge")
    with pytest.raises(InputError, match="at least one epoch"):
        train_playground(networks, samples.points, samples.labels, record=[])
    with pytest.raises(InputError, match="20 samples for batches of 30"):
        train_playground(networks, samples.points, samples.labels, record=[1], batch=30)
    with pytest.raises(InputError, match="go to the end"):
        train_playground(networks, samples.points, gap, record=[1])
    with pytest.raises(InputError, match="one row each"):
        train_playground(Playground.initial([0, 1]), samples.points, samples.labels, record=[1])
    with pytest.raises(InputError, match="no seeds"):
        Playground.initial([])


class TestTwoNodes:
    def test_gradients_are_those_of_the_summed_loss(self) -> None:
        networks = Playground.initial([0, 1], nodes=2)
        generator = np.random.default_rng(0)
        points, labels = generator.normal(size=(2, 6, 2)), generator.choice([-1.0, 1.0], size=(2, 6))
        shares = np.full((2, 6), 1 / 6)

        def loss(some: Playground) -> np.ndarray:
            z = points
            for layer, (weight, bias) in enumerate(zip(some.weights, some.biases, strict=True)):
                z = z @ weight + bias
                z = np.maximum(z, 0) if layer < len(some.weights) - 1 else np.tanh(z)
            wanted = np.stack([labels, -labels], axis=-1)
            return ((z - wanted) ** 2).sum(axis=-1).mean(axis=1) / 2

        by_weight, _ = networks.gradients(points, labels, shares)
        for layer, place in ((0, (1, 3)), (3, (5, 0)), (3, (5, 1))):
            moved = [networks.copy(), networks.copy()]
            for sign, one in zip((1, -1), moved, strict=True):
                one.weights[layer][:, place[0], place[1]] += sign * 1e-5
            quotient = (loss(moved[0]) - loss(moved[1])) / 2e-5
            np.testing.assert_allclose(by_weight[layer][:, place[0], place[1]], quotient, atol=1e-8)

    def test_slopes_are_those_of_the_output(self) -> None:
        networks = Playground.initial([3], nodes=2)
        points = np.random.default_rng(1).normal(size=(4, 2))
        step = np.array([1e-6, 0.0])
        quotient = (networks.outputs(points + step) - networks.outputs(points - step)) / 2e-6
        np.testing.assert_allclose(networks.slopes(points)[..., 0], quotient, atol=1e-8)

    def test_more_nodes_are_refused(self) -> None:
        with pytest.raises(InputError, match="3 output nodes"):
            Playground.initial([0], nodes=3)
