from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.tables.frames import open_table
from recombine.tables.grouping import Columns, Groups, group, training_rows


def measured(seed: int = 0, rows: int = 120) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": generator.choice(list("xyz"), rows),
            "b": generator.integers(0, 4, rows),
            "y": generator.normal(1e4, 3.0, rows),
            "w": generator.uniform(0.5, 4.0, rows),
        }
    )


def cells_of(groups: Groups, name: str) -> dict[tuple[Any, ...], float]:
    """One attribute of the groups, by cell."""
    keys = zip(*(column.tolist() for column in groups.levels), strict=True)
    return dict(zip(keys, getattr(groups, name).tolist(), strict=True))


def test_mean_spread_and_freedom_are_those_of_pandas() -> None:
    frame = measured()
    groups = group(open_table(frame), Columns(("a", "b"), "y"))
    cells = frame.groupby(["a", "b"]).y
    assert cells_of(groups, "rows") == cells.size().to_dict()
    assert cells_of(groups, "freedom") == (cells.size() - 1).to_dict()
    assert cells_of(groups, "mean") == pytest.approx(cells.mean().to_dict(), rel=1e-13)
    assert cells_of(groups, "spread") == pytest.approx((cells.var(ddof=0) * cells.size()).to_dict(), rel=1e-9)


def test_weighted_mean_and_spread() -> None:
    frame = measured(1)
    groups = group(open_table(frame), Columns(("a", "b"), "y", weight="w"))
    for cell, part in frame.groupby(["a", "b"]):
        mean = np.average(part.y, weights=part.w)
        assert cells_of(groups, "mean")[cell] == pytest.approx(mean, rel=1e-13)
        assert cells_of(groups, "weight")[cell] == pytest.approx(part.w.sum(), rel=1e-13)
        assert cells_of(groups, "spread")[cell] == pytest.approx((part.w * (part.y - mean) ** 2).sum(), rel=1e-9)
        assert cells_of(groups, "freedom")[cell] == len(part) - 1


@pytest.mark.slow
@given(st.integers(0, 1000), st.integers(2, 60))
@settings(max_examples=15)
def test_an_aggregated_table_says_the_same_as_its_rows(seed: int, rows: int) -> None:
    """Means of batches with sd and count carry the same mean, spread and freedom as the measurements."""
    frame = measured(seed, rows)
    whole = group(open_table(frame), Columns(("a", "b"), "y"))
    batch = np.arange(rows) % 3
    summary = frame.groupby(["a", "b", batch]).y.agg(["mean", "std", "count"]).reset_index().fillna({"std": 0.0})
    parts = group(open_table(summary), Columns(("a", "b"), "mean", weight="count", sd="std"))
    for name in ("mean", "weight", "spread", "freedom"):
        assert cells_of(whole, name) == pytest.approx(cells_of(parts, name), rel=1e-9, abs=1e-9)


RATINGS = {"a": list("xxxzzz") * 2, "b": list("pppqqq") + list("qqqppp"), "y": [1, 2, 3] * 4, "n": range(1, 13)}


@pytest.mark.parametrize(
    ("change", "reading"),
    [
        ({}, "counts"),
        ({"y": ["no", "yes", "no"] * 4}, "counts"),
        ({"y": [0, 1, 0] * 4}, "counts"),
        ({"n": np.arange(12) + 0.5}, "means"),
        ({"y": np.arange(12) + 0.25}, "means"),
        ({"y": [3.5, 4.5, 5.5] * 4, "b": range(12)}, "means"),
    ],
    ids=["ratings", "text", "flags", "broken weights", "all values differ", "one row per cell"],
)
@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_counts_are_told_from_means(engine: Any, change: dict[str, Any], reading: str) -> None:
    groups = group(open_table(engine({**RATINGS, **change})), Columns(("a", "b"), "y", weight="n"))
    assert groups.rows_are == reading
    assert groups.two_values == ((0.0, 1.0) if len(set(change.get("y", range(5)))) == 2 else None)


