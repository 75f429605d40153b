"""Small cases of `recombine.design.naming`, each as a reader would try it."""

from __future__ import annotations

from recombine.design.naming import outcome_parts


def test_outcome_parts_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    assert (outcome_parts("kind=cat", open_table(pd.DataFrame({"kind": ["cat"]})))) == ("kind", "cat")
