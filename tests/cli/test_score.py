"""``recombine score``: the words of the score, JSON, and bad input in one line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc

Run = Callable[..., tuple[int, str, str]]
OPTIONS = ["--factors", "site,dose,line", "--outcome", "y", "--split", "part=train"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose model ``half`` carries half of the dose's effect, and ``exact`` all there is to know."""
    rng = np.random.default_rng(0)
    cells = np.indices((7, 6, 4)).reshape(3, -1).T
    part = np.where(rng.random(len(cells)) < 0.5, "train", "test")
    rows = np.repeat(np.arange(len(cells)), 2)
    truth = cells @ [0.5, 1.0, 0.3]
    frame = pd.DataFrame(cells[rows], columns=["site", "dose", "line"]).astype(str)
    frame["y"] = truth[rows] + 0.3 * rng.normal(size=len(rows))
    frame["part"], frame["exact"] = part[rows], truth[rows]
    frame["half"] = (truth - 0.5 * (cells[:, 1] - 2.5))[rows]
    path = tmp_path / "predicted.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_the_command_says_why_models_missed(run: Run, table: Path) -> None:
    code, out, err = run("score", table, *OPTIONS, "--prediction", "half,exact", "--full")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "Recombine score of half, exact" in words
    assert "Verdicts hold if effects add" in words
    assert "Adding beats it by" in words
    assert re.search(r"dose: (49|5\d) % of its effect arrives", words)
    assert "noise alone" in words
    assert "forecast: wide network" in words
    design = rc.Design.from_frame(table, factors=["site", "dose", "line"], outcome="y", split="part=train")
    score = rc.score(design, table, ["half", "exact"], "part=train")
    assert " ".join(score.summary.split()) == words
    short = run("score", table, *OPTIONS, "--prediction", "half,exact")[1]
    assert short.rstrip("\n") == str(score)
    assert len(short.splitlines()) <= 12


