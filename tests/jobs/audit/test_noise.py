"""Counts against the rows they stand for, the classical test against textbook numbers, and the noise of two values."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.noise import NoiseSource, cell_noise, lack_of_fit_test
from recombine.report.audit.record import audit_record
from recombine.theory.identification.additive_fit import fit_additive
from recombine.words.additivity import additivity_statement

CLASSES = ["1st", "2nd", "3rd", "Crew"]
#: Passengers of the Titanic by class (fastest), sex, age and survival.
TITANIC = [0, 0, 35, 0, 0, 0, 17, 0, 118, 154, 387, 670, 4, 13, 89, 3]
TITANIC += [5, 11, 13, 0, 1, 13, 14, 0, 57, 14, 75, 192, 140, 80, 76, 20]
#: Applicants to Berkeley's graduate school in 1973 by admission (fastest), gender and department.
BERKELEY = [
    512,
    313,
    89,
    19,
    353,
    207,
    17,
    8,
    120,
    205,
    202,
    391,
    138,
    279,
    131,
    244,
    53,
    138,
    94,
    299,
    22,
    351,
    24,
    317,
]
#: Statistics students by hair (fastest), eyes and sex.
HAIR_EYE = [32, 53, 10, 3, 11, 50, 10, 30, 10, 25, 7, 5, 3, 15, 7, 8]
HAIR_EYE += [36, 66, 16, 4, 9, 34, 7, 64, 5, 29, 7, 5, 2, 14, 7, 8]
#: Breaks of yarn on nine looms for each of two wools at three tensions.
BREAKS = {
    ("A", "L"): [26, 30, 54, 25, 70, 52, 51, 26, 67],
    ("A", "M"): [18, 21, 29, 17, 12, 18, 35, 30, 36],
    ("A", "H"): [36, 21, 24, 18, 10, 43, 28, 15, 26],
    ("B", "L"): [27, 14, 29, 19, 29, 31, 41, 20, 44],
    ("B", "M"): [42, 26, 19, 16, 39, 28, 21, 39, 29],
    ("B", "H"): [20, 21, 24, 17, 13, 15, 15, 16, 28],
}


def counted(counts: list[int], **columns: list[str]) -> pd.DataFrame:
    """A table of counts; the first column varies fastest."""
    rows = [row[::-1] for row in itertools.product(*reversed(columns.values()))]
    return pd.DataFrame(rows, columns=list(columns)).assign(n=counts)


TABLES = {
    "Titanic": counted(TITANIC, a=CLASSES, b=["Male", "Female"], c=["Child", "Adult"], y=["No", "Yes"]),
    "Berkeley": counted(BERKELEY, y=["Admitted", "Rejected"], a=["Male", "Female"], b=list("ABCDEF")),
    "hair and eyes": counted(
        HAIR_EYE, a=["Black", "Brown", "Red", "Blond"], b=["Brown", "Blue", "Hazel", "Green"], y=["Male", "Female"]
    ),
}


def expanded(table: pd.DataFrame) -> pd.DataFrame:
    """One row per measurement."""
    return table.loc[table.index.repeat(table["n"])].drop(columns="n").reset_index(drop=True)


def assert_same(left: Any, right: Any, where: str = "") -> None:
    """Compare records up to rounding."""
    if isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for key in left:
            assert_same(left[key], right[key], f"{where}.{key}")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for place, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(left, float):
        assert left == pytest.approx(right, rel=1e-7, abs=1e-9, nan_ok=True), where
    else:
        assert left == right, where


def everything_said(frame: pd.DataFrame, names: list[str], **options: Any) -> dict[str, Any]:
    """All that the audit says, but how the rows were read."""
    audit = rc.audit(rc.Design.from_frame(frame, factors=names, outcome="y", **options))
    record = audit_record(audit, audit.plan(3))
    assert record.pop("rows_are") == ("counts" if "weight" in options else "measurements")
    assert record.pop("table").get("weight") == options.get("weight")
    record.pop("reading")
    assert record["answer"].pop(0).startswith("Read: ")
    return record


@pytest.mark.parametrize("name", TABLES)
def test_counts_say_what_their_rows_say(name):
    table = TABLES[name]
    names = [column for column in table if column not in ("y", "n")]
    assert_same(everything_said(table, names, weight="n"), everything_said(expanded(table), names))


@st.composite
def count_tables(draw):
    """Counts of a two- or few-valued outcome by two or three factors."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    values = draw(st.sampled_from([["no", "yes"], [0, 1], [3.5, 8.0], [1, 2, 3, 4, 5]]))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    cells = every_cell(sizes)
    rows = [[f"l{level}" for level in cell] + [value] for cell in cells for value in values]
    counts = generator.poisson(draw(st.sampled_from([0.8, 4.0, 30.0])), len(rows))
    return pd.DataFrame(rows, columns=[*list("abc")[: len(sizes)], "y"]).assign(n=counts)


@pytest.mark.slow
@given(count_tables())
@settings(max_examples=6)
def test_any_counts_say_what_their_rows_say(table):
    names = [column for column in table if column not in ("y", "n")]
    rows = expanded(table)
    if any(rows[name].nunique() < 2 for name in [*names, "y"]):
        return
    assert_same(everything_said(table, names, weight="n", counts=True), everything_said(rows, names))


