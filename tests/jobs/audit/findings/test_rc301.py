"""RC301: adding effects does not predict held-out cells."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.cells.conjunctions import every_cell

CELLS = every_cell((6, 6))[:-4]


def test_cell_values_without_any_pattern_are_not_additive(found):
    values = np.random.default_rng(0).standard_normal(len(CELLS))
    message = found(rc.Design.from_cells(CELLS, values), "RC301").message
    assert message.startswith("at order 1 held-out cells are off by ")
    assert "(0% of the explainable variance)" in message


def test_sums_are(found):
    assert found(rc.Design.from_cells(CELLS, CELLS @ [1.0, 10.0]), "RC301") is None


def test_a_product_is_not_additive_but_its_logarithm_is(found):
    values = np.exp(np.array([0.0, 2.0, -1.0, 1.0, 3.0, -2.0])[CELLS].sum(axis=1))
    assert found(rc.Design.from_cells(CELLS, values), "RC301") is not None
    assert found(rc.Design.from_cells(CELLS, np.log(values)), "RC301") is None


def test_the_order_asked_for_is_judged(found):
    cells = every_cell((4, 4, 4))
    values = np.random.default_rng(1).standard_normal((4, 4))[cells[:, 0], cells[:, 1]]
    assert found(rc.Design.from_cells(cells, values), "RC301") is not None
    assert found(rc.Design.from_cells(cells, values), "RC301", order=2) is None
