"""RC105: cells that floating point could not decide."""

from __future__ import annotations

import pytest

import recombine as rc
from recombine.verdicts import Verdict

ISLANDS = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 2, 1], [2, 3, 1], [3, 2, 1], [3, 3, 1]]


@pytest.fixture
def floating(monkeypatch) -> None:
    """Let no design be small enough for exact arithmetic."""
    monkeypatch.setattr("recombine.theory.identification.nullspace.MAX_EXACT_COLUMNS", -1)
    monkeypatch.setattr("recombine.theory.identification.nullspace.MAX_COLUMNS_WITHOUT_FLINT", -1)


@pytest.mark.usefixtures("floating")
def test_values_inside_the_gap_are_reported_and_not_guessed(found, monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.judgement.MIN_NONZERO_DISTANCE", 10.0)
    finding = found(rc.Design.from_cells(ISLANDS), "RC105")
    assert finding.message.startswith("24 cells could not be decided; ")
    assert Verdict.UNDECIDED.action in finding.message


@pytest.mark.usefixtures("floating")
def test_a_clean_gap_decides_everything(found):
    assert found(rc.Design.from_cells(ISLANDS), "RC105") is None


def test_exact_arithmetic_decides_everything(found):
    assert found(rc.Design.from_cells(ISLANDS), "RC105") is None
