"""Null vectors of the seen cells: the functions of one order that vanish on everything seen.

A cell is determined if and only if every such function vanishes on it. Random ones do the work of all: one table of
conjunction values, summed over any cell, tells. Three routes find them: `graph` (two factors at order 1, connectivity),
`exact` (arithmetic modulo 2**61 - 1) and `projection` (floating point, with a gap that is reported and never silent).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import MAX_TABLED_COLUMNS, Conjunctions, distinct
from recombine.cells.possible import Combinations, Possible
from recombine.cells.scaled import ScaledConjunctions
from recombine.errors import InputError
from recombine.theory.identification.elimination import (
    MAX_COLUMNS_WITHOUT_FLINT,
    eliminate_all,
    has_flint,
    modular_sum,
    random_residues,
    solve_block,
    strip_singletons,
)
from recombine.theory.identification.level_graph import component_labels, is_graph
from recombine.theory.identification.residues import PRIME, Residues, add_residues

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Route(StrEnum):
    """By which arithmetic verdicts are decided: connectivity of levels, rank modulo a prime, or floating point."""

    GRAPH = auto()
    EXACT = auto()
    PROJECTION = auto()


#: Columns left after singletons are stripped that the exact route takes when it is free to choose.
MAX_EXACT_COLUMNS = 2000

#: Floating point: a fraction of a row's length at most the first is zero, at least the second is not, between is open.
MAX_ZERO_DISTANCE, MIN_NONZERO_DISTANCE = 1e-9, 1e-6

#: Random vectors the floating-point route draws: with one, honest values near zero are common among a million cells.
FLOAT_NULL_VECTORS = 3


def present_levels(features: Conjunctions, seen: IntArray) -> list[BoolArray]:
    """Say for each factor which of its levels occur in ``seen`` (N, C), in any member of a symmetric group."""
    if isinstance(features, ScaledConjunctions):
        return features.present(seen)
    present = [np.bincount(seen[:, factor], minlength=size) > 0 for factor, size in enumerate(features.sizes)]
    for group in features.symmetric:
        union = np.logical_or.reduce([present[factor] for factor in group])
        for factor in group:
            present[factor] = union
    return present


def full_rank(features: Conjunctions, seen: IntArray) -> int:
    """Return the rank that all cells made of levels present in ``seen`` (N, C) would have."""
    present = present_levels(features, seen)
    if isinstance(features, ScaledConjunctions):
        return features.rank_of(present)
    sizes = tuple(int(mask.sum()) for mask in present)
    return Conjunctions(sizes, features.order, features.symmetric, features.following).rank


def possible_rank(
    features: Conjunctions, possible: Possible, seed: int = 0, vectors: Callable[..., NullVectors] | None = None
) -> int | None:
    """Return the rank of all cells that can exist; None where that cannot be known exactly.

    On a product of parts the functions of order k are products of one function per part whose orders add up to k at
    most, so it is enough to know the ranks of every part.
    """
    by_degree = [1] + [0] * features.order
    for combinations in possible.parts:
        ranks = _part_ranks(features, combinations, seed, vectors or null_vectors)
        if ranks is None:
            return None
        new = np.diff(ranks, prepend=0).tolist()
        by_degree = [
            sum(by_degree[degree - j] * new[j] for j in range(min(len(new) - 1, degree) + 1))
            for degree in range(features.order + 1)
        ]
    return sum(by_degree)


def _part_ranks(
    features: Conjunctions, group: Combinations, seed: int, vectors: Callable[..., NullVectors]
) -> list[int] | None:
    """Return the ranks of combinations at order 0, 1, ... up to the model's."""
    free = [factor for factor in group.places if factor in features.free]
    top = min(features.order, len(free))
    if not len(group.table):
        return [0] * (top + 1)
    curved = isinstance(features, ScaledConjunctions) and any(features.scales[factor] for factor in free)
    if group.twins and not curved:
        return [math.comb(len(group.table) - 1 + order, order) for order in range(top + 1)]
    rows = group.rows if group.twins else distinct(group.table[:, [group.places.index(factor) for factor in free]])[0]
    ranks: list[int] = [1]
    for order in range(1, top + 1):
        rank: int | None = len(rows)
        if order < len(free) or curved:
            rank = vectors(features.part(free, order), rows, 1, seed=seed).rank
        if rank is None:
            return None
        ranks.append(rank)
    return ranks


def _hashed(ids: IntArray, seed: int, vector: int) -> Residues:
    """Return a pseudo-random residue for each of ``ids`` (n,), the same at every call (splitmix64)."""
    offset = np.random.SeedSequence([seed, vector]).generate_state(1, np.uint64)
    state = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + offset
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((state ^ (state >> np.uint64(31))) % np.uint64(PRIME))


