"""The additive fit against refitting, against ordinary weighted least squares, and between its two routes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.errors import InputError
from recombine.theory.identification.additive_fit import fit_additive, leave_one_out, leave_one_out_noise
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict

DESIGNS = [
    ((6, 5), 1, ()),
    ((4, 3, 3), 1, ()),
    ((3, 3, 3), 2, ()),
    ((3, 2, 3, 2), 1, ()),
    ((3, 2, 3, 2), 2, ()),
    ((6, 6), 1, ((0, 1),)),
    ((4, 4, 3), 2, ((0, 1),)),
]


def sample(sizes, order, symmetric, seed, share=0.6):
    generator = np.random.default_rng(seed)
    cells = every_cell(sizes)
    if symmetric:
        cells = cells[cells[:, symmetric[0][0]] <= cells[:, symmetric[0][1]]]
    cells = cells[generator.random(len(cells)) < share]
    return Conjunctions(sizes, order, symmetric), cells, generator.standard_normal(len(cells)), generator


@pytest.mark.parametrize(("sizes", "order", "symmetric"), DESIGNS)
@pytest.mark.parametrize("seed", [*range(1), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3))])
def test_leave_one_out_is_a_refit_without_the_cell(sizes, order, symmetric, seed):
    features, cells, outcome, _ = sample(sizes, order, symmetric, seed, share=0.9)
    predicted, determined = leave_one_out(fit_additive(features, cells, outcome), outcome)
    assert determined.any()
    for place in range(len(cells)):
        rest = np.arange(len(cells)) != place
        verdict = identify(cells[rest], cells[[place]], order, sizes=sizes, symmetric=symmetric).verdicts[0]
        assert determined[place] == (verdict == Verdict.DETERMINED)
        if determined[place]:
            again = fit_additive(features, cells[rest], outcome[rest]).predict(cells[[place]])
            assert predicted[place] == pytest.approx(again[0], abs=1e-8)
        else:
            assert np.isnan(predicted[place])


@pytest.mark.parametrize(("sizes", "order", "symmetric"), DESIGNS)
@pytest.mark.parametrize("share", [0.25, 0.45, 0.9])
def test_determined_without_itself_agrees_with_exact_arithmetic(sizes, order, symmetric, share):
    features, cells, outcome, _ = sample(sizes, order, symmetric, seed=9, share=share)
    _, determined = leave_one_out(fit_additive(features, cells, outcome), outcome)
    for place in range(len(cells)):
        rest = np.arange(len(cells)) != place
        if rest.any():
            code = identify(cells[rest], cells[[place]], order, sizes=sizes, symmetric=symmetric).verdicts[0]
            assert determined[place] == (code == Verdict.DETERMINED)


def test_a_long_chain_is_not_taken_for_a_cell_known_from_itself():
    # One cycle through 2 n levels: each cell is the alternating sum of all the others, with leverage 1 - 1/(2n).
    n = 200
    cells = np.array([[i, i] for i in range(n)] + [[i, (i + 1) % n] for i in range(n)])
    outcome = np.random.default_rng(0).standard_normal(2 * n)
    fit = fit_additive(Conjunctions((n, n)), cells, outcome)
    assert fit.leverage is not None
    assert np.allclose(fit.leverage, 1 - 1 / (2 * n))
    assert leave_one_out(fit, outcome)[1].all()


@pytest.mark.parametrize(("sizes", "order", "symmetric"), DESIGNS)
@pytest.mark.parametrize("weighted", [False, True])
def test_fitted_values_are_the_weighted_projection(sizes, order, symmetric, weighted):
    features, cells, outcome, generator = sample(sizes, order, symmetric, seed=5)
    weight = generator.uniform(0.2, 5.0, len(cells)) if weighted else None
    fit = fit_additive(features, cells, outcome, weight)
    rows = features.incidence(cells).toarray()
    root = np.ones(len(cells)) if weight is None else np.sqrt(weight)
    solution = np.linalg.lstsq(rows * root[:, None], outcome * root, rcond=None)[0]
    assert np.allclose(fit.fitted, rows @ solution, atol=1e-9)
    assert fit.rank == np.linalg.matrix_rank(rows)
    known = identify(cells, None, order, sizes=sizes, symmetric=symmetric)
    targets = every_cell(sizes)[known.verdicts_on_grid().reshape(-1) <= Verdict.DETERMINED]
    assert np.allclose(fit.predict(targets), features.incidence(targets) @ solution, atol=1e-8)


def test_weights_of_all_sizes_leave_the_sparse_route_exact(monkeypatch):
    """Counts from 1 to 10,000 on a sparse design: steps that do not allow for it stop short of the solution."""
    generator = np.random.default_rng(0)
    cells = np.unique(
        np.stack([np.minimum(generator.zipf(1.3, 2500) - 1, 99), generator.integers(0, 80, 2500)], 1), axis=0
    )
    outcome, weight = generator.standard_normal(len(cells)), np.round(10 ** generator.uniform(0, 4, len(cells)))
    dense = fit_additive(Conjunctions((100, 80)), cells, outcome, weight)
    monkeypatch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
    sparse = fit_additive(Conjunctions((100, 80)), cells, outcome, weight)
    assert np.abs(sparse.fitted - dense.fitted).max() < 1e-7


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1.0, 0.0, 1.0], [1.0, -1.0, 1.0]])
def test_weights_that_cannot_be_are_refused(weights):
    with pytest.raises(InputError, match="weights must be 3 positive numbers"):
        fit_additive(Conjunctions((2, 2)), [[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], weights)


@pytest.mark.parametrize(("sizes", "order", "symmetric"), DESIGNS)
def test_the_sparse_route_predicts_the_same(sizes, order, symmetric, monkeypatch):
    features, cells, outcome, generator = sample(sizes, order, symmetric, seed=6)
    weight = generator.uniform(0.5, 2.0, len(cells))
    dense = fit_additive(features, cells, outcome, weight)
    monkeypatch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", -1)
    sparse = fit_additive(features, cells, outcome, weight)
    assert sparse.leverage is None
    assert np.allclose(sparse.fitted, dense.fitted, atol=1e-7)
    codes = identify(cells, None, order, sizes=sizes, symmetric=symmetric).verdicts_on_grid().reshape(-1)
    targets = every_cell(sizes)[codes <= Verdict.DETERMINED]
    assert np.allclose(sparse.predict(targets), dense.predict(targets), atol=1e-6)
    with pytest.raises(InputError, match="needs leverages"):
        leave_one_out(sparse, outcome)
    with pytest.raises(InputError, match="needs leverages"):
        leave_one_out_noise(sparse, outcome**2)


@pytest.mark.parametrize("few_columns", [0, 300])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("sizes", "order", "symmetric"), DESIGNS)
def test_the_normal_route_is_the_dense_one(sizes, order, symmetric, weighted, few_columns, monkeypatch):
    """With and without elimination of the largest block: values, leverages, cells left out and their noise."""
    for seed in range(3):
        features, cells, outcome, generator = sample(sizes, order, symmetric, seed)
        weight = 10 ** generator.uniform(0, 2, len(cells)) if weighted else None
        noise = generator.uniform(0.1, 2.0, len(cells))
        with monkeypatch.context() as patch:
            patch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
            patch.setattr("recombine.theory.identification.leverage.MIN_COLUMNS_TO_ELIMINATE", few_columns)
            normal = fit_additive(features, cells, outcome, weight)
            assert normal.normal is not None
            assert normal.leverage is not None
        dense = fit_additive(features, cells, outcome, weight)
        assert dense.leverage is not None
        assert normal.rank == dense.rank
        assert np.allclose(normal.fitted, dense.fitted, atol=1e-9)
        assert np.allclose(normal.leverage, dense.leverage, atol=1e-9)
        assert np.allclose(normal.table, dense.table, atol=1e-8)
        (left, free), (expected, known) = (leave_one_out(fit, outcome) for fit in (normal, dense))
        assert np.array_equal(free, known)
        assert np.allclose(left[free], expected[free], rtol=1e-6, atol=1e-6)
        variances, wanted = (leave_one_out_noise(fit, noise) for fit in (normal, dense))
        assert np.allclose(variances[free], wanted[free], rtol=1e-5)


@pytest.mark.slow
def test_a_thousand_levels_of_one_factor_are_eliminated_exactly():
    """The size at which the route is taken by itself, against the decomposition of the whole."""
    generator = np.random.default_rng(0)
    sizes = (1_100, 6, 5, 4)
    cells = np.unique(generator.integers(0, sizes, size=(3_600, 4)), axis=0)
    outcome, weight = generator.standard_normal(len(cells)), generator.integers(1, 30, len(cells)).astype(float)
    features = Conjunctions(sizes)
    fit = fit_additive(features, cells, outcome, weight)
    assert fit.normal is not None
    assert fit.basis is None
    rows = features.incidence(cells).toarray() * np.sqrt(weight)[:, None]
    left, triangle, _ = scipy.linalg.qr(rows, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(triangle))
    basis = left[:, size > 1e-10 * size[0]]
    assert fit.rank == basis.shape[1]
    fitted = basis @ (basis.T @ (np.sqrt(weight) * outcome)) / np.sqrt(weight)
    assert np.allclose(fit.fitted, fitted, atol=1e-9)
    assert np.allclose(fit.leverage, np.square(basis).sum(axis=1), atol=1e-9)
    # Noise of one size is carried through exactly, whatever the number of columns.
    variance = 0.7 / weight
    free = fit.leverage < 1 - 1e-6
    assert np.allclose(leave_one_out_noise(fit, variance)[free], variance[free] / (1 - fit.leverage[free]))


def test_a_chain_of_levels_too_long_for_normal_equations_is_iterated(monkeypatch):
    """Squaring a chain's condition leaves floating point no digits; the route says so and another is taken."""
    monkeypatch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
    monkeypatch.setattr("recombine.theory.identification.leverage.NORMAL_EQUATION_RESIDUAL", -1.0)
    cells = np.array([[i, j] for i in range(30) for j in (i, i + 1)])
    fit = fit_additive(Conjunctions((30, 31)), cells, cells.sum(axis=1).astype(float))
    assert fit.normal is None
    assert np.allclose(fit.fitted, cells.sum(axis=1), atol=1e-6)


