"""How much of a factor's effect reaches unseen cells: the expected slope of a kernel model on any set of seen cells.

Let the truth be additive with independent zero-mean effects of each factor's levels. A kernel model fitted on the seen
cells predicts, at the unseen ones, a shrunken copy of each effect; the regression coefficient on the true effect is the
slope. On anchor-set addition it equals Eq. 3 of the kernel theory, m = p S / (1 + (p-2) S); here it is computed for
whatever cells were seen.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.arrays import FloatArray, IntArray, as_cells
from recombine.theory.overlap import OverlapKernel
from recombine.theory.structured import evaluate, solve

#: Seen cells up to which the expectation over effects is taken exactly, by a dense solve.
EXACT_CELLS = 800


def expected_slopes(
    kernel: OverlapKernel, seen: npt.ArrayLike, unseen: npt.ArrayLike, *, probes: int = 8, seed: int = 0
) -> FloatArray:
    """Return the expected slope of each factor, shape (C,); NaN where the unseen cells do not vary that factor.

    Parameters
    ----------
    kernel : OverlapKernel
    seen : int array of shape (N, C)
    unseen : int array of shape (T, C)
    probes : int
        Random draws of the effects when there are too many seen cells for the exact expectation.

    Examples
    --------
    >>> from recombine.tasks import symbolic_addition
    >>> task = symbolic_addition(n=9, anchors=[4])
    >>> kernel = OverlapKernel.relu(depth=1, factors=2)
    >>> expected_slopes(kernel, task.cells[task.train], task.cells[~task.train]).round(6)
    array([0.743443, 0.743443])
    """
    train = as_cells(seen, "seen", kernel.factors)
    test = as_cells(unseen, "unseen", kernel.factors)
    if len(train) <= EXACT_CELLS:
        return _exact(kernel, train, test)
    return _probed(kernel, train, test, probes, seed)


def _exact(kernel: OverlapKernel, seen: IntArray, unseen: IntArray) -> FloatArray:
    """Average over effects in closed form: the slope is a ratio of traces."""
    # Row t of `reach` holds the weights with which the seen outcomes enter the prediction at unseen cell t.
    reach = _solve(kernel(seen, seen), kernel(seen, unseen)).T
    slopes = np.full(kernel.factors, np.nan)
    for factor in range(kernel.factors):
        size = int(max(seen[:, factor].max(), unseen[:, factor].max())) + 1
        predicted = reach @ np.eye(size)[seen[:, factor]]
        truth = np.eye(size)[unseen[:, factor]]
        centred = truth - truth.mean(axis=0)
        variation = float(np.sum(centred * truth))
        if variation > 0:
            slopes[factor] = float(np.sum(centred * predicted)) / variation
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
    kept = values > floor * len(gram)
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ columns) / values[kept, None]))


def _probed(kernel: OverlapKernel, seen: IntArray, unseen: IntArray, probes: int, seed: int) -> FloatArray:
    """Average over random effects; all factors share one solve and are told apart by a joint regression."""
    generator = np.random.default_rng(seed)
    gram, cross = np.zeros((kernel.factors,) * 2), np.zeros(kernel.factors)
    for _ in range(probes):
        effects = [
            generator.choice([-1.0, 1.0], size=int(max(seen[:, factor].max(), unseen[:, factor].max())) + 1)
            for factor in range(kernel.factors)
        ]
        outcome = sum((effect[seen[:, factor]] for factor, effect in enumerate(effects)), start=np.zeros(len(seen)))
        # Slopes are read to three digits, so the many-cell solve may stop early.
        solution = solve(kernel, seen, outcome, tolerance=1e-5 if len(seen) <= 20_000 else 1e-3)
        predicted = evaluate(kernel, seen, solution.dual, unseen)
        truth = np.stack([effect[unseen[:, factor]] for factor, effect in enumerate(effects)], axis=1)
        truth -= truth.mean(axis=0)
        gram += truth.T @ truth
        cross += truth.T @ (predicted - predicted.mean())
    varied = np.diag(gram) > 0
    slopes = np.full(kernel.factors, np.nan)
    slopes[varied] = np.linalg.solve(gram[np.ix_(varied, varied)], cross[varied])
    return slopes
