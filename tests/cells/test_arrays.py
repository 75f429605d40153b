from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.arrays import MAX_LEVEL, as_cells, as_numbers, product_size, sizes_of
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.measures.dependence.columns import mutual_information


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64])
def test_any_whole_number_type_gives_the_same_codes(dtype: Any) -> None:
    cells = as_cells(np.array([[0, 1], [2, 100]], dtype=dtype))
    assert cells.dtype == np.int64
    assert cells.tolist() == [[0, 1], [2, 100]]


def test_flags_are_codes() -> None:
    assert as_cells([[True, False]]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([0, 1], r"seen has shape \(2,\); give one row per cell"),
        (np.zeros((3, 0)), r"seen has shape \(3, 0\)"),
        ([[0, 1], [1]], "rows of seen differ in length"),
        ([[0, 1], [0, -2]], r"seen\[1, 1\] is -2"),
        ([[0, 1.5]], r"seen\[0, 1\] is 1.5"),
        ([[0, 1], [np.nan, 1]], r"seen\[1, 0\] is nan"),
        ([[0, np.inf]], r"seen\[0, 1\] is inf"),
        ([["red", "cube"]], "dtype <U4; code each factor's levels"),
        ([[0, 2**63 - 1]], r"seen\[0, 1\] is 9223372036854775807"),
        (np.array([[2**64 - 1, 0]], dtype=np.uint64), r"seen\[0, 0\] is 18446744073709551615"),
        ([[0, 1e300]], r"seen\[0, 1\] is 1e\+300"),
        ([[0, 2**70]], "dtype object"),
        ([[0j, 1j]], "dtype complex128"),
        (np.ma.masked_equal([[0, 1], [9, 0]], 9), r"seen are masked at \[1, 0\]; replace"),
    ],
)
def test_what_is_wrong_with_cells_is_said(cells: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_cells(cells, "seen")


def test_masked_numbers_are_refused_and_a_mask_that_hides_nothing_is_not() -> None:
    numbers = np.ma.masked_greater([[1.0, 2.0], [3.0, 4.0]], 9.0)
    assert type(as_numbers(numbers, "inputs")) is np.ndarray
    assert as_numbers(numbers, "inputs").tolist() == as_numbers(numbers.data, "inputs").tolist()
    with pytest.raises(InputError, match=r"^inputs are masked at \[0, 1\]; replace or leave out what is missing$"):
        as_numbers(np.ma.masked_equal(numbers, 2.0), "inputs")
    with pytest.raises(InputError, match=r"^inputs are masked; "):
        as_numbers(np.ma.masked, "inputs")


def test_masked_outcomes_of_a_design_and_masked_codes_are_refused() -> None:
    with pytest.raises(InputError, match=r"outcome are masked at \[2\]"):
        Design.from_cells([[0, 0], [0, 1], [1, 0]], np.ma.masked_equal([1.0, 2.0, -9.0], -9.0))
    with pytest.raises(InputError, match=r"masked at \[1\]"):
        mutual_information(np.ma.masked_equal([0, 9, 1], 9), [0, 0, 1])


def test_the_number_of_factors_is_checked() -> None:
    with pytest.raises(InputError, match="targets has 3 columns but the design has 2 factors"):
        as_cells([[0, 1, 2]], "targets", factors=2)


def test_no_rows_are_fine_as_cells_but_have_no_sizes() -> None:
    empty = as_cells(np.zeros((0, 3), dtype=int))
    assert empty.shape == (0, 3)
    with pytest.raises(InputError, match="no cells were given"):
        sizes_of(empty)
    assert sizes_of(empty, as_cells([[1, 0, 2]])) == (2, 1, 3)


def test_sizes_do_not_wrap_at_the_largest_level() -> None:
    assert sizes_of(as_cells([[MAX_LEVEL - 1]])) == (MAX_LEVEL,)


@given(st.lists(st.integers(1, 10**12), max_size=12))
def test_product_size_is_exact(sizes: list[int]) -> None:
    assert product_size(sizes) == product_size(sizes[::-1])
    assert product_size([*sizes, 7]) == 7 * product_size(sizes)
    assert product_size(np.array(sizes, dtype=np.int64).tolist()) == product_size(sizes)
