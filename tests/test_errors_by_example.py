"""Small cases of `recombine.errors`, each as a reader would try it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine import errors
from recombine.errors import install_advice, missing_package, near_file, near_miss


def test_missing_package_by_example() -> None:
    assert (
        str(missing_package(ModuleNotFoundError("No module named 'torch'", name="torch")))
        == f"the package 'torch' is not installed, and networks need it; get it with {install_advice('nets')}"
    )


def test_advice_fits_where_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "lib" / "recombine" / "errors.py"))
    assert install_advice("nets") == "pip install 'recombine[nets]'"
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "pyproject.toml").touch()
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "clone" / "src" / "recombine" / "errors.py"))
    assert install_advice("nets") == f"pip install '{tmp_path}/clone[nets]'"
    monkeypatch.chdir(tmp_path / "clone")
    assert install_advice("nets") == "pip install '.[nets]'"


def test_near_miss_by_example() -> None:
    assert (near_miss("colour", ["color", "shape"])) == " did you mean 'color'?"
    assert (near_miss("weight", ["color", "shape"])) == ""


def test_near_file_by_example() -> None:
    assert (near_file("tabel.csv", ["table.csv", "table.parquet", "notes.csv"])) == " did you mean 'table.csv'?"
    assert (near_file("three.csv", ["planted.csv"])) == ""
