"""Small cases of `recombine.errors`, each as a reader would try it."""

from __future__ import annotations

from recombine.errors import missing_package, near_file, near_miss


def test_missing_package_by_example() -> None:
    assert (
        repr(missing_package(ModuleNotFoundError("No module named 'torch'", name="torch")))
        == "InputError(\"the package 'torch' is not installed, and networks need it; "
        "get it with pip install '.[nets]'\")"
    )


def test_near_miss_by_example() -> None:
    assert (near_miss("colour", ["color", "shape"])) == " did you mean 'color'?"
    assert (near_miss("weight", ["color", "shape"])) == ""


def test_near_file_by_example() -> None:
    assert (near_file("tabel.csv", ["table.csv", "table.parquet", "notes.csv"])) == " did you mean 'table.csv'?"
    assert (near_file("three.csv", ["planted.csv"])) == ""
