"""Henderson's mixed-model equations of many cells: sparse columns of each term and their weighted products.

A term of variance s_J is Z_J u_J with u_J ~ N(0, s_J): labels give one column per combination of levels, a kernel over
levels the columns of its square root. With W the weights of cells (rows of each), c = Z' W y and G = Z' W Z are all
that the likelihood needs of them. The largest term of labels has a diagonal block in G and is eliminated from the
equations; the flat mean is the last column.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import block_array, coo_array, csr_array, diags_array, eye_array, hstack

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import distinct, mixed_radix
from recombine.theory.components.factors import Factors
from recombine.theory.components.terms import ComponentTerm

#: Share of all combinations that have to be seen for a term to have a column for every one of them.
COMPLETE_SHARE = 0.8
#: Share of a kernel's largest eigenvalue below which a column of its square root is dropped.
EIGENVALUE_SHARE = 1e-12
#: Residual over right-hand side at which iterations for effects end.
SOLVE_TOLERANCE = 1e-7


@record
class TermColumns:
    """Columns of one term: for each combination of labels as many as its kernels' square roots have."""

    term: ComponentTerm
    labels: tuple[int, ...]  #: Factors whose levels are taken as labels.
    sizes: tuple[int, ...]  #: Levels of each of these.
    keys: IntArray | None  #: Numbers of the seen combinations of labels, sorted; None: all of them have columns.
    roots: tuple[tuple[int, FloatArray], ...]  #: Of the kernel of each other factor (L + 1, D), unknown levels last.

    @property
    def width(self) -> int:
        """Columns of each combination of labels."""
        return math.prod(root.shape[1] for _, root in self.roots)

    @property
    def count(self) -> int:
        """Number of columns."""
        return self.width * (product_size(self.sizes) if self.keys is None else len(self.keys))

    def members(self, codes: IntArray) -> IntArray:
        """Return the combination of labels (N,) of each cell (N, F), -1 if it has no columns."""
        levels = codes[:, list(self.labels)]
        inside = ((levels >= 0) & (levels < np.array(self.sizes))).all(axis=1)
        numbers = np.where(inside, mixed_radix(levels, self.sizes), -1)
        if self.keys is None:
            return numbers
        index = np.minimum(np.searchsorted(self.keys, numbers), len(self.keys) - 1)
        return np.where(self.keys[index] == numbers, index, -1)

    def extended(self, factors: Factors) -> TermColumns:
        """Return columns that know further levels of factors with coordinates, by their covariance with the others."""
        kernels = dict(self.term.kernels)
        roots = []
        for factor, root in self.roots:
            size = len(root) - 1
            covariances = kernels[factor].between(
                factors, factor, np.arange(size, factors.sizes[factor]), np.arange(size)
            )
            assert covariances is not None
            further = covariances @ np.linalg.pinv(root[:size]).T
            roots.append((factor, np.concatenate([root[:size], further, root[size:]])))
        return replace(self, roots=tuple(roots))

    def cells(self, factors: int) -> IntArray:
        """Return a cell (groups, F) with each combination of labels, -1 for factors beside them."""
        numbers = np.arange(product_size(self.sizes)) if self.keys is None else self.keys
        cells = np.full((len(numbers), factors), -1)
        cells[:, list(self.labels)] = np.stack(np.unravel_index(numbers, self.sizes), axis=1)
        return cells

    def rows(self, codes: IntArray) -> Any:
        """Return sparse rows (N, columns) of cells (N, F), empty where nothing is known of a level."""
        members = self.members(codes)
        entries = (members >= 0)[:, None].astype(float)
        for factor, root in self.roots:
            levels = codes[:, factor]
            chosen = root[np.where((levels >= 0) & (levels < len(root)), levels, -1)]
            entries = (entries[:, :, None] * chosen[:, None, :]).reshape(len(codes), -1)
        columns = np.maximum(members, 0)[:, None] * self.width + np.arange(self.width)
        starts = np.arange(0, columns.size + 1, self.width)
        return csr_array((entries.ravel(), columns.ravel(), starts), shape=(len(codes), self.count))


