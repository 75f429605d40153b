"""Time audits of twelve shapes beside the same with ``--structure add``: what the search for a structure costs.

Goal: the search takes at most three times the rest or 10 s, whichever is more. ``python benchmarks/audit_budget.py``
runs eleven tables of 100 to 1,000,000 rows; ``--largest`` a twelfth of 10,000,000; ``--write`` keeps the seconds that
processors spent, which a busy machine changes less than those of the clock, in results/audit/audit_budget.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from audit_speed import measure

TIMES = Path(__file__).parents[1] / "results" / "audit" / "audit_budget.json"
#: Levels of each factor and rows drawn; the second is that of a table that once took minutes.
SHAPES = {
    "small": ((6, 5, 4), 100),
    "60 x 50 x 6": ((60, 50, 6), 3_600),
    "two factors": ((100, 80), 3_000),
    "five alike": ((10,) * 5, 10_000),
    "eight alike": ((10,) * 8, 30_000),
    "many": ((10,) * 12, 50_000),
    "twenty of two levels": ((2,) * 20, 50_000),
    "sixty of four levels": ((4,) * 60, 20_000),
    "wide pairs": ((200, 100, 10), 20_000),
    "a large factor": ((3_000, 5), 12_000),
    "a million": ((300, 300, 20), 1_000_000),
    "ten million": ((300, 300, 20), 10_000_000),
}
#: Rows of the table that only ``--largest`` runs, and seconds that a search may take in any case.
LARGEST_ROWS, SEARCH_SECONDS, TIMES_THE_REST = 10_000_000, 10.0, 3.0


def write_table(path: Path, sizes: tuple[int, ...], rows: int) -> list[str]:
    """Write rows whose effects add, up to noise, the same every time; return the names of the factors."""
    import duckdb

    stride, names = len(sizes) + 1, [f"f{factor}" for factor in range(len(sizes))]
    codes = [f"hash({stride}::UBIGINT * i + {factor}) % {size}" for factor, size in enumerate(sizes)]
    levels = ", ".join(f"'l' || ({code}) AS {name}" for code, name in zip(codes, names, strict=True))
    effects = " + ".join(f"sqrt(1 + {code})" for code in codes)
    noise = f"(hash({stride}::UBIGINT * i + {len(sizes)}) % 10007) / 10007.0"
    duckdb.sql(f"COPY (SELECT {levels}, {effects} + {noise} AS y FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", action="store_true", help="also the table of ten million rows")
    parser.add_argument("--only", default="", help="names of shapes, by commas")
    parser.add_argument("--write", action="store_true", help=f"keep the results in {TIMES.name}")
    arguments = parser.parse_args()
    only, lines = set(filter(None, arguments.only.split(","))), []
    print(f"{'auto':>7} {'add':>7} {'search':>7} {'ratio':>6}  shape (CPU seconds)")
    with tempfile.TemporaryDirectory() as folder:
        for name, (sizes, rows) in SHAPES.items():
            if (only and name not in only) or (rows >= LARGEST_ROWS and not arguments.largest):
                continue
            path = Path(folder) / "table.parquet"
            factors = write_table(path, sizes, rows)
            command = ["audit", str(path), "--factors", ",".join(factors), "--outcome", "y"]
            auto, add = measure(command)[1], measure([*command, "--structure", "add"])[1]
            search, ratio = max(auto - add, 0.0), auto / add
            missed = " MISSED" if search > max(SEARCH_SECONDS, TIMES_THE_REST * add) else ""
            print(f"{auto:7.1f} {add:7.1f} {search:7.1f} {ratio:6.1f}  {name}, {rows:,} rows{missed}", flush=True)
            row = {"shape": name, "rows": rows, "auto": round(auto, 2), "add": round(add, 2), "ratio": round(ratio, 2)}
            lines.append(json.dumps(row))
    if arguments.write:
        head = {
            "command": " ".join(["python benchmarks/audit_budget.py", *sys.argv[1:]]),
            "versions": {package: version(package) for package in ("numpy", "scipy", "duckdb", "recombine")},
            "python": platform.python_version(),
            "seed": 0,
            "device": "cpu",
        }
        text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + ",\n".join(lines) + "\n]}\n"
        json.loads(text)
        TIMES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
