"""Solve kernel systems on seen cells, from three cells to millions, and predict from the answer.

The Gram matrix is never formed beyond 2000 cells. Which way is taken follows from the design: a full balanced product
has a closed form; a small one is solved densely; one with few conjunctions below whole cells is solved for their
values; any other by conjugate gradients whose product with the Gram matrix costs a few passes over the cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells, sizes_of
from recombine.cells.brief import record
from recombine.errors import InputError, SolverError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.gram import MAX_GRAM_BLOCK_ENTRIES, BlockGram, group_ids
from recombine.theory.kernels.solvers.merged_cells import MergedCells
from recombine.theory.kernels.solvers.routes import (
    MAX_DENSE_CELLS,
    MAX_FACTORS_BY_SUBSETS,
    MAX_ITERATIVE_STEPS,
    MAX_PRIMAL_FEATURES,
    Answer,
    System,
    solve_closed,
    solve_dense,
    solve_iterative,
    solve_primal,
)
from recombine.writing import listing

#: Dense below this many cells (measured: then faster than a hundred products).
DENSE_FASTER_BELOW_CELLS = 1500
#: Primal below this many features (measured: then faster than conjugate gradients).
PRIMAL_FASTER_BELOW_FEATURES = 400
#: Backward error of a direct answer that is as good as double precision allows.
DIRECT_BACKWARD_ERROR = 1e-13

Route = Callable[[System, FloatArray, float], Answer]
ROUTES: dict[str, Route] = {
    "closed": solve_closed,
    "dense": solve_dense,
    "primal": solve_primal,
    "iterative": solve_iterative,
}


@record
class Solution:
    """Dual weights and how they were found."""

    #: (N,), (N, outputs): Weight a_i of each row; the model is f(z) = sum_i a_i K(z, z_i) + intercept, 0 without a free
    #: one.
    value: FloatArray
    #: Relative residual of the system, of its normal equations where the Gram matrix is singular; of a margin, the
    #: largest breach of its optimality conditions.
    residual: float
    route: str  #: ``closed``, ``dense``, ``primal`` or ``iterative``; margins have their own.
    steps: int  #: Iterations, 1 for the direct routes.
    intercept: float | FloatArray = 0.0


def solve(
    kernel: OverlapKernel,
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    ridge: float = 0.0,
    tolerance: float = 1e-10,
    route: str | None = None,
    *,
    intercept: bool = False,
    most_steps: int = MAX_ITERATIVE_STEPS,
) -> Solution:
    """Solve (K + ridge) a = y on seen cells; the minimum-norm least-squares answer where K is singular.

    Repeated rows count as often as they occur: without a ridge their outcomes are averaged and they share one weight.

    Parameters
    ----------
    cells, y : array-like of int (N, C), array-like (N,) or (N, outputs)
        Seen cells and their outcomes.
    tolerance : float
        Largest relative residual accepted of the iterative route, which else raises `SolverError`; the direct ones go
        down to rounding.
    route : {"closed", "dense", "primal", "iterative"}, optional
        Force one way; by default the cheapest that fits.
    intercept : bool
        Solve (K + ridge) a + b = y with sum a = 0 instead: a free intercept b, which the norm does not see.
    most_steps : int
        Steps that conjugate gradients may take: a budget that is the same on every machine.

    Examples
    --------
    >>> kernel = OverlapKernel(2, (0.0, 0.4, 1.0))
    >>> solution = solve(kernel, [[0, 0], [0, 1], [1, 0]], [0.0, 1.0, 1.0])
    >>> solution.route, solution.residual < 1e-12
    ('dense', True)
    >>> kernel_expansion(kernel, [[0, 0], [0, 1], [1, 0]], solution.value, [[1, 1]]).round(6).tolist()
    [1.176471]
    >>> free = solve(kernel, [[0, 0], [0, 1], [1, 0]], [5.0, 6.0, 6.0], intercept=True)
    >>> round(free.intercept, 6), bool(abs(free.value.sum()) < 1e-12)
    (5.857143, True)
    """
    seen, shape, outcome = _prepared(kernel, cells, y, ridge)
    system = System(kernel, seen, ridge, most_steps=most_steps)
    solution = (_with_intercept if intercept else _solved)(system, outcome, tolerance, route)
    offset = np.atleast_1d(solution.intercept)
    return replace(
        solution, value=solution.value.reshape(shape), intercept=float(offset[0]) if len(shape) == 1 else offset
    )


def _with_intercept(system: System, outcome: FloatArray, tolerance: float, route: str | None) -> Solution:
    """Solve for the outcome and a constant at once; where M is singular, with the constant projected out."""
    if not system.singular:
        bordered = _solved(system, np.column_stack([outcome, np.ones(len(outcome))]), tolerance, route)
        intercept = bordered.value[:, :-1].sum(axis=0) / bordered.value[:, -1].sum()
        return replace(bordered, value=bordered.value[:, :-1] - intercept * bordered.value[:, -1:], intercept=intercept)
    solution = _solved(replace(system, centred=True), outcome - outcome.mean(axis=0), tolerance, route)
    rows = system.seen.cells[system.seen.where]
    fitted = kernel_expansion(system.kernel, rows, solution.value, rows)
    return replace(solution, intercept=(outcome - fitted).mean(axis=0))


def _prepared(
    kernel: OverlapKernel, cells: npt.ArrayLike, y: npt.ArrayLike, ridge: float
) -> tuple[MergedCells, tuple[int, ...], FloatArray]:
    """Check the arguments; return the seen cells, the shape of y, and y as columns."""
    codes = as_cells(cells, factors=kernel.factors)
    outcome = np.asarray(y, dtype=float)
    if len(codes) == 0:
        raise InputError("no cells were given; pass at least one seen cell")
    if outcome.ndim not in (1, 2) or len(outcome) != len(codes):
        raise InputError(f"y has shape {outcome.shape} for {len(codes)} cells; give one outcome, or one row, per cell")
    if not np.all(np.isfinite(outcome)):
        raise InputError("y has missing or infinite outcomes; drop those rows first")
    if not (ridge >= 0 and np.isfinite(ridge)):
        raise InputError(f"ridge is {ridge}; give a number from 0 up")
    return MergedCells.of(codes), outcome.shape, outcome.reshape(len(codes), -1)


def _solved(system: System, outcome: FloatArray, tolerance: float, route: str | None) -> Solution:
    """Solve on distinct cells by the route asked for or the first that succeeds; return weights per row."""
    seen = system.seen
    columns = system.root * seen.average(outcome)
    names = [route] if route is not None else _routes(system)
    for name in names:
        if name not in ROUTES:
            raise InputError(f"route {name!r} is not known; use one of {listing(ROUTES)}")
        answer, steps = ROUTES[name](system, columns, tolerance)
        residual = system.residual(columns, answer)
        # A direct answer that is exact up to rounding is the best there is: its residual then says how ill-posed K is.
        exact = name != "iterative" and system.backward_error(columns, answer) <= DIRECT_BACKWARD_ERROR
        if residual <= tolerance or exact:
            return Solution(_per_row(system, outcome, columns, answer), residual, name, steps)
    scale = abs(system.kernel.table[-1])
    raise SolverError(
        f"the '{name}' solve of {len(seen)} cells stopped at relative residual {residual:.1e} after {steps} steps, "
        f"above the tolerance {tolerance:.1e}; whole cells hold {system.memorising.min() / scale:.1e} of the kernel. "
        f"Add a ridge (say {1e-6 * scale:.1e}), loosen the tolerance, or use a kernel with larger S(C;C) and no "
        "negative eigenvalue (theory.kernels.is_positive)"
    )


def _routes(system: System) -> list[str]:
    """Routes worth trying, the cheapest first."""
    seen, features = system.seen, system.features
    if seen.balanced_product:
        return ["closed"]
    small = len(seen) <= DENSE_FASTER_BELOW_CELLS and (
        len(seen) <= features or len(seen) <= PRIMAL_FASTER_BELOW_FEATURES
    )
    first = "dense" if small else "primal" if features <= PRIMAL_FASTER_BELOW_FEATURES else "iterative"
    fallback = "dense" if len(seen) <= MAX_DENSE_CELLS else "primal" if features <= MAX_PRIMAL_FEATURES else None
    return [first] if fallback in (None, first) else [first, fallback]


def _per_row(system: System, outcome: FloatArray, columns: FloatArray, answer: FloatArray) -> FloatArray:
    """Share each cell's weight among its rows; with a ridge, rows also keep their distance from the cell's mean."""
    seen = system.seen
    dual = (answer / system.root)[seen.where]
    if system.ridge > 0 and seen.repeated:
        dual += (outcome - (columns / system.root)[seen.where]) / system.ridge
    return dual


def kernel_expansion(kernel: OverlapKernel, seen: npt.ArrayLike, dual: FloatArray, cells: npt.ArrayLike) -> FloatArray:
    """Return f(z) = sum_i dual_i K(z, z_i) at ``cells`` (P, C), shape (P,) or (P, outputs), without a large Gram block.

    ``seen`` (N, C) are the cells z_i, with weights ``dual`` (N,) or (N, outputs); levels that no seen cell has match
    nothing.

    Examples
    --------
    >>> kernel = OverlapKernel(2, (0.0, 0.5, 1.0))
    >>> kernel_expansion(kernel, [[0, 0]], np.array([2.0]), [[0, 0], [0, 1]]).tolist()
    [2.0, 1.0]
    """
    trained, targets = as_cells(seen, "seen", kernel.factors), as_cells(cells, "cells", kernel.factors)
    weights = np.asarray(dual, dtype=float)
    if len(trained) * len(targets) > MAX_GRAM_BLOCK_ENTRIES and kernel.factors <= MAX_FACTORS_BY_SUBSETS:
        columns = _by_conjunctions(kernel, trained, weights.reshape(len(trained), -1), targets)
        return columns.reshape(len(targets), *weights.shape[1:])
    return BlockGram(kernel, trained).multiply(weights, at=targets)


def _by_conjunctions(kernel: OverlapKernel, seen: IntArray, dual: FloatArray, cells: IntArray) -> FloatArray:
    """Sum each seen conjunction's weight once and look it up, subset by subset."""
    both = np.concatenate([seen, cells])
    sizes = sizes_of(both)
    total = np.full((len(cells), dual.shape[1]), kernel.cube.flat[0] * dual.sum(axis=0))
    for corner in np.argwhere(kernel.cube):
        subset = tuple(np.flatnonzero(corner).tolist())
        if not subset:
            continue
        ids = group_ids(both, subset, sizes)
        mine, theirs, top = ids[: len(seen)], ids[len(seen) :], int(ids.max()) + 1
        for column in range(dual.shape[1]):
            sums = np.bincount(mine, weights=dual[:, column], minlength=top)
            total[:, column] += kernel.cube[tuple(corner)] * sums[theirs]
    return total
