"""Perceptrons: the published initialisation, and the lazy and rich limits that theory predicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

ANCHORS = [[4], [0, 8], [2, 6]]


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_initialisation_has_the_published_spread(scale: float) -> None:
    drawn = MLP(50, (400, 300)).initial(seed=1, scale=scale)
    for layer, fan_in in enumerate((50, 400, 300)):
        weight, bias = drawn[f"weight{layer}"], drawn[f"bias{layer}"]
        error = 4 / math.sqrt(2 * weight.numel())
        assert float(weight.std()) == pytest.approx(scale * math.sqrt(2 / fan_in), rel=error)
        assert float(bias.abs().max()) <= scale / math.sqrt(fan_in)
    assert float(drawn["bias0"].std()) == pytest.approx(scale / math.sqrt(3 * 50), rel=0.15)


def test_scale_only_multiplies() -> None:
    one, small = (MLP(5, (7,)).initial(seed=2, scale=scale) for scale in (1.0, 1e-3))
    for name, tensor in one.items():
        torch.testing.assert_close(small[name], tensor * 1e-3, rtol=1e-12, atol=0)


def test_seeds_give_different_networks() -> None:
    one, other = (MLP(5, (7,)).initial(seed=seed, scale=1.0)["weight0"] for seed in (0, 1))
    assert not torch.equal(one, other)


def test_wide_random_networks_have_the_theory_s_kernel() -> None:
    """Mean activations of many units are the closed-form ReLU kernel of (o + r) / (C + r), r = 1/6 for the biases."""
    task = tasks.symbolic_addition(n=3, anchors=[1])
    network = MLP(6, (40_000,))
    hidden = network.hidden_layers(stack_networks([network.initial(0, 1.0)]), hot(task.cells, 3).unsqueeze(0))[0][0]
    overlap = (task.cells[:, None] == task.cells[None]).sum(-1)
    kernel = (hidden @ hidden.t()).numpy()
    values = np.array([kernel[overlap == o].mean() for o in range(3)])
    salience = (values[1] - values[0]) / (values[2] - values[0])
    assert salience == pytest.approx(0.4316, abs=0.01)


def hot(cells: np.ndarray, levels: int) -> torch.Tensor:
    eye = torch.eye(levels, dtype=torch.float64)
    return torch.cat([eye[torch.from_numpy(column.copy())] for column in cells.T], dim=1)


def addition_slopes(hidden: int, scale: float, seeds: int, rate: float) -> np.ndarray:
    """Train on three sets of anchors at once; return the slopes on unseen pairs, (set, seed)."""
    sets = [tasks.symbolic_addition(n=9, anchors=anchors) for anchors in ANCHORS]
    x, y = hot(sets[0].cells, 9), sets[0].target
    seen = np.repeat(np.stack([task.train for task in sets]), seeds, axis=0)
    ensemble = Ensemble(MLP(18, (hidden,)), seeds=list(range(seeds)) * 3, scale=scale)
    trained = ensemble.train(x, y, weights=seen, rate=rate, steps=2000, stop=1e-3)
    assert bool(trained.stopped.all())
    outputs = trained.outputs(x)[..., 0].double().numpy()
    fitted = [np.polyfit(y[~mask], output[~mask], 1)[0] for mask, output in zip(seen, outputs, strict=True)]
    return np.reshape(fitted, (3, seeds))


@pytest.mark.slow
def test_lazy_networks_leak_as_the_kernel_theory_says() -> None:
    measured = addition_slopes(hidden=1500, scale=1.0, seeds=3, rate=0.005).mean(axis=1)
    kernel = OverlapKernel.relu(depth=1, factors=2)
    theory = slope(kernel.salience[0], [len(anchors) for anchors in ANCHORS])
    np.testing.assert_allclose(measured, theory, atol=0.03)
    np.testing.assert_allclose(measured, [0.74, 0.85, 0.85], atol=0.03)


def test_rich_networks_interpolate_but_do_not_extrapolate() -> None:
    extrapolation, interpolation, _ = addition_slopes(hidden=300, scale=1e-4, seeds=2, rate=0.014)
    assert interpolation.min() > 0.97
    assert extrapolation.max() < 0.85


@pytest.mark.slow
def test_the_loss_decides_the_shortcut_on_context_dependence() -> None:
    """Lazy networks on CD-3, both losses in one ensemble: logistic follows the context, squared error the rule."""
    task = tasks.context_dependence(left_out=3)
    eyes = [np.eye(size)[column] for size, column in zip((2, 6, 6), task.cells.T, strict=True)]
    x, losses = np.concatenate(eyes, axis=1), ["logistic", "mse"] * 2
    seen, unseen = x[task.train], x[~task.train]
    ensemble = Ensemble(MLP(14, (1000,)), seeds=[0, 0, 1, 1])
    # The logistic loss bends an eighth as much.
    rates = [0.033, 0.0041] * 2
    trained = ensemble.train(seen, task.target[task.train], loss=losses, rate=rates, steps=700)
    right = np.sign(trained.outputs(unseen)[..., 0].numpy()) == task.target[~task.train]
    logistic, squared = right.mean(axis=1)[::2], right.mean(axis=1)[1::2]
    assert logistic.max() <= 0.05
    assert squared.min() >= 0.95


def test_empty_layers_are_refused() -> None:
    with pytest.raises(InputError, match="empty layer"):
        MLP(4, ())