def term_columns(term: ComponentTerm, factors: Factors, codes: IntArray) -> TermColumns:
    """Return the columns of a term over seen cells (N, F)."""
    levels = {factor: np.arange(factors.sizes[factor]) for factor in term.factors}
    grams = [
        (factor, kernel.between(factors, factor, levels[factor], levels[factor])) for factor, kernel in term.kernels
    ]
    labels = tuple(factor for factor, gram in grams if gram is None)
    sizes = tuple(factors.sizes[factor] for factor in labels)
    keys = np.unique(mixed_radix(codes[:, list(labels)], sizes))
    complete = len(keys) >= COMPLETE_SHARE * product_size(sizes)
    roots = tuple((factor, _root(gram)) for factor, gram in grams if gram is not None)
    return TermColumns(term, labels, sizes, None if complete else keys, roots)


def _root(gram: FloatArray) -> FloatArray:
    """Return R (L + 1, D) with R R' the covariance between levels (L, L), and zeros for the last, unknown one."""
    values, vectors = np.linalg.eigh(gram)
    chosen = values > EIGENVALUE_SHARE * values.max(initial=0.0)
    return np.concatenate([vectors[:, chosen] * np.sqrt(values[chosen]), np.zeros((1, int(chosen.sum())))])


@record
class FinestColumns:
    """The B columns of terms within no remaining term: those of a single factor are sums of those of its pairs.

    Products by way of them have a third of the entries where there are all pairs of three factors.
    """

    coupling: Any  #: Sparse (B, E).
    coupled: Any  #: Its transpose, sparse (E, B).
    gram: Any  #: Sparse (B, B).
    sums: Any  #: The remaining columns as sums of these, sparse (B, R).
    sums_transposed: Any  #: Sparse (R, B).


@record
class MixedEquations:
    """Products of columns, E of the eliminated term, then R others of which the last is the mean."""

    columns: tuple[TermColumns, ...]  #: Of the terms (T,), in the caller's order.
    eliminated: int  #: Index of the term whose block is diagonal.
    spans: tuple[slice, ...]  #: Where each term's columns stand.
    diagonal: FloatArray  #: Of the eliminated block (E,).
    coupling: Any  #: Sparse (R, E).
    coupled: Any  #: Its transpose, sparse (E, R).
    remaining: Any  #: Sparse (R, R).
    finest: FinestColumns
    centre: float  #: Weighted mean of the outcomes, taken from them so that squares do not cancel.
    moments: FloatArray  #: Z' W y (E + R,).
    grouped: tuple[tuple[Any, Any], ...]  #: For each block of columns the group (N,) of each cell and rows of groups.
    y: FloatArray  #: Outcomes about the centre (N,).
    codes: IntArray  #: Seen cells (N, F).
    weights: FloatArray  #: (N,)

    def scales(self, ratios: FloatArray) -> FloatArray:
        """Return for each column (E + R,) the root of its term's variance over the noise's, 1 for the mean."""
        scales = np.ones(len(self.moments))
        for span, ratio in zip(self.spans, ratios, strict=True):
            scales[span] = np.sqrt(ratio)
        return scales

    def residuals(self, effects: FloatArray) -> FloatArray:
        """Return what effects (E + R,) miss of the outcomes (N,)."""
        pieces = np.split(effects, np.cumsum([root.shape[1] for _, root in self.grouped])[:-1])
        missed = self.y.copy()
        for (group, root), piece in zip(self.grouped, pieces, strict=True):
            missed -= (root @ piece)[group]
        return missed

    def gram(self, vectors: FloatArray) -> FloatArray:
        """Return Z' W Z times vectors (E + R, k)."""
        top, bottom = np.split(vectors, [len(self.diagonal)])
        upper = self.diagonal[:, None] * top + self.coupled @ bottom
        return np.concatenate([upper, self.coupling @ top + self.remaining @ bottom])

    def rows(self, codes: IntArray, alone: int | None = None) -> tuple[Any, Any]:
        """Return sparse rows (M, E) and (M, R) of cells (M, F): mean and all terms, or only those of one factor."""
        rows = [columns.rows(codes) for columns in self.columns]
        mean = csr_array(np.ones((len(codes), 1)))
        if alone is not None:
            rows = [row * (columns.term.factors == (alone,)) for row, columns in zip(rows, self.columns, strict=True)]
            mean = mean * 0.0
        eliminated = rows.pop(self.eliminated)
        return eliminated, hstack([*rows, mean], format="csr")


