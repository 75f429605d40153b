"""RC111: what became of the descriptors of levels."""

from __future__ import annotations

import pandas as pd

import recombine as rc

ROWS = pd.DataFrame({"drug": ["a", "a", "b", "c"], "dose": ["low", "high", "low", "low"], "y": [1.0, 2.0, 3.0, 4.0]})


def described(descriptors: pd.DataFrame) -> rc.Design:
    return rc.Design.from_frame(ROWS, factors=["drug", "dose"], outcome="y", features={"drug": descriptors})


def test_levels_without_descriptors_new_levels_and_missing_numbers_are_named(found):
    table = pd.DataFrame({"drug": ["a", "b", "z"], "mass": [1.0, None, 3.0], "logP": [0.1, 0.2, 0.3]})
    finding = found(described(table), "RC111")
    assert finding.subjects == ("drug",)
    assert "'drug' has 2 descriptors" in finding.message
    assert "1 level that no row has (z) can be asked about" in finding.message
    assert "without descriptors, known by their rows alone: c" in finding.message
    assert "missing numbers are medians: mass (1)" in finding.message


def test_not_without_descriptors(found):
    assert found(rc.Design.from_frame(ROWS, factors=["drug", "dose"], outcome="y"), "RC111") is None
