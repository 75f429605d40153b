"""The command line as a process: help, exit codes, streams, colours, and ``python -m recombine``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import recombine as rc
from recombine.cli import app

FACTORS = ["--factors", "colour,shape"]


def test_an_error_of_the_file_system_is_one_line_too(run, table, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "r.html")

    monkeypatch.setattr(Path, "write_text", fail)
    code, _, err = run("audit", table, *FACTORS, "--html", tmp_path / "r.html")
    assert code == 2
    assert err == "recombine: r.html: Permission denied; check the path and its rights\n"


def test_help_and_version():
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output.strip() == rc.__version__
    for arguments in ([], ["--help"]):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 0
        assert "audit" in result.output
    text = runner.invoke(app, ["audit", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for option in ("--factors", "--targets", "--forbidden", "--fail-on", "--force", "--json"):
        assert option in text


def subprocess_run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from recombine.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_exit_codes_and_streams_of_a_real_process(table):
    fine = subprocess_run("audit", table, *FACTORS, "--json")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert json.loads(fine.stdout)["counts"]["seen"] == 5
    bad = subprocess_run("audit", table, "--factors", "colour,shapes")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert re.fullmatch(r"recombine: [^\n]+\n", bad.stderr)


def test_a_reader_who_stops_early_stops_nothing_else(table, tmp_path):
    verdicts = tmp_path / "verdicts.csv"
    inner = f"{sys.executable} -c 'from recombine.cli import main; main()' audit {table} --factors colour,shape"
    script = f"set -o pipefail; {inner} --verdicts {verdicts} --fail-on RC101 | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert verdicts.exists()


def test_colours_go_to_terminals_that_want_them_only(table):
    pty = pytest.importorskip("pty")

    def watched(environment: dict[str, str]) -> bytes:
        parent, child = pty.openpty()
        command = [sys.executable, "-c", "from recombine.cli import main; main()", "audit", str(table), *FACTORS]
        process = subprocess.Popen(
            command, stdout=child, stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **environment}
        )
        os.close(child)
        chunks = []
        try:
            while chunk := os.read(parent, 65536):
                chunks.append(chunk)
        except OSError:  # the other side has closed
            pass
        process.wait(timeout=60)
        os.close(parent)
        return b"".join(chunks)

    environment = {"COLORTERM": "truecolor"}
    coloured = re.compile(rb"\x1b\[[0-9;]*(3[0-9]|38;)")
    assert coloured.search(watched(environment))
    assert not coloured.search(watched({**environment, "NO_COLOR": "1"}))


def test_the_package_runs_as_a_module() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "recombine", *arguments], capture_output=True, text=True, timeout=120
        )

    told, wrong = run("--version"), run("audti")
    assert (told.returncode, told.stderr) == (0, "")
    assert rc.__version__ in told.stdout
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("recombine: ")
    assert wrong.stderr.count("\n") == 1
