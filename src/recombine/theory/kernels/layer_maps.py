"""What a wide random layer makes of two inputs: from their cosine to the inner product of what the layer hands on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError

LayerMap = Callable[[FloatArray], FloatArray]


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
