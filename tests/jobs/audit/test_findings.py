"""All findings together: one test file per number, sorted by severity."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import recombine as rc
from recombine.verdicts import FINDINGS


def test_every_number_has_a_test_file():
    files = {path.stem.removeprefix("test_").upper() for path in (Path(__file__).parent / "findings").glob("test_*")}
    assert files == set(FINDINGS)


def test_the_worst_come_first():
    values = np.random.default_rng(0).standard_normal(6)
    findings = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2], [2, 3], [3, 2]], values)).findings
    keys = [(-item.severity, item.code) for item in findings]
    assert keys == sorted(keys)
    assert len(findings) >= 2
