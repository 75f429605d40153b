"""What both estimators share: factor columns to cells, verdicts row by row, and rows that are refused."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.checks import known_or_refuse
from recombine.errors import InputError
from recombine.jobs.estimators.factor_columns import FactorColumns, GivenColumn, given_columns
from recombine.jobs.values.cell_values import level_coordinates
from recombine.jobs.values.level_features import read_all_features
from recombine.tables.level_features import LevelFeatures
from recombine.theory.components.fit import CellValues, ComponentsFit
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.structures.structure import Structure
from recombine.verdicts import Verdict
from recombine.writing import plural

#: What to do about rows that are not determined.
UNDETERMINED = ("prior", "nan", "raise")
#: What to do about missing values in factor columns.
MISSING = ("refuse", "level")
#: Levels of a column that are tried in place of one that is not joined to the others.
MAX_LEVELS_TRIED = 1_000


@dataclass(frozen=True, eq=False)
class AskedRows:
    """N rows that are asked about, as M distinct cells."""

    cells: IntArray  # (M, C); all levels that were never seen have the number past the last
    numbered: IntArray  # (M, C); each of them has a number of its own
    cell_of_row: IntArray  # (N,), positions
    codes: IntArray  # (M,), verdicts
    columns: list[GivenColumn]  # the levels as they were given

    @property
    def settled(self) -> BoolArray:
        """Which cells are seen or determined, (M,)."""
        return np.asarray(self.codes <= Verdict.DETERMINED)

    @property
    def words(self) -> npt.NDArray[np.object_]:
        """The verdicts in words, (M,)."""
        return np.asarray(np.array([verdict.word for verdict in Verdict], dtype=object)[self.codes])


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Training rows whose weight is not 0."""

    cells: IntArray  # (n, C)
    chosen: BoolArray  # (N,), which of the given rows they are
    weights: FloatArray | None  # (n,); None where all count alike


class CellEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose columns are factors; see `CompositionalRegressor`."""

    undetermined: str
    missing: str
    features: Mapping[Any, object] | None
    _table: FactorColumns
    _described: dict[int, LevelFeatures]

    def __sklearn_tags__(self) -> Any:
        """Say that columns hold categories and may hold texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _learn(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> WeighedRows:
        """Check what both take, learn the levels of the columns, and return the rows that count."""
        known_or_refuse(self.undetermined, "word for undetermined", UNDETERMINED)
        known_or_refuse(self.missing, "word for missing", MISSING)
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        columns, names = given_columns(self, X, reset=True, missing=self.missing)
        count, weights = len(columns[0].where), None
        chosen = np.ones(count, dtype=bool)
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.empty((count, 1)), ensure_non_negative=True)
            chosen, weights = weights > 0, weights[weights > 0]
            columns = [column.rows(chosen) for column in columns]
        self._table = FactorColumns.learned(columns, names)
        self.levels_ = [list(levels) for levels in self._table.levels]
        self._described = read_all_features(self.features, names)
        for factor, features in self._described.items():
            features.shared(self._table.levels[factor], names[factor])
        return WeighedRows(self._table.codes(columns), chosen, weights)

    def _same_length(self, rows: WeighedRows, y: npt.NDArray[Any]) -> None:
        if len(y) != len(rows.chosen):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {len(rows.chosen)} rows and y has "
                f"{len(y)}; give one outcome per row"
            )

    def _asked(self, X: Any, identification: Identification) -> AskedRows:
        """Return the rows of X with their verdicts."""
        check_is_fitted(self)
        columns, _ = given_columns(self, X, reset=False, missing=self.missing)
        numbered, cell_of_row = distinct(self._table.codes(columns))
        cells = np.minimum(numbered, np.array(self._table.sizes) - 1)
        codes = identification.verdicts_of(cells).astype(np.int64)
        return AskedRows(cells, numbered, cell_of_row, codes, columns)

    def _values(self, rows: AskedRows, fit: ComponentsFit) -> CellValues:
        """Return the values of components, new numbers on their lines and new levels by their descriptors."""
        lines: dict[int, FloatArray] = {}
        tables: dict[int, FloatArray] = {}
        for factor, values in enumerate(self._table.new_values(rows.columns)):
            line = level_coordinates(values) if values else None
            if line is not None:
                lines[factor] = line
            if values and factor in self._described:
                tables[factor] = self._described[factor].of(values)
        return (fit.with_levels(lines, tables) if lines or tables else fit).predict(rows.numbered)

    def _level_features(self) -> dict[int, FloatArray]:
        """Return the descriptors (L, D) of the levels of training rows, by factor."""
        return {factor: features.of(self._table.levels[factor]) for factor, features in self._described.items()}

    def _refuse(self, rows: AskedRows, structure: Structure, identification: Identification) -> None:
        """Raise for the first row that is not determined, where that is asked for: say why, and what to collect."""
        refused = np.flatnonzero(~rows.settled[rows.cell_of_row])
        if self.undetermined != "raise" or not len(refused):
            return
        row = int(refused[0])
        cell = rows.cells[rows.cell_of_row[row]]
        values = [column.at(row) for column in rows.columns]
        more = f" ({plural(len(refused) - 1, 'further row')} alike)" if len(refused) > 1 else ""
        unseen = [factor for factor, code in enumerate(cell) if code >= len(self._table.levels[factor])]
        if unseen:
            levels = " and ".join(self._table.level(factor, int(cell[factor]), values) for factor in unseen)
            raise InputError(
                f"row {row} of X ({self._table.text(cell, values)}) has a level that no training row has: {levels}; "
                f"collect rows with it, or pass undetermined='prior' or 'nan'{more}"
            )
        try:
            self._refuse_gap(cell, structure.order, identification)
        except InputError as gap:
            raise InputError(
                f"row {row} of X ({self._table.text(cell)}) is not determined by the training rows if "
                f"{structure.assumption}: {gap}, or pass undetermined='prior' or 'nan'{more}"
            ) from None

    def _refuse_gap(self, cell: IntArray, order: int, identification: Identification) -> None:
        """Raise what is missing: a sign, a conjunction that was never seen, or a comparison of levels of a column."""
        seen = identification.seen.cells
        if identification.verdicts_of(cell[None])[0] == Verdict.DETERMINED:
            raise InputError("its sum follows, but not its sign or whether it is zero; collect this combination")
        here = [self._table.level(factor, int(code)) for factor, code in enumerate(cell)]
        for factors in itertools.combinations(range(len(cell)), order) if order > 1 else ():
            if not (seen[:, list(factors)] == cell[list(factors)]).all(axis=1).any():
                together = " with ".join(here[factor] for factor in factors)
                raise InputError(f"no training row has {together}; collect this combination, or others that have both")
        for factor in range(len(cell)):
            joined = self._joined(cell, factor, identification)
            if joined is not None:
                there = self._table.level(factor, joined)
                raise InputError(
                    f"no chain of training rows compares {here[factor]} with {there}, for which the same combination "
                    "is known; collect this combination"
                    + (f", or another row with {here[factor]} whose like with {there} is known" if order == 1 else "")
                )
        columns = ", ".join(map(repr, self._table.names))
        raise InputError(f"no sum of training rows over {columns} gives it; collect this combination")

    def _joined(self, cell: IntArray, factor: int, identification: Identification) -> int | None:
        """Return a level of a column with which the cell would be determined."""
        levels = np.arange(min(len(self._table.levels[factor]), MAX_LEVELS_TRIED))
        tried = np.repeat(cell[None, :], len(levels), axis=0)
        tried[:, factor] = levels
        good = np.flatnonzero(identification.verdicts_of(tried) <= Verdict.DETERMINED)
        return int(levels[good[0]]) if len(good) else None


def identified(structure: Structure, cells: IntArray, sizes: Sequence[int]) -> Identification:
    """Work out which cells follow from those of the training rows (N, C) under a structure."""
    if structure.order > cells.shape[1]:
        raise InputError(
            f"structure {structure.name!r} needs {structure.order} columns; X has {cells.shape[1]} feature(s): "
            "use 'add'"
        )
    return identify(cells, order=structure.order, sizes=sizes)
