"""What turning a pretrained unit of a one-hidden-layer ReLU network costs.

f(x) = sum_h v_h relu(<w_h, x>), without biases. The cost of turning is the squared distance from the pretrained
weights: an ansatz for what finetuning prefers, not a theorem about gradient flow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import check_bounds
from recombine.sample_checks import broadcast


def rotation_cost(
    beta: npt.ArrayLike, auxiliary: npt.ArrayLike, cosine: npt.ArrayLike, readout: npt.ArrayLike = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return the least squared change that turns a pretrained unit into a wanted one, and the norm it then has.

    R = min over m > 0 of (beta / m - v0)^2 + m^2 + m0^2 - 2 m m0 cos, with m0 = sqrt(B); its stationary points are
    roots of m^4 - m0 cos m^3 + v0 beta m - beta^2.

    Parameters
    ----------
    beta, auxiliary : array
        Magnitude ``|v| |w|`` of the wanted unit and of the pretrained one, from 0 up; ``beta`` above 0.
    cosine : array
        Of the angle between their directions.
    readout : array
        Readout v0 at the start of finetuning.

    Examples
    --------
    >>> cost, norm = rotation_cost(1.0, 1.0, [1.0, 0.9, 0.0])
    >>> cost.round(8)
    array([0.66949963, 0.94021061, 3.        ])
    """
    arrays = broadcast(beta=beta, auxiliary=auxiliary, cosine=cosine, readout=readout)
    check_bounds(arrays[0], "beta", above=0)
    check_bounds(arrays[1], "auxiliary", at_least=0)
    check_bounds(arrays[2], "cosine", at_least=-1, at_most=1)
    coefficients, B, cos, v0 = (values.ravel() for values in arrays)
    m0 = np.sqrt(B)
    roots = _quartic(-m0 * cos, v0 * coefficients, -(coefficients**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = _cost(roots, coefficients[:, None], m0[:, None], cos[:, None], v0[:, None])
    costs = np.where(roots > 0, costs, np.inf)
    best = np.argmin(costs, axis=1)[:, None]
    shape = arrays[0].shape
    norm = np.take_along_axis(roots, best, axis=1)
    return np.take_along_axis(costs, best, axis=1).reshape(shape), norm.reshape(shape)


def _cost(m: FloatArray, coefficients: FloatArray, m0: FloatArray, cos: FloatArray, v0: FloatArray) -> FloatArray:
    # (m - m0 cos)^2 + m0^2 (1 - cos^2) keeps its digits where m is close to m0.
    return np.asarray((coefficients / m - v0) ** 2 + (m - m0 * cos) ** 2 + m0**2 * (1 - cos) * (1 + cos))


def _quartic(cubic: FloatArray, linear: FloatArray, constant: FloatArray) -> FloatArray:
    """Return the roots (N, 4) of m^4 + cubic m^3 + linear m + constant, -1 where a root is not real."""
    companion = np.zeros((len(cubic), 4, 4))
    companion[:, 1:, :3] = np.eye(3)
    companion[:, :, 3] = -np.stack([constant, linear, np.zeros_like(cubic), cubic], axis=1)
    roots = np.linalg.eigvals(companion)
    real = np.where(np.abs(roots.imag) < 1e-6 * (1 + np.abs(roots)), roots.real, -1.0)
    for _ in range(3):
        value = ((real + cubic[:, None]) * real**2 + linear[:, None]) * real + constant[:, None]
        slope = (4 * real + 3 * cubic[:, None]) * real**2 + linear[:, None]
        real = real - np.divide(value, slope, out=np.zeros_like(value), where=(slope != 0) & (real > 0))
    return np.asarray(real)
