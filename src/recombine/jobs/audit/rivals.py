"""The same held-out cells, other models: additive least squares beside a forest, a kernel ridge and a network.

Two failures look alike in one test error. Where the verdict is not `determined` the data alone do not settle the
outcome; where it is, the model decides. Splitting the error by verdict tells them apart.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.threads import one_thread
from recombine.checks import whole
from recombine.errors import InputError
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.jobs.training.standard import STANDARD_MODELS
from recombine.jobs.training.train import inputs_of
from recombine.progress import each
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.identification.identify import identify
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve
from recombine.verdicts import Verdict
from recombine.writing import whole_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design

    Predictor = Callable[[IntArray, FloatArray, IntArray], FloatArray]

#: The kernel ridge is tuned on so many folds of the training cells,
TUNING_FOLDS = 3
#: among these ridges and widths.
RIDGES, WIDTHS = np.array([1e-4, 1e-3, 1e-2, 1e-1, 1.0]), np.array([0.003, 0.03, 0.1, 0.3, 1.0])
#: A factor of fewer levels is not halved.
MIN_LEVELS_HALVED = 8
VERDICTS = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL)


def compare_models(
    design: Design,
    shares: Sequence[float] = (0.2, 0.5),
    draws: int = 6,
    order: int = 1,
    seed: int = 0,
    max_cells: int = AUDIT_LIMITS.max_cells_of_models,
) -> Table:
    """Train each model on a random share of the seen cells and score it on the rest, split by verdict.

    The scikit-learn models use one-hot inputs, standardised outcomes and their default settings; the kernel ridge comes
    once more with its width and ridge tuned by cross-validation on the training cells. Two rows are theory: what a wide
    network with one hidden layer is expected to do, with the readout (NNGP) or all layers (NTK) doing the learning.

    Parameters
    ----------
    design : Design
        Must have an outcome.
    shares : sequence of float
        Shares of the seen cells to train on.
    draws : int
        Random draws per share; errors are pooled over them.
    max_cells : int
        Of more seen cells, models are shown a part: all cells of some levels, then some of those cells.

    Returns
    -------
    Table
        ``share``, ``model``, ``cells`` (how many it is a share of), then for each verdict the root mean squared error
        and the number of cells scored.
    """
    if design.outcome is None:
        raise InputError("comparing models needs an outcome; name its column with --outcome")
    chosen = _some_cells(design.seen, whole(max_cells, "max_cells", 2), np.random.default_rng(seed))
    seen, outcome = design.seen[chosen], design.observed.seen_outcome[chosen]
    rows = []
    for share in shares:
        errors: defaultdict[str, list[FloatArray]] = defaultdict(list)
        verdicts = []
        for draw in each(f"models on {whole_percent(share)}", range(draws)):
            generator = np.random.default_rng([seed, draw, round(1000 * share)])
            train = generator.random(len(outcome)) < share
            if train.sum() >= TUNING_FOLDS and not train.all():
                verdicts.append(identify(seen[train], seen[~train], order, **design.shape).verdicts)
                for name, missed in _misses(design, seen, outcome, train, order, seed + draw).items():
                    errors[name].append(missed)
        for model, misses in errors.items():
            about = {"share": share, "model": model, "cells": len(seen)}
            rows.append(about | _by_verdict(np.concatenate(misses), np.concatenate(verdicts)))
    return Table.from_rows(rows) if rows else Table({"share": [], "model": [], "cells": []})


def _some_cells(seen: IntArray, max_cells: int, rng: np.random.Generator) -> IntArray:
    """Return which of ``seen`` (N, C) models are shown, increasing numbers: all, or at most ``max_cells``.

    As long as there are too many, half of the levels of the largest factor are left out with their cells, so that the
    others stay as dense as they were; of few levels no more, but single cells.
    """
    chosen = np.arange(len(seen))
    while len(chosen) > max_cells:
        levels = [np.unique(column) for column in seen[chosen].T]
        factor = int(np.argmax([len(entries) for entries in levels]))
        if len(levels[factor]) < MIN_LEVELS_HALVED:
            return np.sort(rng.choice(chosen, max_cells, replace=False))
        chosen = chosen[np.isin(seen[chosen, factor], rng.permutation(levels[factor])[: len(levels[factor]) // 2])]
    return chosen


def _misses(
    design: Design, seen: IntArray, outcome: FloatArray, train: BoolArray, order: int, seed: int
) -> dict[str, FloatArray]:
    """Return how far each model trained on some of ``seen`` (N, C) misses the others."""
    with one_thread():  # small matrices: more threads only wait for each other
        models = _models(design, seen, order, seed).items()
        return {name: predict(seen[train], outcome[train], seen[~train]) - outcome[~train] for name, predict in models}


def _by_verdict(misses: FloatArray, verdicts: IntArray) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for verdict in VERDICTS:
        chosen = misses[verdicts == verdict]
        row[verdict.word] = float(np.sqrt(np.mean(chosen**2))) if len(chosen) else float("nan")
        row[f"{verdict.word} cells"] = len(chosen)
    return row


def _models(design: Design, shown: IntArray, order: int, seed: int) -> dict[str, Predictor]:
    """Return what trains each model and predicts; ``shown`` (N, C) are all cells of which it is trained on some."""
    from sklearn.kernel_ridge import KernelRidge

    def additive(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        centre = float(values.mean())
        return centre + fit_additive(design.features(order), cells, values - centre).predict(asked)

    forest, network = (STANDARD_MODELS[name](seed, False) for name in ("forest", "network"))
    depth_1 = {"NNGP": OverlapKernel.relu(1, len(design.sizes)), "NTK": OverlapKernel.ntk(1, len(design.sizes))}
    theory = {} if design.symmetric else {f"theory: network, {name}": _kernel(k) for name, k in depth_1.items()}
    return {
        "additive least squares": additive,
        "random forest": _one_hot(design, shown, forest.fit),
        "RBF kernel ridge": _one_hot(design, shown, KernelRidge(kernel="rbf").fit),
        "RBF kernel ridge, tuned": _one_hot(design, shown, fit_tuned_ridge),
        "neural network (MLP)": _one_hot(design, shown, network.fit),
        **theory,
    }


def _kernel(kernel: OverlapKernel) -> Predictor:
    def predict(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        solution = solve(kernel, cells, values, intercept=True)
        return kernel_expansion(kernel, cells, solution.value, asked) + solution.intercept

    return predict


def fit_tuned_ridge(inputs: FloatArray, values: FloatArray) -> Any:
    """Fit a Gaussian kernel ridge to ``values`` (N,) at ``inputs`` (N, d), with the width and ridge of least error.

    The mean squared error on three folds is that of scikit-learn's grid search. One eigendecomposition per width and
    fold serves all ridges, so that a search costs little more than a fit.
    """
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics.pairwise import euclidean_distances

    kernels = np.exp(-WIDTHS[:, None, None] * euclidean_distances(inputs, squared=True))
    rows, errors = np.arange(len(values)), np.zeros((len(WIDTHS), len(RIDGES)))
    for test in np.array_split(rows, TUNING_FOLDS):
        train = np.setdiff1d(rows, test)
        eigenvalues, vectors = np.linalg.eigh(kernels[:, train[:, None], train])
        loadings = values[train] @ vectors
        weights = vectors @ (loadings[..., None] / (eigenvalues[..., None] + RIDGES))
        errors += np.mean((kernels[:, test[:, None], train] @ weights - values[test, None]) ** 2, axis=1)
    # The search tries all widths of a ridge before the next ridge, and of equals takes the first.
    ridge, width = np.unravel_index(errors.T.argmin(), errors.T.shape)
    return KernelRidge(kernel="rbf", alpha=RIDGES[ridge], gamma=WIDTHS[width]).fit(inputs, values)


def _one_hot(design: Design, shown: IntArray, fit: Callable[[FloatArray, FloatArray], Any]) -> Predictor:
    from sklearn.exceptions import ConvergenceWarning

    inputs = inputs_of(design, shown)

    def predict(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        centre, scale = float(values.mean()), float(values.std()) or 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(inputs(cells), (values - centre) / scale)
        return np.asarray(centre + scale * model.predict(inputs(asked)), dtype=float)

    return predict
