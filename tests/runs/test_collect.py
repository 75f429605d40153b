"""One table out of many runs: what it holds, and Parquet that gives it back."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.runs.collect import collect, load_table, save_table
from recombine.runs.experiment import Experiment, Unit, grid
from recombine.runs.store import Store
from recombine.runs.sweep import run
from recombine.tables.table import Table


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "s")


def sample_table(store: Store) -> tuple[Experiment, Table]:
    def rows(unit: Unit) -> list[dict[str, object]]:
        x = unit.setting["x"]
        row = {"loss": [math.inf, math.nan, 0.5][x], "flag": x == 1, "steps": x, "label": ["é'\"", "", "c"][x]}
        return [row, {"loss": 1, "only": 2, "parts": [1, 2]}] if x == 2 else [row]

    experiment = Experiment("sample", rows, quick=grid(x=range(3), widths=[[20, 20]]), full=[])
    assert run(experiment, "quick", store, "inline", progress=False).complete
    return experiment, collect(store, experiment)


def test_the_table_has_the_settings_and_says_what_is_missing(store: Store) -> None:
    _, table = sample_table(store)
    assert table.columns == ["key", "x", "widths", "loss", "flag", "steps", "label", "only", "parts"]
    assert table["x"].tolist() == [0, 1, 2, 2]
    assert table["widths"].tolist() == ["[20, 20]"] * 4
    np.testing.assert_array_equal(table["loss"], [np.inf, np.nan, 0.5, 1.0])
    np.testing.assert_array_equal(table["only"], [np.nan, np.nan, np.nan, 2])
    assert table["flag"].tolist() == [False, True, False, None]
    assert table["parts"].tolist() == [None, None, None, "[1, 2]"]


def test_parquet_gives_the_table_back_with_its_record(store: Store, tmp_path: Path) -> None:
    _, table = sample_table(store)
    path = tmp_path / "tables" / "it's.parquet"
    record = {"scale": "quick", "command": "it's this one"}
    save_table(table, path, record)
    back = load_table(path)
    assert back.columns == table.columns
    for name in table.columns:
        np.testing.assert_array_equal(back[name], table[name], err_msg=name)
    kept = duckdb.execute("SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)", [str(path)]).fetchall()
    assert json.loads(dict(kept)["recombine"]) == record


def test_parquet_needs_neither_pandas_nor_pyarrow(store: Store, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pandas'] = sys.modules['pyarrow'] = sys.modules['polars'] = None\n"
        "from recombine.runs.collect import *; path = sys.argv[1]\n"
        "save_table(Table({'a': [1.5, 2.5], 'b': ['x', 'y']}), path, {}); print(load_table(path)['b'].tolist())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "t.parquet")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['x', 'y']"


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table at"):
        load_table(tmp_path / "t.parquet")
