"""`CellKFold`: folds are a partition, and no partition of the same cells has more of them determined."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import recombine as rc
from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import Conjunctions, canonical, distinct
from recombine.errors import InputError
from recombine.jobs.split import CellFolds, fold_rows


def rank(rows: list[list[int]]) -> int:
    """The rank of a matrix of whole numbers, by fractions."""
    matrix, done = [[Fraction(value) for value in row] for row in rows], 0
    for column in range(len(matrix[0]) if matrix else 0):
        pivot = next((row for row in range(done, len(matrix)) if matrix[row][column]), None)
        if pivot is None:
            continue
        matrix[done], matrix[pivot] = matrix[pivot], matrix[done]
        for row in range(done + 1, len(matrix)):
            factor = matrix[row][column] / matrix[done][column]
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[done], strict=True)]
        done += 1
    return done


class Oracle:
    """Ranks of sets of cells (bits), by fractions, and the most determined cells of any partition, by trying all."""

    def __init__(self, features: Conjunctions, cells: IntArray) -> None:
        incidence = np.zeros((len(cells), features.columns), dtype=int)
        for cell, ids in enumerate(features.ids(cells)):
            np.add.at(incidence[cell], ids, 1)
        self.rows = incidence.tolist()
        self.everything = (1 << len(cells)) - 1
        self.rank = lru_cache(None)(self._rank)
        self.determined = lru_cache(None)(self._determined)
        self.most = lru_cache(None)(self._most)

    def _rank(self, members: int) -> int:
        return rank([row for cell, row in enumerate(self.rows) if members >> cell & 1])

    def _determined(self, fold: int) -> frozenset[int]:
        training = self.everything & ~fold
        cells = [cell for cell in range(len(self.rows)) if fold >> cell & 1]
        return frozenset(cell for cell in cells if self.rank(training | 1 << cell) == self.rank(training))

    def _most(self, folds: int, members: int) -> float:
        if folds == 1:
            return len(self.determined(members)) if members else -np.inf
        best, fold = -np.inf, members
        while fold:
            best = max(best, len(self.determined(fold)) + self.most(folds - 1, members & ~fold))
            fold = (fold - 1) & members
        return best


def random_cells(rng: np.random.Generator, sizes: tuple[int, ...], count: int) -> IntArray:
    places = rng.choice(int(np.prod(sizes)), size=min(count, int(np.prod(sizes))), replace=False)
    return np.stack(np.unravel_index(places, sizes), axis=1)


def determined_cells(found: CellFolds) -> int:
    return len(np.unique(found.where[found.codes == rc.Verdict.DETERMINED]))


SHAPES = [
    ((3, 3), 1, ()),
    ((2, 5), 1, ()),
    ((2, 2, 3), 1, ()),
    ((2, 2, 2), 2, ()),
    ((2, 2, 3), 2, ()),
    ((4, 4), 1, ((0, 1),)),
    ((3, 3, 2), 1, ((0, 1),)),
]


@pytest.mark.parametrize(("sizes", "order", "symmetric"), SHAPES)
@pytest.mark.parametrize("folds", [2, 3, 4])
def test_no_partition_has_more_determined_cells(
    sizes: tuple[int, ...], order: int, symmetric: tuple[tuple[int, ...], ...], folds: int
) -> None:
    features, rng = Conjunctions(sizes, order, symmetric), np.random.default_rng([folds, *sizes, order])
    for seed in range(12):
        cells, _ = distinct(canonical(random_cells(rng, sizes, int(rng.integers(5, 9))), symmetric))
        if len(cells) < folds:
            continue
        found = fold_rows(cells, folds, features, seed=seed)
        oracle = Oracle(features, cells)
        assert determined_cells(found) == oracle.most(folds, oracle.everything), (cells.tolist(), found.fold)
        for number in range(folds):
            fold = sum(1 << int(cell) for cell in np.flatnonzero(found.fold == number))
            said = set(np.flatnonzero((found.fold == number) & (found.codes == rc.Verdict.DETERMINED)).tolist())
            assert fold
            assert said == oracle.determined(fold)
