"""``recombine probe``: the words of the probe, JSON, exit codes, and bad input in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recombine as rc

Run = Callable[..., tuple[int, str, str]]
ASKED: dict[str, Any] = {"prediction": "guess", "outcome": "digit", "factors": ["size", "colour", "site"]}
OPTIONS = ["--prediction", "guess", "--outcome", "digit", "--factors", "size,colour,site"]


@pytest.fixture(scope="module")
def frame(predictions: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    return predictions()


@pytest.fixture
def table(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "guesses.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_command_prints_the_words_and_succeeds(run: Run, table: Path, frame: pd.DataFrame) -> None:
    code, out, err = run("probe", table, *OPTIONS)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert re.search(r"guess depends on colour beyond digit: 0\.\d+ bits, \d+\.\d % of what digit leaves open", words)
    assert "No dependence of guess on size beyond digit was found" in words
    assert " ".join(str(rc.probe(table, **ASKED)).split()) == words


def test_exit_code_1_only_when_asked_and_found(run: Run, table: Path) -> None:
    assert run("probe", table, *OPTIONS, "--fail-on", "dependence")[0] == 1
    assert run("probe", table, *OPTIONS[:-1], "size,site", "--fail-on", "dependence")[0] == 0


def test_json_is_all_there_is_on_standard_output(run: Run, table: Path) -> None:
    code, out, err = run("probe", table, *OPTIONS, "--json", "--seed", 3, "--level", 0.01)
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["depends"] == ["colour"]
    assert (record["level"], record["seed"], record["rows"]) == (0.01, 3, 4000)
    assert {"excess", "null", "adjusted p", "sentence"} <= set(record["factors"][0])


def test_outcome_and_factor_may_both_be_given(run: Run, table: Path) -> None:
    options = ["--prediction", "guess", "--outcome", "digit", "--factor", "colour", "--factors", "site"]
    assert "beyond digit and colour" in run("probe", table, *options)[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prediction", "gues", "--outcome", "digit"], "prediction 'gues' is not a column of guesses.csv; did you"),
        (["--prediction", "guess", "--outcome", "digits"], "given column 'digits' is not a column"),
        ([*OPTIONS[:-1], "colours"], "factor 'colours' is not a column of guesses.csv; did you mean 'colour'?"),
        (["--prediction", "guess"], "--outcome y, or --factor own"),
        (["--prediction", "guess", "--outcome", "guess"], "column 'guess' is named twice"),
        ([*OPTIONS[:-1], "site,site"], "column 'site' is named twice"),
        ([*OPTIONS[:-1], ","], "--factors names nothing"),
        ([*OPTIONS, "--level", "5"], "level 5.0 is not between 0 and 1"),
        ([*OPTIONS, "--permutations", "20"], "use at least 59"),
        ([*OPTIONS, "--permutations", "1000000000"], "ask for fewer"),
        ([*OPTIONS, "--as-levels", "sise"], "did you mean 'size'?"),
        (["--outcome", "digit"], "--prediction"),
    ],
)
def test_requests_that_cannot_be_met(run: Run, table: Path, options: list[str], words: str) -> None:
    code, out, err = run("probe", table, *options)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"recombine: [^\n]+\n", err)
    assert words in err


@pytest.mark.parametrize(("text", "words"), [("", "is empty"), ("guess,digit,site\n", "no rows")])
def test_files_without_rows(run: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "none.csv"
    path.write_text(text)
    code, _, err = run("probe", path, "--prediction", "guess", "--outcome", "digit", "--factors", "site")
    assert code == 2
    assert words in err


def test_names_and_texts_in_other_scripts(run: Run, tmp_path: Path, predictions: Callable[..., pd.DataFrame]) -> None:
    frame = predictions(500).rename(columns={"guess": "予測", "colour": "colour, seen"})
    path = tmp_path / "other.csv"
    frame.to_csv(path, index=False)
    code, out, _ = run("probe", path, "--prediction", "予測", "--outcome", "digit", "--factors", '"colour, seen"')
    assert code == 0
    assert "予測 depends on colour, seen beyond digit" in " ".join(out.split())
