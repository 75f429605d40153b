"""The same held-out cells, other models: additive least squares beside a forest, a kernel ridge and a network.

Two failures look alike in one test error. Where the verdict is not `determined` no model can know; where it is, the
model decides. Splitting the error by verdict tells them apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.progress import each
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.identification.identify import identify
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve
from recombine.verdicts import Verdict

Predictor = Callable[[IntArray, FloatArray, IntArray], FloatArray]
#: The kernel ridge is tuned on three folds of the training cells.
MIN_CELLS_TUNED = 3
#: What the tuned kernel ridge chooses from.
RIDGES, WIDTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0), (0.003, 0.03, 0.1, 0.3, 1.0)
VERDICTS = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL)


def compare_models(
    design: Design, shares: Sequence[float] = (0.2, 0.5), draws: int = 6, order: int = 1, seed: int = 0
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

    Returns
    -------
    Table
        ``share``, ``model``, then for each verdict the root mean squared error and the number of cells scored.
    """
    if design.outcome is None:
        raise InputError("comparing models needs an outcome; name its column with --outcome")
    outcome = design.outcome[design.train]
    rows: list[dict[str, Any]] = []
    for share in shares:
        squares: dict[str, dict[Verdict, list[float]]] = {}
        for draw in each(f"models on {share:.0%} of the cells", range(draws)):
            generator = np.random.default_rng([seed, draw, round(1000 * share)])
            train = generator.random(len(outcome)) < share
            if train.sum() >= MIN_CELLS_TUNED and not train.all():
                _score(design, outcome, train, order, seed + draw, squares)
        rows += [_row(share, model, found) for model, found in squares.items()]
    names = list(rows[0]) if rows else ["share", "model"]
    return Table({name: [row[name] for row in rows] for name in names})


def _score(
    design: Design,
    outcome: FloatArray,
    train: Any,
    order: int,
    seed: int,
    squares: dict[str, dict[Verdict, list[float]]],
) -> None:
    from threadpoolctl import threadpool_limits

    seen, held = design.seen[train], design.seen[~train]
    found = identify(seen, held, order, **design.shape).verdicts
    for name, predict in _models(design, order, seed).items():
        with threadpool_limits(1):  # small matrices: more threads only wait for each other
            errors = (predict(seen, outcome[train], held) - outcome[~train]) ** 2
        for verdict in VERDICTS:
            squares.setdefault(name, {}).setdefault(verdict, []).extend(errors[found == verdict].tolist())


def _row(share: float, model: str, found: dict[Verdict, list[float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"share": share, "model": model}
    for verdict in VERDICTS:
        errors = found.get(verdict, [])
        row[verdict.word] = float(np.sqrt(np.mean(errors))) if errors else float("nan")
        row[f"{verdict.word} cells"] = len(errors)
    return row


def _models(design: Design, order: int, seed: int) -> dict[str, Predictor]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neural_network import MLPRegressor

    def additive(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        centre = float(values.mean())
        return centre + fit_additive(design.features(order), cells, values - centre).predict(asked)

    network = MLPRegressor(hidden_layer_sizes=(100,), max_iter=2_000, random_state=seed)
    depth_1 = {"NNGP": OverlapKernel.relu(1, len(design.sizes)), "NTK": OverlapKernel.ntk(1, len(design.sizes))}
    theory = {} if design.symmetric else {f"theory: network, {name}": _kernel(k) for name, k in depth_1.items()}
    return {
        "additive least squares": additive,
        "random forest": _one_hot(design, RandomForestRegressor(random_state=seed, n_jobs=-1)),
        "RBF kernel ridge": _one_hot(design, _Ridge()),
        "RBF kernel ridge, tuned": _one_hot(design, _Ridge(tuned=True)),
        "neural network (MLP)": _one_hot(design, network),
        **theory,
    }


def _kernel(kernel: OverlapKernel) -> Predictor:
    def predict(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        solution = solve(kernel, cells, values, intercept=True)
        return kernel_expansion(kernel, cells, solution.value, asked) + solution.intercept

    return predict


class _Ridge:
    """Kernel ridge with a Gaussian kernel: scikit-learn's defaults, or width and ridge chosen on three folds.

    One eigendecomposition serves all ridges of a width, so that a search costs little more than a fit; the numbers are
    those of scikit-learn's grid search over its own model.
    """

    def __init__(self, tuned: bool = False) -> None:
        self.tuned = tuned

    def fit(self, inputs: FloatArray, values: FloatArray) -> None:
        self.width: float
        distances = _squared_distances(inputs, inputs)
        self.width, ridge = self._search(distances, values) if self.tuned else (1 / inputs.shape[1], 1.0)
        self.inputs = inputs
        self.dual = _ridge_solutions(np.exp(-self.width * distances), values, np.array([ridge]))[:, 0]

    def predict(self, inputs: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-self.width * _squared_distances(inputs, self.inputs)) @ self.dual)

    @staticmethod
    def _search(distances: FloatArray, values: FloatArray) -> tuple[float, float]:
        errors = np.zeros((len(RIDGES), len(WIDTHS)))
        for place, width in enumerate(WIDTHS):
            gram = np.exp(-width * distances)
            for test in np.array_split(np.arange(len(values)), MIN_CELLS_TUNED):
                train = np.setdiff1d(np.arange(len(values)), test)
                duals = _ridge_solutions(gram[np.ix_(train, train)], values[train], np.array(RIDGES))
                missed = gram[np.ix_(test, train)] @ duals - values[test][:, None]
                errors[:, place] += np.mean(missed**2, axis=0) / MIN_CELLS_TUNED
        ridge, place = divmod(int(np.argmin(errors)), len(WIDTHS))
        return WIDTHS[place], RIDGES[ridge]


def _squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Of rows of ones and zeros, (N, F) and (M, F) -> (N, M)."""
    return np.asarray(first.sum(axis=1)[:, None] + second.sum(axis=1) - 2 * first @ second.T)


def _ridge_solutions(gram: FloatArray, values: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return (K + ridge I)^-1 values for each ridge, (N, R)."""
    eigenvalues, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors @ ((vectors.T @ values)[:, None] / (eigenvalues[:, None] + ridges)))


def _one_hot(design: Design, model: Any) -> Predictor:
    from sklearn.exceptions import ConvergenceWarning

    def predict(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
        features = design.features(1)
        # Of a factor on a scale only the knots have columns.
        used = features.occurring(design.seen) if design.scales else np.arange(features.columns)
        centre, scale = float(values.mean()), float(values.std()) or 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features.incidence(cells)[:, used].toarray(), (values - centre) / scale)
        predicted: FloatArray = centre + scale * model.predict(features.incidence(asked)[:, used].toarray())
        return predicted

    return predict
