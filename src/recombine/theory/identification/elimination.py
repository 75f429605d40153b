"""Null vectors of sparse integer rows modulo the prime 2**61 - 1: strip singletons, eliminate sparsely, finish densely.

Rows are given as column numbers, one unit entry each; a number that occurs twice counts twice. Everything is exact
arithmetic in the field of that prime. A random vector vanishes by chance with probability 2**-61, about 4e-19 for each
verdict read from it. The prime itself is fixed, so a design whose rank drops modulo it would be misjudged. That needs
every largest minor to be a multiple of the prime; at 2,000 columns one has at most about 30 prime factors of this size,
which makes it about 1e-17 if they fall at random (an estimate, not a bound: such a design can be built on purpose).
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.theory.identification.residues import PRIME, Residues, multiply_residues, subtract_residues

#: Columns the dense step takes without python-flint: two seconds.
MAX_COLUMNS_WITHOUT_FLINT = 800

#: Sparse elimination stops at columns with more entries than this: fill-in then costs more than the dense step saves.
MAX_SPARSE_DEGREE = 6

SparseRow = dict[int, int]


def modular_sum(table: Residues, ids: IntArray) -> Residues:
    """Sum residues ``table`` (K, r) over the columns ``ids`` (N, S) of each row, shape (N, r)."""
    total = table[ids[:, 0]]
    for block in range(1, ids.shape[1]):
        total += table[ids[:, block]]
        total %= np.uint64(PRIME)
    return total


def random_residues(generator: np.random.Generator, shape: tuple[int, ...]) -> Residues:
    """Draw uniform residues of the given shape."""
    return generator.integers(0, PRIME, size=shape, dtype=np.uint64)


@dataclass(frozen=True)
class Singletons:
    """Rows that are independent for a trivial reason: each holds a column no other remaining row has.

    ``rounds`` lists (rows, their private columns) in the order of removal; ``rows`` (N,) marks what is left and
    ``columns`` lists the columns the rest still uses.
    """

    rounds: list[tuple[IntArray, IntArray]]
    rows: BoolArray
    columns: IntArray

    @property
    def rank(self) -> int:
        """Number of rows removed."""
        return sum(len(rows) for rows, _ in self.rounds)

    def complete(self, table: Residues, ids: IntArray) -> Residues:
        """Solve the removed rows for their private columns, last removed first; ``table`` (K, r) is filled in place."""
        for rows, pivots in reversed(self.rounds):
            table[pivots] = 0
            table[pivots] = (np.uint64(PRIME) - modular_sum(table, ids[rows])) % np.uint64(PRIME)
        return table


def strip_singletons(ids: IntArray, columns: int) -> Singletons:
    """Remove rows with a column of their own, again and again; ``ids`` (N, S) are numbers below ``columns``."""
    degree = np.bincount(ids.ravel(order="K"), minlength=columns)
    alive = np.ones(len(ids), dtype=bool)
    rounds: list[tuple[IntArray, IntArray]] = []
    frontier = np.flatnonzero(degree == 1)
    # A column's only remaining row is the sum of the numbers of its remaining rows.
    holder = _row_sums(ids, columns) if len(frontier) else degree
    while len(frontier):
        rows, first = np.unique(holder[frontier], return_index=True)
        rounds.append((rows, frontier[first]))
        alive[rows] = False
        touched = ids[rows].reshape(-1)
        np.subtract.at(degree, touched, 1)
        np.subtract.at(holder, touched, np.repeat(rows, ids.shape[1]))
        touched = np.unique(touched)
        frontier = touched[degree[touched] == 1]
    return Singletons(rounds, alive, np.flatnonzero(degree))


def solve_block(stripped: Singletons, ids: IntArray) -> tuple[Singletons, IntArray, IntArray] | None:
    """Solve one row for each column of the largest block, and take it off the other rows that hold the column.

    Where every row holds one column of the block, such as one level of a factor, those columns are gone at the price of
    one subtraction for each row: what is left has the other columns alone, however many levels that factor has.
    Returned are ``stripped`` without the solved rows and the block's columns, and the other rows as unit entries and
    entries of -1, (M, S - 1) each; None if some row has two such columns.

    Examples
    --------
    >>> rows = np.array([[0, 3], [0, 4], [1, 3], [1, 4], [2, 3], [2, 4]])
    >>> solved, plus, minus = solve_block(strip_singletons(rows, 5), rows)
    >>> solved.rank, solved.columns.tolist(), plus.tolist(), minus.tolist()
    (3, [3, 4], [[4], [4], [4]], [[3], [3], [3]])
    """
    rows = np.flatnonzero(stripped.rows)
    if not len(rows):
        return None
    mine = ids[rows]
    block = int(np.argmax([len(np.unique(column)) for column in mine.T]))
    heads, chosen, inverse = np.unique(mine[:, block], return_index=True, return_inverse=True)
    tails = np.delete(mine, block, axis=1)
    in_block = np.zeros(int(ids.max()) + 1, dtype=bool)
    in_block[heads] = True
    if in_block[tails].any():
        return None
    alive = stripped.rows.copy()
    alive[rows[chosen]] = False
    open_rows = np.arange(len(rows)) != chosen[inverse]
    solved = Singletons([*stripped.rounds, (rows[chosen], heads)], alive, stripped.columns[~in_block[stripped.columns]])
    return solved, tails[open_rows], tails[chosen[inverse[open_rows]]]


def _row_sums(ids: IntArray, columns: int) -> IntArray:
    total = np.zeros(columns, dtype=np.int64)
    numbers = np.arange(len(ids), dtype=np.int64)
    for block in range(ids.shape[1]):
        np.add.at(total, ids[:, block], numbers)
    return total


class Elimination:
    """Gaussian elimination modulo the prime of rows ``ids`` (N, S) less rows ``minus`` over ``columns`` columns.

    Rows with other weights are given as a dictionary of dictionaries, column -> residue.
    Columns with few entries are eliminated sparsely (shortest row first); what is left goes to a dense null space.

    Examples
    --------
    >>> done = Elimination(np.array([[0, 2], [0, 3], [1, 2], [1, 3]]), 4)
    >>> done.rank
    3
    >>> vector = done.draw(np.random.default_rng(0), 1)
    >>> modular_sum(vector, np.array([[0, 2], [1, 3]])).tolist()
    [[0], [0]]
    """

    def __init__(self, ids: IntArray | dict[int, SparseRow], columns: int, minus: IntArray | None = None) -> None:
        self.columns = columns
        #: Which of the rows these are, where they were chosen from more with the same null space.
        self.chosen: IntArray = np.arange(len(ids))
        self._rows = ids if isinstance(ids, dict) else _sparse_rows(ids, minus)
        self._members: dict[int, set[int]] = defaultdict(set)
        for number, row in self._rows.items():
            for column in row:
                self._members[column].add(number)
        self._pivots: list[tuple[int, SparseRow]] = []
        self._eliminate()

    def _eliminate(self) -> None:
        queue = [(len(rows), column) for column, rows in self._members.items()]
        heapq.heapify(queue)
        while queue:
            degree, column = heapq.heappop(queue)
            rows = self._members.get(column)
            if not rows or len(rows) != degree:
                continue  # an outdated entry: the column was queued again with its present degree
            if degree > MAX_SPARSE_DEGREE:
                break
            for changed in self._pivot(column, min(rows, key=lambda number: len(self._rows[number]))):
                heapq.heappush(queue, (len(self._members[changed]), changed))

    def _pivot(self, column: int, number: int) -> set[int]:
        """Clear ``column`` with row ``number``; return the columns whose number of entries may have changed."""
        pivot = self._rows.pop(number)
        inverse = pow(pivot[column], -1, PRIME)
        scaled = {entry: value * inverse % PRIME for entry, value in pivot.items()}
        for entry in pivot:
            self._members[entry].discard(number)
        for target in list(self._members[column]):
            self._subtract(target, scaled, column)
        self._members.pop(column)
        self._pivots.append((column, scaled))
        return {entry for entry in pivot if entry != column}

    def _subtract(self, target: int, scaled: SparseRow, column: int) -> None:
        row = self._rows[target]
        factor = row[column]
        for position, value in scaled.items():
            entry = (row.get(position, 0) - factor * value) % PRIME
            if entry:
                row[position] = entry
                self._members[position].add(target)
            elif position in row:
                del row[position]
                self._members[position].discard(target)
        if not row:
            del self._rows[target]

    @cached_property
    def _rest(self) -> list[int]:
        """Columns the sparse part left over."""
        return sorted({column for row in self._rows.values() for column in row})

    @cached_property
    def _basis(self) -> _Basis:
        index = {column: number for number, column in enumerate(self._rest)}
        dense = [[0] * len(self._rest) for _ in self._rows]
        for line, row in zip(dense, self._rows.values(), strict=True):
            for column, value in row.items():
                line[index[column]] = value
        return _null_basis(dense, len(self._rest))

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return len(self._pivots) + len(self._rest) - self._basis.dimension

    def draw(self, generator: np.random.Generator, count: int) -> Residues:
        """Return ``count`` uniformly random null vectors, shape (columns, count)."""
        table = random_residues(generator, (self.columns, count))
        if self._rest:
            table[self._rest] = self._basis.combine(table[self._rest])
        values = table.tolist()
        for column, row in reversed(self._pivots):
            values[column] = [
                -sum(value * values[entry][vector] for entry, value in row.items() if entry != column) % PRIME
                for vector in range(count)
            ]
        return np.array(values, dtype=np.uint64).reshape(self.columns, count)


def _sparse_rows(ids: IntArray, minus: IntArray | None) -> dict[int, SparseRow]:
    if minus is None:
        return {number: dict(Counter(row)) for number, row in enumerate(ids.tolist())}
    rows = {}
    for number, (plus, less) in enumerate(zip(ids.tolist(), minus.tolist(), strict=True)):
        row = Counter(plus)
        row.subtract(less)
        if nonzero := {column: value % PRIME for column, value in row.items() if value}:
            rows[number] = nonzero
    return rows


@dataclass(frozen=True)
class _Basis:
    """A null-space basis, (columns, dimension): an array of residues, or a flint matrix padded with zero columns."""

    matrix: Any
    dimension: int

    def combine(self, weights: Residues) -> Residues:
        """Multiply by random ``weights`` (at least dimension, r)."""
        if isinstance(self.matrix, np.ndarray):
            total = np.zeros((len(self.matrix), weights.shape[1]), dtype=np.uint64)
            for column, weight in zip(self.matrix.T, weights, strict=False):
                total = (total + multiply_residues(column[:, None], weight)) % np.uint64(PRIME)
            return total
        from flint import nmod_mat

        rows, count = weights.shape
        combined = self.matrix * nmod_mat(rows, count, weights.reshape(-1).tolist(), PRIME)
        return np.array([int(entry) for entry in combined.entries()], dtype=np.uint64).reshape(rows, count)


def has_flint() -> bool:
    """Say whether python-flint is installed, without loading it."""
    from importlib.util import find_spec

    return find_spec("flint") is not None


def _null_basis(dense: list[list[int]], columns: int) -> _Basis:
    if not columns:
        return _Basis(np.zeros((0, 0), dtype=np.uint64), 0)
    if not has_flint():
        return _python_null_basis(dense, columns)
    from flint import nmod_mat

    matrix = nmod_mat(len(dense), columns, [value for row in dense for value in row], PRIME)
    basis, dimension = matrix.nullspace()
    return _Basis(basis, int(dimension))


def _python_null_basis(dense: list[list[int]], columns: int) -> _Basis:
    matrix = np.array(dense, dtype=np.uint64).reshape(len(dense), columns)
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        below = np.flatnonzero(matrix[top:, column]) + top
        if not len(below):
            continue
        matrix[[top, below[0]]] = matrix[[below[0], top]]
        inverse = np.array([pow(int(matrix[top, column]), -1, PRIME)], dtype=np.uint64)
        matrix[top] = multiply_residues(matrix[top], inverse)
        touched = np.flatnonzero(matrix[:, column])
        touched = touched[touched != top]
        factors = matrix[touched, column][:, None]
        matrix[touched] = subtract_residues(matrix[touched], multiply_residues(factors, matrix[top]))
        pivots.append(column)
    free = np.setdiff1d(np.arange(columns), pivots)
    basis = np.zeros((columns, len(free)), dtype=np.uint64)
    basis[free, range(len(free))] = 1
    basis[pivots] = subtract_residues(np.zeros(1, dtype=np.uint64), matrix[: len(pivots)][:, free])
    return _Basis(basis, len(free))


def eliminate_all(
    ids: IntArray, columns: int, generator: np.random.Generator, minus: IntArray | None = None
) -> Elimination:
    """Eliminate enough of the rows ``ids`` (N, S), less ``minus``, that the null space is that of all of them.

    A random subset goes first; every other row is then tested on a random null vector, and rows that fail join.
    """
    chosen = np.zeros(len(ids), dtype=bool)
    chosen[generator.permutation(len(ids))[: columns + columns // 3 + 16]] = True
    while True:
        done = Elimination(ids[chosen], columns, None if minus is None else minus[chosen])
        drawn = done.draw(generator, 1)
        # Both sums are reduced, so that rows vanish where they are equal.
        expected = 0 if minus is None else modular_sum(drawn, minus)[:, 0]
        failing = np.flatnonzero(modular_sum(drawn, ids)[:, 0] != expected)
        if not len(failing):
            done.chosen = np.flatnonzero(chosen)
            return done
        chosen[generator.permutation(failing)[: columns // 4 + 16]] = True
