"""Subsets of factors, their ids and their incidence: where cells become linear algebra.

A conjunction is a subset J of the factors together with their levels. The additive model of order k is
f(z) = sum over subsets J of size k of f_J(z_J) (smaller subsets are sums of these, so they add nothing). Each cell then
is a row with one unit entry per subset, and everything else (ranks, null spaces, leverage, kernels) works on these rows
through integer ids: gather to multiply. The full matrix is never needed.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Ids are int64; past this product they would wrap around.
MAX_ID = 2**62

#: Up to this many columns there are tables with an entry for each.
MAX_TABLED_COLUMNS = 2**25
#: Cells of the product for each row, up to which rows are told apart by marking them instead of sorting them.
MAX_CELLS_PER_ROW = 32

Subset = tuple[int, ...]


def subsets(factors: int, order: int) -> list[Subset]:
    """Return the subsets of ``range(factors)`` of size ``order``, in lexicographic order.

    Examples
    --------
    >>> subsets(3, 2)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(itertools.combinations(range(factors), order))


def mixed_radix(levels: IntArray, sizes: Sequence[int]) -> IntArray:
    """Number the rows of ``levels`` (N, J) in the product of ``sizes``, last column fastest."""
    if product_size(sizes) > MAX_ID:
        raise InputError(
            f"the product of {list(sizes)} levels has more than 2**62 conjunctions, too many to number; "
            "lower the order or merge levels"
        )
    ids = np.zeros(len(levels), dtype=np.int64)
    for column, size in enumerate(sizes):
        ids = ids * size + levels[:, column]
    return ids


def distinct(cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of ``cells`` (N, C), sorted, and for each row the position of its distinct row.

    Works for products of any size, unlike a mixed-radix id.

    Examples
    --------
    >>> rows, where = distinct(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> rows.tolist(), where.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1])
    """
    sizes = tuple(cells.max(axis=0) + 1) if len(cells) else (1,) * cells.shape[1]
    if product_size(sizes) <= min(MAX_TABLED_COLUMNS, MAX_CELLS_PER_ROW * max(len(cells), 1)):
        ids = mixed_radix(cells, sizes)
        occurs = np.zeros(product_size(sizes), dtype=bool)
        occurs[ids] = True
        rows = np.stack(np.unravel_index(np.flatnonzero(occurs), sizes), axis=1).astype(cells.dtype)
        return rows, (np.cumsum(occurs) - 1)[ids]
    words = _words(cells, sizes)
    if _ascending(words):
        return cells, np.arange(len(cells))
    first, inverse = _ranked(words)
    # Wide cells are gone through factor by factor, which is several times faster if those lie together.
    rows = np.empty((len(first), cells.shape[1]), dtype=cells.dtype, order="F")
    for column in range(cells.shape[1]):
        rows[:, column] = cells[first, column]
    return rows, inverse


def _words(cells: IntArray, sizes: Sequence[int]) -> list[IntArray]:
    """Number the rows of ``cells`` (N, C) by as many numbers (N,) as it takes where one would be too large."""
    words, start = [], 0
    while start < len(sizes):
        stop = start + 1
        while stop < len(sizes) and product_size(sizes[start : stop + 1]) <= MAX_ID:
            stop += 1
        words.append(mixed_radix(cells[:, start:stop], sizes[start:stop]))
        start = stop
    return words


def _ascending(words: Sequence[IntArray]) -> bool:
    """Say whether rows are distinct and in order already, by their ``words`` (N,) each."""
    rises = np.zeros(len(words[0]) - 1, dtype=bool)
    for word in reversed(words):
        step = np.diff(word)
        rises = (step > 0) | ((step == 0) & rises)
    return bool(rises.all())


def _ranked(words: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return a row of each value by their ``words`` (N,) each, in order, and the number of every row's value (N,)."""
    order = np.lexsort(words[::-1])
    steps = np.zeros(len(order), dtype=bool)
    for word in words:
        steps[1:] |= np.diff(word[order]) != 0
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(steps)
    steps[:1] = True
    return order[steps], inverse


