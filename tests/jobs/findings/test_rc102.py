"""RC102: a level that is asked about but never occurs in training."""

from __future__ import annotations

import pandas as pd

import recombine as rc


def table(held_out_shape: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["red", "red", "blue", "blue"],
            "shape": ["cube", "ball", "cube", held_out_shape],
            "part": ["train", "train", "train", "test"],
        }
    )


def test_a_level_that_is_only_held_out_is_named(found):
    design = rc.Design.from_frame(table("cone"), factors=["colour", "shape"], split="part")
    assert found(design, "RC102").message == "shape 'cone' never occurs in training"


def test_a_held_out_cell_of_known_levels_is_no_such_thing(found):
    assert found(rc.Design.from_frame(table("ball"), factors=["colour", "shape"], split="part"), "RC102") is None


def test_new_levels_of_a_target_file_are_named(found):
    targets = pd.DataFrame({"colour": ["green", "pink"], "shape": ["cube", "ball"]})
    design = rc.Design.from_frame(table("ball"), factors=["colour", "shape"])
    finding = found(design, "RC102", targets=targets, new_levels=True)
    assert finding.message == "colour 'green', colour 'pink' never occur in training"
    assert finding.subjects == ("colour 'green'", "colour 'pink'")


def test_a_symmetric_level_seen_in_either_place_is_seen(found):
    design = rc.Design.from_cells([[0, 1], [1, 2]], names=["a", "b"], symmetric=[(0, 1)], sizes=(4, 4))
    assert found(design, "RC102").message == "a '3' never occurs in training"
