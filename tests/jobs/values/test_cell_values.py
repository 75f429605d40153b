"""Which levels lie on a line, and which of them are names."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.values.cell_values import fit_values


def test_numbers_are_names_where_no_curve_is_asked_for():
    cells = every_cell((6, 4))
    design = rc.Design.from_cells(cells[:-5], np.sin(cells[:-5, 0]) + cells[:-5, 1] ** 2, sizes=(6, 4))
    numbers, names = [range(6), range(4)], ["abcdef", "wxyz"]
    curved, plain = fit_values(design, numbers), fit_values(design, numbers, curved=False)
    assert plain.terms == fit_values(design, names).terms != curved.terms
    np.testing.assert_array_equal(plain.predict(cells).mean, fit_values(design, names).predict(cells).mean)


def test_a_level_that_no_seen_cell_has_gets_its_value_from_its_descriptors():
    cells, table = every_cell((9, 3)), np.linspace(-1, 1, 9)[[4, 0, 8, 2, 6, 1, 7, 3, 5], None]
    y = 10 * table[cells[:, 0], 0] + cells[:, 1]
    design = rc.Design.from_cells(cells[:24], y[:24], sizes=(9, 3))
    fit = fit_values(design, ["abcdefghi", "xyz"], features={0: table})
    np.testing.assert_allclose(fit.predict(cells).mean, y, atol=0.05)
