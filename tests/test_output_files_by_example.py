"""Small cases of `recombine.output_files`, each as a reader would try it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.output_files import (
    check_file,
    check_outputs,
    check_table_name,
    open_beside,
    sync_folder,
    write_whole,
)


def test_check_file_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("nowhere is not a folder; create it or write elsewhere")):
        check_file(Path("nowhere/report.html"), force=False)


def test_check_outputs_by_example() -> None:
    message = "table.csv is the table itself; choose another name for the output"
    with pytest.raises(InputError, match=re.escape(message)):
        check_outputs([Path("table.csv")], [Path("data/../table.csv")], force=True)


def test_check_table_name_by_example() -> None:
    message = "--out parts.parquet: a CSV table is written; give it a name that ends in .csv"
    with pytest.raises(InputError, match=re.escape(message)):
        check_table_name(Path("parts.parquet"), "--out")


def test_open_beside_by_example() -> None:
    target = Path(tempfile.mkdtemp()) / "numbers.bin"
    with open_beside(target) as file:
        _ = file.write(b"1 2 3")
    assert (target.read_bytes()) == b"1 2 3"


def test_write_whole_by_example() -> None:
    target = Path(tempfile.mkdtemp()) / "summary.md"
    write_whole(target, "two cells lost")
    assert (target.read_text()) == "two cells lost"


def test_sync_folder_by_example() -> None:
    sync_folder(Path(tempfile.mkdtemp()))
