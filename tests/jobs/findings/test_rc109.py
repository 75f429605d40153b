"""RC109: what became of a column that was taken apart."""

from __future__ import annotations

import pandas as pd

import recombine as rc


def test_a_sequence_and_a_set_are_named_and_plain_factors_are_not(found):
    frame = pd.DataFrame({"x": ["AC", "AG", "TC"], "g": ["u+v", "u", "v"], "y": [1.0, 2.0, 3.0]})
    assert (
        "x is a sequence of 2 positions"
        in found(rc.Design.from_frame(frame, outcome="y", sequence="x"), "RC109").message
    )
    assert "g is a set of 2 members separated by '+'" in found(rc.Design.from_frame(frame, sets="g"), "RC109").message
    assert found(rc.Design.from_frame(frame, sets="g"), "RC109").subjects == ("g",)
    assert found(rc.Design.from_frame(frame, factors=["x", "g"], outcome="y"), "RC109") is None
