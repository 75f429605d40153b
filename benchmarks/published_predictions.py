"""Judge published predictions without training: GEARS on pairs of genes, beside adding and a link on the same pairs.

The files are in the repository of NAIAD (Qin et al., ICML 2025, arXiv 2411.12010), which has no licence: nothing of
them is kept here. Get them, then judge them; ``--write`` writes ``results/gallery/gears.json``::

    git clone https://github.com/NeptuneBio/NAIAD && git -C NAIAD checkout c2d4990
    python benchmarks/published_predictions.py NAIAD [--tables FOLDER] [--write]

Each of 24 files lists pairs of genes with their measured fitness and a prediction; pairs that a file does not list were
trained on. The notebook that wrote them makes its model once and trains it on, file after file, so that most files list
pairs which an earlier file's training had used. Every file is therefore judged twice: as it is listed, and on the pairs
that no training had used until then. ``--tables`` keeps the tables, for ``recombine score``.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recombine as rc
from recombine.jobs.score import Amount, Score
from recombine.words import unclear_sentences

Pair = tuple[str, str]

#: Seeds and numbers of training pairs asked for, in the order of the notebook's loops.
SEEDS, SIZES = (123, 847, 618), (100, 200, 350, 500, 750, 1000, 1250, 1500)
PREDICTIONS = "paper_reproduce/fig3/gears/results/raw_y_pred_no_pretrain_update_seed{seed}_nsample{size}norman.csv"
#: The same predictions where the paper's table is made, and the sizes that some files are called by there.
AGAIN, CALLED = PREDICTIONS.replace("fig3", "table1"), {200: 224, 500: 560, 1000: 1120}
MEASURED = "tutorials/data/norman_gamma.csv"
NOTEBOOK = "paper_reproduce/fig3/gears/GEARS_SI_Fig_17_Norman.ipynb"
FIGURE = "paper_reproduce/fig3/fig3.ipynb"
#: Colour of GEARS in the published figure.
GEARS_LINE = "#9467bd"
#: What stands beside a gene perturbed alone. GEARS was given the fitness of a gene paired with itself there.
ALONE = "ctrl"
FACTORS = ["gene_a", "gene_b"]
RESULTS = Path(__file__).parents[1] / "results" / "gallery" / "gears.json"


@dataclass(frozen=True, eq=False)
class Run:
    """One published file: pairs listed with truth and prediction, and what the model had been trained on by then.

    ``trained`` are the pairs that the file does not list, ``before`` those that files of earlier seeds had trained on.
    """

    seed: int
    size: int
    truth: dict[Pair, float]
    predicted: dict[Pair, float]
    trained: frozenset[Pair]
    before: frozenset[Pair]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Prediction less truth, one per listed pair."""
        return np.array([self.predicted[pair] - self.truth[pair] for pair in self.truth])


def pair_of(first: str, second: str) -> Pair:
    return (first, second) if first <= second else (second, first)


def runs(folder: Path) -> list[Run]:
    """Return the published files in the order in which the notebook wrote them."""
    listed = {}
    for seed in SEEDS:
        for size in SIZES:
            with (folder / PREDICTIONS.format(seed=seed, size=size)).open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            listed[seed, size] = {pair_of(*row["test_pert"].split("+")): row for row in rows}
    genes = sorted({gene for pairs in listed.values() for pair in pairs for gene in pair})
    every = frozenset(combinations(genes, 2))
    found: list[Run] = []
    for (seed, size), pairs in listed.items():
        before = frozenset[Pair]().union(*(run.trained for run in found if run.seed != seed))
        truth = {pair: float(row["truth"]) for pair, row in pairs.items()}
        predicted = {pair: float(row["pred"]) for pair, row in pairs.items()}
        found.append(Run(seed, size, truth, predicted, every - pairs.keys(), before))
    return found


def measurements(folder: Path, genes: set[str]) -> dict[Pair, list[float]]:
    """Return the fitness of each pair of ``genes``, one number per construct of two guides; ALONE for a self pair."""
    found = defaultdict(list)
    with (folder / MEASURED).open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["id1"] in genes and row["id2"] in genes:
                pair = pair_of(row["id1"], row["id2"])
                found[(pair[0], ALONE) if pair[0] == pair[1] else pair].append(float(row["score"]))
    return dict(found)


def write_table(path: Path, run: Run, measured: dict[Pair, list[float]], kept_out: set[Pair], alone: bool) -> None:
    """Write what `recombine score` reads: a row per measurement, trained on unless its pair is in ``kept_out``.

    Pairs that are neither kept out nor trained on by then are left out; so are single genes unless ``alone``.
    """
    seen = run.trained | run.before
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*FACTORS, "fitness", "part", "gears"])
        for pair, values in measured.items():
            single = pair[1] == ALONE
            if (single and not alone) or not (single or pair in seen or pair in kept_out):
                continue
            part, predicted = ("test", run.predicted[pair]) if pair in kept_out else ("train", "")
            writer.writerows([*pair, repr(value), part, predicted] for value in values)


