"""The link against planted curves, isotonic regression, and a general optimizer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import spearmanr

from recombine.errors import InputError
from recombine.theory.structures import Curve, fit_link, fit_terms, terms_of
from recombine.theory.structures.curve import from_slopes, increasing, pieces_of, roughness

CURVES = {
    "exponential": lambda x: np.exp(1.2 * x),
    "sigmoid": lambda x: 3 / (1 + np.exp(-3 * x)),
    "floor": lambda x: np.maximum(x, -0.5),
    "straight": lambda x: 2 * x,
}


def planted(curve: str, rows: int, noise: float, seed: int, sizes: tuple[int, ...] = (8, 8, 8, 8)) -> tuple:
    rng = np.random.default_rng(seed)
    cells = np.unique(np.stack([rng.integers(0, size, 2 * rows) for size in sizes], axis=1), axis=0)
    cells = cells[rng.permutation(len(cells))]
    effects = [rng.normal(size=size) / np.sqrt(len(sizes)) for size in sizes]
    latent = sum(effect[cells[:, factor]] for factor, effect in enumerate(effects))
    truth = CURVES[curve](latent)
    y = truth + noise * truth.std() * rng.normal(size=len(cells))
    seen = np.arange(len(cells)) < rows
    return cells, y, truth, latent, seen


@pytest.mark.parametrize("curve", CURVES)
def test_a_planted_curve_is_found(curve: str) -> None:
    cells, y, truth, latent, seen = planted(curve, 800, 0.1, 1)
    fit = fit_link(cells[seen], y[seen])
    inside = ~seen & ~fit.beyond(cells)
    share = 1 - np.mean((fit.predict(cells[inside]) - truth[inside]) ** 2) / truth[inside].var()
    assert share > 0.995
    if curve != "floor":  # on a floor the hidden sums leave no trace
        assert spearmanr(fit.latent(cells), latent).statistic > 0.99


def test_a_straight_curve_is_plain_addition() -> None:
    cells, y, _, _, seen = planted("straight", 800, 0.3, 2)
    bent, plain = fit_link(cells[seen], y[seen]), fit_terms(cells[seen], y[seen])
    gap = bent.predict(cells) - plain.predict(cells)
    assert gap.std() < 0.05 * y.std()


def test_the_curve_increases_and_sums_have_unit_spread() -> None:
    cells, y, _, _, seen = planted("sigmoid", 400, 1.0, 3)
    fit = fit_link(cells[seen], y[seen])
    grid = np.linspace(-5, 5, 1000)
    assert np.all(np.diff(fit.curve(grid)) >= 0)
    assert fit.latent(cells[seen]).std() == pytest.approx(1.0)
    low, high = fit.seen_range
    assert (fit.latent(cells[seen]).min(), fit.latent(cells[seen]).max()) == pytest.approx((low, high))
    assert not fit.beyond(cells[seen]).any()


def test_what_lies_beyond_the_seen_range_is_said() -> None:
    cells = np.indices((5, 5)).reshape(2, -1).T
    seen = cells.sum(axis=1) < 7
    fit = fit_link(cells[seen], np.exp(cells[seen].sum(axis=1) / 2))
    assert fit.beyond([[4, 4]]).tolist() == [True]
    assert fit.beyond(cells[seen]).sum() == 0


def test_precise_cells_count_more() -> None:
    cells, y, truth, _, seen = planted("exponential", 600, 0.0, 4)
    rng = np.random.default_rng(5)
    sd = np.where(rng.random(len(y)) < 0.5, 0.05, 2.0) * truth.std()
    noisy = y + sd * rng.normal(size=len(y))
    missed = []
    for weights in (None, 1 / sd[seen] ** 2):
        fit = fit_link(cells[seen], noisy[seen], weights=weights)
        missed.append(np.mean((fit.predict(cells[~seen]) - truth[~seen]) ** 2))
    assert missed[1] < missed[0] / 5


def test_no_nearby_effects_and_curve_are_better() -> None:
    """A general optimizer, started at the fit, with the same penalties, does not lower the objective by much."""
    cells, y, _, _, seen = planted("sigmoid", 120, 0.2, 6, (4, 4, 4))
    seen = np.arange(len(cells)) < 50
    fit = fit_link(cells[seen], y[seen])
    design = fit.terms.matrix(cells[seen]).toarray()
    rough = roughness(fit.curve.knots)

    def objective(effects: np.ndarray) -> float:
        sums = design @ effects
        effects, sums = effects / sums.std(), sums / sums.std()
        pieces = pieces_of(fit.curve.knots, sums)
        weights = np.ones(len(sums))
        bent = increasing(pieces.gram(weights) + fit.smoothing * rough, pieces.dot(y[seen]))
        misfit = np.sum((y[seen] - pieces.heights(bent)) ** 2)
        return float(misfit + fit.ridge[0] * effects @ effects + fit.smoothing * bent @ rough @ bent)

    start = objective(fit.effects)
    assert minimize(objective, fit.effects, method="BFGS").fun > 0.97 * start


def test_pairs_under_a_curve_beat_both_alone() -> None:
    rng = np.random.default_rng(7)
    cells = np.indices((4,) * 5).reshape(5, -1).T
    terms = terms_of(cells, 2)
    latent = terms.matrix(cells) @ (rng.normal(size=terms.columns) * np.where(terms.size == 2, 0.3, 0.8))
    latent = (latent - latent.mean()) / latent.std()
    y = 1 / (1 + np.exp(-3 * latent)) + 0.03 * rng.normal(size=len(latent))
    seen = rng.random(len(y)) < 0.6
    fits = [fit_terms(cells[seen], y[seen], 2), fit_link(cells[seen], y[seen]), fit_link(cells[seen], y[seen], 2)]
    missed = [np.mean((fit.predict(cells[~seen]) - y[~seen]) ** 2) for fit in fits]
    assert missed[2] < 0.5 * min(missed[:2])


@pytest.mark.slow
def test_a_large_table_starts_from_a_part_of_it() -> None:
    cells, y, truth, _, _ = planted("exponential", 40_000, 0.2, 8, (20, 20, 20, 20))
    whole = fit_link(cells, y)
    share = 1 - np.mean((whole.predict(cells) - truth) ** 2) / truth.var()
    assert len(cells) > 60_000
    assert share > 0.998


def test_symmetric_pairs() -> None:
    rng = np.random.default_rng(9)
    effects = rng.normal(size=30)
    cells = np.array([(a, b) for a in range(30) for b in range(a, 30)])
    y = np.exp(effects[cells].sum(axis=1) / 2)
    seen = rng.random(len(y)) < 0.7
    fit = fit_link(cells[seen], y[seen], symmetric=[(0, 1)])
    assert np.allclose(fit.predict(cells), fit.predict(cells[:, ::-1]))
    inside = ~seen & ~fit.beyond(cells)
    assert np.corrcoef(fit.predict(cells[inside]), y[inside])[0, 1] > 0.999


def test_heights_and_grams_of_pieces_are_those_of_dense_columns() -> None:
    rng = np.random.default_rng(10)
    knots, x = np.sort(rng.normal(size=6)), 2 * rng.normal(size=50)
    pieces, weights = pieces_of(knots, x), rng.uniform(size=50)
    dense = np.stack([pieces.heights(unit) for unit in np.eye(7)], axis=1)
    assert np.allclose(pieces.gram(weights), dense.T @ (weights[:, None] * dense))
    assert np.allclose(pieces.dot(weights), dense.T @ weights)
    assert np.allclose(pieces.rows(weights) @ from_slopes(knots), weights[:, None] * dense)
    bend = Curve(knots, 1.0, rng.uniform(size=6))
    slopes = pieces.steepness(np.append(1.0, bend.slopes))
    assert np.allclose(slopes, (bend(x + 1e-6) - bend(x - 1e-6)) / 2e-6, atol=1e-4)


def test_constant_outcomes_are_refused() -> None:
    with pytest.raises(InputError, match="outcomes that differ"):
        fit_link([[0, 0], [0, 1]], [1.0, 1.0])
