"""Cells that say as much as all: the basis that taking cells in some order leaves, whose other cells all follow.

Cells are vectors (their rows of conjunctions), so that sets of independent cells are a matroid: keeping, in any order,
each cell that the earlier kept ones do not determine gives a basis, and the one with the fewest rows if cells come by
ascending rows. Every cell outside a basis is determined by it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.theory.identification.level_graph import is_graph

#: The field of the arithmetic here: products stay inside 64 bits. What is built on it is verified by `identify`.
MODULUS = np.uint64(2**31 - 1)
#: Columns, less those of the largest block, up to which a basis is looked for: about five seconds.
MAX_COLUMNS_REDUCED = 2_000


def spanning_cells(features: Conjunctions, cells: IntArray, first: IntArray, seed: int = 0) -> IntArray | None:
    """Return the places of a basis of distinct ``cells`` (M, C), taken in the order ``first`` (M,) of their places.

    None where there are too many columns to look for one.
    """
    if is_graph(features) and not features.symmetric:
        return _by_forest(features, cells, first)
    ids = features.ids(cells[first])
    heads, plus, minus = _off_block(features, ids)
    others = np.unique(plus if minus is None else np.concatenate([plus, minus]))
    if len(others) > MAX_COLUMNS_REDUCED:
        return None
    places = np.flatnonzero(~heads)
    less = None if minus is None else np.searchsorted(others, minus)
    independent = _independent(np.searchsorted(others, plus), less, len(others), seed)
    return np.sort(np.concatenate([first[heads], first[places[independent]]]))


def _by_forest(features: Conjunctions, cells: IntArray, first: IntArray) -> IntArray:
    """Two factors: the lightest spanning forest of the graph of levels."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    ends = features.ids(cells[first]).T.astype(np.int32)  # SciPy before 1.15 takes no longer numbers here
    shape = (features.columns, features.columns)
    graph = csr_array((np.arange(1.0, len(first) + 1), tuple(ends)), shape=shape)
    tree_edges = minimum_spanning_tree(graph).data.astype(np.int64) - 1
    return np.sort(first[tree_edges])


def _off_block(features: Conjunctions, ids: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray, IntArray | None]:
    """Take the largest block of columns off rows ``ids`` (M, S): the first row of each of its columns is independent.

    Returns which rows are such heads (M,), and of the others the remaining columns, less those of their heads.
    """
    starts = np.array([columns.start for columns in features.blocks.values()])
    block = np.searchsorted(starts, ids[0], side="right")
    alone = [slot for slot in range(ids.shape[1]) if (block == block[slot]).sum() == 1]
    if not alone:
        return np.zeros(len(ids), dtype=bool), ids, None
    uniques = {slot: np.unique(ids[:, slot], return_index=True, return_inverse=True) for slot in alone}
    slot = max(alone, key=lambda candidate: len(uniques[candidate][0]))
    _, head, where = uniques[slot]
    heads = np.zeros(len(ids), dtype=bool)
    heads[head] = True
    others = np.delete(ids, slot, axis=1)
    return heads, others[~heads], others[head[where.reshape(-1)[~heads]]]


def _independent(plus: IntArray, minus: IntArray | None, columns: int, seed: int) -> IntArray:
    """Return which rows, in order, are independent of the earlier ones; rows are units ``plus`` less units ``minus``.

    Rows that were kept are held in reduced form, and a random vector that vanishes on them tells which row is next.
    """
    probe = np.random.default_rng(seed).integers(1, int(MODULUS), size=columns).astype(np.uint64)
    reduced = np.zeros((min(len(plus), columns), columns), dtype=np.uint64)
    pivots: list[int] = []
    independent: list[int] = []
    start, chunk = 0, 64
    while start < len(plus) and len(pivots) < len(reduced):
        stop = min(start + chunk, len(plus))
        values = _sums(probe, plus[start:stop], None if minus is None else minus[start:stop])
        hits = np.flatnonzero(values)
        if not len(hits):
            start, chunk = stop, min(2 * chunk, 65_536)
            continue
        number = start + int(hits[0])
        row = _unit_row(columns, plus[number], None if minus is None else minus[number])
        row = _reduce(row, reduced, pivots)
        pivot = int(np.flatnonzero(row)[0])
        _add(reduced, pivots, row, pivot, probe)
        independent.append(number)
        start, chunk = number + 1, max(64, min(chunk, 4 * int(hits[0]) + 64))
    return np.array(independent, dtype=np.int64)


def _sums(probe: npt.NDArray[np.uint64], plus: IntArray, minus: IntArray | None) -> npt.NDArray[np.uint64]:
    total: npt.NDArray[np.uint64] = probe[plus].sum(axis=1) % MODULUS
    return total if minus is None else (total + MODULUS - probe[minus].sum(axis=1) % MODULUS) % MODULUS


def _unit_row(width: int, plus: IntArray, minus: IntArray | None) -> npt.NDArray[np.uint64]:
    row = np.zeros(width, dtype=np.int64)
    np.add.at(row, plus, 1)
    if minus is not None:
        np.subtract.at(row, minus, 1)
    return np.asarray(row % int(MODULUS), dtype=np.uint64)


def _reduce(row: npt.NDArray[np.uint64], reduced: npt.NDArray[np.uint64], pivots: list[int]) -> npt.NDArray[np.uint64]:
    """Take multiples of the kept rows off, so that the row is zero at their pivots."""
    if not pivots:
        return row
    weights = row[pivots]
    for position in np.flatnonzero(weights):
        row = (row + (MODULUS - weights[position]) * reduced[position]) % MODULUS
    return row


def _add(
    reduced: npt.NDArray[np.uint64],
    pivots: list[int],
    row: npt.NDArray[np.uint64],
    pivot: int,
    probe: npt.NDArray[np.uint64],
) -> None:
    """Add a row, with a one at its pivot, to the reduced ones, and let the probe vanish on it; in place."""
    row = row * np.uint64(pow(int(row[pivot]), -1, int(MODULUS))) % MODULUS
    value = int((row * probe % MODULUS).sum() % MODULUS)
    # The null vector of the old rows that is one at the new pivot and zero at the other free columns.
    probe[pivot] = (int(probe[pivot]) - value) % int(MODULUS)
    if pivots:
        column = reduced[: len(pivots), pivot].copy()
        probe[pivots] = (probe[pivots] + column * np.uint64(value)) % MODULUS
        touched = np.flatnonzero(column)
        reduced[touched] = (reduced[touched] + (MODULUS - column[touched])[:, None] * row) % MODULUS
    reduced[len(pivots)] = row
    pivots.append(pivot)
