"""Splits in a screenful: what was asked for and got, what each part proves, and what leaks; and as JSON."""

from __future__ import annotations

from recombine.design.design import used_table
from recombine.jobs.findings.leaks import leak_examples
from recombine.jobs.split.check import SplitCheck
from recombine.jobs.split.table_files import TableSplit
from recombine.report.json_text import json_document
from recombine.report.layout import Section, guess_lines, text_grid
from recombine.theory.structures.all_structures import sum_of
from recombine.words import split as words
from recombine.writing import percent, share


def split_sections(made: TableSplit) -> list[Section]:
    """Return what was asked for and got of each part, and what it proves."""
    split, total = made.split, len(made.split.part)
    assumption, cells = sum_of(split.order).assumption, len(set(split.where[split.train].tolist()))
    rows = []
    for row in split.shares.rows():
        numbers = share(row["asked"]), share(row["got"]), f"{row['rows']:,}", f"{row['cells']:,}"
        rows.append([f"  {row['part']}", *numbers, words.proof_of(words.VERDICTS[row["part"]], assumption)])
    rows.append(["  training", "", percent(len(split.train), total), f"{len(split.train):,}", f"{cells:,}"])
    if split.unused:
        rows.append(["  unused", "", percent(split.unused, total), f"{split.unused:,}"])
    grid = text_grid(rows, ["", "asked", "got", "rows", "cells"], 4)
    return [
        Section(
            f"Recombine split of {made.rows.source.name}", [words.split_opening(made), *guess_lines(made.rows.design)]
        ),
        Section(words.SHARES_TITLE, [grid, *words.split_remarks(made)]),
    ]


def check_sections(check: SplitCheck) -> list[Section]:
    """Return what test rows are to training, what the split can show, and what leaks."""
    rows = []
    for row in check.verdicts.rows():
        numbers = f"{row['rows']:,}", share(row["share of rows"]), f"{row['cells']:,}", share(row["share of cells"])
        proof = words.proof_of(words.VERDICTS[row["verdict"]], check.choice.assumption)
        rows.append([f"  {row['verdict']}", *numbers, proof])
    grid = text_grid(rows, ["", "rows", "of rows", "cells", "of cells"], 4)
    return [
        Section(words.check_title(check), [words.check_opening(check), *guess_lines(check.rows.design)]),
        Section(words.CHECK_TITLE, [grid, *words.check_conclusions(check), *words.check_remarks(check)]),
        Section(f"By {check.column}", words.check_sides(check)),
        Section("Leaks", words.check_leaks(check)),
    ]


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
    record = {
        "source": made.rows.source.name,
        "table": used_table(made.rows.design),
        "factors": [factor.name for factor in made.rows.design.factors],
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
    return json_document("split", record)


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
        "source": check.rows.source.name,
        "table": used_table(check.rows.design),
        "factors": [factor.name for factor in check.rows.design.factors],
        "split": check.column,
        "structure": check.choice.name,
        "assumption": check.choice.assumption,
        "asked": check.choice.asked or check.choice.order_asked,
        "training rows": check.trained,
        "test rows": len(check.where),
        "test cells": len(check.cells),
        "verdicts": list(check.verdicts.rows()),
        "by value": {side: list(table.rows()) for side, table in check.by_side.items()},
        "conclusions": words.check_conclusions(check),
        "leaks": [
            {"kind": leak.kind, "cells": leak.cells, "rows": leak.rows, "examples": leak_examples(leak)}
            for leak in check.leaks
        ],
        "findings": [finding.record for finding in check.findings],
        "levels spelled alike": [
            {"factor": name, "test": test, "training": train} for name, test, train in check.alike
        ],
    }
    return json_document("split check", record)
