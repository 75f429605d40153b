"""Does the check say what is true? Noise floor and lack of fit by hand, and words on simulated worlds."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recombine as rc
from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.design.design import Design
from recombine.jobs.audit.additivity import AdditivityState, check_additivity
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.theory.identification.additive_fit import fit_additive, leave_one_out, leave_one_out_noise
from recombine.words.additivity import additivity_statement

MODULE = sys.modules["recombine.jobs.audit.additivity"]


def replicated(truth, sizes, share=0.8, noise=0.3, most=5, seed=0):
    """A table of 1 to ``most`` rows per seen cell: factor columns a, b, ... and y."""
    generator = np.random.default_rng(seed)
    cells = every_cell(sizes)
    cells = cells[generator.random(len(cells)) < share]
    cells = np.repeat(cells, generator.integers(1, most + 1, len(cells)), axis=0)
    values = truth(cells) + noise * generator.standard_normal(len(cells))
    names = list("abcd")[: len(sizes)]
    return pd.DataFrame({name: cells[:, place] for place, name in enumerate(names)} | {"y": values}), names


def additive(seed=0, scale=1.0):
    effects = scale * np.random.default_rng(seed).standard_normal((4, 30))
    return lambda cells: sum(effects[place][cells[:, place]] for place in range(cells.shape[1]))


def arbitrary(sizes, seed=0):
    """Every cell has a value of its own: nothing but interaction."""
    values = np.random.default_rng(seed).standard_normal(sizes)
    return lambda cells: values[tuple(cells.T)]


def design_of(frame, names, **options) -> Design:
    return Design.from_frame(frame, factors=names, outcome="y", **options)


@pytest.mark.parametrize("sizes", [(8, 7), (5, 4, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_additive_worlds_are_found_to_hold(sizes, seed):
    check = check_additivity(design_of(*replicated(additive(seed), sizes, seed=seed)))
    assert check.state == AdditivityState.HOLDS
    assert additivity_statement(check).startswith("Additivity holds: ")


@pytest.mark.parametrize("sizes", [(8, 7), (5, 4, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_worlds_of_pure_interaction_are_found_not_to(sizes, seed):
    check = check_additivity(design_of(*replicated(arbitrary(sizes, seed), sizes, seed=seed)))
    assert check.state == AdditivityState.FAILS
    assert check.at(1).lack_of_fit is not None
    assert check.at(1).lack_of_fit.p_value < 1e-4
    assert "Interaction is real (" in additivity_statement(check)


def test_an_interaction_of_two_factors_holds_at_order_2_only():
    sizes = (5, 5, 4)
    pair, single = arbitrary(sizes[:2]), additive(1)
    frame, names = replicated(lambda cells: 2 * pair(cells[:, :2]) + single(cells), sizes, share=0.9, noise=0.1)
    check = check_additivity(design_of(frame, names))
    assert check.state_at(1) != AdditivityState.HOLDS
    assert check.state_at(2) == AdditivityState.HOLDS
    assert additivity_statement(check, 2).startswith("Additivity up to interactions of 2 factors holds: ")


def test_noise_floor_and_lack_of_fit_are_those_of_the_textbook():
    frame, names = replicated(lambda c: additive()(c) + 0.3 * arbitrary((6, 5))(c), (6, 5), seed=3)
    design = design_of(frame, names)
    check = check_additivity(design)
    groups = frame.groupby(names)["y"]
    within = float(((frame["y"] - groups.transform("mean")) ** 2).sum())
    freedom = len(frame) - groups.ngroups
    means, counts = groups.mean().to_numpy(), groups.count().to_numpy()
    tested = check.orders[0].determined
    assert check.orders[0].noise == pytest.approx(np.sqrt(np.mean(within / freedom / counts[tested])))
    # Lack of fit: residual sum of squares of the additive regression on all rows, less the pure error.
    rows = Conjunctions(design.sizes).incidence(frame[names].to_numpy()).toarray()
    fitted = rows @ np.linalg.lstsq(rows, frame["y"].to_numpy(), rcond=None)[0]
    residual = float(((frame["y"] - fitted) ** 2).sum())
    spare = groups.ngroups - np.linalg.matrix_rank(rows)
    statistic = (residual - within) / spare / (within / freedom)
    assert check.at(1).lack_of_fit is not None
    assert check.at(1).lack_of_fit.freedom == (spare, freedom)
    assert check.at(1).lack_of_fit.statistic == pytest.approx(statistic)
    assert check.at(1).lack_of_fit.p_value == pytest.approx(stats.f.sf(statistic, spare, freedom))
    # The plain mean is the mean of the other cells.
    others = (means.sum() - means) / (len(means) - 1)
    assert check.orders[0].baseline == pytest.approx(np.sqrt(np.mean((means - others)[tested] ** 2)))


def test_aggregated_rows_give_the_same_check_as_the_rows_behind_them():
    frame, names = replicated(additive(2), (6, 5), seed=4)
    table = frame.groupby(names)["y"].agg(["mean", "std", "count"]).reset_index()
    table = table.rename(columns={"mean": "y"}).fillna({"std": 0.0})
    rows = check_additivity(design_of(frame, names))
    summary = check_additivity(design_of(table, names, weight="count", sd="std"))
    assert summary.orders[0].error == pytest.approx(rows.orders[0].error)
    assert summary.orders[0].noise == pytest.approx(rows.orders[0].noise)
    assert summary.at(1).lack_of_fit.statistic == pytest.approx(rows.at(1).lack_of_fit.statistic)


@pytest.mark.slow
def test_the_lack_of_fit_test_keeps_its_level():
    values = []
    for seed in range(60):
        check = check_additivity(design_of(*replicated(additive(seed), (5, 4), seed=seed, noise=1.0)), orders=(1,))
        values.append(check.at(1).lack_of_fit.p_value)
    # Uniform p values where effects add: a Kolmogorov-Smirnov test at one in a thousand.
    assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_breakers_are_the_cells_whose_refit_is_worst():
    frame, names = replicated(additive(3), (6, 6), share=1.0, noise=0.05, seed=5)
    spoiled = (frame["a"] == 2) & (frame["b"] == 3)
    frame.loc[spoiled, "y"] += 10.0
    check = check_additivity(design_of(frame, names))
    worst = next(check.breakers(1).rows())
    assert (worst["a"], worst["b"]) == ("2", "3")
    assert worst["difference"] == pytest.approx(10.0, abs=0.5)
    assert worst["observed"] - worst["predicted"] == pytest.approx(worst["difference"])


@pytest.mark.slow
def test_where_effects_multiply_cells_depart_from_products_not_from_sums():
    rng = np.random.default_rng(3)
    cells = np.indices((8, 10)).reshape(2, -1).T
    seen = cells.sum(axis=1) % 3 > 0
    y = 50 * np.exp(0.8 * rng.normal(size=8)[cells[:, 0]] + 0.8 * rng.normal(size=10)[cells[:, 1]])
    y *= np.exp(0.1 * rng.normal(size=80))
    odd = int(np.flatnonzero(seen)[np.argmin(y[seen])])
    y[odd] *= 2.0
    rows = [{"drug": f"d{a}", "line": f"l{b}", "y": value} for (a, b), value in zip(cells[seen], y[seen], strict=True)]
    audit = rc.audit(pd.DataFrame(rows), factors=["drug", "line"], outcome="y", forecast="theory")
    furthest = audit.values.furthest(1)
    assert furthest is not None
    drug, line = (int(furthest[name][0][1:]) for name in ("drug", "line"))
    assert (drug, line) == tuple(cells[odd])
    assert furthest["standard deviations"][0] > 3
    assert audit.structure.additivity.breakers(1)["drug"][0] != furthest["drug"][0]
    said = f"Cells that depart most from what the others say of them: d{drug} · l{line} (+"
    assert said in " ".join(audit.summary.split())


def test_breakers_of_outcomes_as_small_as_can_be():
    frame, names = replicated(additive(3), (6, 6), share=1.0, noise=0.05, seed=5)
    frame["y"] *= 1e-308
    check = check_additivity(design_of(frame, names))
    with np.errstate(all="raise", under="ignore"):
        differences = check.breakers(36)["difference"]
    assert (np.diff(np.abs(differences)) <= 1e-316).all()


def test_folds_agree_with_leaving_one_out(monkeypatch):
    design = design_of(*replicated(additive(4), (9, 8), share=0.9, seed=6))
    exact = check_additivity(design)
    monkeypatch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", -1)
    folds = check_additivity(design)
    assert exact.folds == 0
    assert folds.folds > 0
    assert folds.state == exact.state
    assert folds.orders[0].error == pytest.approx(exact.orders[0].error, rel=0.3)
    assert folds.at(1).lack_of_fit is None


@pytest.mark.parametrize("level", [3.0, 0.1, 1e6 / 3])
def test_a_constant_outcome_is_not_called_additive(level):
    cells = every_cell((4, 4))
    check = check_additivity(Design.from_cells(cells, [level] * 16))
    assert check.state == AdditivityState.UNCHECKED
    assert "the outcome is the same in every cell" in additivity_statement(check)


def test_noise_that_drowns_everything_is_said():
    frame, names = replicated(additive(0, scale=0.01), (6, 6), noise=3.0, most=3, share=1.0)
    check = check_additivity(design_of(frame, names))
    assert check.state == AdditivityState.UNCHECKED
    assert "more rows per cell would tell" in additivity_statement(check)


def test_too_few_testable_cells_are_counted():
    cells = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]
    check = check_additivity(Design.from_cells(cells, [1.0, 2.0, 3.0, 4.0, 9.0]))
    assert check.state == AdditivityState.UNCHECKED
    assert (
        f"only 4 seen cells are determined by the others, and it takes {AUDIT_LIMITS.min_cells_tested}"
        in additivity_statement(check)
    )
    none = check_additivity(Design.from_cells([[0, 0], [1, 1]], [1.0, 2.0]))
    assert "no seen cell is determined by the others" in additivity_statement(none)


def test_a_minority_of_easy_cells_does_not_speak_for_the_rest():
    """A square of 3 x 3 cells that add, and a chain of 12 more that nothing else determines."""
    square = every_cell((3, 3)).tolist()
    chain = [cell for step in range(6) for cell in ([3 + step, 2 + step], [3 + step, 3 + step])]
    cells = np.array(square + chain)
    effects = np.random.default_rng(0).standard_normal((2, 9))
    check = check_additivity(Design.from_cells(cells, effects[0][cells[:, 0]] + effects[1][cells[:, 1]]))
    assert check.at(1).share > 0.99
    assert check.state == AdditivityState.UNCHECKED
    assert "only 9 of 21 seen cells are determined by the others" in additivity_statement(check)
    assert "too few to speak for the rest" in additivity_statement(check)


def test_how_many_cells_were_tested_is_said():
    cells = np.array([*every_cell((4, 4)).tolist(), [4, 0], [0, 4]])
    check = check_additivity(Design.from_cells(cells, cells @ [1.0, 3.0]))
    assert "(16 of 18 seen cells allow it)" in additivity_statement(check)


def test_a_small_factorial_holds_if_its_replicates_rule_out_interaction():
    cells = np.repeat(every_cell((2, 3)), 20, axis=0)
    noise = np.random.default_rng(0).standard_normal(len(cells))
    clear = check_additivity(Design.from_cells(cells, cells @ [5.0, 5.0] + noise))
    assert clear.state == AdditivityState.HOLDS
    assert additivity_statement(clear).startswith("Additivity holds: the replicates show no interaction (lack of fit: ")
    assert additivity_statement(clear).endswith("such cells to check it on them.")
    hidden = check_additivity(Design.from_cells(cells, cells @ [0.3, 0.3] + noise))
    assert hidden.state == AdditivityState.UNCHECKED


def test_the_saturated_order_is_not_checked():
    design = design_of(*replicated(additive(1), (5, 5)))
    check = check_additivity(design, orders=(1, 2))
    assert check.at(2) is None
    assert "with all 2 factors interacting" in additivity_statement(check, 2)


def test_without_replicates_there_is_no_floor():
    check = check_additivity(Design.from_cells(every_cell((4, 4)), np.arange(16.0)))
    assert check.orders[0].noise is None
    assert check.at(1).lack_of_fit is None
    assert "noise" not in additivity_statement(check)


@pytest.mark.parametrize("repeats", [2, 3, 10])
def test_noise_alone_is_not_called_interaction(repeats):
    """Success rates that add, seen through a few tries each: it may be unsure but must not fail."""
    states = []
    for seed in range(12):
        generator = np.random.default_rng([seed, repeats])
        cells = every_cell((6, 4, 4))
        cells = cells[generator.random(len(cells)) < 0.55]
        effects = [generator.uniform(0.0, 0.3, size) for size in (6, 4, 4)]
        chance = sum(effect[cells[:, place]] for place, effect in enumerate(effects))
        rows = np.repeat(cells, repeats, axis=0)
        success = generator.random(len(rows)) < np.repeat(chance, repeats)
        states.append(check_additivity(Design.from_cells(rows, success.astype(float))).state)
    # The test of interaction is wrong once in a hundred times by design.
    assert states.count(AdditivityState.FAILS) <= 1


def test_without_replicates_failure_is_not_blamed_on_interaction():
    cells = every_cell((8, 8))
    check = check_additivity(Design.from_cells(cells, np.random.default_rng(0).standard_normal(64)))
    assert check.state == AdditivityState.NOT_SHOWN
    assert "No rows repeat, so noise and interaction cannot be told apart." in additivity_statement(check)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_expected_error_is_what_noise_alone_gives(weighted):
    """Simulate additive truth plus noise of unequal size; the mean squared leave-one-out error is the predicted one."""
    generator = np.random.default_rng(0)
    cells = np.delete(every_cell((5, 4)), [0, 7, 14], axis=0)
    variance = generator.uniform(0.5, 2.0, len(cells))
    weight = generator.integers(1, 50, len(cells)) if weighted else None
    features = Conjunctions((5, 4))
    expected = leave_one_out_noise(fit_additive(features, cells, np.zeros(len(cells)), weight), variance)

    def missed(values: np.ndarray) -> np.ndarray:
        return values - leave_one_out(fit_additive(features, cells, values, weight), values)[0]

    # Predictions are linear in the values, so unit vectors give the error of any noise.
    operator = np.stack([missed(unit) for unit in np.eye(len(cells))], axis=1)
    noise = generator.standard_normal((4_000, len(cells))) * np.sqrt(variance)
    assert noise[:20] @ operator.T == pytest.approx(np.stack([missed(row) for row in noise[:20]]), abs=1e-9)
    assert np.mean((noise @ operator.T) ** 2, axis=0) == pytest.approx(expected, rel=0.12)
