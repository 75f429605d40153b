"""Shortcut bias on context dependence: when context alone explains most seen answers, which kernels fall for it?

Closed forms for the full block (CD-N with N items per answer; CD-3 is N = 3), where context predicts two thirds of the
seen answers and is wrong on every unseen one. The design's symmetries leave three orbits of seen cells, so the dual
problem has three unknowns; all unseen cells form one orbit, so a model gets all of them right or none.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.errors import InputError, near_miss

Loss = Literal["hinge", "squared"]


@record
class ContextMargin:
    """What overlap-kernel models do on the unseen cells of CD-N: arrays of one shape, one entry per kernel.

    Attributes
    ----------
    value : array of float
        Right answer times output on every unseen cell; seen cells are at 1 (hinge: at least 1). NaN where a weight is
        negative or all are zero: there is no such kernel.
    correct : array of bool
        Whether the unseen cells are right, from the inequalities alone; False where there is no such kernel.
    all_support : array of bool
        Whether all seen cells carry dual weight: always for squared loss, and where hinge and squared loss agree.
        Elsewhere the easy congruent ones drop out.

    Examples
    --------
    >>> context_dependence_margin(0.05, 0.02).all_support.tolist()
    True
    """

    value: FloatArray
    correct: BoolArray
    all_support: BoolArray


def context_dependence_margin(
    s1: npt.ArrayLike,
    s2: npt.ArrayLike,
    s3: npt.ArrayLike | None = None,
    *,
    items: int = 3,
    loss: Loss = "hinge",
) -> ContextMargin:
    """Return the margin on unseen cells of CD-N, for one kernel or whole arrays of them: the phase diagram.

    CD-N is solved under squared loss where 2 s2 (N s1 + s2) > s1 s3; under hinge the same holds where all seen cells
    support, and s2 s3 + 3N s2^2 + N(2N-1) s1 s2 > 2N^2 s1^2 where easy cells drop out.

    Parameters
    ----------
    s1, s2, s3 : array of float
        Weights of conjunctions of order 1, 2 and 3, broadcast against each other; ``s3 = 1 - 3 s1 - 3 s2`` by default.
    items : int
        N, levels per answer and feature; all N x N incongruent cells are left out.
    loss : {"hinge", "squared"}
        ``"hinge"``: hard margin, the limit of logistic gradient descent on the readout. ``"squared"``: minimum norm.

    See Also
    --------
    crossed_out : weights of three factors from those of four or more, where the others do not matter to the answer.
    recombine.theory.kernels.solvers.solve_kernels : the margins of any two-class task with any number of factors.

    Examples
    --------
    A ReLU network of depth 3 takes the shortcut under cross-entropy, not under squared loss:

    >>> found = context_dependence_margin(0.20350064, 0.09423825)
    >>> found.value.round(6).tolist(), found.correct.tolist()
    (-0.21669, False)
    >>> context_dependence_margin(0.20350064, 0.09423825, loss="squared").value.round(6).tolist()
    0.522309
    >>> context_dependence_margin([0.1, 0.1, 0.3], [0.0, 0.1, 0.1]).value.round(4)
    array([-0.2647,  0.0857,     nan])
    """
    w1, w2, w3 = _broadcast(s1, s2, s3)
    n = _checked(items, loss)
    there = (np.minimum(np.minimum(w1, w2), w3) >= 0) & (w1 + w2 + w3 > 0)
    supports = _all_support(w1, w2, w3, n) | (loss == "squared")
    dropped = w2 * w3 + 3 * n * w2**2 + n * (2 * n - 1) * w1 * w2 > 2 * n**2 * w1**2
    solved = np.where(supports, 2 * w2 * (n * w1 + w2) > w1 * w3, dropped)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(supports, _squared(w1, w2, w3, n), _without_easy(w1, w2, w3, n))
    return ContextMargin(np.where(there, margin, np.nan), np.asarray(solved & there), np.asarray(supports))


def crossed_out(salience: npt.ArrayLike, levels: int) -> FloatArray:
    """Return the weights that are left when the last factor is met at all its levels with every cell and never matters.

    A model then treats its levels alike, and its kernel on the other factors is the mean over them: a conjunction of
    them gains a share 1 / levels of that conjunction joined with the last factor. Weights are those of conjunctions of
    order 1 to C, (..., C) -> (..., C - 1).

    Examples
    --------
    Context, two features, and a colour with five levels that says nothing. A network of depth 10, which is right about
    three factors, takes the shortcut as soon as there is a colour:

    >>> from recombine.theory.kernels import OverlapKernel
    >>> three = OverlapKernel.relu(depth=10, factors=3).salience
    >>> four = crossed_out(OverlapKernel.relu(depth=10, factors=4).salience, levels=5)
    >>> [context_dependence_margin(*weights).value.round(4).tolist() for weights in (three, four)]
    [0.0478, -0.0998]
    """
    weights = np.asarray(salience, dtype=np.float64)
    if weights.ndim < 1 or weights.shape[-1] < 2:
        raise InputError(f"salience has shape {weights.shape}; give weights of orders 1 to C, for C of at least 2")
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or levels < 1:
        raise InputError(f"levels is {levels!r}; give a whole number of at least 1")
    return np.asarray(weights[..., :-1] + weights[..., 1:] / levels)


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


def _all_support(s1: FloatArray, s2: FloatArray, s3: FloatArray, n: int) -> BoolArray:
    cross = n * (n * s1 + s2)
    single = n**2 * s1 + 2 * n * s2 + s3
    spread = single * (2 * n**2 * s1 + 2 * n * s2 + s3) - 2 * cross**2
    return np.asarray(spread >= cross * (4 * n * s1 + (2 * n + 2) * s2 + s3))


def _broadcast(
    s1: npt.ArrayLike, s2: npt.ArrayLike, s3: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    w1, w2 = np.asarray(s1, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    w3 = 1 - 3 * w1 - 3 * w2 if s3 is None else np.asarray(s3, dtype=np.float64)
    # The remainder of a kernel without whole-cell weight is zero up to rounding; on either side of it.
    w3 = np.where(np.abs(w3) < 1e-12, 0.0, w3) if s3 is None else w3
    first, second, third = np.broadcast_arrays(w1, w2, w3)
    return first, second, third


def _checked(items: int, loss: str) -> int:
    if loss not in ("hinge", "squared"):
        raise InputError(f"loss is {loss!r}; choose 'hinge' or 'squared';{near_miss(loss, ['hinge', 'squared'])}")
    if isinstance(items, bool) or not isinstance(items, int | np.integer) or items < 1:
        raise InputError(f"items is {items!r}; give a whole number of at least 1")
    return int(items)
