"""``python -m recombine`` is the command line."""

from __future__ import annotations

import subprocess
import sys

import recombine


def test_the_package_runs_as_a_module() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "recombine", *arguments], capture_output=True, text=True, timeout=120
        )

    told, wrong = run("--version"), run("audti")
    assert (told.returncode, told.stderr) == (0, "")
    assert recombine.__version__ in told.stdout
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("recombine: ")
    assert wrong.stderr.count("\n") == 1
