"""A task from a table of one's own."""

from __future__ import annotations

import pandas as pd
import pytest

from recombine import Design
from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task


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


def test_names_of_levels_and_answers_are_kept() -> None:
    table = pd.DataFrame(
        [
            {"leaf": leaf, "legs": legs, "toxic": "yes" if leaf == "waxy" and legs == 6 else "no", "part": "train"}
            for leaf in ("waxy", "dull")
            for legs in (6, 4)
        ]
    )
    table.loc[0, "part"] = "test"
    task = tasks.from_design(Design.from_frame(table, factors=["leaf", "legs"], outcome="toxic", split="part=train"))
    assert task.levels == (("dull", "waxy"), ("4", "6"))
    assert task.classes == ("no", "yes")
    said = [task.said(row) for row in range(4)]
    assert sorted(said) == [
        "leaf dull, legs 4: no",
        "leaf dull, legs 6: no",
        "leaf waxy, legs 4: no",
        "leaf waxy, legs 6: yes",
    ]
    assert [word for word, seen in zip(said, task.train, strict=True) if not seen] == ["leaf waxy, legs 6: yes"]


def test_names_have_to_fit_the_cells() -> None:
    cells, seen = [[0, 0], [1, 1]], [True, False]
    plain = Task("plain", cells, seen, [0.5, 2], ("a", "b"))
    assert plain.levels == (("0", "1"), ("0", "1"))
    assert plain.said(1) == "a 1, b 1: 2"
    with pytest.raises(InputError, match="'b' has 2 levels and 1 name"):
        Task("few", cells, seen, [0, 1], ("a", "b"), (("x", "y"), ("z",)))
    with pytest.raises(InputError, match="levels are of 1 factors"):
        Task("one", cells, seen, [0, 1], ("a", "b"), (("x", "y"),))
    with pytest.raises(InputError, match="leave classes out"):
        Task("other", cells, seen, [0, 1], ("a", "b"), classes=("no", "yes"))
