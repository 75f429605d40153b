"""Successes of trials: the same table as one row per trial, and refusals that name the row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.table_spec import TableSpec
from recombine.tables.frames import open_table
from recombine.tables.trials import count_trials


def arms() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame([(page, who) for page in "abcd" for who in "uvwxy"], columns=["page", "who"])
    frame["visitors"] = rng.integers(5, 60, size=len(frame))
    frame["bought"] = rng.binomial(frame["visitors"], 0.3)
    return frame.drop(index=[3, 8, 14])


def test_counts_of_successes_are_the_rows_of_single_trials(tmp_path: Path) -> None:
    counted = arms()
    counted.to_csv(tmp_path / "arms.csv", index=False)
    single = counted.loc[counted.index.repeat(counted["visitors"])].reset_index(drop=True)
    order = single.groupby(["page", "who"]).cumcount()
    single["y"] = (order < single["bought"]).astype(int)
    expected = rc.audit(single[["page", "who", "y"]], outcome="y", factors=["page", "who"], forecast="theory")
    for data in (counted, tmp_path / "arms.csv", counted.to_dict("list")):
        audit = rc.audit(data, outcome="bought/visitors", factors=["page", "who"], forecast="theory")
        assert audit.design.observed.rows.sum() == counted["visitors"].sum()
        for name in ("verdict", "predicted", "low", "high", "certified"):
            told, truth = audit.verdicts[name], expected.verdicts[name]
            assert (told == truth).all() if name == "verdict" else np.allclose(told, truth, equal_nan=True), name


def test_a_column_of_that_name_is_itself() -> None:
    source = open_table({"bought/visitors": [0.5], "bought": [1], "visitors": [2]})
    spec = TableSpec(outcome="bought/visitors")
    assert count_trials(source, spec) == (source, spec)


def test_arms_without_failures_or_without_numbers() -> None:
    columns = {"page": ["a", "b", "c", "d"], "won": [2.0, 0.0, np.nan, 0.0], "of": [2.0, 3.0, 4.0, 0.0]}
    table, _ = count_trials(open_table(columns), TableSpec(outcome="won/of"))
    read = table.read(table.columns)
    rows = list(zip(read["page"], read["won/of"], read["of"], strict=True))
    assert rows[:2] == [("a", 1.0, 2.0), ("b", 0.0, 3.0)]
    assert {page for page, *_ in rows[2:]} == {"c"}
    assert all(np.isnan(won) for _, won, _ in rows[2:])


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ({"won": [3], "of": [2]}, {}, "won is 3 of 2 of in row 1"),
        ({"page": [], "won": [], "of": []}, {}, "the table has no usable row"),
        ({"won": [0.5], "of": [2]}, {}, "'won' of the table has other values than counts"),
        ({"won": [-1], "of": [2]}, {}, "other values than counts"),
        ({"won": ["x"], "of": [2]}, {}, "other values than counts"),
        ({"won": [1], "of": [2], "n": [3]}, {"weight": "n"}, "leave --weight and --sd out"),
    ],
)
def test_refusals(columns: dict[str, list[Any]], more: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        count_trials(open_table({"page": ["a"], **columns}), TableSpec(outcome="won/of", **more))
