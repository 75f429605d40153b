"""`CellKFold`: folds are a partition, and no partition of the same cells has more of them determined."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

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


@pytest.mark.slow
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


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**20), folds=st.integers(2, 6), order=st.integers(1, 2), grouped=st.booleans())
def test_each_row_is_tested_once_with_its_cell_and_its_group(seed: int, folds: int, order: int, grouped: bool) -> None:
    rng = np.random.default_rng(seed)
    columns = random_cells(rng, (5, 4, 3), 40)[rng.integers(40, size=80)]
    groups = rng.integers(60, size=80) if grouped else None
    splitter = rc.CellKFold(folds, order=order, random_state=seed)
    try:
        splits = list(splitter.split(columns, groups=groups))
    except InputError as reason:
        assert "folds are more than the" in str(reason)  # noqa: PT017 - groups may tie everything together
        return
    assert len(splits) == folds == splitter.get_n_splits()
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(80))
    for train, test in splits:
        assert len(test)
        assert sorted([*train, *test]) == list(range(80))
        assert not set(map(tuple, columns[train].tolist())) & set(map(tuple, columns[test].tolist()))
        assert groups is None or not set(groups[train]) & set(groups[test])


def test_folds_of_a_full_table_are_equal_and_wholly_determined() -> None:
    cells = np.repeat(np.indices((10, 8)).reshape(2, -1).T, 5, axis=0)
    found = rc.CellKFold(5, random_state=0).folds(cells)
    assert found.determined == 1
    assert np.bincount(found.fold).tolist() == [80] * 5
    assert repr(found) == "CellFolds(5 folds of 400 rows, 100.0% of them determined)"
    assert found.shares["cells"].tolist() == [16] * 5
    five = list(rc.CellSplit("determined:0.2", random_state=0).split(cells))
    assert len(np.unique(np.concatenate([test for _, test in five]))) < 320  # what five independent draws leave out


def test_bridges_and_only_cells_are_tested_and_harm_nobody() -> None:
    block = np.indices((4, 4)).reshape(2, -1).T
    bridge, only = [[3, 4]], [[5, 0]]
    cells = np.concatenate([block, bridge, block + 4, only])
    cells[-1, 0] = 8
    found = rc.CellKFold(4, random_state=1).folds(cells)
    unlike = np.flatnonzero(found.codes != rc.Verdict.DETERMINED)
    assert unlike.tolist() == [16, len(cells) - 1]
    assert found.codes[unlike].tolist() == [rc.Verdict.DISCONNECTED, rc.Verdict.UNSEEN_LEVEL]
    assert np.ptp(np.bincount(found.fold)) <= 1


@pytest.mark.slow
def test_cells_that_do_not_fit_at_first_are_exchanged_until_they_do() -> None:
    """A table of a few more cells than effects: folds hold all of it only if they are chosen with care."""
    for seed in range(4):
        cells = random_cells(np.random.default_rng(seed), (7, 7), 24)
        found, oracle = rc.CellKFold(3, random_state=seed).folds(cells), Oracle(Conjunctions((7, 7)), cells)
        total = oracle.rank(oracle.everything)
        alive = sum(oracle.rank(oracle.everything & ~(1 << cell)) == total for cell in range(24))
        assert determined_cells(found) == alive > 18


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    cells = np.stack([rng.integers(12, size=600), rng.integers(9, size=600)], axis=1)
    frame = pd.DataFrame(cells, columns=["drug", "line"])
    frame["y"] = cells @ [1.0, 0.5] + rng.normal(size=600)
    return frame.astype({"drug": str, "line": str})


def test_predictions_of_all_rows_come_from_folds_that_lack_their_cells(frame: pd.DataFrame) -> None:
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    splitter = rc.CellKFold(4, factors=["drug", "line"], random_state=0)
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(model, frame[["drug", "line"]], frame.y, cv=rc.CellSplit())
    predicted = cross_val_predict(model, frame[["drug", "line"]], frame.y, cv=splitter)
    assert np.isfinite(predicted).all()
    assert np.corrcoef(predicted, frame.y)[0, 1] > 0.9
    scores = cross_validate(model, frame[["drug", "line"]], frame.y, cv=splitter)["test_score"]
    assert scores.shape == (4,)
    assert scores.min() > 0.8


@pytest.mark.slow
def test_folds_are_those_of_their_seed_whatever_the_order_of_rows(frame: pd.DataFrame) -> None:
    splitter = rc.CellKFold(4, factors=["drug", "line"], random_state=7)
    assert splitter.get_params()["random_state"] == 7
    fold = splitter.folds(frame).fold
    assert fold.tolist() == clone(splitter).folds(frame).fold.tolist()
    turned = np.random.default_rng(0).permutation(len(frame))
    assert splitter.folds(frame.iloc[turned]).fold.tolist() == fold[turned].tolist()
    assert clone(splitter).set_params(random_state=8).folds(frame).fold.tolist() != fold.tolist()
    groups = np.random.default_rng(1).integers(900, size=len(frame))
    of_groups = splitter.folds(frame, groups=groups).fold
    assert splitter.folds(frame.iloc[turned], groups=groups[turned]).fold.tolist() == of_groups[turned].tolist()


@pytest.mark.slow
def test_stratified_folds_have_outcomes_more_alike(frame: pd.DataFrame) -> None:
    options: dict[str, Any] = {"factors": ["drug", "line"], "random_state": 0}
    tenth = pd.qcut(frame.y, 10, labels=False).to_numpy()

    def distance(splitter: rc.CellKFold) -> float:
        fold = splitter.folds(frame, frame.y).fold
        table = np.array([np.bincount(tenth[fold == number], minlength=10) for number in range(5)])
        return float(np.abs(table / table.sum(axis=1, keepdims=True) - 0.1).sum())

    assert distance(rc.CellKFold(stratify=True, **options)) < 0.6 * distance(rc.CellKFold(**options))


def test_groups_that_cross_cells_stay_whole_and_are_determined() -> None:
    cells = np.indices((12, 12)).reshape(2, -1).T
    groups = np.arange(144) // 3
    found = rc.CellKFold(4, random_state=0).folds(cells, groups=groups)
    assert all(len(set(found.fold[groups == group])) == 1 for group in range(48))
    assert found.determined == 1
    level = GroupKFold(4).split(cells, groups=cells[:, 0])
    assert all(not set(cells[train, 0]) & set(cells[test, 0]) for train, test in level)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_splits": 1}, "n_splits is 1; give a whole number of at least 2"),
        ({"n_splits": 2.5}, "n_splits is 2.5"),
        ({"n_splits": 200}, "200 folds are more than the 107 cells there are; ask for at most 107"),
        ({"factors": ["drug"]}, "'drug' is too little to recombine"),
        ({"order": 3}, "order 3 does not fit 2 factors"),
        ({"symmetric": ["drug"]}, "name two or more, each once"),
        ({"stratify": True}, "y is None"),
    ],
)
def test_what_cannot_be_is_one_line(frame: pd.DataFrame, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        next(rc.CellKFold(**{"factors": ["drug", "line"], **options}).split(frame))  # type: ignore[arg-type]


def test_groups_have_to_fit(frame: pd.DataFrame) -> None:
    splitter = rc.CellKFold(factors=["drug", "line"])
    with pytest.raises(InputError, match=r"groups has shape \(599,\); give one group for each of the 600 rows"):
        next(splitter.split(frame, groups=np.zeros(599)))
    with pytest.raises(InputError, match="5 folds are more than the 1 sets of cells that share no group"):
        next(splitter.split(frame, groups=np.zeros(600)))


def test_a_model_in_which_nothing_follows_is_split_all_the_same() -> None:
    found = rc.CellKFold(3, order=2, random_state=0).folds(np.indices((4, 3)).reshape(2, -1).T)
    assert np.bincount(found.fold).tolist() == [4, 4, 4]
    assert found.determined == 0
