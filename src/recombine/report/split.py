"""Splits in a screenful: what was asked for and got, what each part proves, and what leaks; and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.jobs.split.check import SplitCheck
from recombine.jobs.split.table_files import TableSplit
from recombine.report.json_text import json_text
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.writing import join_words, listing, percent, plural, share

if TYPE_CHECKING:
    from rich.console import Console

#: What an error on test rows of each verdict speaks of; {if} stands for the condition under which verdicts hold.
PROVES = {
    Verdict.SEEN: "training has the same combination: this tests memory and noise, not new combinations",
    Verdict.DETERMINED: "never in training, yet fixed by it if {if}: this tests whether a model recombines",
    Verdict.DISCONNECTED: "all levels are in training, yet if {if} any value fits training equally well",
    Verdict.UNSEEN_LEVEL: "a level that training never has, so that nothing is known of its effect",
    Verdict.UNDECIDED: "arithmetic could not tell whether training fixes it",
    Verdict.BEYOND: "outside the range that training has: nothing says how the trend goes on there",
}
#: Version of the JSON documents: it grows when a field is renamed, removed or means something else.
SCHEMA = 1
#: Pairs of levels and copies that are shown.
MOST_SHOWN = 5


def split_text(found: TableSplit, width: int = 110) -> str:
    """Return a split as plain text without colours."""
    return plain_text(lambda console: show_split(found, console), width)


def check_text(found: SplitCheck, width: int = 110) -> str:
    """Return the check of a split as plain text without colours."""
    return plain_text(lambda console: show_check(found, console), width)


def show_split(found: TableSplit, console: Console) -> None:
    """Print a split to a rich console."""
    split, total = found.split, len(found.split.part)
    print_line(console, f"Recombine split of {found.rows.source.name}", "bold")
    cells = len(set(split.where.tolist()))
    print_line(
        console,
        f"{found.rows.title}: {plural(total, 'row')} in {plural(cells, 'cell')}. Each test row has the verdict of its "
        f"part if {sum_of(split.order).assumption}; verified cell by cell.",
    )
    print_title(console, "Asked for and got, as shares of the table's rows")
    _shares(found, console)
    for sentence in _remarks(found):
        print_line(console, f"  {sentence}")


def _shares(found: TableSplit, console: Console) -> None:
    from rich.text import Text

    split, total = found.split, len(found.split.part)
    table = plain_grid(4)
    table.add_row("", "", *(Text(text, style="dim") for text in ("asked", "got", "rows", "cells")))
    for row in split.shares.rows():
        verdict = next(one for one in Verdict if one.word == row["part"])
        words = PROVES[verdict].replace("{if}", sum_of(split.order).assumption)
        numbers = share(row["asked"]), share(row["got"]), f"{row['rows']:,}", f"{row['cells']:,}"
        table.add_row("", f"  {row['part']}", *numbers, words)
    cells = len(set(split.where[split.train].tolist()))
    table.add_row("", "  training", "", percent(len(split.train), total), f"{len(split.train):,}", f"{cells:,}", "")
    if split.unused:
        table.add_row("", "  unused", "", percent(split.unused, total), f"{split.unused:,}", "", "")
    console.print(table)


def _remarks(found: TableSplit) -> list[str]:
    said = []
    if found.split.unused:
        said.append(
            f"{plural(found.split.unused, 'row')} in neither part: in training they would fix what has to stay open."
        )
    for name, labels in found.hidden.items():
        said.append(f"{name}: {plural(len(labels), 'level')} in no training row: {listing(labels, MOST_SHOWN)}.")
    if found.stratified is not None:
        said.append(
            f"{found.stratified}: {share(found.split.unlike)} of the test rows would have to change class (or tenth, "
            "of numbers) to be distributed as the training rows are."
        )
    if found.left_out:
        said.append(f"{plural(found.left_out, 'row')} lack a factor and are in no part.")
    return said


def show_check(found: SplitCheck, console: Console) -> None:
    """Print the check of a split to a rich console."""
    rows, test = found.rows, len(found.where)
    print_line(console, f"Recombine split check of {found.column} in {rows.source.name}", "bold")
    print_line(
        console,
        f"{rows.title}: {plural(found.trained, 'training row')}, {plural(test, 'test row')} in "
        f"{plural(len(found.cells), 'cell')}. Verdicts hold if {found.choice.assumption}.",
    )
    print_title(console, "What the test rows are to training")
    _verdicts(found, console)
    for sentence in conclusions(found):
        print_line(console, f"  {sentence}")
    if not rows.kept.all():
        print_line(console, f"  {plural(int((~rows.kept).sum()), 'row')} lack a factor or a part and are left out.")
    if len(found.by_side) > 1:
        print_title(console, f"By {found.column}")
        for side, table in found.by_side.items():
            parts = [f"{row['verdict']} {share(row['share of rows'])}" for row in table.rows()]
            print_line(console, f"  {side}: {', '.join(parts)} of {plural(sum(table['rows'].tolist()), 'row')}")
    print_title(console, "Leaks")
    for finding in found.findings:
        print_line(console, f"  {finding}.")
    for sentence in _spellings(found):
        print_line(console, f"  {sentence}")
    if not found.leaks and not found.alike:
        what = ["the same cell", *(["a permuted cell"] if rows.symmetric else []), "a level spelled another way"]
        looked = [*what, *(["a copied level"] if len(rows.others) > 1 else [])]
        print_line(console, f"  None of what was looked for: {join_words(looked)} on both sides.")


def _verdicts(found: SplitCheck, console: Console) -> None:
    from rich.text import Text

    table = plain_grid(4)
    head = ("rows", "of rows", "cells", "of cells")
    table.add_row("", "", *(Text(text, style="dim") for text in head))
    for row in found.verdicts.rows():
        verdict = next(one for one in Verdict if one.word == row["verdict"])
        words = PROVES[verdict].replace("{if}", found.choice.assumption)
        numbers = f"{row['rows']:,}", share(row["share of rows"]), f"{row['cells']:,}", share(row["share of cells"])
        table.add_row("", f"  {verdict.word}", *numbers, words)
    console.print(table)


def conclusions(found: SplitCheck) -> list[str]:
    """Say what the split as a whole can show, in one sentence each."""
    rows = {row["verdict"]: row["share of rows"] for row in found.verdicts.rows()}
    said = []
    if rows.get("seen", 0.0) == 1.0:
        said.append(
            "Every test row repeats a combination of training: this split shows nothing about new combinations."
        )
    elif "determined" not in rows:
        said.append("No test row is determined by training without being in it: recombining is not tested.")
    open_share = sum(rows.get(verdict.word, 0.0) for verdict in (Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL))
    if open_share and "determined" in rows:
        said.append(
            f"{share(open_share)} of the test rows are open: training does not say their values; score them apart."
        )
    return said


def _spellings(found: SplitCheck) -> list[str]:
    if not found.alike:
        return []
    pairs = [f"{name} {test!r} and {train!r}" for name, test, train in found.alike]
    return [
        f"Levels of the test that differ from one of training only by the way they are written: "
        f"{listing(pairs, MOST_SHOWN)}."
    ]


def split_json(found: TableSplit) -> str:
    """Return a split as JSON text.

    Examples
    --------
    >>> import json, numpy as np, pandas as pd
    >>> from recombine.jobs.split import split_table
    >>> frame = pd.DataFrame(np.indices((6, 5)).reshape(2, -1).T, columns=["drug", "line"]).astype(str)
    >>> json.loads(split_json(split_table(frame, "determined:0.2", factors=["drug", "line"])))["parts"][0]["got"]
    0.2
    """
    split = found.split
    record: dict[str, Any] = {
        "recombine": __version__,
        "kind": "split",
        "schema": SCHEMA,
        "source": found.rows.source.name,
        "factors": [factor.name for factor in found.rows.factors],
        "order": split.order,
        "assumption": sum_of(split.order).assumption,
        "seed": found.seed,
        "rows": len(split.part),
        "rows left out": found.left_out,
        "parts": list(split.shares.rows()),
        "training rows": len(split.train),
        "unused rows": split.unused,
        "hidden levels": {name: list(labels) for name, labels in found.hidden.items()},
        "stratified by": found.stratified,
        "unlike": split.unlike,
    }
    return json_text(record)


def check_json(found: SplitCheck) -> str:
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
        "source": found.rows.source.name,
        "factors": [factor.name for factor in found.rows.factors],
        "split": found.column,
        "structure": found.choice.name,
        "assumption": found.choice.assumption,
        "training rows": found.trained,
        "test rows": len(found.where),
        "test cells": len(found.cells),
        "verdicts": list(found.verdicts.rows()),
        "by value": {side: list(table.rows()) for side, table in found.by_side.items()},
        "conclusions": conclusions(found),
        "leaks": [
            {"kind": leak.kind, "cells": leak.cells, "rows": leak.rows, "examples": list(leak.examples)}
            for leak in found.leaks
        ],
        "findings": [finding.record for finding in found.findings],
        "levels spelled alike": [
            {"factor": name, "test": test, "training": train} for name, test, train in found.alike
        ],
    }
    return json_text(record)