def scored(path: Path, structure: str) -> Score:
    """Return what ``recombine score PATH --symmetric gene_a,gene_b --structure STRUCTURE`` computes."""
    design = rc.Design.from_frame(path, factors=FACTORS, outcome="fitness", split="part=train", symmetric=FACTORS)
    return rc.score(design, path, ["gears"], "part=train", structure=structure)


def judged(path: Path) -> dict[str, Any]:
    """Return errors, correlations, verdicts and causes of one table, as plain numbers."""
    found = {name: scored(path, name) for name in ("add", "link", "auto")}
    score, design = found["auto"], found["auto"].design
    assert design.outcome is not None
    observed, seen = design.outcome[~design.train], design.outcome[design.train]
    values = {"gears": score.models[0].predicted[:, 0], "plain mean": np.full(len(observed), seen.mean())}
    values |= {name: found[name].audit.values.certified_of(design.held_out) for name in found}
    squares = {name: (value - observed) ** 2 for name, value in values.items()}
    model = score.models[0]
    assert model.attribution is not None
    whole = model.attribution.error.value
    return {
        "seen cells": int(design.train.sum()),
        "held out": len(observed),
        "error": {name: float(square.mean()) for name, square in squares.items()},
        "error as score says": model.unseen_error.value,
        "correlation": {
            name: float(np.corrcoef(value, observed)[0, 1]) for name, value in values.items() if name != "plain mean"
        },
        "variance": float(observed.var()),
        "less error than GEARS": {
            name: ranged(squares["gears"] - squares[name], design.held_out) for name in ("add", "link", "auto")
        },
        "pairs nearer than GEARS": {name: float((squares[name] < squares["gears"]).mean()) for name in ("add", "link")},
        "noise": None if score.noise is None else float(score.noise.variances.mean()),
        "structure": score.audit.choice.name,
        "verdicts": {name: verdicts(found[name]) for name in ("add", "link")},
        "causes": {name: shares(amount, whole) for name, amount in model.causes.items()},
        "error on determined": whole,
        "slope": amount_of(next(iter(model.attribution.per_factor["leak"].coefficients.values()))),
        "explained": model.explained,
        "unclear": unclear_sentences(score),
    }


def verdicts(score: Score) -> list[dict[str, Any]]:
    table = score.models[0].by_verdict
    columns = ("verdict", "cells", "squared error", "share", "plain mean")
    found = zip(*(np.asarray(table[name]).tolist() for name in columns), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in found]


def amount_of(amount: Amount) -> dict[str, float]:
    return {"value": amount.value, "low": amount.low, "high": amount.high}


def shares(amount: Amount, whole: float) -> dict[str, float]:
    return {name: value / whole for name, value in amount_of(amount).items()}


def ranged(values: NDArray[np.float64], cells: NDArray[np.int64]) -> dict[str, float]:
    """Return the mean of values (N,) at pairs (N, 2) and its 95 % range by leaving out one gene at a time.

    Pairs that share a gene are not independent; the jackknife over genes allows for that.
    """
    mean = float(values.mean())
    without = np.array([values[(cells != gene).all(axis=1)].mean() for gene in np.unique(cells)])
    error = float(np.sqrt((len(without) - 1) * np.mean((without - without.mean()) ** 2)))
    return {"value": mean, "low": mean - 1.96 * error, "high": mean + 1.96 * error}


def printed_losses(folder: Path) -> list[float]:
    """Return the test losses that the notebook printed, in its order."""
    cells = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    (training,) = (cell for cell in cells if "Start Training" in "".join(cell["source"]) and cell["outputs"])
    text = "".join("".join(part.get("text", "")) for part in training["outputs"])
    return [float(value) for value in re.findall(r"^(0\.\d{10,})$", text, re.MULTILINE)]


def published_curve(folder: Path) -> dict[int, float]:
    """Return size -> mean log squared error over seeds, read off the GEARS line of the published figure."""
    cells = json.loads((folder / FIGURE).read_text(encoding="utf-8"))["cells"]
    drawn = [part["data"]["image/svg+xml"] for cell in cells for part in cell.get("outputs", ())
             if "image/svg+xml" in part.get("data", ())]  # fmt: skip
    first = "".join(drawn[-1]).split('<g id="axes_')[1]
    tick = r'<g id="{}tick_\d+">.*?<use xlink:href="[^"]*" x="([\d.]+)" y="([\d.]+)".*?<!-- (\S+) -->'
    scale = {}
    for axis, place in (("x", 0), ("y", 1)):
        found = re.findall(tick.format(axis), first, re.DOTALL)
        at, says = [float(one[place]) for one in found], [float(one[2].replace("\N{MINUS SIGN}", "-")) for one in found]
        scale[axis] = np.polyfit(at, says, 1)
    (line,) = re.findall(rf'<path d="([^"]*)"[^>]*style="fill: none; stroke: {GEARS_LINE}[^"]*"', first)
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", line)]
    return {round(float(np.polyval(scale["x"], x))): float(np.polyval(scale["y"], y)) for x, y in points}