def mixed_equations(
    factors: Factors, codes: IntArray, y: FloatArray, noise: FloatArray, terms: Sequence[ComponentTerm]
) -> MixedEquations:
    """Return the equations of outcomes ``y`` (N,) with noise variances up to a factor (N,) at cells (N, F).

    Rows may repeat cells. One term at the least takes levels as labels.

    Examples
    --------
    >>> from recombine.theory.components.terms import label_term
    >>> codes = np.array([[0, 0], [0, 1], [1, 1]])
    >>> terms = [label_term(0), label_term(1)]
    >>> equations = mixed_equations(Factors.of(codes), codes, np.arange(3.0), np.ones(3), terms)
    >>> equations.diagonal, equations.coupling.toarray()
    (array([2., 1.]), array([[1., 0.],
           [1., 1.],
           [2., 1.]]))
    """
    weights = 1.0 / noise
    centre = float(weights @ y / weights.sum())
    sums = weights * (y - centre)
    columns = tuple(term_columns(term, factors, codes) for term in terms)
    labels = [index for index, column in enumerate(columns) if column.term.is_labels]
    eliminated = max(labels, key=lambda index: columns[index].count)
    order = sorted(range(len(terms)), key=lambda index: index != eliminated)
    starts = np.cumsum([0, *(columns[index].count for index in order)])
    spans = {index: slice(starts[position], starts[position + 1]) for position, index in enumerate(order)}
    grouped = [_grouped(columns[index], codes) for index in order]
    grouped.append((np.zeros(len(y), dtype=np.int32), csr_array(np.ones((1, 1)))))
    finest = _finest([columns[index] for index in order[1:]], grouped, weights)
    coupling = _canonical(finest.sums_transposed @ finest.coupling)
    return MixedEquations(
        columns=columns,
        eliminated=eliminated,
        spans=tuple(spans[index] for index in range(len(terms))),
        diagonal=np.asarray(np.bincount(grouped[0][0], weights, columns[eliminated].count), dtype=float),
        coupling=coupling,
        coupled=_canonical(coupling.T),
        remaining=_canonical(finest.sums_transposed @ finest.gram @ finest.sums),
        finest=finest,
        centre=centre,
        moments=np.concatenate([root.T @ np.bincount(group, sums, root.shape[0]) for group, root in grouped]),
        grouped=tuple(grouped),
        y=y - centre,
        codes=codes,
        weights=weights,
    )


def _finest(remaining: list[TermColumns], grouped: list[tuple[Any, Any]], weights: FloatArray) -> FinestColumns:
    """Return products of the finest columns among the remaining terms; the mean is a sum of any labels' columns."""
    sets = [frozenset(columns.term.factors) for columns in remaining] + [frozenset[int]()]
    labels = [index for index, columns in enumerate(remaining) if columns.term.is_labels]
    hosts = [_host(index, sets, labels) for index in range(len(sets))]
    bases = sorted(set(hosts))
    blocks: list[list[Any]] = [[None] * len(sets) for _ in bases]
    for index, host in enumerate(hosts):
        block: Any = eye_array(grouped[index + 1][1].shape[1])
        if index != host:
            cells = remaining[host].cells(1 + max(max(chosen, default=0) for chosen in sets))
            block = remaining[index].rows(cells) if index < len(remaining) else csr_array(np.ones((len(cells), 1)))
        blocks[bases.index(host)][index] = block
    products = _products_of_labels if set(bases) <= set(labels) else _products
    gram, coupling = products([grouped[index + 1] for index in bases], grouped[0], weights)
    sums = _canonical(block_array(blocks))
    return FinestColumns(coupling, _canonical(coupling.T), gram, sums, _canonical(sums.T))


