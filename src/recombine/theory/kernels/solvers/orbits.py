"""Many overlap kernels on one task at once, by merging cells that no overlap kernel can tell apart.

Two cells are merged when they have the same signed number of neighbours at every overlap in every merged group. On such
an equitable partition the dual of squared loss and of the hard margin has a solution that is constant on groups: the
signed Gram matrix commutes with averaging over groups, and averaging can only lower the convex objective. CD-3 shrinks
from 54 seen cells to 3 groups, so a sweep over thousands of kernels is one batched solve of tiny systems.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.errors import InputError

#: Seen cells that miss their margin by more than this were not separable.
MAX_MARGIN_SHORTFALL = 1e-3
#: Added to the diagonal of singular systems, relative to the kernel's value on identical cells.
ORBIT_JITTER = 1e-9
_MAX_PIVOT_ROUNDS = 60


@record
class Quotient:
    """A two-class task with its cells merged.

    Attributes
    ----------
    groups, sizes : arrays of shape (N,) and (G,)
        Group of each cell, seen groups first, and the number of seen cells in each of the G seen groups.
    between : array of float, shape (C+1, H, G)
        For a cell of each of the H groups: its signed neighbours at each overlap in each seen group, where the sign is
        the product of the two answers.
    counts : array of int, shape (H,)
        Number of cells in every group, seen and unseen.

    Examples
    --------
    The answer is the first feature in context 0 and the second in context 1; both contexts of one pair are unseen.

    >>> from recombine.cells import every_cell
    >>> cells = every_cell((2, 2, 2))
    >>> target = 2 * np.where(cells[:, 0] == 0, cells[:, 1], cells[:, 2]) - 1
    >>> train = ~((cells[:, 1] == 0) & (cells[:, 2] == 1))
    >>> Quotient.of(cells, target, train).counts.tolist()
    [2, 2, 2, 2]
    """

    groups: IntArray
    sizes: FloatArray
    between: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, cells: npt.ArrayLike, target: npt.ArrayLike, train: npt.ArrayLike) -> Quotient:
        """Merge ``cells`` (N, C) with answers ``target`` (N,), each -1 or +1, of which ``train`` (N,) were seen."""
        codes, answers, mask = as_cells(cells), np.asarray(target, dtype=np.float64), np.asarray(train, dtype=bool)
        if not np.all(np.abs(answers) == 1):
            raise InputError("target has values other than -1 and +1; merge cells of two-class tasks only")
        order = np.argsort(~mask, kind="stable")
        codes, answers, seen = codes[order], answers[order], int(mask.sum())
        overlap = (codes[:, None, :] == codes[None, :seen, :]).sum(axis=2)
        signed = answers[:, None] * answers[None, :seen]
        levels = np.stack([np.where(overlap == o, signed, 0.0) for o in range(codes.shape[1] + 1)])
        refined = _refined(levels, seen)
        member = np.eye(int(refined[:seen].max()) + 1)[refined[:seen]]
        representatives = np.unique(refined, return_index=True)[1]
        groups = np.empty(len(refined), dtype=np.int64)
        groups[order] = refined
        return cls(groups, member.sum(axis=0), levels[:, representatives] @ member, np.bincount(refined))


def _refined(levels: FloatArray, seen: int) -> IntArray:
    """Split groups until all members have the same signed neighbours in every seen group; seen groups come first."""
    groups: IntArray = (np.arange(levels.shape[1]) >= seen).astype(np.int64)
    while True:
        member = np.eye(int(groups[:seen].max()) + 1)[groups[:seen]]
        traits = np.concatenate([groups[:, None], *(levels @ member)], axis=1).round().astype(np.int64)
        split = np.unique(traits, axis=0, return_inverse=True)[1].reshape(-1)
        if split.max() == groups.max():
            return groups
        groups = split


@record
class Solutions:
    """What each of B kernels does on one task.

    Attributes
    ----------
    unseen, seen : array of float, shape (B, unseen groups) and (B, G)
        Right answer times output on a cell of each group.
    support : array of bool, shape (B, G)
        Which groups of seen cells carry dual weight.
    weights : array of float, shape (unseen groups,)
        Share of the unseen cells in each group.

    Examples
    --------
    >>> found = Solutions(np.array([[0.5, -0.5]]), np.ones((1, 1)), np.ones((1, 1), bool), np.array([0.75, 0.25]))
    >>> found.accuracy.tolist(), found.margin.tolist()
    ([0.75], [0.25])
    """

    unseen: FloatArray
    seen: FloatArray
    support: BoolArray
    weights: FloatArray

    @property
    def margin(self) -> FloatArray:
        """Mean margin on unseen cells, shape (B,); NaN where the seen cells cannot be fitted."""
        return np.asarray(self.unseen @ self.weights)

    @property
    def accuracy(self) -> FloatArray:
        """Share of unseen cells on the right side, a tie counting one half, shape (B,); NaN as for the margin."""
        ties = np.abs(self.unseen) < 1e-9
        right: FloatArray = np.where(ties, 0.5, self.unseen > 0) @ self.weights
        return np.where(np.isnan(self.margin), np.nan, right)


def solve_kernels(quotient: Quotient, kappa: npt.ArrayLike, loss: Literal["hinge", "squared"] = "hinge") -> Solutions:
    """Fit every kernel of a batch to a two-class task with its cells merged.

    Parameters
    ----------
    kappa : array, shape (B, C+1)
        Kernel values by the number of agreeing factors, positive definite on the task's cells or singular.
    loss : {"hinge", "squared"}
        Hard margin without an intercept, or minimum-norm regression on the labels.

    Examples
    --------
    The answer is the first feature in context 0 and the second in context 1; features are right below 3, and cells
    whose features disagree in one direction are unseen.

    >>> from recombine.cells import every_cell
    >>> from recombine.theory.kernels import OverlapKernel
    >>> cells = every_cell((2, 6, 6))
    >>> sides = np.where(cells[:, 1:] < 3, 1, -1)
    >>> quotient = Quotient.of(cells, np.where(cells[:, 0] == 0, *sides.T), sides[:, 0] <= sides[:, 1])
    >>> kappa = [OverlapKernel.relu(depth, factors=3).values for depth in (1, 10)]
    >>> solve_kernels(quotient, kappa).margin.round(3).tolist()
    [-0.559, 0.048]
    >>> solve_kernels(quotient, kappa, "squared").margin.round(3).tolist()
    [0.795, 0.176]
    """
    if loss not in ("hinge", "squared"):
        raise InputError(f"loss is {loss!r}; choose 'hinge' or 'squared'")
    values = np.atleast_2d(np.asarray(kappa, dtype=np.float64))
    if values.shape[1] != len(quotient.between):
        raise InputError(f"kappa has {values.shape[1]} columns; give {len(quotient.between)}, one for each overlap")
    blocks = np.einsum("bo,ohg->bhg", values, quotient.between)
    count = len(quotient.sizes)
    root = np.sqrt(quotient.sizes)
    # In these units the quotient is symmetric, with the same pseudo-inverse as the full system.
    system = blocks[:, :count] * root[:, None] / root[None, :]
    solver = _hard_margin if loss == "hinge" else _least_norm
    dual = solver(system, root, values[:, -1]) / root
    margins = np.einsum("bhg,bg->bh", blocks, dual)
    short = (margins[:, :count].min(axis=1) < 1 - MAX_MARGIN_SHORTFALL) & (loss == "hinge")
    unseen = np.where(short[:, None], np.nan, margins[:, count:])
    largest = np.abs(dual).max(axis=1, keepdims=True)
    shares = quotient.counts[count:] / max(int(quotient.counts[count:].sum()), 1)
    return Solutions(unseen, margins[:, :count], np.abs(dual) > 1e-9 * largest, shares)


def _least_norm(system: FloatArray, target: FloatArray, scale: FloatArray) -> FloatArray:
    """Minimum-norm solution of each system (B, G, G) for one right-hand side (G,)."""
    inverse = np.linalg.pinv(system, rcond=1e-10, hermitian=True)
    return np.asarray(inverse @ target, dtype=np.float64)


def _hard_margin(system: FloatArray, target: FloatArray, scale: FloatArray) -> FloatArray:
    """Minimise x'Sx/2 - t'x over x >= 0 for each S of a batch (B, G, G).

    Primal-dual active sets, all kernels in step; the few that cycle are solved one by one.
    """
    singular = np.linalg.eigvalsh(system)[:, 0] < ORBIT_JITTER * scale
    lifted = system + np.where(singular, ORBIT_JITTER * scale, 0.0)[:, None, None] * np.eye(len(target))
    diagonal = np.einsum("bgg->bg", lifted)
    free = np.ones(diagonal.shape, dtype=bool)
    dual = np.zeros(diagonal.shape)
    open_ = np.arange(len(system))
    for _ in range(_MAX_PIVOT_ROUNDS):
        dual[open_] = _on_support(lifted[open_], target, free[open_])
        slack = np.einsum("bgh,bh->bg", lifted[open_], dual[open_]) - target
        wanted = np.where(free[open_], dual[open_] > 0, slack < -1e-12 * target)
        changed = (wanted != free[open_]).any(axis=1)
        free[open_] = wanted
        open_ = open_[changed]
        if not len(open_):
            return dual
    for kernel in open_:
        dual[kernel] = _one_by_one(lifted[kernel], target)
    return dual


def _on_support(system: FloatArray, target: FloatArray, free: BoolArray) -> FloatArray:
    """Solve S x = t on the free entries of each system, zero elsewhere."""
    both = free[:, :, None] & free[:, None, :]
    padded = np.where(both, system, np.eye(len(target)))
    return np.asarray(np.linalg.solve(padded, np.where(free, target, 0.0)[..., None])[..., 0])


def _one_by_one(system: FloatArray, target: FloatArray) -> FloatArray:
    """The same problem as non-negative least squares: with S = LL', minimise |L'x - L^-1 t|; NaN if it has no end."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    lower = np.linalg.cholesky(system)
    try:
        solution: FloatArray = nnls(lower.T, solve_triangular(lower, target, lower=True), maxiter=100 * len(target))[0]
    except RuntimeError:  # what cannot be separated has multipliers without bound
        return np.full(len(target), np.nan)
    return solution
