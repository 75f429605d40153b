"""Commands that answers and reports print can be pasted into a shell, whatever files and columns are called."""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from recombine import table_spec
from recombine.table_spec import TableSpec
from recombine.writing import option_text

NAMES = ["my table.csv", "it's.csv", 'say "so".csv', "$HOME*.csv", "a;b&c.csv", "-5.csv"]
FIRST, SECOND, OUTCOME = 'dose, "mg"', "Cell's Line", "y $1 * 2"


def write(path: Path) -> None:
    rows = [(f"a {i}", f"b*{j}", i + 2 * j) for i in range(4) for j in range(4) if (i, j) not in ((3, 3), (2, 3))]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([(FIRST, SECOND, OUTCOME), *rows])


def printed(page: Path) -> str:
    return html.unescape(re.search(r"<dt>Command</dt><dd><code>(.*?)</code>", page.read_text(), re.DOTALL)[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_command_of_a_report_gives_the_same_report(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / name)
    options = ["--factors", '"dose, ""mg""",' + SECOND, "--outcome", OUTCOME, "--html", "a report.html", "--plan", 2]
    assert run("audit", f"./{name}", *options)[0] == 0
    before = (tmp_path / "a report.html").read_text()
    (tmp_path / "a report.html").unlink()
    words = shlex.split(command := html.unescape(re.search(r"<dt>Command</dt><dd><code>(.*?)</code>", before)[1]))
    assert words[0] == "recombine"
    assert run(*words[1:])[0] == 0
    assert (tmp_path / "a report.html").read_text() == before
    assert printed(tmp_path / "a report.html") == command


@pytest.mark.slow
def test_a_shell_takes_the_command_as_it_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / NAMES[3])
    options = ["--factors", '"dose, ""mg""",' + SECOND, "--outcome", OUTCOME, "--html", "r.html"]
    assert run("audit", NAMES[3], *options)[0] == 0
    command = printed(tmp_path / "r.html").replace("recombine", f"{shlex.quote(sys.executable)} -m recombine", 1)
    done = subprocess.run(["bash", "-c", f"{command} --force --json"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)  # where the report is
    wanted = json.loads(run("audit", NAMES[3], *options[:-2], "--json")[1])
    assert json.loads(done.stdout)["counts"] == wanted["counts"]
    assert list(json.loads(done.stdout)["levels"]) == [FIRST, SECOND]


def test_what_errors_advise_can_be_pasted_too(run, tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i}.5,{'xy'[i % 2]}\n" for i in range(2000))
    path.write_text("the dose,b\n" + rows)
    err = run("audit", path, "--factors", "the dose,b")[2]
    advice = re.search(r"say (--numeric '[^']+') for a trend", err)[1]
    assert run("audit", path, "--factors", "the dose,b", *shlex.split(advice))[0] == 0


def test_a_spec_goes_through_a_shell_unchanged():
    spec = TableSpec(factors=(FIRST, SECOND), outcome=OUTCOME, symmetric=(FIRST, SECOND), crossed=True)
    words = shlex.split(table_spec.spec_command("audit", "my table.csv", spec))
    assert words[:3] == ["recombine", "audit", "my table.csv"]
    assert next(csv.reader([words[words.index("--factors") + 1]])) == [FIRST, SECOND]
    assert words[words.index("--outcome") + 1] == OUTCOME
    assert shlex.split(option_text("--nested", "a b/c")) == ["--nested", "a b/c"]
