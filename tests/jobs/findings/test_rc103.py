"""RC103: rows that could not be used."""

from __future__ import annotations

import pandas as pd

import recombine as rc


def table(outcome: list[float | None], shape: str | None = "ball") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["red", "red", "blue", "blue", "red"],
            "shape": ["cube", "ball", "cube", shape, "ball"],
            "mass": outcome,
        }
    )


def test_rows_without_a_value_are_counted_by_column(found):
    frame = table([1.0, float("nan"), 2.0, 3.0, 4.0], shape=None)
    finding = found(rc.Design.from_frame(frame, factors=["colour", "shape"], outcome="mass"), "RC103")
    assert "1 row with no value of 'shape'" in finding.message
    assert "no usable outcome 'mass'" in finding.message
    assert finding.subjects == ("no value of 'shape'", "no usable outcome 'mass'")


def test_a_complete_table_leaves_nothing_out(found):
    assert (
        found(
            rc.Design.from_frame(table([1.0, 2.0, 2.0, 3.0, 4.0]), factors=["colour", "shape"], outcome="mass"), "RC103"
        )
        is None
    )


def test_a_gap_in_a_column_that_is_not_used_does_not_matter(found):
    frame = table([1.0, float("nan"), 2.0, 3.0, 4.0])
    assert found(rc.Design.from_frame(frame, factors=["colour", "shape"]), "RC103") is None
