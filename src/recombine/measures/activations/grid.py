"""Activations over a factor grid: one vector for every cell of a full product of levels, checked once, read in blocks.

Most of what is measured of such a sheet depends on inner products alone, so `ActivationGrid` keeps their matrix. Hidden
layers have far more features than there are cells: they are read in blocks that fit the cache and never copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_numbers, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Inner products of all pairs of cells are not formed beyond this many (a second for each product).
MAX_GRAM_CELLS = 2500
#: Numbers of one block: a few megabytes.
GRID_BLOCK_ENTRIES = 2**19
#: A median over cells is taken over at most this many of them.
MAX_MEDIAN_CELLS = 101
#: Activations whose largest is beyond this, or below one part of it, have no fourth powers, which measures take.
MAX_ACTIVATION = 1e70
#: What every cell shares: nothing, the mean over cells, or what the median cell has.
BACKGROUNDS = ("none", "mean", "median")


@record
class ActivationGrid:
    """Activations h(z) on every cell z of a grid. Make one with `as_grid`.

    Attributes
    ----------
    values : float array of shape (levels_1, ..., levels_C, D)
    background : {"none", "mean", "median"}
        What is subtracted from each feature before anything else: its mean or its median over cells.

    Examples
    --------
    >>> grid = as_grid(np.eye(4).reshape(2, 2, 4))
    >>> grid.levels, grid.features, grid.gram.tolist() == np.eye(4).tolist()
    ((2, 2), 4, True)
    """

    values: npt.NDArray[np.floating]
    background: str = "none"

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return self.values.shape[:-1]

    @property
    def factors(self) -> int:
        """Number of factors C."""
        return len(self.levels)

    @property
    def count(self) -> int:
        """Number of cells P."""
        return product_size(self.levels)

    @property
    def features(self) -> int:
        """Number of features D."""
        return int(self.values.shape[-1])

    @cached_property
    def cells(self) -> IntArray:
        """The cells (P, C) in the order in which ``values.reshape(P, D)`` has them."""
        return every_cell(self.levels)

    def raw_blocks(self) -> Iterator[FloatArray]:
        """Yield blocks (P, some features) of the activations as they are: for measures that no constant changes."""
        flat = self.values.reshape(self.count, self.features)
        width = max(GRID_BLOCK_ENTRIES // self.count, 8)
        for start in range(0, self.features, width):
            yield np.array(flat[:, start : start + width], dtype=np.float64, order="C")

    def blocks(self) -> Iterator[FloatArray]:
        """Yield blocks (P, some features) of the activations without their background."""
        for block in self.raw_blocks():
            if self.background == "mean":
                block -= block.mean(axis=0)
            elif self.background == "median":
                block -= np.median(block[self._sample], axis=0)
            yield block

    @cached_property
    def _sample(self) -> IntArray:
        """Cells that the median is taken over: all, or so many at random that it is as good and ten times faster."""
        if self.count <= MAX_MEDIAN_CELLS:
            return np.arange(self.count)
        return np.random.default_rng(0).choice(self.count, MAX_MEDIAN_CELLS, replace=False)

    @cached_property
    def _products(self) -> tuple[FloatArray, FloatArray]:
        """Inner products (P, P) and the sum of each cell's features (P,)."""
        from scipy.linalg.blas import dsyrk

        if self.count > MAX_GRAM_CELLS:
            raise InputError(
                f"{self.count:,} cells are too many to compare all pairs of them (at most {MAX_GRAM_CELLS:,}); "
                "keep every second level of the longest factors"
            )
        upper, sums = np.zeros((self.count, self.count), order="F"), np.zeros(self.count)
        for block in self.blocks():
            upper = dsyrk(1.0, block.T, beta=1.0, c=upper, trans=1, overwrite_c=True)
            sums += block.sum(axis=1)
        gram = np.triu(upper)
        return gram + np.triu(gram, 1).T, sums

    @property
    def gram(self) -> FloatArray:
        """Inner products K(z, z') = <h(z), h(z')> of all pairs of cells, (P, P)."""
        return self._products[0]

    @cached_property
    def covariance(self) -> FloatArray:
        """Inner products (P, P) after the mean over features is taken from each cell: what correlations are made of."""
        gram, sums = self._products
        return gram - np.outer(sums, sums) / self.features


