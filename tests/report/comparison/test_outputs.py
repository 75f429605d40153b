"""Terminal and JSON outputs of comparisons: the same numbers, and nothing of the data that a terminal would obey."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import recombine as rc
from recombine.report import result_text
from recombine.report.comparison import comparison_json
from recombine.report.comparison.record import MAX_CELLS_RECORDED


def audit(cells) -> rc.Audit:
    frame = pd.DataFrame(cells, columns=["colour", "shape"])
    return rc.audit(rc.Design.from_frame(frame, factors=["colour", "shape"], crossed=True))


CELLS = [("red", "cube"), ("red", "ball"), ("blue", "cube"), ("[bold]x[/]\x1b[31m", "cone")]


@pytest.fixture(scope="module")
def found():
    return rc.compare(audit([*CELLS, ("red", "cone")]), audit([*CELLS, ("green", "cone")]))


def test_names_are_written_as_they_are_and_commands_spelled_out(found):
    text = result_text(found)
    assert "[bold]x[/]\\u001b[31m" in text
    assert "\x1b" not in text
    assert "new gone levels of colour green" in " ".join(text.split())


def test_json_holds_what_the_comparison_says(found):
    record = json.loads(comparison_json(found, ["lost: 3"]))
    assert (record["kind"], record["schema"], record["of"], record["changed"]) == ("comparison", 2, "audit", True)
    assert record["failed"] == ["lost: 3"]
    steps = record["transitions"]
    assert (steps["lost"], steps["gained"]) == (found.lost, found.gained)
    assert sum(row["cells"] for row in steps["table"]) == int(found.transitions.changed.sum())
    assert len(steps["lost_cells"]) == min(found.lost, MAX_CELLS_RECORDED)
    assert {row["what"]: (row["before"], row["after"]) for row in record["counts"]} == found.counts
    assert record["levels"] == {"colour": {"new": ["green"], "gone": []}}
    assert [item["code"] for item in record["findings"]["new"]] == [item.code for item in found.findings.new]
    with pytest.raises(rc.InputError, match="is of kind 'comparison'"):
        rc.compare(record, record)
