"""RC104: the factor columns were guessed."""

from __future__ import annotations

import pandas as pd

import recombine as rc

FRAME = pd.DataFrame({"colour": ["red", "red", "blue"] * 4, "shape": ["cube", "ball", "cube"] * 4, "mass": range(12)})


def test_a_guess_is_marked_with_its_columns(found):
    finding = found(rc.Design.from_frame(FRAME, outcome="mass"), "RC104")
    message = finding.message
    assert finding.subjects == ("colour", "shape")
    assert "colour" in message
    assert "shape" in message
    assert "mass" not in message
    assert "--factors" in message


def test_named_factors_are_no_guess(found):
    assert found(rc.Design.from_frame(FRAME, factors=["colour", "shape"], outcome="mass"), "RC104") is None
