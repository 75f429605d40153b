"""Which images show the samples of a task: cells become draws of images, one per component (NumPy alone)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.tasks.task import Task
from recombine.lab.worlds.images.sources import Images

#: What a generator is for; its number is part of the seed, so no draw depends on another.
PURPOSES = ("classes", "order", "train", "val_1", "val_2")


@dataclass(frozen=True, eq=False)
class ImageDraws:
    """Which images show the samples of one split.

    Attributes
    ----------
    index : array of int, shape (N, C)
        Rows of the image set, one per component. Of several networks: (E, N, C).
    cells : array of int, shape (N,)
        The row of ``task.cells`` that each sample shows. Of several networks: (E, N).
    """

    index: IntArray
    cells: IntArray

    __repr__ = brief_repr


def draw_images(
    task: Task,
    images: Images,
    seed: int,
    *,
    pool: int,
    total: int,
    per_cell: int = 100,
    classes_in_turn: bool = False,
) -> dict[str, ImageDraws]:
    """Draw one network's samples of every split.

    Each component shows its levels by the first classes of the image set, in a random order of its own. A random
    ``pool`` of each class is for training and "val_1" (new pairings), the other images are for "val_2".

    Parameters
    ----------
    task : Task
    images : Images
    seed : int
        Equal seeds give equal draws, whatever else is drawn.
    pool : int
        Images of each class to train on.
    total : int
        Training samples in all, shared out evenly over the training cells (and rounded down).
    per_cell : int
        Samples of each cell, seen or not, in "val_1" and in "val_2".
    classes_in_turn : bool
        Whether the classes of all components come from one generator, ``default_rng(seed)``, one after the other, as in
        the code of Lippl and Stachenfeld 2025: which class stands for which level is then theirs. Otherwise each
        component has a generator of its own. Everything else is drawn as before.

    Returns
    -------
    dict of ImageDraws
        "train", "val_1" and "val_2".

    Examples
    --------
    >>> from recombine.lab.tasks import symbolic_addition
    >>> digits = Images("blank", np.zeros((100, 1, 8, 8), np.uint8), np.arange(100) % 10, (0.5,), (0.5,))
    >>> draws = draw_images(symbolic_addition(n=9, anchors=[4]), digits, seed=0, pool=7, total=1000, per_cell=3)
    >>> {split: samples.index.shape for split, samples in draws.items()}
    {'train': (986, 2), 'val_1': (243, 2), 'val_2': (243, 2)}
    """
    for name, value in (("pool", pool), ("per_cell", per_cell), ("total", total)):
        whole(value, name, at_least=1)
    whole(seed, "seed", at_least=0)
    seen = np.flatnonzero(task.train)
    each = int(total / max(1, len(seen)))
    if each < 1 or len(seen) == 0:
        raise InputError(f"total is {total} for {len(seen)} training cells; give at least one sample per training cell")
    stock = _Stock.shuffled(images, max(task.sizes), pool, seed)
    orders = class_orders(task.sizes, seed, classes_in_turn)
    shown = np.stack([order[task.cells[:, c]] for c, order in enumerate(orders)], axis=1)
    samples = {"train": np.repeat(seen, each)}
    samples |= dict.fromkeys(("val_1", "val_2"), np.repeat(np.arange(len(task.cells)), per_cell))
    return {
        split: ImageDraws(stock.pick(shown[cells], _generator(split, seed), unused=split == "val_2"), cells)
        for split, cells in samples.items()
    }


def class_orders(sizes: Sequence[int], seed: int, in_turn: bool = False) -> list[IntArray]:
    """Return which class shows each level of each component, one array (levels,) per component.

    Examples
    --------
    >>> generator = np.random.default_rng(3)
    >>> [order.tolist() for order in class_orders((2, 4), seed=3, in_turn=True)]
    [[1, 0], [0, 2, 1, 3]]
    >>> generator.permutation(2).tolist(), generator.permutation(4).tolist()
    ([1, 0], [0, 2, 1, 3])
    """
    if in_turn:
        generator = np.random.default_rng(seed)
        return [generator.permutation(size) for size in sizes]
    return [_generator("classes", seed, component).permutation(size) for component, size in enumerate(sizes)]


def stack_draws(draws: Sequence[ImageDraws]) -> ImageDraws:
    """Put the draws of E networks together: index (E, N, C) and cells (E, N).

    Examples
    --------
    >>> one, other = (ImageDraws(np.full((5, 2), row), np.arange(5)) for row in (3, 8))
    >>> stack_draws([one, other]).index.shape
    (2, 5, 2)
    """
    if not draws:
        raise InputError("there are no draws to stack; give those of at least one network")
    shapes = {samples.index.shape for samples in draws}
    if len(shapes) != 1:
        raise InputError(
            f"draws of shapes {', '.join(map(str, sorted(shapes)))} do not stack; give every network equally many "
            "samples and components (tasks with equally many cells, and one total)"
        )
    return ImageDraws(np.stack([samples.index for samples in draws]), np.stack([samples.cells for samples in draws]))


def _generator(purpose: str, seed: int, stream: int = 0) -> np.random.Generator:
    return np.random.default_rng([PURPOSES.index(purpose), stream, seed])


@dataclass(frozen=True, eq=False)
class _Stock:
    """Images class after class, each class in random order with its training pool first."""

    order: IntArray
    starts: IntArray
    counts: IntArray
    pool: int

    @classmethod
    def shuffled(cls, images: Images, classes: int, pool: int, seed: int) -> _Stock:
        labels = np.unique(images.labels)
        if len(labels) < classes:
            raise InputError(
                f"{images.name} has {len(labels)} classes but a factor has {classes} levels; use a larger image set"
            )
        orders = []
        for index, label in enumerate(labels[:classes]):
            rows = np.flatnonzero(images.labels == label)
            if len(rows) <= pool:
                raise InputError(
                    f"class {label} of {images.name} has {len(rows)} images; a pool of {pool} leaves none for val_2, "
                    f"so give a pool of at most {len(rows) - 1}"
                )
            orders.append(_generator("order", seed, index).permutation(rows))
        counts = np.array([len(rows) for rows in orders])
        return cls(np.concatenate(orders), np.cumsum(counts) - counts, counts, pool)

    def pick(self, classes: IntArray, generator: np.random.Generator, unused: bool) -> IntArray:
        """Return a random row of the image set, in or outside the pool, for each class number (N, C)."""
        first, last = (self.pool, self.counts[classes]) if unused else (0, self.pool)
        picked: IntArray = self.order[self.starts[classes] + generator.integers(first, last, size=classes.shape)]
        return picked
