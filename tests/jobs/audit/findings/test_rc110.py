"""RC110: cells beyond everything that was seen."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.cells.conjunctions import every_cell

CELLS = every_cell((8, 8))


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
    assert len(beyond) == audit.counts[rc.Verdict.BEYOND_RANGE] > 0
    assert np.isnan(beyond["predicted"]).all()
    assert "beyond the seen range" in audit.explain([7, 7])


def test_not_between_seen_ones(found):
    inside = np.isin(CELLS.sum(axis=1), (6, 7, 8)) & (CELLS[:, 0] % 2 == 0)
    assert found(curved(~inside), "RC110", structure="link") is None


def test_not_without_a_curve(found):
    assert found(curved(CELLS.sum(axis=1) < 12), "RC110", structure="add") is None
