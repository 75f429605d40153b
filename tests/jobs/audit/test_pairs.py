"""The numbers behind the verdict map: levels stand in an order that shows structure."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.jobs.audit.pairs import level_order
from recombine.verdicts import Verdict


def test_order_of_levels_keeps_blocks_together_and_unseen_levels_last() -> None:
    cells = [[0, 0], [2, 0], [4, 0], [1, 1], [3, 1], [1, 2]]
    rows, columns = level_order(rc.audit(rc.Design.from_cells(cells, sizes=(6, 4))).decided)
    assert {frozenset(rows[:3].tolist()), frozenset(rows[3:5].tolist())} == {frozenset({0, 2, 4}), frozenset({1, 3})}
    assert rows[-1] == 5
    assert columns[-1] == 3


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_levels_that_are_treated_alike_stand_side_by_side(cells: list[tuple[int, int, int]]) -> None:
    audit = rc.audit(rc.Design.from_cells(np.array(cells), sizes=(5, 4, 3)))
    grid = audit.decided.identification.verdicts_on_grid()
    known = (grid <= Verdict.DETERMINED).reshape(5, -1)
    order = level_order(audit.decided)[0]
    assert sorted(order.tolist()) == list(range(5))
    # Two seen levels of one factor are alike exactly if the same cells are known for them.
    patterns = [known[level].tobytes() for level in order if known[level].any()]
    runs = [name for place, name in enumerate(patterns) if place == 0 or patterns[place - 1] != name]
    assert len(runs) == len(set(patterns))
