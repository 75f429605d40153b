"""Gradient resists: what is read off the rows of networks on SCAN."""

from __future__ import annotations

from recombine.papers.measured import Measured
from recombine.papers.seeds import Estimate, mean_over_seeds, networks_behind, require
from recombine.tables.table import Table

#: Steps of the paper's text; the released figure ends after 50.
SCAN_STEPS = 2000
#: How far networks were trained: to the end, or less, where only the direction is judged.
WHOLE, PART = f"{SCAN_STEPS:,} steps", "fewer steps"
EARLY = 25
B_READINGS = ("B1", "B2", "B3")


def _at(rows: Table, column: str, step: int, reading: str, repeats: bool = True) -> Estimate:
    return mean_over_seeds(rows, f"{column} accuracy", encoder=32, reading=reading, repeats=repeats, step=step)


def command_accuracies(rows: Table) -> Measured:
    """Return how many commands networks get right in the end, of training and of the test."""
    last = int(require(rows)["step"].max())
    ends = {name: [_at(rows, part, last, name) for part in ("train", "test")] for name in ("A", *B_READINGS)}
    train, test = (found.mean for found in ends["A"])
    numbers = {
        "A, training": train,
        "A, test": test,
        "least of B": min(found.mean for name in B_READINGS for found in ends[name]),
        "B ahead on the test by": min(ends[name][1].mean for name in B_READINGS) - test,
    }
    words = "; ".join(f"{name} {found[0]} / {found[1]}" for name, found in ends.items())
    detail = f"train / test after {last:,} steps: {words}; {networks_behind(ends['A'])}"
    scale, note = (PART, "direction only") if last < SCAN_STEPS else (WHOLE, "")
    return Measured(numbers, detail, scale=scale, note=note)


def early_lead(rows: Table) -> Measured:
    """Return early training accuracies, also with the word 'jump' there once, and over distinct commands."""
    train, distinct = (_at(rows, part, EARLY, "A") for part in ("train", "distinct"))
    without = _at(rows, "train", EARLY, "A", repeats=False)
    b = {name: _at(rows, "train", EARLY, name) for name in B_READINGS}
    later = [_at(rows, "distinct", 50, name) for name in ("A", "B1")]
    numbers = {
        "A": train,
        "B1": b["B1"],
        "A less B1": train.mean - b["B1"].mean,
        "A with the word once": without,
        "A less A with the word once": train.mean - without.mean,
        "A over distinct commands": distinct,
    }
    detail = (
        f"train accuracy at step {EARLY}. In A one row in ten is the word 'jump' (1,467 copies). B2 and B3, in which "
        f"single words repeat as in A: {b['B2']} and {b['B3']}. At step 50, over distinct commands: A {later[0]}, B1 "
        f"{later[1]}; {networks_behind((train, without))}"
    )
    return Measured(numbers, detail)


def greedy_disagreements(rows: Table) -> Measured:
    """Return on how many commands networks decide otherwise when they write by themselves."""
    networks = len(rows.by("reading", "repeats", "encoder", "seed"))
    detail = f"over {len(rows):,} looks at {networks} networks while they train, half of the commands from the test"
    return Measured({"commands decided otherwise": int(rows["greedy disagreements"].sum())}, detail)
