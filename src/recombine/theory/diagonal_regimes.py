"""Order, feature dependence and regimes: how a penalty treats a coordinate that an auxiliary task has used.

For a coordinate penalty P(beta, B), the order is dlog P / dlog beta (2 for ridge, 1 for lasso) and the feature
dependence is dlog P / dlog B (0 if it does not matter what was learned before). Whatever is 1-homogeneous in (beta, B)
has order + feature dependence = 1: a learner can favour few features or known ones, but pays for one with the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.arrays import FloatArray
from recombine.errors import InputError, listing, near_miss
from recombine.theory.diagonal import Potential, entropy

METHODS = ("pt+ft", "mtl")
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

    Examples
    --------
    >>> finetune_penalty([1.0, 2.0], [1.0, 0.5], form="symmetric").round(8)
    array([0.93432005, 5.25574456])
    """
    k, ratio = _bend(beta, auxiliary, alpha, scaling, gamma, form)
    return np.asarray(2 * k * entropy(ratio))


def multitask_penalty(beta: npt.ArrayLike, auxiliary: npt.ArrayLike) -> FloatArray:
    """Return what a coordinate costs next to an auxiliary task that uses it: sqrt(beta^2 + B^2) - |B|.

    Examples
    --------
    >>> multitask_penalty([1.0, 2.0], [1.0, 0.5]).round(8)
    array([0.41421356, 1.56155281])
    """
    beta, B = (np.abs(np.asarray(values, dtype=np.float64)) for values in (beta, auxiliary))
    total = np.hypot(beta, B) + B
    return np.asarray(np.divide(beta**2, total, out=np.zeros_like(total), where=total > 0))


def order(beta: npt.ArrayLike, auxiliary: npt.ArrayLike, method: str = "pt+ft", **start: float | str) -> FloatArray:
    """Return dlog P / dlog beta at coefficients ``beta`` and auxiliary ones ``auxiliary``.

    Parameters
    ----------
    beta, auxiliary : array
        Broadcast against each other; ``beta`` is not zero.
    method : {"pt+ft", "mtl"}
    **start
        ``alpha``, ``scaling``, ``gamma`` and ``form`` of `finetune_penalty`, for "pt+ft".

    Examples
    --------
    >>> [round(float(order(1.0, 1.0, form=form)), 4) for form in ("exact", "symmetric")]
    [1.7486, 1.8867]
    >>> round(float(order(1.0, 1.0, "mtl")), 4)
    1.7071
    """
    if _method(method) == "mtl":
        return 1 + _share(beta, auxiliary)
    _, ratio = _bend(beta, auxiliary, **start)  # type: ignore[arg-type]
    return np.asarray(ratio * np.arcsinh(ratio) / entropy(ratio))


def feature_dependence(
    beta: npt.ArrayLike, auxiliary: npt.ArrayLike, method: str = "pt+ft", **start: float | str
) -> FloatArray:
    """Return dlog P / dlog B, with the arguments of `order`: negative where an auxiliary task makes a feature cheaper.

    Examples
    --------
    >>> total = order(1.0, 0.001) + feature_dependence(1.0, 0.001)
    >>> bool(abs(total - 1) < 1e-12)
    True
    >>> start = {"gamma": 0.001, "form": "symmetric"}
    >>> float((order(1.0, 0.001, **start) + feature_dependence(1.0, 0.001, **start)).round(6))
    1.000151
    """
    if _method(method) == "mtl":
        return -_share(beta, auxiliary)
    k, ratio = _bend(beta, auxiliary, **start)  # type: ignore[arg-type]
    flat, _ = _bend(beta, np.zeros_like(np.asarray(auxiliary, dtype=np.float64)), **start)  # type: ignore[arg-type]
    # dlog k / dlog B, from k = |B| + gamma^2 or k^2 = flat^2 + m^4 B^2 / 4.
    moves = 1 - flat / k if start.get("form") == "symmetric" else 1 - (flat / k) ** 2
    return np.asarray(-moves * ratio**2 / (1 + np.sqrt(1 + ratio**2)) / entropy(ratio))


def _method(method: str) -> str:
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown;{near_miss(method, METHODS)} Methods: {listing(METHODS)}")
    return method


def _share(beta: npt.ArrayLike, auxiliary: npt.ArrayLike) -> FloatArray:
    beta, B = (np.abs(np.asarray(values, dtype=np.float64)) for values in (beta, auxiliary))
    return np.asarray(B / np.hypot(beta, B))


def _bend(
    beta: npt.ArrayLike,
    auxiliary: npt.ArrayLike,
    alpha: float = 0.0,
    scaling: float = 1.0,
    gamma: float = 0.0,
    form: str = "exact",
) -> tuple[FloatArray, FloatArray]:
    """Return k and |beta| / k on the common shape; k may be zero, where the ratio is infinite."""
    values, B = np.broadcast_arrays(np.abs(np.asarray(beta, np.float64)), np.asarray(auxiliary, np.float64))
    if form == "symmetric":
        k = scaling**2 * np.abs(B) + gamma**2
    elif form == "exact":
        k = np.hypot(scaling**2 * alpha**2 + gamma**2, scaling**2 * B / 2)
    else:
        raise InputError(f"form {form!r} is unknown;{near_miss(form, ('exact', 'symmetric'))} Forms: exact, symmetric")
    return k, np.divide(values, k, out=np.full(values.shape, np.inf), where=k > 0)


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
    if not beta or not auxiliary:
        raise InputError(f"beta is {beta} and auxiliary {auxiliary}; regimes are about features that both tasks use")
    potential = Potential.finetuned([abs(auxiliary), 0.0], alpha, scaling, gamma)
    known, new = (float(k) for k in potential.k)
    price = potential.k * entropy(abs(beta) / potential.k)
    found = float(order(beta, auxiliary, alpha=alpha, scaling=scaling, gamma=gamma, form="exact"))
    ratio = float(price[1] / price[0])
    name = "lazy" if found > LAZY_ORDER else "nested" if ratio >= RICH_RATIO else "rich"
    return Regime(name, found, ratio, known, new)
