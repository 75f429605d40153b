"""Shortcut bias on context dependence: when context alone explains most seen answers, which kernels fall for it?

Closed forms for the full block (CD-N with N items per answer; CD-3 is N = 3), where context predicts two thirds of the
seen answers and is wrong on every unseen one. The design's symmetries leave three orbits of seen cells, so the dual
problem has three unknowns; all unseen cells form one orbit, so a model gets all of them right or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.errors import InputError, near_miss

Loss = Literal["hinge", "squared"]
Regime = Literal["all seen cells support", "easy congruent cells drop out"]


@dataclass(frozen=True)
class ContextMargin:
    """What an overlap-kernel model does on the unseen cells of CD-N.

    Attributes
    ----------
    margin : float
        Right answer times output on every unseen cell; seen cells are at 1 (hinge: at least 1).
    regime : str
        ``"all seen cells support"`` (always so for squared loss; there hinge and squared loss agree) or
        ``"easy congruent cells drop out"``.
    correct : bool
        Whether the margin is positive.

    Examples
    --------
    >>> context_dependence_margin((0.05, 0.02)).regime
    'all seen cells support'
    """

    margin: float
    regime: Regime
    correct: bool


def context_dependence_margin(salience: Sequence[float], items: int = 3, loss: Loss = "hinge") -> ContextMargin:
    """Return the margin on unseen cells of CD-N for one kernel.

    Parameters
    ----------
    salience : (s1, s2) or (s1, s2, s3)
        Weights of conjunctions of order 1, 2 and 3, none negative. Two numbers are taken as normalised, with
        s3 = 1 - 3 s1 - 3 s2.
    items : int
        N, levels per answer and feature; all N x N incongruent cells are left out.
    loss : {"hinge", "squared"}
        ``"hinge"``: hard margin, the limit of logistic gradient descent on the readout. ``"squared"``: minimum norm.

    Returns
    -------
    ContextMargin

    Examples
    --------
    A ReLU network of depth 3 takes the shortcut under cross-entropy, not under squared loss:

    >>> margin = context_dependence_margin((0.20350064, 0.09423825))
    >>> round(margin.margin, 6), margin.correct
    (-0.21669, False)
    >>> round(context_dependence_margin((0.20350064, 0.09423825), loss="squared").margin, 6)
    0.522309
    """
    weights = np.asarray(salience, dtype=np.float64)
    if weights.shape not in ((2,), (3,)):
        raise InputError(f"salience has shape {weights.shape}; give (s1, s2), or (s1, s2, s3)")
    s1, s2, s3 = _broadcast(weights[0], weights[1], weights[2] if weights.size == 3 else None)
    margin = float(context_dependence_phase(s1, s2, s3, items=items, loss=loss))
    if np.isnan(margin):
        raise InputError(f"salience {salience!r} means weights {s1}, {s2}, {s3}; none may be negative, nor all be zero")
    supports = loss == "squared" or bool(_all_support(s1, s2, s3, items))
    return ContextMargin(
        margin=margin,
        regime="all seen cells support" if supports else "easy congruent cells drop out",
        correct=bool(context_dependence_correct(s1, s2, s3, items=items, loss=loss)),
    )


def context_dependence_phase(
    s1: npt.ArrayLike,
    s2: npt.ArrayLike,
    s3: npt.ArrayLike | None = None,
    *,
    items: int = 3,
    loss: Loss = "hinge",
) -> FloatArray:
    """Return the margin on unseen cells of CD-N for whole arrays of kernels: the phase diagram.

    Parameters
    ----------
    s1, s2, s3 : array of float
        Weights of conjunctions of order 1, 2 and 3, broadcast against each other; ``s3 = 1 - 3 s1 - 3 s2`` by default.
    items : int
        N, levels per answer and feature.
    loss : {"hinge", "squared"}

    Returns
    -------
    array of float
        Of the broadcast shape; NaN where a weight is negative or all are zero (no such kernel).

    Examples
    --------
    >>> context_dependence_phase([0.1, 0.1, 0.3], [0.0, 0.1, 0.1]).round(4)
    array([-0.2647,  0.0857,     nan])
    """
    one, two, three = _broadcast(s1, s2, s3)
    _checked(items, loss)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = _squared(one, two, three, items)
        if loss == "hinge":
            margin = np.where(_all_support(one, two, three, items), margin, _without_easy(one, two, three, items))
    return np.where(_is_kernel(one, two, three), margin, np.nan)


def context_dependence_correct(
    s1: npt.ArrayLike,
    s2: npt.ArrayLike,
    s3: npt.ArrayLike | None = None,
    *,
    items: int = 3,
    loss: Loss = "hinge",
) -> BoolArray:
    """Say where CD-N is solved, from the inequalities alone.

    Squared loss: 2 s2 (N s1 + s2) > s1 s3. Hinge, where easy cells drop out:
    s2 s3 + 3N s2^2 + N(2N-1) s1 s2 > 2N^2 s1^2; elsewhere as for squared loss.

    Parameters
    ----------
    s1, s2, s3, items, loss
        As for :func:`context_dependence_phase`.

    Returns
    -------
    array of bool
        Of the broadcast shape; False where there is no such kernel.

    Examples
    --------
    >>> context_dependence_correct(0.1, [0.0, 0.05, 0.1]).tolist()
    [False, False, True]
    """
    one, two, three = _broadcast(s1, s2, s3)
    n = _checked(items, loss)
    solved = 2 * two * (n * one + two) > one * three
    if loss == "hinge":
        dropped = two * three + 3 * n * two**2 + n * (2 * n - 1) * one * two > 2 * n**2 * one**2
        solved = np.where(_all_support(one, two, three, n), solved, dropped)
    return np.asarray(solved & _is_kernel(one, two, three))


def _squared(s1: FloatArray, s2: FloatArray, s3: FloatArray, n: int) -> FloatArray:
    above = n**2 * (2 * n * s1 * s2 + 2 * s2**2 - s1 * s3)
    below = 2 * n**3 * s1 * s2 + 2 * n**2 * s2**2 + 3 * n**2 * s1 * s3 + 4 * n * s2 * s3 + s3**2
    # With single levels alone the seen answers cannot be fitted; least squares then leaves a third of the context.
    return np.where((s2 == 0) & (s3 == 0), -1 / 3, above / below)


def _without_easy(s1: FloatArray, s2: FloatArray, s3: FloatArray, n: int) -> FloatArray:
    """Hard margin when the cells whose features and context all favour their answer carry no weight."""
    cross = n * (n * s1 + s2)
    hard = s1 * (n**2 + 2 * n) + s2 * (2 * n + 1) + s3
    single = n**2 * s1 + 2 * n * s2 + s3
    return (cross * (single + cross) - n**2 * s1 * (hard + cross)) / (hard * single - cross**2)


def _all_support(s1: npt.ArrayLike, s2: npt.ArrayLike, s3: npt.ArrayLike, n: int) -> BoolArray:
    one, two, three = _broadcast(s1, s2, s3)
    cross = n * (n * one + two)
    single = n**2 * one + 2 * n * two + three
    spread = single * (2 * n**2 * one + 2 * n * two + three) - 2 * cross**2
    return np.asarray(spread >= cross * (4 * n * one + (2 * n + 2) * two + three))


def _broadcast(
    s1: npt.ArrayLike, s2: npt.ArrayLike, s3: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    one, two = np.asarray(s1, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    three = 1 - 3 * one - 3 * two if s3 is None else np.asarray(s3, dtype=np.float64)
    # The remainder of a kernel without whole-cell weight is zero up to rounding; on either side of it.
    three = np.where(np.abs(three) < 1e-12, 0.0, three) if s3 is None else three
    first, second, third = np.broadcast_arrays(one, two, three)
    return first, second, third


def _is_kernel(s1: FloatArray, s2: FloatArray, s3: FloatArray) -> BoolArray:
    return np.asarray((np.minimum(np.minimum(s1, s2), s3) >= 0) & (s1 + s2 + s3 > 0))


def _checked(items: int, loss: str) -> int:
    if loss not in ("hinge", "squared"):
        raise InputError(f"loss is {loss!r}; choose 'hinge' or 'squared';{near_miss(loss, ['hinge', 'squared'])}")
    if isinstance(items, bool) or not isinstance(items, int | np.integer) or items < 1:
        raise InputError(f"items is {items!r}; give a whole number of at least 1")
    return int(items)
