from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from recombine.errors import InputError
from recombine.tables.frames import count_of, open_table
from recombine.tables.text_files import split_names

Writer = Callable[..., Path]

GOOD = "colour,shape,y\nred,cube,1.5\nblue,ball,2\n"


def test_kinds_of_a_text_file(written: Writer) -> None:
    text = "t,f,i,x,d,none\na,true,1,1.5,2020-01-01,\nb,false,2,2,2020-01-02,\n"
    kinds = open_table(written(text)).kinds
    assert kinds == {"t": "text", "f": "text", "i": "integer", "x": "number", "d": "date", "none": "text"}


def test_kinds_of_a_dataframe() -> None:
    frame = pl.DataFrame(
        {"t": ["a"], "f": [True], "i": [1], "x": [1.5], "l": [[1]]}, schema_overrides={"i": pl.UInt8}
    ).with_columns(pl.lit("2020-01-01").str.to_date().alias("d"), pl.col("t").cast(pl.Categorical).alias("c"))
    kinds = open_table(frame).kinds
    assert kinds == {
        "t": "text", "f": "flag", "i": "integer", "x": "number", "l": "other", "d": "date", "c": "text"
    }  # fmt: skip


@pytest.mark.parametrize("word", ["", "NA", "NaN", "nan"])
def test_missing_words_leave_a_column_numeric(written: Writer, word: str) -> None:
    source = open_table(written(f"a,y\nx,1\nz,{word}\n"))
    assert source.kinds["y"] == "integer"
    assert source.read(["y"])["y"].tolist() == ["1", None]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "t.csv is empty; it needs a header"),
        ("t.xlsx", GOOD, "t.xlsx is text by its content; name it t.csv"),
        ("t", GOOD, "t is not a CSV"),
        ("t.csv", b"\x80\x81\x00" * 500, "is not a text table"),
        (
            "t.csv",
            "a,b\nü,2\n".encode() + "café,1\n".encode("latin-1"),
            "not in one encoding .*line 2.; save it as UTF-8",
        ),
        ("t.csv", "a,b\nx,1\ny,2,9,9\nz,3\n", "line 3 has 4 fields but the header names 2 columns; correct that line"),
        ("t.csv", "a,b\nx,1\ny\nz,3\n", "line 3 has 1 field but"),
        ("t.csv", "a\nx,1\ny,2\n", "line 2 has 2 fields but the header names 1"),
        ("t.csv", "a,b,a\nx,1,2\n", "more than one column named 'a'; rename"),
        ("t.parquet", "PAR1 not really", "t.parquet cannot be read as a table"),
        ("t.jsonl", "colour is red\n", "t.jsonl cannot be read as a table"),
        ("t.csv.gz", gzip.compress(GOOD.encode() * 999)[:-20], "t.csv.gz is cut short or damaged; copy it again"),
    ],
)
def test_unreadable_files_say_why(written: Writer, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        open_table(written(content, name)).read("a")
    assert "\n" not in str(caught.value)


def test_missing_file_names_the_near_miss(written: Writer) -> None:
    folder = written(GOOD, "flights.csv").parent
    with pytest.raises(InputError, match=r"flihgts\.csv does not exist; did you mean 'flights\.csv'\?"):
        open_table(folder / "flihgts.csv")
    with pytest.raises(InputError, match="does not exist; check the path"):
        open_table(str(folder / "zzz.csv"))
    with pytest.raises(InputError, match=r"three\.csv does not exist; check the path"):  # alike in the ending only
        open_table(folder / "three.csv")
    with pytest.raises(InputError, match=r"did you mean 'flights\.csv'"):
        open_table(folder / "flights.parquet")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        open_table(folder / "nowhere" / "flights.csv")


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; give one file, such as CSV, Excel or Parquet"):
        open_table(tmp_path)


@pytest.mark.parametrize(
    "name", ["star*.csv", "what?.csv", "down[1].csv", "b=7.csv", "it's.csv", 'quote".csv', "é ü.csv"]
)
def test_only_the_named_file_is_read(written: Writer, name: str) -> None:
    written("a,b\nother,9\n", "starry.csv"), written("a,b\nother,9\n", "whats.csv"), written("a,b\no,9\n", "down1.csv")
    source = open_table(written("a,b\nx,1\n", name))
    assert source.read(["a"])["a"].tolist() == ["x"]


def test_folder_names_do_not_become_columns(tmp_path: Path) -> None:
    (tmp_path / "shape=cube").mkdir()
    for name in ["t.csv", "t.parquet", "t.jsonl"]:
        path = tmp_path / "shape=cube" / name
        frame = pl.DataFrame({"a": ["x"], "b": [1]})
        {"t.csv": frame.write_csv, "t.parquet": frame.write_parquet, "t.jsonl": frame.write_ndjson}[name](path)
        assert list(open_table(path).kinds) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n#1,1\n#2,2\n",
        "#a,b\n#1,1\n3,4\n",
        'a,b\n"x, ""1""",1\ny,2\n',
        'a,b\n"x\ny",1\ny,2\n',
        "a,b\n'x,1\no'y,2\n",
        "a,b\nx;1;2;3,1\ny|1|2,2\n",
        "a,b\n x ,1\ny  z,2\n",
        "a,b\n007,1\n7,2\n",
        "a,b\r\nx,1\r\ny,2\r\n",
        "\ufeffa,b\nx,1\ny,2\n",
    ],
)
def test_csv_reading_agrees_with_pandas(written: Writer, text: str) -> None:
    path = written(text)
    source = open_table(path)
    ours = source.read(source.columns)
    theirs = pd.read_csv(path, dtype=str)
    assert list(ours) == list(theirs.columns)
    for name in ours:
        assert ours[name].tolist() == theirs[name].tolist()


