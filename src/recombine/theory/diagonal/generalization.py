"""How well an infinitely trained diagonal linear network generalises, without training it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import known_or_refuse, real
from recombine.errors import InputError
from recombine.sample_checks import generator, moderate, samples, wholes
from recombine.theory.diagonal.group_interpolators import least_group_norm, least_multitask
from recombine.theory.diagonal.interpolators import Interpolator, least_potential, least_squares_from
from recombine.theory.diagonal.penalties import Potential, check_start, pretrained_weights

METHODS = ("stl", "stl probe", "pt+ft", "pt+ft probe", "mtl")
#: What methods are also called.
OTHER_NAMES = {
    **dict.fromkeys(("finetune", "finetuning", "pretraining", "pretrain", "transfer", "pt", "ft"), "pt+ft"),
    **dict.fromkeys(("multitask", "multi-task", "joint"), "mtl"),
    **dict.fromkeys(("scratch", "single", "single-task", "alone"), "stl"),
    **dict.fromkeys(("probe", "linear probe", "probing"), "pt+ft probe"),
}
#: Parts that own samples without a known truth are left out in.
LEFT_OUT_FOLDS = 5
#: Directions of the inputs below this share of the largest are rounding.
MIN_SINGULAR_VALUE_SHARE = 1e-10
#: Samples are independent for sure if the least eigenvalue of their products is more than this share of the largest.
MIN_EIGENVALUE_SHARE = 1e-8

#: Inputs (n, D) and targets (n,).
Pair = tuple[npt.ArrayLike, npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a trained network would be and how well it would do.

    Attributes
    ----------
    test_loss : float
        Mean squared error on new samples; `predict` says on which.
    interpolator : Interpolator
        The coefficients and how they were found.
    samples : int
        Of the main task.
    scaling : float
        What hidden weights were multiplied by before the main task.
    judged : {"teacher", "test samples", "samples left out"}
        What the test loss was measured on.
    """

    method: str
    test_loss: float
    interpolator: Interpolator = field(repr=False)
    samples: int = 0
    scaling: float = 1.0
    judged: str = "teacher"

    @property
    def beta(self) -> FloatArray:
        """Coefficients of the trained network, shape (D,)."""
        return self.interpolator.value


@dataclass(frozen=True, eq=False)
class TrainingMethod:
    """How a network is trained, from which start.

    Attributes
    ----------
    method : {"stl", "stl probe", "pt+ft", "pt+ft probe", "mtl"}
        Single-task learning, pretraining and finetuning, or multi-task learning; "probe" trains readouts only. For
        "mtl" this is the limit of vanishing weight decay with the auxiliary task solved; training from small weights
        without decay ends elsewhere.
    auxiliary : array (D,), or pair of arrays (N, D) and (N,), optional
        Coefficients of the auxiliary task, or samples of it, from which the network is pretrained starting at
        ``alpha``; needed but for "stl" and "stl probe", which do not use it.
    alpha : float
        All weights before anything is trained.
    scaling, gamma : float
        What hidden weights are multiplied by, and what readouts are set to, before the main task: after pretraining,
        and for "stl" before anything is trained, so that it starts from hidden weights ``scaling * alpha`` and readouts
        ``gamma``; with ``gamma=alpha`` and no scaling all weights start at ``alpha``. "stl probe" trains readouts on
        hidden weights that are all alike, so that it ends at the least squared coefficients whatever these numbers are.
        "mtl" has no such stage and its limit forgets how weights began, so it uses neither these nor ``alpha``.
    form : {"exact", "symmetric"}
        See `Potential.finetuned`; only "pt+ft" uses it.
    """

    method: str = "pt+ft"
    auxiliary: npt.ArrayLike | Pair | None = None
    alpha: float = 1e-3
    scaling: float = 1.0
    gamma: float = 1e-3
    form: str = "exact"


