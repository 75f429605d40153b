"""Order, feature dependence and regimes: how a penalty treats a coordinate that an auxiliary task has used.

For a coordinate penalty P(beta, B), the order is dlog P / dlog beta (2 for ridge, 1 for lasso) and the feature
dependence is dlog P / dlog B (0 if it does not matter what was learned before). Whatever is 1-homogeneous in (beta, B)
has order + feature dependence = 1: a learner can favour few features or known ones, but pays for one with the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import check_bounds, real
from recombine.errors import InputError
from recombine.sample_checks import broadcast
from recombine.tables.table import Table
from recombine.theory.diagonal.penalties import bending_scale, hyperbolic_entropy
from recombine.writing import listing

#: A pretrained feature is treated as by ridge (lazy) above this order; halfway between lasso and ridge.
LAZY_ORDER = 1.5
#: Below this ratio of prices, a pretrained feature is hardly cheaper than a new one, so learning is from scratch.
RICH_RATIO = 1.25
#: Ratios beta / k up to the exponential of this are looked through for an order.
MAX_LOG_RATIO = 300.0


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
    coefficients, B = (np.abs(values) for values in broadcast(beta=beta, auxiliary=auxiliary))
    total = np.hypot(coefficients, B) + B
    return np.asarray(np.divide(coefficients**2, total, out=np.zeros_like(total), where=total > 0))


def _bent(
    beta: npt.ArrayLike, auxiliary: npt.ArrayLike, alpha: float, scaling: float, gamma: float, form: str
) -> tuple[FloatArray, FloatArray]:
    """Return k and |beta| / k on the common shape; k may be zero, where the ratio is infinite, or 0 if beta is."""
    coefficients, B = broadcast(beta=beta, auxiliary=auxiliary)
    k = bending_scale(B, alpha, scaling, gamma, form)
    ratio = np.where(coefficients == 0, 0.0, np.inf)
    return k, np.divide(np.abs(coefficients), k, out=ratio, where=k > 0)


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
    """How finetuning treats one pretrained feature, or each of several.

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

    names : tuple of str
        Of the features, where they were given; it prints as a sentence above a table of them.

    All others are arrays of one shape where `regime` was given arrays.

    Examples
    --------
    >>> regime(auxiliary=0.16, beta=0.16).name, regime(auxiliary=0.16, beta=0.16, scaling=0.1, gamma=1e-4).name
    ('lazy', 'nested')
    """

    name: Any
    order: Any
    ratio: Any
    known: Any
    new: Any
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if not self.names:
            fields = {name: getattr(self, name) for name in ("name", "order", "ratio", "known", "new")}
            return f"Regime({', '.join(f'{name}={value!r}' for name, value in fields.items())})"
        counts = [f"{int((self.name == kind).sum())} {kind}" for kind in ("lazy", "nested", "rich")]
        columns = {"feature": np.array(self.names), "regime": self.name, "order": self.order.round(2)}
        table = Table({**columns, "new over known": self.ratio.round(2)})
        return (
            f"Of {len(self.names)} features {listing(counts)}. Whether samples can tell, kept_features says.\n\n{table}"
        )


def regime(
    auxiliary: npt.ArrayLike,
    beta: npt.ArrayLike,
    *,
    alpha: npt.ArrayLike = 1e-3,
    scaling: npt.ArrayLike = 1.0,
    gamma: npt.ArrayLike = 1e-3,
    names: Sequence[str] | None = None,
) -> Regime:
    """Name the regime of finetuning for features of size ``auxiliary`` and wanted coefficients ``beta``.

    Parameters
    ----------
    auxiliary, beta : float or array
        Coefficients after pretraining, and those that the main task needs; none is zero.
    alpha, scaling, gamma : float or array
        As in `Potential.finetuned`. All five are broadcast against each other.
    names : sequence of str, optional
        Of the features, one for each; the answer then prints as a table by name.

    Examples
    --------
    >>> found = regime(auxiliary=0.16, beta=0.4, scaling=0.01, gamma=0.1)
    >>> found.name, round(found.ratio, 2)
    ('rich', 1.0)
    >>> m = np.array([1.0, 0.3, 0.01])
    >>> regime(auxiliary=0.16, beta=[[0.05], [0.4]], scaling=m, gamma=1e-3 * m).name
    array([['lazy', 'nested', 'nested'],
           ['lazy', 'nested', 'nested']], dtype='<U6')
    >>> print(regime([0.2, 0.01], 0.4, scaling=0.3, names=["age", "dose"]))
    Of 2 features 0 lazy, 2 nested, 0 rich. Whether samples can tell, kept_features says.
    <BLANKLINE>
    feature  regime  order  new over known
    age      nested  1.28   3.56
    dose     nested  1.15   1.93
    """
    arguments = {"auxiliary": auxiliary, "beta": beta, "alpha": alpha, "scaling": scaling, "gamma": gamma}
    B, needed, *start = broadcast(**arguments)
    if names is not None and B.shape != (len(names),):
        raise InputError(f"there are {len(names)} names for answers of shape {B.shape}; give one for each feature")
    if not needed.all() or not B.all():
        index = tuple(np.argwhere((needed == 0) | (B == 0))[0])
        location = f" at {list(map(int, index))}" if index else ""
        location = location if names is None else f" for {[*names][index[0]]!r}"
        raise InputError(
            f"beta is {needed[index]:g} and auxiliary {B[index]:g}{location}; regimes are about features that both "
            "tasks use, so leave out those with a 0 in either"
        )
    alphas, m, gammas = (
        check_bounds(values, name, at_least=0) for values, name in zip(start, list(arguments)[2:], strict=True)
    )
    new_scale = m**2 * alphas**2 + gammas**2
    if not new_scale.all():
        index = tuple(np.argwhere(new_scale == 0)[0])
        raise InputError(
            f"alpha is {alphas[index]:g}, scaling {m[index]:g} and gamma {gammas[index]:g}, so that weights of a new "
            "feature are zero and it can never be learned; give gamma, or both alpha and scaling, above 0"
        )
    known_scale = np.hypot(new_scale, m**2 * B / 2)
    size = np.abs(needed)
    order = 1 + _excess(np.asarray(size / known_scale))
    ratio = _slope(np.asarray(size / new_scale)) / _slope(np.asarray(size / known_scale))
    kinds = np.where(order > LAZY_ORDER, "lazy", np.where(ratio >= RICH_RATIO, "nested", "rich"))
    if kinds.ndim:
        return Regime(kinds, order, ratio, known_scale, new_scale, tuple(map(str, names or ())))
    return Regime(str(kinds), float(order), float(ratio), float(known_scale), float(new_scale))


def scaling_of_order(order: float, auxiliary: float, beta: float, *, alpha: float = 1e-3, gamma: float = 1e-3) -> float:
    """Return what to multiply pretrained weights by so that the penalty on a feature has this order: the way back.

    Readouts are set to ``gamma`` times the answer, as in the paper, so that all weights shrink together.

    Parameters
    ----------
    order : float
        Above 1 and below 2; above 1.5 features are used lazily, near 1 few of them are preferred.
    auxiliary, beta : float
        Coefficient after pretraining, and the one that the main task needs; ``beta`` is not zero.
    alpha, gamma : float
        As in `Potential.finetuned`; with ``auxiliary``, not all zero.

    Examples
    --------
    >>> m = scaling_of_order(1.3, auxiliary=0.16, beta=0.3)
    >>> found = regime(auxiliary=0.16, beta=0.3, scaling=m, gamma=1e-3 * m)
    >>> round(m, 3), round(found.order, 6), found.name
    (0.334, 1.3, 'nested')
    """
    from scipy.optimize import brentq

    aim = real(order, "order", above=1, below=2)
    if not real(beta, "beta"):
        raise InputError("beta is 0, where a penalty has no order; give the coefficient that the main task needs")
    scale_at_one = float(bending_scale(auxiliary, alpha, 1.0, gamma))
    if scale_at_one == 0:
        raise InputError("auxiliary, alpha and gamma are all 0, so that weights are zero at any scaling; give one")

    def missed(logarithm: float) -> float:
        return float(_excess(np.asarray(np.exp(logarithm)))) - (aim - 1)

    if missed(MAX_LOG_RATIO) > 0 or missed(-MAX_LOG_RATIO) < 0:
        raise InputError(f"order is {order}, which weights reach at no size that a computer holds; give 1.005 to 1.995")
    # With gamma scaled along, k is the square of the scaling times its value at 1.
    return float(np.sqrt(abs(beta) / scale_at_one) * np.exp(-brentq(missed, -MAX_LOG_RATIO, MAX_LOG_RATIO) / 2))
