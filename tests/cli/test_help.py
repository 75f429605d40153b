"""Help as people ask for it: by -h as by --help, of every command."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from recombine.cli.commands import COMMANDS, app


def helped(*arguments: str, columns: int = 80) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"})
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_h_is_help(command):
    text = helped(*command, "-h")
    assert text == helped(*command, "--help")
    assert "-h" in text
