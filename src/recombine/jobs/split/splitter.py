"""`CellSplit` and `CellKFold`: scikit-learn splitters whose test rows are what they are said to be, whole cells."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import Conjunctions, Subset
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.jobs.estimators.factor_columns import given_column
from recombine.jobs.split.mix import hidden_place, read_mix
from recombine.jobs.split.rows import CellFolds, RowSplit, fold_rows, split_rows
from recombine.tables.frames import open_table
from recombine.writing import listing


class _CellSplitter(BaseEstimator):  # type: ignore[misc]
    """What splitters over combinations of factors read from ``X`` and ``y``."""

    n_splits: int
    factors: Sequence[str] | Sequence[int] | None
    order: int
    symmetric: Sequence[str] | Sequence[int]
    stratify: bool
    random_state: Any
    _fewest_splits = 1

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits; all arguments are ignored."""
        return whole(self.n_splits, "n_splits", self._fewest_splits)

    def _read(self, X: Any, y: Any) -> tuple[list[Any], IntArray, Conjunctions, npt.NDArray[Any] | None]:
        """Return the names of factors, the rows as cells (N, C), the model, and the outcome to make alike, if any."""
        columns = factor_columns(X, self.factors)
        groups = self._symmetric(list(columns))
        codes, sizes = _coded(columns, groups)
        outcome = self._outcome(y, len(codes))
        return list(columns), codes, Conjunctions(sizes, whole(self.order, "order"), groups), outcome

    def _symmetric(self, names: list[Any]) -> tuple[tuple[int, ...], ...]:
        given = list(self.symmetric)
        for name in given:
            if name not in names:
                hint = near_miss(name, names, f"Factors: {listing(names)}")
                raise InputError(f"symmetric {name!r} is not one of the factors;{hint}")
        if given and len(set(given)) < max(2, len(given)):
            raise InputError(f"symmetric factors {listing(given)}: name two or more, each once")
        return (tuple(sorted(names.index(name) for name in given)),) if given else ()

    def _outcome(self, y: Any, count: int) -> npt.NDArray[Any] | None:
        if not self.stratify:
            return None
        if y is None:
            raise InputError("stratify=True makes y alike in test and training, and y is None; pass it to split")
        outcome = np.asarray(y)
        if outcome.shape != (count,):
            raise InputError(f"y has shape {outcome.shape}; give one outcome for each of the {count:,} rows of X")
        given = given_column("y", outcome)
        return outcome if outcome.dtype.kind != "O" else np.asarray(given.where)


