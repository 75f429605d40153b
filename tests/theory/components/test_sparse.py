"""Sparse equations give what a dense covariance gives, what lme4 finds, and estimates close to that where large."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial

import numpy as np
import pytest

from known_shares import term_shares
from recombine.theory.components import (
    Criterion,
    Factors,
    candidate_terms,
    criterion,
    fit,
    maximize_criterion,
    posterior_of,
)
from recombine.theory.components.criterion import prior_centres
from recombine.theory.components.sparse import solver as sparse
from recombine.theory.components.sparse.mixed_equations import mixed_equations
from recombine.theory.components.sparse.solver import SchurSystem, SparseCriterion, sparse_posterior
from recombine.theory.components.sparse.stochastic_traces import IterativeSystem, balanced_preconditioner
from recombine.theory.components.terms import label_term

#: ``lmer(y ~ 1 + (1|a) + (1|b) + (1|c) + (1|a:b))`` on `three_factors` by lme4 1.1-31: criterion and variances of a, b,
#: c, their pair and the noise.
LME4 = {
    1: (1305.322311, 0.6011425772, 0.2778123271, 0.008493130507, 0.4330882546, 1.122598875),
    2: (1250.785738, 0.5872579861, 0.0427180754, 0.1096878742, 0.6143467196, 0.9094599228),
    3: (1239.371676, 0.6132301554, 0.2457436902, 0.1925539058, 0.3032446276, 0.9425026353),
}
TERMS = (label_term(0), label_term(1), label_term(2), label_term(0, 1))

R_SCRIPT = """
suppressMessages(library(lme4)); t <- read.csv("{path}")
fit <- lmer(y ~ 1 + (1|a) + (1|b) + (1|c) + (1|a:b), t,
            control = lmerControl(optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-12)))
v <- as.data.frame(VarCorr(fit)); r <- setNames(v$vcov, v$grp)
values <- c(REMLcrit(fit), r[c("a", "b", "c", "a:b", "Residual")])
cat(sprintf("[%s]", paste(sprintf("%.10g", values), collapse = ", ")))
"""


def three_factors(seed, pair_sd=0.7):
    """Cells (n, 3), some rows of the same cell, levels of very different frequency; outcomes (n,)."""
    rng = np.random.default_rng(seed)
    chances = ((0.2, 9), (0.15, 12), (0.3, 5))
    codes = np.column_stack([np.minimum(rng.geometric(chance, 400) - 1, last) for chance, last in chances])
    a, b, c = codes.T
    effects = [rng.normal(size=10)[a], 0.5 * rng.normal(size=13)[b], 0.4 * rng.normal(size=6)[c]]
    return codes, (sum(effects) + pair_sd * rng.normal(size=(10, 13))[a, b] + rng.normal(size=400)).round(6)


def drawn(seed, cells=90):
    """A table with labels, lines, curves and features, rows of different weight, and variances of its terms."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, (6, 5, 4), (cells, 3))
    factors = Factors.of(codes, coordinates={1: np.arange(6.0) ** 1.5}, features={2: rng.normal(size=(5, 2))})
    terms = candidate_terms(factors, codes)
    noise = 0.05 + rng.exponential(size=cells)
    return factors, codes, rng.normal(size=cells), noise, terms, rng.normal(-1, 1, len(terms) + 1)


