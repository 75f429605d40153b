"""Small cases of `recombine.tables.columns`, each as a reader would try it."""

from __future__ import annotations

from recombine.tables.columns import classes_of


def test_classes_of_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    assert (classes_of(open_table(pd.DataFrame({"kind": ["cat", "dog", "cat"]})), "kind")) == {
        "cat": "cat",
        "dog": "dog",
    }
