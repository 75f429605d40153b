"""The command about two results: what changed between them, and does the build go on?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.outputs import Outputs, read_fail_on, tell_changes
from recombine.cli.table_options import takes_table


@takes_table(outputs=("full", "json", "markdown", "fail_on", "force"))
def compare_command(
    before: Annotated[Path, typer.Argument(help="What recombine audit --json (or score --json) printed before.")],
    after: Annotated[Path, typer.Argument(help="What it printed after.")],
    outputs: Outputs,
) -> None:
    """Say what changed between two audits or two scores: cells, levels, findings; models, errors and causes."""
    from recombine import compare

    fail_on = read_fail_on(outputs)
    outputs.check([None, before, after])
    raise typer.Exit(tell_changes(compare(before, after), fail_on, outputs))
