"""The command about trained models: why did their predictions miss?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.compare import read_baseline, read_conditions, tell_changes
from recombine.errors import InputError
from recombine.report.screen import capture, say
from recombine.tables.text_files import named


def score_command(
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table: training rows, and held-out ones predicted.")
    ],
    factors: Annotated[str, typer.Option(help="Factor columns, separated by commas.")],
    outcome: Annotated[str, typer.Option(help="Numeric (or two-valued) outcome column.")],
    prediction: Annotated[str, typer.Option(help="Columns of predictions, one per model, separated by commas.")],
    split: Annotated[str, typer.Option(help="Split column, or column=value naming the training value.")],
    weight: Annotated[str | None, typer.Option(help="Column of counts, for a table already aggregated.")] = None,
    symmetric: Annotated[
        str | None, typer.Option(help="Factors that are one factor used twice: gene_a,gene_b.")
    ] = None,
    as_levels: Annotated[
        str | None, typer.Option(help="Numeric columns with very many values that are labels.")
    ] = None,
    crossed: Annotated[bool, typer.Option("--crossed", help="Infer no nesting: every combination can exist.")] = False,
    structure: Annotated[
        str,
        typer.Option(
            help="What effects do: add, logit, log, multiplicative, link, pairs, link-pairs, triples; auto chooses."
        ),
    ] = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    baseline: Annotated[Path | None, typer.Option(help="Say what changed since this --json of before.")] = None,
    markdown: Annotated[
        str | None, typer.Option(help="With --baseline: write a summary for a pull request to this file; - prints it.")
    ] = None,
    fail_on: Annotated[
        str | None, typer.Option(help="With --baseline: exit with 1 on these changes: worse,gone-models.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing output file.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Say why trained models missed: error on held-out combinations by verdict, and by cause where data settle them."""
    from recombine import Design, compare, score
    from recombine.report.score import score_json, show_score

    known = read_baseline(baseline, "score", markdown, [file], json, force)
    if fail_on is not None and known is None:
        raise InputError("--fail-on names changes of a score; name what to compare with: --baseline score.json")
    conditions = read_conditions(fail_on)
    models = named(prediction, "--prediction")
    design = Design.from_frame(
        file,
        named(factors, "--factors"),
        outcome,
        weight=weight,
        split=split,
        symmetric=named(symmetric, "--symmetric"),
        as_levels=named(as_levels, "--as-levels"),
        crossed=crossed,
    )
    found = score(design, file, models, split, structure=structure, seed=seed)
    if known:
        tell_changes(compare(known, found), conditions, json, markdown, only_new=True)
    if json:
        say(score_json(found) + "\n")
    else:
        say(capture(lambda console: show_score(found, console)), drawn=True)
