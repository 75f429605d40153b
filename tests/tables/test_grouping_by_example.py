"""Small cases of `recombine.tables.grouping`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.tables.grouping import Columns, group, joined, training_rows, two_values


def test_joined_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    parts = [pd.DataFrame({"a": ["x"], "b": [level], "y": [1.0]}) for level in "pq"]
    found = [group(open_table(part), Columns(("a", "b"), "y")) for part in parts]
    assert (joined(*found).levels[1].tolist()) == ["p", "q"]


def test_two_values_by_example() -> None:
    assert (two_values((0.0, 1.0), 2, 3), two_values((2.5, 3.0), 2, 3), two_values((2.5, 3.0), 2, 30)) == (
        (0.0, 1.0),
        None,
        (2.5, 3.0),
    )


def test_training_rows_by_example() -> None:
    assert (training_rows(np.array(["train", "test"]), "part", None).tolist()) == [True, False]