def predict(
    X: npt.ArrayLike,
    teacher: npt.ArrayLike | None = None,
    *,
    targets: npt.ArrayLike | None = None,
    test: Pair | None = None,
    covariance: npt.ArrayLike | None = None,
    noise: float = 0.0,
    seed: int = 0,
    **training: Any,
) -> Prediction:
    """Return the test loss of a network trained to the end on ``X``, labelled by a known truth or by own targets.

    What it is tested on is, in this order: samples of the user's (``test``); new inputs labelled by ``teacher``, where
    the loss is ``d' S d + noise^2`` with d = beta - teacher and S the second moments of new inputs; or, if neither is
    given, each fifth of the samples in turn, by a network trained on the others.

    Training ends at zero loss where targets can be fitted. Where they cannot (more samples than inputs, or repeated
    ones), it ends at the least squared error and, among all that reach it, at the least penalty.

    Parameters
    ----------
    X : array (n, D)
        Main-task samples.
    teacher : array (D,), optional
        Coefficients that label them unless there are targets, and that new inputs are tested against.
    targets : array (n,), optional
        Own targets. Inputs and targets are taken as they are, without an intercept: centre both first.
    test : pair of arrays (N, D) and (N,), optional
        Own samples to test on.
    covariance : array (D, D) or (D,), optional
        Second moments of new inputs, or the variances if these are not correlated; all one if not given. For tests
        against a teacher.
    noise : float
        Standard deviation of what is added to the teacher's labels: drawn with ``seed`` for the samples unless there
        are targets, and as expected for new inputs.
    **training
        Fields of `TrainingMethod`: method, auxiliary, alpha, scaling, gamma and form.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> teacher = np.r_[np.ones(5), np.zeros(195)] / 5**0.5
    >>> X = rng.standard_normal((40, 200))
    >>> known = predict(X, teacher, auxiliary=teacher)
    >>> alone = predict(X, teacher, method="stl")
    >>> known.test_loss < 1e-4 < 1e-3 < alone.test_loss
    True

    Own samples, with an auxiliary task that is known from samples as well:

    >>> y = X @ teacher + 0.1 * rng.standard_normal(40)
    >>> other = rng.standard_normal((150, 200))
    >>> found = predict(X, targets=y, auxiliary=(other, other @ teacher))
    >>> found.judged, bool(found.test_loss < np.mean(y**2) / 10)
    ('samples left out', True)
    """
    for option in training:
        known_or_refuse(option, "option", [*[*signature(predict).parameters][2:-1], *TrainingMethod.__annotations__])
    start = TrainingMethod(**training)
    method = start.method
    _check_method(method)
    check_start(start.alpha, start.scaling, start.gamma, start.form)
    inputs, y, truth = _samples(X, teacher, targets, real(noise, "noise", at_least=0), seed)
    coefficients = _auxiliary(start.auxiliary, inputs.shape[1], method, start.alpha)
    interpolator = _trained(inputs, y, coefficients, start)
    about = (interpolator, len(inputs), start.scaling)
    if test is not None:
        X_test, y_test = samples(*_pair(test, "test"), inputs.shape[1], " of test")
        return Prediction(method, float(np.mean((X_test @ interpolator.value - y_test) ** 2)), *about, "test samples")
    if truth is None:
        if covariance is not None or noise:
            raise InputError(
                "covariance and noise are those of new samples that a teacher labels; give teacher too, or leave them "
                "out, so that own samples are left out in turn"
            )
        return Prediction(method, _left_out(inputs, y, coefficients, start), *about, "samples left out")
    return Prediction(method, _expected(interpolator.value - truth, covariance) + noise**2, *about)


