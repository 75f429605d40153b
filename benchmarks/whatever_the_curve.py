"""How often bounds that hold whatever the curve is hold: held-out cells of planted and of published tables.

Planted: effects that add under a curve (a logistic, a square, a saturating one), with noise, and the mean of each
held-out cell. Published: tables of at most 250 seen cells (`real_tables` says what to install), where an increasing
curve is only assumed; the constant beside it is the range of all seen outcomes, which holds more and says nothing.

    python benchmarks/whatever_the_curve.py
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from real_tables import real_tables
from recombine import Design, InputError
from recombine.jobs.structure.choice import choose_structure
from recombine.theory.structures.kinds.link import ORDERED_STANDARD_DEVIATIONS, LinkFit
from recombine.theory.structures.monotone_bounds import monotone_bounds

CURVES = {
    "logistic": lambda sums: 1 / (1 + np.exp(-2 * sums)),
    "square": lambda sums: (sums + 4) ** 2 / 16,
    "saturating": lambda sums: 1 - np.exp(-np.maximum(sums + 4, 0) / 2),
}
#: Cells asked about in one table, and draws of each curve.
ASKED, DRAWS = 12, 12
MOST_SEEN = 200
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def planted(noise: float) -> Iterator[tuple[str, Ints, Floats, Floats]]:
    """Yield curve, cells (M, 2), measured outcomes (M,) and true means (M,)."""
    cells = np.indices((12, 12)).reshape(2, -1).T
    for name, curve in CURVES.items():
        for draw in range(DRAWS):
            rng = np.random.default_rng(draw)
            truth = curve(sum(rng.normal(size=12)[cells[:, place]] for place in (0, 1)))
            yield name, cells, truth + noise * rng.normal(size=len(truth)), truth


def bounded(cells: Ints, values: Floats, truth: Floats, seed: int) -> list[tuple[bool, float, bool]]:
    """Return for held-out cells: whether bounds hold, their width as a share of the seen range, whether both exist."""
    rng = np.random.default_rng(seed)
    seen = rng.random(len(cells)) < min(0.7, MOST_SEEN / len(cells))
    design = Design.from_cells(cells[seen], values[seen])
    fit = choose_structure(design, "link").fit
    if not isinstance(fit, LinkFit):
        return []
    asked = rng.permutation(np.flatnonzero(~seen))[:ASKED]
    asked = asked[[all(level in set(cells[seen, place]) for place, level in enumerate(cells[one])) for one in asked]]
    if not len(asked):
        return []
    margin = ORDERED_STANDARD_DEVIATIONS * float(np.sqrt(2 * fit.noise))
    found = monotone_bounds(design.seen, design.outcome, cells[asked], sizes=design.sizes, margin=margin)
    spread, rows = float(np.ptp(values[seen])), []
    for one, bounds in zip(asked, found, strict=True):
        if bounds.contradiction is not None or (bounds.below is None and bounds.above is None):
            continue
        low = bounds.low if bounds.below is not None else -np.inf
        high = bounds.high if bounds.above is not None else np.inf
        width = min(high, values[seen].max()) - max(low, values[seen].min())
        rows.append((bool(low <= truth[one] <= high), width / spread, np.isfinite(high - low)))
    return rows


def _print(name: str, rows: list[tuple[bool, float, bool]]) -> None:
    if rows:
        held, _, both = np.mean(rows, axis=0)
        print(f"{name:32} {len(rows):5} cells  held {held:.1%}  median width {np.median([r[1] for r in rows]):.2f} of "
              f"the seen range  both ends {both:.0%}", flush=True)  # fmt: skip


def main() -> None:
    """Print planted curves with less and more noise, then published tables."""
    for noise in (0.0, 0.02, 0.1):
        rows = [row for at, (_, *table) in enumerate(planted(noise)) for row in bounded(*table, at)]
        _print(f"planted, noise {noise:g}", rows)
    everything = []
    for table in real_tables(MOST_SEEN):
        try:
            rows = bounded(table.cells, table.outcome, table.outcome, 0)
        except InputError:
            continue
        everything += rows
        _print(table.name, rows)
    _print("published tables together", everything)


if __name__ == "__main__":
    main()