@pytest.mark.parametrize("thing", [None, 3, [1, 2], np.ones((2, 2)), pl.Series([1])], ids=type)
def test_what_is_not_a_table(thing: Any) -> None:
    with pytest.raises(InputError, match=r"is not a table; pass a CSV or Parquet path, a dict of columns, or a"):
        open_table(thing)


def test_pandas_columns_need_distinct_text_names() -> None:
    with pytest.raises(InputError, match="the table has more than one column named 'a'"):
        open_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="a column named 0, which is not text"):
        open_table(pd.DataFrame([[1, 2]]))
    with pytest.raises(InputError, match="has no columns"):
        open_table(pd.DataFrame())


@pytest.mark.parametrize("piece", ["dose", "mg", 'the "same"'])
def test_a_piece_of_a_name_with_a_comma_is_told_how_to_be_written(piece: str) -> None:
    name = 'dose, mg,the "same"'
    source = open_table(pd.DataFrame({name: [1, 2], "line": ["a", "b"]}))
    with pytest.raises(InputError, match=r"A name with a comma in it is written in CSV quotes") as told:
        source.require(piece, "factor")
    (advice,) = re.findall(r"CSV quotes: '(.*)'\. Columns", str(told.value))
    # The oracle: what is advised is read as that column.
    assert split_names(f"{advice},line") == [name, "line"]


def test_require_names_the_near_miss() -> None:
    source = open_table(pd.DataFrame({"color": ["red"], "y": [1]}))
    assert source.require("y", "outcome") == "y"
    with pytest.raises(InputError, match="factor 'colour' is not a column of the table; did you mean 'color'"):
        source.require("colour", "factor")


def test_fetch_returns_the_same_arrays_from_every_engine() -> None:
    frame = pd.DataFrame({"t": ["a", "b"], "i": [2**53 + 1, 2], "x": [0.5, np.inf], "f": [True, False]})
    frame["d"] = pd.to_datetime(["2020-01-01", "2020-01-02"]).astype("datetime64[ns]")
    arrow = pa.Table.from_pandas(frame)
    expected = open_table(frame).read(frame.columns)
    for table in [pl.from_pandas(frame), pl.from_pandas(frame).lazy(), arrow, duckdb.from_arrow(arrow)]:
        found = open_table(table).read(frame.columns)
        assert {name: values.tolist() for name, values in found.items()} == {
            name: values.tolist() for name, values in expected.items()
        }
    assert expected["i"].tolist() == [2**53 + 1, 2]
    assert str(expected["d"].dtype) == "datetime64[us]"


def test_whole() -> None:
    assert [count_of(value) for value in (np.int64(4), 4.0, None, np.nan)] == [4, 4, 0, 0]


def test_a_dict_of_columns_is_a_table() -> None:
    columns = {"colour": ["red", None], "mass": np.array([1.5, 2.0])}
    source = open_table(columns)
    assert source.kinds == {"colour": "text", "mass": "number"}
    assert source.read(["colour", "mass"])["mass"].tolist() == [1.5, 2.0]


@pytest.mark.parametrize("columns", [{}, {"a": [1, 2], "b": [1]}, {"a": [[1, 2], [3, 4]], "b": [1, 2]}])
def test_a_dict_of_unequal_columns_says_their_lengths(columns: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="lists of one length"):
        open_table(columns)
