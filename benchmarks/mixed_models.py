"""Variance components of crossed factors with thousands of levels: ours beside R's lme4, one thread each.

``python benchmarks/mixed_models.py`` needs Rscript with lme4; without it ours is fitted alone. 70,000 drawn rows of two
crossed factors with 3,000 and 1,100 levels (the size of lme4's InstEval: marks that students gave lecturers), then
InstEval itself, are fitted by both: the restricted maximum-likelihood criterion (-2 log likelihood), the variance
components, the seconds of one thread and their ratio. R is timed by itself, without its start. Then ours alone fits one
million cells of three factors with main effects and pairs: time and peak memory. ``--rows`` and ``--cells`` make both
smaller, ``--skip-lme4`` fits ours alone.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import platform
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULT = Path(__file__).parents[1] / "results" / "values" / "mixed_models.json"
STUDENTS, LECTURERS = 3_000, 1_100
#: Standard deviations of the drawn effects and of the rows, about those of InstEval.
STUDENT_SD, LECTURER_SD, ROW_SD = 0.33, 0.52, 1.18
#: Levels of the three factors of the large table, and standard deviations of main effects, pairs and cells.
SHAPE = (200, 100, 50)
MAIN_SD, PAIR_SD, CELL_SD = 1.0, 0.4, 0.5

R_SCRIPT = """
suppressMessages(library(lme4))
folder <- commandArgs(TRUE)[1]
if (file.exists(file.path(folder, "rows.csv"))) {
  rows <- read.csv(file.path(folder, "rows.csv"))
  rows$s <- factor(rows$s); rows$d <- factor(rows$d)
} else {
  rows <- InstEval
  write.csv(data.frame(s = as.integer(rows$s), d = as.integer(rows$d), y = rows$y),
            file.path(folder, "rows.csv"), row.names = FALSE)
}
started <- proc.time()
model <- lmer(y ~ 1 + (1 | s) + (1 | d), rows)
spent <- proc.time() - started
parts <- as.data.frame(VarCorr(model))
variances <- parts$vcov[match(c("s", "d", "Residual"), parts$grp)]
numbers <- c(spent[["elapsed"]], sum(spent[c(1, 2)]), REMLcrit(model), variances)
write.table(format(numbers, digits = 15), file.path(folder, "fit.txt"), row.names = FALSE, col.names = FALSE,
            quote = FALSE)
