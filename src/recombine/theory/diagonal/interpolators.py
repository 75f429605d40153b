"""Interpolators of least penalty: what a network trained to zero loss would be, without training it.

The potential of gradient flow is minimised in its dual, where n unknowns nu give beta = k sinh(X' nu + tilt). The dual
objective bends like a sum of exponentials, whose third derivative is bounded by the second; Newton steps shortened by
ln(1 + d) / d, d the largest change of X' nu, then always descend (Sun & Tran-Dinh 2019), so there is no line search.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.cells.threads import one_thread
from recombine.checks import check_bounds, reals
from recombine.errors import InputError, SolverError
from recombine.sample_checks import of_kind, samples
from recombine.theory.diagonal.penalties import Potential

#: Largest residual of an answer, relative to the largest target: of Newton steps, and of the closed form.
NEWTON_RESIDUAL, CLOSED_RESIDUAL = 1e-10, 1e-8
MAX_DUAL_NEWTON_STEPS = 500
#: Penalties that bend below this are approached from larger ones, a few decades at a time.
MIN_DIRECT_SCALE = 1e-16


@record
class Interpolator:
    """Coefficients that fit all samples, and how they were found.

    Attributes
    ----------
    value : ndarray (D,) or (D, O)
        The coefficients.
    objective : float
        What was minimised.
    residual : float
        Largest deviation from a target, relative to the largest target.
    steps : int
        Of the solver; 1 for a closed form.
    """

    value: FloatArray
    objective: float
    residual: float
    steps: int
    route: str


def least_potential(X: npt.ArrayLike, y: npt.ArrayLike, potential: Potential) -> Interpolator:
    """Return the interpolator of least potential: where gradient flow from those weights ends.

    Parameters
    ----------
    X : array (n, D)
        Rows that are linearly independent, so n is at most D.
    y : array (n,)

    Examples
    --------
    >>> X, y = [[1.0, 2.0, 2.0]], [3.0]
    >>> least_potential(X, y, Potential.single_task(3, alpha=10.0)).value.round(4)
    array([0.3333, 0.6667, 0.6667])
    >>> least_potential(X, y, Potential.single_task(3, alpha=1e-6)).value.round(4)
    array([0.  , 0.75, 0.75])
    """
    of_kind(potential, "potential", Potential)
    inputs, targets = _checked(X, y, len(potential.k))
    if not targets.any() and not potential.start.any():
        return Interpolator(np.zeros(inputs.shape[1]), 0.0, 0.0, 0, "dual Newton")
    with one_thread():
        beta, residual, steps = _continued(inputs, targets, potential)
    return Interpolator(beta, float(potential(beta)), residual, steps, "dual Newton")


def _continued(X: FloatArray, y: FloatArray, potential: Potential) -> tuple[FloatArray, float, int]:
    """Solve at once, or where k is too small for that, from larger k down in equal factors of at most 1e8."""
    smallest = float(potential.k.min())
    stages = 1 if smallest >= MIN_DIRECT_SCALE else int(np.ceil(np.log10(1 / smallest) / 8))
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
    for step in range(MAX_DUAL_NEWTON_STEPS):
        exponent = dual @ X + tilt
        grown = np.exp(np.abs(exponent))
        # One exponential for both sinh and cosh; sinh keeps its digits near zero.
        bend = k * (grown + 1 / grown) / 2
        beta = k * np.sinh(exponent)
        missing = y - X @ beta
        residual = float(np.abs(missing).max()) / size
        if residual < NEWTON_RESIDUAL:
            return beta, dual, residual, step
        half = X * np.sqrt(bend)
        # A matrix times its own transpose is a symmetric product, at half the price.
        direction = _solved(half @ half.T, missing)
        if direction is None:
            raise _dependent(
                X,
                f"how freely each coordinate moves, which spans a factor of {bend.max() / bend.min():.0e}; give larger "
                "weights at the start (alpha, scaling or gamma), or use least_l1, which is the limit of small ones",
            )
        change = float(np.abs(direction @ X).max())
        dual = dual + direction * (np.log1p(change) / change)
    raise SolverError(
        f"the dual Newton steps stalled at a residual of {residual:.1e}; the targets may not be reachable, "
        "or the penalty is so close to l1 that least_l1 is the better description"
    )


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray | None:
    """Solve a positive definite system; None if it is singular to working precision."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        return np.asarray(cho_solve(cho_factor(matrix, lower=True, check_finite=False), right, check_finite=False))
    except LinAlgError:
        return None