def predict_curve(
    X: npt.ArrayLike,
    teacher: npt.ArrayLike | None = None,
    *,
    samples: Sequence[int] | None = None,
    scalings: Sequence[float] = (1.0,),
    targets: npt.ArrayLike | None = None,
    gamma: float = 1e-3,
    **about: Any,
) -> list[Prediction]:
    """Return predictions by number of samples and scaling: for each of ``samples``, one per scaling.

    Parameters
    ----------
    X, teacher, targets : array
        As in `predict`; the first rows are used.
    samples : sequence of int, optional
        Numbers of rows to use, all of them if not given.
    scalings : sequence of float
        What hidden weights are multiplied by; readouts are set to ``gamma`` times it, as in the paper.
    **about
        Other arguments of `predict`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known = np.r_[np.full(40, 0.2), np.zeros(160)]
    >>> needed = np.r_[np.full(5, 0.4), np.zeros(195)]
    >>> X = rng.standard_normal((32, 200))
    >>> found = predict_curve(X, needed, samples=(16, 32), scalings=(1.0, 0.1), auxiliary=known)
    >>> [(one.samples, one.scaling, round(one.test_loss, 2)) for one in found]
    [(16, 1.0, 0.59), (16, 0.1, 0.49), (32, 1.0, 0.17), (32, 0.1, 0.0)]
    """
    inputs = moderate(X, "inputs")
    counts = wholes([len(inputs)] if samples is None else samples, "samples")
    if max(counts, default=0) > len(inputs):
        raise InputError(f"samples go up to {max(counts)}, but there are {len(inputs)}; give numbers up to that")
    labels = None if targets is None else moderate(targets, "targets")
    factors = [real(m, f"scalings[{index}]", at_least=0) for index, m in enumerate(scalings)]
    return [
        predict(
            inputs[:n],
            teacher,
            targets=None if labels is None else labels[:n],
            scaling=m,
            gamma=real(gamma, "gamma", at_least=0) * m,
            **about,
        )
        for n in counts
        for m in factors
    ]


def _check_method(method: str) -> None:
    meant = OTHER_NAMES.get(method.lower()) if isinstance(method, str) else None
    if meant is not None and method not in METHODS:
        raise InputError(f"method {method!r} is called {meant!r} here; give that. Methods: {', '.join(METHODS)}")
    known_or_refuse(method, "method", METHODS)


