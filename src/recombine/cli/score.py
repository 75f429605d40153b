"""The command about trained models: why did their predictions miss?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.audit import named_importance, working
from recombine.cli.compare import end_on, read_baseline, read_fail_on, tell_changes
from recombine.cli.table_options import StructureOption, pandas_left_alone
from recombine.errors import InputError
from recombine.output_files import check_outputs, write_whole
from recombine.report.screen import capture, printable, say, say_json
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.jobs.score import Score


def score_command(
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table: training rows, and held-out ones predicted.")
    ],
    factors: Annotated[str, typer.Option(help="Factor columns, separated by commas.")],
    outcome: Annotated[str, typer.Option(help="Outcome column: numbers, two values, or classes.")],
    prediction: Annotated[
        str,
        typer.Option(
            help="Predictions, one per model, by commas: columns, or net for chances in net:cat, net:dog, ..."
        ),
    ],
    split: Annotated[str | None, typer.Option(help="Split column, or column=value naming the training value.")] = None,
    train: Annotated[
        Path | None, typer.Option(help="Table of the training rows, where the file holds the predicted ones only.")
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="The outcome's numbers are classes (text with three values or more is).")
    ] = False,
    weight: Annotated[str | None, typer.Option(help="Column of counts, for a table already aggregated.")] = None,
    sd: Annotated[str | None, typer.Option(help="Column of standard deviations, likewise.")] = None,
    counts: Annotated[
        bool | None,
        typer.Option("--counts/--means", help="Is a row with weight n that many equal measurements, or their mean?"),
    ] = None,
    symmetric: Annotated[
        str | None, typer.Option(help="Factors that are one factor used twice: gene_a,gene_b.")
    ] = None,
    as_levels: Annotated[
        str | None, typer.Option(help="Numeric columns with very many values that are labels.")
    ] = None,
    crossed: Annotated[bool, typer.Option("--crossed", help="Infer no nesting: every combination can exist.")] = False,
    structure: StructureOption = "auto",
    importance: Annotated[
        str | None, typer.Option(help="How much cells matter: a table with a column 'importance', or a column.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    baseline: Annotated[Path | None, typer.Option(help="Say what changed since this --json of before.")] = None,
    markdown: Annotated[
        str | None, typer.Option(help="With --baseline: write a summary for a pull request to this file; - prints it.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(help="Exit with 1 on these findings: worse-than-adding; with --baseline on worse,gone-models."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing output file.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Say why trained models missed: error on held-out combinations by verdict, and by cause where data settle them."""
    models = named(prediction, "--prediction")
    tables = [file, train, baseline, None if importance is None else Path(importance)]
    check_outputs([html], tables, force)
    before = read_baseline(baseline, "score", markdown, tables, json, force, [html])
    fatal = read_fail_on(fail_on, "SCORE" if before is None else "SCORE_CHANGES")
    if split is None and train is None:
        raise InputError(
            "which rows were trained on? Name the split column with --split part=train, or the table of training rows "
            "with --train"
        )
    if split is not None and train is not None:
        raise InputError("--split and --train both say what was trained on; leave one out")
    with working("reading the table"), pandas_left_alone():
        from recombine import Design, score
        from recombine.jobs.score.classes import class_designs, has_classes

        options: dict[str, Any] = {
            "weight": weight,
            "sd": sd,
            "counts": counts,
            "split": split,
            "symmetric": named(symmetric, "--symmetric"),
            "as_levels": named(as_levels, "--as-levels"),
            "crossed": crossed,
            "held_out": None if train is None else file,
            "factors": named(factors, "--factors"),
            "outcome": outcome,
        }
        several = classes or has_classes(train or file, outcome)
        design = (class_designs if several else Design.from_frame)(train or file, **options)
    with working("finding the causes"), pandas_left_alone():
        weights = None if importance is None else named_importance(importance, file, None)
        found = score(design, file, models, split, structure=structure, importance=weights, seed=seed)
    if before is not None:
        from recombine import compare

        try:
            tell_changes(compare(before, found), fatal, json, markdown, only_new=True)
        except typer.Exit:  # the answer has been given; the page comes after it
            _write(found, html, quiet=json or markdown == "-")
            raise
    with working("writing the answer"):
        from recombine.report.score import score_json, show_score

        text = score_json(found) if json else capture(lambda console: show_score(found, console))
    say_json(text) if json else say(text, drawn=True)
    _write(found, html, quiet=json)
    end_on(fatal, found.findings)


def _write(found: Score, html: Path | None, quiet: bool) -> None:
    """Write the page, if it is asked for; ``quiet`` says so on stderr, because the answer is for a program."""
    if html is None:
        return
    with working("writing the report"):
        from recombine.report.score import score_page

        write_whole(html, score_page(found, command=" ".join(["recombine", *sys.argv[1:]])))
    note = f"report written to {html.resolve()}"
    print(printable(note), file=sys.stderr) if quiet else say(note + "\n")
