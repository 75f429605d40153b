"""Effects on the logarithm: what predictions add up to where rows repeat, and which way they err."""

from __future__ import annotations

import numpy as np

from recombine.cells.conjunctions import every_cell
from recombine.theory.structures.kinds.log import Log
from recombine.theory.structures.structure import StructureData


def counted(rng: np.random.Generator) -> tuple[StructureData, np.ndarray]:
    """Return means of one to five noisy counts per cell (64,), and their true means."""
    cells = np.array(every_cell((8, 8)))
    truth = np.exp(rng.normal(size=8)[cells[:, 0]] * 0.7 + rng.normal(size=8)[cells[:, 1]] * 0.7 + 1)
    rows = rng.integers(1, 6, size=64)
    means = np.array([rng.poisson(2 * mean, size=count).mean() / 2 for mean, count in zip(truth, rows, strict=True)])
    return StructureData(cells, np.maximum(means, 0.05), weights=rows.astype(float)), truth


def test_weighted_predictions_have_the_weighted_mean_of_the_outcomes() -> None:
    data, _ = counted(np.random.default_rng(0))
    predicted = Log().fit(data).predict(data.cells)
    assert np.isclose((data.weights * predicted).sum(), (data.weights * data.y).sum())


def test_weighted_predictions_of_unseen_cells_are_not_too_low() -> None:
    bias = []
    for seed in range(40):
        data, truth = counted(np.random.default_rng(seed))
        seen = np.random.default_rng(seed + 1000).random(64) < 0.7
        fit = Log().fit(StructureData(data.cells[seen], data.y[seen], weights=data.weights[seen]))
        bias.append(fit.predict(data.cells[~seen]).sum() / truth[~seen].sum())
    assert abs(np.median(bias) - 1) < 0.03
