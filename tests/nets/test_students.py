"""ReLU students: the formula, tasks that share a batch, and starts from given weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.nets.architecture import stack
from recombine.nets.ensemble import Ensemble
from recombine.nets.students import Continued, ReluStudent
from recombine.worlds.teachers import relu_teachers, sphere_inputs


def test_outputs_are_the_formula_and_each_sample_has_its_task() -> None:
    student = ReluStudent(inputs=4, hidden=7, tasks=2)
    weights = student.initial(seed=3, scale=1.0)
    X = np.random.default_rng(0).standard_normal((5, 4))
    marks = np.eye(2)[[0, 1, 1, 0, 1]]
    found = student.forward(stack([weights]), {}, torch.tensor(np.hstack([X, marks]))[None], False)[0, :, 0]
    hidden = np.maximum(X @ weights["hidden"].numpy().T, 0)
    wanted = np.sum(hidden @ weights["readouts"].numpy().T * marks, axis=1)
    assert found.numpy() == pytest.approx(wanted)


def test_first_weights_have_the_stated_spread() -> None:
    weights = ReluStudent(inputs=15, hidden=2000).initial(seed=0, scale=1e-3)
    assert float(weights["hidden"].std()) == pytest.approx(1e-3 * (2 / 15) ** 0.5, rel=0.05)
    assert float(weights["readouts"].std()) == pytest.approx(1e-3 * (2 / 2000) ** 0.5, rel=0.05)


def test_training_in_two_parts_is_training_in_one() -> None:
    teacher, _ = relu_teachers(0, [1.0])
    X = sphere_inputs(0, "main inputs", 20, 15)
    plain, seeds = ReluStudent(15, hidden=10), [4, 9]
    options = {"rate": 0.05, "steps": 30}

    def trained(network: object, **more: object) -> object:
        return Ensemble(network, seeds, scale=0.5, dtype="float64").train(X, teacher(X), **{**options, **more})

    whole = trained(plain, steps=60)
    half = trained(plain)
    again = trained(Continued(plain, (4, 9), half.parameters))
    for name in ("hidden", "readouts"):
        assert again.parameters[name].numpy() == pytest.approx(whole.parameters[name].numpy(), abs=1e-12)


def test_bad_input_is_named() -> None:
    plain = ReluStudent(3, hidden=2)
    weights = stack([plain.initial(0, 1.0), plain.initial(1, 1.0)])
    with pytest.raises(InputError, match="every seed once"):
        Continued(plain, (0, 0), weights)
    with pytest.raises(InputError, match="no weights for seed 5"):
        Continued(plain, (0, 1), weights).initial(5, 1.0)
    with pytest.raises(InputError, match="empty layer"):
        ReluStudent(0)
