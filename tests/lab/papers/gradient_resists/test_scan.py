"""Gradient resists: SCAN in small."""

from __future__ import annotations

from typing import Any

import pytest

from recombine.errors import InputError
from recombine.lab.runs.experiment import Unit


def tiny(**changes: Any) -> Unit:
    base = {"reading": "A", "seeds": [0, 1], "steps": 3, "record": [0, 3], "evaluated": 12, "greedy": 4, "batch": 8}
    return Unit("scan", 1, base | changes)


def test_scan_looks_at_repeats_and_at_distinct_commands() -> None:
    torch = pytest.importorskip("torch")
    from recombine.lab.nets.architectures.seq2seq import Seq2Seq
    from recombine.lab.papers.gradient_resists.experiments.scan import ScanObserver, scan
    from recombine.lab.worlds.scan import commands, scan_reading

    rows = scan(tiny())
    assert [(row["seed"], row["step"]) for row in rows] == [(0, 0), (0, 3), (1, 0), (1, 3)]
    assert rows[1]["train loss"] != rows[0]["train loss"]
    assert rows == scan(tiny())
    # Trained by itself a network is that of the group up to rounding: products of other sizes are summed otherwise.
    for alone, together in zip(scan(tiny(seeds=[1])), rows[2:], strict=True):
        assert alone["train loss"] == pytest.approx(together["train loss"], rel=1e-5)
        assert {**alone, "train loss": 0.0} == {**together, "train loss": 0.0}
    with pytest.raises(InputError, match="names no step"):
        scan(tiny(record=[]))
    known = commands()
    network = Seq2Seq.for_symbols(known.words, known.actions)
    observer = ScanObserver.of(network, [scan_reading("A")], [0], 400, 10, "cpu")
    jump = known.row("jump")
    shares = {part: float((rows[0] == jump).double().mean()) for part, rows in observer.shown.items()}
    assert shares["train"] == pytest.approx(0.1, abs=0.04)
    assert max(shares["distinct"], shares["test"]) < 0.01
    assert torch.equal(
        observer.shown["test"], ScanObserver.of(network, [scan_reading("A")], [0], 400, 10, "cpu").shown["test"]
    )


def test_scan_says_which_readings_there_are() -> None:
    pytest.importorskip("torch")
    from recombine.lab.papers.gradient_resists.experiments.scan import scan

    with pytest.raises(InputError, match="'B4' is unknown; give one of A, B1, B2, B3"):
        scan(tiny(reading="B4"))


def test_the_examples_with_before_are_no_commands_of_scan() -> None:
    """Two of the six examples in the paper's table 1 join commands by a word that SCAN does not have."""
    from recombine.lab.worlds.scan import interpret

    with pytest.raises(InputError, match="'before'"):
        interpret("run before walk")
