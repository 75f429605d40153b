"""Small cases of `recombine.table_spec`, each as a reader would try it."""

from __future__ import annotations

from recombine.table_spec import TableSpec, asked_structure, fields, make_spec, spec_command, spec_options


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