@dataclass(frozen=True, eq=False)
class NullVectors:
    """Random functions of the model's order that vanish on every seen cell."""

    features: Conjunctions
    #: (K,), (K, r): Columns that some seen cell has, ascending, and the values there: residues (uint64) or floats.
    columns: IntArray
    table: npt.NDArray[Any]
    route: Route
    rank: int | None  #: Rank of the seen cells; None where the route cannot know it.
    modulus: int | None = PRIME  #: The prime for residues, None for floats.
    #: (K,): floats only: factors that give the seen columns unit length, and the estimated error of an entry.
    scale: FloatArray | None = None
    error: float = 0.0
    seed: int = 0  #: Fixes the values of columns never seen, which are free.
    #: Numbers of seen cells that say as much as all of them, where such were found on the way.
    spanning: IntArray | None = None

    @property
    def count(self) -> int:
        """Number of vectors r."""
        return int(self.table.shape[1])

    def _free(self, ids: IntArray) -> npt.NDArray[Any]:
        """Values of columns never seen, (n,) -> (n, r)."""
        values = np.stack([_hashed(ids, self.seed, vector) for vector in range(self.count)], axis=-1)
        return values if self.modulus else values / (PRIME / 2) - 1

    @cached_property
    def tables(self) -> npt.NDArray[Any]:
        """Values on all columns, shape (F, r); columns never seen hold independent random values."""
        if self.features.columns * self.count > 4 * MAX_TABLED_COLUMNS:
            raise InputError(
                f"{self.features.columns} conjunctions are too many to table; ask for the values of cells instead"
            )
        tables = self._free(np.arange(self.features.columns))
        tables[self.columns] = self.table
        return tables

    @cached_property
    def _squares(self) -> FloatArray:
        assert self.scale is not None
        squares = np.ones(self.features.columns)
        squares[self.columns] = self.scale**2
        return squares

    def values(self, cells: IntArray) -> npt.NDArray[Any]:
        """Return the value of each vector at each cell, (N, C) -> (N, r): residues, or floats."""
        ids = self.features.ids(cells)
        if self.features.columns <= MAX_TABLED_COLUMNS:
            return modular_sum(self.tables, ids) if self.modulus else np.asarray(self.tables[ids].sum(axis=1))
        looked_up = [self.look_up(block) for block in ids.T]
        return add_residues(looked_up) if self.modulus else np.asarray(np.stack(looked_up, axis=1).sum(axis=1))

    def look_up(self, ids: IntArray) -> npt.NDArray[Any]:
        """Return the values of columns ``ids`` (n,) without a table, shape (n, r)."""
        index, seen = self._index(ids)
        return np.where(seen[:, None], self.table[index], self._free(ids))

    def _index(self, ids: IntArray) -> tuple[IntArray, BoolArray]:
        """Where columns ``ids`` stand among those seen, and whether they do."""
        index = np.minimum(np.searchsorted(self.columns, ids), len(self.columns) - 1)
        return index, self.columns[index] == ids

    def holds_free(self, cells: IntArray) -> BoolArray:
        """Say which cells have a column that no seen cell has: these are not determined, whatever the arithmetic."""
        return np.asarray(~self._index(self.features.ids(cells))[1].all(axis=1))

    def distance(self, cells: IntArray) -> FloatArray:
        """Floats only: the largest value at each cell, as a fraction of its scaled row's length, (N, C) -> (N,)."""
        assert self.scale is not None
        if self.features.columns <= MAX_TABLED_COLUMNS:
            squares = self.features.values(self._squares, cells)
        else:
            index, seen = self._index(self.features.ids(cells))
            squares = np.where(seen, self.scale[index] ** 2, 1.0).sum(axis=1)
        return np.asarray(np.abs(self.values(cells)).max(axis=1) / np.sqrt(squares))

    def distances_on_grid(self) -> FloatArray:
        """Floats only: `distance` on the whole product, shape ``sizes``."""
        largest = np.zeros(self.features.sizes)
        for vector in range(self.count):
            np.maximum(largest, np.abs(self.features.grid_values(self.tables[:, vector])), out=largest)
        return np.asarray(largest / np.sqrt(self.features.grid_values(self._squares)))

    def free_on_grid(self) -> BoolArray:
        """`holds_free` on the whole product, shape ``sizes``."""
        free = np.ones(self.features.columns, dtype=np.uint8)
        free[self.columns] = 0
        result = np.zeros(self.features.sizes, dtype=bool)
        for block in self.features.grid_blocks(free):
            result |= block.astype(bool)
        return result

    def zero_on_grid(self) -> BoolArray:
        """Residues only: whether every vector vanishes, on the whole product, shape ``sizes``."""
        zero = np.ones(self.features.sizes, dtype=bool)
        for vector in range(self.count):
            zero &= self.features.grid_values(self.tables[:, vector], modulus=PRIME) == 0
        return zero


