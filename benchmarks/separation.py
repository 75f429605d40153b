"""Random tables of 0/1 outcomes, classes and counts: is there a maximum-likelihood fit? Ours beside R's, one by one.

Run: ``python benchmarks/separation.py --tables 1000 [--r-library FOLDER]``. It needs ``Rscript`` with the packages
brglm2 and detectseparation (Debian: r-base-core and r-cran-brglm2; detectseparation, ROI, ROI.plugin.lpsolve and
lpSolveAPI from CRAN).

R decides by linear programming in floating point (Konis 2007), for binomial models alone. Counts and classes are put to
it as the binomial model with the same separating directions: an empty cell of a log-linear model as a cell with
failures only, any other as one with both; classes as counts with one effect for each cell (Baker 1994). Where both say
that the fit exists, R's ``glm`` fits it too, and coefficients and standard errors are compared; counts are also
compared with where ``glm`` puts means that vanish, which uses no linear programme. An effect that detectseparation says
is finite while ours and R's own ``glm`` diverge is counted apart.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recombine.cells import every_cell
from recombine.theory.structures import Limit, effect_limits, existence, fit_likelihood, fitted_effects

COLUMNS = ["table", "family", "factors", "order", "s", "f", "count", "class", "f0", "f1", "f2"]
FAMILIES = ("logit", "softmax", "log")

SCRIPT = r"""
suppressMessages(library(detectseparation))
arguments <- commandArgs(TRUE)
rows <- read.csv(arguments[1])
out <- file(arguments[2], "w")
for (part in split(rows, rows$table)) {
  family <- part$family[1]
  names <- paste0("f", seq_len(part$factors[1]) - 1)
  for (name in names) part[[name]] <- factor(part[[name]])
  varying <- names[sapply(names, function(name) nlevels(part[[name]]) > 1)]
  terms <- varying
  if (part$order[1] == 2 && length(varying) > 1) terms <- c(varying, combn(varying, 2, paste, collapse = ":"))
  if (family == "softmax") {
    part$class <- factor(part$class)
    part$cell <- factor(do.call(paste, part[names]))
    terms <- c(if (nlevels(part$cell) > 1) "cell", "class", if (length(terms)) paste0("class:", terms))
  }
  model <- reformulate(if (length(terms)) terms else "1", quote(cbind(s, f)))
  found <- tryCatch(glm(model, family = binomial(), data = part, method = "detect_separation"),
                    error = function(e) NULL)
  separated <- if (is.null(found)) NA else if (!is.null(found$outcome)) found$outcome else found$separation
  coefs <- if (is.null(found)) c() else coef(found)
  cat(part$table[1], "separation", "", separated, "\n", sep = ",", file = out)
  for (name in names(coefs)) cat(part$table[1], "direction", name, coefs[[name]], "\n", sep = ",", file = out)
  if (family == "softmax") next
  control <- glm.control(epsilon = 1e-14, maxit = 200)
  if (family == "log") model <- update(model, count ~ .)
  kind <- if (family == "log") poisson() else binomial()
  fit <- tryCatch(suppressWarnings(glm(model, family = kind, data = part, control = control)),
                  error = function(e) NULL)
  if (is.null(fit)) next
  errors <- sqrt(diag(vcov(fit)))
  for (name in names(coef(fit))) cat(part$table[1], "coefficient", name, coef(fit)[[name]], errors[name], "\n",
                                     sep = ",", file = out)
  if (family == "log") cat(part$table[1], "smallest", "", min(fitted(fit)), "\n", sep = ",", file = out)
}
close(out)
"""


@dataclass
class Sample:
    """One random table: cells (N, C), outcomes (N,), and what the model is."""

    family: str
    cells: np.ndarray
    y: np.ndarray
    order: int

    def arguments(self) -> dict[str, Any]:
        """Return the model as arguments of `existence`."""
        return {"family": self.family, "order": self.order} | ({"classes": 3} if self.family == "softmax" else {})


def random_table(number: int) -> Sample:
    rng = np.random.default_rng([2026, number])
    family = FAMILIES[number % 3]
    factors = int(rng.integers(1, 4))
    sizes = tuple(int(size) for size in rng.integers(2, 5 if factors < 3 else 4, size=factors))
    order = 2 if factors > 1 and rng.random() < 0.3 else 1
    grid = every_cell(sizes)
    seen = grid[rng.random(len(grid)) < rng.choice([0.5, 0.8, 1.0])]
    seen = seen if len(seen) else grid[:1]
    effects = [rng.normal(0, rng.choice([0.3, 1.0, 2.0]), size=(size, 3)) for size in sizes]
    sums = sum(effect[seen[:, factor]] for factor, effect in enumerate(effects)) + rng.normal(size=3)
    if family == "log":
        return Sample(
            family, seen, rng.poisson(np.exp(np.minimum(sums[:, 0] - rng.choice([-1.5, 0.0, 1.0]), 4))), order
        )
    repeats = rng.integers(1, rng.choice([2, 4, 12, 40]), size=len(seen))
    cells, sums = np.repeat(seen, repeats, axis=0), np.repeat(sums, repeats, axis=0)
    used = 2 if family == "logit" else 3
    noise = rng.gumbel(size=(len(cells), used))
    return Sample(family, cells, (sums[:, :used] + noise).argmax(axis=1), order)


def rows_for_r(number: int, table: Sample) -> Iterator[list[Any]]:
    """Yield the table as binomial counts: table, family, factors, order, successes, failures, count, class, levels."""
    cells, where = np.unique(table.cells, axis=0, return_inverse=True)
    start = [number, table.family, table.cells.shape[1], table.order]
    padding = [0] * (3 - table.cells.shape[1])
    for place, cell in enumerate(cells.tolist()):
        y = table.y[where.reshape(-1) == place]
        if table.family == "logit":
            yield [*start, int((y == 1).sum()), int((y == 0).sum()), 0, 0, *cell, *padding]
        elif table.family == "log":
            yield [*start, int(y[0] > 0), 1, int(y[0]), 0, *cell, *padding]
        else:
            counts = np.bincount(y, minlength=3)
            yield from (
                [*start, int(count > 0), 1, int(count), one, *cell, *padding] for one, count in enumerate(counts)
            )


def environment(library: str | None) -> dict[str, str]:
    return dict(os.environ) | ({"R_LIBS": library} if library else {})


def r_is_ready(library: str | None) -> bool:
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "quit(status = !requireNamespace('detectseparation', quietly = TRUE))"]
    return subprocess.run(asked, env=environment(library), check=False).returncode == 0


def ask_r(tables: list[Sample], library: str | None) -> dict[int, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        asked, script, told = (Path(folder) / name for name in ("rows.csv", "ask.R", "told.csv"))
        script.write_text(SCRIPT)
        with asked.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(itertools.chain.from_iterable(rows_for_r(*pair) for pair in enumerate(tables)))
        subprocess.run(["Rscript", str(script), str(asked), str(told)], check=True, env=environment(library))
        answers: dict[int, dict[str, Any]] = {number: {} for number in range(len(tables))}
        for line in csv.reader(told.open()):
            answer = answers[int(line[0])]
            if line[1] in ("direction", "coefficient"):
                answer.setdefault(line[1], {})[line[2]] = line[3:]
            else:
                answer[line[1]] = line[3]
    return answers


def name_in_r(effect: Any) -> str:
    parts = [f"f{factor}{level}" for factor, level in zip(effect.factors, effect.levels, strict=True)]
    return ":".join(parts) or "(Intercept)"


def compare(table: Sample, answer: dict[str, Any], tally: Counter[str]) -> list[str]:
    """Return what differs, and count what was compared."""
    found = existence(table.cells, table.y, **table.arguments())
    tally[f"{table.family}: {found.separation}"] += 1
    wrong = []
    if answer["separation"] == "NA":
        tally["no answer of R"] += 1
    else:
        tally["compared: separated or not"] += 1
        if (answer["separation"] == "TRUE") == found.exists:
            wrong.append(f"separated: R {answer['separation']}, ours {found.separation}")
    if "smallest" in answer:
        tally["compared: means that vanish in glm"] += 1
        if (float(answer["smallest"]) > 1e-6) != found.exists:
            wrong.append(f"smallest mean in R {answer['smallest']}, ours {found.separation}")
    if table.family == "softmax":
        return wrong
    if "coefficient" not in answer:
        tally["glm of R stopped with an error"] += 1
        return wrong
    if any(values[0] == "NA" for values in answer["coefficient"].values()):
        return wrong
    return wrong + compare_effects(table, answer, found, tally)


def compare_effects(table: Sample, answer: dict[str, Any], found: Any, tally: Counter[str]) -> list[str]:
    wrong = []
    for effect in effect_limits(found):
        told = answer.get("direction", {}).get(name_in_r(effect), ["0"])[0]
        tally["compared: directions of effects"] += 1
        if told == "0" and effect.limit in (Limit.INFINITE, Limit.MINUS_INFINITE):
            # R's programme looks for one direction inside a box, which may leave out an effect that does diverge.
            estimate, error = (float(value) for value in answer["coefficient"][name_in_r(effect)][:2])
            if error > 100 and abs(estimate) > 8 and (estimate > 0) == (effect.limit == Limit.INFINITE):
                tally["effects said finite by detectseparation that diverge in R's glm and in ours"] += 1
                continue
        allowed = {Limit.FINITE: {"0"}, Limit.INFINITE: {"Inf"}, Limit.MINUS_INFINITE: {"-Inf"}}
        if told not in allowed.get(effect.limit, {"0", "Inf", "-Inf", "NA"}):
            wrong.append(f"{name_in_r(effect)}: R {told}, ours {effect.limit.name}")
    if found.exists:
        for one in fitted_effects(fit_likelihood(table.cells, table.y, **table.arguments())):
            tally["compared: estimates and standard errors"] += 1
            estimate, error = (float(value) for value in answer["coefficient"][name_in_r(one.effect)][:2])
            if abs(estimate - one.estimate) > 1e-5 * (1 + abs(estimate)) or abs(error - one.error) > 1e-4 * error:
                wrong.append(f"{name_in_r(one.effect)}: R {estimate} ({error}), ours {one.estimate} ({one.error})")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--r-library", help="folder of R packages besides R's own")
    arguments = parser.parse_args()
    if not r_is_ready(arguments.r_library):
        print("Rscript with the package detectseparation was not found, so nothing was compared; see --help")
        return 0
    tables = [random_table(number) for number in range(arguments.tables)]
    start = time.perf_counter()
    answers = ask_r(tables, arguments.r_library)
    between = time.perf_counter()
    tally: Counter[str] = Counter()
    differing = 0
    for number, table in enumerate(tables):
        wrong = compare(table, answers[number], tally)
        differing += bool(wrong)
        for line in wrong:
            print(f"table {number} ({table.family}, order {table.order}): {line}")
    for name, count in sorted(tally.items()):
        print(f"{name}: {count}")
    print(f"R {between - start:.1f} s, ours {time.perf_counter() - between:.1f} s")
    print(f"{differing} of {len(tables)} tables differ")
    return int(differing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
