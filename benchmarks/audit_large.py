"""Audit a Parquet file of ten million rows: wall time and peak memory of the command a user would type.

Goals: under 20 s and 4 GB. ``python benchmarks/audit_large.py --rows 1000000`` runs a smaller one.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS, GIGABYTES = 20.0, 4.0

#: Three in ten cells of 120 x 60 x 24 x 5 are ever seen; in those effects add, up to noise.
QUERY = """
COPY (
  WITH drawn AS (
    SELECT hash(5 * i) % 120 AS a, hash(5 * i + 1) % 60 AS b, hash(5 * i + 2) % 24 AS c, hash(5 * i + 3) % 5 AS d,
           (hash(5 * i + 4) % 10007) / 10007.0 AS noise
    FROM range({drawn}) t(i)
  )
  SELECT 'product ' || a AS product, 'store ' || b AS store, c AS hour, 'kind ' || d AS kind,
         a * 0.1 + sqrt(b) + sin(c) - d + noise AS outcome
  FROM drawn WHERE hash(((a * 60 + b) * 24 + c) * 5 + d) % 10 < 3 LIMIT {rows}
) TO '{path}' (FORMAT parquet)
"""


def write_table(path: Path, rows: int) -> None:
    """Write ``rows`` rows; the same rows every time."""
    import duckdb

    duckdb.sql(QUERY.format(drawn=4 * rows, rows=rows, path=path))


def measure(command: list[str]) -> tuple[float, float, str]:
    """Return wall seconds, peak resident gigabytes and output of a command."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    # Kilobytes on Linux, bytes on macOS.
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write_table(path, arguments.rows)
        print(f"{arguments.rows:,} rows, {path.stat().st_size / 2**20:.0f} MB Parquet")
        command = [str(Path(sys.executable).with_name("recombine")), "audit", str(path)]
        command += ["--factors", "product,store,hour,kind", "--outcome", "outcome", "--json"]
        seconds, gigabytes, output = measure(command)
    print(f"cells: {json.loads(output)['counts']}")
    print(f"wall time   {seconds:6.1f} s   goal {SECONDS:.0f} s   {'met' if seconds < SECONDS else 'MISSED'}")
    print(f"peak memory {gigabytes:6.2f} GB  goal {GIGABYTES:.0f} GB   {'met' if gigabytes < GIGABYTES else 'MISSED'}")


if __name__ == "__main__":
    main()
