"""Small cases of `recombine.design.space`, each as a reader would try it."""

from __future__ import annotations

from recombine.design.factors import Factor
from recombine.design.space import FactorSpace


def test_factorspace_codes_of_rows_by_example() -> None:
    import pandas as pd

    from recombine.tables.frames import open_table

    space = FactorSpace((Factor("a", ("x", "y")), Factor("b", ("u", "v"))))
    frame = pd.DataFrame({"a": ["x", "y", None], "b": ["u", "v", "v"]})
    assert (space.codes_of_rows(open_table(frame)).tolist()) == [[0, 0], [1, 1], [-1, -1]]
