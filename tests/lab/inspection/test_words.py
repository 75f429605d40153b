"""Sentences of an inspection, quoted once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import recombine as rc
from recombine.lab.inspection import Inspection, words


def inspected() -> Inspection:
    return rc.inspect(np.eye(6).reshape(2, 3, 6), ["x", "y"])


SENTENCES: list[tuple[Callable[[], object], object]] = [
    (lambda: words.inspection_opening(inspected()), "1 layer over x (2) × y (3)"),
    (
        lambda: words.inspection_sentence(inspected()),
        (
            "the array adds: 60 % of its variance over all cells is one part per factor. Whether predictions of unseen "
            "cells are right cannot be told without truth: give the right outputs (--truth right.npy, in Python "
            "truth=right)."
        ),
    ),
    (
        lambda: words.inspection_notes(inspected()),
        [
            "Levels are taken in the order given, one step apart; speeds, volumes and readouts mean little otherwise.",
            "Which cells were seen was not said, so seen and unseen cells are not told apart (--seen mask.npy).",
        ],
    ),
    (
        lambda: words.inspection_legend(inspected())[-1],
        "readout: R² on all cells of a linear readout of the level of the worst factor",
    ),
]


@pytest.mark.parametrize(("say", "sentence"), SENTENCES)
def test_an_inspection_says_its_sentence(say: Callable[[], object], sentence: object) -> None:
    assert say() == sentence
