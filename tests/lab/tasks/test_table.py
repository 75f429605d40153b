"""A task from a table of one's own."""

from __future__ import annotations

import pandas as pd
import pytest

from recombine import Design
from recombine.errors import InputError
from recombine.lab import tasks


def _frame(**changes: object) -> pd.DataFrame:
    task = tasks.symbolic_addition(n=4, anchors=[1])
    columns = {"left": task.cells[:, 0], "right": task.cells[:, 1], "sum": task.target, "seen": task.train}
    return pd.DataFrame({**columns, **changes})


def test_a_table_of_a_task_is_that_task() -> None:
    task = tasks.symbolic_addition(n=4, anchors=[1])
    found = tasks.from_design(Design.from_frame(_frame(), factors=["left", "right"], outcome="sum", split="seen=True"))
    assert found.cells.tolist() == task.cells.tolist()
    assert found.train.tolist() == task.train.tolist()
    assert found.target.tolist() == task.target.tolist()
    assert found.factors == ("left", "right")


def test_two_answers_are_signs_and_training_wins() -> None:
    cells, answers = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0]], [0, 0, 1, 1, 0]
    design = Design.from_cells(cells, answers, train=[True, True, True, False, False])
    task = tasks.from_design(design, "letters")
    assert task.name == "letters"
    assert task.cells.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert task.train.tolist() == [True, True, True, False]
    assert task.target.tolist() == [-1, -1, 1, 1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outcome": None, "split": "seen=True"}, "name the outcome column"),
        ({"outcome": "sum"}, "every cell was seen"),
    ],
)
def test_what_is_missing_is_named(options: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tasks.from_design(Design.from_frame(_frame(), factors=["left", "right"], **options))


def test_cells_with_both_answers_have_no_right_one() -> None:
    design = Design.from_cells([[0, 0], [0, 0], [1, 1], [0, 1]], [0, 1, 1, 0], train=[True, True, True, False])
    with pytest.raises(InputError, match="1 cell with both answers"):
        tasks.from_design(design)
