"""Kernel theory: which training sets are good, told by theory from inputs alone, by leverage, and by trained networks.

A design is 18 of the 81 cells of addition with nine items, each item seen at least once and all of them connected.
Items are 8x8 digits of nine classes, and networks of two hidden layers are trained on images of the seen cells. Torch
is imported when a unit runs.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, fitted_values
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.measures.activations.salience import measured_salience
from recombine.theory.kernels.given_kernels import kernel_of_values
from recombine.theory.kernels.overlap import OverlapKernel

ITEMS, CELLS_SEEN = 9, 18
#: Images of a class to train on and to test on, and those of a cell.
TRAIN_IMAGES, TESTED_IMAGES, TRAINED_PAIRS, TESTED_PAIRS = 100, 60, 30, 10
HIDDEN = (64, 64)


def drawn_task(number: int) -> Task:
    """Draw one training set.

    Examples
    --------
    >>> task = drawn_task(0)
    >>> int(task.train.sum()), sorted(set(task.cells[task.train][:, 0].tolist())) == list(range(9))
    (18, True)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng([56, number])
    cells = tasks.symbolic_addition(anchors=[0]).cells
    while True:
        train = np.zeros(len(cells), dtype=bool)
        train[rng.choice(len(cells), CELLS_SEEN, replace=False)] = True
        anchors, second = cells[train].T
        graph = coo_array((np.ones(CELLS_SEEN), (anchors, ITEMS + second)), shape=(2 * ITEMS, 2 * ITEMS))
        if connected_components(graph, directed=False)[0] == 1:
            break
    return Task("design", cells, train, (cells - (ITEMS - 1) / 2).sum(axis=1), ("first", "second"))


def designs(unit: Unit) -> Rows:
    """Errors of networks on unseen cells of each design, beside what theory and leverage say: one row per network."""
    from recombine.lab.nets.architectures.mlp import MLP
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import Adam

    setting = unit.setting
    draws = {seed: _Images(seed) for seed in unit.seeds}
    theory = OverlapKernel.relu(len(HIDDEN), 2, inputs=_kernel(draws))
    about, data = [], []
    for number in setting["designs"]:
        task = drawn_task(number)
        predicted = float(np.mean((fitted_values(task, theory) - task.target)[task.test] ** 2))
        for seed, draw in draws.items():
            about.append({"design": number, "theory": predicted, "leverage": _leverage(task), "seed": seed})
            data.append([*_samples(task, draw, tested=False), *_samples(task, draw, tested=True)])
    inputs, goals, tested, truth = (np.stack(arrays) for arrays in zip(*data, strict=True))
    # Every network has first weights of its own; all of them train side by side.
    names = [1000 * row["seed"] + row["design"] for row in about]
    trained = Ensemble(MLP(inputs.shape[-1], HIDDEN), names, device=unit.device).train(
        inputs, goals, rate=setting["rate"], steps=setting["steps"], batch=64, optimiser=Adam()
    )
    outputs = trained.outputs(tested)[..., 0].double().cpu().numpy()
    misses = np.mean((outputs - truth) ** 2, axis=1)
    return [
        {**row, "train loss": float(loss), "error": float(miss)}
        for row, loss, miss in zip(about, trained.loss, misses, strict=True)
    ]


def _samples(task: Task, draw: _Images, *, tested: bool) -> tuple[FloatArray, FloatArray]:
    """Return images of the unseen cells to test on, or of the seen ones to train on, and their sums."""
    chosen = task.test if tested else task.train
    inputs = draw.of_cells(task.cells[chosen], tested)
    return inputs, np.repeat(task.target[chosen], len(inputs) // int(chosen.sum()))


class _Images:
    """Images of one seed: which digit stands for which item, and which images are trained and tested on."""

    def __init__(self, seed: int) -> None:
        from sklearn.datasets import load_digits

        self._rng = np.random.default_rng([57, seed])
        digits = load_digits()
        self._pixels = (digits.data - digits.data.mean()) / digits.data.std()
        by_class = [
            self._rng.permutation(np.flatnonzero(digits.target == d)) for d in self._rng.permutation(10)[:ITEMS]
        ]
        self._pools = tuple(
            np.stack([images[chosen] for images in by_class])
            for chosen in (slice(TRAIN_IMAGES), slice(TRAIN_IMAGES, TRAIN_IMAGES + TESTED_IMAGES))
        )

    def of_cells(self, cells: IntArray, tested: bool) -> FloatArray:
        """Draw images for the items of each cell, side by side: (cells x images of each, 128)."""
        pool, count = self._pools[tested], TESTED_PAIRS if tested else TRAINED_PAIRS
        repeated = np.repeat(cells, count, axis=0)
        drawn = pool[repeated, self._rng.integers(pool.shape[1], size=repeated.shape)]
        return np.hstack([self._pixels[drawn[:, slot]] for slot in (0, 1)])


def _kernel(draws: dict[int, _Images]) -> OverlapKernel:
    """Return the kernel of inputs by how many items two cells share, mean over seeds."""
    cells = tasks.symbolic_addition(anchors=[0]).cells
    repeated = np.repeat(cells, TESTED_PAIRS, axis=0)
    kernels = [measured_salience(draw.of_cells(cells, tested=True), repeated).values for draw in draws.values()]
    return kernel_of_values(np.mean(kernels, axis=0))


def _leverage(task: Task) -> float:
    """Return the mean leverage of unseen cells if effects of items add: the error of least squares for noise of one."""
    rows = np.hstack([np.eye(ITEMS)[task.cells[:, slot]] for slot in (0, 1)])
    seen, unseen = rows[task.train], rows[task.test]
    inverse = np.linalg.pinv(seen.T @ seen)
    return float(np.einsum("ij,jk,ik->i", unseen, inverse, unseen).mean())