class CellSplit(_CellSplitter):
    """Cross-validation over combinations of factors: test rows that training rows determine, do not, or never met.

    Parameters
    ----------
    test : str or mapping of str to float
        Parts of the test and their shares of all rows, ``"determined:0.2,disconnected:0.1"``. Parts are ``determined``
        (never in training, but fixed by it if effects add), ``disconnected`` (every level in training, not fixed),
        ``unseen level`` or ``new level`` (a level that training lacks; ``unseen level of dose`` says of which factor)
        and ``seen`` (rows that repeat a training cell).
    factors : sequence of str or int, optional
        Factor columns of ``X`` by name, or by number of an array; all columns by default.
    n_splits : int
        How many splits, drawn independently.
    order : int
        Largest number of factors that interact in the model under which verdicts hold; 1: effects add.
    symmetric : sequence of str or int
        Factors that are one factor used twice, such as gene A and gene B.
    stratify : bool
        Make ``y`` alike in test and training (its classes, or its tenths), as far as verdicts allow.
    random_state : int, RandomState or None
        An int gives the same splits at every call.

    Notes
    -----
    Rows of one cell stay together, but for the part ``seen``. Where a disconnected or unseen-level part takes more out
    of training than was asked for, the rest is in neither part. Every split is verified by `recombine.identify`; what
    cannot be had raises an error that says how much can.

    Examples
    --------
    >>> cells = np.indices((6, 5)).reshape(2, -1).T
    >>> splitter = CellSplit("determined:0.2", n_splits=2, random_state=0)
    >>> [(len(train), len(test)) for train, test in splitter.split(cells)]
    [(24, 6), (24, 6)]
    """

    def __init__(
        self,
        test: str | Mapping[str, float] = "determined:0.2",
        *,
        factors: Sequence[str] | Sequence[int] | None = None,
        n_splits: int = 5,
        order: int = 1,
        symmetric: Sequence[str] | Sequence[int] = (),
        stratify: bool = False,
        random_state: Any = None,
    ) -> None:
        self.test = test
        self.factors = factors
        self.n_splits = n_splits
        self.order = order
        self.symmetric = symmetric
        self.stratify = stratify
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test row numbers of each split; ``groups`` are ignored, as cells are the groups."""
        if groups is not None:
            warnings.warn("CellSplit ignores groups: cells of the factors are its groups", UserWarning, stacklevel=2)
        for row_split in self.row_splits(X, y):
            yield row_split.train, row_split.test

    def row_splits(self, X: Any, y: Any = None) -> Iterator[RowSplit]:
        """Yield each split with the part of every row, and the shares asked for and got."""
        mix, count = read_mix(self.test), self.get_n_splits()
        names, codes, features, outcome = self._read(X, y)
        hidden = hidden_place(self.test, names)
        for seed in check_random_state(self.random_state).randint(2**31 - 1, size=count):
            yield split_rows(codes, mix, features, outcome=outcome, hidden=hidden, seed=int(seed))


class CellKFold(_CellSplitter):
    """Folds of whole combinations: each row is tested once, and as many as can be while the other folds determine them.

    Parameters
    ----------
    n_splits : int
        How many folds, two or more.
    factors : sequence of str or int, optional
        Factor columns of ``X`` by name, or by number of an array; all columns by default.
    order : int
        Largest number of factors that interact in the model under which verdicts hold; 1: effects add.
    symmetric : sequence of str or int
        Factors that are one factor used twice, such as gene A and gene B.
    stratify : bool
        Make ``y`` alike in all folds (its classes, or its tenths), as far as verdicts allow.
    random_state : int, RandomState or None
        An int gives the same folds at every call.

    Notes
    -----
    Cells that nothing else determines (a level's only cell, a bridge between blocks of levels) are tested too, as
    disconnected or unseen level; `folds` says which. Where folds cannot hold all other cells, those left over mostly go
    into one, which then is larger. Rows that share a group stay in one fold, and all cells that they have.

    Examples
    --------
    >>> cells = np.indices((6, 5)).reshape(2, -1).T
    >>> splitter = CellKFold(5, random_state=0)
    >>> [len(test) for _, test in splitter.split(cells)], splitter.folds(cells)
    ([6, 6, 6, 6, 6], CellFolds(5 folds of 30 rows, 100.0% of them determined))
    """

    _fewest_splits = 2

    def __init__(
        self,
        n_splits: int = 5,
        *,
        factors: Sequence[str] | Sequence[int] | None = None,
        order: int = 1,
        symmetric: Sequence[str] | Sequence[int] = (),
        stratify: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.factors = factors
        self.order = order
        self.symmetric = symmetric
        self.stratify = stratify
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test row numbers of each fold."""
        fold = self.folds(X, y, groups).fold
        for number in range(self.get_n_splits()):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> CellFolds:
        """Return the fold of every row, and what the other folds say of its cell."""
        _, codes, features, outcome = self._read(X, y)
        group = None if groups is None else np.asarray(groups)
        if group is not None and group.shape != (len(codes),):
            raise InputError(f"groups has shape {group.shape}; give one group for each of the {len(codes):,} rows of X")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        numbers = None if group is None else given_column("groups", group).where
        return fold_rows(codes, self.get_n_splits(), features, outcome=outcome, group=numbers, seed=seed)


def factor_columns(X: Any, factors: Sequence[str] | Sequence[int] | None = None) -> dict[Any, npt.NDArray[Any]]:
    """Return the factor columns of ``X`` by name, or by number where it is an array; all of them by default.

    Examples
    --------
    >>> factor_columns([["red", 1], ["blue", 2]])
    {0: array(['red', 'blue'], dtype=object), 1: array([1, 2], dtype=object)}
    """
    if X is None:
        raise InputError("X is None; give the factor columns, one row per sample")
    columns: dict[Any, npt.NDArray[Any]]
    if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
        source = open_table(X)
        names = source.columns if factors is None else factors
        if isinstance(names, str):
            raise InputError(f"factors is the text {names!r}; give a list of column names")
        columns = dict(source.read([source.require(str(name), "factor") for name in names]))
        if not len(next(iter(columns.values()), ())):
            raise InputError("X has no rows; give one row per sample")
    else:
        array = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
        if array.ndim != 2 or not len(array):
            raise InputError(f"X has shape {array.shape}; give one row per sample and one column per factor")
        last = array.shape[1] - 1
        chosen = range(last + 1) if factors is None else factors
        for position in chosen:
            if isinstance(position, str) or not 0 <= whole(position, "factors", 0) <= last:
                raise InputError(f"factor {position!r} is not a column of X; give numbers 0 to {last}")
        columns = {int(position): array[:, int(position)] for position in chosen}
    if len(columns) < 2:
        raise InputError(f"{listing(map(repr, columns)) or 'no factor'} is too little to recombine; name two or more")
    return columns


def _coded(columns: Mapping[Any, npt.NDArray[Any]], symmetric: Sequence[tuple[int, ...]]) -> tuple[IntArray, Subset]:
    """Return columns as cells (N, C), and how many levels each has; symmetric ones share their levels."""
    shared: dict[Any, int] = {}
    codes, levels = [], []
    for position, (name, values) in enumerate(columns.items()):
        column = given_column(str(name), values)
        code_of = shared if any(position in group for group in symmetric) else {}
        # Numbered in the order of their texts, so that the order of rows is no matter.
        for value in sorted(column.values, key=lambda value: (str(type(value)), str(value))):
            code_of.setdefault(value, len(code_of))
        codes.append(np.array([code_of[value] for value in column.values], dtype=np.int64)[column.where])
        levels.append(code_of)
    return np.stack(codes, axis=1), tuple(map(len, levels))
