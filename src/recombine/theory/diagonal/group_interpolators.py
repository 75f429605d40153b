"""Interpolators of least group norm, by a second-order cone program: multi-task learning with vanishing weight decay.

Needs clarabel, the extra ``[convex]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.checks import reals
from recombine.errors import InputError, SolverError, install_advice
from recombine.sample_checks import reachable, samples, task_samples
from recombine.theory.diagonal.flow import Tasks
from recombine.theory.diagonal.interpolators import Interpolator
from recombine.theory.diagonal.regimes import multitask_penalty

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix

#: Gap and feasibility asked of the cone solver, and the residual beyond which its answer is refused.
CLARABEL_TOLERANCE, MAX_CLARABEL_RESIDUAL = 1e-12, 1e-6


def least_group_norm(tasks: Tasks) -> Interpolator:
    """Return coefficients (D, O) of least sum_d sqrt(sum_o beta_do^2) that fit every task.

    Parameters
    ----------
    tasks : sequence of (X (n_o, D), y (n_o,))
        One per output.

    Examples
    --------
    >>> found = least_group_norm([([[1.0, 1.0, 0.0]], [3.0]), ([[0.0, 1.0, 1.0]], [4.0])])
    >>> found.value.round(6) + 0.0
    array([[0., 0.],
           [3., 4.],
           [0., 0.]])
    """
    pairs = task_samples(tasks)
    width = pairs[0][0].shape[1]
    return _program([X for X, _ in pairs], [y for _, y in pairs], np.zeros(width), "second-order cones (clarabel)")


def least_multitask(X: npt.ArrayLike, y: npt.ArrayLike, auxiliary: npt.ArrayLike) -> Interpolator:
    """Return the interpolator of least ``sum_d sqrt(beta_d^2 + B_d^2) - |B_d|``: the auxiliary task is pinned at B.

    Parameters
    ----------
    X : array (n, D)
    y : array (n,)
    auxiliary : array (D,)

    Examples
    --------
    >>> least_multitask([[1.0, 1.0]], [1.0], auxiliary=[1.0, 0.0]).value.round(4)
    array([1., 0.])
    """
    inputs, targets = samples(X, y)
    B = reals(auxiliary, "auxiliary")
    if B.shape != inputs.shape[1:]:
        raise InputError(
            f"auxiliary has shape {B.shape}; give {inputs.shape[1]} coefficients, one per column of inputs"
        )
    solution = _program([inputs], [targets], B, "second-order cones (clarabel)")
    beta = _polished(inputs, targets, B, solution.value[:, 0])
    residual = float(np.abs(inputs @ beta - targets).max() / (np.abs(targets).max() or 1.0))
    return Interpolator(beta, float(multitask_penalty(beta, B).sum()), residual, solution.steps, solution.route)


def _polished(X: FloatArray, y: FloatArray, B: FloatArray, beta: FloatArray) -> FloatArray:
    """Solve the optimality conditions on the support by Newton steps; keep the answer only where they then hold.

    A cone solver is exact in the objective, so its answer is off by the root of that where the penalty is flat.
    """
    free = (B != 0) | (np.abs(beta) > 1e-6 * np.abs(beta).max())
    inputs, pinned, support_beta = X[:, free], B[free], beta[free]
    size = len(support_beta)
    for _ in range(5):
        length = np.hypot(support_beta, pinned)
        system = np.zeros((size + len(y),) * 2)
        system[np.arange(size), np.arange(size)] = (pinned / length) ** 2 / length
        system[size:, :size], system[:size, size:] = inputs, inputs.T
        try:
            answer = np.linalg.solve(system, np.r_[-support_beta / length, y - inputs @ support_beta])
        except np.linalg.LinAlgError:
            return beta
        support_beta = support_beta + answer[:size]
    polished = np.zeros_like(beta)
    polished[free] = support_beta
    slopes = answer[size:] @ X
    settled = np.abs(answer[:size]).max() < 1e-9 and np.abs(polished - beta).max() < 1e-3 * np.abs(beta).max()
    return polished if settled and np.abs(slopes[~free]).max(initial=0.0) < 1 + 1e-9 else beta


def _program(blocks: list[FloatArray], values: list[FloatArray], pinned: FloatArray, route: str) -> Interpolator:
    """Minimise sum_d t_d with (t_d, beta_d1, ..., beta_dO, B_d) in a second-order cone; columns are betas, then t."""
    import scipy.sparse as sparse

    solver = _clarabel()
    tasks, width = len(blocks), len(pinned)
    diagonal = sparse.block_diag([*map(sparse.coo_matrix, blocks)])
    fits = sparse.hstack([diagonal, sparse.csr_matrix((sum(map(len, values)), width))])
    # A cone of a single number is a pair of inequalities, which the solver does faster.
    plain = pinned == 0 if tasks == 1 else np.zeros(width, dtype=bool)
    bounds = _bounds(plain) if tasks == 1 else sparse.csr_matrix((0, (tasks + 1) * width))
    cones, right = _cones(tasks, pinned, np.flatnonzero(~plain))
    program = (
        sparse.csc_matrix(((tasks + 1) * width,) * 2),
        np.r_[np.zeros(tasks * width), np.ones(width)],
        sparse.csc_matrix(sparse.vstack([fits, bounds, cones])),
        np.concatenate([*values, np.zeros(bounds.shape[0]), right]),
    )
    count = int((~plain).sum())
    kinds = [solver.ZeroConeT(fits.shape[0]), solver.NonnegativeConeT(bounds.shape[0])]
    kinds += [solver.SecondOrderConeT(len(right) // count)] * count if count else []
    answer = solver.DefaultSolver(*program, kinds, _settings(solver)).solve()
    beta = np.array(answer.x[: tasks * width]).reshape(tasks, width)
    missing = [np.abs(X @ b - y).max() for X, b, y in zip(blocks, beta, values, strict=True)]
    residual = float(max(missing) / (max(np.abs(y).max() for y in values) or 1.0))
    if "Solved" not in str(answer.status) or residual > MAX_CLARABEL_RESIDUAL:
        for task, (X, y) in enumerate(zip(blocks, values, strict=True)):
            reachable(X, y, of=f" of task {task}" if tasks > 1 else "")
        raise SolverError(f"clarabel ended with {answer.status} (residual {residual:.1e}); are the targets reachable?")
    total = np.sqrt((beta**2).sum(axis=0) + pinned**2).sum()
    return Interpolator(beta.T.copy(), float(total), residual, int(answer.iterations), route)


def _bounds(plain: BoolArray) -> csr_matrix:
    """Return A of t_d - beta_d >= 0 and t_d + beta_d >= 0 for the coordinates of a single task that are not pinned."""
    import scipy.sparse as sparse

    chosen = sparse.csr_matrix(np.eye(len(plain))[plain])
    return sparse.csr_matrix(sparse.vstack([sparse.hstack([chosen, -chosen]), sparse.hstack([-chosen, -chosen])]))


def _cones(tasks: int, pinned: FloatArray, chosen: IntArray) -> tuple[csc_matrix, FloatArray]:
    """Return A and b of the slack b - A x = (t_d, beta_d1, ..., beta_dO, B_d), without B_d if nothing is pinned."""
    from scipy.sparse import csc_matrix

    width, count = len(pinned), len(chosen)
    size = tasks + 1 + bool(pinned.any())
    columns = [tasks * width + chosen, *(task * width + chosen for task in range(tasks))]
    rows = [size * np.arange(count) + offset for offset in range(tasks + 1)]
    shape = (size * count, (tasks + 1) * width)
    right = np.zeros(shape[0])
    if pinned.any():
        right[size - 1 :: size] = pinned[chosen]
    entries = np.full((tasks + 1) * count, -1.0)
    return csc_matrix((entries, (np.concatenate(rows), np.concatenate(columns))), shape=shape), right


def _settings(solver: Any) -> Any:
    settings = solver.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CLARABEL_TOLERANCE
    return settings


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise InputError(f"group norms need the convex solver clarabel; {install_advice('convex')}") from None
    return clarabel
