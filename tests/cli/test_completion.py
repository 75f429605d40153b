"""What a shell completes: commands, options, closed values, and columns of the table on the line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest

TABLE = "colour,shape,site,mass,Cell Line\nred,cube,x,1.0,a\nblue,ball,y,2.0,b\n"


def variables(line: Iterable[object], shell: str = "bash", **more: str) -> dict[str, str]:
    """What the script of a shell sets when it asks; the last word is the one at the cursor."""
    words = ["recombine", *map(str, line)]
    known = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": " ".join(words)}
    return {**known, **more, "_RECOMBINE_COMPLETE": f"complete_{shell}"}


@pytest.fixture
def asked(run, monkeypatch) -> Callable[..., tuple[int, str, str]]:
    """Ask in this process, as the script of a shell does in one of its own."""

    def ask(line: Iterable[object], shell: str = "bash", **more: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            for name, value in variables(line, shell, **more).items():
                patch.setenv(name, value)
            return run()

    return ask


@pytest.fixture
def completed(asked) -> Callable[..., list[str]]:
    def complete(*line: object) -> list[str]:
        code, out, err = asked(line)
        assert (code, err) == (0, "")
        return out.split("\n")[:-1] if out.strip() else []

    return complete


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_a_shell_is_answered_by_a_process_of_its_own():
    command, known = [sys.executable, "-m", "recombine"], {**os.environ, **variables(["sp"])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=known)
    assert (done.returncode, done.stdout, done.stderr) == (0, "split\n", "")


def test_commands_and_options_complete(completed):
    assert completed("sp") == ["split"]
    assert completed("audit", "--fo") == ["--forbidden", "--forecast", "--force"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (["audit", "t.csv", "--structure", "lo"], ["logit", "log"]),
        (["audit", "t.csv", "--fail-on", "RC101,RC30"], ["RC101,RC301", "RC101,RC302", "RC101,RC303", "RC101,RC304"]),
        (["compare", "a.json", "b.json", "--fail-on", "los"], ["lost"]),
        (["inspect", "a.npz", "--background", "me"], ["median", "mean"]),
        (["reproduce", "fo"], ["forced-rendering"]),
        (["papers", "kernel"], ["kernel-theory"]),
        (["reproduce", "multitask", "--scale", ""], ["quick", "full"]),
    ],
)
def test_values_that_can_be_listed_complete(completed, line, names):
    assert completed(*line) == names


def test_columns_of_the_table_complete_one_or_several(completed, file):
    assert completed("audit", file, "--outcome", "m") == ["mass"]
    assert completed("score", file, "--factors", "colour,s") == ["colour,shape", "colour,site"]
    assert completed("split", file, "--factors", "colour,shape", "--stratify", "") == [
        *("colour", "shape", "site", "mass", r"Cell\ Line")
    ]


def test_a_table_of_any_kind_tells_its_columns(completed, file, tmp_path):
    frame = pd.read_csv(file)
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    frame.to_csv(tmp_path / "table.csv.gz", index=False, sep=";")
    for kind in ("parquet", "jsonl", "csv.gz"):
        assert completed("audit", tmp_path / f"table.{kind}", "--weight", "s") == ["shape", "site"]


def test_only_the_header_is_read(completed, file):
    file.write_bytes(TABLE.encode() + b"\x00\xff" * 3_000_000)
    assert completed("audit", file, "--outcome", "ma") == ["mass"]


def test_where_there_is_no_table_nothing_is_said(completed, tmp_path):
    assert completed("audit", tmp_path / "none.csv", "--outcome", "") == []
    assert completed("audit", tmp_path, "--outcome", "") == []
    assert completed("audit", "--outcome", "") == []


@pytest.mark.parametrize(("word", "code"), [("--scale", 0), ("--html", 1)])
def test_fish_hears_whether_there_is_anything_to_complete(asked, word, code):
    line = ["reproduce", "multitask", word, ""]
    assert asked(line, "fish", _TYPER_COMPLETE_FISH_ACTION="is-args")[0] == code


def test_the_script_for_a_shell_is_shown_and_installed(tmp_path):
    def run(option: str) -> subprocess.CompletedProcess[str]:
        command = f"{sys.executable} -m recombine {option}; exit $?"  # a command more, so that bash stays the parent
        known = {**os.environ, "HOME": str(tmp_path)}
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, env=known)

    shown = run("--show-completion")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "complete -o default -F _recombine_completion recombine" in shown.stdout
    installed = run("--install-completion")
    assert (installed.returncode, installed.stderr) == (0, "")
    assert (tmp_path / ".bash_completions" / "recombine.sh").read_text() == shown.stdout.strip()
