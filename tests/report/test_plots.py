"""Plots for notebooks and papers: what they draw, on whose axes, and what they leave as it was."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import recombine as rc
from recombine.verdicts import Verdict


@pytest.fixture(autouse=True)
def closed() -> Any:
    with mpl.rc_context({"backend": "Agg"}):
        yield
    pyplot.close("all")


def _audit() -> rc.Audit:
    cells = np.argwhere(np.random.default_rng(3).random((7, 9)) < 0.25)
    return rc.audit(rc.Design.from_cells(cells, cells @ [1.0, 2.0], names=["drug", "line"], sizes=[7, 9]))


def _score(cells: int = 36) -> rc.Score:
    grid = np.indices((6, 6)).reshape(2, -1).T
    train = grid.sum(axis=1) % 3 > 0
    train[cells:] = True
    design = rc.Design.from_cells(grid, grid @ [1.0, 2.0], train=train, names=["colour", "shape"])
    return rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 2.5, "far": design.held_out @ [0.0, 1.0]})


def test_the_map_has_a_place_per_cell_and_a_legend_entry_per_verdict_in_it() -> None:
    audit = _audit()
    axes = audit.plot()
    assert {axes.get_xlabel(), axes.get_ylabel()} == {"drug", "line"}
    assert axes.images[0].get_array().shape[:2] == (7, 9)
    shown = {verdict for verdict in Verdict if audit.decided.counts[verdict]}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [v.word for v in Verdict if v in shown]


def test_a_pair_of_factors_is_chosen_by_name_in_either_order_and_a_wrong_one_is_named() -> None:
    audit = rc.audit(rc.Design.from_cells([[0, 0, 0], [0, 1, 1], [1, 0, 1], [2, 1, 0]], names=["a", "b", "c"]))
    for pair in (("a", "c"), ("c", "a")):
        axes = audit.plot(factors=pair)
        assert {axes.get_xlabel(), axes.get_ylabel()} == {"a", "c"}
    with pytest.raises(rc.InputError, match=r"a, d are not two factors of the map; choose two of a, b, c"):
        audit.plot(factors=("a", "d"))


def test_given_axes_are_drawn_on_and_the_readers_settings_stay() -> None:
    before = dict(mpl.rcParams)
    figure, (left, middle, right) = pyplot.subplots(1, 3)
    audit, score = _audit(), _score()
    assert audit.plot(ax=left) is left
    assert audit.plan().plot(ax=middle) is middle
    assert score.plot(ax=right) is right
    assert pyplot.get_fignums() == [figure.number]
    score.plot()
    assert dict(mpl.rcParams) == before


def test_bars_of_a_plan_are_its_gains_in_its_order() -> None:
    plan = _audit().plan(k=6)
    axes = plan.plot()
    assert len({pick.reason for pick in plan.picks}) == 2
    assert [label.get_text().split("  ")[1] for label in axes.get_yticklabels()] == [
        plan.design.label(pick.cell) for pick in plan.picks
    ]
    widths = np.array([bar.get_width() for bar in axes.patches])
    for reason in ("connect", "sharpen"):
        mine = np.array([pick.reason == reason for pick in plan.picks])
        gains = np.array([pick.gain for pick in plan.picks])[mine]
        np.testing.assert_allclose(widths[mine], gains / gains.max())


def test_a_plan_with_nothing_to_collect_says_so() -> None:
    cells = np.indices((3, 3)).reshape(2, -1).T
    plan = rc.audit(rc.Design.from_cells(cells, cells @ [1.0, 2.0])).plan()
    assert not plan.picks
    (text,) = plan.plot().texts
    assert text.get_text().startswith("You have enough combinations")
    assert "You have enough combinations" in plan._repr_html_()


def test_bars_of_a_score_add_up_to_the_error_and_name_every_model() -> None:
    score = _score()
    axes = score.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["net", "far"]
    for row, model in enumerate(score.models):
        bars = [bar for bar in axes.patches if abs(bar.get_y() + bar.get_height() / 2 - row) < 0.1]
        assert model.attribution is not None
        assert sum(bar.get_width() for bar in bars) == pytest.approx(model.attribution.error.value)


def test_where_causes_cannot_be_told_apart_predictions_are_drawn() -> None:
    score = _score(8)
    assert score.regressors is None
    axes = score.plot()
    assert axes.get_xlabel().startswith("observed")
    assert axes.get_ylabel().startswith("predicted")
    drawn = sum(len(line.get_xdata()) for line in axes.lines[1:])
    assert drawn == len(score.codes)


def test_a_design_and_a_plan_show_themselves_in_a_notebook() -> None:
    design = rc.Design.from_cells([[0, 0], [1, 1], [2, 1]], names=["<b>", "line"])
    assert "&lt;b&gt;" in design._repr_html_()
    assert "<b>" not in design._repr_html_()
    shown = rc.audit(design).plan()._repr_html_()
    assert "other unseen cells become determined" in shown
