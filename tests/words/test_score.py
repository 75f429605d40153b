"""The score in words: only what its ranges leave no doubt about is said of a model."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score import CAUSES
from recombine.words import model_sentences, score_answers


def scored(slope: float, spread: float, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    cells = np.indices((8, 6, 4)).reshape(3, -1).T
    train = rng.random(len(cells)) < 0.5
    values = cells @ [1.0, 0.5, 0.3] + 0.3 * rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, values, train=train, names=["site", "dose", "line"])
    told = (design.held_out - [3.5, 2.5, 1.5]) @ [slope, 0.5, 0.3] + 5.2 + spread * rng.normal(size=(~train).sum())
    score = rc.score(design, {"net": told}, structure="add")
    return model_sentences(score, score.models[0])


@pytest.mark.slow
def test_a_leak_is_named_with_its_factor() -> None:
    said = " ".join(scored(0.6, 0.1))
    assert "Adding beats it by" in said
    assert re.search(r"site: 5\d % of its effect arrives \(95 % range \d\d to \d\d %\)\.", said)
    assert "dose" not in said
    assert "raw mean" not in said


def test_a_good_model_is_not_blamed() -> None:
    said = " ".join(scored(1.0, 0.01))
    assert "It beats adding by" in said  # it knows the truth, where adding knows noisy measurements
    assert "arrives" not in said
    assert "raw mean" not in said


def test_random_errors_are_no_leak() -> None:
    said = " ".join(scored(1.0, 0.6))
    assert "Adding beats it by" in said
    assert "arrives" not in said
    assert "raw mean" not in said


def test_names_are_text_whatever_they_look_like() -> None:
    cells = np.indices((6, 6)).reshape(2, -1).T
    frame = pd.DataFrame(cells, columns=["site", "dose"]).astype(str)
    frame["site"] = [f"[bold]x[/foo]{site}" for site in frame["site"]]
    frame["y"], frame["[/]net"] = cells @ [1.0, 2.0], cells @ [1.0, 1.0]
    frame["part"] = np.where(cells.sum(axis=1) % 3 > 0, "train", "test")
    design = rc.Design.from_frame(frame, factors=["site", "dose"], outcome="y", split="part=train")
    text = rc.score(design, frame, ["[/]net"], "part=train").summary
    assert "[bold]x[/foo]5 · 4" in text
    assert "Determined cells that [/]net misses by most" in text


@pytest.mark.slow
def test_a_dash_in_a_name_stays_a_dash() -> None:
    cells = np.indices((9, 9)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0, names=["gene-a", "b"])
    score = rc.score(design, {"net": design.held_out @ [0.4, 2.0] + 2.4})
    assert "gene-a: 40 % of its effect arrives" in " ".join(model_sentences(score, score.models[0]))


def answered(seed: int, spread: float, shared: float = 0.0) -> tuple[str, rc.jobs.score.ModelScore]:
    rng = np.random.default_rng(seed)
    cells = np.indices((6, 5, 3)).reshape(3, -1).T
    rows = np.repeat(np.arange(len(cells)), 2)
    train = (rng.random(len(cells)) < 0.7)[rows]
    values = (cells @ [1.0, 0.5, 0.3])[rows] + 0.4 * rng.normal(size=len(rows))
    design = rc.Design.from_cells(cells[rows], values, train=train)
    truth = design.held_out @ [1, 0.5, 0.3]
    told = truth + shared * (design.outcome[~design.train] - truth) + spread * rng.normal(size=len(truth))
    score = rc.score(design, {"net": told}, structure="add")
    return score_answers(score)[0], score.models[0]


@pytest.mark.slow
def test_the_first_sentence_names_causes_beyond_chance_only() -> None:
    without = set()
    for seed, spread in ((0, 1.0), (1, 0.1), (2, 0.1)):
        sentence, model = answered(seed, spread)
        clear = {name for name, amount in model.causes.items() if not amount.within_chance}
        named = set(re.findall(r"[a-z ]+(?= −?\d)", re.search(r"the model's own .*?\((.*?)\)", sentence)[1]))
        assert {name.strip() for name in named} - {"within chance of none"} <= clear
        own = {name for name in clear if CAUSES[name].of == "model"}
        without.add(not own)
        assert ("no single cause is beyond chance" in sentence) == (not own)
    assert without == {False, True}


def test_negative_shares_are_worded() -> None:
    sentence, model = answered(1, 0.5, shared=1.0)
    of_data = sum(share for name, share in model.error_shares.items() if CAUSES[name].of == "data")
    assert of_data < -0.05
    assert not re.search(r"−\d+ ?% is ", sentence)
    assert re.search(rf"if effects add makes up for {-100 * of_data:.0f} ?%", sentence)


@pytest.mark.slow
def test_the_best_single_fix_is_named_where_it_is_beyond_chance() -> None:
    said = " ".join(scored(0.6, 0.1))
    assert re.search(r"Undoing the leak alone would remove \d\d % of its error \(95 % range \d\d to \d+ %\)\.", said)
    assert "Undoing" not in " ".join(scored(1.0, 0.3))
