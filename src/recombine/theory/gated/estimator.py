"""The limits of gated linear networks as a scikit-learn classifier."""

from __future__ import annotations

import math
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, listing, near_miss
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.margin import GatedMargin, largest_margin

#: Norms that an estimator can be asked for, and thresholds that it can make.
ESTIMATOR_NORMS = ("group", "effective", "zeta", "one-layer")
THRESHOLDS = ("median", "random")


class GatedLinearSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Two-class classification by the gated linear function of largest margin, under the norm of an architecture.

    Gradient descent on a two-layer gated linear network with fixed contexts ends, on separable data, in the function
    of largest margin under ``norm="group"``; a one-layer network ends in that of ``norm="one-layer"``. "effective"
    keeps the architecture of two layers but takes the plain l2 norm of the effective weights, so that what the implicit
    bias adds can be told from what the architecture does; "zeta" is the l2 norm of unit weights.

    Parameters
    ----------
    norm : {"group", "effective", "zeta", "one-layer"}, default "group"
    units : int, default 10
        Gated units, each with half-spaces of its own; they share one joint context under "one-layer".
    bits : int, default 1
        Half-spaces per unit; it has 2^bits contexts.
    thresholds : {"median", "random"}, default "median"
        At the median of each projection of the training data, or normal.
    contexts : HalfSpaces, optional
        Context functions to use instead of drawing some; they act on the inputs with the bias column, if there is one.
    bias : bool, default True
        Append a column of ones to the inputs, which gives every context its own bias.
    C : float, default inf
        Price of violated margins (C / 2 times the sum of squares); infinite for the hard margin, which is what training
        ends in. Give a finite C where labels overlap, as in searches and cross-validation.
    random_state : int, RandomState or None, default None
        Draws the half-spaces.

    Attributes
    ----------
    classes_ : ndarray (2,)
        The labels; the second is the positive one.
    contexts_ : HalfSpaces
        The context functions, thresholds included; they belong to the model and are pickled with it.
    margin_ : GatedMargin
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
    recombine.theory.gated.largest_margin : the solver, for contexts of your own.

    References
    ----------
    Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks. 2022.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> model = GatedLinearSVC(units=5, random_state=0).fit(X, [1, 0, 0, 1])
    >>> model.predict(X).tolist(), model.margin_.gap < 1e-6
    ([1, 0, 0, 1], True)
    """

    classes_: npt.NDArray[Any]
    contexts_: HalfSpaces
    margin_: GatedMargin

    def __init__(
        self,
        norm: str = "group",
        *,
        units: int = 10,
        bits: int = 1,
        thresholds: str = "median",
        contexts: HalfSpaces | None = None,
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

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes, no more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit to inputs ``X`` (n, d) with two kinds of label ``y`` (n,)."""
        for name, known in (("norm", ESTIMATOR_NORMS), ("thresholds", THRESHOLDS)):
            if (asked := getattr(self, name)) not in known:
                raise InputError(f"{name} {asked!r} is not known;{near_miss(asked, known)} Known: {listing(known)}")
        if not isinstance(self.contexts, HalfSpaces | None):
            raise InputError(f"contexts is {self.contexts!r}; give HalfSpaces, or None to have some drawn")
        checked, labels = validate_data(self, X, y, dtype=np.float64)
        signs = self._signs(labels)
        inputs = self._with_bias(checked)
        self.contexts_ = self.contexts if self.contexts is not None else self._drawn(inputs)
        self.margin_ = largest_margin(
            inputs, signs, self.contexts_.ids(inputs), contexts=self.contexts_.contexts, norm=self.norm, C=self.C
        )
        self.n_iter_ = self.margin_.steps
        return self

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Return the margin at inputs ``X`` (n, d), shape (n,); positive for the second class."""
        check_is_fitted(self)
        inputs = self._with_bias(validate_data(self, X, reset=False, dtype=np.float64))
        return self.margin_.decision(inputs, self.contexts_.ids(inputs))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the label of each of inputs ``X`` (n, d), shape (n,)."""
        scores = self.decision_function(X)
        return cast(npt.NDArray[Any], self.classes_[(scores > 0).astype(int)])

    def _signs(self, labels: npt.NDArray[Any]) -> FloatArray:
        check_classification_targets(labels)
        if (kind := type_of_target(labels)) != "binary":
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"the labels have one class only, {self.classes_.tolist()[0]!r}; give samples of two classes"
            )
        return np.where(codes > 0, 1.0, -1.0)

    def _with_bias(self, X: FloatArray) -> FloatArray:
        return np.column_stack([X, np.ones(len(X))]) if self.bias else X

    def _drawn(self, inputs: FloatArray) -> HalfSpaces:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.thresholds == "median":
            return HalfSpaces.balanced(self.units, self.bits, inputs, seed)
        return HalfSpaces.random(self.units, self.bits, inputs.shape[1], seed)
