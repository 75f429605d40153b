"""Main effects, pairs and triples of factors as sparse columns, coded as departures from each factor's commonest level.

A row of a wide table (a protein with two mutations, a pool with three genes) sits at the commonest level of nearly
every factor. Coded as departures, it has one entry per departure, and one per pair and triple of departures, however
many factors there are. At order 1, a factor without a commonest level (none in at least half of the cells) has a column
for each of its levels: shrinkage makes that harmless and treats all levels alike. At higher orders every factor has a
reference, for columns that add up to others cost time (67 s against 2 s for triples of nine positions) and no accuracy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import MAX_ID, Subset
from recombine.checks import reals, whole
from recombine.errors import InputError
from recombine.theory.structures.work import spend

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Share of the cells from which on a factor's commonest level is what the others depart from.
COMMON_SHARE = 0.5
#: Cells, evenly spaced, in which the commonest level is looked for: any level may be the one others depart from.
CELLS_LOOKED_AT = 50_000
#: Entries of the design matrix past which an order is refused: 12 bytes each, 3 GB.
MAX_ENTRIES_OF_TERMS = 250_000_000
#: Nanoseconds on a laptop for each of them to be listed.
NANOSECONDS_PER_ENTRY_OF_TERMS = 100.0

#: Rows (n,), and the numbers (n, m) of the levels in which they depart, for each count m of departures.
Departures = list[tuple[IntArray, IntArray]]


@record
class Terms:
    """The columns of a design: every departure, and every conjunction of departures, that occurs in the seen cells."""

    sizes: tuple[int, ...]
    order: int  #: Factors in the largest conjunctions: 1 main effects, 2 pairs, 3 triples.
    reference: IntArray  #: (C,): the level each factor's others depart from; -1 for none.
    symmetric: tuple[Subset, ...]
    keys: IntArray  #: (P,): number of each column's conjunction, increasing.
    size: IntArray  #: (P,): factors in each column's conjunction.

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.keys)

    def matrix(self, cells: npt.ArrayLike) -> csr_array:
        """Return the design of ``cells`` (N, C) as a sparse matrix (N, P); what was never seen has no entry.

        Examples
        --------
        >>> terms = terms_of([[0, 0], [0, 0], [0, 1], [1, 0]], order=2)
        >>> terms.matrix([[0, 0], [1, 0], [1, 1]]).toarray()
        array([[0., 0.],
               [1., 0.],
               [1., 1.]])
        """
        codes = as_cells(cells, factors=len(self.sizes))
        return _entries(self, len(codes), _departures(self, codes))


def terms_of(cells: npt.ArrayLike, order: int = 1, *, symmetric: Sequence[Subset] = ()) -> Terms:
    """Return the terms of the seen ``cells`` (N, C) up to conjunctions of ``order`` factors.

    Examples
    --------
    >>> wide = np.zeros((100, 40), dtype=int)
    >>> wide[range(100), [row % 40 for row in range(100)]] = 1
    >>> terms = terms_of(wide)
    >>> terms.columns, terms.matrix(wide).nnz
    (40, 100)
    """
    return _seen_terms(as_cells(cells), order, symmetric)[0]


def design_of(codes: IntArray, order: int, symmetric: Sequence[Subset]) -> tuple[Terms, csr_array]:
    """Return the terms of the seen cells (N, C) and their design (N, P), in one pass."""
    terms, departures = _seen_terms(codes, order, symmetric)
    return terms, _entries(terms, len(codes), departures)


def _seen_terms(codes: IntArray, order: int, symmetric: Sequence[Subset]) -> tuple[Terms, Departures]:
    if not len(codes):
        raise InputError("there are no seen cells; give at least one row")
    sizes = (codes.max(axis=0) + 1).tolist()
    for group in symmetric:
        largest = max(sizes[factor] for factor in group)
        sizes = [largest if factor in group else size for factor, size in enumerate(sizes)]
    depth = whole(order, "order", at_most=codes.shape[1])
    base = sum(sizes) + 2
    if base**depth > MAX_ID:
        raise InputError(f"{sum(sizes)} levels have too many conjunctions of {depth} factors; lower the order")
    levels = _commonest(codes, sizes, symmetric, depth)
    bare = Terms(tuple(sizes), depth, levels, tuple(symmetric), np.zeros(0, np.int64), np.zeros(0, np.int64))
    departures = _departures(bare, codes)
    _affordable(depth, departures)
    keys = np.unique(np.concatenate([_once(keys) for _, keys in _conjunctions(bare, departures)] or [bare.keys]))
    size = sum(((keys >= base**power).astype(np.int64) for power in range(depth)), np.zeros(len(keys), np.int64))
    return replace(bare, keys=keys, size=size), departures


def _once(keys: IntArray) -> IntArray:
    """Return the distinct numbers among ``keys``, by marking them where they are small."""
    top = int(keys.max(initial=0))
    if top < 4 * len(keys):
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)


def _commonest(cells: IntArray, sizes: Sequence[int], symmetric: Sequence[Subset], order: int) -> IntArray:
    """Return the commonest level of each factor; at order 1, -1 where less than a COMMON_SHARE of the cells has it."""
    some = cells[:: max(1, len(cells) // CELLS_LOOKED_AT)]
    counts = [np.bincount(some[:, factor], minlength=size).astype(float) for factor, size in enumerate(sizes)]
    for group in symmetric:
        pooled = sum((counts[factor] for factor in group), np.zeros(sizes[group[0]])) / len(group)
        for factor in group:
            counts[factor] = pooled
    levels = np.array([int(count.argmax()) for count in counts], dtype=np.int64)
    common = np.array([count.max() >= COMMON_SHARE * len(some) for count in counts])
    return np.where(common | (order > 1), levels, -1)


def _offsets(terms: Terms) -> IntArray:
    """Return where the numbers of each factor's levels begin, (C,); symmetric factors share theirs."""
    starts = np.concatenate([[1], 1 + np.cumsum(terms.sizes)[:-1]]).astype(np.int64)
    for group in terms.symmetric:
        starts[list(group)] = starts[min(group)]
    return starts


