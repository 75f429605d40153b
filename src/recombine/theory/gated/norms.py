"""What a gated function costs: the least half squared norm of parameters that represent it, by architecture.

``rho(beta) = min {|theta|^2 / 2 : P(theta) = beta}``. Gradient descent on an exponential-tailed loss ends in a
stationary point of min rho subject to margins of one, so rho is the architecture's implicit bias (Lippl, Abbott & Chung
2022). Weights of units have shape (H, C, d): unit, context, input.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.checks import real, whole
from recombine.errors import InputError


def one_layer_cost(beta: npt.ArrayLike) -> float:
    """Return ``sum_c |beta_c|^2 / 2`` of weights (C, d): a separate maximum-margin classifier in each context.

    Examples
    --------
    >>> one_layer_cost([[3.0, 0.0], [0.0, 4.0]])
    12.5
    """
    return float((_array(beta, 2, "beta") ** 2).sum() / 2)


def group_cost(zeta: npt.ArrayLike) -> float:
    """Return ``sum_h (sum_c |zeta_hc|^2)^(1/2)`` of (H, C, d): two layers, every unit with contexts of its own.

    A unit's readout weight is shared by its contexts, so it costs ``(v^2 + |zeta_h|^2 / v^2) / 2 >= |zeta_h|``: units
    are selected, contexts of a selected unit are not.

    Examples
    --------
    >>> group_cost(np.array([[[3.0], [4.0]], [[0.0], [0.0]]]))
    5.0
    """
    return float(np.sqrt((_array(zeta, 3, "zeta") ** 2).sum(axis=(1, 2))).sum())


def least_group_cost(
    zeta: npt.ArrayLike, tolerance: float = 1e-12, max_rounds: int = 100_000
) -> tuple[float, FloatArray]:
    """Return the smallest group cost of the function of ``zeta`` (H, C, d), and the shifts (H, d) that reach it.

    zeta_hc + a_h with sum_h a_h = 0 is the same function. Alternates between shifts and the unit norms that they give
    (a convex problem, so it ends at the minimum).

    Examples
    --------
    >>> zeta = np.cos(1 + np.arange(3)[:, None, None] + 2 * np.arange(2)[:, None] + 3 * np.arange(3))
    >>> round(group_cost(zeta), 6), round(least_group_cost(zeta)[0], 6)
    (5.093479, 4.733743)
    """
    weights = _array(zeta, 3, "zeta")
    means = weights.mean(axis=1)
    spread = ((weights - means[:, None]) ** 2).sum(axis=(1, 2))
    contexts, total = weights.shape[1], means.sum(axis=0)
    centres, cost, tolerance = means, math.inf, real(tolerance, "tolerance", above=0)
    for _ in range(whole(max_rounds, "max_rounds")):
        norms = np.sqrt(spread + contexts * (centres**2).sum(axis=1))
        if cost - norms.sum() <= tolerance * norms.sum():
            break
        cost = float(norms.sum())
        # With the norms fixed, sum_h |centre_h|^2 / norm_h is least for centres in proportion to the norms.
        centres = norms[:, None] * total / max(norms.sum(), np.finfo(float).tiny)
    return float(norms.sum()), centres - means


def frozen_relu_cost(zeta: npt.ArrayLike) -> float:
    """Return ``sum_h |zeta_h|`` of (H, d): two layers with fixed gates that are open or closed.

    Examples
    --------
    >>> frozen_relu_cost([[3.0, 4.0], [1.0, 0.0]])
    6.0
    """
    return float(np.linalg.norm(_array(zeta, 2, "zeta"), axis=1).sum())


def shared_contexts_cost(beta: npt.ArrayLike) -> float:
    """Return ``|beta|`` of (C, d): two layers whose units share one context function, so that depth adds nothing.

    Examples
    --------
    >>> b = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))
    >>> round(shared_contexts_cost(b), 6)
    2.236388
    """
    return float(np.linalg.norm(_array(beta, 2, "beta")))


def gated_readout_cost(beta: npt.ArrayLike) -> float:
    """Return the nuclear norm of (K, C d): shared hidden contexts and a readout with K contexts, H >= rank units.

    Examples
    --------
    >>> b = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))
    >>> round(gated_readout_cost(b), 6)
    3.029613
    """
    return float(np.linalg.svd(_array(beta, 2, "beta"), compute_uv=False).sum())


def convolution_cost(beta: npt.ArrayLike) -> float:
    """Return ``d^(-1/2) sum_k (sum_c |F beta_c|_k^2)^(1/2)`` of (C, d): gated circular filters, a full-width readout.

    F is the unitary DFT: every frequency is a two-layer chain of its own whose contexts share one readout coefficient.

    Examples
    --------
    >>> b = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))
    >>> round(convolution_cost(b), 6)
    2.14705
    """
    spectrum = np.fft.fft(_array(beta, 2, "beta"), axis=1, norm="ortho")
    return float(np.sqrt((np.abs(spectrum) ** 2).sum(axis=0)).sum() / math.sqrt(spectrum.shape[1]))


def chain_cost(zeta: npt.ArrayLike, depth: int) -> float:
    """Return ``(L / 2) sum_h |zeta_h|^(2/L)`` of (H, ...): units that are chains of L factors, one of them a vector.

    Not convex beyond two factors: depth prefers few chains even more than the l1 norm does.

    Examples
    --------
    >>> b = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))
    >>> round(2 * chain_cost(b[:1, :3], depth=3), 6)
    3.543223
    """
    depth, weights = whole(depth, "depth"), _array(zeta, None, "zeta")
    norms = np.sqrt((weights.reshape(len(weights), -1) ** 2).sum(axis=1))
    return float(depth / 2 * (norms ** (2 / depth)).sum())


def _array(values: npt.ArrayLike, axes: int | None, name: str) -> FloatArray:
    array = as_numbers(values, name).astype(np.float64)
    if array.ndim != (axes or max(array.ndim, 1)) or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give {axes or 'some'} axes, none of them empty")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has entries that are not finite; give numbers only")
    return array
