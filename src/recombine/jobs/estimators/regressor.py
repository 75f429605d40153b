"""Regression on factor columns by the structure that the data show, with ranges and verdicts."""

from __future__ import annotations

from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.checks import known_or_refuse, reals
from recombine.design.design import Design
from recombine.errors import InputError, RecombineError
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.estimators.cell_estimator import AskedRows, CellEstimator
from recombine.jobs.estimators.structure_fits import fit_cells
from recombine.jobs.structure.choice import choose_structure
from recombine.theory.structures.all_structures import STRUCTURES, sum_of
from recombine.theory.structures.ladder import Ladder
from recombine.theory.structures.structure import Structure
from recombine.verdicts import Verdict

#: Rows whose levels all occur in other rows too, below which no structure can be scored.
MIN_ROWS_SHARED = 3


class CompositionalRegressor(RegressorMixin, CellEstimator):  # type: ignore[misc]
    """Regression on factor columns: effects that add, multiply, add in pairs, or add on a curved scale.

    Every column of X is a factor and its distinct values are levels: texts, numbers or dates, in arrays or in pandas,
    polars and pyarrow dataframes. Rows may repeat a combination. A new combination of known levels is predicted where
    the training rows determine it under the structure, which is decided exactly; `verdicts` says so row by row.

    Parameters
    ----------
    structure : str
        What effects do: ``"add"``, ``"log"`` or another name of `recombine.theory.structures.STRUCTURES`. ``"auto"``
        takes what the audit does: those that the data can carry are scored on held-out combinations, and the simplest
        within one standard error of the best is chosen; see `recombine.theory.structures.ladder`.
    undetermined : {"mean", "nan", "raise"}
        What to predict for a row that is not determined, or has a level never seen: the mean outcome of the training
        rows, NaN, or an error that names the row, its column and what to collect. A row beyond the seen range of the
        curve (``link``) has the curve continued straight in place of the mean.
    shrink : bool, optional
        Shrink effects as the data say (evidence), in ``add``, ``pairs``, ``triples`` and ``log``; else they are those
        of least squares. By default they are shrunk under ``"auto"``, where that is what was scored, and are not where
        the structure is named. Links and products are always shrunk.
    seed : int
        Of the parts that are held out.

    Attributes
    ----------
    structure_ : str
        The structure that was fitted.
    ladder_ : Ladder or None
        All structures with their held-out R2, under ``"auto"``.
    reason_ : str
        Why ``"auto"`` could not choose and took ``add``; empty if it could.
    ranges_ : Ranges, FoldRanges or None
        What the ranges rest on: ``what`` says what a range is for, ``obstacle`` why there is none.
    levels_ : list of lists
        Levels of each factor.
    n_features_in_, feature_names_in_
        Number of columns, and their names where X has some.

    Examples
    --------
    >>> import recombine as rc
    >>> X = [["red", "cube"], ["red", "ball"], ["blue", "cube"], ["green", "cone"]]
    >>> model = rc.CompositionalRegressor(structure="add", undetermined="nan").fit(X, [1.0, 2.0, 11.0, 5.0])
    >>> model.predict([["blue", "ball"], ["green", "ball"]]).round(6)
    array([12., nan])
    >>> model.verdicts([["blue", "ball"], ["green", "ball"], ["pink", "ball"], ["red", "ball"]]).tolist()
    ['determined', 'disconnected', 'unseen level', 'seen']

    On many rows ``"auto"`` finds the curve, and a range comes with every prediction:

    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> y = 1 / (1 + np.exp(5 - cells.sum(axis=1))) + 0.05 * np.random.default_rng(0).normal(size=216)
    >>> seen = np.arange(216) % 5 > 0
    >>> model = rc.CompositionalRegressor().fit(cells[seen], y[seen])
    >>> model.structure_, round(model.score(cells[~seen], y[~seen]), 2)
    ('link', 0.98)
    >>> predicted, low, high = model.predict(cells[~seen], return_range=True)
    >>> round(float(np.mean((low < y[~seen]) & (y[~seen] < high))), 2)
    0.98
    """

    def __init__(
        self, structure: str = "auto", *, undetermined: str = "mean", shrink: bool | None = None, seed: int = 0
    ) -> None:
        self.structure = structure
        self.undetermined = undetermined
        self.shrink = shrink
        self.seed = seed

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Fit to factor columns ``X`` (N, C) with outcomes ``y`` (N,)."""
        known_or_refuse(self.structure, "structure", ("auto", *STRUCTURES.names))
        cells = self._learn(X, y)
        outcome = reals(column_or_1d(y, warn=True), "y")
        self._same_length(cells, outcome)
        self.ladder_: Ladder | None = None
        self.reason_ = ""
        structure = self._chosen(cells, outcome) if self.structure == "auto" else STRUCTURES[self.structure]
        self._assume(structure, cells)
        if len(cells) < structure.min_cells:
            raise InputError(f"structure {structure.name!r} needs rows that differ and X has 1 sample; use 'add'")
        shrunk = self.shrink if self.shrink is not None else self.ladder_ is not None
        self._fit = fit_cells(structure, cells, outcome, self._table.sizes, shrunk, self.seed)
        self._mean = float(outcome.mean())
        return self

    def _chosen(self, cells: IntArray, y: FloatArray) -> Structure:
        try:
            shared = [np.bincount(column)[column] > 1 for column in cells.T]
            if np.logical_and.reduce(shared).sum() < MIN_ROWS_SHARED:
                raise InputError("fewer than three rows share all their levels with others; collect more rows")
            design = Design.from_cells(cells, y)
            noise = cell_noise(design)
            variance = None if noise is None or noise.at_most else noise.variances
            choice = choose_structure(design, variance=variance, seed=self.seed)
        except RecombineError as error:
            self.reason_ = str(error)
            return sum_of(1)
        self.ladder_, self.reason_ = choice.ladder, choice.obstacle
        return choice.structure

    @property
    def ranges_(self) -> Any:
        """What the ranges rest on, or None where there are too many levels to work out leverages."""
        check_is_fitted(self, "structure_")
        return self._fit.ranges

    @overload
    def predict(self, X: Any, return_range: Literal[False] = ...) -> FloatArray: ...
    @overload
    def predict(self, X: Any, return_range: Literal[True]) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def predict(self, X: Any, return_range: bool = False) -> FloatArray | tuple[FloatArray, FloatArray, FloatArray]:
        """Return predictions at ``X`` (N, C), shape (N,); with ``return_range`` the ends of their 90 % ranges too.

        The range is for the combination's mean where training rows repeat combinations, else for one measurement.
        Ends are NaN where no range can be given (``ranges_`` says why), and infinite where a row is not determined.
        """
        rows, values = self._valued(X)
        beyond = self._beyond(rows)
        self._refuse(rows)
        self._refuse_beyond(rows, beyond)
        settled = rows.settled & ~(beyond & (self.undetermined == "nan"))
        cells, cell_of_row = rows.cells, rows.cell_of_row
        values = np.where(settled, values, np.nan if self.undetermined == "nan" else self._mean)
        if not return_range:
            return np.asarray(values[cell_of_row])
        low, high = np.full((2, len(cells)), np.nan)
        if self.undetermined == "mean":
            low[~settled], high[~settled] = -np.inf, np.inf
        low[settled], high[settled] = self._fit.range_of(cells[settled])
        return values[cell_of_row], low[cell_of_row], high[cell_of_row]

    def verdicts(self, X: Any) -> npt.NDArray[np.object_]:
        """Say of each row of ``X`` (N, C) whether the training rows determine it, shape (N,).

        ``seen``, ``determined``, ``disconnected`` (no sum of training rows gives it), ``unseen level``, ``undecided``,
        and under a link ``beyond the seen range`` (determined on the hidden scale, but the curve is not known there).
        """
        rows, _ = self._valued(X)
        words = rows.words
        words[self._beyond(rows)] = Verdict.BEYOND.word
        return np.asarray(words[rows.cell_of_row])

    def _valued(self, X: Any) -> tuple[AskedRows, FloatArray]:
        """Return the rows of X and the values (M,) of their cells; one without a value is not determined."""
        rows = self._asked(X)
        values = np.full(len(rows.cells), np.nan)
        values[rows.settled] = self._fit.predict(rows.cells[rows.settled])
        opened = self._fit.fit.judge(rows.cells, rows.codes) == Verdict.DISCONNECTED
        rows.codes[opened | (rows.settled & np.isnan(values))] = Verdict.DISCONNECTED
        return rows, values

    def _beyond(self, rows: AskedRows) -> BoolArray:
        """Say of the distinct cells (M, C) which lie beyond the seen range of the curve."""
        beyond = np.zeros(len(rows.cells), dtype=bool)
        unseen = rows.codes == Verdict.DETERMINED
        beyond[unseen] = self._fit.fit.beyond(rows.cells[unseen])
        return beyond

    def _refuse_beyond(self, rows: AskedRows, beyond: BoolArray) -> None:
        if self.undetermined == "raise" and beyond.any():
            row = int(np.flatnonzero(beyond[rows.cell_of_row])[0])
            cell = self._table.text(rows.cells[rows.cell_of_row[row]])
            raise InputError(
                f"row {row} of X ({cell}) is beyond the seen range of the curve; collect rows with as high or as low "
                "a sum of effects, or pass undetermined='mean' for the curve continued straight"
            )
