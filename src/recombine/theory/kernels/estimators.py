"""Kernel regression and classification on cells, as scikit-learn estimators.

Every model here is f(z) = sum_i a_i K(z, z_i) with an overlap kernel, so f(z) = sum_J f_J(z_J) with f_J zero on
conjunctions that were not seen (conjunction-wise additivity, Lippl & Stachenfeld 2025, Thm 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Subset, distinct, subsets
from recombine.cells.contributions import Contributions
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.margin import fit_machine, logistic_dual, margin_dual
from recombine.theory.kernels.solvers.routes import MAX_DENSE_CELLS
from recombine.theory.kernels.solvers.solve import Solution, kernel_expansion, solve
from recombine.writing import plural


class _CellModel(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: levels are coded at fit, and predictions are sums over seen conjunctions."""

    kernel: OverlapKernel | None
    intercept: bool
    tolerance: float
    kernel_: OverlapKernel
    levels_: list[npt.NDArray[Any]]
    seen_: IntArray
    dual_coef_: FloatArray
    intercept_: float | FloatArray

    def __sklearn_tags__(self) -> Any:
        """Say that levels may be texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def _learn_levels(self, X: npt.NDArray[Any]) -> None:
        self.kernel_ = self.kernel or OverlapKernel.relu(depth=1, factors=X.shape[1])
        if self.kernel_.factors != X.shape[1]:
            raise InputError(
                f"X has {X.shape[1]} columns but the kernel is on {self.kernel_.factors} factors; "
                "give one column per factor"
            )
        with _mixed_levels_explained():
            self.levels_ = [np.unique(column) for column in X.T]
        self.seen_ = self._code(X)

    def _code(self, X: npt.NDArray[Any]) -> IntArray:
        """Number the levels of each column; a level that was never seen gets a number that matches nothing."""
        codes = np.empty(X.shape, dtype=np.int64)
        for factor, levels in enumerate(self.levels_):
            if _is_range(levels) and X.dtype.kind in "iu":
                inside = (X[:, factor] >= 0) & (X[:, factor] < len(levels))
                codes[:, factor] = np.where(inside, X[:, factor], len(levels))
                continue
            with _mixed_levels_explained():
                position = np.minimum(np.searchsorted(levels, X[:, factor]), len(levels) - 1)
            codes[:, factor] = np.where(levels[position] == X[:, factor], position, len(levels))
        return codes

    def _keep(self, solution: Solution) -> None:
        self.dual_coef_, self.intercept_ = solution.value, solution.intercept
        self.route_, self.residual_, self.n_iter_ = solution.route, solution.residual, max(solution.steps, 1)

    def _fit_squares(self, outcome: FloatArray, ridge: float) -> None:
        self._keep(solve(self.kernel_, self.seen_, outcome, ridge, self.tolerance, intercept=self.intercept))

    def _coded(self, X: npt.ArrayLike) -> tuple[npt.NDArray[Any], IntArray]:
        """Return cells to predict as they are given, and as numbers of levels."""
        check_is_fitted(self)
        checked = validate_data(self, X, reset=False, dtype=None)
        return checked, self._code(checked)

    def _value(self, codes: IntArray) -> FloatArray:
        return kernel_expansion(self.kernel_, self.seen_, self.dual_coef_, codes) + self.intercept_

    def conjunction_values(self, order: int) -> Contributions:
        """Return what each seen conjunction of one order contributes to every prediction.

        f_J(z_J) = w_J times the sum of the dual weights of the seen cells that share z_J. The prediction at any cell is
        the intercept plus the sum of its conjunctions' contributions over all orders from 0 (the constant) to C (whole
        cells); unseen ones give nothing. For each subset J of ``order`` factors the result holds the seen conjunctions'
        levels (M, order) and contributions, (M,) or (M, outputs); ``.table(names)`` lists them, the largest first.
        """
        check_is_fitted(self)
        if not 0 <= order <= self.kernel_.factors:
            raise InputError(f"order {order} does not fit {self.kernel_.factors} factors")
        return Contributions({s: self._contributions(s) for s in subsets(self.kernel_.factors, order)}, axis=0)

    def _contributions(self, subset: Subset) -> tuple[npt.NDArray[Any], FloatArray]:
        if subset:
            rows, inverse = distinct(self.seen_[:, list(subset)])
        else:
            rows, inverse = np.zeros((1, 0), dtype=np.int64), np.zeros(len(self.seen_), dtype=np.int64)
        total = np.zeros((len(rows), *self.dual_coef_.shape[1:]))
        np.add.at(total, inverse, self.dual_coef_)
        names = [self.levels_[factor][rows[:, column]] for column, factor in enumerate(subset)]
        levels = np.stack(names, axis=1) if names else np.zeros((1, 0))
        corner = tuple(int(factor in subset) for factor in range(self.kernel_.factors))
        return levels, self.kernel_.cube[corner] * total


class KernelRegressor(RegressorMixin, _CellModel):  # type: ignore[misc]
    """Regression on cells with an overlap kernel: minimum norm, ridge, or with a tube.

    With ``ridge=0`` it is the interpolant of smallest norm, where a network with a fixed wide random layer ends when
    trained on squared loss. The levels of a column are its distinct values at fit; a new value at prediction is a
    level that matches nothing. Prefer an additive model (``kernel_of_salience([1, 0])``) when the outcome is
    known to be a sum over factors: every other kernel leaks part of the sum into memorised cells.

    Parameters
    ----------
    kernel : OverlapKernel, optional
        On as many factors as X has columns; one random ReLU layer by default.
    ridge : float, default 0.0
        Penalty lambda in (K + lambda I) a = y.
    intercept : bool, default False
        Add a free intercept that the norm does not penalise.
    epsilon : float, optional
        Errors up to this size cost nothing: support vector regression with a free intercept and C = 1e10. ``0.1``
        reproduces published curves that used scikit-learn's default; leave it out for exact interpolation.
    tolerance : float, default 1e-10
        Relative residual that an iterative solve must reach; it raises `SolverError` where it cannot.

    Attributes
    ----------
    dual_coef_, intercept_ : ndarray (N,) or (N, outputs), float or ndarray (outputs,)
        Weight of each training row, and the free intercept, 0.0 without one.
    kernel_, levels_ : OverlapKernel, list of ndarray
        The kernel used, and the levels of each factor.
    route_, residual_ : str, float
        How the system was solved (see `recombine.theory.kernels.solvers.solve`), and its relative residual; with
        ``epsilon``, the largest error beyond the tube.

    See Also
    --------
    KernelClassifier : the same for labels.
    sklearn.kernel_ridge.KernelRidge : any kernel, by a dense matrix.

    References
    ----------
    Lippl and Stachenfeld, When does compositional structure yield compositional generalization? A kernel theory.
    ICLR 2025.

    Examples
    --------
    The outcome is the sign of the first factor; most of it is memorised with the seen cells, little reaches (1, 1):

    >>> from recombine.theory.kernels import kernel_of_values
    >>> kernel = kernel_of_values([0.0, 0.3, 1.0])
    >>> model = KernelRegressor(kernel).fit([[0, 0], [0, 1], [1, 0]], [-1.0, -1.0, 1.0])
    >>> model.predict([[1, 0], [1, 1]]).round(6).tolist()
    [1.0, 0.219512]
    """

    def __init__(
        self,
        kernel: OverlapKernel | None = None,
        *,
        ridge: float = 0.0,
        intercept: bool = False,
        epsilon: float | None = None,
        tolerance: float = 1e-10,
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.intercept = intercept
        self.epsilon = epsilon
        self.tolerance = tolerance

    def __sklearn_tags__(self) -> Any:
        """Say that levels may be texts, and that several outcomes can be fitted at once."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.epsilon is None
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit to cells ``X`` (N, C) with outcomes ``y`` (N,) or (N, outputs)."""
        checked, outcome = validate_data(self, X, y, dtype=None, y_numeric=True, multi_output=self.epsilon is None)
        outcome = np.asarray(outcome, dtype=float)
        self._learn_levels(checked)
        if self.epsilon is not None:
            self._fit_tube(outcome)
        else:
            self._fit_squares(outcome, self.ridge)
        return self

    def _fit_tube(self, outcome: FloatArray) -> None:
        from sklearn.svm import SVR

        gram = _small_gram(self.kernel_, self.seen_, f"epsilon={self.epsilon}")
        machine = fit_machine(SVR(kernel="precomputed", C=1e10, epsilon=self.epsilon), gram, outcome)
        dual = np.zeros(len(outcome))
        dual[machine.support_] = machine.dual_coef_[0]
        offset = float(machine.intercept_[0])
        excess = np.maximum(np.abs(gram @ dual + offset - outcome) - cast(float, self.epsilon), 0.0)
        self._keep(Solution(dual, float(excess.max()), "tube", int(machine.n_iter_), offset))

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return predictions at cells ``X`` (N, C), shape (N,) or (N, outputs)."""
        return self._value(self._coded(X)[1])


