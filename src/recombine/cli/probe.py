"""The command about predictions: do they depend on what they should ignore?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.compare import end_on, read_fail_on
from recombine.report.screen import capture, say, say_json
from recombine.tables.text_files import named


def probe_command(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table, one row per prediction.")],
    prediction: Annotated[str, typer.Option(help="Column of predictions: classes, or numbers.")],
    outcome: Annotated[
        str | None, typer.Option(help="Column of true outcomes: all that the prediction should depend on.")
    ] = None,
    factor: Annotated[
        str | None, typer.Option(help="Or the factors that decide the outcome, separated by commas.")
    ] = None,
    factors: Annotated[
        str | None, typer.Option(help="Columns that should not matter, by commas. Guessed if left out.")
    ] = None,
    level: Annotated[float, typer.Option(help="Report dependences whose adjusted p-value is at most this.")] = 0.05,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Shuffles of each factor. [default: 200, more for many factors]")
    ] = None,
    bins: Annotated[int, typer.Option(min=2, help="Bins for numeric columns with very many values.")] = 10,
    as_levels: Annotated[
        str | None, typer.Option(help="Numeric columns with very many values that are labels.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    fail_on: Annotated[
        str | None, typer.Option(help="Exit with 1 on these findings: dependence (a factor matters that should not).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Say whether predictions depend on factors that they should ignore, how much, and how sure that is."""
    fatal = read_fail_on(fail_on, "PROBE")
    from recombine import probe
    from recombine.report.probe import probe_json, show_probe

    found = probe(
        file,
        prediction,
        outcome,
        None if factors is None else named(factors, "--factors"),
        factor=named(factor, "--factor"),
        level=level,
        permutations=permutations,
        seed=seed,
        bins=bins,
        as_levels=named(as_levels, "--as-levels"),
    )
    if json:
        say_json(probe_json(found))
    else:
        say(capture(lambda console: show_probe(found, console)), drawn=True)
    end_on(fatal, found.findings)
