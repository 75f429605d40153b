"""Answers fit one screen whatever the names, say each number once, and begin with what is wrong."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.expected_miss import expected_miss
from recombine.jobs.split import check_split
from recombine.words.answer import LINE_LETTERS, MAX_LINES, NAME_LETTERS, Answer, AnswerLine

LONG = "a name that somebody gave to a level of a factor, and that goes on and on without an end "


def fits(answer: object) -> bool:
    rows = str(answer).split("\n")
    return len(rows) <= MAX_LINES and max(map(len, rows)) <= LINE_LETTERS


@cache
def table(factors: int = 2, size: int = 5, noise: float = 0.1, word: str = "") -> pd.DataFrame:
    rng = np.random.default_rng(factors * size)
    cells = np.indices((size,) * factors).reshape(factors, -1).T
    cells = cells[rng.random(len(cells)) < 0.7]
    frame = pd.DataFrame(
        {f"{word}f{place}": [f"{word}{code}" for code in column] for place, column in enumerate(cells.T)}
    )
    outcome = cells @ np.arange(1.0, factors + 1) + noise * rng.normal(size=len(cells))
    part = np.where(rng.random(len(cells)) < 0.8, "train", "test")
    return frame.assign(**{f"{word}y": outcome, "part": part, "net": 0.9 * outcome + 1})


def names(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if name not in ("part", "net") and not name.endswith("y")]


def outcome_of(frame: pd.DataFrame) -> str:
    return next(name for name in frame.columns if name.endswith("y"))


@pytest.mark.slow
@pytest.mark.parametrize("word", ["", LONG, "x\n::error::", "x" * 300])
def test_answers_fit_a_screen_whatever_things_are_called(word: str) -> None:
    frame = table(3, 4, word=word)
    design = rc.Design.from_frame(frame, factors=names(frame), outcome=outcome_of(frame), split="part=train")
    audit = rc.audit(design)
    assert fits(audit)
    assert fits(rc.score(design, frame, ["net"], "part=train"))
    assert fits(check_split(frame, factors=names(frame), split="part"))
    assert fits(rc.compare(audit, rc.audit(rc.Design.from_frame(frame, factors=names(frame)))))
    assert not any(row.lstrip().startswith("::") for row in str(audit).split("\n"))


def test_what_does_not_fit_is_said_in_short_and_the_last_lines_first() -> None:
    texts = [AnswerLine(f"line {place}", "word " * 40, f"short {place}") for place in range(6)]
    answer = Answer("title", tuple(texts))
    assert fits(answer)
    said = [line.text.split()[0] for line in answer.lines]
    assert said == sorted(said, reverse=True)  # "word" before "short"
    assert "short" in said
    assert "word" in said


def test_what_is_to_be_pasted_is_never_cut_or_wrapped() -> None:
    command = "recombine audit " + "a-long-name " * 30
    full = [AnswerLine(f"line {place}", "word " * 40) for place in range(MAX_LINES)]
    assert f"To repeat: {command}" in str(Answer("t", (*full, AnswerLine("To repeat", command, whole=True)))).split(
        "\n"
    )


def test_every_line_begins_below_the_one_before() -> None:
    rows = str(Answer("t", (AnswerLine("Read", "x " * 90), AnswerLine("Seen", "3")))).split("\n")
    assert rows[1].startswith("Read".ljust(NAME_LETTERS) + "x")
    assert rows[2].startswith(" " * (NAME_LETTERS + 2) + "x")


def test_one_set_of_cells_and_one_noise_for_values_mean_and_network() -> None:
    rng = np.random.default_rng(3)
    cells = np.repeat(np.indices((6, 5)).reshape(2, -1).T, 3, axis=0)
    seen = (cells[:, 0] + 2 * cells[:, 1]) % 7 > 0
    y = cells @ [1.0, 2.0] + rng.normal(size=len(cells))
    audit = rc.audit(rc.Design.from_cells(cells[seen], y[seen]))
    miss, error = expected_miss(audit), audit.forecast.error
    assert miss is not None
    assert error is not None
    assert (miss.values, miss.mean, miss.noise, miss.network) == (error.values, error.mean, error.noise, error.ntk)
    # By hand: each mean of three rows from the components without it, on the cells that the others determine.
    components, places = audit.values.components, audit.forecast.scored.places
    by_hand = np.sqrt(np.mean((components.leave_one_out().mean - components.y)[places] ** 2))
    assert miss.values == pytest.approx(by_hand)
    within = [y[seen][(cells[seen] == cell).all(axis=1)].var(ddof=1) for cell in np.unique(cells[seen], axis=0)]
    assert miss.noise == pytest.approx(np.sqrt(np.mean(within) / 3))
    assert f"miss by {miss.values:.3g}" in str(audit)
    assert f"noise alone by {miss.noise:.3g}" in str(audit)


def test_held_out_rows_are_what_values_are_judged_by() -> None:
    frame = table(2, 8)
    design = rc.Design.from_frame(frame, factors=["f0", "f1"], outcome="y", split="part=train")
    audit = rc.audit(design)
    miss = expected_miss(audit)
    assert miss is not None
    held = frame[frame["part"] == "test"]
    values = {(row["f0"], row["f1"]): row["predicted"] for row in audit.verdicts.rows()}
    missed = [row.y - values[row.f0, row.f1] for row in held.itertuples() if (row.f0, row.f1) in values]
    assert miss.cells == len(missed)
    assert miss.values == pytest.approx(np.sqrt(np.mean(np.square(missed))))
    assert "held-out combinations" in " ".join(str(audit).split())


def test_where_nothing_is_beyond_chance_the_second_line_says_so() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((7, 6)).reshape(2, -1).T
    audit = rc.audit(rc.Design.from_cells(cells[:-6], rng.normal(size=36), sizes=(7, 6)))
    lines = [line.name for line in audit.answer.lines]
    assert lines[:2] == ["Read", "Careful"]
    assert "no value is better than the mean" in str(audit)
