"""Architectures of your own: any map from parameters to effective weights, and what training it would end in.

Where effective weights are a homogeneous polynomial P of the parameters (deeper networks, gated convolutions, shared
weights), training ends in a stationary point of min |theta|^2 / 2 subject to margins of one. Both functions search from
random starts and keep the least, so they answer for small problems and prove nothing: `largest_margin` does, for the
norms that it knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.checks import whole
from recombine.errors import InputError, SolverError
from recombine.theory.gated.features import as_problem

#: Parameters represent a target if no weight is off by more than this.
MAX_REPRESENTATION_ERROR = 1e-6
#: Rounds of the augmented Lagrangian.
LAGRANGIAN_ROUNDS = 7

Represent = Callable[[FloatArray], FloatArray]


@record
class OwnMargin:
    """The least parameters of an architecture with margins of one.

    Attributes
    ----------
    value : float
        Half the squared norm of the parameters.
    theta : ndarray (P,)
    weights : ndarray (C, d)
        The effective weights that they make.
    reached : int
        Starts that ended within one part in a thousand of the least value.

    Examples
    --------
    >>> OwnMargin(0.5, np.ones(1), np.ones((1, 1)), 3).value
    0.5
    """

    value: float
    theta: FloatArray
    weights: FloatArray
    reached: int


def representation_cost(represent: Represent, target: npt.ArrayLike, parameters: int, *, seed: int = 0) -> float:
    """Return half the least squared norm of parameters that represent a target, searched from one random start.

    Not a number where the search ends in parameters that do not represent it: zero is a saddle of products.

    Parameters
    ----------
    represent : callable
        Parameters (P,) -> effective weights, of the target's shape.
    target : array
    parameters : int
        Number P.
    seed : int
        Draws the start; take the least over several.

    Examples
    --------
    A chain of three factors costs 3/2 of the size of its product to the power 2/3:

    >>> round(representation_cost(lambda theta: theta[0] * theta[1] * theta[2:], [3.0, 4.0], parameters=4), 4)
    4.386
    """
    from scipy.optimize import minimize

    weights_asked = np.asarray(target, dtype=np.float64)
    theta = np.random.default_rng(seed).normal(scale=0.5, size=whole(parameters, "parameters"))
    if np.shape(represent(theta)) != weights_asked.shape:
        raise InputError(f"the map gives weights {np.shape(represent(theta))} and the target has {weights_asked.shape}")
    multiplier, weight = np.zeros(weights_asked.size), 10.0

    def missed(theta: FloatArray) -> FloatArray:
        return (represent(theta) - weights_asked).ravel()

    def objective(theta: FloatArray) -> float:
        miss = missed(theta)
        return float(theta @ theta / 2 + multiplier @ miss + weight / 2 * miss @ miss)

    for _ in range(LAGRANGIAN_ROUNDS):
        theta = minimize(objective, theta, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}).x
        multiplier = multiplier + weight * missed(theta)
        weight = min(3 * weight, 1e3)
    return float(theta @ theta) / 2 if np.abs(missed(theta)).max() < MAX_REPRESENTATION_ERROR else float("nan")


def own_margin(
    represent: Represent,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    context: npt.ArrayLike,
    *,
    parameters: int,
    starts: int = 10,
    seed: int = 0,
) -> OwnMargin:
    """Return the least parameters of an architecture whose function has margins of one: where training would end.

    Parameters
    ----------
    represent : callable
        Parameters (P,) -> effective weights (C, d), one row per context.
    X : array (n, d)
    y : array (n,)
        Labels -1 and +1, or False and True.
    context : array of int (n,)
        Row of the effective weights that acts on each sample; all zeros where there is one context.
    parameters : int
        Number P.
    starts : int
        Random starts, of which the least answer is kept: the problem is not convex.

    Examples
    --------
    Three layers of a diagonal linear network prefer one input where the L2 norm takes both:

    >>> X, y = [[1.0, 0.8], [-1.0, -0.8]], [1, -1]
    >>> deep = own_margin(lambda theta: (theta[:2] * theta[2:4] * theta[4:])[None], X, y, [0, 0], parameters=6)
    >>> (deep.weights.round(2) + 0.0).tolist(), round(deep.value, 3)
    ([[1.0, 0.0]], 1.5)
    """
    points, signs, rows = as_problem(X, y, np.asarray(context)[:, None], int(np.max(context)) + 1)
    contexts = rows[:, 0]

    def slack(theta: FloatArray) -> FloatArray:
        slacks: FloatArray = signs * np.einsum("nd,nd->n", represent(theta)[contexts], points) - 1
        return slacks

    generator = np.random.default_rng(seed)
    ends = [_descended(slack, generator.normal(size=parameters)) for _ in range(whole(starts, "starts"))]
    solutions = [theta for theta in ends if theta is not None]
    if not solutions:
        raise SolverError(
            "no start reached margins of one; give more starts, or an architecture that separates the data"
        )
    values = np.array([theta @ theta / 2 for theta in solutions])
    best = solutions[int(values.argmin())]
    reached = int((values < values.min() * 1.001).sum())
    return OwnMargin(float(values.min()), best, np.asarray(represent(best)), reached)


def _descended(slack: Represent, start: FloatArray) -> FloatArray | None:
    """Minimise half the squared norm under non-negative slack; None where that was not reached."""
    from scipy.optimize import minimize

    options: dict[str, Any] = {
        "method": "SLSQP",
        "jac": lambda theta: theta,
        "constraints": {"type": "ineq", "fun": slack},
        "options": {"maxiter": 1000, "ftol": 1e-12},
    }
    search: Any = minimize
    answer = search(lambda theta: float(theta @ theta) / 2, start, **options)
    theta: FloatArray = answer.x
    return theta if slack(theta).min() > -MAX_REPRESENTATION_ERROR else None
