"""Sentences of one audit agree with each other: on open cells, where nothing is beyond chance, and in their numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import recombine as rc
from recombine.cells import every_cell
from recombine.report.audit import page
from recombine.words import vocabulary

#: What denies that an open cell has a value.
DENIALS = re.compile(r"any value fits|there is no value|cannot be told(?! apart)|data cannot tell|no model can know")


def told(audit: rc.Audit) -> str:
    """Return all that a terminal and the HTML report say of an audit, on one line and without marks."""
    html = re.sub(r"<(style|script)\b.*?</\1>", " ", page(audit), flags=re.DOTALL)
    return re.sub(r"\s+", " ", f"{audit.summary} {re.sub('<[^>]+>', ' ', html)}")


@pytest.fixture(scope="module")
def open_cells() -> rc.Audit:
    """Two blocks that never meet, and a third level of the first factor that was held out."""
    cells = every_cell((5, 6))
    blocks = (cells[:, 0] < 2) == (cells[:, 1] < 3)
    outcome = 3.0 * cells[:, 0] + cells[:, 1] + np.random.default_rng(0).normal(size=len(cells)) / 10
    kept = blocks | (cells[:, 0] == 4)
    return rc.audit(rc.Design.from_cells(cells[kept], outcome[kept], train=cells[kept, 0] < 4))


def test_cells_that_the_data_leave_open_are_not_denied_their_value(open_cells: rc.Audit) -> None:
    verdicts, rests = open_cells.verdicts, open_cells.verdicts["rests on"].tolist()
    assert {"prior", "new level"} <= set(rests)
    assert np.isfinite(verdicts["predicted"]).all()
    text = told(open_cells)
    assert "are not settled by the data" in text
    assert not DENIALS.search(text)
    assert not DENIALS.search(
        str({name: vocabulary()[name] for name in ("verdicts", "actions", "findings", "phrases")})
    )