cat(as.character(packageVersion("lme4")), R.version.string, sep = "\\n")
"""


def drawn_rows(count: int, seed: int) -> pd.DataFrame:
    """Return rows of a student s, a lecturer d and a mark y; some lecturers have far more rows than others."""
    rng = np.random.default_rng(seed)
    popular = rng.gamma(1.0, size=LECTURERS)
    s = rng.integers(STUDENTS, size=count)
    d = rng.choice(LECTURERS, size=count, p=popular / popular.sum())
    y = 3 + STUDENT_SD * rng.normal(size=STUDENTS)[s] + LECTURER_SD * rng.normal(size=LECTURERS)[d]
    return pd.DataFrame({"s": s, "d": d, "y": y + ROW_SD * rng.normal(size=count)})


def by_lme4(folder: Path) -> dict[str, Any]:
    """Fit the rows of a folder, or InstEval where it has none, and return what R says."""
    script = folder / "fit.R"
    script.write_text(R_SCRIPT, encoding="utf-8")
    command = ["Rscript", "--vanilla", str(script), str(folder)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    elapsed, cpu, criterion, *variances = np.loadtxt(folder / "fit.txt").tolist()
    return {
        "seconds": elapsed,
        "CPU s": cpu,
        "criterion": criterion,
        "variances": variances,
        "R": answer.stdout.split("\n"),
    }


def by_ours(rows: pd.DataFrame) -> dict[str, Any]:
    """Fit the same model by the sparse equations, without the weak prior that lme4 does not have."""
    from recombine.theory.components import Factors, maximize_criterion
    from recombine.theory.components.sparse import SparseCriterion, mixed_equations
    from recombine.theory.components.terms import label_term

    started, cpu = time.perf_counter(), time.process_time()
    codes = np.stack([pd.factorize(rows[factor], sort=True)[0] for factor in ("s", "d")], axis=1)
    y = rows["y"].to_numpy(dtype=float)
    terms = (label_term(0), label_term(1))
    equations = mixed_equations(Factors.of(codes), codes, y, np.ones(len(y)), terms)
    saliences = maximize_criterion(SparseCriterion(equations), np.full(3, -2.3), tolerance=1e-6)
    return {
        "seconds": time.perf_counter() - started,
        "CPU s": time.process_time() - cpu,
        "criterion": -2 * saliences.value,
        "variances": [*saliences.variances.tolist(), saliences.noise],
    }


def compare(name: str, rows: pd.DataFrame | None, with_lme4: bool) -> dict[str, Any]:
    """Fit a table by both and print them beside each other."""
    record: dict[str, Any] = {"table": name}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        if rows is not None:
            rows.to_csv(folder / "rows.csv", index=False)
        if with_lme4:
            record["lme4"] = by_lme4(folder)
        record["ours"] = by_ours(pd.read_csv(folder / "rows.csv"))
    for who in ("lme4", "ours"):
        if who in record:
            fit = record[who]
            parts = ", ".join(f"{value:.6f}" for value in fit["variances"])
            print(
                f"{name}, {who}: {fit['seconds']:.2f} s ({fit['CPU s']:.2f} CPU), REML {fit['criterion']:.4f}, ", end=""
            )
            print(f"variances of students, lecturers, rows {parts}", flush=True)
    if with_lme4:
        record["ratio"] = record["ours"]["CPU s"] / record["lme4"]["CPU s"]
        print(f"{name}: ours takes {record['ratio']:.2f} of lme4's CPU seconds", flush=True)
    return record


def large_table(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return cells (N, 3) of three factors in a shape of about ``count`` cells, and their outcomes (N,)."""
    rng = np.random.default_rng(seed)
    shape = tuple(max(2, round(size * (count / np.prod(SHAPE)) ** (1 / 3))) for size in SHAPE)
    codes = np.indices(shape).reshape(3, -1).T
    y = CELL_SD * rng.normal(size=len(codes))
    for place, size in enumerate(shape):
        y += MAIN_SD * rng.normal(size=size)[codes[:, place]]
        later = (place + 1) % 3
        y += PAIR_SD * rng.normal(size=(size, shape[later]))[codes[:, place], codes[:, later]]
    return codes, y


def fit_large(count: int, seed: int) -> dict[str, Any]:
    """Fit main effects and pairs of the large table with ours; print time, variances and peak memory."""
    from recombine.theory.components import Factors, maximize_criterion
    from recombine.theory.components.sparse import SparseCriterion, mixed_equations
    from recombine.theory.components.terms import label_term

    codes, y = large_table(count, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    terms = tuple(label_term(*chosen) for chosen in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)))
    equations = mixed_equations(Factors.of(codes), codes, y, np.ones(len(y)), terms)
    saliences = maximize_criterion(SparseCriterion(equations), np.full(7, -2.3))
    record = {
        "cells": len(y),
        "seconds": time.perf_counter() - started,
        "CPU s": time.process_time() - cpu,
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "MiB before": before / 1024,
        "variances": [*saliences.variances.tolist(), saliences.noise],
        "planted": [MAIN_SD**2] * 3 + [PAIR_SD**2] * 3 + [CELL_SD**2],
    }
    print(f"{len(y):,} cells of three factors, main effects and pairs: {record['seconds']:.1f} s ", end="")
    print(f"({record['CPU s']:.1f} CPU), peak memory {record['peak MiB']:.0f} MiB ({before / 1024:.0f} before)")
    print("variances " + ", ".join(f"{value:.4f}" for value in record["variances"]), end="")
    print("; planted " + ", ".join(f"{value:.4f}" for value in record["planted"]), flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip-lme4", action="store_true")
    parser.add_argument("--write", action="store_true", help="store results in results/values")
    options = parser.parse_args()
    with_lme4 = not options.skip_lme4 and shutil.which("Rscript") is not None
    tables = [compare("drawn", drawn_rows(options.rows, options.seed), with_lme4)]
    if with_lme4:
        tables.append(compare("InstEval", None, True))
    large = fit_large(options.cells, options.seed)
    if options.write:
        record = {
            "command": shlex.join(["python", *sys.argv]),
            "versions": {name: version(name) for name in ("numpy", "scipy", "recombine")},
            "python": platform.python_version(),
            "seed": options.seed,
            "device": "cpu",
            "tables": tables,
            "large": large,
        }
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
