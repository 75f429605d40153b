"""The command about tests: make a split that proves what it should, or say what an existing one proves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.compare import read_fail_on
from recombine.errors import InputError
from recombine.output_files import check_outputs, check_table_name
from recombine.report.screen import capture, printable, say, say_json
from recombine.tables.text_files import named
from recombine.words.structure import listed_orders, listed_structures


def split_command(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table, one row per measurement.")],
    factors: Annotated[str, typer.Option(help="Factor columns, separated by commas.")],
    test: Annotated[
        str | None,
        typer.Option(
            help="Parts of the test with their shares of the rows: determined:0.2,disconnected:0.1; also unseen level "
            "(of a factor: unseen level of dose:0.1), seen."
        ),
    ] = None,
    check: Annotated[
        str | None, typer.Option(help="Say what this split proves: its column, or column=value naming training.")
    ] = None,
    stratify: Annotated[str | None, typer.Option(help="Outcome column to be alike in test and training.")] = None,
    outcome: Annotated[str | None, typer.Option(help="With --check: outcome column, to find copied levels.")] = None,
    symmetric: Annotated[
        str | None, typer.Option(help="Factors that are one factor used twice: gene_a,gene_b.")
    ] = None,
    as_levels: Annotated[
        str | None, typer.Option(help="Numeric columns with very many values that are labels.")
    ] = None,
    order: Annotated[int | None, typer.Option(help=f"How many factors may interact ({listed_orders()}).")] = None,
    structure: Annotated[
        str,
        typer.Option(help=f"What effects do: {listed_structures()}; those that need an outcome with --check only."),
    ] = "add",
    ordered: Annotated[
        list[str] | None, typer.Option(help="With --check: factors whose levels are ordered. May be repeated.")
    ] = None,
    numeric: Annotated[
        list[str] | None, typer.Option(help="With --check: factors whose effect is a smooth curve. May be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table with a split column to this CSV file.")] = None,
    column: Annotated[str, typer.Option(help="Name of the column that is added.")] = "split",
    fail_on: Annotated[
        str | None, typer.Option(help="With --check: exit with 1 on these leaks: same, permuted, respelled, copied.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Split a table so that each part of the test proves what its name says, or check a split that exists."""
    if (test is None) == (check is None):
        raise InputError("say either --test determined:0.2 to make a split, or --check part to look at one")
    groups = {"symmetric": named(symmetric, "--symmetric"), "as_levels": named(as_levels, "--as-levels")}
    scales = {
        "ordered": [name for text in ordered or () for name in named(text, "--ordered")],
        "numeric": [name for text in numeric or () for name in named(text, "--numeric")],
    }
    columns = named(factors, "--factors")
    if check is not None:
        _only({"--stratify": stratify, "--out": out}, "--test")
        fatal = read_fail_on(fail_on, "SPLIT")
        from recombine.jobs.split import check_split
        from recombine.report.split import check_json, show_check

        options = {"outcome": outcome, "order": order, "structure": structure, "seed": seed}
        checked = check_split(file, columns, check, **groups, **scales, **options)  # type: ignore[arg-type]
        if json:
            say_json(check_json(checked))
        else:
            say(capture(lambda console: show_check(checked, console)), drawn=True)
        raise typer.Exit(1 if fatal.met(checked.findings) else 0)
    _only({"--outcome": outcome, "--ordered": ordered, "--numeric": numeric, "--fail-on": fail_on}, "--check")
    assert test is not None
    if out is not None:
        check_table_name(out, "--out")
        check_outputs([out], [file], force)
    from recombine.jobs.split import split_table
    from recombine.report.split import show_split, split_json

    depth = _depth(order, structure)
    found = split_table(file, columns, test, stratify=stratify, order=depth, seed=seed, **groups)
    # The answer comes before its file: where it cannot be given, nothing is written.
    if json:
        say_json(split_json(found))
    else:
        say(capture(lambda console: show_split(found, console)), drawn=True)
    note = "Nothing was written; name a file with --out.\n"
    if out is not None:
        found.to_csv(out, column=column, force=force)
        note = f"table with column {column!r} written to {out}\n"
    if json:
        print(printable(note), end="", file=sys.stderr)
    else:
        say(f"\n{note}")


def _only(given: dict[str, object], where: str) -> None:
    for option, value in given.items():
        if value:
            raise InputError(f"{option} goes with {where}; leave it out or use {where}")


def _depth(order: int | None, structure: str) -> int:
    """Return the order at which a split is made: that of the structure, whose effects have to add."""
    from recombine.theory.structures import simplest_first

    sums = {entry.name: entry for entry in simplest_first() if not entry.needs_outcome}
    if structure not in sums:
        raise InputError(
            f"splits are made for structures that add, {', '.join(sums)}, not for {structure!r}; its verdicts depend "
            "on outcomes, so make the split with one of these and look at it with --check"
        )
    named = sums[structure]
    if not named.adds and order not in (None, named.order):
        raise InputError(f"structure {structure} is of order {named.order}, not {order}; leave one of the two out")
    return named.order if order is None else order
