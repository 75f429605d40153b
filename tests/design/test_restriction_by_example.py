"""Small cases of `recombine.design.restriction`, each as a reader would try it."""

from __future__ import annotations

from recombine.design.factors import Factor
from recombine.design.restriction import read_listed
from recombine.design.space import FactorSpace


def test_read_listed_by_example() -> None:
    import pandas as pd

    space = FactorSpace((Factor("colour", ("blue", "red")), Factor("shape", ("ball", "cube"))))
    assert (read_listed(pd.DataFrame({"colour": ["red", "blue"], "shape": ["ball", None]}), space)[1].tolist()) == [
        [0, 0],
        [0, 1],
        [1, 0],
    ]
