"""Models that give values to cells nobody measured: ours and the usual ones, all behind one call.

A model is a function of a `Task` (training cells with outcomes, cells asked for) that returns a `Forecast`. All models
see the same: one row per cell with its mean outcome, which factors are labels and which are numbers. Numbers enter
the ridges and the Gaussian process both as levels and as numbers; forests and boostings have them as numbers.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Training cells up to which the Gaussian process is fitted: its time grows with their cube.
MAX_GP_CELLS = 300
#: Cells that the permutation test looks at; of larger tables so many are drawn.
MAX_TEST_CELLS = 800
PENALTIES = np.logspace(-3, 3, 13)
CATBOOST_TREES, FOREST_TREES = 300, 100
#: 90 % of a normal distribution lie within so many standard deviations.
NORMAL_WIDTH = 1.6449


@dataclass(frozen=True, eq=False)
class Forecast:
    """Values (M,) of the cells asked for, and the ends of their 90 % ranges where the model has some."""

    mean: Floats
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """Training cells (n, C), their outcomes (n,) and rows per cell (n,); cells asked for (M, C), rows of each (M,)."""

    seen: pd.DataFrame
    y: Floats
    asked: pd.DataFrame
    numeric: list[str]
    counts: NDArray[np.int64]
    asked_counts: NDArray[np.int64]

    @cached_property
    def levels(self) -> dict[str, list[object]]:
        """Levels of each factor: those seen, and for numbers those asked for after them."""
        table = {}
        for factor in self.seen:
            seen = sorted(self.seen[factor].unique())
            later = sorted(set(self.asked[factor].unique()) - set(seen)) if factor in self.numeric else []
            table[str(factor)] = seen + later
        return table

    def codes(self, cells: pd.DataFrame) -> NDArray[np.int64]:
        """Return the codes of levels (N, C), -1 for a label that was never seen."""
        return np.stack(
            [
                cells[factor].map({level: code for code, level in enumerate(levels)}).fillna(-1).astype(np.int64)
                for factor, levels in self.levels.items()
            ],
            axis=1,
        )

    def numbers(self, cells: pd.DataFrame) -> Floats:
        """Return numeric factors (N, K) with mean 0 and variance 1 over training cells."""
        given = self.seen[self.numeric].to_numpy(dtype=float)
        spread = given.std(axis=0)
        return (cells[self.numeric].to_numpy(dtype=float) - given.mean(axis=0)) / np.where(spread > 0, spread, 1)

    def features(self, cells: pd.DataFrame) -> Floats:
        """Return one column for every level, 0 or 1, and those of `numbers` (N, P)."""
        codes = self.codes(cells)
        sizes = [len(levels) for levels in self.levels.values()]
        columns = [codes[:, [place]] == np.arange(size) for place, size in enumerate(sizes)]
        return np.hstack([*columns, self.numbers(cells)]).astype(float)


def additive_kernel(task: Task, cells: pd.DataFrame) -> Floats:
    """Return products (N, n) of the features of cells with those of the training cells."""
    return task.features(cells) @ task.features(task.seen).T


def pairs_kernel(task: Task, cells: pd.DataFrame) -> Floats:
    """Return the same where products of the features of two factors are features too."""
    groups, seen = _grouped(task, cells), _grouped(task, task.seen)
    grams = [left @ right.T for left, right in zip(groups, seen, strict=True)]
    total = sum(grams, np.zeros((len(cells), len(task.seen))))
    for place, gram in enumerate(grams):
        for other in grams[:place]:
            total = total + gram * other
    return total


def _grouped(task: Task, cells: pd.DataFrame) -> list[Floats]:
    """Return the features that belong to each factor."""
    codes, numbers = task.codes(cells), task.numbers(cells)
    groups = []
    for place, (factor, levels) in enumerate(task.levels.items()):
        group = (codes[:, [place]] == np.arange(len(levels))).astype(float)
        if factor in task.numeric:
            group = np.hstack([group, numbers[:, [task.numeric.index(factor)]]])
        groups.append(group)
    return groups


@dataclass(frozen=True, eq=False)
class Ridge:
    """Ridge regression with an unpenalized mean, its penalty chosen by exact leave-one-out error."""

    vectors: Floats  # (n, n)
    values: Floats  # (n,)

    @classmethod
    def of(cls, kernel: Floats) -> Ridge:
        """Return the ridge of products of features (n, n)."""
        centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1, keepdims=True) + kernel.mean()
        values, vectors = np.linalg.eigh(centred)
        return cls(vectors, np.maximum(values, 0.0))

    def misses(self, y: Floats, penalty: float) -> Floats:
        """Return leave-one-out errors of outcomes (n, k)."""
        shrink = self.values / (self.values + penalty)
        centred = y - y.mean(axis=0)
        leverage = np.einsum("ij,j,ij->i", self.vectors, shrink, self.vectors) + 1 / len(y)
        fitted = self.vectors @ (shrink[:, None] * (self.vectors.T @ centred))
        return (centred - fitted) / np.maximum(1 - leverage, 1e-9)[:, None]

    def fit(self, y: Floats) -> tuple[Floats, Floats]:
        """Return weights of the training cells (n,) and leave-one-out errors (n,) at the best penalty."""
        errors = [self.misses(y[:, None], penalty)[:, 0] for penalty in PENALTIES]
        best = int(np.argmin([np.mean(error**2) for error in errors]))
        centred = self.vectors.T @ (y - y.mean())
        return self.vectors @ (centred / (self.values + PENALTIES[best])), errors[best]


def _ridge(task: Task, kernel_of: Callable[[Task, pd.DataFrame], Floats]) -> Forecast:
    kernel = kernel_of(task, task.seen)
    weights, misses = Ridge.of(kernel).fit(task.y)
    cross = kernel_of(task, task.asked)
    cross = cross - cross.mean(axis=1, keepdims=True) - kernel.mean(axis=0) + kernel.mean()
    mean = task.y.mean() + cross @ weights
    width = _quantile(np.abs(misses))
    return Forecast(mean, mean - width, mean + width)


def _quantile(distances: Floats) -> float:
    """Return the distance that nine in ten new ones do not exceed."""
    rank = min(int(np.ceil(0.9 * (len(distances) + 1))), len(distances))
    return float(np.sort(distances)[rank - 1])


def plain_mean(task: Task) -> Forecast:
    mean = np.full(len(task.asked), task.y.mean())
    away = np.abs(task.y - task.y.mean()) * len(task.y) / (len(task.y) - 1)
    return Forecast(mean, mean - _quantile(away), mean + _quantile(away))


def ridge(task: Task) -> Forecast:
    return _ridge(task, additive_kernel)


def ridge_pairs(task: Task) -> Forecast:
    return _ridge(task, pairs_kernel)


def gaussian_process(task: Task) -> Forecast:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    kernel = (
        ConstantKernel(0.3, (1e-4, 1e3)) * DotProduct(1.0, (1e-3, 1e3))
        + ConstantKernel(0.3, (1e-4, 1e3)) * RBF(2.0, (0.1, 100.0))
        + WhiteKernel(0.3, (1e-5, 10.0))
    )
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(task.features(task.seen), task.y)
    mean, sd = model.predict(task.features(task.asked), return_std=True)
    return Forecast(mean, mean - NORMAL_WIDTH * sd, mean + NORMAL_WIDTH * sd)


def catboost(task: Task) -> Forecast:
    from catboost import CatBoostRegressor

    labels = [factor for factor in task.seen if factor not in task.numeric]
    seen, asked = (cells.astype(dict.fromkeys(labels, str)) for cells in _frames(task))
    model = CatBoostRegressor(
        iterations=CATBOOST_TREES,
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
        cat_features=labels,
    )
    return Forecast(np.asarray(model.fit(seen, task.y).predict(asked)))


def _frames(task: Task) -> tuple[pd.DataFrame, pd.DataFrame]:
    return task.seen, task.asked


def forest(task: Task) -> Forecast:
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(FOREST_TREES, random_state=0, n_jobs=1)
    return Forecast(model.fit(_split_features(task, task.seen), task.y).predict(_split_features(task, task.asked)))


def _split_features(task: Task, cells: pd.DataFrame) -> Floats:
    """Return one column for every label, and numbers as they are."""
    codes = task.codes(cells)
    columns = [
        codes[:, [place]] == np.arange(len(levels))
        for place, (factor, levels) in enumerate(task.levels.items())
        if factor not in task.numeric
    ]
    return np.hstack([*columns, task.numbers(cells)]).astype(float)


def boosting(task: Task) -> Forecast:
    from sklearn.ensemble import HistGradientBoostingRegressor

    categorical = [factor not in task.numeric and len(levels) <= 255 for factor, levels in task.levels.items()]
    seen, asked = (np.where(task.codes(cells) < 0, np.nan, task.codes(cells)) for cells in _frames(task))
    model = HistGradientBoostingRegressor(
        categorical_features=categorical, min_samples_leaf=5, early_stopping=False, random_state=0
    )
    for place, factor in enumerate(task.levels):
        if factor in task.numeric:
            seen[:, place], asked[:, place] = task.seen[factor], task.asked[factor]
    return Forecast(model.fit(seen, task.y).predict(asked))


def regressor(task: Task) -> Forecast:
    import recombine as rc

    model = rc.CompositionalRegressor().fit(task.seen, task.y)
    return Forecast(*model.predict(task.asked, return_range=True))


def components(task: Task) -> Forecast:
    return _components(task, None, np.ones(len(task.asked)))


def components_counts(task: Task) -> Forecast:
    """Our model, told of how many rows each mean is."""
    return _components(task, task.counts, task.asked_counts)


def _components(task: Task, counts: NDArray[np.int64] | None, asked_counts: NDArray[np.int64]) -> Forecast:
    from recombine.theory.components import fit_components

    coordinates = {
        place: np.array(levels, dtype=float)
        for place, (factor, levels) in enumerate(task.levels.items())
        if factor in task.numeric
    }
    fit = fit_components(task.codes(task.seen), task.y, counts, coordinates=coordinates)
    prediction = fit.predict(task.codes(task.asked), asked_counts)
    return Forecast(prediction.mean, prediction.low, prediction.high)


R_SERVER = """
suppressMessages(library(lme4))
input <- file("stdin", "r")
repeat {
  folder <- readLines(input, 1)
  if (length(folder) == 0) break
  seen <- read.csv(file.path(folder, "seen.csv"), colClasses = "character")
  asked <- read.csv(file.path(folder, "asked.csv"), colClasses = "character")
  seen$y <- as.numeric(seen$y)
  factors <- setdiff(names(seen), "y")
  formula <- as.formula(paste("y ~ 1 +", paste0("(1 | ", factors, ")", collapse = " + ")))
  started <- proc.time()
  control <- lmerControl(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore", calc.derivs = FALSE)
  values <- tryCatch({
    model <- suppressMessages(suppressWarnings(lmer(formula, seen, control = control)))
    predict(model, asked, allow.new.levels = TRUE)
  }, error = function(condition) rep(NA, nrow(asked)))
  spent <- sum((proc.time() - started)[c(1, 2)])
  write.table(c(spent, values), file.path(folder, "values.txt"), row.names = FALSE, col.names = FALSE)
  cat("done\\n"); flush(stdout())
}
"""


class Lme4:
    """R's lme4 with one intercept per level of each factor, in one R process for all tasks."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="values-lme4-"))
        (self.folder / "server.R").write_text(R_SERVER, encoding="utf-8")
        self.process = subprocess.Popen(
            ["Rscript", "--vanilla", str(self.folder / "server.R")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fit(self, task: Task) -> tuple[Forecast, float]:
        """Return values and the seconds that R spent on fitting and predicting."""
        names = {factor: f"f{place}" for place, factor in enumerate(task.seen)}
        task.seen.astype(str).rename(columns=names).assign(y=task.y).to_csv(self.folder / "seen.csv", index=False)
        task.asked.astype(str).rename(columns=names).to_csv(self.folder / "asked.csv", index=False)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{self.folder}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "done":
            raise RuntimeError("R ended; are Rscript and lme4 installed?")
        spent, *values = np.genfromtxt(self.folder / "values.txt", missing_values="NA").tolist()
        return Forecast(np.array(values)), spent


def applies(name: str, task: Task) -> bool:
    """Say whether a model is fitted to a task: counts of one row each say nothing, the process is for small tables."""
    if name == "components with counts":
        return float(task.counts.mean()) > 1.5
    return name != "Gaussian process" or len(task.y) <= MAX_GP_CELLS


#: Names of models as they are printed, and how each is fitted; lme4 goes by its own process.
MODELS: dict[str, Callable[[Task], Forecast]] = {
    "plain mean": plain_mean,
    "ridge": ridge,
    "ridge with pairs": ridge_pairs,
    "Gaussian process": gaussian_process,
    "CatBoost": catboost,
    "forest": forest,
    "HistGradientBoosting": boosting,
    "CompositionalRegressor": regressor,
    "components": components,
    "components with counts": components_counts,
}
LME4 = "lme4"
OURS = ("CompositionalRegressor", "components", "components with counts")


def fit_timed(name: str, task: Task, lme4: Lme4 | None) -> tuple[Forecast, float]:
    """Return a model's forecast and the CPU seconds it took."""
    if name == LME4:
        if lme4 is None:
            raise RuntimeError("no R here")
        return lme4.fit(task)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forecast = MODELS[name](task)
    return forecast, time.process_time() - started


def has_structure(task: Task, seed: int, permutations: int = 99) -> bool:
    """Say whether effects of levels foretell left-out outcomes better than for 95 % of shuffled ones."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(task.y))[:MAX_TEST_CELLS])
    ridge_fit = Ridge.of(additive_kernel(task, task.seen)[np.ix_(rows, rows)])
    y = task.y[rows]
    outcomes = np.column_stack([y, *(rng.permutation(y) for _ in range(permutations))])
    errors = [np.mean(ridge_fit.misses(outcomes, penalty) ** 2, axis=0) for penalty in PENALTIES[1::3]]
    smallest = np.min(errors, axis=0)
    return bool(np.mean(smallest <= smallest[0]) <= 0.05)
