"""The probe: verdicts on models whose dependence is known, one answer from every kind of table, and bad input."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.jobs.probe.counts import bin_cuts, count_rows
from recombine.jobs.probe.probe import MIN_PERMUTATIONS
from recombine.measures.dependence.columns import conditional_information
from recombine.tables.frames import open_table
from recombine.words import dependence_sentence, probe_notes


@pytest.fixture(scope="module")
def frame(predictions: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    return predictions()


@pytest.fixture
def table(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "guesses.csv"
    frame.to_csv(path, index=False)
    return path


ASKED: dict[str, Any] = {"prediction": "guess", "outcome": "digit", "factors": ["size", "colour", "site"]}


def test_the_factor_that_is_copied_is_found_and_comes_first(frame: pd.DataFrame) -> None:
    found = rc.probe(frame, **ASKED)
    assert found.depends == ("colour",)
    assert found.table["factor"][0] == "colour"
    assert found.table["verdict"].tolist() == ["depends", *["no dependence found"] * 2]
    row = next(found.table.rows())
    assert row["bits"] == pytest.approx(conditional_information(frame["guess"], frame["colour"], frame["digit"]))
    assert row["excess"] == pytest.approx(row["bits"] - row["null"])
    assert row["share"] == pytest.approx(row["excess"] / found.left_open)
    assert "guess depends on colour beyond digit" in " ".join(str(found).split())


def test_p_values_are_adjusted_as_holm_does(frame: pd.DataFrame) -> None:
    found = rc.probe(frame, **ASKED).table
    # By definition: a hypothesis falls at a level if it and all with smaller p-values pass their share of it.
    for level in np.linspace(0.001, 0.999, 500):
        shares = level / (3 - np.arange(3))
        fallen = int(np.cumprod(np.sort(found["p"]) <= shares).sum())
        assert sum(found["adjusted p"] <= level) == fallen


def test_every_kind_of_table_gives_the_same_answer(frame: pd.DataFrame, table: Path, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "guesses.parquet")
    expected = rc.probe(frame, **ASKED)
    tables = [str(table), tmp_path / "guesses.parquet", pl.from_pandas(frame), pl.from_pandas(frame).lazy()]
    for data in tables:
        found = rc.probe(data, **ASKED)
        assert found.table["factor"].tolist() == expected.table["factor"].tolist()
        for column in ("bits", "null", "p"):
            np.testing.assert_allclose(found.table[column], expected.table[column], atol=1e-12)
        assert found.rows == 4000


def test_the_seed_fixes_the_answer_and_the_order_of_factors_does_not_matter_to_the_estimates(
    frame: pd.DataFrame,
) -> None:
    one, two = (rc.probe(frame, **ASKED, seed=seed) for seed in (1, 2))
    assert repr(rc.probe(frame, **ASKED, seed=1).table) == repr(one.table)
    assert one.table["null"].tolist() != two.table["null"].tolist()
    assert dict(zip(one.table["factor"], one.table["bits"], strict=True)) == dict(
        zip(two.table["factor"], two.table["bits"], strict=True)
    )


def test_several_columns_may_be_given(frame: pd.DataFrame) -> None:
    # Digit and colour together settle all that the prediction depends on.
    found = rc.probe(frame, prediction="guess", factor=["digit", "colour"], factors=["size", "site"])
    assert found.depends == ()
    assert found.tests[0].test.levels[2] == 25


def test_factors_are_guessed_and_the_guess_is_marked(frame: pd.DataFrame) -> None:
    found = rc.probe(frame.assign(note=np.arange(len(frame)) / 7), prediction="guess", outcome="digit")
    assert {item.factor for item in found.tests} == {"colour", "size", "site"}
    assert "The factors are a guess" in str(found)


def test_a_confounded_factor_cannot_be_judged_and_does_not_cost_the_others(frame: pd.DataFrame) -> None:
    found = rc.probe(frame.assign(twin=frame["digit"] * 2), "guess", outcome="digit", factors=["twin", "colour"])
    assert found.table["verdict"].tolist() == ["depends", "cannot tell"]
    assert found.table["adjusted p"][0] == found.table["p"][0]
    assert "cannot be told" in dependence_sentence(found, found.tests[1])


def test_rows_that_vary_nowhere_are_said_to_tell_nothing(frame: pd.DataFrame) -> None:
    site = np.where(frame["digit"] < 2, "a", frame["site"])
    found = rc.probe(frame.assign(site=site), "guess", outcome="digit", factors=["site"])
    share = np.mean(frame["digit"] >= 2)
    assert f"site varies at some levels of digit only: {100 * share:.0f} % of the rows can tell" in probe_notes(found)


def test_measurements_are_cut_into_bins_and_labels_are_not(frame: pd.DataFrame) -> None:
    generator = np.random.default_rng(1)
    number = frame["digit"] + 0.3 * frame["size"] + generator.normal(size=len(frame))
    many = frame.assign(guess=number, code=generator.integers(150, size=len(frame)))
    found = rc.probe(many, "guess", outcome="digit", factors=["size", "code"])
    assert found.depends == ("size",)
    assert found.tests[0].test.levels[0] == 10
    assert "guess was cut into 10 bins of about equal counts" in probe_notes(found)
    assert "code was cut into 10 bins of about equal counts" in probe_notes(found)
    labels = rc.probe(many, "guess", outcome="digit", factors=["size", "code"], as_levels=["code"], bins=4)
    assert {item.factor: item.test.levels[1] for item in labels.tests} == {"size": 5, "code": 150}
    assert labels.tests[0].test.levels[0] == 4


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("bins", [2, 3, 10, 64, 999])
def test_bins_hold_the_rows_between_their_cuts(make: Callable[..., Any], bins: int) -> None:
    values = np.random.default_rng(bins).normal(size=4000).round(2)
    source = open_table(make({"y": np.r_[values, np.nan, np.inf]}))
    _, cuts = bin_cuts(source, ["y"], (), bins)
    codes, counts = count_rows(source, ["y"], cuts)
    expected = np.bincount(np.searchsorted(cuts["y"], values, side="left"))
    order = np.argsort(codes[:, 0])
    np.testing.assert_array_equal(counts[order], expected[expected > 0])


def test_more_bins_than_values_part_every_value_and_too_many_are_refused() -> None:
    values = np.random.default_rng(0).permutation(np.repeat(np.linspace(0, 1, 90), 3))
    frame = pd.DataFrame({"y": values, "a": np.arange(270) % 2, "b": np.arange(270) // 2 % 2})
    tested = rc.probe(frame, "y", factor="a", factors=["b"], bins=10**12).tests[0].test
    assert tested.levels[0] == 90
    many = pd.DataFrame({"y": np.arange(9000) / 7, "a": np.arange(9000) % 2, "b": np.arange(9000) // 2 % 2})
    with pytest.raises(InputError, match=r"y would be cut into 3,000 bins, and at most 1,000 .*--as-levels y"):
        rc.probe(many, "y", factor="a", factors=["b"], bins=3000)


def test_a_given_measurement_is_binned_with_a_warning(frame: pd.DataFrame) -> None:
    generator = np.random.default_rng(2)
    outcome = generator.normal(size=len(frame))
    guess = outcome + 0.2 * generator.normal(size=len(frame))
    found = rc.probe(frame.assign(y=outcome, guess=guess), "guess", outcome="y", factors=["size"])
    assert found.depends == ()
    assert any("takes the blame" in note for note in probe_notes(found))


def test_missing_values_are_left_out_by_factor_and_counted(frame: pd.DataFrame, tmp_path: Path) -> None:
    holes = frame.copy()
    holes.loc[:9, "site"] = None
    holes["guess"] = holes["guess"].astype(float)
    holes.loc[5:7, "guess"] = np.nan
    holes.to_csv(tmp_path / "holes.csv", index=False)
    categories = pl.from_pandas(holes).with_columns(pl.col("site").cast(pl.Categorical)).to_arrow()
    for data in (holes, tmp_path / "holes.csv", pl.from_pandas(holes), categories):
        found = rc.probe(data, **ASKED)
        rows = dict(zip(found.table["factor"], found.table["rows"], strict=True))
        assert rows == {"colour": 3997, "size": 3997, "site": 3990}
        assert "3 rows without a value of guess or digit were left out" in probe_notes(found)
        assert "7 rows without a value of site were left out" in probe_notes(found)


def test_many_factors_get_more_shuffles(predictions: Callable[..., pd.DataFrame]) -> None:
    frame = predictions(400)
    names = [f"f{place}" for place in range(12)]
    noise = np.random.default_rng(3).integers(2, size=(400, 12))
    frame = pd.concat([frame, pd.DataFrame(noise, columns=names)], axis=1)
    assert rc.probe(frame, "guess", outcome="digit", factors=names).permutations == 960
    assert rc.probe(frame, "guess", outcome="digit", factors=names[:2]).permutations == MIN_PERMUTATIONS
    with pytest.raises(InputError, match=r"200 permutations cannot show anything .* use at least 239"):
        rc.probe(frame, "guess", outcome="digit", factors=names, permutations=200)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"guess": 3}, "prediction 'guess' of the table has the same value in every row"),
        ({"digit": 3}, "given column 'digit' of the table has one level only"),
        ({"site": "a"}, "factor 'site' of the table has one level only; leave it out"),
        ({"site": None}, "no row with a value of guess and digit and site"),
        ({"site": [f"s{row}" for row in range(50)] * 2}, "100 rows for the 250 cells of digit × site"),
        ({"guess": [f"g{row}" for row in range(100)]}, "has 100 values in 100 rows, too many"),
    ],
)
def test_tables_that_cannot_tell_anything(
    change: dict[str, Any], words: str, predictions: Callable[..., pd.DataFrame]
) -> None:
    frame = predictions(100).assign(**change)
    with pytest.raises(InputError, match=re.escape(words)):
        rc.probe(frame, "guess", outcome="digit", factors=["site"])


def test_ordered_and_numeric_factors_are_tested_and_sequences_are_said_not_to_be(frame: pd.DataFrame) -> None:
    wide = frame.assign(dose=np.arange(len(frame)) % 7 * 2.5, age=np.arange(len(frame)) % 331 / 3, variant="AC")
    spec = rc.TableSpec(factors=("size", "dose"), ordered=("dose",), numeric=("age",), sequence="variant")
    result = rc.probe(wide, "guess", spec, outcome="digit")
    assert sorted(item.factor for item in result.tests) == ["age", "dose", "size"]
    assert result.bins["age"] == 10
    assert any(note.startswith("variant was not tested: a sequence is many factors") for note in probe_notes(result))
