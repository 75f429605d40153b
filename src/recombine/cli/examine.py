"""The command about models that are not trained yet: train each on all combinations but some, and say why it misses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.outputs import Outputs, end_on, pandas_left_alone, read_fail_on, working
from recombine.cli.table_options import files_of, takes_table
from recombine.output_files import files_together
from recombine.table_spec import TableSpec
from recombine.tables.text_files import named

#: What rows trained one by one say nothing about, and columns that models would not be given as they are.
UNUSED = (
    *("split", "weight", "sd", "counts", "sequence", "sets", "separator", "control", "possible", "forbidden", "cost"),
    *("importance", "ordered", "numeric"),
)


@takes_table(
    required=("outcome",),
    without=UNUSED,
    panel="Models",
    outputs=("full", "html", "json", "fail_on", "force"),
)
def examine_command(
    file: Annotated[Path, typer.Argument(help="Table (CSV, Excel, Parquet, JSON, ...), one row per measurement.")],
    table: TableSpec,
    outputs: Outputs,
    model: Annotated[
        str, "Models by commas: ridge, forest, boosting, neighbours, network, or your own as FILE.py:name.", "MODELS"
    ] = "ridge,forest,boosting,neighbours,network",
    folds: Annotated[int, typer.Option(min=2, help="Each combination is left out once, in one of so many folds.")] = 5,
    groups: Annotated[str | None, "Column whose rows are left out together, such as plates.", "COLUMN"] = None,
    store: Annotated[Path | None, "Folder that keeps predictions: a run that was stopped goes on.", "FOLDER"] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Train models on all combinations but some, in turn, and say why they miss those that were left out."""
    models = named(model, "--model")
    outputs.check([file, *files_of(table)])
    fail_on = read_fail_on(outputs, "SCORE")
    with working("reading the table"), pandas_left_alone():
        from recombine.jobs.examination import ExaminedRows, examine
        from recombine.jobs.split import CellKFold
        from recombine.jobs.training import named_models, short_seed

        rows, beside = ExaminedRows.of_file(file, table, [groups] if groups else [])
        trained = named_models(models, classes=bool(rows.classes), seed=seed)
    with working("training and examining models"):  # scikit-learn asks whether its inputs are of pandas
        splitter = CellKFold(folds, random_state=short_seed(seed))
        result = examine(trained, rows, groups=beside.get(groups or ""), folds=splitter, store=store)
    from recombine.report import score as shown

    with files_together():
        notes = outputs.report(lambda command: shown.score_page(result, command=command))
        outputs.tell(result, shown.score_json, shown.score_sections)
        outputs.note(*notes)
    end_on(fail_on, result.findings)
