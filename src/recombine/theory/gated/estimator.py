"""The limits of gated linear networks as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError, near_miss
from recombine.sample_checks import call
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.margin import GatedMargin, largest_margin
from recombine.writing import listing

#: Norms that an estimator can be asked for, and thresholds that it can make.
ESTIMATOR_NORMS = ("group", "effective", "zeta", "one-layer", "frozen")
THRESHOLDS = ("median", "random")
#: The single gate of one layer, whose contexts are the joint ones.
JOINT_GATE = "all gates together"


class GatedLinearSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classification by the gated linear function of largest margin, under the norm of an architecture.

    Gradient descent on a two-layer gated linear network with fixed contexts ends, on separable data, in the function
    of largest margin under ``norm="group"``; a one-layer network ends in that of ``norm="one-layer"``. "effective"
    keeps the architecture of two layers but takes the plain l2 norm of the effective weights, so that what the implicit
    bias adds can be told from what the architecture does; "zeta" is the l2 norm of unit weights.

    Parameters
    ----------
    norm : {"group", "effective", "zeta", "one-layer", "frozen"}, default "group"
        "frozen" is for gates that are open or closed, such as those of a trained ReLU network (`freeze_relu`).
    units : int, default 10
        Gated units, each with half-spaces of its own; they share one joint context under "one-layer".
    bits : int, default 1
        Half-spaces per unit; it has 2^bits contexts.
    thresholds : {"median", "random"}, default "median"
        At the median of each projection of the training data, or normal.
    contexts : HalfSpaces, callable, fitted clusterer, list of these or mapping from names to them, optional
        Context functions to use instead of drawing some. `HalfSpaces` act on the inputs with the bias column, if there
        is one; a callable from inputs (n, d) to contexts (n,) or (n, H), or something with ``predict`` like a fitted
        `KMeans`, on the inputs as an array, whose columns have no names. Each column is a unit, here a gate; its name
        is the mapping's, else that of the function or class.
    bias : bool, default True
        Append a column of ones to the inputs, which gives every context its own bias.
    C : float, default inf
        Price of violated margins (C / 2 times the sum of squares); infinite for the hard margin, which is what training
        ends in. Give a finite C where labels overlap, as in searches and cross-validation.
    random_state : int, RandomState or None, default None
        Draws the half-spaces.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels, sorted; of two, the second is the positive one.
    contexts_ : HalfSpaces, or what was given
        The context functions, thresholds included; they belong to the model and are pickled with it.
    gates_ : list of str
        Names of the H gates; of one layer, whose joint contexts have weights of their own, a single one.
    coef_ : ndarray (H, C, d)
        Weights of each feature, by gate and by the context that the gate says; (K, H, C, d) with more than two classes.
        In the context of a sample its weights are the sum over gates (`effective_weights`), so that what all contexts
        of a gate have in common could as well be another gate's: what counts is how its contexts differ.
    intercept_ : ndarray (H, C)
        What the bias column adds, by gate and context; zero without one.
    margin_ : GatedMargin, or list of K with more than two classes
        Weights, duals, unit norms, tight units and the duality gap.
    n_iter_ : int
        Support vector machines solved.

    Raises
    ------
    NotSeparableError
        By ``fit`` with an infinite C, if no function with these contexts separates the samples.
    UndecidedError
        By ``fit`` with an infinite C, if the margin is so small beside the inputs (relative to them, below about 1e-5)
        that rounding hides whether there is one. Centre and scale the inputs, as by `StandardScaler`.

    See Also
    --------
    recombine.theory.gated.largest_margin : the solver.
    recombine.theory.gated.freeze_relu : gates of a trained network.
    recombine.theory.gated.gate_preferences : which features each gate turns to, as a table.
    recombine.theory.gated.compare_norms : what the group norm changes beside the plain ones.

    Notes
    -----
    With more than two classes there is one function per class, that class against all others, with the same contexts;
    the largest output wins, and ties go to the class that is sorted first. For probabilities wrap it in scikit-learn's
    `CalibratedClassifierCV`.

    References
    ----------
    Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks. 2022.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> model = GatedLinearSVC(units=5, random_state=0).fit(X, [1, 0, 0, 1])
    >>> model.predict(X).tolist(), model.margin_.gap < 1e-6
    ([1, 0, 0, 1], True)

    Contexts of your own, here which cluster an input is in and the sign of its first entry:

    >>> from sklearn.cluster import KMeans
    >>> own = [KMeans(2, random_state=0).fit(X), lambda inputs: (inputs[:, 0] > 0).astype(int)]
    >>> GatedLinearSVC(contexts=own).fit(X, [1, 0, 0, 1]).effective_weights(X).shape
    (4, 3)
    >>> GatedLinearSVC(contexts=own).fit(X, ["a", "b", "c", "a"]).predict(X).tolist()
    ['a', 'b', 'c', 'a']

    Gates with names, and the weights they choose:

    >>> gates = {"first is positive": lambda inputs: (inputs[:, 0] > 0).astype(int)}
    >>> model = GatedLinearSVC(contexts=gates).fit(X, [1, 0, 0, 1])
    >>> model.gates_, (model.coef_.round(3) + 0.0).tolist()
    (['first is positive'], [[[0.0, -1.0], [0.0, 1.0]]])
    """

    classes_: npt.NDArray[Any]
    contexts_: Any
    gates_: list[str]
    margin_: GatedMargin | list[GatedMargin]

    def __init__(
        self,
        norm: str = "group",
        *,
        units: int = 10,
        bits: int = 1,
        thresholds: str = "median",
        contexts: HalfSpaces | Callable[[FloatArray], npt.ArrayLike] | Mapping[str, Any] | Any | None = None,
        bias: bool = True,
        C: float = math.inf,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.norm = norm
        self.units = units
        self.bits = bits
        self.thresholds = thresholds
        self.contexts = contexts
        self.bias = bias
        self.C = C
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit to inputs ``X`` (n, d) with labels ``y`` (n,) of two or more kinds."""
        for name, choices in (("norm", ESTIMATOR_NORMS), ("thresholds", THRESHOLDS)):
            if (choice := getattr(self, name)) not in choices:
                raise InputError(
                    f"{name} {choice!r} is not known;{near_miss(choice, choices, f'Known: {listing(choices)}')}"
                )
        checked, labels = validate_data(self, X, y, dtype=np.float64)
        signs = self._signs(labels)
        inputs = self._with_bias(checked)
        self.contexts_ = self.contexts if self.contexts is not None else self._drawn(inputs)
        ids = self._ids(checked, inputs)
        drawn = isinstance(self.contexts_, HalfSpaces)
        count = self.contexts_.contexts if drawn else max(2, int(ids.max(initial=0)) + 1)
        margins = [
            largest_margin(inputs, labels_of_class, ids, contexts=count, norm=self.norm, C=self.C)
            for labels_of_class in signs
        ]
        self.margin_ = margins[0] if len(margins) == 1 else margins
        self.n_iter_ = max(margin.steps for margin in margins)
        self.gates_ = [JOINT_GATE] if self.norm == "one-layer" else self._names(checked, ids.shape[1])
        return self

    @property
    def coef_(self) -> FloatArray:
        """Weights of each feature, by gate and context, (H, C, d); of K > 2 classes (K, H, C, d)."""
        weights = self._weights()
        return weights[..., :-1] if self.bias else weights

    @property
    def intercept_(self) -> FloatArray:
        """What the bias adds, by gate and context, (H, C); of K > 2 classes (K, H, C)."""
        weights = self._weights()
        return weights[..., -1] if self.bias else np.zeros(weights.shape[:-1])

    def _weights(self) -> FloatArray:
        """Return the weights of all inputs, (H, C, d), with the bias last if there is one."""
        check_is_fitted(self)
        by_class = [
            (margin.zeta if margin.gating.transform is None else margin.gating.transform @ margin.zeta).reshape(
                len(self.gates_), -1, margin.zeta.shape[1]
            )
            for margin in self._margins
        ]
        return np.stack(by_class) if len(by_class) > 1 else by_class[0]

    @property
    def _margins(self) -> list[GatedMargin]:
        return self.margin_ if isinstance(self.margin_, list) else [self.margin_]

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the margin at inputs ``X`` (n, d): (n,), positive for the second of two classes, or (n, K)."""
        inputs, ids = self._checked(X)
        scores = np.stack([margin.decision(inputs, ids) for margin in self._margins], axis=1)
        return scores if scores.shape[1] > 1 else scores[:, 0]

    def effective_weights(self, X: npt.ArrayLike) -> FloatArray:
        """Return the weights that act on each of inputs ``X`` (n, d), shape (n, d), with the bias last if there is one.

        They are the same for all inputs in one joint context, and what a linear model would call ``coef_`` there. With
        more than two classes they have shape (n, K, d).
        """
        _, ids = self._checked(X)
        weights = np.stack([margin.gating.features(ids) @ margin.zeta for margin in self._margins], axis=1)
        return weights if weights.shape[1] > 1 else weights[:, 0]

    def _checked(self, X: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
        check_is_fitted(self)
        checked = validate_data(self, X, reset=False, dtype=np.float64)
        inputs = self._with_bias(checked)
        ids, count = self._ids(checked, inputs), self._margins[0].gating.contexts
        if (ids >= count).any():
            row, gate = np.argwhere(ids >= count)[0]
            raise InputError(
                f"the function of {self._names(checked, ids.shape[1])[gate]!r} puts row {row} in context "
                f"{ids[row, gate]}, and where the model was fitted contexts were 0 to {count - 1}; fit with samples "
                "of every context"
            )
        return inputs, ids

    def _ids(self, X: FloatArray, inputs: FloatArray) -> IntArray:
        """Return contexts (n, H) by half-spaces of the inputs with their bias, or by functions of the inputs alone."""
        if isinstance(self.contexts_, HalfSpaces):
            return self.contexts_.ids(inputs)
        return np.concatenate([_contexts_by(function, X, gate) for gate, function in self._functions().items()], axis=1)

    def _functions(self) -> dict[str, Any]:
        """Return the functions that give contexts, by the names of a mapping or by their own and their places."""
        listed = self.contexts_ if isinstance(self.contexts_, list | tuple) else [self.contexts_]
        by_key = self.contexts_ if isinstance(self.contexts_, Mapping) else dict(enumerate(listed))
        return {key if isinstance(key, str) else _name_of(each, key): each for key, each in by_key.items()}

    def _names(self, X: FloatArray, gates: int) -> list[str]:
        """Return a name for each gate: of a function with several columns, its own and the column's number."""
        if isinstance(self.contexts_, HalfSpaces):
            return [f"half-space {gate}" for gate in range(gates)]
        names = []
        for word, function in self._functions().items():
            columns = _contexts_by(function, X[:1], word).shape[1]
            names += [word] if columns == 1 else [f"{word} {column}" for column in range(columns)]
        return names

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the label of each of inputs ``X`` (n, d), shape (n,)."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return cast(npt.NDArray[Any], self.classes_[chosen])

    def _signs(self, labels: npt.NDArray[Any]) -> list[FloatArray]:
        """Return labels -1 and +1 of each function: one for two classes, else one per class."""
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"the labels have one class only, {self.classes_.tolist()[0]!r}; give samples of two classes"
            )
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(codes == code, 1.0, -1.0) for code in positive]

    def _with_bias(self, X: FloatArray) -> FloatArray:
        return np.column_stack([X, np.ones(len(X))]) if self.bias else X

    def _drawn(self, inputs: FloatArray) -> HalfSpaces:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.thresholds == "median":
            return HalfSpaces.balanced(self.units, self.bits, inputs, seed)
        return HalfSpaces.random(self.units, self.bits, inputs.shape[1], seed)


def _name_of(function: Any, number: int) -> str:
    """Return what a function or a fitted object is called; of what has no name, its place."""
    name = getattr(function, "__name__", type(function).__name__)
    return f"gate {number}" if name in ("<lambda>", "function", "partial") else f"{name} ({number})"


def _contexts_by(function: Any, X: FloatArray, gate: str) -> IntArray:
    """Return the contexts (n, H) that a callable, or something fitted that predicts, gives the inputs."""
    predict = getattr(function, "predict", function)
    if not callable(predict):
        raise InputError(
            f"contexts is a {type(function).__name__}; give HalfSpaces, a function from inputs to contexts, something "
            "fitted with predict, a list of these, or None to have some drawn"
        )
    ids = np.asarray(call(predict, f"the function of {gate!r}", X))
    columns = ids[:, None] if ids.ndim == 1 else ids
    if columns.ndim != 2 or len(columns) != len(X) or columns.dtype.kind not in "iub" or (columns < 0).any():
        raise InputError(
            f"by {gate!r} the contexts of {len(X)} inputs have shape {ids.shape} and dtype {ids.dtype}; give whole "
            "numbers from 0 up, one row per input"
        )
    return columns.astype(np.int64)
