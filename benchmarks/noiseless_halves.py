"""How often 90 % ranges hold where levels fall into halves never measured together and outcomes have no noise.

Two factors of so many levels, outcomes that add normal effects, and only combinations within either half are seen: all
others are open, and left-out combinations say nothing of how the halves differ.

    python benchmarks/noiseless_halves.py --write
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from recombine.theory.components import fit_components

RESULTS = Path(__file__).parents[1] / "results" / "values" / "halves-planted.json"
LEVELS = (3, 4, 6, 8, 10)


def share_held(levels: int, seed: int) -> float:
    """Return the share of the open combinations of one table whose value lies in its range."""
    rng = np.random.default_rng([seed, levels])
    codes = np.indices((levels, levels)).reshape(2, -1).T
    first, second = rng.normal(size=(2, levels))
    outcomes = first[codes[:, 0]] + second[codes[:, 1]]
    seen = (codes[:, 0] < levels // 2) == (codes[:, 1] < levels // 2)
    values = fit_components(codes[seen], outcomes[seen]).predict(codes[~seen])
    return float(np.mean((values.low <= outcomes[~seen]) & (outcomes[~seen] <= values.high)))


def main() -> None:
    """Print the mean share by number of levels."""
    parser = argparse.ArgumentParser(description="How often ranges of open cells hold without noise.")
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="store what was counted")
    asked = parser.parse_args()
    held: dict[str, Any] = {}
    for levels in LEVELS:
        shares = [share_held(levels, seed) for seed in range(asked.tables)]
        held[str(levels)] = round(float(np.mean(shares)), 3)
        print(f"{levels} levels a factor: {held[str(levels)]:.1%} of open values in range, {asked.tables} tables")
    if asked.write:
        record = {
            "command": f"python benchmarks/noiseless_halves.py --tables {asked.tables} --write",
            "versions": {name: version(name) for name in ("numpy", "scipy", "recombine")},
            "python": platform.python_version(),
            "tables of each": asked.tables,
            "in range by levels": held,
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
