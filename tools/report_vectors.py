"""Write the embedded cells of some reports, with what Python says of them, for the tests of the reports' script.

Run ``python tools/report_vectors.py`` after a change of what reports embed; ``page/test/report.test.ts`` replays them.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

import recombine as rc
from recombine.data import flights_path
from recombine.report.audit.embedded_cells import embedded_cells
from recombine.report.audit.verdict_map import VerdictMap

TARGET = Path(__file__).parents[1] / "page" / "test" / "vectors" / "reports.json.gz"
#: Listed cells of each report whose numbers are stored.
ASKED = 200


def audits() -> dict[str, rc.Audit]:
    """Return audits of every kind that a report embeds whole, by name; the first is that of the demo."""
    flights = rc.Design.from_frame(
        flights_path(), factors=["carrier", "origin", "dest"], outcome="air_time", weight="n", sd="sd"
    )
    draws = np.random.default_rng(3)

    def drawn(sizes: tuple[int, ...], share: float) -> rc.Design:
        cells = np.argwhere(draws.random(sizes) < share)
        return rc.Design.from_cells(cells, cells.sum(axis=1) + draws.normal(size=len(cells)), sizes=sizes)

    taught = [[i // 3, i, j] for i in range(9) for j in range(4) if (i + j) % 3]
    marks = {
        name: [f"{name} {cell[place]}" for cell in taught] for place, name in enumerate(("school", "class", "test"))
    }
    nested = rc.Design.from_frame(
        pd.DataFrame(marks | {"mark": [i + 2.0 * j for _, i, j in taught]}), factors=list(marks), outcome="mark"
    )
    pairs = np.argwhere(np.triu(draws.random((9, 9)) < 0.3))
    twins = rc.Design.from_cells(pairs, pairs.sum(axis=1) * 1.0, sizes=(9, 9), symmetric=[(0, 1)])
    return {
        "demo": rc.audit(flights),
        "two factors, torn": rc.audit(drawn((14, 11), 0.11), 1, structure="add"),
        "interchangeable": rc.audit(twins, 1, structure="add"),
        "nested": rc.audit(nested),
        "order 2": rc.audit(drawn((5, 5, 4), 0.55), 2),
        "order 3": rc.audit(drawn((3, 3, 3, 2), 0.75), 3),
        "no outcome": rc.audit(rc.Design.from_cells(np.argwhere(draws.random((6, 5, 4)) < 0.13), sizes=(6, 5, 4))),
    }


def record(audit: rc.Audit) -> dict[str, Any]:
    """Return what a report embeds, and beside it what the audit's own table says of some cells."""
    table, rows = audit.verdicts, np.unique(np.linspace(0, len(audit.decided.codes) - 1, ASKED).astype(int))
    names = [name for name in ("predicted", "standard error", "low", "high", "leverage") if name in table.columns]
    asked = [
        {"levels": audit.decided.listing.cells[row].tolist(), "verdict": table["verdict"][row]}
        | {name: float(table[name][row]) for name in names if np.isfinite(table[name][row])}
        for row in rows.tolist()
    ]
    return {"embedded": embedded_cells(audit, VerdictMap(audit)), "asked": asked}


def main() -> None:
    """Write the file; the same audits give the same bytes."""
    text = msgspec.json.encode({name: record(audit) for name, audit in audits().items()})
    TARGET.write_bytes(gzip.compress(text, 9, mtime=0))
    print(f"{TARGET.name}: {len(audits())} reports, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
