"""What diagonal linear networks find cheap: the penalties of single-task, multi-task and pretrained learning.

A two-layer diagonal linear network has coefficients beta = w+ v+ - w- v- (elementwise). Trained to zero loss by
gradient flow with one output, it ends at the interpolator that minimises a separable potential, fixed by how the
weights began:

    D(beta) = sum_d k_d h(beta_d / k_d) - asinh(beta0_d / k_d) beta_d,    h(z) = z asinh z - sqrt(1 + z^2) + 1.

beta0 is where the network starts and k how far it may go before the penalty bends from quadratic to nearly linear. With
a, b = [(w+ ± v+)^2 + (w- ∓ v-)^2] / 4 at the start, k = 2 sqrt(ab) and beta0 = a - b (Lippl & Lindsey 2024; for a
single task Woodworth et al. 2020 and Azulay et al. 2021, whose q(z) is 2 h(z / 2)).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.checks import known_or_refuse, real, reals, whole
from recombine.errors import InputError

#: The protocol as it is trained; that in which both paths get the sum of both; and the published formula, which is its
#: limit for small weights before pretraining.
FORMS = ("exact", "summed", "symmetric")


def hyperbolic_entropy(ratio: npt.ArrayLike) -> FloatArray:
    """Return h(z) = z asinh z - sqrt(1 + z^2) + 1, keeping its digits near zero: z^2 / 2 there, z ln z far away."""
    z = np.abs(reals(ratio, "ratio"))
    return np.asarray(z * np.arcsinh(z) - z * (z / (1 + np.hypot(1, z))))


def check_start(alpha: float, scaling: float, gamma: float, form: str = "exact") -> None:
    """Raise unless a network can start with these: see `Potential.finetuned`.

    Examples
    --------
    >>> check_start(alpha=-0.1, scaling=1.0, gamma=0.0)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: alpha is -0.1; give a finite number of at least 0
    """
    for name, value in (("alpha", alpha), ("scaling", scaling), ("gamma", gamma)):
        real(value, name, at_least=0)
    known_or_refuse(form, "form", FORMS)


def bending_scale(
    auxiliary: npt.ArrayLike,
    alpha: float,
    scaling: float = 1.0,
    gamma: float = 0.0,
    form: str = "exact",
    readout: float | None = None,
) -> FloatArray:
    """Return k of each coordinate after pretraining to ``auxiliary``, with the arguments of `Potential.finetuned`."""
    check_start(alpha, scaling, gamma, form)
    B = reals(auxiliary, "auxiliary")
    if form == "symmetric":
        return np.asarray(scaling**2 * np.abs(B) + gamma**2)
    if form == "exact" and readout is None:
        return np.asarray(np.hypot(scaling**2 * alpha**2 + gamma**2, scaling**2 * B / 2))
    plus, minus = (scaling * weights.reshape(B.shape) for weights in pretrained_weights(B, alpha, readout))
    if form == "summed":
        return np.asarray((plus + minus) ** 2 + gamma**2)
    # k = 2 sqrt(ab) of the weights at the start, hidden ones as pretraining left them and readouts at gamma.
    grows, shrinks = (np.hypot(plus + sign * gamma, minus - sign * gamma) / 2 for sign in (1, -1))
    return np.asarray(2 * grows * shrinks)


@record
class Potential:
    """What gradient flow with one output minimises among interpolators.

    Parameters
    ----------
    k : ndarray (D,)
        Where each coordinate's penalty bends from quadratic to nearly linear; positive.
    start : ndarray (D,)
        Coefficients beta0 at the start of training.

    Examples
    --------
    >>> Potential.single_task(2, alpha=1.0)([1.0, 0.0]).round(6)
    np.float64(0.245144)
    """

    k: FloatArray
    start: FloatArray

    def __post_init__(self) -> None:
        for name in ("k", "start"):
            object.__setattr__(self, name, np.atleast_1d(reals(getattr(self, name), name)).copy())
        if self.k.shape != self.start.shape or self.k.ndim != 1:
            raise InputError(
                f"k has shape {self.k.shape} and start {self.start.shape}; give one of each per coordinate"
            )
        if not (self.k > 0).all():
            worst = int(np.argmin(self.k))
            raise InputError(
                f"coordinate {worst} has k = {self.k[worst]}; k must be positive, so start from weights that are not "
                "all zero (gamma, or both alpha and scaling, above 0)"
            )

    @property
    def tilt(self) -> FloatArray:
        """asinh(beta0 / k), shape (D,): the slope that makes beta0 the minimum."""
        return np.arcsinh(self.start / self.k)

    def __call__(self, beta: npt.ArrayLike) -> np.float64:
        """Return D(beta) for coefficients (D,)."""
        values = reals(beta, "beta")
        if values.shape != self.k.shape:
            raise InputError(f"beta has shape {values.shape}; give {len(self.k)} coefficients, one per coordinate")
        return np.float64(np.sum(self.k * hyperbolic_entropy(values / self.k) - self.tilt * values))

    @classmethod
    def single_task(cls, dimension: int, alpha: float, readout: float | None = None) -> Potential:
        """Return that of a network whose hidden weights are all ``alpha`` and whose readouts are ``readout``, or alpha.

        Examples
        --------
        >>> Potential.single_task(3, alpha=0.1, readout=0.5).k
        array([0.26, 0.26, 0.26])
        """
        first, second = real(alpha, "alpha"), real(alpha if readout is None else readout, "readout")
        return cls(np.full(whole(dimension, "dimension"), first**2 + second**2), np.zeros(dimension))

    @classmethod
    def finetuned(
        cls,
        auxiliary: npt.ArrayLike,
        alpha: float,
        scaling: float = 1.0,
        gamma: float = 0.0,
        form: str = "exact",
        *,
        readout: float | None = None,
    ) -> Potential:
        """Return that of a network pretrained to ``auxiliary`` and finetuned.

        Parameters
        ----------
        auxiliary : array (D,)
            Coefficients B that pretraining ended at.
        alpha : float
            Hidden weights before pretraining.
        scaling : float
            What hidden weights are multiplied by after pretraining (the paper's m).
        gamma : float
            What both readouts are set to after pretraining.
        form : {"exact", "summed", "symmetric"}
            Which weights finetuning starts from. "exact": each path keeps its own, as in the released training.
            "summed": both paths get the sum of the two, so that beta0 = 0 and, from equal weights,
            ``k = m^2 (2 alpha^2 + sqrt(4 alpha^4 + B^2)) + gamma^2``. "symmetric": the published
            ``k = m^2 |B| + gamma^2``, the limit of "summed" for small ``alpha``, also that of a network with both
            paths at ``sqrt|B|``; it has twice the exact k where B is large, and does not use ``alpha``.
        readout : float, optional
            Readouts before pretraining; ``alpha`` if not given.

        Examples
        --------
        >>> found = Potential.finetuned([-0.7, 0.0], alpha=0.1, gamma=0.2)
        >>> found.k.round(9), found.start.round(9)
        (array([0.35355339, 0.05      ]), array([-0.16495886,  0.        ]))
        >>> Potential.finetuned([1.0], alpha=0.1, form="summed").k, Potential.finetuned([1.0], 0.1, form="symmetric").k
        (array([1.02019998]), array([1.]))
        """
        k, B = np.atleast_1d(
            bending_scale(auxiliary, alpha, scaling, gamma, form, readout), reals(auxiliary, "auxiliary")
        )
        if form != "exact":
            return cls(k, np.zeros_like(B))
        if readout is not None:
            plus, minus = pretrained_weights(B, alpha, readout)
            return cls(k, gamma * scaling * (plus - minus))
        # The difference w+ - w- of the pretrained weights, in a form that keeps its digits near B = 0.
        with np.errstate(invalid="ignore"):
            difference = B / np.sqrt(np.sqrt(B**2 + 4 * alpha**4) + 2 * alpha**2)
        return cls(k, gamma * scaling * np.where(B == 0, 0.0, difference))


def pretrained_weights(
    auxiliary: npt.ArrayLike, alpha: float, readout: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return hidden weights (w+, w-), each (D,), after pretraining from ``alpha`` to coefficients ``auxiliary``.

    Pretraining keeps w^2 - v^2 on each path. From equal weights w stays v, and w+ w- = alpha^2. From hidden weights a
    and readouts r, w is a cosh G ± r sinh G with sinh 2G = B / (a^2 + r^2).

    Examples
    --------
    >>> [round(float(part[0]), 4) for part in pretrained_weights([1.0], alpha=0.1)]
    [1.0, 0.01]
    """
    real(alpha, "alpha", at_least=0)
    B = np.atleast_1d(reals(auxiliary, "auxiliary"))
    if readout is not None and real(readout, "readout", at_least=0) != alpha:
        growth = np.arcsinh(B / (alpha**2 + readout**2)) / 2
        rising, falling = np.exp(growth), np.exp(-growth)
        mean, half = (alpha + readout) / 2, (alpha - readout) / 2
        return mean * rising + half * falling, mean * falling + half * rising
    large = np.sqrt((np.sqrt(B**2 + 4 * alpha**4) + np.abs(B)) / 2)
    small = np.divide(alpha**2, large, out=np.zeros_like(large), where=large > 0)
    return np.where(B >= 0, large, small), np.where(B >= 0, small, large)


def group_norm(beta: npt.ArrayLike) -> np.float64:
    """Return sum_d sqrt(sum_o beta_do^2) of coefficients (D, O): least squared weights that make them, times one half.

    It is what multi-task training with vanishing weight decay minimises. Gradient flow from small weights without decay
    ends elsewhere.

    Examples
    --------
    >>> group_norm([[3.0, 4.0], [0.0, 1.0]])
    np.float64(6.0)
    """
    values = reals(beta, "beta")
    if values.ndim != 2:
        raise InputError(f"beta has shape {values.shape}; give (D, O), one row per coordinate and one column per task")
    return np.float64(np.linalg.norm(values, axis=1).sum())