class KernelClassifier(ClassifierMixin, _CellModel):  # type: ignore[misc]
    """Classification of cells with an overlap kernel: hard or soft margin, logistic or squared loss.

    The levels of a column are its distinct values at fit, numbers or texts. Of a level never seen a model knows
    nothing, so that `predict` and `decision_function` refuse it.

    The hard margin (``C=inf``) is where a readout trained on logistic loss ends; the squared loss is where one trained
    on squared error ends. The two can disagree on every unseen cell (shortcut bias), so compare both.

    With more than two classes there is one machine per class, that class against all others, and the largest output
    wins. Ties go to the class that is sorted first; `recombine.theory.kernels.solvers.solve_kernels` counts a tie as
    half right.

    Parameters
    ----------
    kernel : OverlapKernel, optional
        On as many factors as X has columns; one random ReLU layer by default.
    loss : {"hinge", "squared", "logistic"}, default "hinge"
        Margin, regression on labels -1 and +1, or logistic regression.
    C : float, default inf
        Price of a violated margin; infinite for the hard margin. With the squared loss, the ridge is 1 / C. Logistic
        regression needs a finite price, and comes to the direction of the hard margin as it grows: a readout whose
        training on logistic loss was stopped early has a small one.
    intercept : bool, default False
        Add a free intercept.
    tolerance : float, default 1e-10
        Relative residual that an iterative solve of the squared loss must reach.
    handle_unknown : {"error", "ignore"}, default "error"
        Whether a level that was never seen is refused, or its cell is judged by what its other levels say, as in the
        theory, where unseen conjunctions add nothing. ``"ignore"`` is what scikit-learn's contract asks for.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels, sorted; of two, the second is the positive one.
    dual_coef_, intercept_ : ndarray (N,) and float, or (N, K) and (K,) with more than two classes
        Signed weight of each training row, and the free intercept, 0.0 without one.
    kernel_, levels_, route_, residual_
        As in `KernelRegressor`. For the hinge, ``residual_`` is the largest violation of the optimality conditions.

    See Also
    --------
    KernelRegressor : the same for numbers, with the reference.
    sklearn.svm.SVC : any kernel, always with an intercept.

    Examples
    --------
    >>> kernel = OverlapKernel.relu(depth=1, factors=2)
    >>> model = KernelClassifier(kernel).fit([[0, 0], [1, 0], [0, 1]], [-1, 1, -1])
    >>> model.predict([[1, 1]]).tolist()
    [1]
    >>> taste = KernelClassifier(kernel).fit([[0, 0], [1, 0], [0, 1], [2, 0]], ["sweet", "sour", "sweet", "bitter"])
    >>> taste.predict([[1, 1], [2, 1]]).tolist()
    ['sour', 'bitter']

    A frame of words will do. Which doughs rise, by flour and leaven?

    >>> import pandas as pd
    >>> doughs = pd.DataFrame({"flour": ["rye", "wheat", "rye", "oat"], "leaven": ["yeast", "yeast", "none", "none"]})
    >>> bread = KernelClassifier(kernel).fit(doughs, ["rises", "rises", "flat", "flat"])
    >>> bread.predict(pd.DataFrame({"flour": ["wheat", "oat"], "leaven": ["none", "yeast"]})).tolist()
    ['flat', 'rises']
    >>> bread.predict(pd.DataFrame({"flour": ["spelt"], "leaven": ["yeast"]}))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: level 'spelt' of flour was never seen; fit with a cell that has it, ...
    """

    def __init__(
        self,
        kernel: OverlapKernel | None = None,
        *,
        loss: str = "hinge",
        C: float = math.inf,
        intercept: bool = False,
        tolerance: float = 1e-10,
        handle_unknown: str = "error",
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.C = C
        self.intercept = intercept
        self.tolerance = tolerance
        self.handle_unknown = handle_unknown

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit to cells ``X`` (N, C) with labels ``y`` (N,) of two or more kinds."""
        if self.loss not in ("hinge", "squared", "logistic"):
            raise InputError(f"loss {self.loss!r} is not known; use 'hinge', 'squared' or 'logistic'")
        if self.handle_unknown not in ("error", "ignore"):
            raise InputError(f"handle_unknown is {self.handle_unknown!r}; use 'error' or 'ignore'")
        if self.loss == "logistic" and math.isinf(self.C):
            raise InputError("logistic loss has no minimum at C = inf; give a finite C, or its limit, loss='hinge'")
        if not self.C > 0:
            raise InputError(f"C is {self.C}; give a positive number, or math.inf for the hard margin")
        checked, labels = validate_data(self, X, y, dtype=None)
        signs = self._learn_classes(labels)
        self._learn_levels(checked)
        if self.loss == "squared":
            self._fit_squares(signs, 1 / self.C)
        elif signs.ndim == 1:
            self._keep(self._machine(signs))
        else:
            self._keep(_side_by_side([self._machine(column) for column in signs.T]))
        return self

    def _learn_classes(self, labels: npt.NDArray[Any]) -> FloatArray:
        """Return labels as signs, shape (N,) of two classes and (N, K) of more."""
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise InputError(f"the labels have one class only, {label!r}; give cells of two classes")
        return _signs(codes) if len(self.classes_) == 2 else _signs(np.eye(len(self.classes_), dtype=np.int64)[codes])

    def _machine(self, signs: FloatArray) -> Solution:
        if self.loss == "hinge":
            return self._margin(signs)
        gram = _small_gram(self.kernel_, self.seen_, "the logistic loss")
        return logistic_dual(gram, signs, self.C, self.intercept, self.tolerance)

    def _margin(self, signs: FloatArray) -> Solution:
        """Repeated rows share one dual weight: they are one point whose violations cost their number."""
        tagged = np.column_stack([self.seen_, (signs > 0).astype(np.int64)])
        rows, inverse = distinct(tagged)
        counts = np.bincount(inverse)
        gram = _small_gram(self.kernel_, rows[:, :-1], "the hinge loss")
        upper = self.C * counts.astype(float)
        fit = margin_dual(gram, _signs(rows[:, -1]), upper, self.intercept)
        return replace(fit, value=fit.value[inverse] / counts[inverse])

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the signed margin at cells ``X`` (N, C): (N,), positive for the second of two classes, or (N, K)."""
        cells, codes = self._coded(X)
        if self.handle_unknown == "error":
            self._refuse_new_levels(cells, codes)
        return self._value(codes)

    def _refuse_new_levels(self, cells: npt.NDArray[Any], codes: IntArray) -> None:
        new = codes == [len(levels) for levels in self.levels_]
        if not new.any():
            return
        row, factor = np.argwhere(new)[0]
        names = getattr(self, "feature_names_in_", [f"column {number}" for number in range(cells.shape[1])])
        number = plural(int(new.any(axis=1).sum()), "cell")
        raise InputError(
            f"level {cells[[row], factor].tolist()[0]!r} of {names[factor]} was never seen; fit with a cell that has "
            f"it, leave out the {number} with levels that were not seen, or give handle_unknown='ignore'"
        )

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the label of each of cells ``X`` (N, C), shape (N,)."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return cast(npt.NDArray[Any], self.classes_[chosen])


@contextmanager
def _mixed_levels_explained() -> Iterator[None]:
    """Say what to do about a column of texts and numbers, in place of a failed comparison."""
    try:
        yield
    except TypeError as error:
        if "not supported between" not in str(error):
            raise
        raise InputError(
            "a column has levels of several types, which cannot be told apart by their order; write all levels of a "
            "column the same way, here and where the model was fitted: column.astype(str)"
        ) from error


def _side_by_side(machines: Sequence[Solution]) -> Solution:
    """One solution whose columns are those of several; the worst residual stands for all."""
    return Solution(
        np.stack([machine.value for machine in machines], axis=1),
        max(machine.residual for machine in machines),
        machines[0].route,
        max(machine.steps for machine in machines),
        np.array([machine.intercept for machine in machines]),
    )


def _signs(codes: IntArray) -> FloatArray:
    return np.where(codes > 0, 1.0, -1.0)


def _is_range(levels: npt.NDArray[Any]) -> bool:
    return levels.dtype.kind in "iu" and levels[0] == 0 and levels[-1] == len(levels) - 1


def _small_gram(kernel: OverlapKernel, cells: IntArray, purpose: str) -> FloatArray:
    if len(cells) > MAX_DENSE_CELLS:
        raise InputError(
            f"{purpose} needs the Gram matrix, which is not formed beyond {MAX_DENSE_CELLS} cells (here {len(cells)}); "
            "use the squared loss"
        )
    return kernel(cells, cells)
