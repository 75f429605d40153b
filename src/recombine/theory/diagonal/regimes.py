"""Order, feature dependence and regimes: how a penalty treats a coordinate that an auxiliary task has used.

For a coordinate penalty P(beta, B), the order is dlog P / dlog beta (2 for ridge, 1 for lasso) and the feature
dependence is dlog P / dlog B (0 if it does not matter what was learned before). Whatever is 1-homogeneous in (beta, B)
has order + feature dependence = 1: a learner can favour few features or known ones, but pays for one with the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import broadcast, known_or_refuse, real
from recombine.errors import InputError
from recombine.theory.diagonal.penalties import bending_scale, check_start, hyperbolic_entropy

#: Methods whose price of a feature depends on what an auxiliary task has used.
AUXILIARY_METHODS = ("pt+ft", "mtl")
#: A pretrained feature is treated as by ridge (lazy) above this order; halfway between lasso and ridge.
LAZY_ORDER = 1.5
#: Below this ratio of prices, a pretrained feature is hardly cheaper than a new one, so learning is from scratch.
RICH_RATIO = 1.25


def finetune_penalty(
    beta: npt.ArrayLike,
    auxiliary: npt.ArrayLike,
    *,
    alpha: float = 0.0,
    scaling: float = 1.0,
    gamma: float = 0.0,
    form: str = "exact",
) -> FloatArray:
    """Return what a coordinate costs after pretraining: 2 k h(beta / k), which is k q(2 beta / k).

    The linear term of the potential is left out: it vanishes with gamma. See `Potential.finetuned` for the arguments.
    Where nothing was learned before and all starts at zero (k = 0), a coordinate that is used costs without bound.

    Examples
    --------
    >>> finetune_penalty([1.0, 2.0], [1.0, 0.5], form="symmetric").round(8)
    array([0.93432005, 5.25574456])
    """
    k, ratio = _bent(beta, auxiliary, alpha, scaling, gamma, form)
    far = np.isinf(ratio)
    return np.where(far, np.inf, 2 * k * hyperbolic_entropy(np.where(far, 0.0, ratio)))


def multitask_penalty(beta: npt.ArrayLike, auxiliary: npt.ArrayLike) -> FloatArray:
    """Return what a coordinate costs next to an auxiliary task that uses it: ``sqrt(beta^2 + B^2) - |B|``.

    Examples
    --------
    >>> multitask_penalty([1.0, 2.0], [1.0, 0.5]).round(8)
    array([0.41421356, 1.56155281])
    """
    wanted, B = (np.abs(values) for values in broadcast(beta=beta, auxiliary=auxiliary))
    total = np.hypot(wanted, B) + B
    return np.asarray(np.divide(wanted**2, total, out=np.zeros_like(total), where=total > 0))


class Exponents(NamedTuple):
    """How a penalty P(beta, B) grows: order dlog P / dlog beta, and feature dependence dlog P / dlog B."""

    order: FloatArray
    feature_dependence: FloatArray


def penalty_exponents(
    beta: npt.ArrayLike,
    auxiliary: npt.ArrayLike,
    method: str = "pt+ft",
    *,
    alpha: float = 0.0,
    scaling: float = 1.0,
    gamma: float = 0.0,
    form: str = "exact",
) -> Exponents:
    """Return order and feature dependence of a penalty at coefficients ``beta`` and auxiliary ones ``auxiliary``.

    The feature dependence is negative where an auxiliary task makes a feature cheaper.

    Parameters
    ----------
    beta, auxiliary : array
        Broadcast against each other; ``beta`` is not zero.
    method : {"pt+ft", "mtl"}
    alpha, scaling, gamma, form
        Of `finetune_penalty`, for "pt+ft"; the price of a feature in multi-task learning does not depend on them.

    Examples
    --------
    >>> [round(float(penalty_exponents(1.0, 1.0, form=form).order), 4) for form in ("exact", "symmetric")]
    [1.7486, 1.8867]
    >>> [round(float(found), 4) for found in penalty_exponents(1.0, 1.0, "mtl")]
    [1.7071, -0.7071]
    >>> round(float(sum(penalty_exponents(1.0, 0.001, gamma=0.001, form="symmetric"))), 6)
    1.000151
    """
    known_or_refuse(method, "method", AUXILIARY_METHODS)
    check_start(alpha, scaling, gamma, form)
    if not np.all(beta):
        raise InputError("beta is 0 somewhere, where logarithms have no slope; give coefficients other than 0")
    if method == "mtl":
        wanted, B = (np.abs(values) for values in broadcast(beta=beta, auxiliary=auxiliary))
        share = np.asarray(B / np.hypot(wanted, B))
        return Exponents(1 + share, -share)
    k, ratio = _bent(beta, auxiliary, alpha, scaling, gamma, form)
    flat = np.divide(bending_scale(0.0, alpha, scaling, gamma, form), k, out=np.zeros_like(k), where=k > 0)
    # dlog k / dlog B, from k = m^2 |B| + gamma^2 or k^2 = (m^2 alpha^2 + gamma^2)^2 + m^4 B^2 / 4.
    moves = 1 - flat if form == "symmetric" else 1 - flat**2
    excess = _excess(ratio)
    return Exponents(np.asarray(1 + excess), np.asarray(0.0 - moves * excess))


def _bent(
    beta: npt.ArrayLike, auxiliary: npt.ArrayLike, alpha: float, scaling: float, gamma: float, form: str
) -> tuple[FloatArray, FloatArray]:
    """Return k and |beta| / k on the common shape; k may be zero, where the ratio is infinite, or 0 if beta is."""
    wanted, B = broadcast(beta=beta, auxiliary=auxiliary)
    k = bending_scale(B, alpha, scaling, gamma, form)
    ratio = np.where(wanted == 0, 0.0, np.inf)
    return k, np.divide(np.abs(wanted), k, out=ratio, where=k > 0)


def _slope(ratio: FloatArray) -> FloatArray:
    """Return h(z) / z, which neither underflows near zero nor overflows far from it."""
    return np.asarray(np.arcsinh(ratio) - ratio / (1 + np.hypot(1, ratio)))


def _excess(ratio: FloatArray) -> FloatArray:
    """Return dlog h / dlog z - 1: one near zero, where h is quadratic, and zero at infinity, where it is linear."""
    far = np.isinf(ratio)
    z = np.where(far, 1.0, ratio)
    return np.where(far, 0.0, z / (1 + np.hypot(1, z)) / _slope(z))


@dataclass(frozen=True)
class Regime:
    """How finetuning treats one pretrained feature.

    Attributes
    ----------
    name : {"lazy", "nested", "rich"}
        Lazy: pretrained features are used as they are, with no preference for few of them. Nested: few features are
        preferred, and pretrained ones to new ones. Rich: few features are preferred, pretrained or not.
    order : float
        Of the penalty on the pretrained feature.
    ratio : float
        Price of a new feature of the same size over that of the pretrained one.
    known, new : float
        The k of a pretrained feature and of one that pretraining left alone.

    Examples
    --------
    >>> regime(auxiliary=0.16, beta=0.16).name, regime(auxiliary=0.16, beta=0.16, scaling=0.1, gamma=1e-4).name
    ('lazy', 'nested')
    """

    name: str
    order: float
    ratio: float
    known: float
    new: float


def regime(auxiliary: float, beta: float, *, alpha: float = 1e-3, scaling: float = 1.0, gamma: float = 1e-3) -> Regime:
    """Name the regime of finetuning for a feature of size ``auxiliary`` and a wanted coefficient ``beta``.

    Parameters
    ----------
    auxiliary, beta : float
        Coefficient after pretraining, and the one that the main task needs; neither is zero.
    alpha, scaling, gamma : float
        As in `Potential.finetuned`.

    Examples
    --------
    >>> found = regime(auxiliary=0.16, beta=0.4, scaling=0.01, gamma=0.1)
    >>> found.name, round(found.ratio, 2)
    ('rich', 1.0)
    """
    if not real(beta, "beta") or not real(auxiliary, "auxiliary"):
        raise InputError(f"beta is {beta} and auxiliary {auxiliary}; regimes are about features that both tasks use")
    k = bending_scale([auxiliary, 0.0], alpha, scaling, gamma)
    if not k.all():
        raise InputError(
            f"alpha is {alpha}, scaling {scaling} and gamma {gamma}, so that weights of a new feature are zero and it "
            "can never be learned; give gamma, or both alpha and scaling, above 0"
        )
    known, new = (float(each) for each in k)
    price = _slope(abs(beta) / k)
    found = float(penalty_exponents(beta, auxiliary, alpha=alpha, scaling=scaling, gamma=gamma).order)
    ratio = float(price[1] / price[0])
    name = "lazy" if found > LAZY_ORDER else "nested" if ratio >= RICH_RATIO else "rich"
    return Regime(name, found, ratio, known, new)
