"""The command about tests: make a split that proves what it should, or say what an existing one proves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from recombine.cli.outputs import Outputs, end_on, read_fail_on
from recombine.cli.table_options import MeasuredTable, Seed, files_of, takes_table
from recombine.errors import InputError
from recombine.output_files import check_table_name, files_together
from recombine.report.screen import say
from recombine.table_spec import TableSpec, make_spec


class SplitQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """Which split is to be made, or looked at."""

    test: Annotated[
        str | None,
        "Parts of the test with their shares of the rows, by commas: determined:0.2, disconnected:0.1; also seen, and "
        "unseen level (of a factor: unseen level of dose:0.1).",
        "PART:SHARE",
    ] = None
    check: Annotated[
        str | None,
        "Say what this split proves: its column, or column=value naming training; else that of --design.",
        "COLUMN",
    ] = None
    stratify: Annotated[str | None, "Outcome column to be alike in test and training.", "COLUMN"] = None
    out: Annotated[Path | None, "Write the table with a split column to this CSV file."] = None
    column: Annotated[str, "Name of the column that is added."] = "split"
    seed: Seed = 0


@takes_table(
    without=("split", "forbidden", "cost", "importance"),
    called={"check": "split"},
    panel="Split",
    outputs=("full", "json", "fail_on", "save_design", "safe_csv", "force"),
)
def split_command(
    file: MeasuredTable,
    table: TableSpec,
    asked: SplitQuestions,
    outputs: Outputs,
) -> None:
    """Split a table so that each part of the test proves what its name says, or check a split that exists."""
    if table.split is None if asked.test is None else asked.check is not None:
        raise InputError("say either --test determined:0.2 to make a split, or --check part to look at one")
    check_table_name(asked.out, "--out")
    outputs.check([file, *files_of(table)], asked.out)
    if asked.test is None:
        _check(file, table, asked, outputs)
    else:
        _make(file, make_spec(table, {"split": None}), asked, outputs)


def _check(file: Path, table: TableSpec, asked: SplitQuestions, outputs: Outputs) -> None:
    """Say what an existing split proves, and leave with 1 if it has a leak that ``--fail-on`` names."""
    _only({"--stratify": asked.stratify, "--out": asked.out}, "--test")
    fail_on = read_fail_on(outputs, "SPLIT")
    from recombine.jobs.split import check_split
    from recombine.report.split import check_json, check_sections

    checked = check_split(file, table, seed=asked.seed)
    with files_together():
        notes = outputs.save(table, checked.rows.design, checked.choice)
        outputs.tell(checked, check_json, check_sections)
        outputs.note(*notes)
    end_on(fail_on, checked.findings)


def _make(file: Path, table: TableSpec, asked: SplitQuestions, outputs: Outputs) -> None:
    """Make a split, say what it proves, and write it."""
    _only({"--fail-on": outputs.fail_on}, "--check")
    from recombine.jobs.split import split_table
    from recombine.report.split import split_json, split_sections

    split = split_table(file, asked.test or "", table, stratify=asked.stratify, seed=asked.seed)
    with files_together():
        notes = outputs.save(table, split.rows.design)
        note = "Nothing was written; name a file with --out."
        if asked.out is not None:
            split.to_csv(asked.out, column=asked.column, force=outputs.force, safe=outputs.safe_csv)
            note = f"table with column {asked.column!r} written to {asked.out}"
        outputs.answer(split, split_json, split_sections)
        if not outputs.json:
            say("\n")
        outputs.note(*notes, note)


def _only(given: dict[str, object], where: str) -> None:
    for option, value in given.items():
        if value:
            raise InputError(f"{option} goes with {where}; leave it out or use {where}")
