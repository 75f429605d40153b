from __future__ import annotations

import csv
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from recombine.errors import InputError
from recombine.tables.table import Table


def sample(rows: int = 3) -> Table:
    return Table({"cell": [f"c{i}" for i in range(rows)], "leverage": np.arange(rows) + 0.5, "seen": [True] * rows})


def test_columns_must_have_one_length() -> None:
    with pytest.raises(InputError, match="columns differ in length"):
        Table({"a": [1, 2], "b": [1]})


def test_unknown_column_names_the_near_miss() -> None:
    with pytest.raises(InputError, match="'levrage' is not a column; did you mean 'leverage'"):
        sample()["levrage"]


def test_values_cannot_be_changed_from_outside() -> None:
    source = np.array([1.0, 2.0])
    table = Table({"a": source})
    source[0] = 99.0
    assert table["a"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        table["a"][0] = 5.0


def test_where_and_head_keep_rows_together() -> None:
    table = sample(5)
    assert list(table.where(table["leverage"] > 2).rows()) == list(table.rows())[2:]
    assert list(table.head(2).rows()) == list(table.rows())[:2]
    assert len(Table({})) == 0


def test_rows_are_plain_python_values() -> None:
    assert [type(value) for value in next(sample().rows()).values()] == [str, float, bool]


def test_csv_survives_commas_quotes_lines_and_unicode(tmp_path: Path) -> None:
    texts = ['x, "1"', "two\nlines", "角 🟦", "<script>", ""]
    Table({"level": texts, "n": range(5)}).to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert [row["level"] for row in csv.DictReader(file)] == texts


def test_dataframes_hold_the_same_values() -> None:
    table = sample()
    expected = list(table.rows())
    assert table.to_pandas().to_dict("records") == expected
    assert polars.DataFrame(table).to_dicts() == expected


def test_repr_says_how_many_rows_are_left_out() -> None:
    lines = repr(sample(25)).splitlines()
    assert lines[0].split() == ["cell", "leverage", "seen"]
    assert len(lines) == 1 + 20 + 1
    assert lines[-1] == "... 5 more rows"
    assert "more rows" not in repr(sample(20))


class Tags(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_keeps_levels_as_text() -> None:
    page = Tags()
    page.feed(Table({"<b>name": ["<script>alert(1)</script>", "a & b"]})._repr_html_())
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.text == ["<b>name", "<script>alert(1)</script>", "a & b"]


def test_any_library_that_reads_arrow_takes_a_table() -> None:
    columns = {
        "text": ["a", "é"],
        "object": np.array(["x", None], dtype=object),
        "mixed": np.array([1, "b"], dtype=object),
        "whole": [1, 2],
        "real": [0.5, np.nan],
        "flag": [True, False],
        "day": np.array(["2020-01-01", "2021-02-03"], dtype="datetime64[D]"),
        'quoted " name': [1, 2],
    }
    table = Table(columns)
    arrow, frame = pyarrow.table(table), polars.DataFrame(table)
    assert arrow.column_names == frame.columns == table.columns
    assert arrow["text"].to_pylist() == frame["text"].to_list() == ["a", "é"]
    assert arrow["object"].to_pylist() == ["x", None]
    assert arrow["mixed"].to_pylist() == ["1", "b"]
    assert arrow["whole"].type == pyarrow.int64()
    assert arrow["flag"].to_pylist() == [True, False]
    assert arrow["real"].to_pylist()[0] == 0.5
    assert frame["day"].to_list()[1].day == 3
    assert polars.DataFrame(Table({"a": np.array([], dtype=float)})).shape == (0, 1)
    with pytest.raises(InputError, match="no columns"):
        pyarrow.table(Table({}))


def test_pandas_takes_a_table_by_its_rows() -> None:
    table = Table({"a": ["x", "y"], "b": [1, 2]})
    pd.testing.assert_frame_equal(pd.DataFrame(table), table.to_pandas(), check_dtype=False)
    assert list(table) == [{"a": "x", "b": 1}, {"a": "y", "b": 2}]


def test_without_pandas_to_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        Table({"a": [1]}).to_pandas()
