"""What one-hot networks learn inside: units by type, similarities, slopes by anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from recombine.lab.papers import Standing, find
from recombine.lab.papers.kernel_theory.experiments.feature_learning import (
    UNIT_TYPES,
    anchors_addition,
    equivalence_units,
    feature_similarity,
    types_of_units,
)
from recombine.lab.papers.results import Evidence, Provenance
from recombine.lab.report.figure import PaperFigure
from recombine.lab.runs.experiment import Unit
from recombine.tables.table import Table

PAPER = find("kernel-theory")


def evidence(name: str, rows: list[dict[str, Any]]) -> dict[str, Evidence]:
    return {name: Evidence(Table.from_rows(rows), Provenance(name, "quick", "", "", "cpu", 1.0, [], {}))}


def drawn(name: str, results: dict[str, Evidence]) -> str:
    return PaperFigure(next(plot for plot in PAPER.figures if plot.name == name), results).svg()


@pytest.fixture(scope="module")
def units() -> list[dict[str, Any]]:
    shared = {"loss": "mse", "width": 200, "seeds": [0, 1]}
    rich = {"sigma": 1e-6, "rate": 0.15, "steps": 2000, **shared}
    lazy = {"sigma": 1.0, "rate": 0.02, "steps": 300, **shared}
    return [row for setting in (rich, lazy) for row in equivalence_units(Unit("test", 1, setting))]


def test_rich_networks_end_with_four_types_of_unit(units: list[dict[str, Any]]) -> None:
    results = evidence("equivalence-units", units)
    outcome = PAPER.claim("34a").judge(results)
    assert outcome.verdict is Standing.HOLDS, outcome
    # Networks this narrow have five units of a type, whose weights agree less than those of the wide ones judged.
    measured = PAPER.claim("34b").measure(results["equivalence-units"].table).numbers
    assert max(measured.values()) < 0.05
    assert drawn("units", results).startswith("<svg")


def test_a_network_of_other_units_fails(units: list[dict[str, Any]]) -> None:
    bent = [{**row, "share": 0.2} for row in units]
    assert PAPER.claim("34a").judge(evidence("equivalence-units", bent)).verdict is Standing.FAILS
    for spread, verdict in ((0.001, Standing.HOLDS), (0.1, Standing.FAILS)):
        bent = [{**row, "within a class": spread, "from opposite": 0.001} for row in units]
        assert PAPER.claim("34b").judge(evidence("equivalence-units", bent)).verdict is verdict


def test_a_unit_with_the_wrong_vote_is_of_no_type() -> None:
    signs = np.repeat(UNIT_TYPES["both of class 1"][0], 2).astype(float)
    rows = types_of_units(np.stack([signs, signs]), np.array([1.0, -1.0]))
    assert {row["type"]: row["units"] for row in rows if row["units"]} == {"both of class 1": 1, "other": 1}


def test_lazy_training_keeps_similarities_and_rich_training_does_not() -> None:
    shared = {"width": 300, "stop": 1e-3, "seeds": [0, 1]}
    lazy = feature_similarity(Unit("test", 1, {"sigma": 1.0, "rate": 0.01, "steps": 1500, **shared}))
    rich = feature_similarity(Unit("test", 1, {"sigma": 1e-3, "rate": 0.02, "steps": 3000, **shared}))
    results = evidence("feature-similarity", lazy + rich)
    measured = PAPER.claim("36").measure(results["feature-similarity"].table).numbers
    assert abs(measured["lazy: median after"].mean - measured["lazy: median before"].mean) < 0.02
    assert measured["rich: spread after / before"] > 2 * measured["lazy: spread after / before"]
    assert drawn("similarity", results).startswith("<svg")


def test_slopes_by_anchors_are_set_beside_the_law() -> None:
    setting = {"set": "extrapolation", "anchors": [4], "sigma": 1.0, "width": 400, "rate": 0.01, "steps": 1500}
    (row,) = anchors_addition(Unit("test", 1, {**setting, "stop": 1e-3, "seeds": [0]}))
    assert row["p"] == 1
    assert 0.65 < row["slope"] < 0.85
    law = {1: 0.743, 2: 0.853, 3: 0.897}
    rows = [
        {"set": name, "p": p, "sigma": 1.0, "seed": seed, "train loss": 1e-4, "slope": law[p] + seed / 100}
        for name in ("extrapolation", "interpolation")
        for p in law
        if name == "extrapolation" or p > 1
        for seed in (0, 1)
    ]
    assert PAPER.claim("35").judge(evidence("anchors", rows)).verdict is Standing.HOLDS
    bent = [{**one, "slope": one["slope"] - 0.1} for one in rows]
    assert PAPER.claim("35").judge(evidence("anchors", bent)).verdict is Standing.FAILS
    assert drawn("anchors", evidence("anchors", rows)).startswith("<svg")
