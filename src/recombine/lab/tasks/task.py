"""What every known-truth design returns: cells, which of them are seen, and the right answer for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells, sizes_of
from recombine.errors import InputError
from recombine.writing import listing, plural


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """A design whose truth is known on every cell, seen or not.

    Parameters
    ----------
    name : str
        What the task is called in tables and figures.
    cells : array of int, shape (N, C)
        One row per cell, one column per factor.
    train : array of bool, shape (N,)
        Which cells are seen.
    target : array of float, shape (N,)
        The right answer: a number, or -1 / +1 for a choice between two.
    factors : tuple of str
        Names of the C factors.
    levels : tuple of tuple of str, optional
        What the levels of each factor are called, in the order of their numbers; their numbers by default.
    classes : tuple of str, optional
        What the answers -1 and +1 stand for.

    Notes
    -----
    The arrays are copies of the task's own, so that they may be handed to torch or changed without harm to other tasks.

    Examples
    --------
    >>> task = Task("copy", [[0, 0], [0, 1]], [True, False], [0, 1], ("left", "right"))
    >>> task
    Task('copy': left x right of sizes 1 x 2, 1 seen, 1 unseen)
    >>> task.target[task.test]
    array([1.])

    With names, cells and answers can be read. Which pairs of metals have to be kept apart?

    >>> metals = ("zinc", "gold")
    >>> names = {"levels": (metals, metals), "classes": ("safe", "rusts")}
    >>> rust = Task("rust", [[0, 0], [0, 1]], [True, False], [-1, 1], ("plate", "bolt"), **names)
    >>> rust.said(1)
    'plate zinc, bolt gold: rusts'
    """

    name: str
    cells: IntArray
    train: BoolArray
    target: FloatArray
    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...] = ()
    classes: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        cells = np.array(as_cells(self.cells, factors=len(self.factors)))
        train = np.array(self.train, dtype=bool)
        target = np.array(self.target, dtype=np.float64)
        for label, column in (("train", train), ("target", target)):
            if column.shape != (len(cells),):
                raise InputError(f"{label} has shape {column.shape}; give one entry for each of the {len(cells)} cells")
        levels = tuple(map(tuple, self.levels)) or tuple(tuple(map(str, range(size))) for size in sizes_of(cells))
        if len(levels) != len(self.factors):
            raise InputError(f"levels are of {len(levels)} factors; give those of each of {listing(self.factors)}")
        for factor, names, size in zip(self.factors, levels, sizes_of(cells), strict=True):
            if len(names) < size:
                raise InputError(
                    f"factor {factor!r} has {size} levels and {plural(len(names), 'name')}; name all of them"
                )
        object.__setattr__(self, "levels", levels)
        if self.classes is not None and not set(np.unique(target)) <= {-1.0, 1.0}:
            raise InputError("classes name the answers -1 and +1, but the target has others; leave classes out")
        # Not read-only: torch warns of such arrays whenever they index a tensor.
        for label, array in (("cells", cells), ("train", train), ("target", target)):
            object.__setattr__(self, label, array)

    @property
    def test(self) -> BoolArray:
        """Which cells are unseen, shape (N,)."""
        return ~self.train

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return sizes_of(self.cells)

    def said(self, row: int) -> str:
        """Return a cell and its right answer in words: ``"plate zinc, bolt gold: rusts"``."""
        answer = float(self.target[row])
        word = f"{answer:g}" if self.classes is None else self.classes[int(answer > 0)]
        named = zip(self.factors, self.levels, self.cells[row].tolist(), strict=True)
        return f"{', '.join(f'{factor} {names[level]}'.rstrip() for factor, names, level in named)}: {word}"

    def __repr__(self) -> str:
        sizes = " x ".join(str(size) for size in self.sizes)
        seen = int(self.train.sum())
        return (
            f"Task({self.name!r}: {' x '.join(self.factors)} of sizes {sizes}, "
            f"{seen} seen, {len(self.train) - seen} unseen)"
        )


def chosen_items(items: Sequence[int] | IntArray, name: str, size: int) -> IntArray:
    """Return distinct item numbers, sorted, each below ``size``.

    Examples
    --------
    >>> chosen_items([6, 2], "anchors", 9)
    array([2, 6])
    >>> chosen_items([9], "anchors", 9)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: anchors names item 9; items are numbered 0 to 8
    """
    array = np.asarray(items)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(f"{name} is {items!r}; give a list of at least one whole number")
    outside = array[(array < 0) | (array >= size)]
    if outside.size:
        raise InputError(f"{name} names item {outside[0]}; items are numbered 0 to {size - 1}")
    return np.unique(array).astype(np.int64)
