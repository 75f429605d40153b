"""Perceptrons: the published initialisation, and the lazy and rich limits that theory predicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from recombine import tasks
from recombine.errors import InputError
from recombine.nets.architecture import stack_networks
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.rates import stable_rate, tangent_kernel
from recombine.nets.layers.dense import MLP
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


def addition_slopes(hidden: int, scale: float, seeds: int) -> np.ndarray:
    """Train on three sets of anchors at once; return the slopes on unseen pairs, (set, seed)."""
    sets = [tasks.symbolic_addition(n=9, anchors=anchors) for anchors in ANCHORS]
    x, y = hot(sets[0].cells, 9), sets[0].target
    seen = np.repeat(np.stack([task.train for task in sets]), seeds, axis=0)
    ensemble = Ensemble(MLP(18, (hidden,)), seeds=list(range(seeds)) * 3, scale=scale)
    rate = stable_rate(ensemble, x, y, weights=seen)
    trained = ensemble.train(x, y, weights=seen, rate=rate, steps=2000, stop=1e-3)
    assert bool(trained.stopped.all())
    outputs = trained.outputs(x)[..., 0].double().numpy()
    fitted = [np.polyfit(y[~mask], output[~mask], 1)[0] for mask, output in zip(seen, outputs, strict=True)]
    return np.reshape(fitted, (3, seeds))


def test_lazy_networks_leak_as_the_kernel_theory_says() -> None:
    measured = addition_slopes(hidden=1500, scale=1.0, seeds=3).mean(axis=1)
    kernel = OverlapKernel.relu(depth=1, factors=2)
    theory = slope(kernel.salience[0], [len(anchors) for anchors in ANCHORS])
    np.testing.assert_allclose(measured, theory, atol=0.03)
    np.testing.assert_allclose(measured, [0.74, 0.85, 0.85], atol=0.03)


def test_rich_networks_interpolate_but_do_not_extrapolate() -> None:
    extrapolation, interpolation, _ = addition_slopes(hidden=300, scale=1e-4, seeds=2)
    assert interpolation.min() > 0.97
    assert extrapolation.max() < 0.85


def test_the_loss_decides_the_shortcut_on_context_dependence() -> None:
    """Lazy networks on CD-3, both losses in one ensemble: logistic follows the context, squared error the rule."""
    task = tasks.context_dependence(left_out=3)
    eyes = [np.eye(size)[column] for size, column in zip((2, 6, 6), task.cells.T, strict=True)]
    x, losses = np.concatenate(eyes, axis=1), ["logistic", "mse"] * 2
    seen, unseen = x[task.train], x[~task.train]
    ensemble = Ensemble(MLP(14, (1000,)), seeds=[0, 0, 1, 1])
    rate = stable_rate(ensemble, seen, task.target[task.train], loss=losses)
    trained = ensemble.train(seen, task.target[task.train], loss=losses, rate=rate, steps=700)
    right = np.sign(trained.outputs(unseen)[..., 0].numpy()) == task.target[~task.train]
    logistic, squared = right.mean(axis=1)[::2], right.mean(axis=1)[1::2]
    assert logistic.max() <= 0.05
    assert squared.min() >= 0.95


def test_closed_tangent_kernel_is_that_of_autograd() -> None:
    network = MLP(4, (30,))
    parameters = stack_networks([network.initial(seed, 1.0) for seed in (0, 1)])
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    leaves = [tensor.requires_grad_() for tensor in parameters.values()]
    outputs = network.forward(parameters, {}, x.expand(2, 6, 4), True)[..., 0]
    for place in range(2):
        rows = [torch.autograd.grad(outputs[place, n], leaves, retain_graph=True) for n in range(6)]
        jacobian = torch.stack([torch.cat([part.flatten() for part in row]) for row in rows])
        closed = tangent_kernel(network, parameters, x)[place]
        torch.testing.assert_close(closed, jacobian @ jacobian.t(), rtol=1e-10, atol=1e-10)


def test_tangent_kernel_of_a_deep_network() -> None:
    """One layer more through autograd: a hidden layer that passes everything on changes the kernel as it should."""
    network = MLP(3, (20, 10))
    parameters = stack_networks([network.initial(0, 1.0)])
    x = torch.rand(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    kernel = tangent_kernel(network, parameters, x)[0]
    direction = {name: torch.randn_like(tensor) for name, tensor in parameters.items()}
    moved = {name: tensor + 1e-6 * direction[name] for name, tensor in parameters.items()}
    change = (network.forward(moved, {}, x[None], False) - network.forward(parameters, {}, x[None], False)) / 1e-6
    # A change of outputs along any direction lies in the kernel's range and is no longer than it allows.
    length = sum(float(tensor.square().sum()) for tensor in direction.values())
    change = change[0, :, 0]
    assert float(change @ torch.linalg.pinv(kernel) @ change) <= length * (1 + 1e-3)
    torch.testing.assert_close(kernel, kernel.t())


@pytest.mark.parametrize("hidden", [(500,), (60, 60)])
def test_the_stable_rate_is_stable_and_near_the_edge(hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((10, 4)), rng.standard_normal(10)
    ensemble = Ensemble(MLP(4, hidden), seeds=range(5), dtype="float64")
    rate = np.array(stable_rate(ensemble, x, y))
    near, far = (ensemble.train(x, y, rate=rate * factor, steps=60, record=[0]) for factor in (1.0, 20.0))
    assert bool((near.loss < near.history[0] / 2).all())
    assert bool((far.diverged | (far.loss > far.history[0])).all())


def test_the_rate_follows_each_network_s_own_targets() -> None:
    x = np.eye(4)
    ensemble = Ensemble(MLP(4, (50,)), seeds=[0, 0], scale=1e-3)
    small, large = stable_rate(ensemble, x, np.array([[1.0] * 4, [100.0] * 4]))
    assert small == pytest.approx(100 * large, rel=1e-6)
    seen = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    three, two = stable_rate(ensemble, x, [1.0, 1.0, 1.0, 50.0], weights=seen)
    alone = stable_rate(Ensemble(MLP(4, (50,)), seeds=[0], scale=1e-3), x[:3], [1.0] * 3)
    assert three == pytest.approx(alone[0], rel=1e-6)
    assert two != three


def test_empty_layers_are_refused() -> None:
    with pytest.raises(InputError, match="empty layer"):
        MLP(4, ())
