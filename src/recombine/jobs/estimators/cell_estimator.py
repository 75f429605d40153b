"""What both estimators share: factor columns to cells, verdicts row by row, and rows that are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.checks import known_or_refuse
from recombine.errors import InputError
from recombine.jobs.estimators.factor_columns import FactorColumns, GivenColumn, given_columns, learn_columns
from recombine.jobs.estimators.membership import Membership
from recombine.verdicts import Verdict

#: What to do about rows that are not determined.
UNDETERMINED = ("mean", "nan", "raise")


@dataclass(frozen=True, eq=False)
class AskedRows:
    """Rows that are asked about, as distinct cells.

    Attributes
    ----------
    cells : int array of shape (M, C)
        Distinct.
    where : int array of shape (N,)
        Place of each row's cell among them.
    codes : int array of shape (M,)
        Verdict codes.
    columns : list of GivenColumn
        The levels as they were given, by row.
    """

    cells: IntArray
    where: IntArray
    codes: IntArray
    columns: list[GivenColumn]

    @property
    def known(self) -> BoolArray:
        """Which cells are seen or determined, (M,)."""
        return np.asarray(self.codes <= Verdict.DETERMINED)

    @property
    def words(self) -> npt.NDArray[np.object_]:
        """The verdicts in words, (M,)."""
        return np.asarray(np.array([verdict.word for verdict in Verdict], dtype=object)[self.codes])


class CellEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose columns are factors; see `CompositionalRegressor`."""

    undetermined: str
    _member: Membership

    def __sklearn_tags__(self) -> Any:
        """Say that columns hold categories and may hold texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _learn(self, X: Any, y: Any) -> tuple[FactorColumns, IntArray]:
        """Check what both take, and return the levels of the columns and the cells (N, C) of the rows."""
        known_or_refuse(self.undetermined, "word for undetermined", UNDETERMINED)
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        columns, names = given_columns(self, X, reset=True)
        table, cells = learn_columns(columns, names)
        self.levels_ = [list(levels) for levels in table.levels]
        return table, cells

    def _same_length(self, cells: IntArray, y: npt.NDArray[Any]) -> None:
        if len(y) != len(cells):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {len(cells)} rows and y has "
                f"{len(y)}; give one outcome per row"
            )

    def _asked(self, X: Any) -> AskedRows:
        check_is_fitted(self, "structure_")
        columns, _ = given_columns(self, X, reset=False)
        rows, where = distinct(self._member.table.codes(columns))
        return AskedRows(rows, where, self._member.identification.verdicts_of(rows).astype(np.int64), columns)

    def _refuse(self, asked: AskedRows) -> None:
        """Raise for the first row that is not determined, where that is asked for."""
        places = np.flatnonzero(~asked.known[asked.where])
        if self.undetermined == "raise" and len(places):
            row = int(places[0])
            values = [column.at(row) for column in asked.columns]
            raise InputError(self._member.advice(asked.cells[asked.where[row]], values, row, len(places) - 1))