def disconnected(seed):
    """Two tables that share no level of either factor, with a level of one row."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([rng.integers(0, (5, 4), (30, 2)), rng.integers((5, 4), (11, 7), (40, 2)), [[11, 7]]])
    terms = (label_term(0), label_term(1))
    return Factors.of(codes), codes, rng.normal(size=71), np.ones(71), terms, np.array([0.2, -1.0, -0.5])


CASES = [*map(drawn, range(3)), disconnected(0)]


def dense(factors, codes, y, noise, terms, centres=None):
    return Criterion(np.stack([term.covariance(factors, codes, codes) for term in terms]), noise, y, centres)


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_criterion_gradient_and_information_are_the_dense_ones(case, prior):
    factors, codes, y, noise, terms, logs = case
    centres = np.linspace(-6.0, -1.0, len(logs)) if prior else None
    expected = dense(factors, codes, y, noise, terms, centres).derivatives(logs)
    result = SparseCriterion(mixed_equations(factors, codes, y, noise, terms), centres).derivatives(logs)
    for ours, theirs in zip(result, expected, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_finite_differences(case):
    factors, codes, y, noise, terms, logs = case
    criterion = SparseCriterion(mixed_equations(factors, codes, y, noise, terms))
    steps = 1e-5 * np.eye(len(logs))
    differences = [
        (criterion.derivatives(logs + step)[0] - criterion.derivatives(logs - step)[0]) / 2e-5 for step in steps
    ]
    assert np.allclose(criterion.derivatives(logs)[1], differences, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_the_maximum_is_that_of_the_dense_criterion(case):
    factors, codes, y, noise, terms, _ = case
    centres = prior_centres(terms, codes.shape[1])
    equations = mixed_equations(factors, codes, y, noise, terms)
    start = np.full(len(terms) + 1, -2.3)
    expected = maximize_criterion(dense(factors, codes, y, noise, terms, centres), start, tolerance=1e-12)
    result = maximize_criterion(SparseCriterion(equations, centres), start, tolerance=1e-12)
    assert np.allclose(result.variances, expected.variances, rtol=1e-6)
    assert np.isclose(result.noise, expected.noise, rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_values_of_any_cell_and_of_cells_left_out_are_the_dense_ones(case):
    factors, codes, y, noise, terms, logs = case
    variances, level = np.exp(logs[:-1]), float(np.exp(logs[-1]))
    expected = posterior_of(factors, codes, y, terms, variances, level * noise)
    result = sparse_posterior(factors, y, mixed_equations(factors, codes, y, noise, terms), variances, level)
    cells = np.random.default_rng(1).integers(-1, 9, (200, codes.shape[1]))
    pairs = [(result.predict(cells), expected.predict(cells)), (result.leave_one_out(), expected.leave_one_out())]
    for ours, theirs in pairs:
        assert np.allclose(ours, theirs, rtol=1e-8, atol=1e-8)
    assert np.isclose(result.mean, expected.mean)
    members = np.arange(0, len(y), 7)
    assert np.allclose(result.leave_out(members), expected.leave_out(members), rtol=1e-7, atol=1e-7)
    for factor in range(codes.shape[1]):
        levels = np.arange(-1, 8)
        assert np.allclose(result.effects(factor, levels), expected.effects(factor, levels), rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_cells_left_out_do_not_cancel_where_noise_is_next_to_nothing(case):
    factors, codes, y, noise, terms, logs = case
    variances, level = np.exp(logs[:-1]), 1e-6
    result = sparse_posterior(factors, y, mixed_equations(factors, codes, y, noise, terms), variances, level)
    for cell in range(0, len(y), 9):
        others = np.arange(len(y)) != cell
        refit = posterior_of(factors, codes[others], y[others], terms, variances, level * noise[others])
        assert result.leave_one_out()[0][cell] == pytest.approx(refit.predict(codes[[cell]])[0][0], abs=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_products_are_those_of_the_columns_themselves_before_and_after_they_are_used(case):
    factors, codes, y, noise, terms, logs = case
    equations = mixed_equations(factors, codes, y, noise, terms)
    rows = np.hstack([block.toarray() for block in equations.rows(codes)])
    gram, size = rows.T @ (rows / noise[:, None]), len(equations.diagonal)
    scales = equations.scales(np.exp(logs[:-1]))
    complement = np.linalg.inv(SchurSystem(equations, scales).inverse)
    assert np.allclose(IterativeSystem(equations, scales).multiply(np.eye(len(complement))), complement, atol=1e-6)
    assert np.allclose(equations.diagonal, gram.diagonal()[:size])
    assert np.allclose(equations.coupling.toarray(), gram[size:, :size])
    assert np.allclose(equations.coupled.toarray(), gram[:size, size:])
    assert np.allclose(equations.remaining.toarray(), gram[size:, size:])
    assert np.allclose(equations.gram(np.eye(len(gram))), gram)
    assert np.allclose(equations.moments, rows.T @ ((y - equations.centre) / noise))


def test_a_large_mean_does_not_drown_the_squares():
    factors, codes, y, noise, terms, logs = drawn(0)
    near, far = (SparseCriterion(mixed_equations(factors, codes, y + shift, noise, terms)) for shift in (0.0, 1e7))
    assert np.isclose(near.derivatives(logs)[0], far.derivatives(logs)[0], rtol=1e-8)


@pytest.mark.slow
def test_tables_beyond_a_dense_covariance_are_fitted_alike(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.argwhere(rng.random((8, 6, 5)) < 0.7)
    counts = rng.integers(1, 4, len(codes))
    y = 3 + rng.normal(size=(8, 6))[codes[:, 0], codes[:, 1]] + codes[:, 2] + 0.2 * rng.normal(size=len(codes))
    results = []
    # to the very top, since the two start from different variances
    monkeypatch.setattr(criterion, "maximize_criterion", partial(maximize_criterion, tolerance=1e-12))
    for limit in (1_000, 10):
        monkeypatch.setattr(fit, "MAX_COVARIANCE_CELLS", limit)
        result = fit.fit_components(codes, y, counts, coordinates={2: np.arange(6.0)})
        values = result.predict(np.argwhere(np.ones((9, 6, 6))))
        moments = [result.variances, term_shares(result), *result.effects(1), result.leave_one_out().mean]
        results.append(np.concatenate([values.mean, values.sd, values.low, values.high, *moments]))
    assert np.allclose(*results, rtol=1e-5, atol=1e-5)


def test_dense_and_sparse_products_of_the_coupling_are_the_same(monkeypatch):
    factors, codes, y, noise, terms, logs = drawn(4)
    criterion = SparseCriterion(mixed_equations(factors, codes, y, noise, terms))
    results = []
    for ratio in (0.0, 1e9):
        monkeypatch.setattr(sparse, "SPARSE_COST_RATIO", ratio)
        results.append(criterion.derivatives(logs))
    for ours, theirs in zip(*results, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", [1, 4, 6, 7])
def test_a_variance_whose_best_value_is_zero_gets_there(seed):
    """These tables have no effect of the pair: the criterion is that of the model without it."""
    codes, y = three_factors(seed, pair_sd=0.0)
    full, smaller = (fit_three(codes, y, terms) for terms in (TERMS, TERMS[:3]))
    assert full.variances[3] < 1e-7
    assert abs(full.value - smaller.value) < 1e-6
    assert np.allclose(full.variances[:3], smaller.variances, rtol=1e-3)


def fit_three(codes, y, terms):
    equations = mixed_equations(Factors.of(codes), codes, y, np.ones(len(y)), terms)
    return maximize_criterion(SparseCriterion(equations), np.full(len(terms) + 1, -2.3), tolerance=1e-9)


def compare_with_lme4(seed, expected):
    saliences = fit_three(*three_factors(seed), TERMS)
    assert abs(-2 * saliences.value - expected[0]) < 1e-3
    assert np.allclose([*saliences.variances, saliences.noise], expected[1:], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("seed", LME4)
def test_the_maximum_is_that_of_lme4_as_stored(seed):
    compare_with_lme4(seed, LME4[seed])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("seed", [*LME4, 5, 8])
def test_the_maximum_is_that_of_lme4(seed, tmp_path):
    codes, y = three_factors(seed)
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([codes, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.6f")
    ran = subprocess.run(["Rscript", "-e", R_SCRIPT.format(path=path)], capture_output=True, text=True, check=False)
    if "lme4" in ran.stderr and ran.returncode:
        pytest.skip("lme4 is not installed")
    compare_with_lme4(seed, json.loads(ran.stdout))


def large(shape, density, seed=0):
    """Equations of all singles and pairs of three factors, each seen cell with probability ``density``."""
    rng = np.random.default_rng(seed)
    codes = np.argwhere(rng.random(shape) < density)
    factors = Factors.of(codes)
    terms = [label_term(0), label_term(1), label_term(2), label_term(0, 1), label_term(0, 2), label_term(1, 2)]
    y = rng.normal(size=len(codes))
    for term, power in zip(terms, (0.5, 0.3, 0.2, 0.2, 0.1, 0.1), strict=True):
        effects = rng.normal(size=[shape[factor] for factor in term.factors])
        y += np.sqrt(power) * effects[tuple(codes[:, factor] for factor in term.factors)]
    return factors, codes, y, mixed_equations(factors, codes, y, np.ones(len(y)), terms)


@pytest.mark.parametrize(("shape", "density"), [((12, 11, 10), 0.5), ((30, 25, 4), 0.3), ((25, 20, 10), 0.1)])
def test_the_preconditioner_is_what_it_says_and_close_to_the_schur_complement(shape, density):
    equations = large(shape, density)[-1]
    scales = equations.scales(np.array([0.5, 0.3, 0.2, 0.2, 1.0, 0.1]))
    plain, exact = balanced_preconditioner(SchurSystem(equations, scales)), SchurSystem(equations, scales)
    unit = np.eye(len(exact.inverse))
    root, inverse = plain.root(unit), plain.solve(unit)
    assert np.allclose(root @ root.T @ inverse, unit, atol=1e-8)
    assert np.isclose(plain.log_det, np.linalg.slogdet(root @ root.T)[1])
    assert np.allclose(plain.diagonal(-1.0) / plain.scaling**2, inverse.diagonal())
    complement = np.linalg.inv(exact.inverse)
    assert np.allclose(IterativeSystem(equations, scales).multiply(unit), complement, atol=1e-7)
    assert np.allclose((root @ root.T).diagonal()[:-1], complement.diagonal()[:-1])
    spectrum = np.linalg.eigvals(inverse @ complement).real
    jacobi = np.linalg.eigvals(complement / complement.diagonal()[:, None]).real
    assert spectrum.max() / spectrum.min() < 0.1 * jacobi.max() / jacobi.min()


def test_on_a_full_balanced_table_the_preconditioner_is_the_schur_complement_but_for_the_mean():
    equations = large((6, 5, 4), 1.1)[-1]
    scales = equations.scales(np.array([0.5, 0.3, 0.2, 0.2, 1.0, 0.1]))
    inverse = SchurSystem(equations, scales).inverse
    unit = np.eye(len(inverse))
    unit[-1] = 0.0  # the mean has a unit in P that it has not in S
    assert (
        np.abs(balanced_preconditioner(SchurSystem(equations, scales)).solve(unit)[:-1] - inverse[:-1] @ unit).max()
        < 0.03
    )


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "density"), [((20, 16, 10), 0.4), ((40, 30, 5), 0.15)])
def test_conjugate_gradients_find_the_exact_maximum_up_to_a_fraction_of_its_standard_error(shape, density, monkeypatch):
    factors, codes, y, equations = large(shape, density)
    start = np.full(len(equations.columns) + 1, -2.3)
    exact = maximize_criterion(SparseCriterion(equations), start)
    posterior = sparse_posterior(factors, y, equations, exact.variances, exact.noise)
    mean, variance = posterior.predict(codes)
    monkeypatch.setattr(sparse, "MAX_DENSE_COLUMNS", 0)
    estimate = maximize_criterion(SparseCriterion(equations), start)
    errors = np.append(estimate.variances, estimate.noise) - np.append(exact.variances, exact.noise)
    assert np.abs(errors / exact.standard_errors).max() < 0.3
    assert abs(estimate.value - exact.value) < 3.0
    drawn_posterior = sparse_posterior(factors, y, equations, exact.variances, exact.noise)
    estimated_mean, estimated_variance = drawn_posterior.predict(codes)
    assert np.allclose(estimated_mean, mean, atol=1e-5)
    ratios = np.sqrt(estimated_variance / variance)
    assert abs(ratios.mean() - 1) < 0.02
    assert ratios.std() < 0.12
    again = sparse_posterior(factors, y, equations, exact.variances, exact.noise).predict(codes)[1]
    assert np.array_equal(again, estimated_variance)


def test_a_new_number_has_the_value_of_the_dense_posterior():
    rng = np.random.default_rng(21)
    codes = np.indices((12, 7)).reshape(2, -1).T[rng.permutation(84)[:60]]
    line = np.sort(rng.normal(size=12))
    y = np.sin(2 * line)[codes[:, 0]] + rng.normal(size=7)[codes[:, 1]] + 0.1 * rng.normal(size=60)
    factors = Factors.of(codes, {0: line})
    terms, noise = candidate_terms(factors, codes), np.ones(60)
    variances = rng.uniform(0.1, 0.5, len(terms))
    dense = posterior_of(factors, codes, y, terms, variances, 0.05 * noise)
    sparse_one = sparse_posterior(factors, y, mixed_equations(factors, codes, y, noise, terms), variances, 0.05)
    longer = factors.extended({0: [0.3, -0.2]})
    asked = np.array([[12, 0], [13, 3], [12, 9], [4, 2]])
    for ours, expected in zip(
        sparse_one.with_factors(longer).predict(asked), dense.with_factors(longer).predict(asked), strict=True
    ):
        np.testing.assert_allclose(ours, expected, atol=1e-6)