def _rows(features: Conjunctions, seen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the seen columns (K,) and the rows (N, S) as positions among them."""
    if features.columns > MAX_TABLED_COLUMNS:
        ids = features.ids(seen)
        columns, inverse = np.unique(ids, return_inverse=True)
        return columns, inverse.reshape(ids.shape)
    columns = features.occurring(seen)
    index = np.zeros(features.columns, dtype=np.int64)
    index[columns] = np.arange(len(columns))
    # Rows are summed block by block, so that blocks lie together.
    return columns, np.stack([index[block] for block in features.ids_by_block(seen)]).T


def null_vectors(
    features: Conjunctions,
    seen: IntArray,
    count: int | Literal["all"] | None = None,
    *,
    route: str | None = None,
    seed: int = 0,
) -> NullVectors:
    """Return random null vectors of the distinct ``seen`` cells (N, C).

    Parameters
    ----------
    count : int, "all" or None
        How many. None: as many as a verdict needs (1 exact, 3 floating). ``"all"``: as many as the seen cells lack in
        rank, so that the vectors' values on the product span everything the seen cells leave open (exact routes only).
    route : str, optional
        Force `graph`, `exact` or `projection`; by default the exactest that is affordable.

    Examples
    --------
    >>> found = null_vectors(Conjunctions((2, 2, 2)), np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]]), count="all")
    >>> found.count, found.rank
    (1, 3)
    """
    if route is not None and route not in tuple(Route):
        raise InputError(f"route {route!r} is not one of {', '.join(Route)}")
    if route == Route.GRAPH and not is_graph(features):
        raise InputError("route 'graph' needs two factors at order 1; leave route out to choose one that fits")
    if route in (None, Route.GRAPH) and is_graph(features):
        return _by_graph(features, seen, count, seed)
    columns, ids = _rows(features, seen)
    generator = np.random.default_rng(seed)
    stripped = None if route == Route.PROJECTION else strip_singletons(ids, len(columns))
    affordable = MAX_EXACT_COLUMNS if has_flint() else MAX_COLUMNS_WITHOUT_FLINT
    rows, minus = (ids if stripped is None or stripped.rows.all() else ids[stripped.rows]), None
    if stripped is not None and len(stripped.columns) > affordable and (solved := solve_block(stripped, ids)):
        stripped, rows, minus = solved
    if stripped is not None and (route == Route.EXACT or len(stripped.columns) <= affordable):
        index = np.zeros(len(columns), dtype=np.int64)
        index[stripped.columns] = np.arange(len(stripped.columns))
        less = None if minus is None else index[minus]
        complete = len(stripped.columns) == len(columns) and minus is None
        core = eliminate_all(rows if complete else index[rows], len(stripped.columns), generator, less)
        rank = stripped.rank + core.rank
        table = random_residues(generator, (len(columns), _number(count, features, seen, rank)))
        table[stripped.columns] = core.draw(generator, table.shape[1])
        spanning = None
        if minus is None:
            spanned = np.flatnonzero(stripped.rows)[core.chosen]
            spanning = np.sort(np.concatenate([*(some for some, _ in stripped.rounds), spanned]).astype(np.int64))
        return NullVectors(
            features, columns, stripped.complete(table, ids), Route.EXACT, rank, seed=seed, spanning=spanning
        )
    return projected(features, columns, ids, count, seed)


def _number(count: int | Literal["all"] | None, features: Conjunctions, seen: IntArray, rank: int) -> int:
    if count == "all":
        return max(full_rank(features, seen) - rank, 1)
    return 1 if count is None else int(count)


def _by_graph(features: Conjunctions, seen: IntArray, count: int | Literal["all"] | None, seed: int) -> NullVectors:
    labels, rank = component_labels(features, seen)
    labels = labels[: features.columns]
    number = _number(count, features, seen, rank)
    # One vector: the labels themselves, which cannot collide. More: a random residue for each component.
    drawn = random_residues(np.random.default_rng(seed), (int(np.abs(labels).max()) + 1, number))
    drawn[0] = 0
    size = np.abs(labels).astype(np.uint64)[:, None] if count is None else drawn[np.abs(labels)]
    table = np.where(labels[:, None] < 0, (np.uint64(PRIME) - size) % np.uint64(PRIME), size)
    masks = present_levels(features, seen)
    columns = np.flatnonzero(np.concatenate([masks[factor] for factor in features.free])[: features.columns])
    return NullVectors(features, columns, table[columns], Route.GRAPH, rank, seed=seed)


def projected(
    features: Conjunctions,
    columns: IntArray,
    rows: IntArray | csr_array,
    count: int | Literal["all"] | None,
    seed: int,
) -> NullVectors:
    """Return null vectors in floating point of rows over the seen ``columns`` (K,); see `project`."""
    from recombine.theory.identification.projection import project

    if count == "all":
        raise InputError(
            f"{len(columns)} seen conjunctions are too many for a full set of null vectors; ask for a number of them"
        )
    null = project(rows, len(columns), int(count or FLOAT_NULL_VECTORS), np.random.default_rng(seed))
    return NullVectors(features, columns, null.table, Route.PROJECTION, null.rank, None, null.scale, null.error, seed)
