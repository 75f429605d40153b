"""Gradient resists: what is read off the rows of the counterexamples."""

from __future__ import annotations

from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table


def information_and_slope(rows: Table) -> Measured:
    """Return information and slope of a smooth step across a gap, and of a sine at two of its zeros."""
    gap, sine, plain = (require(rows, map=name) for name in ("step across a gap", "sine at two zeros", "step, no gap"))
    numbers = {
        "step across a gap: information": float(gap["information"][0]),
        "step across a gap: largest slope": max(float(gap[name][0]) for name in ("slope", "quotient")),
        "sine at two zeros: information": float(sine["information"][0]),
        "sine at two zeros: slope": min(float(sine[name][0]) for name in ("slope", "quotient")),
    }
    detail = (
        f"slopes in closed form and as difference quotients, largest over X of {gap['points'][0]:,} values. The same "
        f"smooth step with X uniform on all of [-1, 1] has a slope of up to {plain['slope'][0]:.2f}"
    )
    return Measured(numbers, detail)
