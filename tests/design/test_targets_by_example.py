"""Small cases of `recombine.design.targets`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from known_designs import on_scales
from recombine.design.design import Design
from recombine.design.targets import encode_targets, outside_words, place_cell, why_impossible


def test_encode_targets_by_example() -> None:
    import pandas as pd

    design = Design.from_cells([[0, 0], [1, 1]], names=["a", "b"])
    assert (encode_targets(design, pd.DataFrame({"a": [0, 1], "b": [1, 0]}))[1].tolist()) == [[0, 1], [1, 0]]


def test_place_cell_by_example() -> None:
    design = on_scales(Design.from_cells([[0, 0], [1, 2]], names=["plant", "dose"]), ["dose"])
    larger, cell = place_cell(design, {"plant": 0, "dose": 1.5})
    assert (cell.tolist(), larger.label(cell)) == ([0, 3], "0 · 1.5")


def test_on_scales_by_example() -> None:
    assert (
        repr(on_scales(Design.from_cells([[0, 0], [1, 2]], sizes=(2, 4), names=["plant", "dose"]), ["dose"]).scales[1])
        == "Scale(ordered; 4 levels, 2 knots)"
    )


def test_why_impossible_by_example() -> None:
    cells = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    design = Design.from_cells(cells, names=["plant", "treatment", "dose"], nested=["plant/treatment"])
    assert (why_impossible(design, np.array([0, 1, 0]))) == "plant lies inside treatment, and 0 is inside 0"


def test_outside_words_by_example() -> None:
    design = on_scales(Design.from_cells([[0, 0], [1, 2]], sizes=(2, 4), names=["plant", "dose"]), ["dose"])
    assert (outside_words(design, np.array([0, 3]))) == [
        "dose 3 lies above the seen range 0 to 2: collect a row with dose 3 or above"
    ]
