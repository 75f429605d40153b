"""The workflow on the page about continuous integration is valid, and its command lines do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

PAGE = (Path(__file__).parents[2] / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
TABLE = "drug,line,y\na,p,1\na,q,2\nb,p,3\nc,r,4\n"
BRIDGE = "c,q,5\n"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    return yaml.safe_load(text)


@pytest.fixture
def shell(tmp_path: Path):
    """Run a text as the runner does, in a folder with a repository, with `recombine` as it is here."""
    if shutil.which("git") is None or shutil.which("bash") is None:
        pytest.skip("needs git and bash")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "recombine").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m recombine "$@"\n')
    (programs / "recombine").chmod(0o755)
    (tmp_path / "repository" / "data").mkdir(parents=True)
    known = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull}

    def run(text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
        where = {**known, **variables}
        return subprocess.run(
            words, cwd=tmp_path / "repository", env=where, capture_output=True, text=True, check=False
        )

    return run


def test_the_workflow_has_what_github_asks_for(workflow):
    assert set(workflow) == {"name", True, "permissions", "env", "jobs"}  # YAML 1.1 reads `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["runs-on"]
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    # Nothing that a pull request may choose is pasted into a command.
    assert not any("${{" in step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize(
    ("before", "after", "failing", "words"),
    [
        pytest.param(TABLE, TABLE + BRIDGE, False, "0 cells lost", marks=pytest.mark.slow),
        (TABLE + BRIDGE, TABLE, True, "**--fail-on** lost: 4 cells"),
        pytest.param(
            TABLE,
            TABLE.replace("c,r,4\n", ""),
            True,
            "1 vanished with levels that are gone",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            TABLE,
            TABLE.replace("c,r,4\n", "C,r,4\n"),
            True,
            "Likely respelled: drug 'c' and 'C'",
            marks=pytest.mark.slow,
        ),
        pytest.param(None, TABLE, False, "The table is new", marks=pytest.mark.slow),
    ],
    ids=["a row more", "a row less", "a level less", "a level respelled", "a new table"],
)
def test_its_commands_do_what_the_page_says(workflow, shell, tmp_path, before, after, failing, words):
    table = tmp_path / "repository" / workflow["env"]["TABLE"]
    (table.parent / "README").touch()
    if before is not None:
        table.write_text(before)
    name = "git -c user.name=a -c user.email=a@example.org"
    base = shell(f"git init -q . && git add data && {name} commit -qm before && git rev-parse HEAD").stdout.strip()
    table.write_text(after)
    (job,) = workflow["jobs"].values()
    codes = []
    page = tmp_path / "page.md"
    for step in job["steps"]:
        if "run" in step and not step["run"].startswith("pip "):
            done = shell(step["run"], **workflow["env"], BASE=base, GITHUB_STEP_SUMMARY=str(page))
            codes.append(done.returncode)
            assert "Traceback" not in done.stderr
    assert codes == [0, int(failing), 0], done.stderr
    assert words in page.read_text(encoding="utf-8")


ACTION = Path(__file__).parents[2] / "tools" / "audit_action.sh"


@pytest.mark.parametrize(
    ("before", "after", "stop", "code", "words"),
    [
        (TABLE + BRIDGE, TABLE, "lost", 1, "**--fail-on** lost: 4 cells"),
        pytest.param(TABLE + BRIDGE, TABLE, "none", 0, "4 cells lost", marks=pytest.mark.slow),
        pytest.param(None, TABLE, "lost", 0, "The table is new", marks=pytest.mark.slow),
        pytest.param("drug;line\n", TABLE, "lost", 2, None, marks=pytest.mark.slow),
    ],
    ids=["a row less", "nothing stops", "a new table", "a table that could not be read"],
)
def test_the_action_stops_where_the_page_says(shell, tmp_path, before, after, stop, code, words):
    table = tmp_path / "repository" / "data" / "my table.csv"
    (table.parent / "README").touch()
    if before is not None:
        table.write_text(before)
    name = "git -c user.name=a -c user.email=a@example.org"
    base = shell(f"git init -q . && git add data && {name} commit -qm before && git rev-parse HEAD").stdout.strip()
    table.write_text(after)
    page, output = tmp_path / "page.md", tmp_path / "output"
    done = shell(
        f"bash '{ACTION}'",
        TABLE="data/my table.csv",
        OPTIONS="--factors 'drug,line' --outcome y --seed $(touch run)",
        FAIL_ON=stop,
        BASE=base,
        RUNNER_TEMP=str(tmp_path),
        GITHUB_STEP_SUMMARY=str(page),
        GITHUB_OUTPUT=str(output),
    )
    assert done.returncode == 2, "an option that a shell would run is passed on as it is, and refused"
    assert not (tmp_path / "repository" / "run").exists()
    variables = {"TABLE": "data/my table.csv", "OPTIONS": "--factors 'drug,line' --outcome y", "FAIL_ON": stop}
    places = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(page), "GITHUB_OUTPUT": str(output)}
    page.unlink(missing_ok=True)
    done = shell(f"bash '{ACTION}'", BASE=base, **variables, **places)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if words is not None:
        assert words in page.read_text(encoding="utf-8")


def test_the_action_without_the_commit_to_compare_with_says_how_to_have_it(shell, tmp_path):
    where = {"TABLE": "t.csv", "OPTIONS": "", "FAIL_ON": "lost", "RUNNER_TEMP": str(tmp_path)}
    done = shell(f"git init -q . && bash '{ACTION}'", BASE=40 * "1", **where)
    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stderr


@pytest.mark.slow
def test_the_commands_in_the_text_run(shell, tmp_path):
    folder = tmp_path / "repository"
    (folder / "data" / "screen.csv").write_text(TABLE)
    rows = [
        f"{drug},{line},{ord(drug) + int(line)},{part},{ord(drug) + 0.5 * int(line)}"
        for drug in "abcdef"
        for line in "123456"
        for part in ["train" if (ord(drug) + int(line)) % 3 else "test"]
    ]
    (folder / "predicted.csv").write_text("\n".join(["drug,line,y,part,net", *rows]) + "\n")
    lines = re.findall(r"^\$ (recombine .*)$", PAGE, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        done = shell(line)
        assert done.returncode == 0, done.stderr
    assert "Nothing changed." in done.stdout
