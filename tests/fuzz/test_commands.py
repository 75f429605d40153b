"""Drawn calls of every command keep the rules; `make fuzz` runs thousands of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = int(os.environ.get("RECOMBINE_FUZZ_CASES", "12"))
SCRIPT = Path(__file__).parent / "run_cases.py"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="cases run in processes that part from one")
def test_no_call_breaks_a_rule() -> None:
    """0, 1 or 2; one line at 2; no traceback, hang, escape sequence, changed input or file left behind."""
    pytest.importorskip("pyarrow")
    call = [sys.executable, str(SCRIPT), "--cases", str(CASES), "--seed", "7", "--workers", "1"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60 + 5 * CASES, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{CASES:,} cases" in done.stdout
    assert ", 0 violations" in done.stdout
