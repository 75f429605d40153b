"""Leaks that were planted are found, each by its kind, and what chance makes is not told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recombine.errors import InputError
from recombine.jobs.split import check_split
from recombine.jobs.split.leaks import SidedRows, alike_levels, find_leaks, spelling


def frame_of(rng: np.random.Generator, sizes: tuple[int, ...] = (8, 7, 5)) -> pd.DataFrame:
    """A full table with noise, half of its cells in training."""
    cells = np.indices(sizes).reshape(len(sizes), -1).T
    frame = pd.DataFrame(cells, columns=["drug", "line", "dose"][: len(sizes)]).astype(str)
    frame["y"] = cells.sum(axis=1) + rng.normal(size=len(cells)).round(6)
    frame["part"] = np.where(rng.random(len(cells)) < 0.5, "train", "test")
    return frame


def leaks_of(frame: pd.DataFrame, **options: object) -> dict[str, tuple[int, int]]:
    found = check_split(frame, factors=["drug", "line"], split="part", **options)  # type: ignore[arg-type]
    return {leak.kind: (leak.cells, leak.rows) for leak in found.leaks}


def test_a_clean_split_has_no_leak() -> None:
    frame = frame_of(np.random.default_rng(0), (8, 7))
    assert leaks_of(frame, outcome="y") == {}


def test_cells_on_both_sides_are_counted_once() -> None:
    frame = frame_of(np.random.default_rng(0), (8, 7))
    test = frame[frame.part == "test"].head(3)
    again = pd.concat([frame, test.assign(part="train"), test])
    assert leaks_of(again) == {"same cell": (3, 6)}


def test_cells_that_are_the_same_once_permuted() -> None:
    rows = [("a", "b", "train"), ("c", "d", "train"), ("a", "d", "train"), ("b", "a", "test"), ("c", "d", "test")]
    frame = pd.DataFrame([*rows, ("b", "c", "test")], columns=["drug", "line", "part"])
    assert leaks_of(frame, symmetric=["drug", "line"]) == {"same cell": (1, 1), "permuted cell": (1, 1)}
    assert leaks_of(frame) == {"same cell": (1, 1)}


def test_levels_spelled_another_way() -> None:
    frame = pd.DataFrame(
        [
            ("Low dose", "x", "train"),
            ("high", "x", "train"),
            ("high", "y", "train"),
            ("low-dose ", "x", "test"),
            ("low-dose ", "y", "test"),
        ],
        columns=["drug", "line", "part"],
    )
    found = check_split(frame, factors=["drug", "line"], split="part")
    assert [(leak.kind, leak.cells) for leak in found.leaks] == [("respelled level", 1)]
    assert found.alike == (("drug", "low-dose ", "Low dose"),)
    assert set(found.verdicts["verdict"].tolist()) == {"unseen level"}


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("New York", "new york", True),
        ("N.Y.C.", "nyc", True),
        ("x_1", "x-1", True),
        ("1.0", "1", True),
        ("A", "a", False),
        ("A+", "A-", False),
        ("-1", "1", False),
        ("1.5", "15", False),
        ("p 1.5", "p 15", False),
        ("10-20", "1020", False),
        ("north", "south", False),
    ],
)
def test_only_case_blanks_and_idle_punctuation_are_overlooked(first: str, second: str, alike: bool) -> None:
    assert (spelling(first) == spelling(second)) is alike


def test_a_copied_level_is_found_and_named() -> None:
    rng = np.random.default_rng(1)
    frame = frame_of(rng, (8, 7))
    frame.loc[frame.drug == "3", "part"] = "test"
    frame.loc[frame.drug == "5", "part"] = "train"
    values = dict(zip(frame[frame.drug == "5"].line, frame[frame.drug == "5"].y, strict=True))
    mine = frame.drug == "3"
    frame.loc[mine, "y"] = [values[line] for line in frame[mine].line]
    found = check_split(frame, factors=["drug", "line"], split="part", outcome="y")
    (leak,) = found.leaks
    assert (leak.kind, leak.cells, leak.rows) == ("copied level", 7, 7)
    (copy,) = leak.examples
    assert (copy.factor, copy.level, copy.original, copy.cells) == ("drug", "3", "5", 7)
    assert copy.chance < 1e-4
    (finding,) = found.findings
    assert "drug '3' has the rows of '5' in all of its 7 test cells (fewer than 0.0001" in finding.message
    # One outcome that differs, and it is no copy.
    frame.loc[frame[mine].index[0], "y"] += 1.0
    assert check_split(frame, factors=["drug", "line"], split="part", outcome="y").leaks == ()


def test_levels_without_effect_on_outcomes_without_noise_are_no_copies() -> None:
    """All levels agree where the outcome follows from the other factors: nothing is beyond chance."""
    frame = frame_of(np.random.default_rng(2), (8, 7))
    frame["y"] = frame.line.astype(int)
    frame["part"] = np.where(frame.drug.astype(int) < 4, "train", "test")
    assert check_split(frame, factors=["drug", "line"], split="part", outcome="y").leaks == ()


@pytest.mark.parametrize("values", [2, 3, 10])
def test_chance_hardly_ever_makes_a_copy(values: int) -> None:
    """Outcomes of few values, levels held out whole: fewer than one alarm in a hundred tables is what is promised."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng([values, seed])
        cells = np.indices((12, int(rng.integers(2, 9)))).reshape(2, -1).T
        cells = cells[rng.random(len(cells)) < 0.8]
        chance = rng.dirichlet(np.ones(values))
        outcome = rng.choice(values, size=len(cells), p=chance)
        labels = tuple(tuple(f"level {chr(97 + code)}" for code in range(12)) for _ in range(2))
        sides = SidedRows(("drug", "line"), labels, cells, cells[:, 0] < 6, (), outcome)
        alarms += any(leak.kind == "copied level" for leak in find_leaks(sides))
    assert alarms <= 4


def test_alike_levels_leave_out_what_training_has() -> None:
    codes = np.array([[0, 0], [1, 1], [1, 0]])
    labels = (("blue", "Blue"), ("cube", "ball"))
    assert alike_levels(SidedRows(("colour", "shape"), labels, codes, np.array([True, True, False]))) == []


def test_a_split_without_two_sides_is_refused() -> None:
    frame = frame_of(np.random.default_rng(0), (4, 4)).assign(part="train")
    with pytest.raises(InputError, match="every row of the table is training; nothing to check"):
        check_split(frame, factors=["drug", "line"], split="part")