def as_grid(activations: object, background: str | None = None, name: str = "activations") -> ActivationGrid:
    """Return activations (levels_1, ..., levels_C, D) as a grid, or say what is wrong with them.

    Parameters
    ----------
    activations : array, tensor or ActivationGrid
        A grid is handed back as it is, with the inner products it has already computed.
    background : {"none", "mean", "median"}, optional
        "none" if not given. A constant that all cells share (a white page, a bias) hides how kernels factorise and how
        outputs overlap; the median, over at most 101 cells, takes it away and leaves sparse activations as they are.

    Examples
    --------
    >>> as_grid(np.zeros((3, 1, 5)))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: activations have shape (3, 1, 5): factor 1 has one level only; give at least two levels
    """
    if isinstance(activations, ActivationGrid):
        if background in (None, activations.background):
            return activations
        activations = activations.values
    if background not in (None, *BACKGROUNDS):
        hint = near_miss(background, BACKGROUNDS)
        raise InputError(f"background {background!r} is not one of {listing(BACKGROUNDS)};{hint}")
    values = as_numbers(activations, name)
    if values.ndim < 2:
        raise InputError(f"{name} have shape {values.shape}; give one axis per factor and a last axis of features")
    if values.size == 0:
        raise InputError(f"{name} have shape {values.shape}, which holds no numbers; give at least one feature")
    short = [factor for factor, size in enumerate(values.shape[:-1]) if size < 2]
    if short:
        raise InputError(
            f"{name} have shape {values.shape}: factor {short[0]} has one level only; give at least two levels"
        )
    _refuse_infinite(values, name)
    return ActivationGrid(values, background or "none")


def as_seen(seen: npt.ArrayLike, levels: Sequence[int], *, both: bool = True) -> BoolArray:
    """Return which cells were trained on as a mask of shape ``levels``, or say what is wrong with it.

    With ``both`` there must be seen and unseen cells.

    Examples
    --------
    >>> as_seen([[1, 1], [1, 0]], (2, 2)).sum()
    np.int64(3)
    >>> as_seen([True, False], (2, 2))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: seen has shape (2,), but the grid has levels (2, 2); give one True/False per cell
    """
    mask = np.asarray(seen)
    if mask.shape != tuple(levels):
        raise InputError(
            f"seen has shape {mask.shape}, but the grid has levels {tuple(levels)}; give one True/False per cell"
        )
    if mask.dtype != np.bool_:
        if mask.dtype.kind not in "iuf" or not np.isin(mask, (0, 1)).all():
            raise InputError("seen must hold True and False (or 1 and 0): whether each cell was trained on")
        mask = mask.astype(bool)
    if not mask.any():
        raise InputError("no cell is marked as seen; mark with True the cells that were trained on")
    if both and mask.all():
        raise InputError("every cell is marked as seen; mark with False those that were held out, or leave seen out")
    return mask


def shared_factors(cells: IntArray) -> IntArray:
    """Return on how many factors each pair of ``cells`` (P, C) agrees, (P, P)."""
    total: IntArray = np.zeros((len(cells), len(cells)), dtype=np.int64)
    for column in cells.T:
        total += column[:, None] == column
    return total


def _refuse_infinite(values: npt.NDArray[Any], name: str) -> None:
    largest = max(float(values.max()), -float(values.min()))
    if np.isfinite(largest):
        if largest and not 1 / MAX_ACTIVATION <= largest <= MAX_ACTIVATION:
            raise InputError(
                f"{name} reach {largest:.3g}, so that powers of them overflow or vanish; rescale them: the largest may "
                f"be from {1 / MAX_ACTIVATION:g} to {MAX_ACTIVATION:g}"
            )
        return
    wrong = ~np.isfinite(values)
    index = tuple(np.argwhere(wrong)[0].tolist())
    raise InputError(
        f"{name} hold {np.count_nonzero(wrong):,} values that are not finite, the first ({values[index]}) at {index}; "
        "drop those cells or features first"
    )
