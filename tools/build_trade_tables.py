"""Write the tables of docs/for: python tools/build_trade_tables.py. Same seeds, same bytes.

``wells.csv`` is a part of the bundled drug screen (CCLE, CC BY 4.0) as a laboratory would export it. The others are
drawn here, so that the truth behind them is known; they are the project's own (MIT).
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from recombine.data import screen_path

FOLDER = Path(__file__).parents[1] / "docs" / "for"
LANDING_SEED, TRIAL_SEED = 5, 21
PAGES, AUDIENCES = ["plain", "photo", "video", "quiz", "story", "offer"], ["new", "returning", "members"]
CHANNELS = ["search", "mail", "social", "display", "partner", "print"]
VARIETIES, SITES = [f"V{number}" for number in range(1, 9)], [f"S{number}" for number in range(1, 8)]


def write(name: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV."""
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def wells() -> None:
    """Write 16 drugs by 20 lines, the measured wells only, as a workbook shows them."""
    with screen_path().open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    drugs = sorted({row["drug"] for row in rows})[:16]
    lines = sorted({row["cell_line"] for row in rows})[:20]
    measured = {(row["drug"], row["cell_line"]): row["activity"] for row in rows if row["split"] == "measured"}
    table = [[drug, *(measured.get((drug, line), "") for line in lines)] for drug in drugs]
    write("wells.csv", [["Activity area, campaigns 1 and 2"], [], ["drug", *lines], *table])


def pairs() -> None:
    """Write double knockouts of 16 genes: growth, two replicates, single effects that multiply, three interactions."""
    draw = np.random.default_rng(11)
    genes = [f"gene{number:02}" for number in range(1, 17)]
    effect = draw.uniform(-1.1, 0.05, 16)
    interacting = {(1, 4): 0.55, (2, 9): -0.6, (6, 13): 0.5}
    rows: list[list[object]] = [["gene_a", "gene_b", "growth"]]
    for a, b in itertools.combinations(range(16), 2):
        if (a, b) in interacting or draw.random() < 0.5:
            growth = effect[a] + effect[b] + interacting.get((a, b), 0.0) + draw.normal(0, 0.06, 2)
            rows += [[genes[a], genes[b], f"{np.exp(value):.3f}"] for value in growth]
    write("pairs.csv", rows)


def landing_effects(draw: np.random.Generator) -> list[np.ndarray]:
    """Return what a page, an audience and a channel add to the 4 that a visitor brings."""
    return [draw.normal(0, 0.5, 6), np.array([0.0, 0.6, 1.1]), draw.normal(0, 0.6, 6)]


def landing_rows(seed: int) -> tuple[list[list[object]], np.ndarray]:
    """Return the rows of a table of arms, its header first, and what every arm is worth, (6, 3, 6)."""
    draw = np.random.default_rng(seed)
    page, audience, channel = landing_effects(draw)
    worth = 4 + page[:, None, None] + audience[:, None] + channel
    rows: list[list[object]] = [["page", "audience", "channel", "visitors", "earned", "sd"]]
    for i, j, k in itertools.product(range(6), range(3), range(6)):
        if (i < 4) != (k < 4) or draw.random() < 0.35:
            continue
        visitors = int(draw.integers(150, 1500))
        mean = worth[i, j, k] + draw.normal(0, 3.0 / np.sqrt(visitors))
        rows.append([PAGES[i], AUDIENCES[j], CHANNELS[k], visitors, f"{mean:.3f}", 3.0])
    return rows, worth


def landing() -> None:
    """Write what a shop earned per visitor, by page, audience and channel; the autumn pages saw new channels only."""
    write("landing.csv", landing_rows(LANDING_SEED)[0])


def profiles() -> None:
    """Write ratings of a conjoint study: 40 people, 12 of 48 shown profiles each; price and battery interact."""
    draw = np.random.default_rng(8)
    brands, prices = ["Alder", "Birch", "Cedar", "Dogwood"], ["199", "249", "299", "349"]
    batteries, sizes = ["10 h", "20 h", "40 h"], ["small", "medium", "large"]
    worth = [[0, 6, -4, 9], [0, -5, -13, -24], [0, 8, 19], [0, 3, -6]]
    shown = draw.choice(144, 48, replace=False)
    rows: list[list[object]] = [["person", "brand", "price", "battery", "size", "rating"]]
    for person in range(40):
        taste = draw.normal(55, 10)
        for number in draw.choice(shown, 12, replace=False).tolist():
            levels = np.unravel_index(number, (4, 4, 3, 3))
            rating = (
                taste + sum(part[int(level)] for part, level in zip(worth, levels, strict=True)) + draw.normal(0, 9)
            )
            named = [names[int(level)] for names, level in zip((brands, prices, batteries, sizes), levels, strict=True)]
            rows.append([f"p{person + 1:02}", *named, round(float(np.clip(rating, 0, 100)))])
    write("profiles.csv", rows)


def episodes() -> None:
    """Write a robot's attempts: the object, where it lay, the light; whether the grasp held, as seconds it took."""
    draw = np.random.default_rng(3)
    objects = ["mug", "bowl", "can", "sponge", "bottle", "box", "plate", "spoon"]
    places, lights = ["table", "shelf", "drawer", "sink", "floor"], ["day", "lamp", "dim"]
    seconds = [draw.uniform(0, 6, 8), draw.uniform(0, 5, 5), np.array([0.0, 0.7, 3.0])]
    rows: list[list[object]] = [["object", "place", "light", "seconds"]]
    for cell in itertools.product(range(8), range(5), range(3)):
        stair = cell[0] // 2 in (cell[1], cell[1] - 1) and (cell[2] == 0 or cell[0] == 0)
        if stair:
            for _ in range(4):
                took = 8 + sum(part[level] for part, level in zip(seconds, cell, strict=True)) + draw.normal(0, 0.8)
                rows.append([objects[cell[0]], places[cell[1]], lights[cell[2]], f"{took:.1f}"])
    write("episodes.csv", rows)


def trial_cells(draw: np.random.Generator) -> np.ndarray:
    """Return what each variety yields at each site, (8, 7), but for blocks and plots."""
    variety, site = draw.normal(0, 0.45, 8), draw.normal(0, 0.8, 7)
    return 6 + variety[:, None] + site + draw.normal(0, 0.15, (8, 7))


def trial() -> None:
    """Write a variety trial: 8 varieties at 7 sites, two blocks each, with gaps; two sites took new varieties only."""
    draw = np.random.default_rng(TRIAL_SEED)
    expected, block = trial_cells(draw), draw.normal(0, 0.2, (7, 2))
    rows: list[list[object]] = [["variety", "site", "block", "yield"]]
    for i, j in itertools.product(range(8), range(7)):
        if (i < 6) != (j < 5) or (i < 6 and draw.random() < 0.4):
            continue
        for k in range(2):
            grown = expected[i, j] + block[j, k] + draw.normal(0, 0.2)
            rows.append([VARIETIES[i], SITES[j], f"{SITES[j]}b{k + 1}", f"{grown:.2f}"])
    write("trial.csv", rows)


def main() -> None:
    """Write every table."""
    FOLDER.mkdir(exist_ok=True)
    for table in (wells, pairs, landing, profiles, episodes, trial):
        table()
    for path in sorted(FOLDER.glob("*.csv")):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
