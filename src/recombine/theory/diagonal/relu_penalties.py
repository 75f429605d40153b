"""What one-hidden-layer ReLU networks find cheap: norms of a network, and the cost of turning a pretrained unit.

f_o(x) = sum_h v_oh relu(<w_h, x>), without biases. The cost of turning is the squared distance from the pretrained
weights: an ansatz for what finetuning prefers, not a theorem about gradient flow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import broadcast, check_bounds, reals, whole
from recombine.errors import InputError


def unit_norm(weights: npt.ArrayLike, readouts: npt.ArrayLike) -> np.float64:
    """Return ``sum_h |w_h| |v_h|`` of weights (H, D) and readouts (H,) or (O, H): F1 of one output, group norm of more.

    Examples
    --------
    >>> unit_norm([[3.0, 4.0], [0.0, 1.0]], [1.0, -2.0]), unit_norm([[3.0, 4.0]], [[3.0], [4.0]])
    (np.float64(7.0), np.float64(25.0))
    """
    w, v = reals(weights, "weights"), np.atleast_2d(reals(readouts, "readouts"))
    if w.ndim != 2 or v.ndim != 2 or v.shape[1] != len(w):
        raise InputError(f"weights have shape {w.shape} and readouts {v.shape}; give (H, D) and (O, H)")
    return np.float64(np.sum(np.linalg.norm(w, axis=1) * np.linalg.norm(v, axis=0)))


def teachers_group_norm(first: int, second: int, shared: int) -> float:
    """Return the group norm of two teachers of unit weights and readouts of size 1 / sqrt(units), ``shared`` in common.

    Examples
    --------
    >>> round(teachers_group_norm(6, 6, 6), 6), round(teachers_group_norm(6, 6, 0), 6)
    (3.464102, 4.898979)
    """
    if whole(shared, "shared", least=0) > min(whole(first, "first"), whole(second, "second")):
        raise InputError(f"{shared} units cannot be shared by teachers of {first} and {second}")
    own = (first - shared) / first**0.5 + (second - shared) / second**0.5
    return float(own + shared * (1 / first + 1 / second) ** 0.5)


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
    check_bounds(arrays[1], "auxiliary", least=0)
    check_bounds(arrays[2], "cosine", least=-1, most=1)
    wanted, B, cos, v0 = (values.ravel() for values in arrays)
    m0 = np.sqrt(B)
    roots = _quartic(-m0 * cos, v0 * wanted, -(wanted**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = _cost(roots, wanted[:, None], m0[:, None], cos[:, None], v0[:, None])
    costs = np.where(roots > 0, costs, np.inf)
    best = np.argmin(costs, axis=1)[:, None]
    shape = arrays[0].shape
    norm = np.take_along_axis(roots, best, axis=1)
    return np.take_along_axis(costs, best, axis=1).reshape(shape), norm.reshape(shape)


def _cost(m: FloatArray, wanted: FloatArray, m0: FloatArray, cos: FloatArray, v0: FloatArray) -> FloatArray:
    # (m - m0 cos)^2 + m0^2 (1 - cos^2) keeps its digits where m is close to m0.
    return np.asarray((wanted / m - v0) ** 2 + (m - m0 * cos) ** 2 + m0**2 * (1 - cos) * (1 + cos))


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


def rotation_order(beta: npt.ArrayLike, auxiliary: npt.ArrayLike, cosine: npt.ArrayLike) -> FloatArray:
    """Return dlog R / dlog beta of a unit that starts with no readout; the feature dependence is one less this.

    By the envelope theorem dR / dbeta = 2 beta / m^2 at the best norm m.

    Examples
    --------
    >>> rotation_order(1.0, [0.1, 1.0, 10.0], 0.9).round(4)
    array([1.1373, 1.2071, 0.1186])
    """
    cost, norm = rotation_cost(beta, auxiliary, cosine)
    return np.asarray(2 * np.asarray(beta) ** 2 / norm**2 / cost)
