"""Architectures of one's own: the least parameters agree with what is known in closed form, and with the solver."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError, SolverError
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.theory.gated import chain_cost, flow, largest_margin, own_margin, representation_cost
from recombine.theory.gated.contexts import joint_contexts


def test_a_two_layer_network_as_a_polynomial_has_the_margin_of_the_group_norm():
    given = gated_problem("toy")
    joint = joint_contexts(given.ids)
    corners = np.array([given.ids[joint == number][0] for number in range(joint.max() + 1)])

    def represent(theta):
        hidden, readout = theta[:12].reshape(2, 2, 3), theta[12:]
        return (readout[:, None, None] * hidden)[np.arange(2), corners].sum(axis=1)

    found = own_margin(represent, given.X, given.y, joint, parameters=14, starts=6)
    assert found.value == pytest.approx(largest_margin(given.X, given.y, given.ids, contexts=2).value, rel=1e-5)
    assert found.reached >= 1


def test_depth_prefers_one_input():
    X, y = [[1.0, 0.8], [-1.0, -0.8]], [1, -1]
    shallow = own_margin(lambda theta: theta[None], X, y, [0, 0], parameters=2, starts=3)
    assert shallow.weights == pytest.approx(np.array([[1.0, 0.8]]) / 1.64, abs=1e-5)
    deep = own_margin(lambda theta: (theta[:2] * theta[2:4] * theta[4:])[None], X, y, [0, 0], parameters=6)
    assert deep.weights == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-3)


def test_costs_of_chains_and_maps_of_the_wrong_shape():
    target = np.array([0.3, -0.4])
    found = representation_cost(lambda theta: theta[0] * theta[1:], target, parameters=3)
    assert found == pytest.approx(chain_cost(target[None], 2), abs=1e-5)
    with pytest.raises(InputError, match="the target has"):
        representation_cost(lambda theta: theta[:3], target, parameters=3)


def test_data_that_the_architecture_does_not_separate_are_refused():
    X, y = [[1.0], [2.0]], [1, -1]
    with pytest.raises(SolverError, match="no start reached margins of one"):
        own_margin(lambda theta: theta[None], X, y, [0, 0], parameters=1, starts=2)


def test_a_flow_can_start_from_weights_of_ones_own():
    given = gated_problem("toy")
    drawn = flow(given.X, given.y, given.ids, contexts=2, seed=3, times=(0.0, 10.0))
    again = flow(given.X, given.y, given.ids, contexts=2, start=(drawn.hidden[0], drawn.readout[0]), times=(0.0, 10.0))
    assert again.margin == pytest.approx(drawn.margin)
    with pytest.raises(InputError, match="give one of the two"):
        flow(given.X, given.y, given.ids, contexts=2)
    with pytest.raises(InputError, match="shapes"):
        flow(given.X, given.y, given.ids, contexts=2, start=(np.ones((2, 2)), np.ones(2)))
    with pytest.raises(InputError, match="scale them down"):
        flow(given.X, given.y, given.ids, contexts=2, start=(np.full((2, 2, 3), 1e6), np.full(2, 1e6)))
