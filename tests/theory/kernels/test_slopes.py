"""Expected slopes against Eq. 3, against simulation, and between the exact and the probed route."""

from __future__ import annotations

import numpy as np
import pytest

from known_tasks import symbolic_addition
from recombine.cells.conjunctions import every_arrangement, every_cell
from recombine.theory.identification.identify import identify
from recombine.theory.kernels.activation_kernels import dual_of
from recombine.theory.kernels.estimators import KernelRegressor
from recombine.theory.kernels.given_kernels import kernel_of_salience, kernel_of_sets
from recombine.theory.kernels.leak import anchor_addition, slope
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.slopes import expected_slopes
from recombine.verdicts import Verdict


def two_factor_kernel(salience: float) -> OverlapKernel:
    return kernel_of_salience([salience, 1 - 2 * salience])


@pytest.mark.parametrize("anchors", [1, 2, 3, 4])
@pytest.mark.parametrize("salience", [0.05, 0.2, 0.37, 0.49])
def test_anchor_addition_gives_equation_3(anchors, salience):
    task = symbolic_addition(n=9, anchors=[0, 3, 5, 8][:anchors])
    found = expected_slopes(two_factor_kernel(salience), task.cells[task.train], task.cells[~task.train])
    assert np.abs(found - slope(salience, anchors)).max() < 1e-9


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_relu_networks_follow_equation_3_at_their_salience(depth):
    kernel = OverlapKernel.relu(depth=depth, factors=2)
    task = symbolic_addition(n=9, anchors=[2, 6])
    found = expected_slopes(kernel, task.cells[task.train], task.cells[~task.train])
    assert np.abs(found - slope(kernel.salience[0], 2)).max() < 1e-9


@pytest.mark.parametrize("sizes", [(5, 6), (3, 4, 3)])
def test_a_purely_additive_kernel_loses_nothing_on_determined_cells(sizes):
    cells = every_cell(sizes)
    seen = cells[np.random.default_rng(1).random(len(cells)) < 0.5]
    determined = cells[identify(seen, cells, sizes=sizes).verdicts == Verdict.DETERMINED]
    assert len(determined) > 3
    kernel = kernel_of_salience([1 / len(sizes)] + [0.0] * (len(sizes) - 1))
    assert np.allclose(expected_slopes(kernel, seen, determined), 1.0, atol=1e-8)


def simulated(kernel, seen, unseen, draws, symmetric=False):
    """Slope of the first factor's (or the shared) effect, by fitting the kernel to random additive outcomes."""
    weights = np.linalg.solve(kernel(seen, seen), kernel(seen, unseen)).T
    generator = np.random.default_rng(0)
    top = bottom = 0.0
    for _ in range(draws):
        effects = [generator.standard_normal(int(max(seen.max(), unseen.max())) + 1) for _ in range(seen.shape[1])]
        effects = [effects[0]] * 2 if symmetric else effects
        outcome = sum(effect[seen[:, place]] for place, effect in enumerate(effects))
        places = range(2) if symmetric else range(1)
        truth = sum(effects[place][unseen[:, place]] for place in places)
        centred = truth - truth.mean()
        top += float(centred @ (weights @ outcome))
        bottom += float(centred @ truth)
    return top / bottom


@pytest.mark.slow
def test_the_closed_form_is_the_mean_over_random_effects():
    cells = every_cell((5, 4, 3))
    seen = np.random.default_rng(2).random(len(cells)) < 0.6
    kernel = OverlapKernel.relu(depth=2, factors=3)
    found = expected_slopes(kernel, cells[seen], cells[~seen])
    assert found[0] == pytest.approx(simulated(kernel, cells[seen], cells[~seen], 4000), abs=0.02)


def test_symmetric_factors_share_one_slope_of_their_shared_effect():
    pairs = every_cell((7, 7))
    pairs = pairs[pairs[:, 0] <= pairs[:, 1]]
    seen = np.random.default_rng(3).random(len(pairs)) < 0.6
    kernel = OverlapKernel.relu(depth=1, factors=2)
    found = expected_slopes(kernel, pairs[seen], pairs[~seen], symmetric=[(0, 1)])
    assert found[0] == found[1]
    both = every_arrangement(pairs[seen], [(0, 1)]), every_arrangement(pairs[~seen], [(0, 1)])
    assert found[0] == pytest.approx(simulated(kernel, *both, 4000, symmetric=True), abs=0.02)
    # Effects of the two places that differ are another question with another answer.
    assert abs(found[0] - expected_slopes(kernel, *both)[0]) > 0.005


