"""How a table is read where nothing was said: never by under half of its rows, and with the outcome that it guesses."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.design import used_spec
from recombine.errors import InputError

NOTES = """strain,medium,sugar,growth,notes
W303,YP,glucose,0.41,
W303,YP,galactose,0.33,
W303,SC,glucose,0.35,edge well
W303,SC,raffinose,0.22,
BY4741,YP,glucose,0.44,
BY4741,YP,raffinose,0.29,
BY4741,SC,galactose,0.28,clumped
BY4741,SC,glucose,0.37,
S288C,YP,galactose,0.37,edge well
S288C,YP,raffinose,0.30,
S288C,SC,glucose,0.38,
S288C,SC,galactose,0.29,
"""
SPARSE = ["strain", "medium", "sugar", "notes"]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "my notes.csv"
    path.write_text(NOTES)
    return path


def test_a_sparse_factor_is_refused_with_the_command_that_leaves_it_out(notes: Path) -> None:
    with pytest.raises(InputError) as refusal:
        rc.Design.from_frame(notes, factors=SPARSE, outcome="growth")
    message = str(refusal.value)
    assert message.startswith("9 of 12 rows of my notes.csv lack a level of notes")
    assert "--allow-missing" in message
    command = message.partition("without: ")[2]
    words = ["recombine", "audit", str(notes), "--factors", "strain,medium,sugar", "--outcome", "growth"]
    assert shlex.split(command) == words
    few = rc.Design.from_frame(notes, factors=SPARSE, outcome="growth", allow_missing=True)
    assert few.reading.rows == (12, 3)


def test_whatever_is_guessed_no_answer_rests_on_under_half_of_the_rows(notes: Path) -> None:
    with contextlib.suppress(InputError):
        assert "12 of 12 rows used" in str(rc.audit(notes))


@pytest.mark.parametrize(("lacking", "refused"), [(6, False), (7, True)])
def test_half_is_counted_over_rows_that_lack_any_factor(lacking: int, refused: bool) -> None:
    frame = pd.DataFrame({"a": list("xyxyxyxyxyxy"), "b": list("ppqqppqqppqq"), "y": np.arange(12.0)})
    frame.loc[: lacking // 2 - 1, "a"] = None
    frame.loc[lacking // 2 : lacking - 1, "b"] = None
    named = {"factors": ["a", "b"], "outcome": "y"}
    if refused:
        with pytest.raises(InputError, match=f"{lacking} of 12 rows of the table lack a level of a, b.*fill them in"):
            rc.Design.from_frame(frame, **named)
    else:
        assert rc.Design.from_frame(frame, **named).reading.rows == (12, 12 - lacking)


def test_cells_without_an_outcome_are_unseen_and_no_loss() -> None:
    cells = pd.DataFrame(np.indices((5, 4)).reshape(2, -1).T, columns=["a", "b"]).astype(str)
    cells["y"] = np.where(cells.index % 4 == 0, cells.index / 7, np.nan)
    cells.loc[:3, "y"], cells.loc[4::4, "y"] = [1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5]
    audit = rc.audit(cells, factors=["a", "b"], outcome="y")
    assert len(audit.design.seen) == 8
    assert "8 of 20 rows used (12 with no usable outcome 'y')" in " ".join(str(audit).split())


def test_held_out_rows_are_used_rows() -> None:
    frame = pd.DataFrame(
        {"a": list("xxyyx"), "b": list("pqpqp"), "y": np.arange(5.0), "part": ["train"] * 2 + ["t"] * 3}
    )
    audit = rc.audit(frame, factors=["a", "b"], outcome="y", split="part=train")
    assert "5 of 5 rows used, 3 held out" in " ".join(str(audit).split())


FRAME = pd.DataFrame(
    {
        "strain": list("aabbccaabbcc"),
        "medium": ["YP", "SC"] * 6,
        "growth": [0.1, 0.25, 0.3, 0.42, 0.57, 0.61, 0.11, 0.24, 0.33, 0.4, 0.52, 0.66],
    }
)


def test_a_guessed_outcome_is_used_marked_and_repeated_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "my table.csv"
    FRAME.to_csv(path, index=False)
    audit = rc.audit(path)
    assert audit.design.outcome_column.name == "growth"
    assert audit.design.spec.outcome is None
    assert used_spec(audit.design)[1] == {"factors": "guessed", "outcome": "guessed"}
    command = next(line.text for line in audit.answer.lines if line.name == "To repeat")
    assert shlex.split(command) == [
        *["recombine", "audit", str(path), "--factors", "strain,medium", "--outcome", "growth"]
    ]
    named = rc.audit(path, factors=["strain", "medium"], outcome="growth")
    assert named.verdicts.rows() is not None
    assert list(named.verdicts.rows()) == list(audit.verdicts.rows())
    assert not {"Guessed", "To repeat"} & {line.name for line in named.answer.lines}


def test_none_asks_for_verdicts_only_unless_a_column_is_so_called() -> None:
    assert rc.Design.from_frame(FRAME, outcome="none").outcome is None
    named = FRAME.rename(columns={"growth": "none"})
    assert rc.Design.from_frame(named, factors=["strain", "medium"], outcome="none").outcome is not None


@pytest.mark.parametrize(
    "outcome", [["good", "bad", "fair"] * 4, ["<5", "n.d.", "3"] * 4, [None] * 11 + ["x"], [1e200] * 6 + [2e200] * 6]
)
def test_a_guessed_outcome_that_cannot_be_used_never_stops_the_audit(outcome: list[object]) -> None:
    audit = rc.audit(FRAME.assign(result=outcome).drop(columns="growth"))
    assert audit.design.outcome is None or audit.design.outcome_column.name != "result"
    assert str(audit)
    assert audit.summary


def test_factors_that_were_named_get_no_outcome_that_was_not() -> None:
    assert rc.Design.from_frame(FRAME, factors=["strain", "medium"]).outcome is None


def test_candidates_are_named_where_the_outcome_is_not_clear_and_where_it_is() -> None:
    rng = np.random.default_rng(0)
    frame = FRAME.assign(height=rng.normal(size=12).round(3), width=rng.normal(size=12).round(3))
    for columns in (["strain", "medium", "height", "width"], ["strain", "medium", "growth", "height", "width"]):
        audit = rc.audit(frame[columns])
        guessed = next(line.text for line in audit.answer.lines if line.name == "Guessed")
        found = audit.design.outcome_column.name
        others = {item.column for item in audit.design.reading.proposals if item.candidate}
        assert found is not None or others
        assert ("may be the outcome" in guessed) == bool(others)
        assert ("instead" in guessed) == (found is not None and bool(others))
        assert ("--outcome" in guessed) == (found is None and bool(others))
        assert all(name in guessed for name in list(others)[:3])


def test_counts_and_spreads_beside_the_outcome_are_said_to_be_left_out_with_options_that_work(tmp_path: Path) -> None:
    frame, path = FRAME.assign(sd=np.linspace(0.01, 0.02, 12), n=[3, 4] * 6), tmp_path / "t.csv"

    def guessed(columns: list[str]) -> str:
        frame[["strain", "medium", "growth", *columns]].to_csv(path, index=False)
        return next(line.text for line in rc.audit(path).answer.lines if line.name == "Guessed")

    assert "; sd and n left out (--sd sd --weight n);" in guessed(["sd", "n"])
    assert rc.audit(path, sd="sd", weight="n").design.observed.within_rows
    assert "; n left out (--weight n);" in guessed(["n"])
    assert "; sd left out;" in guessed(["sd"])  # --sd alone is refused
    assert "left out" not in guessed([])


def test_a_guess_of_several_classes_says_how_to_name_one() -> None:
    audit = rc.audit(FRAME.assign(result=["good", "bad", "fair"] * 4).drop(columns="growth"))
    if audit.design.reading.proposals and any(item.role == "outcome" for item in audit.design.reading.proposals):
        assert "neither numbers nor of two values (--outcome result=CLASS)" in " ".join(str(audit).split())
    assert "no outcome" in str(audit)
