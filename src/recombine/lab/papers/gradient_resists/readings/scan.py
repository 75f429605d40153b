"""Gradient resists: what is read off the rows of networks on SCAN."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.gradient_resists.readings.plane import binary_entropy
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Estimate, mean_over_seeds, networks_behind, require
from recombine.lab.worlds.scan import commands, scan_reading
from recombine.tables.table import Table

#: Steps of the paper's text; the released figure ends after 50.
SCAN_STEPS = 2000
#: How far networks were trained: to the end, or less, where only the direction is judged.
WHOLE, PART = f"{SCAN_STEPS:,} steps", "fewer steps"
#: The step at which training is compared early.
EARLY_STEP = 25
B_READINGS = ("B1", "B2", "B3")
#: What counts as a fall of a loss that is read off one batch.
LEAST_FALL_IN_LOSS = 0.1


def _at(rows: Table, column: str, step: int, reading: str, repeats: bool = True) -> Estimate:
    return mean_over_seeds(rows, f"{column} accuracy", encoder=32, reading=reading, repeats=repeats, step=step)


def command_accuracies(rows: Table) -> Measured:
    """Return how many commands networks get right in the end, of training and of the test."""
    last = int(require(rows)["step"].max())
    ends = {name: [_at(rows, kind, last, name) for kind in ("train", "test")] for name in ("A", *B_READINGS)}
    train, test = (accuracy.mean for accuracy in ends["A"])
    numbers = {
        "A, training": train,
        "A, test": test,
        "least of B": min(accuracy.mean for name in B_READINGS for accuracy in ends[name]),
        "B ahead on the test by": min(ends[name][1].mean for name in B_READINGS) - test,
    }
    words = "; ".join(f"{name} {accuracy[0]} / {accuracy[1]}" for name, accuracy in ends.items())
    detail = f"train / test after {last:,} steps: {words}; {networks_behind(ends['A'])}"
    scale, note = (PART, "direction only") if last < SCAN_STEPS else (WHOLE, "")
    return Measured(numbers, detail, scale=scale, note=note)


def early_lead(rows: Table) -> Measured:
    """Return how far A is ahead of B1, the released setting, in training accuracy at step 25; beside B2 and B3."""
    accuracies = {name: _at(rows, "train", EARLY_STEP, name) for name in ("A", *B_READINGS)}
    lead = accuracies["A"].mean - accuracies["B1"].mean
    error = float(np.hypot(accuracies["A"].error, accuracies["B1"].error))
    numbers = {
        **accuracies,
        "A less B1": lead,
        "A less B1, less two standard errors": lead - error,
        "A less B3": accuracies["A"].mean - accuracies["B3"].mean,
    }
    detail = (
        f"share of training rows right at step {EARLY_STEP}. B1 is what the authors ran; B3 is what the text says and "
        f"B2 what the appendix says, and of these A is not ahead; {networks_behind(accuracies.values())}"
    )
    return Measured(numbers, detail)


def cause_of_the_lead(rows: Table) -> Measured:
    """Return what is left of A's early lead with the word 'jump' there once, and over distinct commands."""
    a, b = (_at(rows, "train", EARLY_STEP, name) for name in ("A", "B1"))
    once = _at(rows, "train", EARLY_STEP, "A", False)
    distinct = [_at(rows, "distinct", EARLY_STEP, name) for name in ("A", "B1")]
    later = [_at(rows, "distinct", 50, name) for name in ("A", "B1")]
    numbers = {
        "lead": a.mean - b.mean,
        "lead with the word once": once.mean - b.mean,
        "the same plus two standard errors": once.mean - b.mean + float(np.hypot(once.error, b.error)),
        "lead over distinct commands": distinct[0].mean - distinct[1].mean,
    }
    detail = (
        f"sentences right at step {EARLY_STEP}, A less B1. In A one row in ten is the word 'jump' (1,467 copies); B1 "
        f"repeats nothing. At step 50, over distinct commands: A {later[0]}, B1 {later[1]}; "
        f"{networks_behind((a, once, b))}"
    )
    return Measured(numbers, detail)


def information_as_loss_falls(rows: Table) -> Measured:
    """Return how often predictions tell more about the sentence after a stretch that clearly lowered the loss.

    What they tell is bounded from below, by Fano's inequality, from the share of sentences that are right. Stretches
    at whose ends nothing is sure to be told are left out. Of A and B1 only, whose training rows are the same for all
    seeds.
    """
    stretches, ends = [], []
    for reading, repeats in (("A", True), ("A", False), ("B1", True)):
        entropy, count = sentence_entropy(reading, repeats)
        runs = require(rows, reading=reading, repeats=repeats, encoder=32)
        for seed in runs.by("seed"):
            run = runs.only(seed=seed)
            order = np.argsort(run["step"])
            losses, right = run["train loss"][order], run["train accuracy"][order]
            bits = least_information(right, entropy, count)
            told = np.maximum(bits[1:], bits[:-1]) > 0
            stretches.append((np.diff(bits)[told & (losses[1:] < (1 - LEAST_FALL_IN_LOSS) * losses[:-1])] > 0).tolist())
            ends.append(bool(losses[-1] < losses[0] and bits[-1] > bits[0]))
    rises = [rise for run in stretches for rise in run]
    if not rises:
        raise MissingRowsError("no loss fell where predictions told anything")
    numbers = {
        "falls in loss after which predictions tell more": float(np.mean(rises)),
        "falls in loss by a tenth": len(rises),
        "networks with a lower loss that tell more at the end": float(np.mean(ends)),
        "networks": len(ends),
    }
    detail = "information at least, by Fano's inequality, from the share of training rows right, between recorded steps"
    return Measured(numbers, detail)


def least_information(right: Any, entropy: float, count: int) -> FloatArray:
    """Return how many bits predictions tell at least of one of ``count`` sentences, if a share of them is right.

    Fano's inequality: I >= H(Y) - H_b(e) - e log2(count - 1), with e the share that is wrong.

    Examples
    --------
    >>> least_information([1.0, 0.5, 0.25], entropy=2.0, count=4).round(3).tolist()
    [2.0, 0.208, 0.0]
    """
    wrong = 1 - np.asarray(right, dtype=np.float64)
    bits: FloatArray = np.maximum(0.0, entropy - binary_entropy(wrong) - wrong * np.log2(count - 1))
    return bits


def sentence_entropy(reading: str, repeats: bool) -> tuple[float, int]:
    """Return the entropy in bits of the sentences that a setting trains on, as they are drawn, and how many differ."""
    rows = scan_reading(reading, seed=0, without_repeats=not repeats).train
    _, counts = np.unique(commands().actions[rows], axis=0, return_counts=True)
    shares = counts / counts.sum()
    return -float(np.sum(shares * np.log2(shares))), len(counts)


def small_encoder(rows: Table) -> Measured:
    """Return how many commands networks with the text's encoder of 16 units get right, as far as they were trained."""
    small = require(rows, encoder=16)
    last = int(small["step"].max())
    ends = {
        f"{name}, {words}": mean_over_seeds(small, f"{kind} accuracy", reading=name, step=last)
        for name in ("A", "B3")
        for kind, words in (("train", "training"), ("test", "test"))
    }
    numbers = {**ends, "B3 ahead on the test by": ends["B3, test"].mean - ends["A, test"].mean}
    return Measured(numbers, f"after {last:,} steps; {networks_behind(ends.values())}")