def test_an_additive_truth_is_recovered_at_every_determined_cell():
    features, cells, _, generator = sample((5, 4, 3), 1, (), seed=7, share=0.4)
    effects = [generator.standard_normal(size) for size in features.sizes]

    def truth(at):
        return sum(effect[at[:, place]] for place, effect in enumerate(effects))

    targets = every_cell(features.sizes)
    targets = targets[identify(cells, targets, sizes=features.sizes).verdicts == Verdict.DETERMINED]
    assert np.allclose(fit_additive(features, cells, truth(cells)).predict(targets), truth(targets))


@pytest.mark.parametrize("outcome", [[1.0], []])
def test_one_value_per_cell(outcome):
    with pytest.raises(InputError, match="one value per cell"):
        fit_additive(Conjunctions((2, 2)), [[0, 0], [1, 1]], outcome)


def test_a_decomposition_that_does_not_converge_is_done_by_the_slower_one(monkeypatch):
    import scipy.linalg

    cells = every_cell((4, 5))
    y = np.random.default_rng(0).normal(size=20)
    expected = fit_additive(Conjunctions((4, 5)), cells, y)
    fast = scipy.linalg.svd

    def failing(matrix, *, lapack_driver="gesdd", **options):
        if lapack_driver == "gesdd":
            raise scipy.linalg.LinAlgError("SVD did not converge")
        return fast(matrix, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr("scipy.linalg.svd", failing)
    found = fit_additive(Conjunctions((4, 5)), cells, y)
    assert np.allclose(found.fitted, expected.fitted)
    assert np.allclose(found.leverage, expected.leverage)
    assert found.rank == expected.rank == 8
