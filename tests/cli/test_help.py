"""Help as people ask for it: by -h as by --help, of every command."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from recombine.cli.commands import COMMANDS, app, load_command


def helped(*arguments: str, columns: int = 80) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"})
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_h_is_help(command):
    text = helped(*command, "-h")
    assert text == helped(*command, "--help")
    assert "-h" in text


def titles(text: str) -> list[str]:
    return re.findall(r"^╭─ (.+?) ─+╮$", text, re.MULTILINE)


def test_commands_stand_in_the_order_of_use_papers_last():
    text = helped("-h")
    assert re.findall(r"^│ (\w+) {2,}\w", text, re.MULTILINE) == list(COMMANDS)
    assert [*COMMANDS][:4] == ["audit", "split", "score", "compare"]
    assert titles(text)[-1] == "Papers"


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_once_in_a_named_group_and_fits(name, columns):
    text = helped(name, "-h", columns=columns)
    assert "Options" not in titles(text)
    assert max(map(len, text.splitlines())) == columns
    assert "…" not in text
    options = [flag for entry in load_command(name).params for flag in entry.opts if flag.startswith("--")]
    assert sorted(re.findall(r"^│ (?:\*  |   )?(--[\w-]+)", text, re.MULTILINE)) == sorted([*options, "--help"])


def test_groups_go_from_the_table_to_the_output():
    about_table = ["Arguments", "Which columns", "Factors", "Combinations", "Structure", "Reading"]
    groups = [*about_table, "Question", "Output", "In a build"]
    assert titles(helped("audit", "-h")) == groups
