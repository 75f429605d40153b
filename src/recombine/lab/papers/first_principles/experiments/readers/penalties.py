"""First principles, notebooks of penalties: can a plain reader of latents be pushed to keep slots apart?

The simulation's world, where four slots of two latents are seen as forty numbers, and a network with one hidden layer
that sees all of them. One penalty is on slopes: for each slot of outputs, products of the slopes' norms towards pairs
of slots of inputs ("contrast"). The other is on second derivatives that mix two slots of inputs. Both are written out
for one hidden layer, so that they need no second pass. Torch is imported when a unit runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.first_principles.experiments.simulation import (
    READER_UNITS,
    SLOT_LATENTS,
    SLOT_OUTPUTS,
    SLOTS,
    SUPPORTS,
    TEST_POINTS,
    Generator,
    latent_support,
)
from recombine.lab.runs.experiment import Unit

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Rows = list[dict[str, Any]]
PENALTIES = ("none", "contrast", "none, tanh", "second derivatives, tanh")
#: The smallest squared norm whose root is taken.
MIN_SQUARED_NORM = 1e-12


def contrast(first: Tensor, second: Tensor, slopes: Tensor) -> Tensor:
    """Return the contrast of readers (E,): weights (E, units, inputs) and (E, outputs, units), slopes (E, B, units).

    Examples
    --------
    >>> import torch
    >>> apart = torch.zeros(1, 8, 40)
    >>> for unit in range(8):
    ...     apart[0, unit, unit // 2 * 10] = 1.0
    >>> round(float(contrast(apart, torch.eye(8)[None], torch.ones(1, 3, 8))), 3)
    0.0
    """
    jacobian = (slopes[:, :, None] * second[:, None]) @ first[:, None]
    blocks = jacobian.reshape(*jacobian.shape[:2], SLOTS, SLOT_LATENTS, SLOTS, -1)
    norms = ((blocks**2).sum((3, 5)) + MIN_SQUARED_NORM).sqrt()
    products: Tensor = (norms.sum(-1) ** 2 - (norms**2).sum(-1)) / 2
    return products.sum(-1).mean(-1)


def mixed_curvature(first: Tensor, second: Tensor, bends: Tensor) -> Tensor:
    """Return the mean square of second derivatives that mix slots of inputs, (E,); ``bends`` (E, B, units).

    Examples
    --------
    >>> import torch
    >>> float(mixed_curvature(torch.eye(8, 40)[None], torch.eye(8)[None], torch.ones(1, 3, 8)))
    0.0
    """
    blocks = first.reshape(*first.shape[:2], SLOTS, -1).transpose(1, 2)
    grams = blocks @ blocks.mT
    mixed = grams.sum(1) ** 2 - (grams**2).sum(1)
    weights = bends[:, :, None] * second[:, None]
    squares: Tensor = (weights @ mixed[:, None]) * weights
    return squares.sum(-1).mean((1, 2))


def penalised_readers(unit: Unit) -> Rows:
    """R2 on random points of readers with a penalty, one row per support and seed; all of a unit train at once."""
    import torch

    from recombine.lab.papers.first_principles.experiments.readers.latent_reader import LEAKY_SLOPE

    setting, names = unit.setting, [(name, seed) for seed in unit.seeds for name in SUPPORTS]
    drawn = [_data(name, seed, setting) for name, seed in names]
    data, latents, tested, truth = (
        torch.tensor(np.stack(arrays), dtype=torch.float32) for arrays in zip(*drawn, strict=True)
    )
    generator = torch.Generator().manual_seed(unit.seeds[0])
    weights, biases = _first_weights(len(names), generator)
    optimiser = torch.optim.Adam([*weights, *biases], lr=setting["rate"])
    smooth = "tanh" in setting["penalty"]

    def hidden(inputs: Tensor) -> Tensor:
        values: Tensor = inputs @ weights[0].mT + biases[0]
        return values

    def read(inputs: Tensor) -> Tensor:
        values = hidden(inputs)
        values = torch.tanh(values) if smooth else torch.nn.functional.leaky_relu(values, LEAKY_SLOPE)
        outputs: Tensor = values @ weights[1].mT + biases[1]
        return outputs

    for _ in range(setting["steps"]):
        rows = torch.randint(data.shape[1], (setting["batch"],), generator=generator)
        error = ((read(data[:, rows]) - latents[:, rows]) ** 2).mean((1, 2))
        if not setting["penalty"].startswith("none"):
            error = error + setting["weight"] * _penalty(weights[0], weights[1], hidden(data[:, rows]), smooth)
        optimiser.zero_grad()
        error.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        unexplained, fitted = _unexplained(read(tested), truth), _unexplained(read(data), latents)
    return [
        {"penalty": setting["penalty"], "weight": setting["weight"], "support": name, "seed": seed}
        | {"r2 seen": float(1 - fitted[index].mean()), "r2": float(1 - unexplained[index].mean())}
        for index, (name, seed) in enumerate(names)
    ]


def _first_weights(readers: int, generator: torch.Generator) -> tuple[list[Tensor], list[Tensor]]:
    """Weights (E, outputs, inputs) and biases (E, 1, outputs) of both layers of readers (E,)."""
    import torch

    shapes = [(READER_UNITS, SLOTS * SLOT_OUTPUTS), (SLOTS * SLOT_LATENTS, READER_UNITS)]
    weights = [(2 * torch.rand(readers, *shape, generator=generator) - 1) / shape[1] ** 0.5 for shape in shapes]
    biases = [torch.zeros(readers, 1, shape[0]) for shape in shapes]
    return [tensor.requires_grad_() for tensor in weights], [tensor.requires_grad_() for tensor in biases]


def _penalty(first: Tensor, second: Tensor, values: Tensor, smooth: bool) -> Tensor:
    """The penalty on readers (E,) whose hidden units get ``values`` (E, B, units)."""
    import torch

    from recombine.lab.papers.first_principles.experiments.readers.latent_reader import LEAKY_SLOPE

    if smooth:
        level = torch.tanh(values)
        return mixed_curvature(first, second, -2 * level * (1 - level**2))
    return contrast(first, second, torch.where(values > 0, 1.0, LEAKY_SLOPE))


def _unexplained(outputs: Tensor, truth: Tensor) -> Tensor:
    """Shares (E, latents) of the variance over points that outputs (E, B, latents) miss."""
    misses: Tensor = ((outputs - truth) ** 2).sum(1)
    return misses / ((truth - truth.mean(1, keepdim=True)) ** 2).sum(1)


def _data(name: str, seed: int, setting: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Observations and latents to train on, and to test on."""
    rng = np.random.default_rng(seed)
    generator = Generator(setting["candidates"], rng)
    truth = latent_support("random").sample(TEST_POINTS, rng)
    latents = latent_support(name).sample(setting["samples"], rng)
    arrays = generator(latents), latents, generator(truth), truth
    seen, wanted, tested, right = (array.reshape(len(array), -1) for array in arrays)
    return seen, wanted, tested, right
