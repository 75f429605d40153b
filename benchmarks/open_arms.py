"""How often do ranges of confounded arms hold? python benchmarks/open_arms.py writes results/for/open-arms.json.

The table of docs/for/experiments.md drawn anew 30 times: pages and channels in two blocks that share neither. The truth
of every arm that never ran is known, so that its 90 % range either holds it or does not.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

import recombine as rc

ROOT = Path(__file__).parents[1]
SEEDS = range(100, 130)


def held(table: pd.DataFrame, truth: np.ndarray) -> dict[str, float]:
    """Return the share of arms of each verdict whose range holds the truth."""
    audit = rc.audit(table, factors=["page", "audience", "channel"], outcome="earned", weight="visitors", sd="sd")
    values = audit.verdicts.to_pandas()
    places = [
        tuple(names.index(row[column]) for column, names in zip(audit.design.names, LEVELS, strict=True))
        for _, row in values.iterrows()
    ]
    true = np.array([truth[place] for place in places])
    inside = (values["low"] <= true) & (true <= values["high"])
    return {str(word): float(share) for word, share in inside.groupby(values["verdict"]).mean().items()}


sys.path.insert(0, str(ROOT / "tools"))
tables = import_module("build_trade_tables")
LEVELS = (tables.PAGES, tables.AUDIENCES, tables.CHANNELS)


def main() -> None:
    """Draw, audit, count, write."""
    shares: dict[str, list[float]] = {"determined": [], "disconnected": []}
    for seed in SEEDS:
        rows, truth = tables.landing_rows(seed)
        for word, share in held(pd.DataFrame(rows[1:], columns=rows[0]).astype({"earned": float}), truth).items():
            shares[word].append(share)
    record = {
        "command": "python benchmarks/open_arms.py",
        "seeds": [SEEDS.start, SEEDS.stop - 1],
        "tables": len(SEEDS),
        "share in the 90 % range": {word: round(float(np.mean(found)), 3) for word, found in shares.items()},
        "tables of which less than half are": {
            word: sum(share < 0.5 for share in found) for word, found in shares.items()
        },
        "versions": {"recombine": rc.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "device": "cpu",
    }
    target = ROOT / "results" / "for" / "open-arms.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
