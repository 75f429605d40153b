"""RC302: the assumption behind the verdicts was not checked."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.cells.conjunctions import every_cell

CELLS = every_cell((5, 5))[:-3]


def test_without_an_outcome(found):
    assert found(rc.Design.from_cells(CELLS), "RC302").message.startswith("no outcome column was named")


def test_with_too_few_cells_to_hold_out(found):
    few = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]
    message = found(rc.Design.from_cells(few, [1.0, 2.0, 3.0, 4.0, 5.0]), "RC302").message
    assert message == "at order 1 only 4 seen cells are determined by the others, and it takes 8 such cells"


def test_when_every_factor_may_interact(found):
    message = found(rc.Design.from_cells(CELLS, np.arange(22.0)), "RC302", order=2).message
    assert message == "at order 2 with all 2 factors interacting, no cell says anything about another"


def test_not_when_it_was_checked(found):
    assert found(rc.Design.from_cells(CELLS, CELLS @ [1.0, 3.0]), "RC302") is None