def _departures(terms: Terms, codes: IntArray) -> Departures:
    """Return rows (n,) and the numbers (n, m) of their departures, for each count m of departures."""
    rows, factors = np.nonzero(codes != terms.reference)
    levels, sizes = codes[rows, factors], np.array(terms.sizes)
    # A level that no factor is known to have has the one number that no known level has.
    numbers = np.where(levels < sizes[factors], _offsets(terms)[factors] + levels, sizes.sum() + 1)
    counts = np.bincount(rows, minlength=len(codes))
    ends = np.cumsum(counts)
    departures = []
    # Rows with equally many departures make one rectangular array, so that conjunctions are taken column by column.
    for number in np.flatnonzero(np.bincount(counts)):
        chosen = np.flatnonzero(counts == number)
        if number and len(chosen) == len(codes):
            members = numbers.reshape(-1, number)
        else:
            members = numbers[(ends[chosen] - number)[:, None] + np.arange(number)]
        departures.append((chosen, np.sort(members, axis=1) if terms.symmetric else members))
    return departures


def _conjunctions(terms: Terms, departures: Departures) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows (n,) and the numbers (n,) of their conjunctions, one choice of departures after another."""
    base = sum(terms.sizes) + 2
    for rows, members in departures:
        for depth in range(1, min(terms.order, members.shape[1]) + 1):
            for chosen in itertools.combinations(range(members.shape[1]), depth):
                keys = members[:, chosen[0]]
                for position in chosen[1:]:
                    keys = keys * base + members[:, position]
                yield rows, keys


def _entries(terms: Terms, cells: int, departures: Departures) -> csr_array:
    from scipy.sparse import coo_array

    none = np.zeros(0, np.int64)
    entries = [_matched(terms.keys, rows, keys) for rows, keys in _conjunctions(terms, departures)] or [(none, none)]
    rows, columns = (np.concatenate(indices) for indices in zip(*entries, strict=True))
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=(cells, terms.columns)).tocsr()


def _matched(columns: IntArray, rows: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the entries, without conjunctions that have no column."""
    if not len(columns):
        return rows[:0], keys[:0]
    if columns[-1] < 4 * len(columns) + 1_000_000:  # a table is read faster than a sorted list is searched
        table = np.full(columns[-1] + 2, -1, dtype=np.int64)
        table[columns] = np.arange(len(columns))
        column = table[np.minimum(keys, columns[-1] + 1)]
        matched = column >= 0
    else:
        column = np.minimum(np.searchsorted(columns, keys), len(columns) - 1)
        matched = columns[column] == keys
    return rows[matched], column[matched]


def _affordable(order: int, departures: Departures) -> None:
    entries = sum(
        len(rows) * sum(math.comb(members.shape[1], depth) for depth in range(1, order + 1))
        for rows, members in departures
    )
    if entries > MAX_ENTRIES_OF_TERMS:
        raise InputError(
            f"conjunctions of {order} factors have {entries:,} entries in the seen cells; "
            f"at most {MAX_ENTRIES_OF_TERMS:,} fit: lower the order or merge factors"
        )
    spend(NANOSECONDS_PER_ENTRY_OF_TERMS * entries)


def scaled_rows(design: csr_array, weights: FloatArray) -> csr_array:
    """Multiply the rows of a sparse matrix (N, P) with ``weights`` (N,)."""
    from scipy.sparse import csr_array

    entries = design.data * np.repeat(weights, np.diff(design.indptr))
    return csr_array((entries, design.indices, design.indptr), shape=design.shape)


def as_outcomes(y: npt.ArrayLike, weights: npt.ArrayLike | None, cells: int) -> tuple[FloatArray, FloatArray]:
    """Return outcomes (N,) and weights (N,), ones where none are given, or say what is wrong with them.

    Examples
    --------
    >>> as_outcomes([1.0, 2.0], [1.0, 0.0], 2)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: weights[1] is 0; give positive numbers, one for each of 2 cells
    """
    values = reals(y, "y")
    if values.shape != (cells,):
        raise InputError(f"y has shape {values.shape} but there are {cells} cells; give one value per cell")
    counted = np.ones(cells) if weights is None else reals(weights, "weights")
    if counted.shape != (cells,):
        raise InputError(f"weights have shape {counted.shape} but there are {cells} cells; give one per cell")
    if not np.all(counted > 0):
        row = int(np.flatnonzero(counted <= 0)[0])
        raise InputError(f"weights[{row}] is {counted[row]:g}; give positive numbers, one for each of {cells} cells")
    return values, counted / counted.mean()
