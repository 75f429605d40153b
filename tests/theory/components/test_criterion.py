"""The criterion has the gradient it says, is the density of contrasts, and finds what lme4 finds."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from recombine.theory.components import SCALES, Criterion, fit_components, maximize_criterion
from recombine.theory.components.criterion import ReplicatedCriterion

#: ``lmer(y ~ 1 + (1 | s) + (1 | d))`` on `crossed_table` by lme4 1.1-31: criterion, variances of s, d and noise.
LME4 = {
    0: (273.2716966, 3.00674653, 1.012035702, 1.987940925),
    1: (273.85557, 1.425114997, 0.369924078, 2.047299996),
    3: (350.0301377, 12.2551562, 0.2820675499, 3.080858005),
    5: (307.6971074, 5.065279215, 1.394985407, 1.464443247),
}

R_SCRIPT = """
suppressMessages(library(lme4)); t <- read.csv("{path}")
fit <- lmer(y ~ 1 + (1 | s) + (1 | d), t, control = lmerControl(optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-12)))
v <- as.data.frame(VarCorr(fit)); r <- setNames(v$vcov, v$grp)
cat(sprintf("[%.10g, %.10g, %.10g, %.10g]", REMLcrit(fit), r["s"], r["d"], r["Residual"]))
"""


def crossed_table(seed):
    """Subjects, days and outcomes (n,) of a crossed table with a third of its cells missing."""
    rng = np.random.default_rng(seed)
    s, d = (array.ravel() for array in np.indices((12, 9)))
    y = 5 + 2 * rng.normal(size=12)[s] + rng.normal(size=9)[d] + rng.normal(size=108) * 1.5
    chosen = np.flatnonzero(rng.random(108) < 0.67)
    return s[chosen], d[chosen], y[chosen].round(6)


def crossed_criterion(seed, centres=None):
    s, d, y = crossed_table(seed)
    grams = np.stack([s[:, None] == s, d[:, None] == d]).astype(float)
    return Criterion(grams, np.ones(len(y)), y, centres)


@pytest.mark.parametrize("centres", [None, np.array([-3.0, -6.0, -1.0])])
def test_the_gradient_is_that_of_finite_differences(centres):
    criterion = crossed_criterion(3, centres)
    logs = np.array([0.3, -1.0, 0.5])
    _, gradient, _ = criterion.derivatives(logs)
    steps = 1e-5 * np.eye(3)
    differences = [
        (criterion.derivatives(logs + step)[0] - criterion.derivatives(logs - step)[0]) / 2e-5 for step in steps
    ]
    assert np.allclose(gradient, differences, rtol=1e-6, atol=1e-6)


def test_the_criterion_is_the_density_of_contrasts():
    criterion = crossed_criterion(1)
    logs = np.array([0.3, -1.0, 0.5])
    size = len(criterion.y)
    covariance = np.tensordot(np.exp(logs[:2]), criterion.covariances, 1) + np.exp(logs[2]) * np.eye(size)
    contrasts = np.linalg.svd(np.ones((1, size)))[2][1:]
    density = multivariate_normal(cov=contrasts @ covariance @ contrasts.T).logpdf(contrasts @ criterion.y)
    assert np.isclose(criterion.derivatives(logs)[0], density - 0.5 * np.log(size), rtol=1e-10)


def test_average_information_is_close_to_minus_second_derivatives_at_the_maximum():
    criterion = crossed_criterion(2)
    saliences = maximize_criterion(criterion, np.full(3, -2.3), tolerance=1e-9)
    logs = np.log(np.append(saliences.variances, saliences.noise))
    _, gradient, information = criterion.derivatives(logs)
    assert np.abs(gradient).max() < 1e-2
    second = np.column_stack(
        [
            (criterion.derivatives(logs + step)[1] - criterion.derivatives(logs - step)[1]) / 2e-4
            for step in 1e-4 * np.eye(3)
        ]
    )
    assert np.allclose(information, -second, atol=0.3 * np.abs(second).max())


@pytest.mark.parametrize("seed", LME4)
def test_the_maximum_is_that_of_lme4_as_stored(seed):
    compare_with_lme4(seed, LME4[seed])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("seed", [*LME4, 11, 12, 13])
def test_the_maximum_is_that_of_lme4(seed, tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack(crossed_table(seed)), delimiter=",", header="s,d,y", comments="", fmt="%.6f")
    ran = subprocess.run(["Rscript", "-e", R_SCRIPT.format(path=path)], capture_output=True, text=True, check=False)
    if "lme4" in ran.stderr and ran.returncode:
        pytest.skip("lme4 is not installed")
    compare_with_lme4(seed, json.loads(ran.stdout))


def compare_with_lme4(seed, expected):
    saliences = maximize_criterion(crossed_criterion(seed), np.full(3, -2.3), tolerance=1e-9)
    assert abs(-2 * saliences.value - expected[0]) < 1e-3
    assert np.allclose([*saliences.variances, saliences.noise], expected[1:], rtol=1e-3, atol=1e-6)


def alike(cells: np.ndarray) -> np.ndarray:
    """Return which cells (n, 2) agree in the first factor, and which in both (2, n, n)."""
    same = cells[:, None] == cells[None]
    return np.stack([same[:, :, 0], same.all(axis=2)]).astype(float)


def test_means_with_squares_within_cells_say_what_all_rows_say():
    """The likelihood of rows is that of means of cells and squares within them, but for a constant."""
    rng = np.random.default_rng(5)
    cells = np.repeat(np.indices((4, 5)).reshape(2, -1).T, rng.integers(1, 5, 20), axis=0)
    y = (
        rng.normal(size=4)[cells[:, 0]]
        + rng.normal(size=(4, 5))[cells[:, 0], cells[:, 1]]
        + rng.normal(size=len(cells))
    )
    whole = [(cells[:, None, list(chosen)] == cells[None][:, :, list(chosen)]).all(axis=2) for chosen in ((0,), (0, 1))]
    rows = Criterion(np.array(whole, dtype=float), np.ones(len(y)), y)
    distinct, which, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    means = np.bincount(which, y) / counts
    alike = [
        (distinct[:, None, list(chosen)] == distinct[None][:, :, list(chosen)]).all(axis=2) for chosen in ((0,), (0, 1))
    ]
    base = Criterion(np.array(alike, dtype=float), 1 / counts, means)
    replicated = ReplicatedCriterion(base, float(np.square(y - means[which]).sum()), float(len(y) - len(means)))
    differences = []
    for logs in rng.normal(size=(4, 3)):
        value, gradient, _ = rows.derivatives(logs)
        other, slope, _ = replicated.derivatives(logs)
        np.testing.assert_allclose(slope, gradient, rtol=1e-8, atol=1e-10)
        differences.append(value - other)
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9)


def test_rows_that_repeat_cells_tell_cells_from_noise():
    rng = np.random.default_rng(6)
    codes = np.indices((15, 12)).reshape(2, -1).T
    truth = rng.normal(size=15)[codes[:, 0]] + 0.7 * rng.normal(size=180)
    rows = truth[:, None] + 0.4 * rng.normal(size=(180, 3))
    means = rows.mean(axis=1)
    within = np.square(rows - means[:, None]).sum(axis=1), np.full(180, 2.0)
    fit = fit_components(codes, means, np.full(180, 3.0), replicates=within, scales=SCALES[:1])
    shares = {term.factors: variance for term, variance in zip(fit.terms, fit.variances, strict=True)}
    assert fit.noise == pytest.approx(0.16, rel=0.15)
    assert shares[0, 1] == pytest.approx(0.49, rel=0.2)
    # What was measured is kept: the value of a seen cell is nearly its mean, that of an unseen one is not.
    assert np.mean((fit.predict(codes).mean - truth) ** 2) < 0.06
