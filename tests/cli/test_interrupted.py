"""Ctrl-C ends with 130 wherever it struck."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

#: The command line, stopped while it makes a class from text as dataclasses do.
STOPPED = """
import recombine.cli
from recombine.__main__ import start


def main():
    exec("raise KeyboardInterrupt")


recombine.cli.main = main
start()
"""


def test_an_interrupt_that_went_through_code_run_from_text_ends_with_130(tmp_path: Path) -> None:
    (tmp_path / "stopped_early.py").write_text(STOPPED)
    known = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    done = subprocess.run([sys.executable, "-m", "stopped_early"], env=known, capture_output=True)
    assert (done.returncode, done.stderr) == (130, b"recombine: stopped\n")
