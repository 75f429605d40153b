"""The command about predictions: do they depend on what they should ignore?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from recombine.cli.outputs import Outputs, end_on, read_fail_on
from recombine.cli.table_options import Seed, takes_table
from recombine.errors import InputError
from recombine.table_spec import TableSpec
from recombine.tables.text_files import named

#: What says nothing about predictions and the columns they should ignore.
UNUSED = (
    *("classes", "split", "weight", "sd", "counts", "symmetric", "sequence", "sets", "separator", "control"),
    *("nested", "crossed", "possible", "forbidden", "cost", "importance", "order", "structure"),
)


class ProbeQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """How the dependence of predictions is tested."""

    factor: Annotated[
        str | None, "Factors that decide the outcome, by commas; the others should not matter.", "COLUMNS"
    ] = None
    level: Annotated[float, "Report dependences whose adjusted p-value is at most this."] = 0.05
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Shuffles of each factor. [default: 200, more for many factors]")
    ] = None
    bins: Annotated[int, typer.Option(min=2, help="Bins for numeric columns with very many values.")] = 10
    swapped: Annotated[
        str | None, "Columns predicted after only a factor's level was swapped: colour=yhat2.", "FACTOR=COLUMN"
    ] = None
    seed: Seed = 0


@takes_table(without=UNUSED, panel="Predictions", outputs=("json", "fail_on"))
def probe_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="Table (CSV, Excel, Parquet, JSON, SQLite, AnnData), one row per prediction; - for a pipe."
        ),
    ],
    prediction: Annotated[str, "Column of predictions: classes, or numbers.", "COLUMN"],
    table: TableSpec,
    asked: ProbeQuestions,
    outputs: Outputs,
) -> None:
    """Say whether predictions depend on factors that they should ignore, how much, and how sure that is."""
    fail_on = read_fail_on(outputs, "PROBE")
    from recombine import probe
    from recombine.jobs.probe import ColumnSwaps
    from recombine.report.probe import probe_json, probe_sections

    questions = msgspec.structs.asdict(asked) | {"factor": named(asked.factor, "--factor")}
    pairs = [text.partition("=") for text in named(questions.pop("swapped"), "--swapped")]
    if wrong := next((name for name, equals, column in pairs if not (name and equals and column)), None):
        raise InputError(f"--swapped {wrong} names no column; write {wrong}=COLUMN, the predictions after the swap")
    swaps = ColumnSwaps(prediction, {name: column for name, _, column in pairs}) if pairs else prediction
    result = probe(file, swaps, table, **questions)
    outputs.answer(result, probe_json, probe_sections)
    end_on(fail_on, result.findings)
