"""RC601 and RC602: what is wrong with a model, beyond chance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.data import hit_rates
from recombine.jobs.findings import FINDINGS


@pytest.fixture(scope="module")
def design() -> rc.Design:
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((9, 7)).reshape(2, -1).T, 2, axis=0)
    train = np.repeat(rng.random(len(cells) // 2) < 0.5, 2)
    values = cells @ [1.0, 2.0] + 0.1 * rng.normal(size=len(cells))
    return rc.Design.from_cells(cells, values, train=train, names=["site", "dose"])


def test_a_model_that_loses_half_an_effect_is_worse_than_adding_and_the_cause_is_named(design: rc.Design) -> None:
    found = rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 3.0}, structure="add").findings
    assert [finding.code for finding in found] == ["RC601", "RC602", "RC604"]
    assert found[0].message == "net misses determined cells by more than adding effects does"
    assert "net: leak" in found[1].subjects
    assert "net: dose=0" in found[2].subjects  # an effect of which most is lost


def test_the_truth_raises_nothing(design: rc.Design) -> None:
    assert rc.score(design, {"net": design.held_out @ [1.0, 2.0]}, structure="add").findings == ()


def test_a_cause_of_a_small_share_of_the_error_is_not_worth_a_finding() -> None:
    cells = np.indices((25, 25)).reshape(2, -1).T
    train = np.random.default_rng(0).random(len(cells)) < 0.3
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=train)
    errors = np.resize([1.0, -1.0], len(design.held_out)) + 0.2  # a small constant beside much that has no cause
    score = rc.score(design, {"net": design.held_out @ [1.0, 2.0] + errors}, structure="add")
    model = score.models[0]
    assert model.attribution is not None
    assert model.causes["offset"].low > 0
    assert model.causes["offset"].value < 0.05 * model.attribution.error.value
    assert "net: offset" not in [subject for finding in score.findings for subject in finding.subjects]


@pytest.mark.parametrize("name", ["worse than adding", "error of the model's own"])
def test_false_alarms_were_counted_and_are_fewer_than_one_in_twenty(name: str) -> None:
    trials = json.loads((Path(__file__).parents[3] / "results/audit/score_findings.json").read_text("utf-8"))["rows"]
    kind = next(kind for kind in FINDINGS if kind.hit_rate == name)
    clean = [row for row in trials if row["model"] in ("without noise", "other measurements", "as good as determined")]
    if kind.code == "RC601":
        clean = [row for row in clean if row["true gain"] >= -1e-9]
    rate = hit_rates()["sentences"][name]
    assert (rate["right"], rate["of"]) == (sum(not row[kind.code] for row in clean), len(clean))
    assert len(clean) >= 500
    for model in {row["model"] for row in clean}:
        raised = [row[kind.code] for row in clean if row["model"] == model]
        assert np.mean(raised) < 1 / 20
