"""How much of a factor's effect reaches unseen cells: the expected slope of a kernel model on any set of seen cells.

Let the truth be additive with independent zero-mean effects of each factor's levels. A kernel model fitted on the seen
cells predicts, at the unseen ones, a shrunken copy of each effect; the regression coefficient on the true effect is the
slope. On anchor-set addition it equals Eq. 3 of the kernel theory, m = p S / (1 + (p-2) S); here it is computed for
whatever cells were seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.conjunctions import every_arrangement
from recombine.cells.threads import one_thread
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve

#: Seen cells up to which the expectation over effects is taken exactly, by a dense solve.
MAX_CELLS_FOR_EXACT_SLOPES = 800

Groups = Sequence[tuple[int, ...]]


def expected_slopes(
    kernel: OverlapKernel,
    seen: npt.ArrayLike,
    unseen: npt.ArrayLike,
    *,
    symmetric: Groups = (),
    probes: int = 8,
    seed: int = 0,
) -> FloatArray:
    """Return the expected slope of each factor, shape (C,); NaN where the unseen cells do not vary that factor.

    Cells of ``symmetric``, interchangeable factors are shown in every order and their effects are one. Where there are
    too many ``seen`` cells (N, C) for the exact expectation, effects are drawn ``probes`` times.

    Examples
    --------
    >>> from recombine.cells import every_cell
    >>> cells = every_cell((9, 9))
    >>> seen = (cells == 4).any(axis=1)
    >>> kernel = OverlapKernel.relu(depth=1, factors=2)
    >>> expected_slopes(kernel, cells[seen], cells[~seen]).round(6)
    array([0.743443, 0.743443])
    """
    train = every_arrangement(as_cells(seen, "seen", kernel.factors), symmetric)
    test = every_arrangement(as_cells(unseen, "unseen", kernel.factors), symmetric)
    grouped = {factor for group in symmetric for factor in group}
    blocks = [(factor,) for factor in range(kernel.factors) if factor not in grouped] + [tuple(g) for g in symmetric]
    if len(train) <= MAX_CELLS_FOR_EXACT_SLOPES:
        block_slopes = _exact(kernel, train, test, blocks)
    else:
        block_slopes = _probed(kernel, train, test, blocks, probes, seed)
    slopes = np.full(kernel.factors, np.nan)
    for block, value in zip(blocks, block_slopes, strict=True):
        slopes[list(block)] = value
    return slopes


def _levels(seen: IntArray, unseen: IntArray, block: tuple[int, ...]) -> int:
    columns = list(block)
    return int(max(seen[:, columns].max(), unseen[:, columns].max())) + 1


def _exact(kernel: OverlapKernel, seen: IntArray, unseen: IntArray, blocks: Groups) -> FloatArray:
    """Average over effects in closed form, one slope per block: a ratio of traces."""
    # Row t of `reach` holds the weights with which the seen outcomes enter the prediction at unseen cell t.
    with one_thread():
        reach = _solve(kernel(seen, seen), kernel(seen, unseen)).T
    slopes = np.full(len(blocks), np.nan)
    for index, block in enumerate(blocks):
        basis = np.eye(_levels(seen, unseen, block))
        predicted = reach @ sum(basis[seen[:, factor]] for factor in block)
        truth = np.asarray(sum(basis[unseen[:, factor]] for factor in block))
        centred = truth - truth.mean(axis=0)
        variation = float(np.sum(centred * truth))
        if variation > 0:
            slopes[index] = float(np.sum(centred * predicted)) / variation
    return slopes


def _solve(gram: FloatArray, columns: FloatArray) -> FloatArray:
    """Solve by Cholesky; by pseudo-inverse where the kernel has no memory of whole cells and the matrix is singular."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    floor = 1e-10 * float(gram[0, 0])
    try:
        factor = cho_factor(gram, lower=True)
        if float(np.min(np.diag(factor[0]))) ** 2 > floor:
            return np.asarray(cho_solve(factor, columns))
    except LinAlgError:
        pass
    values, vectors = eigh(gram)
    nonzero = values > floor * len(gram)
    return np.asarray(vectors[:, nonzero] @ ((vectors[:, nonzero].T @ columns) / values[nonzero, None]))


def _probed(
    kernel: OverlapKernel, seen: IntArray, unseen: IntArray, blocks: Groups, probes: int, seed: int
) -> FloatArray:
    """Average over random effects; all blocks share one solve and are told apart by a joint regression."""
    generator = np.random.default_rng(seed)
    gram, cross = np.zeros((len(blocks),) * 2), np.zeros(len(blocks))
    # Slopes are read to three digits, so a solve over very many cells may stop early.
    tolerance = 1e-6 if len(seen) <= 4_000 else 1e-3
    for _ in range(probes):
        effects = [generator.choice([-1.0, 1.0], size=_levels(seen, unseen, block)) for block in blocks]
        solution = solve(kernel, seen, _shares(effects, seen, blocks).sum(axis=1), tolerance=tolerance)
        predicted = kernel_expansion(kernel, seen, solution.value, unseen)
        truth = _shares(effects, unseen, blocks)
        truth -= truth.mean(axis=0)
        gram += truth.T @ truth
        cross += truth.T @ (predicted - predicted.mean())
    varied = np.diag(gram) > 0
    slopes = np.full(len(blocks), np.nan)
    slopes[varied] = np.linalg.solve(gram[np.ix_(varied, varied)], cross[varied])
    return slopes


def _shares(effects: Sequence[FloatArray], cells: IntArray, blocks: Groups) -> FloatArray:
    """Return what each block adds to the outcome of ``cells`` (N, C), shape (N, B)."""
    return np.stack(
        [effect[cells[:, list(block)]].sum(axis=1) for effect, block in zip(effects, blocks, strict=True)], axis=1
    )
