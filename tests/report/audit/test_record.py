"""The JSON document: valid, complete, and the same numbers as the audit."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.report.audit.record import MAX_VERDICT_ROWS, audit_json, audit_record
from recombine.verdicts import Verdict
from recombine.words.plan import gain_text
from recombine.words.table import listing_sentence


@pytest.fixture(scope="module")
def audit() -> rc.Audit:
    cells = every_cell((5, 4, 3))
    generator = np.random.default_rng(0)
    seen = np.repeat(cells[generator.random(len(cells)) < 0.6], 2, axis=0)
    outcome = seen @ [1.0, 2.0, 3.0] + generator.standard_normal(len(seen))
    return rc.audit(rc.Design.from_cells(seen, outcome, names=["lab", "day", "dose"]))


def test_it_is_json_without_nan_and_holds_what_the_audit_says(audit):
    text = audit_json(audit, audit.plan(3))
    document = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert {verdict.word: document["counts"][verdict.word] for verdict in Verdict} == {
        verdict.word: audit.decided.counts[verdict] for verdict in Verdict
    }
    assert document["factors"] == [
        {"name": "lab", "levels": 5, "scale": "labels"},
        {"name": "day", "levels": 4, "scale": "labels"},
        {"name": "dose", "levels": 3, "scale": "labels"},
    ]
    assert [item["code"] for item in document["findings"]] == [item.code for item in audit.findings]
    assert document["additivity"]["state"] == audit.structure.additivity.state
    assert document["additivity"]["lack_of_fit"]["p_value"] == audit.structure.additivity.at(1).lack_of_fit.p_value
    assert len(document["verdicts"]) == len(audit.verdicts)
    assert document["listing"]["note"] == listing_sentence(audit.decided.listing)
    assert document["recombine"] == rc.__version__
    assert document["libraries"]["numpy"] == np.__version__


def test_suggestions_carry_their_numbers(audit):
    plan = audit.plan(2)
    cells = json.loads(audit_json(audit, plan))["plan"]["cells"]
    assert [tuple(cell["cell"]) for cell in cells] == [("lab", "day", "dose")] * 2
    assert [cell["gain"] for cell in cells] == [pick.gain for pick in plan.picks]
    assert cells[0]["text"] == gain_text(plan, plan.picks[0])
    assert json.loads(audit_json(audit))["plan"] is None


def test_numbers_that_do_not_exist_are_null():
    document = json.loads(audit_json(rc.audit(rc.Design.from_cells([[0, 0], [1, 1]]))))
    assert document["additivity"] is None
    assert document["verdicts"][0]["leverage"] is None


@pytest.mark.slow
def test_integers_beyond_64_bits_keep_every_digit():
    seen = np.random.default_rng(0).integers(0, 1000, size=(20, 10))
    document = json.loads(audit_json(rc.audit(rc.Design.from_cells(seen, sizes=(1000,) * 10))))
    assert document["counts"]["total"] == str(10**30)
    assert document["listing"]["shown"] == len(document["verdicts"]) == MAX_VERDICT_ROWS


def test_an_explanation_comes_before_the_audit(audit):
    document = json.loads(audit_json(audit, explained="because"))
    assert list(document)[:4] == ["recombine", "kind", "schema", "explained"]
    assert document["explained"] == "because"


def test_estimated_counts_come_with_their_interval():
    seen = np.random.default_rng(0).integers(0, 300, size=(500, 3))
    counts = audit_record(rc.audit(rc.Design.from_cells(seen, sizes=(300,) * 3), order=2))["counts"]
    assert not counts["exact"]
    low, high = counts["interval"]["disconnected"]
    assert low <= counts["disconnected"] <= high
    assert math.isfinite(high)


def test_names_of_sets_cannot_forge_lines() -> None:
    cells = np.indices((6, 5)).reshape(2, -1).T
    outcome = (2 * cells[:, 0] + cells[:, 1]).astype(float)
    record = audit_record(rc.audit(rc.Design.from_cells(cells, outcome, names=["a\n::error::b", "c"])))
    assert all("\n" not in row["set"] for row in record["shares"]["sets"])
