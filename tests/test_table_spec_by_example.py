"""Small cases of `recombine.table_spec`, each as a reader would try it."""

from __future__ import annotations

from pathlib import Path

from recombine.table_spec import (
    TableSpec,
    asked_structure,
    fields,
    make_spec,
    spec_command,
    spec_options,
    spec_toml,
)


def test_fields_by_example() -> None:
    assert ([(field.name, field.kind, field.flag) for field in fields()[:2]]) == [
        ("factors", "names", "--factors"),
        ("outcome", "text", "--outcome"),
    ]


def test_make_spec_by_example() -> None:
    assert (make_spec(TableSpec(outcome="mass"), {"outcome": "price"}).outcome) == "price"


def test_asked_structure_by_example() -> None:
    assert (asked_structure(TableSpec(order=2), None, None), asked_structure(TableSpec(order=2), "log", None)) == (
        ("auto", 2),
        ("log", None),
    )


def test_spec_options_by_example() -> None:
    assert (spec_options(TableSpec(factors=["colour", "a, b"], counts=False, sets="genes"))) == [
        "--factors",
        'colour,"a, b"',
        "--means",
        "--set",
        "genes",
    ]


def test_spec_command_by_example() -> None:
    assert (
        spec_command("audit", "toys of ours.csv", TableSpec(outcome="mass"))
    ) == "recombine audit 'toys of ours.csv' --outcome mass"


def test_spec_toml_by_example() -> None:
    spec = TableSpec(factors=["plant", "arm"], crossed=True)
    guessed = {"factors": "guessed", "nested": "inferred from the rows"}
    assert spec_toml(spec, guessed, Path(), {"nested": ["plant/arm"]}).splitlines() == [
        "# How recombine reads a table: name this file with --design.",
        'factors = ["plant", "arm"]  # guessed',
        "crossed = true",
        '# nested = ["plant/arm"]  # inferred from the rows',
    ]


def test_read_spec_by_example(tmp_path: Path) -> None:
    path = tmp_path / "design.toml"
    path.write_text('factors = ["colour", "shape"]\npossible = "cells.csv"')
    spec = TableSpec.read(path)
    assert (spec.factors, Path(spec.possible)) == (("colour", "shape"), tmp_path / "cells.csv")
