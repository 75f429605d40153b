"""The same margin problem as a conic program in the weights themselves, by a general solver (extra ``[convex]``).

min sum_g t_g subject to |zeta_g| <= t_g and y_i f(x_i) >= 1: R d + G variables, second-order cones. Slow beyond a few
thousand variables, but it solves in the weights what `recombine.theory.gated.margin` solves in the duals, and so checks
that solver. Both take the norm from the same gate features, so agreement says nothing about those; for the effective
norm `least_effective_squares` is the check without them, straight from the sum over joint contexts.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError, SolverError
from recombine.theory.gated.features import as_problem, context_indicators, gating_for
from recombine.theory.gated.machine import NotSeparableError
from recombine.theory.gated.margin import GatedMargin

if TYPE_CHECKING:
    from scipy.sparse import csc_array

#: Joint contexts that are listed one by one at most.
MAX_LISTED_CONTEXTS = 4096


def largest_margin_by_cones(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    ids: npt.ArrayLike,
    *,
    contexts: int,
    norm: str = "group",
    tolerance: float = 1e-9,
) -> GatedMargin:
    """Return the gated linear function of least norm with margins of one, by the conic solver Clarabel.

    Parameters are those of `recombine.theory.gated.largest_margin`; ``steps`` of the answer are the solver's
    iterations, and its bounds are the solver's primal and dual objective.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]])
    >>> found = largest_margin_by_cones(X, [1, -1, -1, 1], (X[:, :2] > 0).astype(int), contexts=2)
    >>> round(found.norm, 6)
    1.414214
    """
    points, signs, rows = as_problem(X, y, ids, contexts)
    gating = gating_for(norm, rows, contexts)
    features = gating.features(rows)
    objective, matrix = _program(points, signs, features, gating.group)
    sizes = (np.bincount(gating.group) * points.shape[1] + 1).tolist()
    answer = _solved(None, objective, matrix, len(signs), sizes, tolerance)
    zeta = np.array(answer.x)[: features.shape[1] * points.shape[1]].reshape(features.shape[1], -1)
    dual = np.array(answer.z)[: len(signs)]
    u = (features * (dual * signs)[:, None]).T @ points
    pressure = np.sqrt(np.bincount(gating.group, (u**2).sum(axis=1), minlength=gating.groups))
    bounds = float(answer.obj_val_dual), float(answer.obj_val)
    return GatedMargin(gating, zeta, dual, pressure, bounds, int(answer.iterations), "second-order cones (clarabel)")


def least_effective_squares(
    X: npt.ArrayLike, y: npt.ArrayLike, ids: npt.ArrayLike, *, contexts: int, tolerance: float = 1e-9
) -> float:
    """Return the least sum over all C^H joint contexts of ``|beta_c|^2`` of a function with margins of one.

    That is C^H times ``largest_margin(norm="effective").value``, which is the mean.

    A quadratic program in the weights zeta (H, C, d) of units, whose objective adds up beta_c = sum_h zeta_{h,c_h} one
    joint context after the other: it uses neither the closed form of that sum nor the kernel that follows from it.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]])
    >>> round(least_effective_squares(X, [1, -1, -1, 1], (X[:, :2] > 0).astype(int), contexts=2), 6)
    2.0
    """
    from scipy.sparse import csc_array

    points, signs, rows = as_problem(X, y, ids, contexts)
    units, inputs = rows.shape[1], points.shape[1]
    if contexts**units > MAX_LISTED_CONTEXTS:
        raise InputError(f"{contexts}^{units} joint contexts are too many to list; use largest_margin")
    corners = context_indicators(np.array(list(itertools.product(range(contexts), repeat=units))), contexts)
    squares: Any = csc_array(np.triu(np.kron(2 * corners.T @ corners, np.eye(inputs))))
    margins = (context_indicators(rows, contexts)[:, :, None] * (points * signs[:, None])[:, None, :]).reshape(
        len(points), -1
    )
    matrix: Any = csc_array(-margins)
    answer = _solved(squares, np.zeros(margins.shape[1]), matrix, len(signs), [], tolerance)
    return float(answer.obj_val)


def _program(X: FloatArray, y: FloatArray, features: FloatArray, group: IntArray) -> tuple[FloatArray, csc_array]:
    """Return the objective and the constraint matrix A of A x + s = b, s in the cones; x = (zeta, t)."""
    from scipy.sparse import block_array, coo_array, csc_array

    inputs, groups = X.shape[1], int(group.max()) + 1
    margins = -(features[:, :, None] * (X * y[:, None])[:, None, :]).reshape(len(X), -1)
    size = margins.shape[1]
    # Rows of the cone of group g: t_g, then its weights.
    order = np.argsort(group, kind="stable")
    weights = (order[:, None] * inputs + np.arange(inputs)).ravel()
    weight_rows = np.arange(size) + np.repeat(group[order] + 1, inputs)
    head_rows = np.setdiff1d(np.arange(size + groups), weight_rows)
    below: Any = coo_array((np.full(size, -1.0), (weight_rows, weights)), shape=(size + groups, size))
    tops: Any = coo_array((np.full(groups, -1.0), (head_rows, np.arange(groups))), shape=(size + groups, groups))
    above: Any = csc_array(margins)
    matrix = csc_array(block_array([[above, None], [below, tops]]))
    return np.append(np.zeros(size), np.ones(groups)), matrix


def _solved(
    squares: csc_array | None,
    objective: FloatArray,
    matrix: csc_array,
    samples: int,
    sizes: list[int],
    tolerance: float,
) -> Any:
    """Minimise x' P x / 2 + q' x in Clarabel: margins first, then second-order cones of ``sizes``."""
    from scipy.sparse import csc_array

    clarabel = _clarabel()
    cones = [clarabel.NonnegativeConeT(samples), *(clarabel.SecondOrderConeT(size) for size in sizes)]
    right = np.append(np.full(samples, -1.0), np.zeros(matrix.shape[0] - samples))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, tolerance)
    quadratic = csc_array((len(objective), len(objective))) if squares is None else squares
    answer = clarabel.DefaultSolver(quadratic, objective, matrix, right, cones, settings).solve()
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        raise NotSeparableError
    if status not in ("Solved", "AlmostSolved"):
        raise SolverError(f"the conic solver stopped with {status}; raise the tolerance or use largest_margin")
    return answer


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise InputError(
            "the conic route needs the package clarabel; install recombine[convex], or use largest_margin"
        ) from error
    return clarabel
