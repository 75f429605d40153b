"""Compositional generalization from first principles: does sufficient support tell where trained decoders err?

A small world: two slots of twelve values each, components of eight pixels, smooth functions of the value, and soft
occlusion at each pixel. Supports are random unions of planes, a diagonal band and single cells in which every value
occurs. Theory knows components and rule, and asks which directions of the components' values the seen cells leave open;
decoders with a network per slot and the rule built in learn the seen cells. Torch is imported when a unit runs.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.papers.first_principles.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit

VALUES, TOY_PIXELS, GATE_SLOPE = 12, 8, 4.0
#: What a direction without data counts for beside one that a cell shows with a slope of one.
PRIOR_WEIGHT = 1e-3


def support_of(number: int) -> BoolArray:
    """Draw a support (12, 12) in which every value of either slot occurs.

    Examples
    --------
    >>> support = support_of(3)
    >>> support.shape, bool(support.any(axis=0).all() and support.any(axis=1).all())
    ((12, 12), True)
    """
    rng = np.random.default_rng([41, number])
    steps = np.arange(VALUES)
    while True:
        seen = np.zeros((VALUES, VALUES), dtype=bool)
        seen[rng.choice(VALUES, rng.integers(0, 3), replace=False)] = True
        seen[:, rng.choice(VALUES, rng.integers(0, 3), replace=False)] = True
        seen |= np.abs(steps[:, None] - steps) < rng.integers(0, 4)
        seen[tuple(rng.integers(VALUES, size=(2, rng.integers(0, 7))))] = True
        if seen.any(axis=0).all() and seen.any(axis=1).all() and not seen.all():
            return seen


def world() -> FloatArray:
    """Return the components' values (slot, value, pixel): sums of three waves at each pixel."""
    rng = np.random.default_rng(7)
    z = np.linspace(0, 1, VALUES)[None, :, None, None]
    frequency, phase = rng.uniform(1, 6, (2, 1, TOY_PIXELS, 3)), rng.uniform(0, 2 * np.pi, (2, 1, TOY_PIXELS, 3))
    return np.asarray(np.sin(frequency * z + phase).mean(axis=-1))


def open_variance(seen: BoolArray, components: FloatArray) -> FloatArray:
    """Return how much of each cell's image (12, 12) the seen cells leave open, to first order around the truth.

    Values of components are unknown numbers, as likely one as another; what is seen fixes combinations of them.

    Examples
    --------
    >>> everything = np.ones((VALUES, VALUES), dtype=bool)
    >>> bool(open_variance(everything, world()).max() < 0.02)
    True
    """
    front, back = components[0][:, None], components[1][None]
    gate = 1 / (1 + np.exp(-GATE_SLOPE * front))
    slopes = (
        gate + GATE_SLOPE * gate * (1 - gate) * (front - back),
        np.broadcast_to(1 - gate, (VALUES, VALUES, TOY_PIXELS)),
    )
    total = np.zeros((VALUES, VALUES))
    places = np.eye(VALUES)
    for pixel in range(TOY_PIXELS):
        rows = np.concatenate(
            [
                np.broadcast_to(slopes[0][:, :, pixel, None] * places[:, None], (VALUES, VALUES, VALUES)),
                np.broadcast_to(slopes[1][:, :, pixel, None] * places[None], (VALUES, VALUES, VALUES)),
            ],
            axis=2,
        )
        data = rows[seen]
        covariance = np.linalg.inv(data.T @ data / PRIOR_WEIGHT + np.eye(2 * VALUES))
        total += np.einsum("ijk,kl,ijl->ij", rows, covariance, rows)
    return total / TOY_PIXELS


def error_maps(unit: Unit) -> Rows:
    """Error of decoders at each unseen cell beside what theory leaves open and the way to the nearest seen cell."""
    from scipy.ndimage import distance_transform_edt

    setting, components = unit.setting, world()
    seen = np.stack([support_of(number) for number in setting["supports"]])
    images = _composed(components[0][:, None], components[1][None])
    errors = np.stack([_trained_errors(seen, images, setting["steps"], seed) for seed in unit.seeds]).mean(axis=0)
    rows: Rows = []
    for number, support, of_cell in zip(setting["supports"], seen, errors, strict=True):
        theory, way = open_variance(support, components), distance_transform_edt(~support)
        fitted = float(of_cell[support].mean())
        rows += [
            {"support": number, "first": int(i), "second": int(j), "theory": float(theory[i, j])}
            | {"way": float(way[i, j]), "error": float(of_cell[i, j]), "error on support": fitted}
            for i, j in np.argwhere(~support)
        ]
    return rows


def _composed(front: FloatArray, back: FloatArray) -> FloatArray:
    gate = 1 / (1 + np.exp(-GATE_SLOPE * front))
    return np.asarray(gate * front + (1 - gate) * back)


def _trained_errors(seen: BoolArray, images: FloatArray, steps: int, seed: int, width: int = 32) -> FloatArray:
    """Train a decoder per support (E, 12, 12), side by side, and return the error at each cell."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    shapes = [(1, width), (width, width), (width, TOY_PIXELS)]
    weights = [torch.randn((len(seen), 2, *shape), generator=generator) / shape[0] ** 0.5 for shape in shapes]
    biases = [torch.randn((len(seen), 2, 1, columns), generator=generator) for _, columns in shapes]
    parameters = [tensor.requires_grad_() for tensor in (*weights, *biases)]
    optimiser = torch.optim.Adam(parameters, lr=3e-3)
    z = torch.linspace(-1, 1, VALUES).reshape(1, 1, VALUES, 1).expand(len(seen), 2, VALUES, 1)
    goal, mask = torch.tensor(images, dtype=torch.float32), torch.tensor(seen)[..., None]

    def misses() -> torch.Tensor:
        hidden = z
        for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            hidden = hidden @ weight + bias
            hidden = torch.tanh(hidden) if layer < len(weights) - 1 else hidden
        front, back = hidden[:, 0, :, None], hidden[:, 1, None]
        gate = torch.sigmoid(GATE_SLOPE * front)
        return (gate * front + (1 - gate) * back - goal) ** 2

    for _ in range(steps):
        optimiser.zero_grad()
        loss = ((misses() * mask).sum((1, 2, 3)) / (mask.sum((1, 2, 3)) * TOY_PIXELS)).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        return np.asarray(misses().mean(-1).double().numpy())
