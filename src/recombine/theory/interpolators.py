"""Interpolators of least penalty: what a network trained to zero loss would be, without training it.

The potential of gradient flow is minimised in its dual, where n unknowns nu give beta = k sinh(X' nu + tilt). The dual
objective bends like a sum of exponentials, whose third derivative is bounded by the second; Newton steps shortened by
ln(1 + d) / d, d the largest change of X' nu, then always descend (Sun & Tran-Dinh 2019), so there is no line search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.arrays import FloatArray, as_numbers
from recombine.errors import InputError, SolverError
from recombine.theory.diagonal import Potential

#: Largest residual of an answer, relative to the largest target.
RESIDUAL = 1e-10
MOST_STEPS = 500
#: Penalties that bend below this are approached from larger ones, a few decades at a time.
SMALLEST_K = 1e-16


@dataclass(frozen=True, eq=False)
class Interpolator:
    """Coefficients that fit all samples, and how they were found.

    Attributes
    ----------
    beta : ndarray (D,) or (D, O)
    objective : float
        What was minimised.
    residual : float
        Largest deviation from a target, relative to the largest target.
    steps : int
        Of the solver; 1 for a closed form.
    route : str
    """

    beta: FloatArray
    objective: float
    residual: float
    steps: int
    route: str


def least_potential(inputs: npt.ArrayLike, targets: npt.ArrayLike, potential: Potential) -> Interpolator:
    """Return the interpolator of least potential: where gradient flow from those weights ends.

    Parameters
    ----------
    inputs : array (n, D)
        Rows that are linearly independent, so n is at most D.
    targets : array (n,)
    potential : Potential

    Examples
    --------
    >>> X, y = [[1.0, 2.0, 2.0]], [3.0]
    >>> least_potential(X, y, Potential.single_task(3, alpha=10.0)).beta.round(4)
    array([0.3333, 0.6667, 0.6667])
    >>> least_potential(X, y, Potential.single_task(3, alpha=1e-6)).beta.round(4)
    array([0.  , 0.75, 0.75])
    """
    X, y = _checked(inputs, targets, len(potential.k))
    if not y.any() and not potential.start.any():
        return Interpolator(np.zeros(X.shape[1]), 0.0, 0.0, 0, "dual Newton")
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        beta, residual, steps = _continued(X, y, potential)
    return Interpolator(beta, float(potential(beta)), residual, steps, "dual Newton")


def _continued(X: FloatArray, y: FloatArray, potential: Potential) -> tuple[FloatArray, float, int]:
    """Solve at once, or where k is too small for that, from larger k down in equal factors of at most 1e8."""
    smallest = float(potential.k.min())
    stages = 1 if smallest >= SMALLEST_K else int(np.ceil(np.log10(1 / smallest) / 8))
    tilt, total, dual = potential.tilt, 0, np.zeros(len(y))
    for stage in range(stages):
        k = potential.k * smallest ** ((stage + 1) / stages - 1)
        # |X' nu| grows like ln(1 / k), so the last answer is stretched by the ratio of the logarithms.
        dual = dual * ((stage + 1) / max(stage, 1))
        beta, dual, residual, steps = _newton(X, y, k, tilt, dual)
        total += steps
    return beta, residual, total


def _newton(
    X: FloatArray, y: FloatArray, k: FloatArray, tilt: FloatArray, dual: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """Minimise sum_d k_d cosh((X' nu)_d + tilt_d) - nu'y; return beta, nu, the residual and the number of steps."""
    size = float(np.abs(y).max()) or float(np.abs(X @ (k * np.sinh(tilt))).max()) or 1.0
    for step in range(MOST_STEPS):
        place = dual @ X + tilt
        grown = np.exp(np.abs(place))
        # One exponential for both sinh and cosh; sinh keeps its digits near zero.
        bend = k * (grown + 1 / grown) / 2
        beta = k * np.sinh(place)
        missing = y - X @ beta
        residual = float(np.abs(missing).max()) / size
        if residual < RESIDUAL:
            return beta, dual, residual, step
        half = X * np.sqrt(bend)
        # A matrix times its own transpose is a symmetric product, at half the price.
        direction = _solved(half @ half.T, missing)
        change = float(np.abs(direction @ X).max())
        dual = dual + direction * (np.log1p(change) / change)
    raise SolverError(
        f"the dual Newton steps stalled at a residual of {residual:.1e}; the targets may not be reachable, "
        "or the penalty is so close to l1 that least_l1 is the better description"
    )


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        return np.asarray(cho_solve(cho_factor(matrix, lower=True, check_finite=False), right, check_finite=False))
    except LinAlgError:
        raise SolverError(
            "the rows of inputs are linearly dependent to working precision under this penalty; drop repeated samples, "
            "or use least_l1 if alpha is so small that only a few coordinates are left"
        ) from None


def least_squares_from(
    inputs: npt.ArrayLike, targets: npt.ArrayLike, start: npt.ArrayLike, weights: npt.ArrayLike
) -> Interpolator:
    """Return the interpolator of least sum_d (beta_d - start_d)^2 / weights_d: where training the readouts alone ends.

    Parameters
    ----------
    inputs : array (n, D)
    targets : array (n,)
    start, weights : array (D,)
        Coefficients at the start; w+^2 + w-^2 of the fixed hidden weights, not negative.

    Examples
    --------
    >>> least_squares_from([[1.0, 1.0]], [3.0], start=[0.0, 0.0], weights=[2.0, 1.0]).beta
    array([2., 1.])
    """
    origin, spread = (np.asarray(values, dtype=np.float64) for values in (start, weights))
    X, y = _checked(inputs, targets, len(origin))
    if (spread < 0).any() or spread.shape != origin.shape:
        raise InputError("weights must be one number from 0 up for each coordinate, like start")
    scaled = X * spread
    beta = origin + scaled.T @ _solved(scaled @ X.T, y - X @ origin)
    cost = np.divide((beta - origin) ** 2, spread, out=np.zeros_like(beta), where=spread > 0)
    return Interpolator(beta, float(cost.sum()), _residual(X, y, beta), 1, "closed form")


def least_l1(inputs: npt.ArrayLike, targets: npt.ArrayLike, prices: npt.ArrayLike | None = None) -> Interpolator:
    """Return the interpolator of least sum_d prices_d |beta_d|: the limit of small weights at the start.

    Parameters
    ----------
    inputs : array (n, D)
    targets : array (n,)
    prices : array (D,), optional
        Positive; all one if not given.

    Examples
    --------
    >>> least_l1([[1.0, 2.0, 1.0]], [3.0]).beta
    array([0. , 1.5, 0. ])
    """
    from scipy.optimize import linprog

    width = np.shape(inputs)[-1]
    X, y = _checked(inputs, targets, width)
    cost = np.ones(width) if prices is None else np.asarray(prices, dtype=np.float64)
    found = linprog(np.r_[cost, cost], A_eq=np.hstack([X, -X]), b_eq=y, bounds=(0, None), method="highs")
    if found.x is None or found.fun is None:
        raise SolverError(f"the linear program ended with {found.message!r}; check that the targets can be reached")
    beta = np.asarray(found.x[:width] - found.x[width:])
    return Interpolator(beta, float(found.fun), _residual(X, y, beta), int(found.nit), "linear program (HiGHS)")


def _residual(X: FloatArray, y: FloatArray, beta: FloatArray) -> float:
    return float(np.abs(X @ beta - y).max() / (np.abs(y).max() or 1.0))


def _checked(inputs: npt.ArrayLike, targets: npt.ArrayLike, width: int) -> tuple[FloatArray, FloatArray]:
    X, y = (as_numbers(values, name).astype(np.float64) for values, name in ((inputs, "inputs"), (targets, "targets")))
    if X.ndim != 2 or y.shape != (len(X),) or X.shape[1] != width:
        raise InputError(
            f"inputs have shape {X.shape} and targets {y.shape}; give (n, {width}) and (n,), a column a coefficient"
        )
    if len(X) > width:
        raise InputError(
            f"{len(X)} samples of {width} inputs leave no choice between interpolators; give at most {width}"
        )
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise InputError("inputs or targets hold a number that is not finite; remove those samples")
    return X, y


def solver_module() -> Any:
    """Return clarabel, or say how to get it."""
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("clarabel") is None:
        raise InputError("group norms need the convex solver clarabel; pip install 'recombine[convex]'")
    return import_module("clarabel")
