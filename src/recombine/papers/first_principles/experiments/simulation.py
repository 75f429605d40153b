"""First principles, the inverse direction: networks that read latents off stacked observations (no images).

Four slots of two latents each are rendered by fixed random networks into ten numbers each, and the numbers are stacked.
Stacking shows every component directly, so a model that keeps the blocks apart needs no variability between slots:
the exact diagonal is enough. A plain network that sees all forty numbers has no reason to keep them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.runs.experiment import Unit
from recombine.theory.supports import Support, band, box, planes

Rows = list[dict[str, Any]]
SLOTS, LATENTS, HIDDEN, OUTPUTS = 4, 2, 50, 10
SUPPORTS = ("random", "diagonal", "orthogonal")
#: Test points, uniform on the whole cube.
TESTED = 1000


def latent_support(name: str, low: float) -> Support:
    """Return where training latents lie, between ``low`` and 1 in every coordinate.

    Examples
    --------
    >>> latent_support("diagonal", -1.0).sample(1).round(2)[0, :, 0].tolist()
    [0.27, 0.27, 0.27, 0.27]
    """
    if name == "random":
        return box(SLOTS, LATENTS, low=low)
    if name == "diagonal":
        return band(0.0, slots=SLOTS, dimensions=LATENTS, low=low)
    return planes({slot: [np.zeros((SLOTS - 1, LATENTS))] for slot in range(SLOTS)}, low=low)


def _matrix(rows: int, columns: int, candidates: int, rng: np.random.Generator) -> FloatArray:
    """The best conditioned of many random matrices with rows of length one."""
    drawn = rng.standard_normal((candidates, rows, columns))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    # The product of the norms is meant: their ratio, as published, picks the worst conditioned one.
    spread = np.linalg.norm(drawn, axis=(1, 2)) * np.linalg.norm(np.linalg.pinv(drawn), axis=(1, 2))
    return np.asarray(drawn[spread.argmin()])


def _leaky(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, 0.2 * values)


class Generator:
    """Four random networks from two latents to ten numbers each.

    Examples
    --------
    >>> Generator(5, np.random.default_rng(0))(np.zeros((3, 4, 2))).shape
    (3, 4, 10)
    """

    def __init__(self, candidates: int, rng: np.random.Generator) -> None:
        shapes = (HIDDEN, LATENTS), (OUTPUTS, HIDDEN)
        self.layers = [np.stack([_matrix(*shape, candidates, rng) for _ in range(SLOTS)]) for shape in shapes]

    def __call__(self, latents: FloatArray) -> FloatArray:
        """Render latents (N, 4, 2) into blocks (N, 4, 10)."""
        values = latents
        for layer in self.layers:
            values = _leaky(np.einsum("koi,nki->nko", layer, values))
        return values


def simulation(unit: Unit) -> Rows:
    """R2 on random points of both models, one row per support and seed; one network for every support and seed at once.

    The setting has "low" (end of the range of latents), "samples", "steps", "candidates" and "seeds".
    """
    setting = unit.setting
    cases = [(name, seed) for name in SUPPORTS for seed in unit.seeds]
    data = [_data(name, seed, setting) for name, seed in cases]
    seen, target, tested, truth = (np.stack(arrays) for arrays in zip(*data, strict=True))
    plain = _read([_flat(one) for one in (seen, target, tested)], HIDDEN * 12 // 5, cases, unit)
    apart = _read([_blocks(one) for one in (seen, target, tested)], 30, cases, unit)
    apart = np.moveaxis(apart.reshape(len(cases), SLOTS, TESTED, LATENTS), 1, 2).reshape(plain.shape)
    return [
        {"low": setting["low"], "support": name, "seed": seed, "samples": setting["samples"], "steps": setting["steps"]}
        | {"plain": _r2(_flat(truth)[place], plain[place]), "blockwise": _r2(_flat(truth)[place], apart[place])}
        for place, (name, seed) in enumerate(cases)
    ]


def _data(name: str, seed: int, setting: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    generator = Generator(setting["candidates"], rng)
    latents = latent_support(name, setting["low"]).sample(setting["samples"], rng)
    truth = latent_support("random", setting["low"]).sample(TESTED, rng)
    return generator(latents), latents, generator(truth), truth


def _flat(arrays: FloatArray) -> FloatArray:
    """All slots of a point in one row: (E, N, 4, M) -> (E, N, 4 M)."""
    return arrays.reshape(*arrays.shape[:2], -1)


def _blocks(arrays: FloatArray) -> FloatArray:
    """Every slot a problem of its own: (E, N, 4, M) -> (4 E, N, M)."""
    return np.moveaxis(arrays, 2, 1).reshape(-1, arrays.shape[1], arrays.shape[3])


def _read(data: list[FloatArray], width: int, cases: list[tuple[str, int]], unit: Unit) -> FloatArray:
    """Train one network for each set of samples (E, N, ...) and return its outputs on the tested points."""
    from recombine.nets.architectures.mlp import MLP
    from recombine.nets.ensemble.ensemble import Ensemble
    from recombine.nets.ensemble.optimisers import Adam

    inputs, targets, tested = data
    each = len(inputs) // len(cases)
    seeds = [each * seed + place for _, seed in cases for place in range(each)]
    ensemble = Ensemble(MLP(inputs.shape[2], (width,), targets.shape[2]), seeds, device=unit.device)
    how: dict[str, Any] = {"rate": 3e-3, "steps": unit.setting["steps"], "batch": 64, "optimiser": Adam(), "threads": 1}
    return np.asarray(ensemble.train(inputs, targets, **how).outputs(tested).cpu().numpy(), dtype=float)


def _r2(truth: FloatArray, found: FloatArray) -> float:
    """Variance explained over all latents together."""
    return float(1 - np.sum((truth - found) ** 2) / np.sum((truth - truth.mean(axis=0)) ** 2))
