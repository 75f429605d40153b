"""Tables unlike each other, on which forecasts are tried: chosen by the rule in this file, a quarter of them kept back.

- From two lists that were made for other ends: `results/reading/roles.json`, factors and outcomes as help pages have
  them, and `results/values/tables.json`, chosen by the rule of `value_tables`. Where roles give one factor or fewer
  than `MIN_CELLS` cells, columns that may be factors are taken too, in the order of the list. The outcome is the first
  that is a number or has two values.
- Tables of fewer than `MIN_CELLS` cells, of one outcome, and those that repeat another (`value_tables`) are left out.
  Of larger ones `MAX_CELLS` cells are drawn.
- The hash of the name says which share of the cells trains, 30 or 60 %, and whether a table is kept back; where fewer
  than `MIN_JUDGED` held-out cells are determined, the other share is tried.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from recombine.progress import each
from trained_models import Trial
from value_tables import CATALOGUE, ValueTable, distinct_tables, hashed, is_told_by_one_factor, loaded, table_of

ROLES = Path(__file__).parents[1] / "results" / "reading" / "roles.json"
MIN_CELLS, MAX_CELLS, MIN_JUDGED = 20, 300, 8
SHARES = (0.3, 0.6)


def is_kept_back(name: str) -> bool:
    """Say whether a table is in the quarter that is looked at once, at the end."""
    return hashed(name, "forecast") % 4 == 0


def roles_of_tables() -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """Yield name, factors, columns that may be, and outcomes in order of preference, of every listed table."""
    for entry in json.loads(CATALOGUE.read_text(encoding="utf-8"))["tables"]:
        yield entry["name"], entry["factors"], [], [entry["outcome"]]
    for name, roles in json.loads(ROLES.read_text(encoding="utf-8"))["tables"].items():
        if roles["factors"] and roles["outcome"]:
            yield name.replace(".", "/", 1), roles["factors"], roles.get("also_right", []), roles["outcome"]


def forecast_tables() -> list[ValueTable]:
    """Return the tables that the rule chooses, by name."""
    tables: dict[str, ValueTable] = {}
    for name, factors, more, outcomes in each("tables", list(roles_of_tables())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = None if name in tables else _table(name, factors, more, outcomes)
        if table is not None:
            tables[name] = table
    return [table for table in distinct_tables(list(tables.values())) if not is_told_by_one_factor(table)]


def _table(name: str, factors: list[str], more: list[str], outcomes: list[str]) -> ValueTable | None:
    frame = loaded(*name.split("/", 1))
    if frame is None:
        return None
    told = [column for column in outcomes if column in frame and _is_outcome(frame[column])]
    taken, rest = ([column for column in columns if column in frame] for columns in (factors, more))
    while told and (len(taken) > 1 or rest):
        if len(taken) > 1:
            table = table_of(name, frame, taken, told[0])
            if len(table.outcome) >= MIN_CELLS and np.ptp(table.outcome) > 0:
                return table
        if not rest:
            return None
        taken.append(rest.pop(0))
    return None


def _is_outcome(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or column.nunique() == 2


def real_trials(tables: list[ValueTable]) -> Iterator[Trial]:
    """Yield one trial per table that has enough held-out cells which training cells determine, in random order."""
    for position, table in enumerate(sorted(tables, key=lambda table: hashed(table.name, "order"))):
        generator = np.random.default_rng(hashed(table.name, "draw") % 2**32)
        chosen = np.sort(generator.permutation(len(table.outcome))[:MAX_CELLS])
        cells = table.cells.iloc[chosen]
        codes = np.stack([pd.factorize(cells[factor], sort=True)[0] for factor in cells], axis=1).astype(np.int64)
        first = hashed(table.name, "share") % 2
        for share in (SHARES[first], SHARES[1 - first]):
            train = generator.random(len(codes)) < share
            trial = Trial(table.name, "real", position, codes, table.outcome[chosen], train, tuple(table.cells))
            if train.sum() >= MIN_JUDGED and np.ptp(trial.outcome[train]) > 0 and trial.known.sum() >= MIN_JUDGED:
                yield trial
                break
