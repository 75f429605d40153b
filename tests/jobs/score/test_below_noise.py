"""A model that has seen the measurements has less error than their noise; one that has not, never has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.jobs.score.below_noise import BelowNoise, below_noise, chance_of_counts, chance_of_shares
from recombine.report.score.record import score_json
from recombine.words import model_sentences, score_answers


def world(seed: int, values: str = "numbers") -> tuple[rc.Design, np.ndarray]:
    """Return a design with two or three rows per cell, and the truth at its held-out cells."""
    rng = np.random.default_rng(seed)
    cells = np.indices((12, 8)).reshape(2, -1).T
    row = np.repeat(np.arange(96), np.resize([2, 3], 96))
    truth = 0.05 + cells @ [0.05, 0.04] if values == "chances" else cells @ [1.0, 2.0]
    noisy = (rng.random(len(row)) < truth[row]).astype(float)
    if values == "numbers":
        noisy = truth[row] + rng.normal(size=len(row))
    train = rng.random(96) < 0.4
    return rc.Design.from_cells(cells[row], noisy, train=train[row]), truth[~train]


def said(design: rc.Design, predicted: np.ndarray) -> BelowNoise | None:
    return below_noise(predicted[:, None], [design], np.flatnonzero(~design.train))


@pytest.mark.parametrize("values", ["numbers", "chances"])
def test_one_that_saw_the_rows_is_told_and_the_truth_is_not(values: str) -> None:
    for seed in range(20):
        design, truth = world(seed, values)
        assert said(design, truth) is None
        assert said(design, truth + 0.1) is None
        observed = np.asarray(design.outcome)[~design.train]
        below = said(design, truth + 0.8 * (observed - truth))
        assert below is not None
        assert below.error.value < below.noise.value
        assert below.cells == len(truth)


def test_the_bound_lies_over_the_exact_chance_and_not_far_over_it() -> None:
    # of cells of equal weight with two rows of normal noise: shares are Beta(1/2, 1/2), their sum is drawn
    rng = np.random.default_rng(0)
    drawn = rng.beta(0.5, 0.5, size=(200_000, 12)).sum(axis=1)
    for summed in (2.0, 3.0):
        share = np.full(12, summed / 12)
        exact = float(np.mean(drawn <= summed))
        bound = chance_of_shares(share, 1 - share, np.ones(12))
        assert exact < bound < 12 * exact


@pytest.mark.slow
@pytest.mark.parametrize("chance", [0.5, 0.1])
@pytest.mark.parametrize("told", [0.5, 0.3])
def test_counts_are_accused_no_more_often_than_the_bound_says(chance: float, told: float) -> None:
    rng = np.random.default_rng(1)
    rows = np.resize([2, 3, 5], 30)
    chances = [
        chance_of_counts(np.full(30, told), rng.binomial(rows, chance) / rows, rows.astype(int)) for _ in range(300)
    ]
    for level in (0.3, 0.1):
        assert np.mean(np.array(chances) <= level) <= level


def test_nothing_is_said_without_replicates_or_without_noise() -> None:
    cells = np.indices((8, 8)).reshape(2, -1).T
    train = cells.sum(axis=1) % 2 == 0
    single = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=train)
    assert said(single, np.asarray(single.outcome)[~single.train]) is None
    again = np.repeat(cells, 3, axis=0)
    # a third is no binary fraction: means of equal rows differ from them by rounding
    exact = rc.Design.from_cells(again, again @ [1 / 3, 2 / 3], train=np.repeat(train, 3))
    assert said(exact, exact.held_out @ [1 / 3, 2 / 3]) is None


def test_a_score_prints_no_share_of_such_a_model_and_praises_nothing() -> None:
    design, truth = world(0)
    observed = np.asarray(design.outcome)[~design.train]
    score = rc.score(design, {"saw": truth + 0.7 * (observed - truth), "true": truth}, structure="add")
    model = score.models[0]
    assert model.below_noise is not None
    assert score.models[1].below_noise is None
    assert np.isnan(model.explained)
    assert all(np.isnan(row["share"]) for row in score.causes.rows() if row["model"] == "saw")
    assert all(row["share"] == row["share"] for row in score.causes.rows() if row["model"] == "true")
    assert [finding.subjects for finding in score.findings if finding.code == "RC603"] == [("saw",)]
    said_first = score_answers(score)[0]
    assert said_first.startswith("saw's error ")
    assert "is below the noise of the measurements themselves" in said_first
    assert model_sentences(score, model) == [said_first]
    record = json.loads(score_json(score))["models"][0]
    assert record["below noise"]["sentence"] == said_first
    assert any("below the noise" in line.text for line in score.answer.content if line.name == "saw")
    assert "below the noise of the measurements themselves" in score.summary


def test_the_stored_benchmark_holds_its_bars() -> None:
    record = json.loads((Path(__file__).parents[3] / "results/score/below_noise.json").read_text("utf-8"))
    assert record["clean"] >= 3000
    assert record["accused"] <= record["clean"] / 500
    assert record["told"] >= 0.95 * record["saw the measurements, 30 cells or more"]
