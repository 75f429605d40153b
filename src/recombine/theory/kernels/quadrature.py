"""The layer map of any activation, by quadrature."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.kernels.layer_maps import LayerMap


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
        product: FloatArray = np.einsum("i,...ij,j->...", activated * weights, second, weights)
        return product

    return layer
