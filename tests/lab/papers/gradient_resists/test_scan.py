"""Gradient resists: SCAN in small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import entr, rel_entr

from recombine.errors import InputError
from recombine.lab.papers.gradient_resists.readings.scan import least_information, sentence_entropy
from recombine.lab.runs.experiment import Unit


def tiny(**changes: Any) -> Unit:
    base = {"reading": "A", "seeds": [0, 1], "steps": 3, "record": [0, 3], "evaluated": 12, "greedy": 4, "batch": 8}
    return Unit("scan", 1, base | changes)


@pytest.mark.slow
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


def test_fano_never_promises_more_than_predictions_tell() -> None:
    """Against the information of confusion tables that are drawn at random, and with equality where errors are even."""
    generator = np.random.default_rng(0)
    for count in (2, 3, 7):
        for _ in range(200):
            joint = generator.dirichlet(np.full(count * count, 0.3)).reshape(count, count)
            labels, predictions = joint.sum(axis=1), joint.sum(axis=0)
            told = float(np.sum(rel_entr(joint, np.outer(labels, predictions)))) / np.log(2)
            entropy = float(np.sum(entr(labels))) / np.log(2)
            assert least_information(np.trace(joint), entropy, count) <= told + 1e-9
        even = np.full((count, count), 0.3 / (count - 1) / count)
        np.fill_diagonal(even, 0.7 / count)
        told = float(np.sum(rel_entr(even, np.full((count, count), 1 / count**2)))) / np.log(2)
        assert least_information(0.7, np.log2(count), count) == pytest.approx(max(told, 0.0))


def test_the_entropy_of_training_sentences_counts_repeats() -> None:
    """In A one row in ten is one word: by the chain rule its entropy follows from that of the others."""
    plain, count = sentence_entropy("A", repeats=False)
    repeated, same = sentence_entropy("A", repeats=True)
    assert same == count
    rows, word = 13_204, 1_467
    others = (plain - entr(1 / rows) / np.log(2) + (1 - 1 / rows) * np.log2(1 - 1 / rows)) / (1 - 1 / rows)
    share = word / (word + rows - 1)
    expected = (entr(share) + entr(1 - share)) / np.log(2) + (1 - share) * others
    assert repeated == pytest.approx(expected, rel=1e-9)
