"""Regression on factor columns: the best value for every row, its range, and verdicts that say what it rests on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.checks import known_or_refuse, reals
from recombine.errors import InputError, UnsupportedRowsWarning
from recombine.jobs.estimators.assumption import Assumption, chosen_assumption, named_assumption
from recombine.jobs.estimators.cell_estimator import AskedRows, CellEstimator
from recombine.jobs.values.cell_values import fit_values, weighted_design
from recombine.jobs.values.level_features import feature_shares
from recombine.tables.table import Table
from recombine.theory.components.fit import ComponentsFit
from recombine.theory.structures.all_structures import STRUCTURES
from recombine.verdicts import Verdict
from recombine.writing import plural


class CompositionalRegressor(MultiOutputMixin, RegressorMixin, CellEstimator):  # type: ignore[misc]
    """Regression on factor columns: every factor, pair of factors and curve over numbers has a learned strength.

    Every column of X is a factor and its distinct values are levels: texts, numbers or dates, in arrays or in pandas,
    polars and pyarrow dataframes. Rows may repeat a combination. Any combination gets a value and a range, also where
    a level is new: what is known of the other factors stays. `verdicts` says row by row which follow from the training
    rows and which rest on what is usual; that is decided exactly. See `recombine.theory.components`.

    Parameters
    ----------
    structure : str
        ``"auto"``: variance components by restricted likelihood, or a curve or product of effects where these explain
        more of held-out combinations. Or what effects do, ``"add"``, ``"log"`` or another name of
        `recombine.theory.structures.STRUCTURES`: rows that are determined then have the value that follows.
    undetermined : {"prior", "nan", "raise"}
        What to predict for a row that is not determined, or has a level never seen: the value of the components, which
        rests on how much levels usually differ, with a range that says so; NaN; or an error that names the row, its
        column and what to collect.
    missing : {"refuse", "level"}
        Whether a missing value of a factor is an error or a level of its own.
    features : mapping, optional
        Descriptors of levels by column, its name or place: a dataframe or path with one row per level, its name in the
        column of the same name or in the first one, or a pair of table and column. New levels that it describes are
        predicted by what their descriptors did for other levels.
    shrink : bool
        Shrink effects of a named structure as the data say (evidence), in ``add``, ``pairs``, ``triples`` and ``log``;
        else they are those of least squares. Links and products are always shrunk.
    seed : int
        Of the parts that are held out.

    Attributes
    ----------
    components_ : ComponentsFit
        What each factor and pair carries, the noise, and the scale on which they add.
    effects_ : Table
        What each level adds by itself on that scale, with its standard error.
    features_ : Table
        What each descriptor of levels moves values by, as a share of the outcome's variance.
    structure_ : str
        The structure that verdicts assume.
    ladder_ : Ladder or None
        All structures with their held-out R2, under ``"auto"``.
    reason_ : str
        Why ``"auto"`` could not choose and took ``add``; empty if it could.
    ranges_ : Ranges, FoldRanges or None
        What the ranges of a named structure rest on; None where they are those of the components.
    levels_ : list of lists
        Levels of each factor.
    outputs_ : list
        One regressor for each column of y, where it has several.
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

    Every row gets a value and a range; that of a new level keeps what the others do:

    >>> cells = np.indices((6, 5)).reshape(2, -1).T
    >>> y = 10.0 * cells[:, 0] + cells[:, 1] + 0.1 * np.random.default_rng(0).normal(size=30)
    >>> X = np.stack([np.array(list("abcdef"))[cells[:, 0]], np.array(list("vwxyz"))[cells[:, 1]]], axis=1)
    >>> model = rc.CompositionalRegressor().fit(X[:-1], y[:-1])
    >>> predicted, low, high = model.predict(X[-1:], return_range=True)
    >>> bool(low[0] < 54 < high[0]), model.verdicts([["f", "new"]]).tolist()
    (True, ['unseen level'])
    """

    def __init__(
        self,
        structure: str = "auto",
        *,
        undetermined: str = "prior",
        missing: str = "refuse",
        features: Mapping[Any, object] | None = None,
        shrink: bool = False,
        seed: int = 0,
    ) -> None:
        self.structure = structure
        self.undetermined = undetermined
        self.missing = missing
        self.features = features
        self.shrink = shrink
        self.seed = seed

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Fit to factor columns ``X`` (N, C) with outcomes ``y``, (N,) or (N, K).

        ``sample_weight`` (N,) says how many measurements each row is the mean of, up to a common factor; a row of
        weight 0 is left out. A row given twice says more than one of weight 2: that measurements do not differ.
        """
        known_or_refuse(self.structure, "structure", ("auto", *STRUCTURES.names))
        rows = self._learn(X, y, sample_weight)
        outcome = _outcomes(y)
        self._same_length(rows, outcome)
        for name in ("_assumption", "_design", "components_", "outputs_"):
            self.__dict__.pop(name, None)
        if outcome.ndim == 2:
            self.outputs_ = [clone(self).fit(X, column, sample_weight) for column in outcome.T]
            return self
        if len(rows.cells) < 2:
            raise InputError("values need rows that differ and X has 1 sample; give 2 rows or more")
        self._rows = rows, outcome[rows.chosen]
        self._design = weighted_design(rows.cells, outcome[rows.chosen], self._table.sizes, rows.weights)
        self._assumption  # noqa: B018 what cannot be fitted is said here
        return self

    @cached_property
    def components_(self) -> ComponentsFit:
        """What each factor and pair carries, the noise, and the scale on which they add."""
        self._refuse_outputs("components_")
        return fit_values(self._design, self._table.levels, self._level_features())

    @cached_property
    def _assumption(self) -> Assumption:
        """The structure that verdicts assume, named or chosen, and its values where these count."""
        rows, y = self._rows
        if self.structure == "auto":
            return chosen_assumption(self._design, self.components_, rows, y, self.seed)
        return named_assumption(STRUCTURES[self.structure], rows, y, self._table.sizes, self.shrink, self.seed)

    @property
    def structure_(self) -> Any:
        """The structure that verdicts assume; of several outputs, each one's."""
        return self._of_outputs("structure_", lambda: self._assumption.structure.name)

    @property
    def ladder_(self) -> Any:
        """All structures with their held-out R2, under ``auto``."""
        return self._of_outputs("ladder_", lambda: self._assumption.ladder)

    @property
    def reason_(self) -> Any:
        """Why ``auto`` could not choose."""
        return self._of_outputs("reason_", lambda: self._assumption.reason)

    @property
    def ranges_(self) -> Any:
        """What the ranges of a structure rest on; None where they are those of the components."""
        return self._of_outputs("ranges_", lambda: self._assumption.fit and self._assumption.fit.ranges)

    def _check_fitted(self) -> None:
        check_is_fitted(self, ["_design", "outputs_"], all_or_any=any)

    def _refuse_outputs(self, name: str) -> None:
        self._check_fitted()
        if "outputs_" in vars(self):
            raise InputError(f"{name} are those of one output; take them from outputs_[0] and so on")

    def _of_outputs(self, name: str, single: Any) -> Any:
        self._check_fitted()
        return [getattr(each, name) for each in self.outputs_] if "outputs_" in vars(self) else single()

    @property
    def features_(self) -> Table:
        """What each descriptor of levels moves values by, as a share of the outcome's variance."""
        self._refuse_outputs("features_")
        shares = {
            factor: feature_shares(self.components_, factor, table) for factor, table in self._level_features().items()
        }
        listed = [(self._table.names[factor], name) for factor in shares for name in self._described[factor].names]
        columns = zip(*listed, strict=True) if listed else ((), ())
        factors, names = (np.array(column, dtype=object) for column in columns)
        return Table({"factor": factors, "feature": names, "share": np.concatenate([np.empty(0), *shares.values()])})

    @property
    def effects_(self) -> Table:
        """What each level of each factor adds by itself on the scale of the components, with its standard error."""
        self._refuse_outputs("effects_")
        counts = [len(levels) for levels in self._table.levels]
        tables = [np.stack(self.components_.effects(factor))[:, :count] for factor, count in enumerate(counts)]
        effects, errors = np.concatenate(tables, axis=1)
        levels = np.array([level for levels in self._table.levels for level in levels], dtype=object)
        factors = np.repeat(np.array(self._table.names, dtype=object), counts)
        return Table({"factor": factors, "level": levels, "effect": effects, "standard error": errors})

    @overload
    def predict(self, X: Any, return_range: Literal[False] = ...) -> FloatArray: ...
    @overload
    def predict(self, X: Any, return_range: Literal[True]) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def predict(self, X: Any, return_range: bool = False) -> FloatArray | tuple[FloatArray, FloatArray, FloatArray]:
        """Return predictions at ``X`` (N, C), shape (N,) or (N, K); with ``return_range`` their 90 % ranges' ends too.

        The range is for one measurement; of a named structure whose training rows repeat combinations, for the mean of
        one. A warning says which share of the rows does not follow from the training rows: their values rest on what is
        usual.
        """
        self._check_fitted()
        if "outputs_" in vars(self):
            if not return_range:
                return np.stack([each.predict(X) for each in self.outputs_], axis=1)
            ends = zip(*(each.predict(X, return_range=True) for each in self.outputs_), strict=True)
            predicted, low, high = (np.stack(columns, axis=1) for columns in ends)
            return predicted, low, high
        rows, fit = self._judged(X), self._assumption.fit
        columns = np.full((3, len(rows.cells)), np.nan)
        if fit is None or not rows.settled.all():
            values = self._values(rows, self.components_)
            columns[:] = values.mean, values.low, values.high
        if fit is not None and rows.settled.any():
            cells = rows.cells[rows.settled]
            columns[0, rows.settled] = fit.predict(cells)
            columns[1:, rows.settled] = fit.range_of(cells) if return_range else np.nan
        if self.undetermined == "nan":
            columns[:, ~rows.settled | self._beyond(rows)] = np.nan
        self._warn(rows)
        predicted, low, high = columns[:, rows.cell_of_row]
        return (predicted, low, high) if return_range else predicted

    def _judged(self, X: Any) -> AskedRows:
        """Return rows with the verdicts of the structure, or refuse those that are not determined."""
        rows = self._asked(X, self._assumption.identification)
        self._open(rows)
        self._refuse(rows, self._assumption.structure, self._assumption.identification)
        beyond = self._beyond(rows)
        if self.undetermined == "raise" and beyond.any():
            row = int(np.flatnonzero(beyond[rows.cell_of_row])[0])
            cell = self._table.text(rows.cells[rows.cell_of_row[row]])
            raise InputError(
                f"row {row} of X ({cell}) is beyond the seen range of the curve; collect rows with as high or as low "
                "a sum of effects, or pass undetermined='prior' for the curve continued straight"
            )
        return rows

    def _warn(self, rows: AskedRows) -> None:
        """Say which share of the rows has no support, where values are given all the same."""
        unsupported = int((rows.codes[rows.cell_of_row] > Verdict.DETERMINED).sum())
        if unsupported and self.undetermined == "prior":
            share = unsupported / len(rows.cell_of_row)
            warnings.warn(
                f"{plural(unsupported, 'row')} ({100 * share:.0f} %) of X have no support in training rows: no sum "
                "of them gives these rows, or a level is new; values rest on what is usual, and verdicts(X) names them",
                UnsupportedRowsWarning,
                stacklevel=3,
            )

    def verdicts(self, X: Any) -> npt.NDArray[np.object_]:
        """Say of each row of ``X`` (N, C) whether the training rows determine it, shape (N,), or (N, K) for K outputs.

        ``seen``, ``determined``, ``disconnected`` (no sum of training rows gives it), ``unseen level``, ``undecided``,
        and under a link ``beyond the seen range`` (determined on the hidden scale, but the curve is not known there).
        """
        self._check_fitted()
        if "outputs_" in vars(self):
            return np.stack([each.verdicts(X) for each in self.outputs_], axis=1)
        rows = self._asked(X, self._assumption.identification)
        beyond = self._beyond(rows)
        self._open(rows)
        words = rows.words
        words[beyond] = Verdict.BEYOND.word
        return np.asarray(words[rows.cell_of_row])

    def _open(self, rows: AskedRows) -> None:
        """Mark rows as not determined whose outcomes leave them open though their sum follows."""
        judge, fit = self._assumption.judge, self._assumption.fit
        if judge is not None:
            rows.codes[judge.judge(rows.cells, rows.codes) == Verdict.DISCONNECTED] = Verdict.DISCONNECTED
        if fit is not None:
            settled = np.flatnonzero(rows.settled)
            rows.codes[settled[np.isnan(fit.predict(rows.cells[settled]))]] = Verdict.DISCONNECTED

    def _beyond(self, rows: AskedRows) -> BoolArray:
        """Say of the distinct cells (M, C) which lie beyond the seen range of the curve."""
        beyond, judge = np.zeros(len(rows.cells), dtype=bool), self._assumption.judge
        unseen = rows.codes == Verdict.DETERMINED
        if judge is not None:
            beyond[unseen] = judge.beyond(rows.cells[unseen])
        return beyond


def _outcomes(y: npt.ArrayLike) -> FloatArray:
    """Return outcomes (N,), or (N, K) where there are several."""
    values = reals(y, "y")
    if values.ndim > 2 or (values.ndim == 2 and not values.shape[1]):
        raise InputError(f"y has shape {values.shape}; give one column per outcome")
    if values.ndim == 2 and values.shape[1] == 1:
        return np.asarray(column_or_1d(values, warn=True))
    return values
