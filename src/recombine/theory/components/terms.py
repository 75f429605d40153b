"""Terms of the model: which factors each component is of, and the covariance that it gives two cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.theory.components.factors import Factors
from recombine.theory.components.level_kernels import BUMP, LINE, SAME, LevelKernel, feature_kernels

#: Seen levels of a factor with coordinates that give it a line, and those that give a curve and lines of their own to
#: levels of other factors: three tell too little of where each of them goes.
MIN_LEVELS_OF_A_LINE, MIN_LEVELS_OF_A_CURVE = 3, 4
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
        return all(kernel == SAME for _, kernel in self.kernels)

    @property
    def is_lines(self) -> bool:
        """Whether it is proportional to coordinates or features."""
        return all(kernel.straight for _, kernel in self.kernels)

    @property
    def features(self) -> tuple[int, ...]:
        """Features that the component is of; none where it is of labels and coordinates."""
        return tuple(column for _, kernel in self.kernels for column in kernel.columns)

    @property
    def is_one_feature(self) -> bool:
        """Whether it is of one feature among several."""
        return any(kernel.alone for _, kernel in self.kernels)

    def covariance(self, factors: Factors, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the covariance (N, M) between cells (N, F) and (M, F) at variance 1.

        Of interchangeable factors it is the mean over all their arrangements in either cell.
        """
        images = factors.images(self.factors)
        if len(images) == 1:
            return self._covariance(factors, rows[:, list(self.factors)], columns[:, list(self.factors)])
        total = np.zeros((len(rows), len(columns)))
        for here, there in product(images, images):
            total += self._covariance(factors, rows[:, list(here)], columns[:, list(there)])
        return total / len(images) ** 2

    def _covariance(self, factors: Factors, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the covariance (N, M) given the levels (N, K) and (M, K) of the term's factors alone."""
        joint = np.ones((len(rows), len(columns)), dtype=bool)
        for slot, (factor, kernel) in enumerate(self.kernels):
            if kernel == SAME:
                joint = joint * (rows[:, slot, None] == columns[None, :, slot])
                continue
            row_levels, row = np.unique(rows[:, slot], return_inverse=True)
            column_levels, column = np.unique(columns[:, slot], return_inverse=True)
            block = kernel.between(factors, factor, row_levels, column_levels)
            assert block is not None
            joint = joint * block[np.ix_(row.reshape(-1), column.reshape(-1))]
        return np.asarray(joint, dtype=float)

    def variance(self, factors: Factors, rows: IntArray) -> FloatArray:
        """Return the variance (N,) at cells (N, F), where that of the component is 1."""
        images = factors.images(self.factors)
        total = np.zeros(len(rows))
        for here, there in product(images, images):
            joint = np.ones(len(rows))
            for a, b, (factor, kernel) in zip(here, there, self.kernels, strict=True):
                joint *= _level_covariances(factors, factor, kernel, rows[:, [a, b]])
            total += joint
        return total / len(images) ** 2


def _level_covariances(factors: Factors, factor: int, kernel: LevelKernel, pairs: IntArray) -> FloatArray:
    """Return the covariance (N,) of the two levels of each of some pairs (N, 2)."""
    if np.array_equal(pairs[:, 0], pairs[:, 1]):
        return np.asarray(kernel.variances(factors, factor, pairs[:, 0]))
    levels, places = np.unique(pairs, return_inverse=True)
    block = kernel.between(factors, factor, levels, levels)
    if block is None:
        return np.asarray(pairs[:, 0] == pairs[:, 1], dtype=float)
    return np.asarray(block[tuple(places.reshape(-1, 2).T)])


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
    return _distinct_terms(factors, [*terms, *_numeric_terms(factors, codes)])


def _distinct_terms(factors: Factors, terms: Sequence[ComponentTerm]) -> tuple[ComponentTerm, ...]:
    """Return the terms but for those that interchangeable factors make the same."""
    if not factors.symmetric:
        return tuple(terms)
    by_kind: dict[object, ComponentTerm] = {}
    for term in terms:
        kind = tuple(sorted((factors.twins(factor), kernel.name) for factor, kernel in term.kernels))
        by_kind.setdefault(kind, term)
    return tuple(by_kind.values())


def exact_order(codes: IntArray, y: FloatArray, order: int = 2, symmetric: Sequence[Sequence[int]] = ()) -> int | None:
    """Return the smallest size of sets whose effects give outcomes (n,) to rounding with cells to spare, if any does.

    Effects of ``symmetric`` groups of factors are those of their levels, whichever of the factors has them.

    Examples
    --------
    >>> codes = np.indices((4, 5)).reshape(2, -1).T
    >>> exact_order(codes, codes @ [10.0, 1.0]), exact_order(codes, codes[:, 0] * codes[:, 1])
    (1, None)
    """
    blocks, factors = [np.ones((len(codes), 1))], Factors.of(codes, symmetric=symmetric)
    for size in range(1, order + 1):
        for term in _distinct_terms(factors, [label_term(*each) for each in combinations(range(factors.count), size)]):
            images = factors.images(term.factors)
            levels = np.concatenate([codes[:, list(image)] for image in images])
            _, member = np.unique(levels, axis=0, return_inverse=True)
            columns = (member.reshape(-1, 1) == np.arange(member.max() + 1)).astype(float)
            blocks.append(columns.reshape(len(images), len(codes), -1).sum(axis=0))
        design = np.hstack(blocks)
        if design.shape[1] > len(y) + codes.shape[1] ** size:
            return None
        effects, _, rank, _ = np.linalg.lstsq(design, y - y.mean())
        missed = np.abs(y - y.mean() - design @ effects).max()
        if rank < len(y) and missed <= EXACT_RESIDUAL * np.abs(y - y.mean()).max():
            return size
    return None


def exact_features(factors: Factors, codes: IntArray, y: FloatArray) -> tuple[int, ...]:
    """Return the factors whose effects on outcomes (n,) are proportional to their features to rounding, if so.

    Levels have to be more than features and the mean, or any effects would be.
    """
    telling = [factor for factor in range(factors.count) if _tells_all(factors, codes, factor)]
    for described in [telling, *([factor] for factor in telling)] if telling else []:
        blocks = [np.ones((len(codes), 1))]
        for factor in range(factors.count):
            table = factors.features[factor] if factor in described else None
            blocks.append(
                np.eye(codes[:, factor].max() + 1)[codes[:, factor]] if table is None else table[codes[:, factor]]
            )
        design = np.hstack(blocks)
        missed = np.abs(y - design @ np.linalg.lstsq(design, y)[0]).max()
        if missed <= EXACT_RESIDUAL * np.abs(y - y.mean()).max():
            return tuple(described)
    return ()


def _tells_all(factors: Factors, codes: IntArray, factor: int) -> bool:
    """Whether every seen level of a factor has features, and levels are more than these and the mean."""
    table, levels = factors.features[factor], np.unique(codes[:, factor])
    return table is not None and len(levels) > table.shape[1] + 1 and bool(np.isfinite(table[levels]).all())


def _numeric_terms(factors: Factors, codes: IntArray) -> list[ComponentTerm]:
    terms = []
    for factor in range(factors.count):
        table = factors.features[factor]
        if table is not None:
            terms += _feature_terms(factors.count, factor, table.shape[1])
        line = factors.coordinates[factor]
        levels = 0 if line is None else len(np.unique(line[codes[:, factor]]))
        if levels >= MIN_LEVELS_OF_A_CURVE:
            terms += _alone_and_by_level(factors.count, factor, (LINE, BUMP))
        elif levels >= MIN_LEVELS_OF_A_LINE:
            terms.append(ComponentTerm(((factor, LINE),)))
    return terms


def _feature_terms(count: int, factor: int, features: int) -> list[ComponentTerm]:
    """Return terms of features together, of each alone, and of all together by level of every other factor."""
    together = feature_kernels(tuple(range(features)))
    single = [(column,) for column in range(features)] if features > 1 else []
    alone = [kernel for columns in single for kernel in feature_kernels(columns, alone=True)]
    return _alone_and_by_level(count, factor, together, alone)


def _alone_and_by_level(
    count: int, factor: int, kernels: Sequence[LevelKernel], further: Sequence[LevelKernel] = ()
) -> list[ComponentTerm]:
    """Return terms of kernels of a factor by themselves, ``further`` ones too, and by level of every other factor."""
    terms = [ComponentTerm(((factor, kernel),)) for kernel in (*kernels, *further)]
    for partner in range(count):
        if partner != factor:
            terms += [ComponentTerm(((factor, kernel), (partner, SAME))) for kernel in kernels]
    return terms


def _grouping(codes: IntArray, chosen: Sequence[int]) -> bytes:
    """Return which cells agree in the chosen factors, the same bytes for the same groups whatever their labels."""
    if not chosen:
        return np.zeros(len(codes), dtype=np.int64).tobytes()
    rows, member = distinct(codes[:, list(chosen)])
    start = np.empty(len(rows), dtype=np.int64)
    start[member[::-1]] = np.arange(len(codes))[::-1]  # the last to be written is the earliest cell
    return start[member].tobytes()