def called_again(folder: Path) -> dict[str, int]:
    """Return how many files the paper's table has, byte for byte, under the same name, and under another size's."""
    found = {"same name": 0, "another size": 0}
    for seed in SEEDS:
        for size in SIZES:
            twin = folder / AGAIN.format(seed=seed, size=CALLED.get(size, size))
            if twin.read_bytes() == (folder / PREDICTIONS.format(seed=seed, size=size)).read_bytes():
                found["another size" if size in CALLED else "same name"] += 1
    return found


def judge(folder: Path, tables: Path) -> Iterator[dict[str, Any]]:
    """Yield one record per published file, and keep its tables in a folder."""
    published, printed = runs(folder), printed_losses(folder)
    measured = measurements(folder, {gene for run in published for pair in run.truth for gene in pair})
    for run, loss in zip(published, printed, strict=True):
        name, listed = f"seed{run.seed}_size{run.size}", set(run.truth)
        own = Run(run.seed, run.size, run.truth, run.predicted, run.trained, frozenset())
        paths = {way: tables / f"{name}_{way}.csv" for way in ("listed", "pairs", "never")}
        write_table(paths["listed"], own, measured, listed, alone=True)
        write_table(paths["pairs"], own, measured, listed, alone=False)
        write_table(paths["never"], run, measured, listed - run.before, alone=True)
        listed_judged, error = judged(paths["listed"]), float(np.mean(run.errors**2))
        again = [run.predicted[pair] - run.truth[pair] for pair in listed & run.before]
        yield {
            "seed": run.seed,
            "size": run.size,
            "listed": len(listed),
            "trained": len(run.trained),
            "trained before": len(again),
            "error": error,
            "printed": loss,
            "error where trained before": float(np.mean(np.square(again))) if again else None,
            "truth differs by": max(abs(float(np.mean(measured[pair])) - run.truth[pair]) for pair in run.truth),
            "score differs by": abs(listed_judged.pop("error as score says") - error),
            "as listed": listed_judged,
            "never trained on": judged(paths["never"]),
            "pairs alone": {way: verdicts(scored(paths["pairs"], way)) for way in ("add", "link")},
        }


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    print("Mean squared error of fitness over pairs that no training had used (all listed pairs: as listed)")
    head = (
        "seed",
        "asked",
        "trained",
        "listed",
        "used before",
        "as listed",
        "GEARS",
        "adding",
        "link",
        "mean",
        "noise",
    )
    print("  ".join(f"{name:>11}" for name in head))
    for row in rows:
        clean = row["never trained on"]
        errors = [clean["error"][name] for name in ("gears", "add", "link", "plain mean")]
        numbers = [row["seed"], row["size"], row["trained"], row["listed"], row["trained before"]]
        written = [f"{one:>11}" for one in numbers]
        written += [f"{one:>11.5f}" for one in (row["error"], *errors, clean["noise"])]
        print("  ".join(written))


def record(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return what is kept: derived numbers and where they come from."""
    curve = published_curve(folder)
    ours = {size: float(np.mean([np.log(row["error"]) for row in rows if row["size"] == size])) for size in SIZES}
    return {
        "command": "python benchmarks/published_predictions.py NAIAD --write",
        "source": "https://github.com/NeptuneBio/NAIAD at commit c2d4990, paper_reproduce/fig3/gears",
        "versions": {name: version(name) for name in ("recombine", "numpy", "scipy", "scikit-learn")},
        "python": ".".join(map(str, sys.version_info[:3])),
        "date": date.today().isoformat(),
        "device": "cpu",
        "seed": 0,
        "published curve": [{"size": size, "published": curve[size], "from files": ours[size]} for size in SIZES],
        "called in the table": {"sizes": {str(size): name for size, name in CALLED.items()}} | called_again(folder),
        "genes": len({gene for run in runs(folder) for pair in run.truth for gene in pair}),
        "rows": rows,
    }


def shortened(value: Any) -> Any:
    """Return a record with ten digits of each number, and nothing for those that are none."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if np.isfinite(value) else None
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="the clone of NeptuneBio/NAIAD, at commit c2d4990")
    parser.add_argument("--tables", type=Path, help="keep the tables that recombine score reads in this folder")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} into results/gallery")
    given = parser.parse_args()
    if given.folder is None or not (given.folder / MEASURED).is_file():
        print(
            f"No {MEASURED} in {given.folder or 'any folder named'}. {__doc__.split('::')[1].split('Each')[0].strip()}"
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        tables = given.tables or Path(temporary)
        tables.mkdir(parents=True, exist_ok=True)
        rows = list(judge(given.folder, tables))
    print_table(rows)
    found = record(rows, given.folder)
    worst = max(abs(one["published"] - one["from files"]) for one in found["published curve"])
    print(f"Mean log squared error by size: at most {worst:.5f} from the line of the published figure")
    if given.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(shortened(found), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
