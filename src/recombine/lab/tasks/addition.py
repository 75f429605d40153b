"""Adding two symbols: every item has a value, the answer is the sum of two of them; shows the memorization leak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.conjunctions import every_cell
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.tasks.task import Task, chosen_items

FACTORS = ("first", "second")


def symbolic_addition(
    n: int | None = None,
    anchors: Sequence[int] = (4,),
    values: npt.ArrayLike | None = None,
    anchors2: Sequence[int] | None = None,
    values2: npt.ArrayLike | None = None,
) -> Task:
    """Add two items after seeing only the pairs that contain an anchor item.

    Parameters
    ----------
    n : int, optional
        Number of items; 9 unless ``values`` says otherwise.
    anchors : sequence of int
        Items of the first slot that are seen with every partner: ``[4]`` asks for extrapolation, ``[0, 8]`` for
        interpolation, ``[2, 6]`` for both, ``[0]`` is the asymmetric set.
    values : array, shape (n,), optional
        What each item is worth; whole numbers centred on zero by default (-4..4 for nine items).
    anchors2, values2 : optional
        The same for the second slot; equal to the first slot's by default.

    Returns
    -------
    Task
        Cells (n * n2, 2); seen where the first item is in ``anchors`` or the second in ``anchors2``.

    Examples
    --------
    >>> symbolic_addition(anchors=[4])
    Task('symbolic addition': first x second of sizes 9 x 9, 17 seen, 64 unseen)
    >>> symbolic_addition(values=[0, 1, 10], anchors=[0]).target
    array([ 0.,  1., 10.,  1.,  2., 11., 10., 11., 20.])
    """
    values_first = _values(values, n, "values")
    values_second = values_first if values2 is None else _values(values2, None, "values2")
    anchors_first = chosen_items(anchors, "anchors", len(values_first))
    if anchors2 is not None:
        anchors_second = chosen_items(anchors2, "anchors2", len(values_second))
    else:
        anchors_second = chosen_items(anchors_first, "anchors", len(values_second))
    cells = every_cell((len(values_first), len(values_second)))
    train = np.isin(cells[:, 0], anchors_first) | np.isin(cells[:, 1], anchors_second)
    return Task("symbolic addition", cells, train, values_first[cells[:, 0]] + values_second[cells[:, 1]], FACTORS)


def dispersed_addition(n: int = 9, per_row: int = 2, seed: int = 1) -> Task:
    """Add two items after seeing each item with only ``per_row`` partners, spread over a shuffled band.

    Row i of a band matrix has ones in columns i..i+per_row-1 (mod n); the rows are then shuffled with
    ``numpy.random.default_rng(seed)``, which reproduces the published sets.

    Parameters
    ----------
    n : int
        Number of items in each slot; item i is worth i - (n - 1) / 2.
    per_row : int
        How many partners each item is seen with, from 1 to n.
    seed : int
        Seed of the shuffle.

    Examples
    --------
    >>> task = dispersed_addition(seed=1)
    >>> task
    Task('dispersed addition': first x second of sizes 9 x 9, 18 seen, 63 unseen)
    >>> task.cells[task.train][:4].tolist()
    [[0, 7], [0, 8], [1, 0], [1, 1]]
    """
    size = whole(n, "n", at_least=2)
    band = _band(size, whole(per_row, "per_row", at_least=1, at_most=size))
    np.random.default_rng(whole(seed, "seed", at_least=0)).shuffle(band)
    values = _values(None, size, "values")
    cells = every_cell((size, size))
    return Task("dispersed addition", cells, band.reshape(-1), values[cells].sum(axis=1), FACTORS)


def _band(n: int, width: int) -> BoolArray:
    offset = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
    return offset < width


def _values(values: npt.ArrayLike | None, n: int | None, name: str) -> FloatArray:
    """Return item values, shape (n,): the given ones, or n whole-number steps centred on zero."""
    if values is None:
        size = whole(9 if n is None else n, "n", at_least=2)
        return np.arange(size, dtype=np.float64) - (size - 1) / 2
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2 or not np.all(np.isfinite(array)):
        raise InputError(f"{name} must be a list of at least two finite numbers; got shape {array.shape}")
    if n is not None and len(array) != n:
        raise InputError(f"{name} has {len(array)} entries but n is {n}; give one value per item or leave n out")
    return array