def _dependent(X: FloatArray, spread: str) -> SolverError:
    """Say why samples are linearly dependent: by themselves, or because the penalty leaves too few coordinates."""
    rank = int(np.linalg.matrix_rank(X))
    if rank < len(X):
        return SolverError(
            f"the {len(X)} rows of inputs are linearly dependent (rank {rank}); drop repeated samples, which have "
            "nothing to add or contradict each other"
        )
    return SolverError(f"the rows of inputs are independent, but not to working precision once weighted by {spread}")


def least_squares_from(
    X: npt.ArrayLike, y: npt.ArrayLike, start: npt.ArrayLike, weights: npt.ArrayLike
) -> Interpolator:
    """Return the interpolator of least sum_d (beta_d - start_d)^2 / weights_d: where training the readouts alone ends.

    Parameters
    ----------
    X : array (n, D)
    y : array (n,)
    start, weights : array (D,)
        Coefficients at the start; w+^2 + w-^2 of the fixed hidden weights, not negative.

    Examples
    --------
    >>> least_squares_from([[1.0, 1.0]], [3.0], start=[0.0, 0.0], weights=[2.0, 1.0]).value
    array([2., 1.])
    """
    origin, spread = reals(start, "start"), check_bounds(reals(weights, "weights"), "weights", at_least=0)
    if origin.ndim != 1 or spread.shape != origin.shape:
        raise InputError(f"start has shape {origin.shape} and weights {spread.shape}; give (D,) of both")
    inputs, targets = _checked(X, y, len(origin))
    beta, residual = _nearest(inputs, targets, origin, spread)
    if not residual < CLOSED_RESIDUAL:
        raise _dependent(
            inputs, f"the squared hidden weights, {spread.min():.1e} to {spread.max():.1e}; give more of them a size"
        )
    cost = np.divide((beta - origin) ** 2, spread, out=np.zeros_like(beta), where=spread > 0)
    return Interpolator(beta, float(cost.sum()), residual, 1, "closed form")


def _nearest(X: FloatArray, y: FloatArray, origin: FloatArray, spread: FloatArray) -> tuple[FloatArray, float]:
    """Return the closed form and its residual, by normal equations or, where rounding spoils these, without them."""
    missing, scaled = y - X @ origin, X * spread
    dual = _solved(scaled @ X.T, missing)
    if dual is not None:
        beta = origin + scaled.T @ dual
        residual = _residual(X, y, beta)
        if residual < CLOSED_RESIDUAL:
            return beta, residual
    root = np.sqrt(spread)
    beta = origin + root * np.linalg.lstsq(X * root, missing, rcond=None)[0]
    return beta, _residual(X, y, beta)


def least_l1(X: npt.ArrayLike, y: npt.ArrayLike, prices: npt.ArrayLike | None = None) -> Interpolator:
    """Return the interpolator of least ``sum_d prices_d |beta_d|``: the limit of small weights at the start.

    Parameters
    ----------
    X : array (n, D)
    y : array (n,)
    prices : array (D,), optional
        Positive; all one if not given.

    Examples
    --------
    >>> least_l1([[1.0, 2.0, 1.0]], [3.0]).value
    array([0. , 1.5, 0. ])
    """
    from scipy.optimize import linprog

    inputs, targets = _checked(X, y)
    width = inputs.shape[1]
    cost = np.ones(width) if prices is None else check_bounds(reals(prices, "prices"), "prices", above=0)
    if cost.shape != (width,):
        raise InputError(f"prices have shape {cost.shape}; give {width} numbers above 0, one per coefficient")
    program = linprog(
        np.r_[cost, cost], A_eq=np.hstack([inputs, -inputs]), b_eq=targets, bounds=(0, None), method="highs"
    )
    if program.x is None or program.fun is None:
        raise SolverError(f"the linear program ended with {program.message!r}; check that the targets can be reached")
    beta = np.asarray(program.x[:width] - program.x[width:])
    return Interpolator(
        beta, float(program.fun), _residual(inputs, targets, beta), int(program.nit), "linear program (HiGHS)"
    )


def _residual(X: FloatArray, y: FloatArray, beta: FloatArray) -> float:
    return float(np.abs(X @ beta - y).max() / (np.abs(y).max() or 1.0))


def _checked(X: npt.ArrayLike, y: npt.ArrayLike, width: int | None = None) -> tuple[FloatArray, FloatArray]:
    inputs, targets = samples(X, y, width)
    if len(inputs) > (count := inputs.shape[1]):
        raise InputError(
            f"{len(inputs)} samples of {count} inputs leave no choice between interpolators; give at most {count}"
        )
    return inputs, targets
