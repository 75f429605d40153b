"""RC101: cells of known levels that no sum of seen cells reaches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc

TWO_ISLANDS = [[0, 0], [0, 1], [1, 0], [2, 2], [2, 3], [3, 2]]


def test_two_islands_leave_the_cells_between_them_open(found):
    finding = found(rc.Design.from_cells(TWO_ISLANDS), "RC101")
    assert finding.message == (
        "8 unseen cells are not settled by the data, if effects add; 1 well-chosen cell would determine them all"
    )


def test_one_bridge_settles_them(found):
    assert found(rc.Design.from_cells([*TWO_ISLANDS, [1, 2]]), "RC101") is None


def test_targets_are_counted_instead_of_the_product(found):
    targets = pd.DataFrame({"factor 1": [0, 1, 0], "factor 2": [2, 1, 0]})
    finding = found(rc.Design.from_cells(TWO_ISLANDS), "RC101", targets=targets)
    assert finding.message.startswith("1 target cell is not settled by the data")
    assert "every cell of known levels" in finding.message
    assert found(rc.Design.from_cells(TWO_ISLANDS), "RC101", targets=targets.iloc[1:]) is None


def test_the_order_asked_for_decides(found):
    design = rc.Design.from_cells([[i, j, 0] for i in range(3) for j in range(3)] + [[0, 0, 1]])
    assert found(design, "RC101") is None
    assert "if effects add up to interactions of 2 factors" in found(design, "RC101", order=2).message


@pytest.mark.slow
def test_an_estimated_number_says_about(found):
    cells = np.random.default_rng(0).integers(0, 300, size=(2_000, 3))
    finding = found(rc.Design.from_cells(cells, sizes=(300, 300, 300)), "RC101", order=2)
    # All but the seen ones, of nearly 27 million; sampled, so two digits are shown.
    assert finding.message.startswith("about 27,000,000 unseen cells are not settled by the data")
