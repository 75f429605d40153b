"""Cells of rows, of levels and of columns that are taken apart."""

from __future__ import annotations

import pandas as pd

import recombine as rc
from recombine.tables.frames import open_table


def test_rows_are_coded_as_the_design_codes_them() -> None:
    frame = pd.DataFrame(
        {"x": ["AA", "AB", "BA", None, "BB", "AB"], "g": ["u+v", "u", "v", "u", "ctrl", "u"], "d": [1, 2, 3, 1, 1, 2]}
    )
    design = rc.Design.from_frame(frame, sequence="x", sets="g", ordered=["d"])
    codes = design.space.codes_of_rows(open_table(frame))
    assert codes[3].tolist() == [-1] * len(design.factors)
    for row in (0, 1, 2, 4, 5):
        assert codes[row].tolist() == design.space.cell([frame.d[row], frame.x[row], frame.g[row]]).tolist()
    fewer = rc.Design.from_frame(frame[frame.d < 3], sequence="x", ordered=["d"])
    assert fewer.space.codes_of_rows(open_table(frame))[2].tolist() == [-1] * len(fewer.factors)
