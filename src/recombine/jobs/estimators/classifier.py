"""Classification on factor columns: log odds that add, in pairs if held-out rows show it, with verdicts and ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.checks import known_or_refuse
from recombine.errors import InputError, RecombineError
from recombine.jobs.audit.additivity import determined_by_others
from recombine.jobs.estimators.cell_estimator import AskedRows, CellEstimator, identified
from recombine.jobs.values.cell_values import fit_values, weighted_design
from recombine.theory.components.fit import ComponentsFit
from recombine.theory.structures.all_structures import sum_of
from recombine.theory.structures.likelihood import fit_chances
from recombine.theory.structures.separation.families import Limit
from recombine.theory.structures.structure import Structure
from recombine.theory.structures.terms import terms_of
from recombine.verdicts import Verdict

#: Sums of effects on log odds that classes are fitted with.
SUMS_OF_CLASSES = {structure.name: structure for structure in (sum_of(1), sum_of(2))}
#: What to do where the maximum of the likelihood does not exist.
SEPARATED = ("prior", "limits")
#: Parts that are held out in turn, and held-out rows below which nothing is chosen.
FOLDS_OF_CLASSES, MIN_ROWS_SCORED = 5, 10
#: Chances of rows without support are at least this, before they are made to add up to one.
MIN_USUAL_CHANCE = 1e-3
#: Standard errors to either side of a 90 % range.
ERRORS_OF_RANGE = 1.6448536269514722


class CompositionalClassifier(ClassifierMixin, CellEstimator):  # type: ignore[misc]
    """Classification on factor columns: effects, or interactions of 2 factors, add on the log odds of the classes.

    Columns are read as in `CompositionalRegressor`. Two classes are fitted by logit, more by softmax, both by maximum
    likelihood, and chances lie between 0 and 1. Whether the maximum exists is decided exactly.

    Parameters
    ----------
    structure : {"auto", "add", "pairs"}
        ``"auto"`` takes pairs if they lower the log loss on held-out combinations by more than its standard error.
    undetermined : {"prior", "nan", "raise"}
        Chances of a row that is not determined, or has a level never seen: what variance components of the classes'
        shares say, which rests on how much levels usually differ; NaN; or an error that names the row, its column and
        what to collect. With ``"nan"`` `predict` returns NaN for numbers and None for other labels.
    missing : {"refuse", "level"}
        Whether a missing value of a factor is an error or a level of its own.
    features : mapping, optional
        Descriptors of levels by column, its name or place: a dataframe or path with one row per level, its name in the
        column of the same name or in the first one, or a pair of table and column. New levels that it describes are
        predicted by what their descriptors did for other levels.
    separated : {"prior", "limits"}
        What to do where the maximum does not exist, as when a level only ever succeeded. ``"prior"``: add as many
        observations as there are effects, spread evenly over the seen combinations, with the classes' shares (Clogg et
        al. 1991), so that every chance is inside 0 and 1. ``"limits"``: chances of exactly 0 and 1 where all fits that
        approach the supremum agree on these; where they disagree the row is not determined.
    seed : int
        Of the parts that are held out.

    Attributes
    ----------
    classes_ : array of shape (K,)
    structure_ : str
    log_loss_ : dict of str to float
        Held-out log loss of each structure that was tried, under ``"auto"``.
    reason_ : str
        Why ``"auto"`` could not choose and took ``add``; empty if it could.
    fit_ : LikelihoodFit
    separation_ : str
        ``overlap`` (the maximum exists), ``quasi-complete`` or ``complete``.
    levels_ : list of lists
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import recombine as rc
    >>> X = [["old", "drug"]] * 4 + [["old", "placebo"]] * 4 + [["young", "placebo"]] * 4
    >>> y = ["well"] * 3 + ["ill"] + ["well"] + ["ill"] * 3 + ["well"] * 2 + ["ill"] * 2
    >>> model = rc.CompositionalClassifier(structure="add").fit(X, y)
    >>> model.predict_proba([["young", "drug"]]).round(3).tolist(), model.classes_.tolist()
    ([[0.1, 0.9]], ['ill', 'well'])
    >>> model.verdicts([["young", "drug"]]).tolist()
    ['determined']
    """

    def __init__(
        self,
        structure: str = "auto",
        *,
        undetermined: str = "prior",
        missing: str = "refuse",
        features: Mapping[Any, object] | None = None,
        separated: str = "prior",
        seed: int = 0,
    ) -> None:
        self.structure = structure
        self.undetermined = undetermined
        self.missing = missing
        self.features = features
        self.separated = separated
        self.seed = seed

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Fit to factor columns ``X`` (N, C) with labels ``y`` (N,); rows of weight 0 are left out."""
        known_or_refuse(self.structure, "structure", ("auto", *SUMS_OF_CLASSES))
        known_or_refuse(self.separated, "word for separated", SEPARATED)
        rows = self._learn(X, y, sample_weight)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self._same_length(rows, labels)
        cells, labels, weights = rows.cells, labels[rows.chosen], rows.weights
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y has one class only, {str(self.classes_[0])!r}; give rows of two classes")
        codes = codes.reshape(-1).astype(np.int64)
        structure = self._chosen(cells, codes, weights)
        self._structure, self.structure_ = structure, structure.name
        self._identification = identified(structure, cells, self._table.sizes)
        sizes = self._table.sizes
        chances = fit_chances(cells, codes, len(self.classes_), structure.order, sizes, self.separated, weights)
        self.fit_, self.separation_ = chances.fit, chances.separation
        self._rows = cells, codes, weights
        self.__dict__.pop("_components", None)
        return self

    @cached_property
    def _components(self) -> list[ComponentsFit]:
        """Variance components of the share of each class, one fit for each."""
        cells, codes, weights = self._rows
        designs = (
            weighted_design(cells, (codes == label).astype(float), self._table.sizes, weights)
            for label in range(len(self.classes_))
        )
        # How rows of a cell differ says no more than their share does, and weights could not say it.
        shares = (replace(each, observed=replace(each.observed, spread=None, freedom=None)) for each in designs)
        return [fit_values(design, self._table.levels, self._level_features()) for design in shares]

    def _usual(self, rows: AskedRows) -> FloatArray:
        """Return the chances that components give to rows without support (M, K)."""
        shares = np.stack([self._values(rows, fit).mean for fit in self._components], axis=1)
        shares = np.clip(shares, MIN_USUAL_CHANCE, 1.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _chosen(self, cells: IntArray, codes: IntArray, weights: FloatArray | None) -> Structure:
        self.log_loss_, self.reason_ = {}, ""
        if self.structure != "auto":
            return SUMS_OF_CLASSES[self.structure]
        try:
            losses = _held_out_losses(cells, codes, len(self.classes_), self._table.sizes, self.seed, weights)
        except InputError as error:
            self.reason_ = str(error)
            return sum_of(1)
        self.log_loss_ = {name: float(loss.mean()) for name, loss in zip(SUMS_OF_CLASSES, losses, strict=True)}
        gain = losses[0] - losses[1]
        return sum_of(2 if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)) else 1)

    @overload
    def predict_proba(self, X: Any, return_range: Literal[False] = ...) -> FloatArray: ...
    @overload
    def predict_proba(self, X: Any, return_range: Literal[True]) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def predict_proba(
        self, X: Any, return_range: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray, FloatArray]:
        """Return the chance of each class at ``X`` (N, C), shape (N, K); rows add up to one.

        With ``return_range`` the ends of 90 % ranges for the chances too, (N, K) each: 1.64 standard errors on the log
        odds, if the structure holds. They are 0 and 1 where a row is not determined, NaN at limits.
        """
        rows = self._determined(X)
        self._refuse(rows, self._structure, self._identification)
        settled, cell_of_row = rows.settled, rows.cell_of_row
        shape = (len(rows.cells), len(self.classes_))
        chances = np.full(shape, np.nan)
        if self.undetermined == "prior" and not settled.all():
            chances = self._usual(rows)
        chances[settled] = _by_class(self.fit_.predict(rows.cells[settled]))
        if not return_range:
            return np.asarray(chances[cell_of_row])
        low, high = np.zeros(shape), np.ones(shape)
        if self.undetermined == "nan":
            low[~settled], high[~settled] = np.nan, np.nan
        low[settled], high[settled] = self._ranges(rows.cells[settled])
        return chances[cell_of_row], low[cell_of_row], high[cell_of_row]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the likeliest class of each row of ``X`` (N, C), shape (N,)."""
        chances = self.predict_proba(X)
        unknown = np.asarray(np.isnan(chances).any(axis=1))
        labels = self.classes_[np.where(unknown[:, None], 0.0, chances).argmax(axis=1)]
        if unknown.any():
            number = self.classes_.dtype.kind in "iuf"
            labels = labels.astype(float if number else object)
            labels[unknown] = np.nan if number else None
        return np.asarray(labels)

    def verdicts(self, X: Any) -> npt.NDArray[np.object_]:
        """Say of each row of ``X`` (N, C) whether the training rows determine its chances, shape (N,).

        ``seen``, ``determined``, ``disconnected``, ``unseen level`` and ``undecided``, as for numbers; with
        ``separated="limits"`` also ``determined at zero`` and ``determined at one`` (the chance of the second of two
        classes) and ``not determined``, where fits that approach the supremum disagree.
        """
        check_is_fitted(self, "structure_")
        rows = self._asked(X, self._identification)
        words = rows.words
        if self._at_limits:
            determined = np.flatnonzero(rows.codes == Verdict.DETERMINED)
            limits = self.fit_.existence.limits_of(rows.cells[determined])
            for row, limit in zip(determined, limits, strict=True):
                words[row] = _limit_of(np.atleast_1d(limit)).word
        return np.asarray(words[rows.cell_of_row])

    @property
    def _at_limits(self) -> bool:
        check_is_fitted(self, "structure_")
        return self.separated == "limits" and not self.fit_.existence.exists

    def _determined(self, X: Any) -> AskedRows:
        """Return the rows of X; where the fit is a limit, those whose chances are open are not determined."""
        check_is_fitted(self, "structure_")
        rows = self._asked(X, self._identification)
        if self._at_limits:
            settled = np.flatnonzero(rows.settled)
            is_open = np.isnan(_by_class(self.fit_.predict(rows.cells[settled]))).any(axis=1)
            rows.codes[settled[is_open]] = Verdict.DISCONNECTED
        return rows

    def _ranges(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of 90 % ranges on the log odds for the chances of all classes, (N, K) each; NaN at limits."""
        from scipy.special import expit, logit

        errors = self.fit_.standard_errors(cells)
        chances, errors = _by_class(self.fit_.predict(cells)), errors if errors.ndim == 2 else errors[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds, reach = logit(chances), ERRORS_OF_RANGE * errors / (chances * (1 - chances))
            return np.asarray(expit(odds - reach)), np.asarray(expit(odds + reach))


def _held_out_losses(
    cells: IntArray, labels: IntArray, classes: int, sizes: Sequence[int], seed: int, weights: FloatArray | None
) -> FloatArray:
    """Return the log loss of single effects and of pairs on R held-out rows, (2, R); raise where they cannot be told.

    A cell with several rows is held out as a whole.
    """
    if cells.shape[1] < 2:
        raise InputError("pairs need 2 columns and there is 1")
    terms = terms_of(cells, 2).columns
    if terms > len(cells) / 2:
        raise InputError(f"pairs have {terms:,} terms, more than half of the {len(cells):,} rows")
    rows, which = distinct(cells)
    fold_of = np.random.default_rng(seed).permutation(len(rows)) % FOLDS_OF_CLASSES
    losses = np.full((2, len(cells)), np.nan)
    # Rows that only single effects determine say nothing about pairs.
    for training, scored in determined_by_others(cells, fold_of[which], range(FOLDS_OF_CLASSES), 2, sizes=sizes):
        if not len(scored) or len(np.unique(labels[training])) < 2:
            continue
        with suppress(RecombineError):
            rows_of = cells[training], labels[training]
            some = None if weights is None else weights[training]
            fits = [fit_chances(*rows_of, classes, order, sizes, weights=some).fit for order in (1, 2)]
            chances = [_by_class(fit.predict(cells[scored]))[np.arange(len(scored)), labels[scored]] for fit in fits]
            losses[:, scored] = -np.log(np.maximum(chances, 1e-15))
    done = np.isfinite(losses).all(axis=0)
    if done.sum() < MIN_ROWS_SCORED:
        raise InputError(f"{int(done.sum())} held-out rows follow from the others, and it takes {MIN_ROWS_SCORED}")
    return losses[:, done]


def _by_class(chances: FloatArray) -> FloatArray:
    """Return chances of 1 (N,), or of all classes (N, K), as those of all classes."""
    return chances if chances.ndim == 2 else np.stack([1 - chances, chances], axis=1)


def _limit_of(limits: npt.NDArray[np.uint8]) -> Limit:
    """Return one limit for a row: its own, or of several classes what all of them are."""
    for worst in (Limit.UNDECIDED, Limit.OPEN):
        if (limits == worst).any():
            return worst
    return Limit(int(limits[0])) if len(limits) == 1 else Limit.FINITE
