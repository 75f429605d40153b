"""Small tables as people write them, with what should be read: the page's TypeScript replays the same file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from recombine.errors import InputError
from recombine.sheets import Grid, Tidy, tidy
from recombine.sheets.grid import with_tabs

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))


def read(case: dict[str, Any]) -> Tidy:
    delimiter = case.get("delimiter", ",")
    text = with_tabs(case["text"]) if case.get("blanks") else case["text"]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return tidy(Grid(rows, delimiter=delimiter), wide=case.get("wide"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_table_is_read_as_it_is_meant(case: dict[str, Any]) -> None:
    if "refused" in case:
        with pytest.raises(InputError, match=case["refused"]):
            read(case)
        return
    table = read(case)
    assert list(table.columns) == case["columns"]
    assert table.rows == case["rows"]
    assert sorted(note.kind for note in table.notes) == sorted(case["notes"])
    assert list(table.factors) == case.get("factors", [])
    assert table.outcome == case.get("outcome")
