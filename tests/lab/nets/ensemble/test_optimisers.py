"""Optimisers: the same trajectories as torch.optim, for every network of an ensemble at its own rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import SGD, Adam, AdamW, Optimiser

CASES: dict[str, tuple[Optimiser, Callable[..., torch.optim.Optimizer]]] = {
    "sgd": (SGD(), lambda p, lr: torch.optim.SGD(p, lr=lr)),
    "decay": (SGD(weight_decay=0.1), lambda p, lr: torch.optim.SGD(p, lr=lr, weight_decay=0.1)),
    "momentum": (SGD(momentum=0.9), lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9)),
    "adam": (Adam(), lambda p, lr: torch.optim.Adam(p, lr=lr)),
    "adam decay": (Adam(weight_decay=0.1), lambda p, lr: torch.optim.Adam(p, lr=lr, weight_decay=0.1)),
    "adamw": (AdamW(weight_decay=0.1), lambda p, lr: torch.optim.AdamW(p, lr=lr, weight_decay=0.1)),
}
RATES = [0.01, 0.003]
STEPS = 25


def module_of(network: MLP, seed: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(network.widths, network.widths[1:], strict=False):
        layers += [nn.Linear(fan_in, fan_out, dtype=torch.float64), nn.ReLU()]
    module = nn.Sequential(*layers[:-1])
    values = list(network.initial(seed, 1.0).values())
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), values, strict=True):
            parameter.copy_(value)
    return module


def alone(
    module: nn.Module, optimiser: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, clip: float | None
) -> None:
    for _ in range(STEPS):
        optimiser.zero_grad()
        (module(x).squeeze(-1) - y).square().mean().backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(module.parameters(), clip)
        optimiser.step()


@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize("hidden", [(30,), (20, 10)], ids=["hand-written", "autograd"])
@pytest.mark.parametrize("case", CASES)
def test_trajectory_is_that_of_torch(case: str, hidden: tuple[int, ...], clip: float | None) -> None:
    ours, theirs = CASES[case]
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((12, 5)), rng.standard_normal(12)
    network = MLP(5, hidden)
    ensemble = Ensemble(network, seeds=[3, 8], dtype="float64")
    trained = ensemble.train(x, y, rate=RATES, steps=STEPS, optimiser=ours, clip=clip)
    for place, (seed, rate) in enumerate(zip([3, 8], RATES, strict=True)):
        module = module_of(network, seed)
        alone(module, theirs(module.parameters(), lr=rate), torch.from_numpy(x), torch.from_numpy(y), clip)
        for mine, parameter in zip(trained.parameters.values(), module.parameters(), strict=True):
            torch.testing.assert_close(mine[place], parameter.detach(), rtol=1e-10, atol=1e-10)


def test_clipping_changes_something_in_these_cases() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((12, 5)), rng.standard_normal(12)
    ensemble = Ensemble(MLP(5, (30,)), seeds=[3], dtype="float64")
    free, held = (ensemble.train(x, y, rate=0.01, steps=5, clip=clip).loss for clip in (None, 0.5))
    assert abs(float(free - held)) > 1e-3
