from __future__ import annotations

import pytest

from recombine.sheets import Grid, Note


def test_rows_are_filled_to_the_longest() -> None:
    assert Grid([["a"], ["b", "c"], []]).filled() == [["a", ""], ["b", "c"], ["", ""]]


def test_a_merged_range_holds_its_first_cell_and_stays_inside() -> None:
    grid = Grid([["x", "", "y", "v"], ["", "", "z", "w"]], merged=((0, 0, 9, 1), (7, 0, 8, 0)))
    assert grid.filled() == [["x", "x", "y", "v"], ["x", "x", "z", "w"]]


def test_a_merged_range_over_all_columns_is_a_title_and_stays_one_cell() -> None:
    grid = Grid([["Plate 7", "", ""], ["drug", "dose", "y"]], merged=((0, 0, 0, 2),))
    assert grid.filled() == [["Plate 7", "", ""], ["drug", "dose", "y"]]


def test_lines_are_those_of_the_file() -> None:
    assert Grid([["a"], ["b"]], lines=(1, 4)).line(1) == 4
    assert Grid([["a"], ["b"]]).line(1) == 2


def test_kinds_of_notes_are_closed() -> None:
    with pytest.raises(ValueError, match="no kind of note"):
        Note("else")
