"""A cause that a test registers shows up in every output, and amounts still add up: one more cause is one file."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.jobs.score import CAUSES, Amount, Regressors, Score
from recombine.jobs.score.causes import Cause, CauseColumns, Coefficient
from recombine.report import result_text
from recombine.report.comparison import comparison_json
from recombine.report.score import CausesFigure, score_json, score_notebook, score_page
from recombine.words.vocabulary import vocabulary

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_vocabulary.py"))


class EchoCause(Cause):
    """One column, the square of the determined value."""

    name = "echo"
    title = "values are squared"
    meaning = "predictions echo the square of the value"
    action = "Stop squaring."
    of = "model"
    colour = "#123456"
    hatch = "oo"

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns:
        """Return squares."""
        return CauseColumns(regressors.determined[:, None] ** 2, ("",))


class FactorEchoCause(EchoCause):
    """The same, factor by factor."""

    coefficient = Coefficient("reflection", 0.0, "square that is echoed", "share of a square that is echoed (0: none)")

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns:
        """Return the squares of effects."""
        return CauseColumns(regressors.effects**2, regressors.names)

    def message(self, factor: str, coefficient: Amount) -> str:
        """Say how much is echoed."""
        return f"{factor}: {coefficient.percent} of its square is echoed"


def scored(share: float) -> Score:
    """A model that adds a ``share`` of the squared effect of dose to what is true."""
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((9, 7, 4)).reshape(3, -1).T, 2, axis=0)
    train = np.repeat(rng.random(len(cells) // 2) < 0.5, 2)
    values = (cells - [4, 3, 1.5]) @ [0.0, 1.0, 0.0] + 0.1 * rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, values, train=train, names=["site", "dose", "line"])
    truth = (design.held_out - [4, 3, 1.5]) @ [0.0, 1.0, 0.0]
    return rc.score(design, {"net": truth + share * truth**2}, structure="add")


@pytest.fixture(scope="module")
def before() -> Score:
    return scored(0.3)


@pytest.fixture(params=[EchoCause, FactorEchoCause], ids=["one column", "one column per factor"])
def cause(request: pytest.FixtureRequest) -> Iterator[Cause]:
    with CAUSES.registered(request.param()) as registered:
        yield registered


def test_amounts_still_add_up_and_the_new_cause_takes_what_was_unexplained(before: Score, cause: Cause) -> None:
    model = scored(0.3).models[0]
    assert model.attribution is not None
    total = model.attribution.error.value
    assert sum(amount.value for amount in model.causes.values()) == pytest.approx(total, rel=1e-12)
    assert before.models[0].causes["rest"].value > 0.3 * total
    assert abs(model.causes["rest"].value) < 0.05 * total < 0.3 * total < model.causes["echo"].value


@pytest.mark.slow
def test_every_output_shows_the_new_cause(before: Score, cause: Cause) -> None:
    score = scored(0.3)
    page = score_page(score)
    assert cause.meaning in result_text(score)
    assert cause.meaning in page
    assert cause.action in page
    assert f"background:{cause.colour}" in score_notebook(score)
    assert json.loads(score_json(score))["models"][0]["causes"]["echo"]["low"] > 0
    legend = CausesFigure(score).svg()
    assert ">echo<" in legend
    assert cause.colour in legend
    assert any(row["cause"] == "echo" for row in score.causes.rows())
    assert "echo" not in result_text(before)


@pytest.mark.slow
def test_a_comparison_of_two_scores_names_the_new_cause(cause: Cause) -> None:
    comparison = rc.compare(scored(0.1), scored(0.4))
    changes = {change.what: change for change in comparison.changes["net"]}
    assert changes["cause: echo"].outside
    assert "cause: echo" in comparison.summary
    assert "cause&#58; echo" in comparison.markdown or "cause: echo" in comparison.markdown
    assert "cause: echo" in comparison_json(comparison)


def test_vocabulary_and_documentation_have_the_new_cause(cause: Cause) -> None:
    assert vocabulary()["causes"][-1]["meaning"] == cause.meaning
    page = BUILD["causes_page"]()
    assert f"| [**echo**](causes/echo.md) | the model's | {cause.meaning} | {cause.action} |" in page
    assert cause.action in " ".join(BUILD["entry_pages"]()["docs/causes/echo.md"]().split())
    assert page != (BUILD["ROOT"] / "docs" / "causes.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_coefficients_of_factors_have_the_name_that_the_cause_gives_them() -> None:
    with CAUSES.registered(FactorEchoCause()):
        score, later = scored(0.3), scored(0.4)
        record = json.loads(score_json(score))["models"][0]
        assert record["reflection by factor"]["dose"]["value"] == pytest.approx(0.3, abs=0.02)
        assert "dose: 30 % of its square is echoed." in record["sentences"]
        assert "square that is echoed" in score_page(score)
        comparison = rc.compare(score, later)
        assert "reflection: dose" in {change.what for change in comparison.changes["net"]}
        assert "Reflection: share of a square that is echoed (0: none)." in " ".join(comparison.summary.split())


def test_a_name_is_taken_once() -> None:
    class Twin(EchoCause):
        name = "leak"

    with pytest.raises(ValueError, match="two causes are named 'leak'"), CAUSES.registered(Twin()):
        pass
