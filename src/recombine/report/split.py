"""Splits in a screenful: what was asked for and got, what each part proves, and what leaks; and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.design.reading import used_table
from recombine.jobs.split.check import SplitCheck
from recombine.jobs.split.table_files import TableSplit
from recombine.report.json_text import json_text
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.words.split import (
    check_conclusions,
    check_leaks,
    check_opening,
    check_remarks,
    check_sides,
    proof_of,
    split_opening,
    split_remarks,
)
from recombine.writing import percent, share

if TYPE_CHECKING:
    from rich.console import Console

#: Version of the JSON documents: it grows when a field is renamed, removed or means something else.
SCHEMA = 2


def split_text(made: TableSplit, width: int = 110) -> str:
    """Return a split as plain text without colours."""
    return plain_text(lambda console: show_split(made, console), width)


def check_text(check: SplitCheck, width: int = 110) -> str:
    """Return the check of a split as plain text without colours."""
    return plain_text(lambda console: show_check(check, console), width)


def show_split(made: TableSplit, console: Console) -> None:
    """Print a split to a rich console."""
    print_line(console, f"Recombine split of {made.rows.source.name}", "bold")
    print_line(console, split_opening(made))
    print_title(console, "Asked for and got, as shares of the table's rows")
    _shares(made, console)
    for sentence in split_remarks(made):
        print_line(console, f"  {sentence}")


def _shares(made: TableSplit, console: Console) -> None:
    from rich.text import Text

    split, total = made.split, len(made.split.part)
    table = plain_grid(4)
    table.add_row("", "", *(Text(text, style="dim") for text in ("asked", "got", "rows", "cells")))
    for row in split.shares.rows():
        verdict = next(verdict for verdict in Verdict if verdict.word == row["part"])
        words = proof_of(verdict, sum_of(split.order).assumption)
        numbers = share(row["asked"]), share(row["got"]), f"{row['rows']:,}", f"{row['cells']:,}"
        table.add_row("", f"  {row['part']}", *numbers, words)
    cells = len(set(split.where[split.train].tolist()))
    table.add_row("", "  training", "", percent(len(split.train), total), f"{len(split.train):,}", f"{cells:,}", "")
    if split.unused:
        table.add_row("", "  unused", "", percent(split.unused, total), f"{split.unused:,}", "", "")
    console.print(table)


def show_check(check: SplitCheck, console: Console) -> None:
    """Print the check of a split to a rich console."""
    print_line(console, f"Recombine split check of {check.column} in {check.rows.source.name}", "bold")
    print_line(console, check_opening(check))
    print_title(console, "What the test rows are to training")
    _verdicts(check, console)
    for title, sentences in (
        ("", [*check_conclusions(check), *check_remarks(check)]),
        (f"By {check.column}", check_sides(check)),
        ("Leaks", check_leaks(check)),
    ):
        if title and sentences:
            print_title(console, title)
        for sentence in sentences:
            print_line(console, f"  {sentence}")


def _verdicts(check: SplitCheck, console: Console) -> None:
    from rich.text import Text

    table = plain_grid(4)
    head = ("rows", "of rows", "cells", "of cells")
    table.add_row("", "", *(Text(text, style="dim") for text in head))
    for row in check.verdicts.rows():
        verdict = next(verdict for verdict in Verdict if verdict.word == row["verdict"])
        words = proof_of(verdict, check.choice.assumption)
        numbers = f"{row['rows']:,}", share(row["share of rows"]), f"{row['cells']:,}", share(row["share of cells"])
        table.add_row("", f"  {verdict.word}", *numbers, words)
    console.print(table)


def split_json(made: TableSplit) -> str:
    """Return a split as JSON text.

    Examples
    --------
    >>> import json, numpy as np, pandas as pd
    >>> from recombine.jobs.split import split_table
    >>> frame = pd.DataFrame(np.indices((6, 5)).reshape(2, -1).T, columns=["drug", "line"]).astype(str)
    >>> json.loads(split_json(split_table(frame, "determined:0.2", factors=["drug", "line"])))["parts"][0]["got"]
    0.2
    """
    split = made.split
    record: dict[str, Any] = {
        "recombine": __version__,
        "kind": "split",
        "schema": SCHEMA,
        "source": made.rows.source.name,
        "table": used_table(made.rows.design),
        "factors": [factor.name for factor in made.rows.factors],
        "order": split.order,
        "assumption": sum_of(split.order).assumption,
        "seed": made.seed,
        "rows": len(split.part),
        "rows left out": made.left_out,
        "parts": list(split.shares.rows()),
        "training rows": len(split.train),
        "unused rows": split.unused,
        "hidden levels": {name: list(labels) for name, labels in made.hidden.items()},
        "stratified by": made.stratified,
        "unlike": split.unlike,
    }
    return json_text(record)


def check_json(check: SplitCheck) -> str:
    """Return the check of a split as JSON text.

    Examples
    --------
    >>> import json, pandas as pd
    >>> from recombine.jobs.split import check_split
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "part": ["train"] * 3 + ["test"]})
    >>> json.loads(check_json(check_split(frame, factors=["colour", "shape"], split="part")))["verdicts"][0]["verdict"]
    'determined'
    """
    record = {
        "recombine": __version__,
        "kind": "split check",
        "schema": SCHEMA,
        "source": check.rows.source.name,
        "table": used_table(check.rows.design),
        "factors": [factor.name for factor in check.rows.factors],
        "split": check.column,
        "structure": check.choice.name,
        "assumption": check.choice.assumption,
        "training rows": check.trained,
        "test rows": len(check.where),
        "test cells": len(check.cells),
        "verdicts": list(check.verdicts.rows()),
        "by value": {side: list(table.rows()) for side, table in check.by_side.items()},
        "conclusions": check_conclusions(check),
        "leaks": [
            {"kind": leak.kind, "cells": leak.cells, "rows": leak.rows, "examples": list(leak.examples)}
            for leak in check.leaks
        ],
        "findings": [finding.record for finding in check.findings],
        "levels spelled alike": [
            {"factor": name, "test": test, "training": train} for name, test, train in check.alike
        ],
    }
    return json_text(record)