def _samples(
    X: npt.ArrayLike, teacher: npt.ArrayLike | None, targets: npt.ArrayLike | None, noise: float, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return inputs, what they are labelled with, and the truth if it is known."""
    inputs = moderate(X, "inputs")
    if teacher is None and targets is None:
        raise InputError("there are neither teacher nor targets; give coefficients (D,), or own targets (n,)")
    truth = None if teacher is None else moderate(teacher, "coefficients of teacher")
    if inputs.ndim != 2 or (truth is not None and truth.shape != inputs.shape[1:]):
        shape = None if truth is None else truth.shape
        raise InputError(f"inputs have shape {inputs.shape} and teacher {shape}; give (n, D) and (D,)")
    if len(inputs) and not inputs.any():
        raise InputError("inputs are all zero, so that nothing can be learned from them; give others")
    if targets is not None:
        return (*samples(inputs, moderate(targets, "targets")), truth)
    assert truth is not None
    drawn = noise * generator(seed).standard_normal(len(inputs)) if noise else 0.0
    return (*samples(inputs, inputs @ truth + drawn), truth)


def _pair(values: Any, name: str) -> Pair:
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InputError(f"{name} is a {type(values).__name__}; give a pair (inputs (N, D), targets (N,))")
    return values[0], values[1]


def is_pair(auxiliary: Any) -> bool:
    """Say whether an auxiliary task is given by its samples, inputs (N, D) and targets (N,), not by coefficients."""
    return isinstance(auxiliary, tuple | list) and len(auxiliary) == 2 and np.ndim(auxiliary[0]) == 2


def _auxiliary(auxiliary: Any, width: int, method: str, alpha: float) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Return coefficients of the auxiliary task; for multi-task learning samples stay samples."""
    alone = method.startswith("stl")
    if auxiliary is None and not alone:
        raise InputError(
            f"method {method!r} learns from an auxiliary task; give its coefficients (D,) as auxiliary, or a pair of "
            "inputs (N, D) and targets (N,)"
        )
    if is_pair(auxiliary):
        reduced = _independent(*samples(auxiliary[0], auxiliary[1], width, " of auxiliary"))
        if method == "mtl":
            return reduced
        return np.zeros(width) if alone else least_potential(*reduced, Potential.single_task(width, alpha)).value
    B = np.zeros(width) if auxiliary is None else moderate(auxiliary, "coefficients of auxiliary")
    if B.shape != (width,):
        raise InputError(f"auxiliary has shape {B.shape} and inputs {width} columns; give one coefficient per column")
    return np.zeros(width) if alone else B


def _independent(X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return samples whose rows are independent and which are fitted where the squared error of all is least."""
    if len(X) <= X.shape[1]:
        sizes = np.linalg.eigvalsh(X @ X.T)
        if sizes[0] > MIN_EIGENVALUE_SHARE * sizes[-1]:
            return X, y
    U, sizes, Vt = np.linalg.svd(X, full_matrices=False)
    nonzero = sizes > MIN_SINGULAR_VALUE_SHARE * sizes[0]
    return Vt[nonzero], (U[:, nonzero].T @ y) / sizes[nonzero]


def _expected(difference: FloatArray, covariance: npt.ArrayLike | None) -> float:
    """Return d' S d for second moments S that are checked first."""
    if covariance is None:
        return float(difference @ difference)
    S, width = moderate(covariance, "covariance"), len(difference)
    if S.shape not in ((width,), (width, width)):
        raise InputError(f"covariance has shape {S.shape}; give ({width}, {width}), or ({width},) variances")
    if S.ndim == 2 and not np.allclose(S, S.T):
        raise InputError("covariance is not symmetric; give second moments, such as X.T @ X / len(X)")
    smallest = float(S.min() if S.ndim == 1 else np.linalg.eigvalsh(S)[0])
    if smallest < -1e-9 * float(np.abs(S).max()):
        raise InputError(f"covariance has a direction of variance {smallest:.3g}; variances are not negative")
    return float(difference @ (S * difference if S.ndim == 1 else S @ difference))


def _left_out(X: FloatArray, y: FloatArray, auxiliary: Any, start: TrainingMethod) -> float:
    """Return the mean squared error on each fifth of the samples, by a network trained on the others."""
    if len(X) < LEFT_OUT_FOLDS:
        raise InputError(
            f"there are {len(X)} samples, of which fifths are left out; give {LEFT_OUT_FOLDS}, or test or teacher"
        )
    folds, errors = np.arange(len(X)) % LEFT_OUT_FOLDS, np.empty(len(X))
    for fold in range(LEFT_OUT_FOLDS):
        train = folds != fold
        beta = _trained(X[train], y[train], auxiliary, start).value
        errors[~train] = y[~train] - X[~train] @ beta
    return float(np.mean(errors**2))


def _trained(X: FloatArray, y: FloatArray, auxiliary: Any, start: TrainingMethod) -> Interpolator:
    method, alpha, scaling, gamma = start.method, start.alpha, start.scaling, start.gamma
    inputs, targets = _independent(X, y)
    if method == "mtl" and isinstance(auxiliary, tuple):
        both = least_group_norm([(inputs, targets), auxiliary])
        return Interpolator(both.value[:, 0], both.objective, both.residual, both.steps, both.route)
    if method == "mtl":
        return least_multitask(inputs, targets, auxiliary)
    if method.endswith("probe"):
        plus, minus = (scaling * weights for weights in pretrained_weights(auxiliary, alpha))
        return least_squares_from(inputs, targets, gamma * (plus - minus), plus**2 + minus**2)
    # Without an auxiliary task the pretrained weights are still alpha, so both are the same formula.
    potential = Potential.finetuned(auxiliary, alpha, scaling, gamma, "exact" if method == "stl" else start.form)
    return least_potential(inputs, targets, potential)
