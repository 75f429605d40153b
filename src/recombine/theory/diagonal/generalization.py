"""How well an infinitely trained diagonal linear network generalises, without training it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import known_or_refuse, moderate
from recombine.errors import InputError
from recombine.theory.diagonal.group_interpolators import least_multitask
from recombine.theory.diagonal.interpolators import Interpolator, least_potential, least_squares_from
from recombine.theory.diagonal.penalties import Potential, check_start, pretrained_weights

METHODS = ("stl", "stl probe", "pt+ft", "pt+ft probe", "mtl")


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a trained network would be and how well it would do.

    Attributes
    ----------
    method : str
    test_loss : float
        Mean squared error on new inputs whose coordinates have unit variance and no correlation:
        ``|beta - teacher|^2``.
    interpolator : Interpolator
        The coefficients and how they were found.
    """

    method: str
    test_loss: float
    interpolator: Interpolator = field(repr=False)

    @property
    def beta(self) -> FloatArray:
        """Coefficients of the trained network, shape (D,)."""
        return self.interpolator.value


def predict(
    X: npt.ArrayLike,
    teacher: npt.ArrayLike,
    *,
    method: str = "pt+ft",
    auxiliary: npt.ArrayLike | None = None,
    alpha: float = 1e-3,
    scaling: float = 1.0,
    gamma: float = 1e-3,
    form: str = "exact",
) -> Prediction:
    """Return the test loss of a network trained to zero loss on ``X`` labelled by ``teacher``.

    The test loss is ``|beta - teacher|^2``: the mean squared error on new inputs of mean zero and unit covariance,
    whatever ``X`` looks like. On new inputs with second moments S (D, D) it is d' S d with d = beta - teacher; the
    result has ``beta``.

    Parameters
    ----------
    X : array (n, D)
        Main-task samples, n from 1 to D.
    teacher : array (D,)
        Coefficients that label them, and that new inputs are tested against.
    method : {"stl", "stl probe", "pt+ft", "pt+ft probe", "mtl"}
        Single-task learning, pretraining and finetuning, or multi-task learning; "probe" trains readouts only. For
        "mtl" this is the limit of vanishing weight decay with the auxiliary task solved; training from small weights
        without decay ends elsewhere.
    auxiliary : array (D,), optional
        Coefficients of the auxiliary task; needed but for "stl" and "stl probe", which do not use it.
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

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> teacher = np.r_[np.ones(5), np.zeros(195)] / 5**0.5
    >>> X = rng.standard_normal((40, 200))
    >>> known = predict(X, teacher, auxiliary=teacher)
    >>> alone = predict(X, teacher, method="stl")
    >>> known.test_loss < 1e-4 < 1e-3 < alone.test_loss
    True
    """
    known_or_refuse(method, "method", METHODS)
    check_start(alpha, scaling, gamma, form)
    inputs, truth = moderate(X, "inputs"), moderate(teacher, "coefficients of teacher")
    if inputs.ndim != 2 or truth.shape != inputs.shape[1:]:
        raise InputError(f"inputs have shape {inputs.shape} and teacher {truth.shape}; give (n, D) and (D,)")
    if len(inputs) and not inputs.any():
        raise InputError("inputs are all zero, so that nothing can be learned from them; give others")
    if auxiliary is None and not method.startswith("stl"):
        raise InputError(f"method {method!r} learns from an auxiliary task; give its coefficients as auxiliary (D,)")
    B = np.zeros_like(truth) if auxiliary is None else moderate(auxiliary, "coefficients of auxiliary")
    if B.shape != truth.shape:
        raise InputError(
            f"auxiliary has shape {B.shape} and teacher {truth.shape}; give one coefficient per input each"
        )
    if method.startswith("stl"):
        B = np.zeros_like(truth)
    found = _interpolator(inputs, inputs @ truth, B, method, alpha, scaling, gamma, form)
    return Prediction(method, float(np.sum((found.value - truth) ** 2)), found)


def _interpolator(
    X: FloatArray, y: FloatArray, B: FloatArray, method: str, alpha: float, scaling: float, gamma: float, form: str
) -> Interpolator:
    if method == "mtl":
        return least_multitask(X, y, B)
    if method.endswith("probe"):
        plus, minus = (scaling * part for part in pretrained_weights(B, alpha))
        return least_squares_from(X, y, gamma * (plus - minus), plus**2 + minus**2)
    # Without an auxiliary task the pretrained weights are still alpha, so both are the same formula.
    return least_potential(X, y, Potential.finetuned(B, alpha, scaling, gamma, "exact" if method == "stl" else form))
