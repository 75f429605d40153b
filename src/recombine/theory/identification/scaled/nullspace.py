"""Null vectors of cells with weights: functions that vanish on everything seen and follow their curve in between.

Where every seen level is a label or a knot, seen rows are those of labels, and so are their null vectors; only the
values at other levels take weights. Elsewhere the rows are eliminated with their weights, as residues of fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.conjunctions import MAX_TABLED_COLUMNS
from recombine.cells.scaled import Picks, ScaledConjunctions
from recombine.cells.scales import Scale
from recombine.errors import InputError
from recombine.theory.identification.elimination import MAX_COLUMNS_WITHOUT_FLINT, Elimination, SparseRow, has_flint
from recombine.theory.identification.nullspace import (
    MAX_EXACT_COLUMNS,
    NullVectors,
    Route,
    full_rank,
    null_vectors,
    projected,
)
from recombine.theory.identification.residues import PRIME, Residues, multiply_residues

#: Cells of a whole product that are looked at together.
CELLS_AT_ONCE = 2**17


def _residues_of(shares: Iterable[Fraction]) -> Residues:
    inverses: dict[int, int] = {}
    residues = []
    for share in shares:
        if share.denominator not in inverses:
            inverses[share.denominator] = pow(share.denominator, -1, PRIME)
        residues.append(share.numerator * inverses[share.denominator] % PRIME)
    return np.array(residues, dtype=np.uint64)


@lru_cache(maxsize=64)
def _exact_weights(scale: Scale) -> Residues:
    """Return the weights of all levels as residues, (L, J), by the polynomials of their pieces."""
    distances = _residues_of(scale.distances)[:, None]
    coefficients = [share for piece in scale.polynomials for row in piece for share in row]
    tables = _residues_of(coefficients).reshape(len(scale.polynomials), -1, scale.piece_knots.shape[1])
    total = np.zeros(scale.slots.shape, dtype=np.uint64)
    for degree in reversed(range(tables.shape[1])):
        total = (multiply_residues(total, distances) + tables[scale.pieces, degree]) % np.uint64(PRIME)
    return total


@dataclass(frozen=True, eq=False)
class ScaledNullVectors(NullVectors):
    """Random functions of a model with scales that vanish on every seen cell.

    Examples
    --------
    >>> from recombine.cells.scales import place_levels
    >>> dose = place_levels("ordered", [0, 10, 20], [True, False, True])
    >>> seen = np.array([[0, 0], [0, 2], [1, 0]])
    >>> found = scaled_null_vectors(ScaledConjunctions((2, 3), scales=(None, dose)), seen)
    >>> found.values(np.array([[1, 1]])).tolist(), found.route.value
    ([[0]], 'graph')
    """

    @property
    def _model(self) -> ScaledConjunctions:
        assert isinstance(self.features, ScaledConjunctions)
        return self.features

    def _at(self, ids: IntArray) -> npt.NDArray[Any]:
        """Values of columns ``ids`` (n,), shape (n, r)."""
        return self.tables[ids] if self.features.columns <= MAX_TABLED_COLUMNS else self.look_up(ids)

    def values(self, cells: IntArray) -> npt.NDArray[Any]:
        """Return the value of each vector at each cell, (N, C) -> (N, r): residues, or floats."""
        if not self.modulus:
            total = np.zeros((len(cells), self.count))
            for ids, picks in self._model.entries(cells):
                total += self._at(ids) * self._model.weights(cells, picks)[:, None]
            return total
        exact, residues = np.zeros((len(cells), self.count), dtype=np.uint64), _weights_of(self._model)
        for ids, picks in self._model.entries(cells):
            terms = self._at(ids)
            if picks:
                terms = multiply_residues(terms, _product(residues, cells, picks)[:, None])
            exact = (exact + terms) % np.uint64(PRIME)
        return exact

    def holds_free(self, cells: IntArray) -> BoolArray:
        """Say which cells have a column that no seen cell has."""
        free = np.zeros(len(cells), dtype=bool)
        for ids, picks in self._model.entries(cells):
            free |= ~self._index(ids)[1] & (self._model.weights(cells, picks) != 0)
        return free

    def distance(self, cells: IntArray) -> FloatArray:
        """Floats only: the largest value at each cell, as a fraction of its scaled row's length, (N, C) -> (N,)."""
        assert self.scale is not None
        squares = np.zeros(len(cells))
        for ids, picks in self._model.entries(cells):
            index, seen = self._index(ids)
            squares += (np.where(seen, self.scale[index], 1.0) * self._model.weights(cells, picks)) ** 2
        return np.asarray(np.abs(self.values(cells)).max(axis=1) / np.sqrt(squares))

    def _on_grid(self, values_of: Callable[[IntArray], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return values (n,) of cells (n, C) on the whole product, shape ``sizes``, a stretch of cells at a time."""
        sizes = self.features.sizes
        total = product_size(sizes)
        stretches = (np.arange(start, min(start + CELLS_AT_ONCE, total)) for start in range(0, total, CELLS_AT_ONCE))
        values = [values_of(np.stack(np.unravel_index(numbers, sizes), axis=1)) for numbers in stretches]
        return np.concatenate(values).reshape(sizes)

    def distances_on_grid(self) -> FloatArray:
        """Floats only: `distance` on the whole product, shape ``sizes``."""
        return self._on_grid(self.distance)

    def free_on_grid(self) -> BoolArray:
        """`holds_free` on the whole product, shape ``sizes``."""
        return self._on_grid(self.holds_free)

    def zero_on_grid(self) -> BoolArray:
        """Residues only: whether every vector vanishes, on the whole product, shape ``sizes``."""
        return self._on_grid(lambda cells: (self.values(cells) == 0).all(axis=1))


def _weights_of(features: ScaledConjunctions) -> dict[int, Residues]:
    """Return the weights of each factor's levels as residues, (L, J)."""
    return {factor: _exact_weights(scale) for factor, scale in enumerate(features.scales) if scale is not None}


def _product(residues: dict[int, Residues], cells: IntArray, picks: Picks) -> Residues:
    total = np.ones(len(cells), dtype=np.uint64)
    for factor, slot in picks:
        total = multiply_residues(total, residues[factor][cells[:, factor], slot])
    return total


def scaled_null_vectors(
    features: ScaledConjunctions,
    seen: IntArray,
    count: int | Literal["all"] | None = None,
    *,
    route: str | None = None,
    seed: int = 0,
) -> ScaledNullVectors:
    """Return random null vectors of the seen cells of a model with scales; see `null_vectors`.

    Examples
    --------
    >>> from recombine.cells.scales import place_levels
    >>> year = place_levels("numeric", [0, 1, 2], [True] * 3)
    >>> model = ScaledConjunctions((2, 3), scales=(None, year))
    >>> scaled_null_vectors(model, np.array([[0, 0], [0, 1], [1, 1]])).rank
    3
    """
    if features.plain(seen):
        return _with_scales(features, null_vectors(features.labelled, seen, count, route=route, seed=seed))
    if route == Route.GRAPH:
        raise InputError("route 'graph' needs levels that are labels or knots; leave route out to choose one that fits")
    columns = features.occurring(seen)
    affordable = MAX_EXACT_COLUMNS if has_flint() else MAX_COLUMNS_WITHOUT_FLINT
    if route == Route.EXACT or (route is None and len(columns) <= affordable):
        return _by_elimination(features, seen, columns, count, seed)
    return _with_scales(features, projected(features, columns, features.incidence(seen)[:, columns], count, seed))


def _with_scales(features: ScaledConjunctions, null: NullVectors) -> ScaledNullVectors:
    values = {item.name: getattr(null, item.name) for item in fields(null)}
    return ScaledNullVectors(**values | {"features": features})


@dataclass(frozen=True, eq=False)
class _Rows:
    """Weighted rows: places of columns and residues, (N, T) each."""

    places: IntArray
    weights: Residues

    def values(self, table: Residues) -> Residues:
        """Sum weighted column values ``table`` (K,) over every row, (N,)."""
        total = np.zeros(len(self.places), dtype=np.uint64)
        for columns, weights in zip(self.places.T, self.weights.T, strict=True):
            total = (total + multiply_residues(table[columns], weights)) % np.uint64(PRIME)
        return total

    def sparse(self, row: int) -> SparseRow:
        """Return one row as column -> weight."""
        entries: SparseRow = {}
        for column, weight in zip(self.places[row].tolist(), self.weights[row].tolist(), strict=True):
            entries[column] = (entries.get(column, 0) + weight) % PRIME
        return {column: weight for column, weight in entries.items() if weight}


def _by_elimination(
    features: ScaledConjunctions, seen: IntArray, columns: IntArray, count: int | Literal["all"] | None, seed: int
) -> ScaledNullVectors:
    """Eliminate a random part of the rows; every other one is then tested on a null vector, and rows that fail join."""
    residues, generator = _weights_of(features), np.random.default_rng(seed)
    entries = [(ids, _product(residues, seen, picks)) for ids, picks in features.entries(seen)]
    ids, weights = (np.stack(blocks, axis=1) for blocks in zip(*entries, strict=True))
    # Entries of weight 0 may stand in a column that does not occur; they may as well stand anywhere.
    rows = _Rows(np.minimum(np.searchsorted(columns, ids), len(columns) - 1), weights)
    chosen = np.zeros(len(seen), dtype=bool)
    chosen[generator.permutation(len(seen))[: len(columns) + len(columns) // 3 + 16]] = True
    while True:
        done = Elimination({row: rows.sparse(row) for row in np.flatnonzero(chosen).tolist()}, len(columns))
        failing = np.flatnonzero(rows.values(done.draw(generator, 1)[:, 0]))
        if not len(failing):
            break
        chosen[generator.permutation(failing)[: len(columns) // 4 + 16]] = True
    number = max(full_rank(features, seen) - done.rank, 1) if count == "all" else int(count or 1)
    table, spanning = done.draw(generator, number), np.flatnonzero(chosen)
    return ScaledNullVectors(features, columns, table, Route.EXACT, done.rank, seed=seed, spanning=spanning)
