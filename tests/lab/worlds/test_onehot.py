"""One-hot codes: what they say about overlap, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.worlds.onehot import one_hot


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_inner_products_count_shared_levels(sizes: list[int]) -> None:
    cells = every_cell(sizes)
    codes = one_hot(cells, sizes)
    assert codes.shape == (len(cells), sum(sizes))
    np.testing.assert_array_equal(codes @ codes.T, (cells[:, None] == cells[None]).sum(-1))


def test_columns_go_factor_by_factor_and_level_by_level() -> None:
    task = tasks.context_dependence(left_out=2)
    expected = np.concatenate([np.eye(size)[task.cells[:, place]] for place, size in enumerate(task.sizes)], axis=1)
    np.testing.assert_array_equal(one_hot(task.cells, task.sizes), expected)


def test_levels_without_a_cell_keep_their_column() -> None:
    np.testing.assert_array_equal(one_hot([[0, 0]], (2, 3)), [[1, 0, 1, 0, 0]])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[0, 1], [1, 3]], r"cells\[1, 1\] is level 3, but sizes gives factor 1 only 3 levels"),
        ([[2, 0]], r"cells\[0, 0\] is level 2"),
        ([[0, -1]], "levels are integers from 0 up"),
        ([[0, 1, 0]], "3 columns but the design has 2 factors"),
    ],
)
def test_cells_that_do_not_fit_are_refused(cells: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        one_hot(cells, (2, 3))
