"""The command about trained models: why did their predictions miss?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.outputs import Outputs, end_on, pandas_left_alone, read_baseline, read_fail_on, tell_changes, working
from recombine.cli.table_options import Seed, files_of, named_importance, takes_table
from recombine.errors import InputError
from recombine.output_files import files_together
from recombine.table_spec import TableSpec
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.jobs.score import Score


@takes_table(
    required=("outcome",),
    without=("forbidden", "cost"),
    panel="Predictions",
    outputs=("full", "html", "json", "baseline", "markdown", "fail_on", "save_design", "force"),
)
def score_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="Table (CSV, Excel, Parquet, JSON, ...): training rows, held-out ones predicted; - for a pipe."
        ),
    ],
    prediction: Annotated[
        str, "Predictions, one per model, by commas: columns, or net for chances in net:cat, net:dog, ...", "COLUMNS"
    ],
    table: TableSpec,
    outputs: Outputs,
    train: Annotated[Path | None, "Table of the training rows, where the file holds the predicted ones only."] = None,
    seed: Seed = 0,
) -> None:
    """Say why trained models missed: error on held-out combinations by verdict, and by cause where data settle them."""
    models = named(prediction, "--prediction")
    outputs.check([file, train, outputs.baseline, *files_of(table)])
    before = read_baseline(outputs, "score")
    fail_on = read_fail_on(outputs, "SCORE" if before is None else "SCORE_CHANGES")
    result = _scored(file, models, table, train, seed)
    from recombine.report import score as shown

    with files_together():
        notes = outputs.save(table, result.design, result.audits[0].choice) + outputs.report(
            lambda command: shown.score_page(result, command=command)
        )
        if before is not None:
            from recombine import compare

            code = tell_changes(compare(before, result), fail_on, outputs, only_new=True)
        else:
            outputs.tell(result, shown.score_json, shown.score_sections)
        outputs.note(*notes)
    if before is not None:
        raise typer.Exit(code)
    end_on(fail_on, result.findings)


def _scored(file: Path, models: list[str], table: TableSpec, train: Path | None, seed: int) -> Score:
    """Return the score of predictions in a file that is read as its spec says."""
    if table.split is None and train is None:
        raise InputError(
            "which rows were trained on? Name the split column with --split part=train, or the table of training rows "
            "with --train"
        )
    if table.split is not None and train is not None:
        raise InputError("--split and --train both say what was trained on; leave one out")
    with working("reading the table"), pandas_left_alone():
        from recombine import score
        from recombine.jobs.score.predictions import read_designs

        design = read_designs(train or file, table, None if train is None else file)
    with working("finding the causes"), pandas_left_alone():
        importance = None if table.importance is None else named_importance(table, file, None)
        return score(design, file, models, table.split, importance=importance, seed=seed)
