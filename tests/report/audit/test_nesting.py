"""Nesting in every output: terminal, JSON, page, notebook and map say the same."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import recombine as rc
from recombine.report.audit.page import page
from recombine.report.audit.record import audit_json
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.notebook import notebook

FACTORS = ["plant", "treatment", "dose"]


@pytest.fixture(scope="module")
def audit() -> rc.Audit:
    rows = [
        {
            "plant": f"p{plant}",
            "treatment": "chilled" if plant < 4 else "warm",
            "dose": f"d{dose}",
            "y": plant * dose - 0.5,
        }
        for plant in range(8)
        for dose in range(5)
        if plant != dose
    ]
    return rc.audit(rc.Design.from_frame(pd.DataFrame(rows), factors=FACTORS, outcome="y"))


SAID = "40 of the 80 combinations of levels cannot exist: plant lies inside treatment (inferred from the rows;"


@pytest.mark.slow
def test_every_face_says_what_cannot_exist(audit: rc.Audit) -> None:
    assert SAID in " ".join(audit.summary.split())
    assert SAID in page(audit)
    assert SAID in notebook(audit)
    record = json.loads(audit_json(audit, audit.plan(2)))
    assert record["possible"] == {"cells": 40, "impossible": 40, "list": ""}
    assert [(item["child"], item["parent"], item["inferred"]) for item in record["nesting"]] == [
        ("plant", "treatment", True)
    ]


def test_counts_coverage_and_lists_leave_them_out(audit: rc.Audit) -> None:
    assert (audit.decided.counts.total, len(audit.verdicts), audit.coverage.product) == (40, 5, 40)
    pairs = {row["factors"]: (row["seen"], row["possible"]) for row in audit.coverage.ways.rows() if row["t"] == 2}
    assert pairs["plant × treatment"] == (8, 8)
    assert pairs["treatment × dose"] == (10, 10)
    assert (audit.coverage.share(2), "All combinations that can exist: 40 cells, 35 seen" in audit.summary) == (
        (8 + 10 + 35) / (8 + 10 + 40),
        True,
    )


@pytest.mark.slow
def test_the_map_leaves_impossible_places_blank(audit: rc.Audit) -> None:
    chart = VerdictMap(audit)
    panel = next(panel for panel in chart.shown if {panel.row.factor, panel.column.factor} == {"plant", "treatment"})
    assert int(panel.impossible.sum()) == 8
    assert (panel.leading[panel.impossible] == -1).all()
    assert not panel.unsampled.any()
    assert "cannot exist" in chart.svg()
    # Its five unseen cells are determined and known equally well: the page has no map, and says so.
    assert not chart.tells
    assert "There is nothing to map: every unseen combination is determined" in page(audit)
    unknown = rc.audit(audit.design, order=2)
    assert "Squares left blank are levels that cannot occur together." in page(unknown)
    assert int(chart.levels["determined"].sum()) == 3 * 5


def test_a_sampled_map_knows_them_too(audit: rc.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.jobs.audit.pairs.MAX_MAPPED_CELLS", 1)
    chart = VerdictMap(audit)
    for panel in chart.all_panels:
        if {panel.row.factor, panel.column.factor} == {"plant", "treatment"}:
            assert panel.total.sum() == 40


def test_an_impossible_cell_is_explained(audit: rc.Audit) -> None:
    text = audit.explain(["p0", "warm", "d1"])
    assert text.startswith("p0 · warm · d1: cannot exist: plant lies inside treatment, and p0 is inside chilled. ")
    assert "--crossed" in text
    with pytest.raises(rc.InputError, match="p0 · warm · d1 cannot exist"):
        audit.certificate(["p0", "warm", "d1"])
    assert audit.explain(["p0", "chilled", "d0"]).startswith("p0 · chilled · d0: determined.")
