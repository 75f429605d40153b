"""RC601 and RC602: what is wrong with a model, beyond chance."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc


@pytest.fixture(scope="module")
def design() -> rc.Design:
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((9, 7)).reshape(2, -1).T, 2, axis=0)
    train = np.repeat(rng.random(len(cells) // 2) < 0.5, 2)
    values = cells @ [1.0, 2.0] + 0.1 * rng.normal(size=len(cells))
    return rc.Design.from_cells(cells, values, train=train, names=["site", "dose"])


def test_a_model_that_loses_half_an_effect_is_worse_than_adding_and_the_cause_is_named(design: rc.Design) -> None:
    found = rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 3.0}, structure="add").findings
    assert [finding.code for finding in found] == ["RC601", "RC602"]
    assert found[0].message == "net misses determined cells by more than adding effects does"
    assert "net: leak" in found[1].subjects


def test_the_truth_raises_nothing(design: rc.Design) -> None:
    assert rc.score(design, {"net": design.held_out @ [1.0, 2.0]}, structure="add").findings == ()
