"""RC401 to RC404: each leak of a split is its finding, with its numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from recombine.jobs.findings import FINDINGS, ResultKind
from recombine.jobs.split import check_split

TRAIN = [("a", "x"), ("b", "x"), ("a", "y"), ("Drug C", "x")]


@pytest.mark.parametrize(
    ("test", "options", "code"),
    [
        (("a", "x"), {}, "RC401"),
        (("x", "a"), {"symmetric": ["drug", "line"]}, "RC402"),
        (("drug-c", "x"), {}, "RC403"),
        (("b", "y"), {}, None),
    ],
)
def test_a_leak_is_a_finding(test, options, code):
    rows = [*((*cell, "train") for cell in TRAIN), (*test, "test")]
    frame = pd.DataFrame(rows, columns=["drug", "line", "part"])
    check = check_split(frame, factors=["drug", "line"], split="part", **options)
    assert [finding.code for finding in check.findings] == ([] if code is None else [code])
    for finding in check.findings:
        assert finding.message.startswith("1 test row (100.0 %) in 1 cell ")


def test_every_kind_of_leak_has_a_finding():
    from typing import get_args

    from recombine.jobs.split.leaks import LeakKind

    assert {kind.title for kind in FINDINGS if kind.of is ResultKind.SPLIT} == set(get_args(LeakKind))
