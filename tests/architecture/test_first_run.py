"""`make demo` on machines that lack something: it works, or one line says what to install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What make and its recipes call; nothing else is on the path, in particular no compiler, no virtualenv and no uv.
PROGRAMS = ["make", "sh", "rm", "touch", "awk", "head", "test", "echo", "cat", "env", "dirname", "uname"]

pytestmark = pytest.mark.skipif(
    os.name == "nt" or not shutil.which("make") or not (ROOT / "Makefile").is_file(), reason="needs make and a clone"
)
Machine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def put(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def make(tmp_path: Path, programs: Path) -> Machine:
    """Run make in a folder with a space and another letter in its name, with these programs only."""
    clone = tmp_path / "my clone é"
    (clone / "tools").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "tools/venv.sh"):
        shutil.copy(ROOT / name, clone / name)

    def call(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        known = {"PATH": str(programs), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", **more}
        return subprocess.run(
            ["make", *words], cwd=clone, env=known, capture_output=True, text=True, timeout=1200, check=False
        )

    return call


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what was said, without make's own last word."""
    assert done.returncode == 2
    return [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("make: ***")]


def test_no_python_at_all(make: Machine) -> None:
    (line,) = said(make("demo"))
    assert line.startswith("recombine: Python 3.11 or newer is needed, and there is no python3; install one")


def test_an_old_python(make: Machine, programs: Path) -> None:
    put(programs, "python3", 'if [ "$1" = --version ]; then echo "Python 3.8.10"; else exit 1; fi')
    (line,) = said(make("demo"))
    assert "Python 3.11 or newer is needed, and python3 is Python 3.8.10; install one" in line
    assert "make PYTHON=python3.11" in line


#: A Python of which Debian took the part that puts pip into environments.
CUT = f'case "$*" in *ensurepip*) exit 1;; esac; exec "{sys.executable}" "$@"'


def test_no_venv(make: Machine, programs: Path, tmp_path: Path) -> None:
    put(programs, "python3", CUT)
    (line,) = said(make("demo"))
    assert line == (
        "recombine: python3 cannot make an environment: install venv (Debian, Ubuntu: apt install python3-venv) "
        "or virtualenv, and run make again"
    )
    assert not (tmp_path / "my clone é" / ".venv").exists(), "what is half made would be taken for whole"


def test_a_folder_that_was_there_is_left_alone(make: Machine, programs: Path, tmp_path: Path) -> None:
    put(programs, "python3", CUT)
    mine = tmp_path / "my clone é" / "work" / "mine.txt"
    mine.parent.mkdir()
    mine.touch()
    (line,) = said(make("demo", "VENV=work"))
    assert (
        line == "recombine: work is there and is no environment; remove it, or name another folder: make VENV=.venv-new"
    )
    assert mine.exists()


def test_an_environment_that_fails_half_way_is_taken_away(make: Machine, programs: Path, tmp_path: Path) -> None:
    half = 'if [ "$2" = venv ]; then mkdir -p "$3/bin"; : > "$3/bin/python"; exit 1; fi; '
    put(programs, "python3", half + f'exec "{sys.executable}" "$@"')
    put(programs, "mkdir", f'exec "{shutil.which("mkdir")}" "$@"')
    (line,) = said(make("demo"))
    assert "install venv" in line
    assert not (tmp_path / "my clone é" / ".venv").exists()


MADE = r"""for last; do :; done
mkdir -p "$last/bin"
printf "#!/bin/sh\nexit 0\n" > "$last/bin/python"
chmod +x "$last/bin/python"
"""


@pytest.mark.parametrize("tool", ["virtualenv", "uv"])
def test_other_makers_of_environments_are_used(make: Machine, programs: Path, tmp_path: Path, tool: str) -> None:
    put(programs, "python3", CUT.replace("*ensurepip*)", "*ensurepip*|*virtualenv*)"))
    put(programs, tool, MADE)
    for name in ("mkdir", "chmod"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = make(".venv/bin/python")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "my clone é" / ".venv" / "bin" / "python").exists()


def test_a_newer_python_beside_an_old_one_is_taken(make: Machine, programs: Path, tmp_path: Path) -> None:
    put(programs, "python3", "exit 1")
    put(programs, "python3.12", CUT.replace("*ensurepip*)", "*ensurepip*|*virtualenv*)"))
    (line,) = said(make("demo"))
    assert line.startswith("recombine: python3.12 cannot make an environment")


def test_a_home_that_is_closed_has_no_cache(make: Machine, tmp_path: Path) -> None:
    variables = ("--dry-run", "demo")
    assert "--no-cache-dir" in make(*variables, HOME=str(tmp_path / "nowhere")).stdout
    assert "--no-cache-dir" not in make(*variables).stdout


@pytest.mark.slow
def test_the_demo_of_a_fresh_clone_without_compiler_and_home(tmp_path: Path, programs: Path) -> None:
    """The whole thing, from the index that pip is set up for."""
    clone = tmp_path / "my clone é"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(".*", "results", "tests", "dist", "_build", "*.html"))
    put(programs, "python3", f'exec "{sys.executable}" "$@"')
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    known = {**settings, "PATH": str(programs), "HOME": "/proc/nowhere", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["make", "demo"], cwd=clone, env=known, capture_output=True, timeout=1800, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"report written to" in done.stdout
    assert (clone / "recombine-demo.html").stat().st_size > 10_000
