"""RC303: additivity is neither shown nor refuted."""

from __future__ import annotations

import numpy as np
import pandas as pd

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.findings import Severity

CELLS = every_cell((6, 6))[:-4]


def test_bad_predictions_without_rows_that_repeat(found):
    values = 0.5 * CELLS[:, 0] + np.random.default_rng(0).standard_normal(len(CELLS))
    finding = found(rc.Design.from_cells(CELLS, values), "RC303")
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("at order 1 held-out cells are off by ")
    assert finding.message.endswith("; no rows repeat, so this may be noise rather than interaction")


def test_means_without_their_spread_are_no_replicates(found):
    values = 0.5 * CELLS[:, 0] + np.random.default_rng(0).standard_normal(len(CELLS))
    table = pd.DataFrame({"a": CELLS[:, 0], "b": CELLS[:, 1], "y": values, "n": 30})
    assert found(rc.Design.from_frame(table, factors=["a", "b"], outcome="y", weight="n"), "RC303") is not None
    known = rc.Design.from_frame(table.assign(s=0.1), factors=["a", "b"], outcome="y", weight="n", sd="s")
    assert found(known, "RC303") is None
    assert found(known, "RC301") is not None


def test_replicates_that_hint(found):
    """A factorial of 2 x 2 with p between 0.01 and 0.05."""
    rows = np.repeat(every_cell((2, 2)), 3, axis=0)
    values = np.array([0, 1, 2, 2, 3, 4, 2, 3, 4, 1.2, 2.2, 3.2])
    message = found(rc.Design.from_cells(rows, values), "RC303").message
    assert message.startswith("at order 1 the replicates hint at interaction (lack of fit: F(1, 8) = ")


def test_not_where_effects_add(found):
    assert found(rc.Design.from_cells(CELLS, CELLS @ [1.0, 10.0]), "RC303") is None