def warpbreaks() -> rc.Design:
    rows = [(*cell, count) for cell, counts in BREAKS.items() for count in counts]
    return rc.Design.from_frame(
        pd.DataFrame(rows, columns=["wool", "tension", "breaks"]), factors=["wool", "tension"], outcome="breaks"
    )


def test_a_replicated_factorial_gets_the_classical_test():
    """In R, anova(lm(breaks ~ wool * tension)) gives F = 4.1891, p = 0.02104 on 2 and 48 degrees of freedom."""
    audit = rc.audit(warpbreaks())
    test = audit.structure.additivity.at(1).lack_of_fit
    assert test.freedom == (2, 48)
    assert test.statistic == pytest.approx(4.1891, abs=5e-5)
    assert test.p_value == pytest.approx(0.02104, abs=5e-6)
    assert audit.structure.additivity.state == AdditivityState.NOT_SHOWN
    assert "F(2, 48) = 4.19, p = 0.021" in audit.summary
    assert [finding.code for finding in audit.findings] == ["RC303"]
    assert audit_record(audit)["additivity"]["lack_of_fit"]["statistic"] == test.statistic


def test_the_test_of_a_factorial_is_that_of_its_interactions():
    """Sums of squares by hand: balanced data, so that main effects and interaction are orthogonal."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((3, 4, 5)) + generator.standard_normal((3, 4, 1))
    cells = np.array([[i, j] for i in range(3) for j in range(4) for _ in range(5)])
    test = lack_of_fit_test(rc.Design.from_cells(cells, values.reshape(-1)))
    means = values.mean(axis=2)
    rest = means - means.mean(axis=1, keepdims=True) - means.mean(axis=0, keepdims=True) + means.mean()
    noise = ((values - means[..., None]) ** 2).sum() / 48
    assert test.statistic == pytest.approx(5 * (rest**2).sum() / 6 / noise)
    assert test.p_value == pytest.approx(stats.f.sf(test.statistic, 6, 48))
    assert test.departure == pytest.approx(np.sqrt(max(5 * (rest**2).sum() - 6 * noise, 0) / 60))
    # The least share is where a departure would have shown up nineteen times in twenty.
    between = 5 * ((means - means.mean()) ** 2).sum() - 11 * noise
    assert test.share == pytest.approx(1 - max(5 * (rest**2).sum() - 6 * noise, 0) / between)
    most = (1 - test.least_share) * between / noise
    assert stats.ncf.cdf(test.statistic, 6, 48, most) == pytest.approx(0.05, abs=1e-5)


def test_cells_that_are_a_sum_leave_no_other_share_possible():
    cells = np.repeat(every_cell((3, 3)), 2, axis=0)
    design = rc.Design.from_cells(cells, cells @ [1.0, 0.25] + np.tile([-0.125, 0.125], 9))
    fit = fit_additive(design.features(1), design.seen, design.outcome, design.precision)
    test = lack_of_fit_test(design, fit=replace(fit, fitted=design.outcome))
    assert (test.statistic, test.p_value, test.departure) == (0.0, 1.0, 0.0)
    assert (test.share, test.least_share) == (1.0, 1.0)


def test_there_is_no_test_without_rows_that_repeat_or_cells_to_spare():
    square = every_cell((2, 2))
    assert lack_of_fit_test(rc.Design.from_cells(square, [1.0, 2.0, 3.0, 5.0])) is None
    assert lack_of_fit_test(rc.Design.from_cells(np.repeat(square[:3], 2, axis=0), [1.0, 2, 3, 5, 7, 9])) is None
    assert lack_of_fit_test(rc.Design.from_cells(np.repeat(square, 2, axis=0), np.repeat([1.0, 2, 3, 5], 2))) is None


def test_two_valued_replicates_have_the_noise_of_their_chance():
    """Many rows per cell: each cell's variance is p (1 - p) / n, whatever the pooled variance is."""
    generator = np.random.default_rng(0)
    cells = every_cell((3, 3))
    chance = np.array([0.05, 0.25, 0.4])[cells[:, 0]] + np.array([0.0, 0.1, 0.5])[cells[:, 1]]
    counts = np.array([400, 900, 1600])[cells[:, 1]]
    rows = np.repeat(cells, counts, axis=0)
    success = (generator.random(len(rows)) < np.repeat(chance, counts)).astype(float)
    noise = cell_noise(rc.Design.from_cells(rows, success))
    assert noise.source is NoiseSource.TWO_VALUES_REPLICATES
    assert noise.variances == pytest.approx(chance * (1 - chance) / counts, rel=0.15)