@pytest.mark.parametrize("symmetric", [(), ((0, 1),)])
def test_probing_agrees_with_the_exact_expectation(symmetric, monkeypatch):
    cells = every_cell((7, 7, 4))
    seen = np.random.default_rng(4).random(len(cells)) < 0.5
    kernel = OverlapKernel.relu(depth=1, factors=3)
    exact = expected_slopes(kernel, cells[seen], cells[~seen], symmetric=symmetric)
    monkeypatch.setattr("recombine.theory.kernels.slopes.MAX_CELLS_FOR_EXACT_SLOPES", 0)
    runs = np.array(
        [
            expected_slopes(kernel, cells[seen], cells[~seen], symmetric=symmetric, probes=6, seed=seed)
            for seed in range(5)
        ]
    )
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(axis=0) - exact) < 4 * error + 1e-4)
    assert np.all(error < 0.04)


def test_a_factor_that_does_not_vary_has_no_slope():
    seen = [[0, 0], [0, 1], [1, 0]]
    found = expected_slopes(two_factor_kernel(0.3), seen, [[1, 1], [1, 2]])
    assert np.isnan(found[0])
    assert np.isfinite(found[1])


def test_a_lookup_table_carries_nothing_over():
    task = symbolic_addition(n=5, anchors=[2])
    found = expected_slopes(two_factor_kernel(0.0), task.cells[task.train], task.cells[~task.train])
    assert np.abs(found).max() < 1e-12


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("salience", [(0.5, 0.2, 0.3), (0.15, 0.6, 0.25)])
def test_three_anchors_unequal_salience_and_a_ridge_agree_by_two_routes(salience, ridge):
    # The closed form, and the fit itself: m1 = p s1 / (p s1 + s12 + ridge).
    first, second, pair = salience
    cells, anchors = every_cell((9, 9)), [0, 3, 7]
    seen = np.isin(cells, anchors).any(axis=1)
    kernel = kernel_of_sets({(): 0.0, (0,): first, (1,): second, (0, 1): 1.0})
    target = (cells - 4).sum(axis=1).astype(float)
    fitted = KernelRegressor(kernel, ridge=ridge).fit(cells[seen], target[seen]).predict(cells[~seen])
    columns = np.column_stack([cells[~seen] - 4, np.ones((~seen).sum())])
    weights = np.linalg.lstsq(columns, fitted, rcond=None)[0]
    closed = anchor_addition(np.arange(9) - 4.0, anchors, salience, ridge=ridge)
    expected = [3 * share / (3 * share + pair + ridge) for share in (first, second)]
    assert np.abs(columns @ weights - fitted).max() < 1e-9
    assert weights[:2] == pytest.approx(expected, abs=1e-9)
    assert closed.slopes == pytest.approx(expected, abs=1e-12)
    assert closed.predictions.reshape(-1)[~seen] == pytest.approx(fitted, abs=1e-9)
    if not ridge:
        assert expected_slopes(kernel, cells[seen], cells[~seen]) == pytest.approx(expected, abs=1e-9)


def test_salience_of_three_softplus_layers_by_plain_integration():
    # A sum over a fine grid of the plane, layer by layer, in place of Gauss-Hermite nodes.
    points = np.linspace(-9, 9, 901)
    density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi) * (points[1] - points[0])
    softplus = np.log1p(np.exp(points))

    def layer(cosine):
        second = np.log1p(np.exp(cosine * points[:, None] + np.sqrt(1 - cosine**2) * points))
        return float((density * softplus) @ second @ density)

    cosines = np.array([0.0, 0.5, 1.0])
    for _ in range(3):
        cosines = np.array([layer(cosine) for cosine in cosines])
        cosines = cosines / cosines[-1]
    distinct, overlapping, identical = cosines
    single = (overlapping - distinct) / (identical - distinct)
    kernel = OverlapKernel.depth_map(dual_of(lambda u: np.log1p(np.exp(u))), depth=3, factors=2)
    assert kernel.salience == pytest.approx([single, 1 - 2 * single], abs=1e-6)
    assert 0 < single < 0.5
