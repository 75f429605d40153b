"""What another model got right from the same seen cells is the model's, what none got right the data's."""

from __future__ import annotations

import json

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.jobs.score import Score
from recombine.jobs.score.causes.learned import learned_elsewhere
from recombine.jobs.score.regression import Regressors
from recombine.report import result_text
from recombine.report.score import score_json, score_page


def world(seed: int, interaction: float) -> tuple[rc.Design, FloatArray, FloatArray]:
    """Return a design, the true means of its held-out cells, and the sum of effects there."""
    rng = np.random.default_rng(seed)
    cells = np.indices((12, 10, 3)).reshape(3, -1).T
    effects = rng.normal(size=12)[cells[:, 0]] + rng.normal(size=10)[cells[:, 1]] + cells[:, 2]
    truth = effects + interaction * rng.normal(size=len(cells))
    train, rows = rng.random(len(cells)) < 0.5, np.repeat(np.arange(len(cells)), 2)
    y = truth[rows] + 0.3 * rng.normal(size=len(rows))
    return rc.Design.from_cells(cells[rows], y, train=train[rows]), truth[~train], effects[~train]


@pytest.fixture(scope="module")
def score() -> Score:
    design, truth, effects = world(0, 0.8)
    return rc.score(design, {"sums": effects, "knowing": effects + 0.8 * (truth - effects)}, structure="add")


def test_the_share_that_another_model_got_right_is_the_models(score: Score) -> None:
    sums, knowing = score.models
    assert sums.attribution.by == {"learnable": "knowing"}
    # Four fifths of what no sum of effects explains was said by the other model, one fifth by none.
    learnable, structure = sums.causes["learnable"], sums.causes["structure"]
    assert learnable.value / (learnable.value + structure.value) == pytest.approx(0.8, abs=0.06)
    assert learnable.low > 0.25 > structure.high
    assert knowing.attribution.by == {}
    for model in score.models:
        assert sum(amount.value for amount in model.causes.values()) == pytest.approx(model.attribution.error.value)
        missed = (model.predicted - score.observed)[:, 0][score.codes == rc.Verdict.DETERMINED]
        assert sum(model.attribution.parts.values()) == pytest.approx(missed)


def test_every_output_names_the_model_that_got_it_right(score: Score) -> None:
    record = json.loads(score_json(score))["models"][0]
    assert record["got right by"] == {"learnable": "knowing"}
    assert record["causes"]["learnable"]["low"] > 0
    assert "knowing got right from the same seen cells" in " ".join(record["sentences"])
    for text in (" ".join(result_text(score).split()), score_page(score)):
        assert "what effects do not explain, and knowing got right from the same seen cells" in text


@pytest.mark.slow
def test_alone_or_beside_its_like_nothing_is_learnable() -> None:
    design, truth, effects = world(0, 0.8)
    for others in ({}, {"twin": effects}, {"saw": truth + 0.9 * (design.outcome[~design.train] - truth)}):
        model = rc.score(design, {"sums": effects} | others, structure="add").models[0]
        assert "learnable" not in model.causes


@pytest.mark.slow
def test_chance_and_less_noise_are_not_credited() -> None:
    said = []
    for seed in range(15):
        design, _, effects = world(seed, 0.0)
        fitted = rc.audit(design, structure="add").values.certified_of(design.held_out)
        at_random = fitted + 0.4 * np.random.default_rng(seed).normal(size=len(fitted))
        # "sums" knows the effects without the noise that the seen cells have
        models = rc.score(design, {"fit": fitted, "sums": effects, "random": at_random}, structure="add").models
        said += ["learnable" in model.causes for model in models]
    assert sum(said) <= 4


def test_which_model_and_how_much_of_it_is_decided_on_other_cells() -> None:
    rng = np.random.default_rng(2)
    determined = rng.normal(size=60)
    regressors = Regressors(determined, determined[:, None], np.zeros((60, 1)), np.zeros(60), ("dose",))
    agreements = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        beyond = rng.normal(size=60)
        others = {str(number): determined + rng.normal(size=60) for number in range(20)}
        learned = learned_elsewhere(others, determined + beyond, regressors, seed)
        agreements.append(np.mean(learned.departure * beyond))
    # the best of twenty fitted to the cells themselves would agree by 0.05
    assert abs(np.mean(agreements)) < 0.01
