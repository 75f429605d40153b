"""Greedy augmentation against full recomputation of the variance it promises to lower."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.jobs.advice.variance import VariancePlan
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict

CASES = [((4, 5), 1, (), 0.5), ((3, 4, 3), 1, (), 0.4), ((3, 3, 3), 2, (), 0.8), ((5, 5), 1, ((0, 1),), 0.5)]


def setting(sizes, order, symmetric, share, seed=0):
    cells = every_cell(sizes)
    seen = cells[np.random.default_rng(seed).random(len(cells)) < share]
    answer = identify(seen, None, order, sizes=sizes, symmetric=symmetric)
    codes = answer.verdicts_on_grid().reshape(-1)
    return Conjunctions(sizes, order, symmetric), answer.seen.cells, cells[codes == Verdict.DETERMINED]


def information(features, seen, weights=None):
    rows = features.incidence(seen).toarray()
    return rows.T @ (rows if weights is None else weights[:, None] * rows)


def mean_variance(features, seen, targets, weights=None):
    inverse = np.linalg.pinv(information(features, seen, weights), rcond=1e-10, hermitian=True)
    rows = features.incidence(targets).toarray()
    return float(np.einsum("ij,jk,ik->i", rows, inverse, rows).mean())


def log_volume(features, seen):
    eigenvalues = np.linalg.eigvalsh(information(features, seen))
    return float(np.log(eigenvalues[eigenvalues > 1e-9]).sum())


@pytest.mark.parametrize("case", CASES)
def test_the_mean_variance_is_that_of_the_pseudo_inverse(case):
    features, seen, targets = setting(*case)
    assert VariancePlan(features, seen, targets).mean_variance == pytest.approx(mean_variance(features, seen, targets))


@pytest.mark.parametrize("case", CASES)
def test_each_v_optimal_pick_is_the_best_and_lowers_the_variance_as_stated(case):
    features, seen, targets = setting(*case)
    chosen = VariancePlan(features, seen, targets).choose(targets, np.ones(len(targets)), 3, "V")
    for index, gain in chosen:
        now = mean_variance(features, seen, targets)
        after = [mean_variance(features, np.vstack([seen, cell[None]]), targets) for cell in targets]
        assert after[index] == pytest.approx(min(after[i] for i in range(len(targets))), rel=1e-9)
        assert gain == pytest.approx(1 - after[index] / now, abs=1e-9)
        seen = np.vstack([seen, targets[index]])


@pytest.mark.parametrize("case", CASES)
def test_each_d_optimal_pick_raises_the_information_most(case):
    features, seen, targets = setting(*case)
    chosen = VariancePlan(features, seen, targets).choose(targets, np.ones(len(targets)), 2, "D")
    taken: list[int] = []
    for index, _ in chosen:
        after = [log_volume(features, np.vstack([seen, cell[None]])) for cell in targets]
        free = [value for place, value in enumerate(after) if place not in taken]
        assert after[index] == pytest.approx(max(free), abs=1e-9)
        taken.append(index)
        seen = np.vstack([seen, targets[index]])


@pytest.mark.parametrize("case", CASES)
def test_cells_count_as_often_as_they_were_measured(case):
    """Seen cells of 1 to 1,000 measurements, further cells of 20: gains are those of recomputing the variance."""
    features, seen, targets = setting(*case)
    weights = np.round(10.0 ** np.random.default_rng(1).uniform(0, 3, len(seen)))
    plan = VariancePlan(features, seen, targets, weights, 20.0)
    assert plan.mean_variance == pytest.approx(mean_variance(features, seen, targets, weights))
    for index, gain in plan.choose(targets, np.ones(len(targets)), 3, "V"):
        now = mean_variance(features, seen, targets, weights)
        more = np.append(weights, 20.0)
        after = [mean_variance(features, np.vstack([seen, cell[None]]), targets, more) for cell in targets]
        assert after[index] == pytest.approx(min(after), rel=1e-9)
        assert gain == pytest.approx(1 - after[index] / now, abs=1e-9)
        seen, weights = np.vstack([seen, targets[index]]), more


def test_a_costly_cell_must_bring_more():
    features, seen, targets = setting(*CASES[0])
    first = VariancePlan(features, seen, targets).choose(targets, np.ones(len(targets)), 1, "V")[0][0]
    costs = np.ones(len(targets))
    costs[first] = 100.0
    assert VariancePlan(features, seen, targets).choose(targets, costs, 1, "V")[0][0] != first


@pytest.mark.parametrize("case", CASES)
def test_a_long_plan_ends_where_no_cell_brings_much(case):
    """Also after many updates the variance is that of a computation from scratch."""
    features, seen, targets = setting(*case)
    plan = VariancePlan(features, seen, targets)
    chosen = plan.choose(targets, np.ones(len(targets)), 1_000, "V", 0.02)
    assert all(gain >= 0.02 for _, gain in chosen)
    after = np.vstack([seen, targets[[index for index, _ in chosen]]])
    assert plan.mean_variance == pytest.approx(mean_variance(features, after, targets), rel=1e-9)
    left = np.delete(np.arange(len(targets)), [index for index, _ in chosen])
    further = [mean_variance(features, np.vstack([after, targets[[index]]]), targets) for index in left]
    assert all(1 - value / plan.mean_variance < 0.02 for value in further)


def test_no_cell_is_chosen_twice():
    features, seen, targets = setting(*CASES[0])
    chosen = VariancePlan(features, seen, targets).choose(targets, np.ones(len(targets)), len(targets) + 3, "V")
    assert sorted(index for index, _ in chosen) == list(range(len(targets)))


def test_too_large_an_information_matrix_is_left_alone(monkeypatch):
    # The package's attribute `audit` is the function, so the module is named by its entry in sys.modules.
    monkeypatch.setattr(sys.modules["recombine.jobs.advice.variance"], "MAX_VARIANCE_COLUMNS", 3)
    features, seen, targets = setting(*CASES[0])
    assert VariancePlan(features, seen, targets).choose(targets, np.ones(len(targets)), 2, "V") == []