def _products(chosen: list[tuple[Any, Any]], eliminated: tuple[Any, Any], weights: FloatArray) -> tuple[Any, Any]:
    """Return weighted products of the columns of some terms with each other (B, B) and with the eliminated (B, E)."""
    lower = [[_product(chosen[i], chosen[j], weights) for j in range(i + 1)] for i in range(len(chosen))]
    gram = [[lower[i][j] if j <= i else lower[j][i].T for j in range(len(chosen))] for i in range(len(chosen))]
    coupling = block_array([[_product(rows, eliminated, weights)] for rows in chosen])
    return _canonical(block_array(gram)), _canonical(coupling)


def _products_of_labels(
    chosen: list[tuple[Any, Any]], eliminated: tuple[Any, Any], weights: FloatArray
) -> tuple[Any, Any]:
    """Return the same of terms of labels at once: they may be many, and a product for every two takes far longer."""
    starts = np.cumsum([0, *(groups.shape[1] for _, groups in chosen)])
    places = np.column_stack([group + start for (group, _), start in zip(chosen, starts[:-1], strict=True)])
    ends, size = np.arange(0, places.size + 1, len(chosen)), len(weights)
    columns = csr_array((np.ones(places.size), places.ravel(), ends), shape=(size, int(starts[-1])))
    others = csr_array((weights, eliminated[0], np.arange(size + 1)), shape=(size, eliminated[1].shape[0]))
    return _canonical(columns.T @ (diags_array(weights) @ columns)), _canonical(columns.T @ others)


def _host(index: int, sets: list[frozenset[int]], labels: list[int]) -> int:
    """Return the term of labels with the largest set that holds that of a term, itself if there is none beside it."""
    holders = [label for label in labels if sets[index] <= sets[label]]
    return max(holders, key=lambda label: len(sets[label]), default=index)


def _grouped(columns: TermColumns, codes: IntArray) -> tuple[Any, Any]:
    """Return which cells (N,) have the same row in a term's columns, and these rows, sparse (groups, columns)."""
    if columns.term.is_labels:
        return columns.members(codes).astype(np.int32), eye_array(columns.count, format="csr")
    rows, group = distinct(codes[:, list(columns.term.factors)])
    cells = np.zeros((len(rows), codes.shape[1]), dtype=np.int64)
    cells[:, list(columns.term.factors)] = rows
    return group.astype(np.int32), columns.rows(cells)


def _product(rows: tuple[Any, Any], columns: tuple[Any, Any], weights: FloatArray) -> Any:
    """Return the weighted product of two terms' columns."""
    (row, row_root), (column, column_root) = rows, columns
    shape = (row_root.shape[0], column_root.shape[0])
    if row is column:
        counts = diags_array(np.bincount(row, weights, shape[0]), format="csr")
    else:
        counts = coo_array((weights, (row, column)), shape=shape).tocsr()
    return (row_root.T @ counts @ column_root).tocsr()


