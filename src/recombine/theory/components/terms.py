"""Terms of the model: which factors each component is of, and the covariance that it gives two cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.theory.components.factors import Factors
from recombine.theory.components.level_kernels import BUMP, LINE, SAME, LevelKernel, feature_kernels

#: A factor with coordinates gets a line and a curve if it has more seen levels than this.
MIN_LEVELS_OF_A_LINE = 3
#: Largest residual of outcomes that effects give exactly, as a share of the largest outcome about the mean.
EXACT_RESIDUAL = 1e-10


@dataclass(frozen=True)
class ComponentTerm:
    """One component: its covariance between two cells is the product over ``kernels`` of (factor, level kernel)."""

    kernels: tuple[tuple[int, LevelKernel], ...]

    @property
    def factors(self) -> tuple[int, ...]:
        """Factors that the component is of."""
        return tuple(factor for factor, _ in self.kernels)

    @property
    def is_labels(self) -> bool:
        """Whether it takes levels as labels only: [z_J = z'_J]."""
        return all(kernel is SAME for _, kernel in self.kernels)

    def covariance(self, factors: Factors, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the covariance (N, M) between cells (N, F) and (M, F) at variance 1."""
        product = np.ones((len(rows), len(columns)))
        for factor, kernel in self.kernels:
            gram = kernel.gram(factors, factor)
            if gram is None:
                product *= rows[:, factor, None] == columns[None, :, factor]
            else:
                size = len(gram) - 1
                product *= gram[np.ix_(_within(rows[:, factor], size), _within(columns[:, factor], size))]
        return product

    def variance(self, factors: Factors, rows: IntArray) -> FloatArray:
        """Return the variance (N,) at cells (N, F), where that of the component is 1."""
        product = np.ones(len(rows))
        for factor, kernel in self.kernels:
            gram = kernel.gram(factors, factor)
            if gram is not None:
                product *= gram.diagonal()[_within(rows[:, factor], len(gram) - 1)]
        return product


def _within(codes: IntArray, size: int) -> IntArray:
    """Codes of levels, those of which nothing is known as the last."""
    return np.where((codes >= 0) & (codes < size), codes, size)


def label_term(*factors: int) -> ComponentTerm:
    """Return the term of a set of factors, their levels taken as labels.

    Examples
    --------
    >>> label_term(0, 2).factors
    (0, 2)
    """
    return ComponentTerm(tuple((factor, SAME) for factor in factors))


def candidate_terms(
    factors: Factors, codes: IntArray, order: int = 2, *, cells: bool = False
) -> tuple[ComponentTerm, ...]:
    """Return the terms that seen cells (N, F) may carry: sets of at most ``order`` factors, then lines and curves.

    A set whose combinations each occur in one cell only is the noise under another name and is left to it, unless
    ``cells`` can be told from noise, by rows that repeat them or by how noise shrinks with rows. A set whose groups are
    those of a smaller set (a factor nested in another) is left to that.
    """
    terms: list[ComponentTerm] = []
    groupings: set[bytes] = {_grouping(codes, ()), _grouping(codes, tuple(range(codes.shape[1])))}
    for size in range(1, order + 1):
        for chosen in combinations(range(factors.count), size):
            grouping = _grouping(codes, chosen)
            if grouping not in groupings or size == 1:
                terms.append(label_term(*chosen))
                groupings.add(grouping)
    if cells:
        terms.append(label_term(*range(factors.count)))
    return (*terms, *_numeric_terms(factors, codes))


def exact_order(codes: IntArray, y: FloatArray, order: int = 2) -> int | None:
    """Return the smallest size of sets whose effects give outcomes (n,) to rounding with cells to spare, if any does.

    Examples
    --------
    >>> codes = np.indices((4, 5)).reshape(2, -1).T
    >>> exact_order(codes, codes @ [10.0, 1.0]), exact_order(codes, codes[:, 0] * codes[:, 1])
    (1, None)
    """
    blocks = [np.ones((len(codes), 1))]
    for size in range(1, order + 1):
        for chosen in combinations(range(codes.shape[1]), size):
            _, member = np.unique(codes[:, list(chosen)], axis=0, return_inverse=True)
            blocks.append((member.reshape(-1, 1) == np.arange(member.max() + 1)).astype(float))
        design = np.hstack(blocks)
        if design.shape[1] > len(y) + codes.shape[1] ** size:
            return None
        effects, _, rank, _ = np.linalg.lstsq(design, y - y.mean())
        missed = np.abs(y - y.mean() - design @ effects).max()
        if rank < len(y) and missed <= EXACT_RESIDUAL * np.abs(y - y.mean()).max():
            return size
    return None


def _numeric_terms(factors: Factors, codes: IntArray) -> list[ComponentTerm]:
    terms = []
    for factor in range(factors.count):
        table = factors.features[factor]
        if table is not None:
            terms += [ComponentTerm(((factor, kernel),)) for kernel in feature_kernels(table.shape[1])]
        line = factors.coordinates[factor]
        if line is None or len(np.unique(line[codes[:, factor]])) <= MIN_LEVELS_OF_A_LINE:
            continue
        terms += [ComponentTerm(((factor, LINE),)), ComponentTerm(((factor, BUMP),))]
        for partner in range(factors.count):
            if partner != factor:
                terms += [ComponentTerm(((factor, kernel), (partner, SAME))) for kernel in (LINE, BUMP)]
    return terms


def _grouping(codes: IntArray, chosen: Sequence[int]) -> bytes:
    """Return which cells agree in the chosen factors, the same bytes for the same groups whatever their labels."""
    if not chosen:
        return np.zeros(len(codes), dtype=np.int64).tobytes()
    rows, member = distinct(codes[:, list(chosen)])
    start = np.empty(len(rows), dtype=np.int64)
    start[member[::-1]] = np.arange(len(codes))[::-1]  # the last to be written is the earliest cell
    return start[member].tobytes()