def test_noise_of_two_values_is_pooled_noise_shared_out_by_chances():
    """Its mean over rows that repeat is the pooled variance, its shape p (1 - p), whatever the values are called."""
    generator = np.random.default_rng(7)
    cells = every_cell((3, 4))
    counts = generator.integers(1, 9, len(cells))
    rows = np.repeat(cells, counts, axis=0)
    success = (generator.random(len(rows)) < 0.2 + 0.15 * rows[:, 0] + 0.1 * rows[:, 1]).astype(float)
    design = rc.Design.from_cells(rows, success)
    noise = cell_noise(design)
    single, freedom = noise.variances * counts, counts - 1
    within = np.sum((success - np.repeat(design.outcome, counts)) ** 2)
    assert noise.freedom == freedom.sum()
    assert freedom @ single == pytest.approx(within)
    # A cell's chance: its own tries but one, and the sum of effects for as much as four.
    dummies = np.concatenate([np.eye(3)[rows[:, 0]], np.eye(4)[rows[:, 1]]], axis=1)
    effects = np.linalg.lstsq(dummies, success, rcond=None)[0]
    fitted = np.clip(effects[cells[:, 0]] + effects[3 + cells[:, 1]], 0.1 * success.mean(), 0.9 + 0.1 * success.mean())
    chance = (freedom * design.outcome + 4 * fitted) / (freedom + 4)
    np.testing.assert_allclose(single / single.sum(), chance * (1 - chance) / (chance * (1 - chance)).sum())
    other_way = cell_noise(rc.Design.from_cells(rows, 5 - 3 * success))
    np.testing.assert_allclose(other_way.variances, 9 * noise.variances)


@pytest.mark.slow
@pytest.mark.parametrize("values", [(0.0, 1.0), (2.0, 7.0)])
def test_one_row_per_cell_of_two_values_has_at_most_that_noise(values):
    """One try per cell of chances that add: noise is known to be at most p (1 - p), and additivity is left open."""
    low, high = values
    generator = np.random.default_rng(1)
    cells = every_cell((24, 60))
    chance = np.linspace(0.1, 0.5, 24)[cells[:, 0]] + np.linspace(0.0, 0.4, 60)[cells[:, 1]]
    success = low + (high - low) * (generator.random(len(cells)) < chance)
    audit = rc.audit(rc.Design.from_cells(cells, success))
    check = audit.structure.additivity.at(1)
    assert audit.structure.additivity.noise.at_most
    assert check.noise == pytest.approx((high - low) * np.sqrt(np.mean(chance * (1 - chance))), rel=0.03)
    assert audit.structure.additivity.state == AdditivityState.UNCHECKED
    assert "chance alone would put the model of a two-valued outcome off by up to" in additivity_statement(
        audit.structure.additivity
    )
    assert "RC301" not in [finding.code for finding in audit.findings]


def test_the_noise_of_one_row_per_cell_is_not_taken_off():
    """Two values that only interact: were p (1 - p) taken off, nothing would be left to explain, and `holds` said."""
    cells = every_cell((8, 8))
    generator = np.random.default_rng(2)
    check = rc.audit(rc.Design.from_cells(cells, generator.integers(0, 2, 64).astype(float))).structure.additivity
    assert check.state in (AdditivityState.UNCHECKED, AdditivityState.NOT_SHOWN)


def test_chances_beyond_0_and_1_are_given_as_the_nearer_end_and_marked():
    cells = [cell for cell in every_cell((3, 3)).tolist() if cell != [2, 2]]
    chance = np.array([0.1, 0.3, 0.9])
    rows = np.repeat(cells, 100, axis=0)
    success = [float(k < 100 * min(max(chance[i], chance[j]), 1)) for i, j in cells for k in range(100)]
    audit = rc.audit(rc.Design.from_cells(rows, success))
    assert audit.values.fit.predict([[2, 2]])[0] > 1.1
    row = next(audit.verdicts.rows())
    assert row["predicted"] == 1.0
    assert row["sum out of range"]
    sentence = "1 of 1 certified values would lie outside 0 to 1"
    assert sentence in " ".join(audit.summary.split())
    assert audit_record(audit)["additivity"]["out_of_range"] == 1
    assert "sum out of range" not in rc.audit(warpbreaks()).verdicts.columns


def test_the_level_of_the_test_survives_two_values():
    """Chances that add, 2 to 12 tries each: where nothing interacts one test in a hundred may be at most 0.01."""
    values = []
    for seed in range(200):
        generator = np.random.default_rng(seed)
        cells = every_cell((4, 5))
        chance = generator.uniform(0.02, 0.5, 4)[cells[:, 0]] + generator.uniform(0.0, 0.45, 5)[cells[:, 1]]
        counts = generator.integers(2, 13, len(cells))
        success = generator.binomial(1, np.repeat(chance, counts)).astype(float)
        test = lack_of_fit_test(rc.Design.from_cells(np.repeat(cells, counts, axis=0), success))
        values.append(test.p_value)
    assert np.mean(np.array(values) <= 0.01) <= 0.03
    assert np.mean(np.array(values) <= 0.05) <= 0.09


def test_two_values_of_which_training_has_one_have_no_noise_there():
    cells = np.repeat(every_cell((3, 3)), 2, axis=0)
    held_out = (cells == 2).any(axis=1)
    design = rc.Design.from_cells(cells, held_out.astype(float), train=~held_out)
    noise = cell_noise(design)
    assert noise is not None
    assert noise.variances.tolist() == [0.0] * 4