def test_the_reading_of_weights_can_be_said() -> None:
    source = open_table(pd.DataFrame(RATINGS))
    counts, means = (group(source, Columns(("a", "b"), "y", weight="n"), counts) for counts in (True, False))
    assert cells_of(counts, "freedom") == {key: value - 1 for key, value in cells_of(counts, "weight").items()}
    assert set(cells_of(means, "freedom").values()) == {2.0}
    assert cells_of(counts, "spread") == cells_of(means, "spread")
    assert group(source, Columns(("a", "b"), "y")).rows_are == "measurements"


def test_what_cannot_be_counts_is_refused() -> None:
    frame = pd.DataFrame(RATINGS)
    with pytest.raises(InputError, match=r"has values that are not whole \(12 rows\)"):
        group(open_table(frame.assign(n=frame.n + 0.5)), Columns(("a", "b"), "y", weight="n"), True)
    with pytest.raises(InputError, match=r"rows with an sd \('s'\) are means, not counts"):
        group(open_table(frame.assign(s=1.0)), Columns(("a", "b"), "y", weight="n", sd="s"), True)


def test_a_count_of_none_is_no_row_and_nothing_is_missing() -> None:
    frame = pd.DataFrame(RATINGS).assign(n=[0, 0, 0, *range(9)])
    groups = group(open_table(frame), Columns(("a", "b"), "y", weight="n"))
    assert not any(groups.left_out.values())
    assert cells_of(groups, "rows") == {("z", "q"): 3, ("x", "q"): 12, ("z", "p"): 21}


def test_split_keeps_training_and_held_out_apart() -> None:
    frame = measured(2).assign(part=["train", "test", "test"] * 40)
    groups = group(open_table(frame), Columns(("a", "b"), "y", split="part"))
    assert groups.split is not None
    expected = frame.groupby(["a", "b", "part"]).size().to_dict()
    found = {(a, b, part): rows for a, b, part, rows in zip(*groups.levels, groups.split, groups.rows, strict=True)}
    assert found == expected


@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_rows_left_out_are_counted_by_reason(engine: Any) -> None:
    nothing = float("nan")
    table = {
        "a": ["x", None, "x", "z", "z", "x", "z", "z"],
        "b": ["p", "p", "q", "p", "q", "q", "p", "q"],
        "y": [1.0, 2.0, nothing, float("inf"), 5.0, 6.0, 7.0, 1e200],
        "w": [1.0, 1.0, 1.0, 1.0, 0.0, -2.0, nothing, 1.0],
    }
    groups = group(open_table(engine(table)), Columns(("a", "b"), "y", weight="w"))
    assert groups.left_out == {
        "no value of 'a'": 1,
        "no value of 'b'": 0,
        "no usable outcome 'y'": 3,
        "no usable weight 'w'": 2,
    }
    assert [column.tolist() for column in groups.levels] == [["x"], ["p"]]


def test_a_missing_number_as_a_level_is_missing_in_every_engine() -> None:
    for table in [pd.DataFrame, pl.DataFrame, pl.LazyFrame]:
        frame = table({"a": [1.0, float("nan"), 2.0], "b": ["p", "q", "q"]})
        groups = group(open_table(frame), Columns(("a", "b")))
        assert groups.left_out["no value of 'a'"] == 1
        assert sorted(groups.levels[0].tolist()) == [1.0, 2.0]


def test_no_usable_row_says_why() -> None:
    frame = pd.DataFrame({"a": ["x", "z"], "b": ["p", "q"], "y": [np.nan, np.inf]})
    with pytest.raises(InputError, match=r"no usable row \(2 rows have no usable outcome 'y'\)"):
        group(open_table(frame), Columns(("a", "b"), "y"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["no", "yes", "maybe"], r"is text with 3 values \(maybe, no, yes\); give a numeric column"),
        (["no"] * 3, "is text with 1 values"),
        ([f"t{i}" for i in range(90)], "is text with 50 or more values"),
    ],
)
def test_text_outcomes_that_cannot_be_coded(values: list[Any], message: str) -> None:
    frame = pl.DataFrame({"a": range(len(values)), "b": range(len(values)), "y": values}, schema_overrides={"y": str})
    with pytest.raises(InputError, match=f"outcome 'y' of the table {message}"):
        group(open_table(frame), Columns(("a", "b"), "y"))