def test_json_is_all_there_is_on_standard_output(run: Run, table: Path) -> None:
    code, out, err = run("score", table, *OPTIONS, "--prediction", "half", "--json", "--structure", "add")
    record = json.loads(out)
    assert (code, err) == (0, "")
    (model,) = record["models"]
    causes = model["causes"]
    assert sum(cause["value"] for cause in causes.values()) == pytest.approx(
        model["error on determined cells"]["value"], rel=1e-9
    )
    assert causes["leak"]["low"] > causes["rest"]["high"]
    assert model["slope by factor"]["dose"]["value"] == pytest.approx(0.5, abs=0.05)
    assert record["structure"] == "add"
    assert {row["predictions"] for row in record["beside"]} >= {"half", "adding", "plain mean", "noise alone"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prediction", "hal"], "prediction 'hal' is not a column of predicted.csv; did you mean 'half'?"),
        (["--prediction", "y"], "column 'y' is both a prediction and the outcome; give it one part"),
        (["--prediction", "half", "--split", "part=trai"], "split column 'part' has no value 'trai'"),
        (["--prediction", "half", "--structure", "sum"], "sum"),
        (["--prediction", ","], "--prediction names nothing"),
    ],
)
def test_bad_input_is_one_line(run: Run, table: Path, options: list[str], message: str) -> None:
    code, out, err = run("score", table, *OPTIONS, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_predictions_that_are_missing_name_a_cell(run: Run, table: Path) -> None:
    frame = pd.read_csv(table)
    frame.loc[frame.part == "test", "half"] = None
    frame.to_csv(table, index=False)
    code, _, err = run("score", table, *OPTIONS, "--prediction", "half")
    assert code == 2
    assert "prediction 'half' of predicted.csv is no finite number in" in err


def test_training_rows_need_no_prediction(run: Run, table: Path) -> None:
    frame = pd.read_csv(table)
    frame.loc[frame.part == "train", "half"] = None
    frame.to_csv(table, index=False)
    assert run("score", table, *OPTIONS, "--prediction", "half", "--structure", "add")[0] == 0


def rounded(record: Any) -> Any:
    """The record with every number to ten digits."""
    if isinstance(record, dict):
        return {name: rounded(value) for name, value in record.items()}
    if isinstance(record, list):
        return [rounded(value) for value in record]
    return float(f"{record:.10g}") if isinstance(record, float) else record


@pytest.mark.slow
def test_training_rows_in_a_table_of_their_own(run: Run, table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table, dtype={"site": str, "dose": str, "line": str})
    for part in ("train", "test"):
        frame[frame.part == part].drop(columns="part").to_csv(tmp_path / f"{part}.csv", index=False)
    options = ["--factors", "site,dose,line", "--outcome", "y", "--prediction", "half", "--json"]
    code, out, err = run("score", tmp_path / "test.csv", "--train", tmp_path / "train.csv", *options)
    whole = run("score", table, *OPTIONS, "--prediction", "half", "--json")[1]
    assert (code, err) == (0, "")
    # Rows are added up in another order, so the last digits may differ.
    assert rounded(json.loads(out)["models"]) == rounded(json.loads(whole)["models"])


@pytest.mark.slow
def test_a_page_is_written_beside_the_words(run: Run, table: Path, tmp_path: Path) -> None:
    page = tmp_path / "score.html"
    code, out, err = run("score", table, *OPTIONS, "--prediction", "half", "--html", page)
    assert (code, err) == (0, "")
    assert "report written to" in out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("score", table, *OPTIONS, "--prediction", "half", "--html", page)[0] == 2
    code, _, err = run("score", table, *OPTIONS, "--prediction", "half", "--html", table, "--force")
    assert (code, err) == (2, f"recombine: {table} is the table itself; choose another name for the output\n")


@pytest.mark.slow
def test_classes_from_text_and_from_numbers(run: Run, table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table)
    frame["grade"] = pd.cut(frame.y, 3, labels=[10, 20, 30]).astype(int)
    frame["told"] = pd.cut(frame.half, 3, labels=[10, 20, 30]).astype(int)
    frame["word"], frame["said"] = frame.grade.map("g{}".format), frame.told.map("g{}".format)
    path = tmp_path / "classes.csv"
    frame.to_csv(path, index=False)
    options = ["--factors", "site,dose,line", "--split", "part=train", "--json"]
    numbers = run("score", path, *options, "--outcome", "grade", "--classes", "--prediction", "told")
    words = run("score", path, *options, "--outcome", "word", "--prediction", "said")
    assert (numbers[0], words[0]) == (0, 0)
    first, second = (json.loads(found[1]) for found in (numbers, words))
    assert first["classes"] == ["10", "20", "30"]
    assert second["classes"] == ["g10", "g20", "g30"]
    assert first["models"][0]["causes"] == second["models"][0]["causes"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "which rows were trained on? Name the split column"),
        (["--split", "part=train", "--train", "{table}"], "both say what was trained on; leave one out"),
        (["--train", "nowhere.csv"], "nowhere.csv does not exist"),
        (["--split", "part=train", "--fail-on", "worse"], "name the earlier one: --baseline"),
    ],
)
def test_what_was_trained_on_is_named_once(run: Run, table: Path, options: list[str], words: str) -> None:
    filled = [option.format(table=table) for option in options]
    common = ["--factors", "site,dose,line", "--outcome", "y", "--prediction", "half"]
    code, out, err = run("score", table, *common, *filled)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_chances_that_are_classes_on_some_cells_only(run: Run, tmp_path: Path) -> None:
    """Every verdict has the same columns, also where all chances under it are 0 or 1."""
    rows = ["a,b,y,p,part"]
    for a, b in np.ndindex(4, 3):
        part = "test" if (a, b) in ((0, 2), (1, 1), (3, 2)) else "train"
        rows += [f"{a},{b},{(a + b) % 2},{1 if (a, b) == (0, 2) else 0.3 if part == 'test' else 0},{part}"] * 2
    rows += ["4,0,1,0.4,test"]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    options = ["--factors", "a,b", "--outcome", "y", "--prediction", "p", "--split", "part=train"]
    code, out, err = run("score", tmp_path / "t.csv", *options, "--json")
    assert (code, err) == (0, "")
    assert "log loss" in out


def test_outcomes_of_two_kinds_are_refused(run: Run, tmp_path: Path) -> None:
    cells = [f'"a": "x{n % 3}", "b": "u{n % 2}"' for n in range(9)]
    train = [f'{{{cell}, "y": "cat{n % 3}"}}\n' for n, cell in enumerate(cells)]
    test = [f'{{{cell}, "y": {n}, "p": {n}}}\n' for n, cell in enumerate(cells)]
    (tmp_path / "train.jsonl").write_text("".join(train))
    (tmp_path / "test.jsonl").write_text("".join(test))
    options = ["--factors", "a,b", "--outcome", "y", "--prediction", "p", "--train", tmp_path / "train.jsonl"]
    code, _, err = run("score", tmp_path / "test.jsonl", *options)
    assert code == 2
    assert "give both tables one kind of outcome" in err


def test_nobody_waits_for_a_pipe(run: Run, table: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "before.json")
    code, _, err = run("score", table, *OPTIONS, "--prediction", "half", "--baseline", tmp_path / "before.json")
    assert code == 2
    assert "is a pipe or device" in err
