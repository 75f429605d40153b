"""Tables of descriptors: matched as levels are, numbers and few texts taken, whatever is wrong named with its cure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recombine.errors import InputError
from recombine.tables.level_features import read_features


def drugs(**columns):
    return pd.DataFrame({"drug": ["a", "b", "c"], "mass": [1.0, 2.0, 4.0]} | columns)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_every_format_gives_the_same_descriptors(tmp_path, suffix):
    frame, path = drugs(salt=["Na", "K", None], rings=[1, 2, 2]), tmp_path / f"drugs.{suffix}"
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
    }
    write[suffix]()
    expected, result = read_features(frame, "drug"), read_features(str(path), "drug")
    assert result.names == expected.names == ("mass", "salt=K", "salt=Na", "rings")
    assert np.array_equal(result.table, expected.table)
    assert result.levels == ("a", "b", "c")


def test_levels_are_matched_however_they_are_spelled():
    table = read_features(pd.DataFrame({"plate": [1, 2, 3], "x": [0.0, 5.0, 7.0]}), "plate")
    assert table.of(["1", 2.0, " 3 ", "2.0", "01", None]).tolist()[:4] == [[0.0], [5.0], [7.0], [5.0]]
    assert np.isnan(table.of(["01", "x"])).all()
    assert table.without(["2", "9"]) == ["9"]
    assert table.beyond(["2", 3.0]) == [1]


def test_levels_stand_in_the_column_of_the_factor_else_in_the_first_or_where_it_is_said():
    frame = drugs(id=["x", "y", "z"])[["mass", "drug", "id"]]
    assert read_features(frame, "drug").levels == ("a", "b", "c")
    assert read_features(frame.rename(columns={"drug": "name"}), "drug").levels == (1.0, 2.0, 4.0)
    assert read_features((frame, "id"), "drug").levels == ("x", "y", "z")


def test_missing_numbers_are_medians_and_columns_of_no_use_are_left_out():
    many = pd.DataFrame(
        {
            "drug": list("abcdefghij"),
            "logP": [1.0, None, 3.0, np.inf, *range(6)],
            "smiles": [f"C{n}" for n in range(10)],
            "n": 7,
            "nothing": [None] * 10,
        }
    )
    table = read_features(many, "drug")
    assert table.names == ("logP",)
    assert table.imputed == {"logP": 2}
    assert table.table[1, 0] == table.table[3, 0] == np.median([1.0, 3.0, *range(6)])
    assert set(table.left_out) == {"smiles", "n", "nothing"}


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"drug": ["a", "a ", "b"], "x": [1, 2, 3]}), "1 level more than once: a; keep one row each"),
        (pd.DataFrame({"drug": [1, "1.0"], "x": [1, 2]}), "1 level more than once"),
        (pd.DataFrame({"drug": ["a", None], "x": [1, 2]}), "has no level in row 2 of column 'drug'"),
        (pd.DataFrame({"drug": ["a", "b"], "x": [1, 1]}), "no column that describes levels of 'drug'.*x does not vary"),
        (pd.DataFrame({"drug": ["a", "b"]}), "give columns of numbers that differ"),
        (pd.DataFrame({"drug": np.arange(20_001), "x": np.arange(20_001.0)}), "20,001 rows.*at most"),
        ((drugs(), "name"), "column of levels of 'drug' 'name' is not a column of the table"),
        ("nowhere.csv", "nowhere.csv does not exist"),
    ],
)
def test_what_is_wrong_is_named(frame, message):
    with pytest.raises(InputError, match=message):
        read_features(frame, "drug")


def test_no_level_in_common_names_both_sides():
    with pytest.raises(InputError, match=r"describes no level of factor 'drug': it has a, b, c, the table has A, B"):
        read_features(drugs(), "drug").shared(["A", "B"], "drug")
