"""Small cases of `recombine.design.observed`, each as a reader would try it."""

from __future__ import annotations

from recombine.design.observed import with_held_out
from recombine.tables.grouping import Columns, group


def test_with_held_out_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    tables = [open_table(pd.DataFrame({"a": ["x"], "b": [level]})) for level in "pq"]
    columns = Columns(("a", "b"))
    assert (with_held_out(group(tables[0], columns), *tables, columns)[1].tolist()) == [True, False]
