"""Forced rendering without networks: the experiments at quick scale, judged; every check turns when its rows do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.papers import Standing, find
from recombine.papers.forced_rendering.experiments.kernels import IMAGES
from recombine.papers.forced_rendering.grids import KERNEL_EXPERIMENTS
from recombine.tables.table import Table

PAPER = find("forced-rendering")
NAMES = [experiment.name.rpartition("/")[2] for experiment in KERNEL_EXPERIMENTS]
NUMBERS = [claim.number for claim in PAPER.claims if claim.reads in NAMES]


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    """Every experiment at quick scale, run here."""
    found = {}
    for name, experiment in zip(NAMES, KERNEL_EXPERIMENTS, strict=True):
        rows = [row for unit in experiment.units("quick") for row in experiment.function(unit)]
        found[name] = Table.from_rows(rows)
    return found


@pytest.mark.parametrize("number", NUMBERS)
def test_claims_stand_where_they_should(tables: dict[str, Table], number: str) -> None:
    claim = PAPER.claim(number)
    outcome = claim.read(tables[claim.reads])
    assert outcome.verdict is Standing.HOLDS, outcome.detail


#: Claim -> column to bend and how: a small change of what was measured must change the verdict.
BENT: dict[str, tuple[str, Any]] = {
    "5a": ("difference", lambda values: values + 1e-6),
    "6a": ("F_K", lambda values: values + 1e-3),
    "6b": ("F_K", lambda values: values - 1e-6),
    "6c": ("kernel one pixel off", lambda values: values + 1e-3),
    "18": ("OOD error", lambda values: values - 1e-4),
    "19": ("correlation with column plus row", lambda values: values - 0.1),
    "20": ("OOD correlation", lambda values: values + 0.2),
    "21": ("difference from radial", lambda values: values + 1e-6),
    "22": ("additive share", lambda values: values - 1e-3),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_every_check_can_fail(tables: dict[str, Table], number: str) -> None:
    claim = PAPER.claim(number)
    table = tables[claim.reads]
    column, bend = BENT[number]
    changed = Table({name: table[name] for name in table.columns} | {column: bend(np.array(table[column]))})
    assert claim.read(changed).verdict is not claim.read(table).verdict


def test_the_numbers_are_those_measured_elsewhere(tables: dict[str, Table]) -> None:
    product = tables["product-kernel"].only(target=IMAGES)
    # Beyond two pixels the matrix is singular to rounding, and what is cut off decides.
    assert product["OOD error"][:3].tolist() == pytest.approx([0.0038, 0.0033, 0.0095], abs=1e-4)
    assert product["OOD correlation"].tolist() == pytest.approx([0.27, 0.32, 0.28, 0.12], abs=0.005)
    assert product["share of directions used"][3] < 0.5
    assert tables["representations"].only(representation=IMAGES)["volume in the middle"][0] == pytest.approx(
        0.993, abs=5e-4
    )


def test_wider_holes_are_painted_worse(tables: dict[str, Table]) -> None:
    rows = tables["additive-kernel"]
    order = np.argsort(rows["hole side"])
    assert (np.diff(rows["OOD correlation"][order]) < 0).all()
