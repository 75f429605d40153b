"""The page of a score: complete, escaped, and the same numbers as the score."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.jobs.score import Score
from recombine.report import result_text
from recombine.report.score import CausesFigure, PredictionsFigure, score_json, score_notebook, score_page
from recombine.words import score_answers

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m|`@all`"


def scored(models: int = 2, name: str = "net") -> Score:
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((8, 6, 4)).reshape(3, -1).T, 2, axis=0)
    train = np.repeat(rng.random(len(cells) // 2) < 0.5, 2)
    # One level is held out as a whole: its cells are not determined.
    train &= cells[:, 0] != 7
    values = cells @ [1.0, 0.5, 0.3] + 0.3 * rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, values, train=train, names=[HOSTILE, "dose", "line"])
    told = design.held_out @ [0.6, 0.5, 0.3] + 1.0
    return rc.score(
        design, {f"{name} {place}": told + 0.1 * rng.normal(size=len(told)) for place in range(models)}, structure="add"
    )


@pytest.mark.slow
def test_answers_say_all_of_the_error() -> None:
    found = scored()
    for model in found.models:
        assert sum(model.error_shares.values()) == pytest.approx(1.0)
    said = [sentence for sentence in score_answers(found) if sentence.startswith("Of")]
    assert len(said) == 2
    numbers = [int(text.replace("−", "-")) for text in re.findall(r"(−?\d+) % (?:lies|is)", said[0])]
    assert sum(numbers) == pytest.approx(100, abs=2)
    assert "cells that these data do not determine (unseen level" in said[0]


@pytest.mark.slow
def test_the_page_has_every_part_and_nothing_from_outside() -> None:
    found = scored()
    text = score_page(found, command="recombine score table.csv")
    for section in ("answer", "why", "verdicts", "beside", "worst", "words"):
        assert f'id="{section}"' in text
    for model in found.models:
        assert model.name in text
    assert "recombine score table.csv" in text
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert "<script" not in text
    anchors = re.findall(r'<li><a href="#([^"]+)"', text)
    assert all(text.count(f'id="{anchor}"') == 1 for anchor in anchors)


@pytest.mark.slow
def test_hostile_names_stay_text() -> None:
    found = scored(1, HOSTILE)
    assert "<img" not in score_page(found)
    assert "<img" not in score_notebook(found)
    assert "\x1b" not in result_text(found)
    assert json.loads(score_json(found))["models"][0]["name"].startswith("<img")


@pytest.mark.slow
def test_figures_show_the_numbers_of_the_score() -> None:
    found = scored(6)
    bars = CausesFigure(found)
    for model in found.models:
        assert model.attribution is not None
        shown = bars.table.only(model=model.name)
        assert shown["amount"].sum() == pytest.approx(model.attribution.error.value)
        assert model.name in bars.alternative
    points = PredictionsFigure(found)
    assert len(points.models) == 4
    assert len(points.table) == 4 * len(found.codes)
    for figure in (bars, points):
        first = figure.svg()
        assert figure.svg() == first
        assert figure.svg(344) != first


def test_few_determined_cells_have_a_page_without_causes(tmp_path: Path) -> None:
    cells = np.indices((3, 3)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) < 3)
    found = rc.score(design, {"net": design.held_out @ [1.0, 1.0]})
    path = found.to_html(tmp_path / "score.html")
    text = path.read_text(encoding="utf-8")
    assert 'id="why"' not in text
    assert "it takes 12 to tell causes apart" in text
    with pytest.raises(rc.InputError, match="exists"):
        found.to_html(path)
