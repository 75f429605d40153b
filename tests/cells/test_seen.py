"""Seen cells: membership says the same in products that fit a mask, that fit a number, and that fit neither."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.arrays import product_size
from recombine.cells.conjunctions import MAX_ID, Conjunctions
from recombine.cells.seen import MAX_MASKED_CELLS, SeenCells

SIZES = [(3, 4, 5), (3, 4, 10**7), (3, 10**10, 10**10)]
CELLS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=20)


def test_the_three_ways_are_all_tried() -> None:
    small, middle, large = map(product_size, SIZES)
    assert small <= MAX_MASKED_CELLS < middle <= MAX_ID < large


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@given(seen=CELLS, asked=CELLS)
def test_membership_is_that_of_a_set(
    sizes: tuple[int, ...], seen: list[tuple[int, ...]], asked: list[tuple[int, ...]]
) -> None:
    known = SeenCells(Conjunctions(sizes), np.array(seen))
    assert known.holds(np.array(asked)).tolist() == [cell in set(seen) for cell in asked]
    assert known.cells.tolist() == [list(cell) for cell in sorted(set(seen))]
    assert len(known) == len(set(seen))


def test_levels_of_interchangeable_factors_stand_in_any_order() -> None:
    known = SeenCells(Conjunctions((4, 4, 2), symmetric=((0, 1),)), np.array([[3, 1, 0]]))
    assert known.holds(np.array([[1, 3, 0], [3, 1, 0], [1, 3, 1]])).tolist() == [True, True, False]
    assert [block.tolist() for block in known.arrangements()] == [[[1, 3, 0]], [[3, 1, 0]]]
