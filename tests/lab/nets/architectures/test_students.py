"""ReLU students: the formula, tasks that share a batch, and starts from given weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.architectures.students import Continued, ReluStudent
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.worlds.teachers import relu_teachers, sphere_inputs


def test_outputs_are_the_formula_and_each_sample_has_its_task() -> None:
    student = ReluStudent(inputs=4, hidden=7, tasks=2)
    weights = student.initial(seed=3, scale=1.0)
    X = np.random.default_rng(0).standard_normal((5, 4))
    marks = np.eye(2)[[0, 1, 1, 0, 1]]
    found = student.forward(stack_networks([weights]), {}, torch.tensor(np.hstack([X, marks]))[None], False)[0, :, 0]
    hidden = np.maximum(X @ weights["hidden"].numpy().T, 0)
    wanted = np.sum(hidden @ weights["readouts"].numpy().T * marks, axis=1)
    assert found.numpy() == pytest.approx(wanted)


def test_tasks_that_share_a_batch_are_learnt_together() -> None:
    student, marks = ReluStudent(inputs=4, hidden=50, tasks=2), np.repeat(np.eye(2), 3, axis=0)
    X = np.hstack([np.random.default_rng(0).standard_normal((6, 4)), marks])
    y = np.array([1.0, -1.0, 0.5, 2.0, 0.0, -0.5])
    trained = Ensemble(student, [0, 1]).train(X, y, rate=0.05, steps=2000, stop=1e-3)
    assert bool(trained.stopped.all())
    with pytest.raises(InputError, match=r"built for \(6,\)"):
        Ensemble(student, [0]).train(X[:, :4], y, rate=0.05, steps=1)


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


def test_what_was_continued_can_be_continued() -> None:
    plain = ReluStudent(3, hidden=2)
    weights = stack_networks([plain.initial(5, 1.0)])
    again = Continued(Continued(plain, (8,), weights), (9,), weights)
    assert torch.equal(again.initial(9, 1.0)["hidden"], weights["hidden"][0])


def test_continuing_takes_everything_over_from_the_architecture() -> None:
    class Rich(ReluStudent):
        exact_inputs = True

        def observed(self, outputs: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
            return outputs.sum(1)

        def statistics(self, seed: int) -> dict[str, torch.Tensor]:
            return {"seed": torch.tensor(seed)}

        def penalty(self, parameters: dict[str, torch.Tensor]) -> torch.Tensor:
            return parameters["hidden"].square().sum((1, 2))

    plain = Rich(3, hidden=2)
    weights = stack_networks([plain.initial(0, 1.0)])
    again = Continued(plain, (4,), weights)
    assert again.exact_inputs
    assert again.observed(torch.ones(1, 3, 1), torch.ones(1, 3, 3)).item() == 3
    assert again.statistics(4) == {"seed": torch.tensor(4)}
    assert torch.equal(again.penalty(weights), plain.penalty(weights))


def test_bad_input_is_named() -> None:
    plain = ReluStudent(3, hidden=2)
    weights = stack_networks([plain.initial(0, 1.0), plain.initial(1, 1.0)])
    with pytest.raises(InputError, match="every seed once"):
        Continued(plain, (0, 0), weights)
    with pytest.raises(InputError, match=r"shapes \{'hidden': \(2, 3\)\}; the architecture has .*'readouts'"):
        Continued(plain, (0, 1), {"hidden": weights["hidden"]})
    with pytest.raises(InputError, match=r"'hidden': \(3, 2\)"):
        Continued(plain, (0, 1), {**weights, "hidden": weights["hidden"].transpose(1, 2)})
    with pytest.raises(InputError, match="no weights for seed 5"):
        Continued(plain, (0, 1), weights).initial(5, 1.0)
    with pytest.raises(InputError, match="empty layer"):
        ReluStudent(0)
    with pytest.raises(InputError, match="whole numbers"):
        ReluStudent(2.5)