def sparse_rows(ids: IntArray, columns: int, entries: FloatArray | None = None) -> csr_array:
    """Return the sparse matrix (N, ``columns``) with ``entries`` (N, S) in columns ``ids`` (N, S), 1 by default.

    Examples
    --------
    >>> sparse_rows(np.array([[0, 2], [1, 2]]), 3).toarray().tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    from scipy.sparse import csr_array

    data = np.ones(ids.size) if entries is None else entries.reshape(-1)
    return csr_array((data, ids.reshape(-1), np.arange(0, ids.size + 1, ids.shape[1])), shape=(len(ids), columns))


def contains(pool: IntArray, cells: IntArray) -> npt.NDArray[np.bool_]:
    """Say for each of ``cells`` (N, C) whether it is a row of ``pool`` (M, C).

    Examples
    --------
    >>> contains(np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]])).tolist()
    [True, False]
    """
    sizes = tuple(np.vstack([table.max(axis=0) for table in (pool, cells) if len(table)] or [[0]]).max(axis=0) + 1)
    if not len(pool) or not len(cells):
        return np.zeros(len(cells), dtype=bool)
    if product_size(sizes) > MAX_ID:
        words = zip(_words(pool, sizes), _words(cells, sizes), strict=True)
        _, inverse = _ranked([np.concatenate(pair) for pair in words])
        return np.isin(inverse[len(pool) :], inverse[: len(pool)])
    # Only the cells asked for are sorted; each of the pool is looked up among them.
    distinct_ids, inverse = np.unique(mixed_radix(cells, sizes), return_inverse=True)
    ids = mixed_radix(pool, sizes)
    index = np.minimum(np.searchsorted(distinct_ids, ids), len(distinct_ids) - 1)
    present = np.zeros(len(distinct_ids), dtype=bool)
    present[index[distinct_ids[index] == ids]] = True
    return present[inverse.reshape(-1)]


def places_among(pool: IntArray, cells: IntArray) -> IntArray:
    """Return the place in ``pool`` (M, C) of each of ``cells`` (N, C), of equal rows the last; -1 where it has none.

    Examples
    --------
    >>> places_among(np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]])).tolist()
    [1, -1]
    """
    together, index = distinct(np.vstack([pool, cells]))
    places = np.full(len(together), -1)
    places[index[: len(pool)]] = np.arange(len(pool))
    return places[index[len(pool) :]]


def every_cell(sizes: Sequence[int]) -> IntArray:
    """Return all cells of the product, shape (N, C), last factor fastest. For small products only.

    Examples
    --------
    >>> every_cell((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices(sizes).reshape(len(sizes), -1).T.astype(np.int64)


def canonical(cells: IntArray, symmetric: Sequence[Subset]) -> IntArray:
    """Sort the levels inside each group of symmetric factors, so that (a, b) and (b, a) are one cell.

    Examples
    --------
    >>> canonical(np.array([[2, 1, 0]]), [(0, 1)]).tolist()
    [[1, 2, 0]]
    """
    if not symmetric:
        return cells
    result = cells.copy()
    for group in map(sorted, symmetric):
        result[:, group] = np.sort(cells[:, group], axis=1)
    return result


def column_orders(factors: int, symmetric: Sequence[Subset]) -> Iterator[list[int]]:
    """Yield the order of the columns for every order of the factors inside each symmetric group.

    Examples
    --------
    >>> list(column_orders(3, [(0, 2)]))
    [[0, 1, 2], [2, 1, 0]]
    """
    for choice in itertools.product(*map(itertools.permutations, symmetric)):
        order = list(range(factors))
        for group, arranged in zip(symmetric, choice, strict=True):
            for position, factor in zip(group, arranged, strict=True):
                order[position] = factor
        yield order


def every_arrangement(cells: IntArray, symmetric: Sequence[Subset]) -> IntArray:
    """Show the levels of symmetric factors in every order, as a network trained on unordered pairs sees them.

    Examples
    --------
    >>> every_arrangement(np.array([[2, 1, 0]]), [(0, 1)]).tolist()
    [[1, 2, 0], [2, 1, 0]]
    """
    if not symmetric:
        return cells
    return distinct(np.vstack([cells[:, order] for order in column_orders(cells.shape[1], symmetric)]))[0]


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """The features of the additive model of one order: one block of columns per subset of factors.

    Parameters
    ----------
    sizes : tuple of int
        Number of levels of each factor.
    order : int
        Size of the subsets, from 1 to the number of factors.
    symmetric : tuple of tuple of int
        Groups of interchangeable factors (gene A, gene B). They share their levels and their columns, so a cell's row
        counts how often each level occurs.
    following : tuple of int
        Factors whose level follows from another factor's in every cell that can exist (the treatment of a plant). Sums
        of functions of the other factors take their effect in, so they have no columns.

    Examples
    --------
    >>> features = Conjunctions((2, 3), order=1)
    >>> features.columns, features.rank
    (5, 4)
    >>> features.ids(np.array([[1, 2]])).tolist()
    [[1, 4]]
    >>> Conjunctions((3, 3), order=1, symmetric=((0, 1),)).ids(np.array([[2, 0]])).tolist()
    [[2, 0]]
    >>> Conjunctions((4, 2, 3), following=(1,)).columns
    7
    """

    sizes: tuple[int, ...]
    order: int = 1
    symmetric: tuple[Subset, ...] = ()
    following: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.order <= len(self.sizes):
            raise InputError(
                f"order {self.order} does not fit {len(self.sizes)} factors; choose one from 1 to {len(self.sizes)}"
            )
        members = [factor for group in self.symmetric for factor in group]
        if len(set(members)) < len(members) or any(len(group) < 2 for group in self.symmetric):
            raise InputError(f"symmetric groups {self.symmetric} overlap or have one member; name each factor once")
        for group in self.symmetric:
            if len({self.sizes[factor] for factor in group}) > 1:
                raise InputError(f"symmetric factors {group} must share their levels; give them one list of levels")
        # Whoever names a group may do so in any order; columns go by its members in theirs.
        object.__setattr__(self, "symmetric", tuple(sorted(tuple(sorted(group)) for group in self.symmetric)))

    @cached_property
    def free(self) -> Subset:
        """The factors that follow from no other one."""
        return tuple(factor for factor in range(len(self.sizes)) if factor not in self.following)

    @property
    def saturated(self) -> bool:
        """Whether every cell that can exist has a value of its own, so that nothing follows from anything else."""
        return self.order >= len(self.free)

    @cached_property
    def subsets(self) -> list[Subset]:
        """The subsets of factors, one block each (S of them)."""
        return list(itertools.combinations(self.free, min(self.order, len(self.free))))

    def _representative(self, subset: Subset) -> Subset:
        """Return the subset whose columns this one uses: symmetric members are replaced by the group's first ones."""
        chosen = set(subset)
        for group in self.symmetric:
            members = chosen & set(group)
            chosen = (chosen - members) | set(group[: len(members)])
        return tuple(sorted(chosen))

    @cached_property
    def _offsets(self) -> dict[Subset, int]:
        offsets: dict[Subset, int] = {}
        total = 0
        for subset in self.subsets:
            if self._representative(subset) == subset:
                offsets[subset] = total
                total += product_size([self.sizes[factor] for factor in subset])
        offsets[()] = total
        return offsets

    @cached_property
    def blocks(self) -> dict[Subset, range]:
        """The columns of each subset that has its own (symmetric twins share one block)."""
        starts = list(self._offsets.items())
        return {subset: range(start, stop) for (subset, start), (_, stop) in itertools.pairwise(starts)}

    @property
    def columns(self) -> int:
        """Number of columns F of the incidence matrix."""
        return self._offsets[()]

    @cached_property
    def rank(self) -> int:
        """Rank of the incidence matrix of the full product of the free factors, in closed form.

        A factor of n levels is a constant plus n-1 contrasts; m symmetric factors, j of them varying, span the
        symmetric power of dimension binom(n-2+j, j).
        """
        grouped = {factor for group in self.symmetric for factor in group}
        blocks = [(self.sizes[factor], 1) for factor in self.free if factor not in grouped]
        blocks += [(self.sizes[group[0]], len(group)) for group in self.symmetric]
        by_degree = [1] + [0] * self.order
        for size, members in blocks:
            dimensions = [math.comb(size - 2 + j, j) if j else 1 for j in range(members + 1)]
            by_degree = [
                sum(by_degree[degree - j] * dimensions[j] for j in range(min(members, degree) + 1))
                for degree in range(self.order + 1)
            ]
        return sum(by_degree)

    @cached_property
    def freed(self) -> Conjunctions:
        """The same model on the free factors alone, whose cells are the free columns of these."""
        return self.part(self.free, min(self.order, len(self.free)))

    def part(self, factors: Sequence[int], order: int) -> Conjunctions:
        """Return the model of one order on the factors ``factors`` alone; symmetric ones are all among them or none."""
        position = {factor: index for index, factor in enumerate(factors)}
        twins = [group for group in self.symmetric if group[0] in position]
        groups = tuple(tuple(position[factor] for factor in group) for group in twins)
        return Conjunctions(tuple(self.sizes[factor] for factor in factors), order, groups)

    def _block(self, subset: Subset, levels: IntArray) -> IntArray:
        """Ids of one block for ``levels`` (N, |subset|)."""
        representative = self._representative(subset)
        columns = dict(zip(subset, levels.T, strict=True))
        for group in self.symmetric:  # its first members stand for any, with the levels in order
            members = [columns.pop(factor) for factor in subset if factor in group]
            columns |= zip(group, np.sort(members, axis=0), strict=False)
        ordered = np.array([columns[factor] for factor in representative]).T
        return self._offsets[representative] + mixed_radix(ordered, [self.sizes[factor] for factor in representative])

    def ids(self, cells: IntArray) -> IntArray:
        """Return the column numbers of each cell's unit entries: (N, C) -> (N, S)."""
        return np.stack([*self.ids_by_block(cells)], axis=1)

    def ids_by_block(self, cells: IntArray) -> Iterator[IntArray]:
        """Yield the column numbers of ``cells`` (N, C) subset by subset, (N,) each."""
        for subset in self.subsets:
            yield self._block(subset, cells[:, list(subset)])

    def occurring(self, cells: IntArray) -> IntArray:
        """Return the numbers of the columns that some of ``cells`` (N, C) have, ascending."""
        if self.columns > MAX_TABLED_COLUMNS:
            return np.unique(self.ids(cells))
        occurs = np.zeros(self.columns, dtype=bool)
        for block in self.ids_by_block(cells):
            occurs[block] = True
        return np.flatnonzero(occurs)

    def incidence(self, cells: IntArray) -> csr_array:
        """Return the sparse 0/1 (with symmetric factors: 0/1/2) matrix of shape (N, F)."""
        matrix = sparse_rows(self.ids(cells), self.columns)
        matrix.sum_duplicates()
        return matrix

    def values(self, table: npt.NDArray[Any], cells: IntArray) -> npt.NDArray[Any]:
        """Return the model's value at each cell: ``table`` (F,) or (F, r) of conjunction values -> (N,) or (N, r)."""
        total: npt.NDArray[Any] = reduce(operator.add, (table[ids] for ids in self.ids_by_block(cells)))
        return total

    def grid_values(self, table: npt.NDArray[Any], modulus: int | None = None) -> npt.NDArray[Any]:
        """Return the model's value on the whole product, shape ``sizes``, by broadcasting ``table`` (F,).

        With ``modulus`` the table holds residues and every sum is reduced, so that nothing overflows.
        """
        total = np.zeros(1, dtype=table.dtype)
        for block in self.grid_blocks(table):
            total = total + block
            if modulus is not None:
                total %= modulus
        return np.broadcast_to(total, self.sizes)

    def grid_blocks(self, table: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        """Yield each block of ``table`` (F,) as an array that broadcasts to ``sizes``."""
        for subset in self.subsets:
            shape = [self.sizes[factor] for factor in subset]
            ids = self._block(subset, every_cell(shape))
            yield table[ids].reshape([self.sizes[f] if f in subset else 1 for f in range(len(self.sizes))])
