"""Small cases of `recombine.design.scaling`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.cells.scales import FactorScale
from recombine.design.factors import Factor
from recombine.design.scaling import put_on_scales, scales_asked, scales_of
from recombine.design.space import FactorSpace


def test_scales_asked_by_example() -> None:
    assert (
        repr(scales_asked(["grade=low<mid<high"], [], ["grade", "year"]))
        == "{'grade': (<FactorScale.ORDERED: 'ordered'>, ('low', 'mid', 'high'))}"
    )


def test_put_on_scales_by_example() -> None:
    space = FactorSpace((Factor("plant", (0, 1)), Factor("dose", (0, 1, 2, 3))))
    space = put_on_scales(space, {"dose": (FactorScale.ORDERED, ())})
    assert repr(scales_of(space, np.array([[0, 0], [1, 2]]))[1]) == "Scale(ordered; 4 levels, 2 knots)"
