"""What a check says of test rows is what the audit says of the same cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.split import check_split
from recombine.verdicts import Verdict


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(9, size=120), rng.integers(8, size=120), rng.integers(4, size=120)], axis=1)
    frame = pd.DataFrame(cells, columns=["a", "b", "dose"])
    frame["y"] = cells.sum(axis=1) + rng.normal(size=120)
    frame["part"] = rng.choice(["train", "valid", "test"], p=[0.4, 0.3, 0.3], size=120)
    return frame.astype({"a": str, "b": str})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": 2},
        {"symmetric": ["a", "b"]},
        {"ordered": ["dose"]},
        {"numeric": ["dose"]},
        {"structure": "pairs"},
    ],
)
def test_verdicts_are_those_of_the_audit(frame: pd.DataFrame, options: dict[str, object]) -> None:
    found = check_split(frame, factors=["a", "b", "dose"], split="part=train", **options)  # type: ignore[arg-type]
    build = {key: value for key, value in options.items() if key in ("symmetric", "ordered", "numeric")}
    design = rc.Design.from_frame(frame, factors=["a", "b", "dose"], split="part=train", crossed=True, **build)  # type: ignore[arg-type]
    order = {"pairs": 2}.get(str(options.get("structure")), options.get("order", 1))
    audit = rc.audit(design, order)  # type: ignore[arg-type]
    codes, rows = audit.decided.verdicts_of(design.held_out), design.observed.rows[~design.train]
    for row in found.verdicts.rows():
        verdict = next(one for one in Verdict if one.word == row["verdict"])
        assert row["cells"] == (codes == verdict).sum()
        assert row["rows"] == rows[codes == verdict].sum()
    assert found.verdicts["rows"].sum() == rows.sum() == (frame.part != "train").sum()
    assert found.verdicts["share of rows"].sum() == pytest.approx(1.0)
    assert found.trained == (frame.part == "train").sum()


def test_every_value_of_the_split_is_told_apart(frame: pd.DataFrame) -> None:
    found = check_split(frame, factors=["a", "b"], split="part")
    assert {side: int(table["rows"].sum()) for side, table in found.by_side.items()} == {
        side: int((frame.part == side).sum()) for side in ("test", "valid")
    }


def test_a_value_beyond_training_is_beyond(frame: pd.DataFrame) -> None:
    frame["part"] = np.where(frame.dose < 3, "train", "test")
    found = check_split(frame, factors=["a", "b", "dose"], split="part", ordered=["dose"])
    assert Verdict.BEYOND.word in found.verdicts["verdict"]


def test_a_scale_that_is_named_is_a_factor(frame: pd.DataFrame) -> None:
    found = check_split(frame, factors=["a", "b"], split="part=train", ordered=["dose"])
    assert [factor.name for factor in found.rows.design.factors] == ["a", "b", "dose"]


def test_missing_levels_and_parts_are_left_out_and_said(frame: pd.DataFrame) -> None:
    frame = frame.astype({"a": "string"})
    frame.loc[0, "a"] = pd.NA
    frame.loc[1, "part"] = None
    found = check_split(frame, factors=["a", "b"], split="part=train")
    assert found.trained + len(found.where) == len(frame) - 2
    assert "2 rows lack a factor or a part and are left out." in str(found)


def test_a_structure_that_needs_outcomes_reads_them(frame: pd.DataFrame) -> None:
    found = check_split(frame, factors=["a", "b", "dose"], split="part=train", outcome="y", structure="link")
    assert found.choice.name == "link"
    assert found.verdicts["rows"].sum() == (frame.part != "train").sum()
