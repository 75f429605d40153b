"""First principles, the inverse direction: networks that read latents off stacked observations (no images).

Four slots of two latents each are rendered by fixed random networks into ten numbers each, and the numbers are stacked.
Stacking shows every component directly, so a model that keeps the blocks apart needs no variability between slots:
the exact diagonal is enough. A plain network that sees all forty numbers has no reason to keep them apart. Sizes of
training sets, networks and training are those of the authors' notebook.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.experiment import Unit
from recombine.theory.supports import Support, band, box, planes

Rows = list[dict[str, Any]]
SLOTS, SLOT_LATENTS, HIDDEN_UNITS, SLOT_OUTPUTS = 4, 2, 50, 10
#: Units of a plain network; a blockwise one has a quarter for each slot.
READER_UNITS = 120
SUPPORTS = ("random", "diagonal", "orthogonal")
#: Test points, uniform on the whole cube.
TEST_POINTS = 1000


def latent_support(name: str) -> Support:
    """Return where training latents lie, between 0 and 1 in every coordinate.

    Examples
    --------
    >>> latent_support("diagonal").sample(1).round(2)[0, :, 0].tolist()
    [0.64, 0.64, 0.64, 0.64]
    """
    if name == "random":
        return box(SLOTS, SLOT_LATENTS)
    if name == "diagonal":
        return band(0.0, slots=SLOTS, dimensions=SLOT_LATENTS)
    return planes({slot: [np.zeros((SLOTS - 1, SLOT_LATENTS))] for slot in range(SLOTS)})


def _matrix(rows: int, columns: int, candidates: int, rng: np.random.Generator) -> FloatArray:
    """One of many random matrices with rows of length one: that whose norm is smallest beside its inverse's.

    The notebook divides the two norms where a condition number multiplies them, so that it takes the matrix that is
    conditioned worst; and so does this.
    """
    matrices = rng.uniform(-1, 1, (candidates, rows, columns))
    matrices /= np.linalg.norm(matrices, axis=2, keepdims=True)
    ratio = np.linalg.norm(matrices, axis=(1, 2)) / np.linalg.norm(np.linalg.pinv(matrices), axis=(1, 2))
    return np.asarray(matrices[ratio.argmin()])


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
        shapes = (HIDDEN_UNITS, SLOT_LATENTS), (SLOT_OUTPUTS, HIDDEN_UNITS)
        self.layers = [np.stack([_matrix(*shape, candidates, rng) for _ in range(SLOTS)]) for shape in shapes]
        self.biases = [rng.uniform(-1, 1, (SLOTS, units)) / inputs**0.5 for units, inputs in shapes]

    def __call__(self, latents: FloatArray) -> FloatArray:
        """Render latents (N, 4, 2) into blocks (N, 4, 10)."""
        values = latents
        for layer, bias in zip(self.layers, self.biases, strict=True):
            values = _leaky(np.einsum("koi,nki->nko", layer, values) + bias)
        return values


def simulation(unit: Unit) -> Rows:
    """R2 on random points of both models, by support, size of the training set and steps of training.

    The setting has "sizes" of training sets, each part of the next, "steps", "recorded" (after how many of them R2 is
    taken), "rate", "batch", "candidates" and "seeds"; all supports and sizes of a seed train at once.
    """
    return [row for seed in unit.seeds for row in _of_one_seed(seed, unit)]


def _of_one_seed(seed: int, unit: Unit) -> Rows:
    setting, rng = unit.setting, np.random.default_rng(seed)
    sizes: list[int] = setting["sizes"]
    generator = Generator(setting["candidates"], rng)
    truth = latent_support("random").sample(TEST_POINTS, rng)
    latents = [latent_support(name).sample(max(sizes), rng) for name in SUPPORTS]
    data = [generator(x) for x in latents]
    # Samples (supports x slots, N, ...): a plain reader has one block of forty, a blockwise one four of ten.
    observed = generator(truth)
    plain = _read([_flat(x) for x in data], [_flat(x) for x in latents], _flat(observed)[None], seed, unit)
    apart = _read(
        [x[:, slot] for x in data for slot in range(SLOTS)],
        [x[:, slot] for x in latents for slot in range(SLOTS)],
        np.moveaxis(observed, 1, 0),
        seed,
        unit,
    )
    rows = []
    for index, (name, size) in enumerate((name, size) for name in SUPPORTS for size in sizes):
        for number, steps in enumerate(setting["recorded"]):
            row = {"support": name, "samples": size, "seed": seed, "steps": steps}
            row |= {"plain": _r2(_flat(truth), plain[number, index, 0])}
            blocks = np.concatenate(list(apart[number, index]), axis=1)
            rows.append(row | {"blockwise": _r2(_flat(truth), blocks)})
    return rows


def _flat(arrays: FloatArray) -> FloatArray:
    """All slots of a point in one row: (N, 4, M) -> (N, 4 M)."""
    return arrays.reshape(len(arrays), -1)


def _read(data: list[FloatArray], latents: list[FloatArray], observed: FloatArray, seed: int, unit: Unit) -> FloatArray:
    """Return what networks read off tested points after so many steps: (recorded, supports x sizes, blocks, N, K).

    The blocks of one support follow each other in ``data`` and ``latents``; ``observed`` (blocks, N, M) are the tested
    ones. Networks of different supports and sizes start from the same weights.
    """
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import SGD
    from recombine.lab.papers.first_principles.experiments.readers.latent_reader import LatentReader

    setting, blocks = unit.setting, len(observed)
    sizes: list[int] = setting["sizes"]
    # Networks in a row: (supports, sizes, blocks). A small set is repeated, so that all epochs have the same length.
    order = [
        (support * blocks + block, np.arange(max(sizes)) % size)
        for support in range(len(SUPPORTS))
        for size in sizes
        for block in range(blocks)
    ]
    reader = LatentReader(data[0].shape[1], (READER_UNITS // blocks,), latents[0].shape[1], shown=SLOTS * SLOT_OUTPUTS)
    seeds = [SLOTS * seed + block for _ in SUPPORTS for _ in sizes for block in range(blocks)]
    trained = Ensemble(reader, seeds, device=unit.device).train(
        np.stack([data[index][samples] for index, samples in order]),
        np.stack([latents[index][samples] for index, samples in order]),
        **{"rate": setting["rate"], "steps": setting["steps"], "batch": setting["batch"]},
        **{"optimiser": SGD(momentum=0.9), "record": setting["recorded"], "threads": 1},
        watch=np.tile(observed, (len(order) // blocks, 1, 1)),
    )
    assert trained.watched is not None
    outputs = np.asarray(trained.watched.cpu().numpy(), dtype=float)
    return outputs.reshape(len(outputs), -1, blocks, *outputs.shape[2:])


def _r2(truth: FloatArray, predicted: FloatArray) -> float:
    """Variance explained, averaged over latents."""
    residual, total = ((truth - predicted) ** 2).sum(axis=0), ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    return float(np.mean(1 - residual / total))
