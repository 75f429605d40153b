"""All findings together: one test file per number, sorted by severity."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.data import hit_rates
from recombine.jobs.findings import FINDINGS, FindingKind, ResultKind, Severity


def test_every_finding_of_an_audit_has_a_test_file():
    files = {path.stem.removeprefix("test_").upper() for path in Path(__file__).parent.glob("test_rc*")}
    assert {kind.code for kind in FINDINGS if kind.of is ResultKind.AUDIT} <= files <= set(FINDINGS.names)


@pytest.mark.parametrize("kind", FINDINGS, ids=lambda kind: kind.code)
def test_kinds_are_numbered_and_say_what_they_mean_and_what_to_do(kind: FindingKind):
    assert re.fullmatch(r"RC[1-8]\d\d", kind.code)
    assert kind.title == kind.title.strip(".")
    for sentence in (kind.meaning, kind.action):
        assert re.fullmatch(r"[A-Z].*\.", sentence)


def test_codes_are_in_order():
    assert list(FINDINGS.names) == sorted(FINDINGS.names)


def test_every_finding_of_a_forecast_says_how_often_it_was_right():
    forecasts = [kind for kind in FINDINGS if kind.reads == "forecast"]
    assert forecasts
    for kind in forecasts:
        assert {kind.hit_rate, f"{kind.hit_rate} without a split"} <= set(hit_rates()["sentences"])


def test_severities_are_ordered():
    assert Severity.NOTE < Severity.WARNING < Severity.PROBLEM


def test_the_worst_come_first():
    values = np.random.default_rng(0).standard_normal(6)
    findings = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2], [2, 3], [3, 2]], values)).findings
    keys = [(-item.severity, item.code) for item in findings]
    assert keys == sorted(keys)
    assert len(findings) >= 2
