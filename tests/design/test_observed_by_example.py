"""Small cases of `recombine.design.observed`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.design.observed import Observed, with_held_out
from recombine.tables.grouping import Columns, group


def test_with_held_out_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    tables = [open_table(pd.DataFrame({"a": ["x"], "b": [level]})) for level in "pq"]
    columns = Columns(("a", "b"))
    assert (with_held_out(group(tables[0], columns), *tables, columns)[1].tolist()) == [True, False]


def test_observed_merged_by_example() -> None:
    twice = Observed(np.zeros((2, 2), int), np.ones(2, bool), np.ones(2, int), np.ones(2), np.array([1.0, 3.0]))
    assert (twice.merged().outcome.tolist(), twice.merged().spread.tolist()) == ([2.0], [2.0])