@pytest.mark.parametrize(
    ("values", "labels", "expected"),
    [
        (["yes", "no", "no", None], ("no", "yes"), [1.0, 0.0, 0.0]),
        ([True, False, False, None], ("False", "True"), [1.0, 0.0, 0.0]),
        (pd.Categorical(["yes", "no", "no", None]), ("no", "yes"), [1.0, 0.0, 0.0]),
        (pd.array([True, False, False, None], dtype="boolean"), None, [1.0, 0.0, 0.0]),
    ],
    ids=["text", "objects", "categories", "flags"],
)
def test_two_valued_outcomes_are_coded_0_and_1(values: Any, labels: Any, expected: list[float]) -> None:
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "y": values})
    groups = group(open_table(frame), Columns(("a", "b"), "y"))
    assert groups.labels == labels
    assert groups.mean is not None
    assert groups.mean[np.argsort(groups.levels[0])].tolist() == expected


def test_outcomes_of_other_kinds_are_refused() -> None:
    from decimal import Decimal

    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2]})
    with pytest.raises(InputError, match="outcome 'y' of the table is of kind date, which cannot be averaged"):
        group(open_table(frame.assign(y=pd.to_datetime(["2020-01-01", "2021-01-01"]))), Columns(("a", "b"), "y"))
    with pytest.raises(InputError, match="holds Decimal objects; convert it"):
        group(open_table(frame.assign(y=[Decimal("1"), Decimal("2")])), Columns(("a", "b"), "y"))


def test_weight_and_sd_must_be_numbers_and_sd_needs_a_count() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "y": [1.0, 2.0], "s": [1.0, 2.0], "t": ["u", "v"]})
    with pytest.raises(InputError, match="weight 't' of the table is text; it must be a number"):
        group(open_table(frame), Columns(("a", "b"), "y", weight="t"))
    with pytest.raises(InputError, match=r"sd 's' .* not how many there are; name the column of counts with --weight"):
        group(open_table(frame), Columns(("a", "b"), "y", sd="s"))


def test_a_negative_sd_is_left_out() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "y": [1.0, 2.0], "s": [-1.0, 0.0], "n": [3, 3]})
    groups = group(open_table(frame), Columns(("a", "b"), "y", weight="n", sd="s"))
    assert groups.left_out["no usable sd 's'"] == 1
    assert groups.levels[0].tolist() == [2]


def test_factor_columns_may_have_any_name() -> None:
    frame = pd.DataFrame({"rows": list("xyxy"), "select": list("ppqq"), 'a "quoted" name': [1, 2, 3, 4], "n0": [1] * 4})
    groups = group(open_table(frame), Columns(("rows", "select"), 'a "quoted" name', weight="n0"))
    assert len(groups.rows) == 4


@pytest.mark.parametrize(
    ("split", "value", "expected"),
    [
        (["train", "test"], None, [True, False]),
        (["TRAINING", "dev"], None, [True, False]),
        ([1, 0], None, [True, False]),
        ([0.0, 1.0], None, [False, True]),
        ([True, False], None, [True, False]),
        (["2019", "2020"], "2019", [True, False]),
        ([2019, 2020], "2020", [False, True]),
    ],
)
def test_training_rows(split: list[Any], value: str | None, expected: list[bool]) -> None:
    assert training_rows(np.array(split), "part", value).tolist() == expected


def test_training_rows_asks_when_it_cannot_tell() -> None:
    with pytest.raises(InputError, match=r"has the values u, v; say which one is training: part=u, for instance"):
        training_rows(np.array(["u", "v"]), "part", None)
    for values in (["train", "fit"], [1, 2, 3, 4, 5]):
        with pytest.raises(InputError, match="say which one is training"):
            training_rows(np.array(values), "part", None)
    with pytest.raises(InputError, match="has no value 'trian'; did you mean 'train'"):
        training_rows(np.array(["train", "test"]), "part", "trian")


def test_an_outcome_without_a_value_leaves_no_row():
    frame = pd.DataFrame({"a": ["x", "z", "x"], "b": ["p", "q", "q"], "y": [None, None, None]})
    with pytest.raises(InputError, match=r"no usable row .3 rows have no usable outcome 'y'"):
        group(open_table(frame), Columns(("a", "b"), "y"))
