"""Kernels of wide random networks beyond ReLU: thresholds, rectified quadratics, bumps, and any activation."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.kernels.layer_maps import LayerMap, arc_cosine_0
from recombine.theory.kernels.overlap import OverlapKernel


def step_kernel(depth: int, factors: int, bias: float = 0.0) -> OverlapKernel:
    """Return the kernel of ``depth`` random layers of threshold units.

    Examples
    --------
    >>> step_kernel(depth=1, factors=2).salience.round(6).tolist()
    [0.333333, 0.333333]
    """
    return OverlapKernel.depth_map(arc_cosine_0, depth, factors, bias)


def quadratic_kernel(depth: int, factors: int, bias: float = 0.0) -> OverlapKernel:
    """Return the kernel of ``depth`` random layers of rectified quadratic units.

    Examples
    --------
    >>> quadratic_kernel(depth=2, factors=3).salience.round(6).tolist()
    [0.146891, 0.141077, 0.136094]
    """

    def layer(x: FloatArray) -> FloatArray:
        angle = np.arccos(x)
        return 3 * np.sin(angle) * x + (np.pi - angle) * (1 + 2 * x**2)

    return OverlapKernel.depth_map(layer, depth, factors, bias)


def gaussian_kernel(depth: int, factors: int, bias: float = 0.0, sharpness: float = 1.0) -> OverlapKernel:
    """Return the kernel of ``depth`` random layers of units exp(-sharpness u^2).

    Examples
    --------
    >>> gaussian_kernel(depth=10, factors=4).salience.round(6).tolist()
    [0.014461, 0.03943, 0.058895, 0.469995]
    """
    width = (2 * sharpness + 1) ** 2
    return OverlapKernel.depth_map(lambda x: 1 / np.sqrt(width - (2 * sharpness * x) ** 2), depth, factors, bias)


def dual_of(activation: LayerMap, gain: float = 1.0, nodes: int = 120) -> LayerMap:
    """Return the layer map of any activation, by Gauss-Hermite quadrature.

    The map sends a cosine x to E[f(u) f(v)]: u and v are normal with standard deviation ``gain`` and correlation x.
    Smooth activations (tanh, GELU, erf) are exact to rounding with a hundred nodes; one with a kink, like ReLU, to
    about 1e-4, so that `OverlapKernel.relu` is better for it. ``activation`` is elementwise, array to array.

    Examples
    --------
    The map of sine is known: sinh(x g²) exp(-g²) for gain g.

    >>> x = np.array([0.0, 0.5, 1.0])
    >>> bool(np.allclose(dual_of(np.sin)(x), np.sinh(x) * np.exp(-1), atol=1e-14))
    True
    """
    if not gain > 0 or nodes < 2:
        raise InputError(f"gain {gain}, nodes {nodes}: need a positive gain and at least two nodes")
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    activated = np.asarray(activation(gain * points), dtype=float)
    if activated.shape != points.shape or not np.isfinite(activated).all():
        raise InputError("the activation must send an array of numbers to as many finite numbers")

    def layer(cosine: FloatArray) -> FloatArray:
        x = np.asarray(cosine, dtype=float)[..., None, None]
        second = activation(gain * (x * points[:, None] + np.sqrt(np.maximum(1 - x**2, 0.0)) * points))
        return np.asarray(np.einsum("i,...ij,j->...", activated * weights, second, weights))

    return layer
