"""RC110: outside the range seen in training, of an ordered or numeric factor or of a curve."""

from __future__ import annotations

import numpy as np
import pandas as pd

import recombine as rc
from recombine.cells.conjunctions import every_cell

CELLS = every_cell((8, 8))


def table(held_out_dose: float) -> pd.DataFrame:
    rows = [("a", 0, "train"), ("a", 10, "train"), ("b", 0, "train"), ("b", held_out_dose, "test")]
    return pd.DataFrame(rows, columns=["plant", "dose", "part"])


def test_a_held_out_value_above_the_seen_ones_is_named_with_the_range(found):
    design = rc.Design.from_frame(table(40), factors=["plant"], ordered=["dose"], split="part")
    assert found(design, "RC110").message == (
        "2 listed cells are not settled by the data: dose 40 lies above the seen range 0 to 10: collect a row with "
        "dose 40 or above"
    )


def test_the_furthest_value_on_each_side_is_named(found):
    design = rc.Design.from_frame(table(10), factors=["plant"], numeric=["dose"], split="part")
    targets = pd.DataFrame({"plant": "a", "dose": [-5, -20, 5, 11, 80]})
    finding = found(design, "RC110", targets=targets)
    message = finding.message
    assert finding.subjects == ("dose",)
    assert message.startswith("4 listed cells are not settled by the data: ")
    assert "dose -20 lies below the seen range 0 to 10: collect a row with dose -20 or below" in message
    assert "dose 80 lies above the seen range 0 to 10: collect a row with dose 80 or above" in message
    assert "dose 11" not in message


def test_a_value_between_seen_ones_is_no_such_thing(found):
    assert found(rc.Design.from_frame(table(7), factors=["plant"], ordered=["dose"], split="part"), "RC110") is None


def test_labels_have_no_range(found):
    assert found(rc.Design.from_frame(table(40), factors=["plant", "dose"], split="part"), "RC110") is None


def curved(kept: np.ndarray) -> rc.Design:
    """A curve of sums from 0 to 14, of which only those cells are seen that are ``kept``."""
    return rc.Design.from_cells(CELLS[kept], np.tanh(CELLS.sum(axis=1) / 4 - 1.5)[kept], sizes=(8, 8))


def test_sums_past_the_largest_that_was_seen(found):
    design = curved(CELLS.sum(axis=1) < 12)
    finding = found(design, "RC110", structure="link")
    assert finding.message.startswith("if effects add on a curved scale, ")
    assert "beyond every seen one" in finding.message
    audit = rc.audit(design, structure="link")
    beyond = audit.verdicts.where(audit.verdicts["verdict"] == "beyond the seen range")
    assert len(beyond) == audit.decided.counts[rc.Verdict.BEYOND] > 0
    assert np.isnan(beyond["certified"]).all()
    assert (beyond["rests on"] == "prior").all()
    assert "beyond the seen range" in audit.explain([7, 7])


def test_not_between_seen_ones(found):
    inside = np.isin(CELLS.sum(axis=1), (6, 7, 8)) & (CELLS[:, 0] % 2 == 0)
    assert found(curved(~inside), "RC110", structure="link") is None


def test_not_without_a_curve(found):
    assert found(curved(CELLS.sum(axis=1) < 12), "RC110", structure="add") is None