@record
class ReducedSystem(ABC):
    """M = I + L G L at given variances, with I zero for the mean; the eliminated block is divided out."""

    equations: MixedEquations
    scales: FloatArray  #: Entries of L (E + R,): roots of variances over the noise's.

    @property
    def ratios(self) -> FloatArray:
        """Variance of each term over the noise's (T,)."""
        return np.array([self.scales[span.start] ** 2 for span in self.equations.spans])

    @property
    def size(self) -> int:
        """Columns of the eliminated term, E."""
        return len(self.equations.diagonal)

    @cached_property
    def pivots(self) -> FloatArray:
        """Entries of M in the eliminated block (E,)."""
        return np.asarray(1.0 + self.scales[: self.size] ** 2 * self.equations.diagonal)

    @cached_property
    def coupling(self) -> Any:
        """Block of M of the remaining columns with the eliminated ones, sparse (R, E)."""
        return _scaled(self.scales[self.size :], self.equations.coupling, self.scales[: self.size])

    @cached_property
    def coupled(self) -> Any:
        """The transpose of the coupling, sparse (E, R)."""
        return _scaled(self.scales[: self.size], self.equations.coupled, self.scales[self.size :])

    @cached_property
    def remaining(self) -> Any:
        """Block of M of the remaining columns, sparse (R, R)."""
        inner = self.scales[self.size :]
        unit = diags_array(np.append(np.ones(len(inner) - 1), 0.0), format="csr")
        return (_scaled(inner, self.equations.remaining, inner) + unit).tocsr()

    @property
    @abstractmethod
    def log_det(self) -> float:
        """The log of the determinant of M."""

    @property
    @abstractmethod
    def traces(self) -> FloatArray:
        """Trace of each term's diagonal block (T,) of the inverse of M."""

    @abstractmethod
    def solve_remaining(self, vectors: FloatArray, tolerance: float) -> FloatArray:
        """Return the inverse of the Schur complement S times vectors (R, k), with that relative residual at most."""

    @abstractmethod
    def spread(self, eliminated: Any, remaining: Any) -> FloatArray:
        """Return v S^-1 v' (N,), v = y - x D^-1 B' for sparse rows x (N, E) and y (N, R), pivots D and coupling B."""

    def solve(self, vectors: FloatArray, tolerance: float = SOLVE_TOLERANCE) -> FloatArray:
        """Return the inverse of M times vectors (E + R, k); iterations end at the tolerance."""
        top, pivots = vectors[: self.size], self.pivots[:, None]
        bottom = self.solve_remaining(vectors[self.size :] - self.coupling @ (top / pivots), tolerance)
        return np.concatenate([(top - self.coupled @ bottom) / pivots, bottom])

    def variances(self, eliminated: Any, remaining: Any) -> FloatArray:
        """Return x M^-1 x' (N,) for sparse rows x with columns (N, E) and (N, R), in units of the noise's sd."""
        outer, inner = self.in_units(eliminated, remaining)
        return np.asarray(outer.power(2) @ (1 / self.pivots)) + self.spread(outer, inner)

    def covariance(self, eliminated: Any, remaining: Any) -> FloatArray:
        """Return X M^-1 X' (k, k) for a few sparse rows X with columns (k, E) and (k, R), in the same units."""
        outer, inner = self.in_units(eliminated, remaining)
        shares = outer @ diags_array(1 / self.pivots)
        reduced = (inner - shares @ self.coupled).toarray()
        return np.asarray((shares @ outer.T).toarray() + reduced @ self.solve_remaining(reduced.T, SOLVE_TOLERANCE))

    def in_units(self, eliminated: Any, remaining: Any) -> tuple[Any, Any]:
        """Return sparse rows (N, E) and (N, R) times L."""
        unit = np.ones(eliminated.shape[0])
        return _scaled(unit, eliminated, self.scales[: self.size]), _scaled(unit, remaining, self.scales[self.size :])


def _canonical(matrix: Any) -> Any:
    """Return a matrix by sparse rows, sorted: what shares its indices, as `_scaled` does, may not sort them later."""
    rows = matrix.tocsr()
    rows.sum_duplicates()
    return rows


def _scaled(rows: FloatArray, matrix: Any, columns: FloatArray) -> Any:
    """Return a sparse matrix with its rows and columns scaled."""
    data = matrix.data * np.repeat(rows, np.diff(matrix.indptr)) * columns[matrix.indices]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
