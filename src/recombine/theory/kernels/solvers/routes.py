"""Four ways to solve the same system: closed form, primal, dense, iterative.

The system is (M + ridge) c = r with M = R K R on the distinct seen cells, R the square roots of their row counts: the
weighted form keeps M symmetric when rows repeat. Where M is singular the answer is the pseudo-inverse's, so that an
additive kernel gives the least-squares fit of smallest norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.threads import one_thread
from recombine.errors import InputError, SolverError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.gram import (
    BlockGram,
    GridGram,
    GroupGram,
    MaskedGram,
    eigenvalues_from_weights,
    group_ids,
    weights_from_eigenvalues,
)
from recombine.theory.kernels.solvers.merged_cells import MergedCells

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: The Gram matrix is never formed beyond this many cells.
MAX_DENSE_CELLS = 2000
#: The primal form is never built beyond this many features.
MAX_PRIMAL_FEATURES = 4000
#: Sums over all subsets of factors stop paying off beyond this many.
MAX_FACTORS_BY_SUBSETS = 12
#: Iterations before an iterative solve counts as stalled.
MAX_ITERATIVE_STEPS = 4000
#: Eigenvalues below this fraction of the largest are treated as zero in a pseudo-inverse.
PINV_CUTOFF_SHARE = 1e-12

Multiply = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class System:
    """The linear system of one kernel on one set of seen cells.

    ``centred`` projects the constant out on both sides (a free intercept where M is singular); ``most_steps`` are those
    that conjugate gradients may take.
    """

    kernel: OverlapKernel
    seen: MergedCells
    ridge: float = 0.0
    centred: bool = False
    most_steps: int = MAX_ITERATIVE_STEPS

    @cached_property
    def root(self) -> FloatArray:
        """Square roots of the row counts, shape (M, 1)."""
        return np.asarray(np.sqrt(self.seen.counts.astype(float))[:, None])

    @cached_property
    def memorising(self) -> FloatArray:
        """Diagonal part of M + ridge that belongs to whole cells alone, shape (M,)."""
        return self.kernel.whole * self.seen.counts.astype(float) + self.ridge

    @property
    def singular(self) -> bool:
        """Whether whole cells have no weight of their own, up to rounding."""
        return bool(self.memorising.min() <= 4 * np.finfo(float).eps * abs(self.kernel.table[-1]))

    @property
    def features(self) -> int:
        """Bound on the number of seen conjunctions below whole cells that carry weight."""
        if self.kernel.factors > MAX_FACTORS_BY_SUBSETS:
            return MAX_PRIMAL_FEATURES + 1
        total = 0
        for corner in np.argwhere(self.kernel.cube):
            if not corner.all():
                sizes = [size for size, inside in zip(self.seen.sizes, corner, strict=True) if inside]
                total += min(product_size(sizes), len(self.seen))
        return total

    @cached_property
    def gram(self) -> MaskedGram | GroupGram | BlockGram:
        """Matrix-free K on the distinct cells, through the product where that is the cheaper way."""
        seen = self.seen
        few = len(seen) <= min(2**self.kernel.factors, MAX_DENSE_CELLS)
        if few or (self.kernel.factors > MAX_FACTORS_BY_SUBSETS and product_size(seen.sizes) > 64 * len(seen)):
            return BlockGram(self.kernel, seen.cells)
        cube = self.kernel.cube
        if seen.places is not None and product_size(seen.sizes) <= 2**self.kernel.factors * len(seen):
            return MaskedGram(GridGram(cube, seen.sizes), seen.places)
        return GroupGram(cube, seen.cells, seen.sizes)

    def project(self, columns: FloatArray) -> FloatArray:
        """Remove the constant from ``columns`` (M, D) where the system is centred."""
        if not self.centred:
            return columns
        return columns - self.root * (self.root.T @ columns) / float(self.seen.counts.sum())

    def multiply(self, vector: FloatArray) -> FloatArray:
        """Return (M + ridge) times ``vector`` (M,), without the matrix."""
        root = self.root[:, 0]
        product = self.gram.multiply(vector * root) * root if self.seen.repeated else self.gram.multiply(vector)
        if self.ridge:
            product += self.ridge * vector
        return self.project(product[:, None])[:, 0] if self.centred else product

    def residual(self, columns: FloatArray, answer: FloatArray) -> float:
        """Largest relative residual over the columns; of the normal equations where M is singular."""
        worst = 0.0
        for right, column in zip(columns.T, answer.T, strict=True):
            gap = right - self.multiply(column)
            if self.singular:
                gap, right = self.multiply(gap), self.multiply(right)
            size = float(np.linalg.norm(right))
            worst = max(worst, float(np.linalg.norm(gap)) / size if size else 0.0)
        return worst

    def backward_error(self, columns: FloatArray, answer: FloatArray) -> float:
        """Smallest relative change of the system, in the maximum norm, that makes ``answer`` exact."""
        size = float(np.abs(self.multiply(np.ones(len(answer)))).max())
        gaps = [np.abs(right - self.multiply(column)).max() for right, column in zip(columns.T, answer.T, strict=True)]
        scale = size * np.abs(answer).max() + np.abs(columns).max()
        return float(max(gaps) / scale) if scale else 0.0


Answer = tuple[FloatArray, int]


def solve_closed(system: System, columns: FloatArray, tolerance: float) -> Answer:
    """Full balanced product: each analysis-of-variance part is divided by its eigenvalue."""
    seen = system.seen
    if not seen.balanced_product:
        raise InputError(
            f"route 'closed' needs every cell of the product {seen.sizes} the same number of times; "
            f"{len(seen)} of {product_size(seen.sizes)} were seen; leave route out"
        )
    count = int(seen.counts[0])
    grid = GridGram(system.kernel.cube, seen.sizes)
    solved = [grid.solve(column.reshape(seen.sizes), system.ridge / count) / count for column in columns.T]
    return np.stack([solution.reshape(-1) for solution in solved], axis=1), 1


def solve_dense(system: System, columns: FloatArray, tolerance: float) -> Answer:
    """Form the Gram matrix of at most 2000 cells; Cholesky, or eigenvectors where it is singular or indefinite."""
    from scipy.linalg import cho_factor, cho_solve

    if len(system.seen) > MAX_DENSE_CELLS:
        raise InputError(
            f"route 'dense' stops at {MAX_DENSE_CELLS} cells and {len(system.seen)} were seen; leave route out"
        )
    cells = system.seen.cells
    matrix = system.root * system.kernel(cells, cells) * system.root.T + system.ridge * np.eye(len(cells))
    if not system.singular:
        try:
            factor = cho_factor(matrix, lower=True)
            answer = cho_solve(factor, columns)
            return answer + cho_solve(factor, columns - matrix @ answer), 1
        except np.linalg.LinAlgError:
            pass
    matrix = system.project(system.project(matrix).T)
    return _pseudo_solve(matrix, columns, power=1), 1


def _pseudo_solve(matrix: FloatArray, columns: FloatArray, power: int) -> FloatArray:
    """Return the pseudo-inverse of a symmetric matrix, to a power, times ``columns``."""
    values, vectors = np.linalg.eigh(matrix)
    keep = np.abs(values) > PINV_CUTOFF_SHARE * np.abs(values).max(initial=0.0)
    inverse = np.zeros_like(values)
    inverse[keep] = values[keep] ** -power
    return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ columns)))


def solve_primal(system: System, columns: FloatArray, tolerance: float) -> Answer:
    """Few conjunctions below whole cells: solve for their values instead (Woodbury), with one refinement."""
    if system.features > MAX_PRIMAL_FEATURES:
        raise InputError(
            f"route 'primal' stops at {MAX_PRIMAL_FEATURES} features and this design has up to {system.features}; "
            "leave route out"
        )
    incidence, weights = _incidence(system)
    if system.singular:
        return _primal_singular(system, incidence, weights, columns), 1
    apply_inverse = _woodbury(system, incidence, weights)
    answer = apply_inverse(columns)
    steps = 1
    while system.residual(columns, answer) > tolerance and steps < 4:
        gap = columns - np.stack([system.multiply(column) for column in answer.T], axis=1)
        answer = answer + apply_inverse(gap)
        steps += 1
    return answer, steps


def _incidence(system: System) -> tuple[csr_array, FloatArray]:
    """Return R Z (M, F), the weighted indicators of all seen conjunctions below whole cells, and their weights (F,)."""
    from scipy.sparse import csr_array

    blocks: list[IntArray] = []
    weights: list[FloatArray] = []
    total = 0
    for corner in np.argwhere(system.kernel.cube):
        if corner.all():
            continue
        subset = tuple(np.flatnonzero(corner).tolist())
        groups, ids = np.unique(group_ids(system.seen.cells, subset, system.seen.sizes), return_inverse=True)
        blocks.append(ids.reshape(-1) + total)
        weights.append(np.full(len(groups), system.kernel.cube[tuple(corner)]))
        total += len(groups)
    rows = len(system.seen)
    indices = np.stack(blocks, axis=1).reshape(-1) if blocks else np.zeros(0, dtype=np.int64)
    data = np.repeat(system.root[:, 0], len(blocks))
    matrix = csr_array((data, indices, np.arange(rows + 1) * len(blocks)), shape=(rows, total))
    return matrix, np.concatenate(weights) if weights else np.zeros(0)


def _woodbury(system: System, incidence: csr_array, weights: FloatArray) -> Multiply:
    from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve

    scale = 1 / system.memorising[:, None]
    inner = np.asarray((incidence.T @ (incidence * scale)).todense()) + np.diag(1 / weights)
    definite = bool(np.all(weights > 0))
    solve_inner = partial(cho_solve, cho_factor(inner, lower=True)) if definite else partial(lu_solve, lu_factor(inner))

    def apply_inverse(right: FloatArray) -> FloatArray:
        low = incidence @ solve_inner(incidence.T @ (right * scale))
        return np.asarray((right - low) * scale)

    return apply_inverse


def _primal_singular(system: System, incidence: csr_array, weights: FloatArray, columns: FloatArray) -> FloatArray:
    """Whole cells carry no weight: M = AA', so its pseudo-inverse is A (A'A)^-2 A' with A'A small."""
    _need_nonnegative(weights)
    scale = np.sqrt(weights)[:, None]
    inner = scale * np.asarray((incidence.T @ incidence).todense()) * scale.T
    if system.centred:
        shift = scale * (incidence.T @ system.root)
        inner -= shift @ shift.T / float(system.seen.counts.sum())
    values = scale * _pseudo_solve(inner, scale * (incidence.T @ columns), power=2)
    return system.project(incidence @ values)


def _need_nonnegative(weights: FloatArray) -> None:
    if np.any(weights < 0):
        raise SolverError(
            "the kernel has negative weights and gives whole cells none, so its pseudo-inverse needs the Gram matrix, "
            f"which is not formed beyond {MAX_DENSE_CELLS} cells; add a ridge, or use a kernel with S(C;C) > 0"
        )


def solve_iterative(system: System, columns: FloatArray, tolerance: float, precondition: bool | None = None) -> Answer:
    """Everything else: conjugate gradients without the matrix; least squares on the features where M is singular."""
    # Threaded vector operations made these solvers 17 times slower (two OpenBLAS threads, 30,000 cells).
    with one_thread():
        if system.singular:
            return _least_squares(system, columns, tolerance)
        use = system.kernel.factors >= 6 if precondition is None else precondition
        preconditioner = _preconditioner(system) if use else None
        solutions = [_conjugate_gradients(system, column, tolerance, preconditioner) for column in columns.T]
    return np.stack([answer for answer, _ in solutions], axis=1), max(steps for _, steps in solutions)


def _conjugate_gradients(
    system: System, right: FloatArray, tolerance: float, preconditioner: Multiply | None
) -> tuple[FloatArray, int]:
    from scipy.sparse.linalg import LinearOperator, cg

    size = float(np.linalg.norm(right))
    shape = (len(right), len(right))
    operator = LinearOperator(shape, matvec=system.multiply, dtype=np.float64)
    helper = None if preconditioner is None else LinearOperator(shape, matvec=preconditioner, dtype=np.float64)
    answer, gap = np.zeros(len(right)), right
    counter: list[int] = []
    aim = 0.9 * tolerance * size
    # The recurrence drifts from the true residual; restarting on what is left, with a stricter aim, closes the gap.
    while (norm := float(np.linalg.norm(gap))) > tolerance * size and len(counter) < system.most_steps:
        steps_left = system.most_steps - len(counter)
        correction, _ = cg(
            operator, gap, rtol=aim / norm, atol=0.0, maxiter=steps_left, M=helper, callback=lambda _: counter.append(1)
        )
        answer = answer + correction
        gap = right - system.multiply(answer)
        if float(np.linalg.norm(gap)) > 0.9 * norm:
            break
        aim = 0.3 * tolerance * size
    return answer, len(counter)


def _preconditioner(system: System) -> Multiply | None:
    """Inverse on the full product, the parts below whole cells scaled by the share of the product that was seen."""
    seen, cube = system.seen, system.kernel.cube
    if seen.places is None:
        return None
    share = float(seen.counts.sum()) / product_size(seen.sizes)
    whole_weight = system.kernel.whole
    eigenvalues = eigenvalues_from_weights(cube, seen.sizes) - whole_weight
    shifted = share * eigenvalues + whole_weight * float(seen.counts.mean()) + system.ridge
    if shifted.min() <= 0:
        return None
    return MaskedGram(GridGram(weights_from_eigenvalues(1 / shifted, seen.sizes), seen.sizes), seen.places).multiply


def _least_squares(system: System, columns: FloatArray, tolerance: float) -> Answer:
    """M = AA': the fit of smallest norm by LSMR, then its dual weights by a second one on the transpose."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import LinearOperator, lsmr

    incidence, weights = _incidence(system)
    _need_nonnegative(weights)
    low = incidence @ diags_array(np.sqrt(weights))
    up = low.T.tocsr()
    operator = LinearOperator(
        low.shape,
        matvec=lambda v: system.project((low @ v).reshape(-1, 1))[:, 0],
        rmatvec=lambda v: up @ system.project(v.reshape(-1, 1))[:, 0],
        dtype=np.float64,
    )
    tight = min(tolerance, 1e-12)
    answers, steps = [], 0
    for column in columns.T:
        values, _, first, *_ = lsmr(operator, column, atol=tight, btol=tight, conlim=0.0, maxiter=MAX_ITERATIVE_STEPS)
        dual, _, second, *_ = lsmr(operator.T, values, atol=tight, btol=tight, conlim=0.0, maxiter=MAX_ITERATIVE_STEPS)
        answers.append(dual)
        steps = max(steps, first + second)
    return np.stack(answers, axis=1), steps
