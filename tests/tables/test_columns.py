from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.tables.columns import Profile, check_factor, no_number, profile
from recombine.tables.frames import open_table

ROWS = 400


def test_profile_counts_what_pandas_counts(frame: pd.DataFrame) -> None:
    frame.loc[::10, "carrier"] = None
    rows, items = profile(open_table(frame), ["carrier", "hour"])
    assert rows == ROWS
    assert items[0] == Profile("carrier", "text", frame.carrier.nunique(), int(frame.carrier.isna().sum()))
    assert items[1] == Profile("hour", "integer", 12, 0)


def test_rows_are_counted_where_no_column_is_asked_for(frame: pd.DataFrame, written: Callable[..., Path]) -> None:
    for table in (frame, pl.from_pandas(frame), written(frame.to_csv(index=False))):
        assert profile(open_table(table), []) == (ROWS, [])


@pytest.mark.parametrize("empty", [pd.DataFrame({"a": [], "b": []}), pl.LazyFrame({"a": [], "b": []})], ids=type)
def test_a_header_without_rows(empty: object) -> None:
    with pytest.raises(InputError, match="the table has a header but no rows"):
        profile(open_table(empty), ["a"])


def test_check_factor() -> None:
    with pytest.raises(InputError, match=r"factor 'a' of t.csv has no values in any row"):
        check_factor(Profile("a", "text", 0, 10), "t.csv", insisted=True)
    mass = Profile("mass", "number", 3_000, 0)
    with pytest.raises(InputError, match=r"3,000 distinct values.*--numeric mass for a trend, or --as-levels mass"):
        check_factor(mass, "t.csv", insisted=False)
    check_factor(mass, "t.csv", insisted=True)
    check_factor(Profile("gene", "text", 30_000, 0), "t.csv", insisted=False)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "2", "x", "2"], ", because 1 row of 4 holds no number but x"),
        (["1", "y", "x", "2", "", "x", "3"], ", because 3 rows of 6 hold no number but x, y"),
        (["1", "y", "x"], ""),  # most are words
        (["1", "2", "3"], ""),
    ],
)
def test_what_keeps_a_column_from_being_numbers_is_named(tmp_path: Path, values: list[str], words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"k,{value}\n" for value in values))
    assert no_number(open_table(path), "y") == words
