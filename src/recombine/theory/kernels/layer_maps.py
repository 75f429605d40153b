"""What a wide random layer makes of two inputs: from their cosine to the inner product of what the layer hands on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError

LayerMap = Callable[[FloatArray], FloatArray]


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


def input_cosines(
    depth: int, factors: int | None, bias: float, custom: tuple[int, tuple[float, ...]] | None = None
) -> FloatArray:
    """Return cosines of inputs in the order of a kernel's table: of one-hot codes, or of one's own (factors, table)."""
    if custom and factors not in (None, custom[0]):
        raise InputError(f"inputs are of {custom[0]} factors, not {factors}; leave factors out")
    count = custom[0] if custom else factors
    if count is None:
        raise InputError("say how many factors there are, or give the kernel of your inputs")
    if depth < 0 or count < 1 or bias < 0:
        raise InputError(f"depth {depth}, factors {count}, bias {bias}: need depth >= 0, factors >= 1 and bias >= 0")
    table = np.array(custom[1]) if custom else np.arange(count + 1, dtype=np.float64)
    if not table[-1] > 0 or np.abs(table).max() > table[-1]:
        raise InputError("identical cells must have the largest inner product; give that of inputs of one length")
    return np.asarray((count * table / table[-1] + bias) / (count + bias))


def tangent(cosines: FloatArray, depth: int, bias: float = 0.0) -> FloatArray:
    """Return the neural tangent kernel of ``depth`` trained ReLU layers, scaled to 1 for identical inputs.

    Inputs have length 1, weights the variance that keeps it (2 / units after the first layer), and biases the variance
    ``bias`` in every layer, the readout too: with Q the kernel of a layer, Q' = 2 E[relu relu] + bias and
    T' = 2 E[step step] T + Q'. The last of the ``cosines`` of inputs is that of an input with itself.

    Examples
    --------
    Biases make all cells more alike:

    >>> tangent(np.array([0.0, 0.5, 1.0]), depth=1).round(4).tolist()
    [0.1592, 0.4712, 1.0]
    >>> tangent(np.array([0.0, 0.5, 1.0]), depth=1, bias=1.0).round(4).tolist()
    [0.5769, 0.7462, 1.0]
    """
    if bias < 0:
        raise InputError(f"bias {bias} is a variance; give zero or more")
    forward = np.asarray(cosines, dtype=float) + bias
    kernel = forward
    for _ in range(depth):
        size = forward[-1]
        cosine = np.clip(forward / size, -1.0, 1.0)
        forward = size * arc_cosine_1(cosine) + bias
        kernel = kernel * arc_cosine_0(cosine) + forward
    return np.asarray(kernel / kernel[-1])


def arc_cosine_0(x: FloatArray) -> FloatArray:
    """Layer map of threshold units, scaled to 1 for identical inputs."""
    return (np.pi - np.arccos(x)) / np.pi


def arc_cosine_1(x: FloatArray) -> FloatArray:
    """Layer map of ReLU units, scaled to 1 for identical inputs."""
    return (np.sqrt(1 - x**2) + (np.pi - np.arccos(x)) * x) / np.pi


def arc_cosine_2(x: FloatArray) -> FloatArray:
    """Layer map of rectified quadratic units."""
    angle = np.arccos(x)
    return 3 * np.sin(angle) * x + (np.pi - angle) * (1 + 2 * x**2)
