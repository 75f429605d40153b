"""gated-linear: figures are drawn with their tables, and panels hold what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.papers import find
from recombine.papers.reproduce import Reproduction, from_results
from recombine.report.papers.figure import PaperFigure

PAPER = find("gated-linear")
RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def stored() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="quick")


@pytest.fixture(scope="module")
def full() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="full")


def test_lines_of_the_relu_figure_are_of_the_same_networks(full: Reproduction) -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == "relu")
    table = PaperFigure(plot, full.results).table
    assert set(table["n"].tolist()) == {3}
    assert set(table["units"].tolist()) == {20, 50, 100, 500, 1000}


@pytest.mark.parametrize("name", ["units", "bits"])
def test_panels_hold_all_their_lines_and_labels(full: Reproduction, name: str) -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    canvas = PaperFigure(plot, full.results)._draw()
    canvas.canvas.draw()
    for axes in canvas.axes:
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) > 1]
        assert max(np.max(values) for values in drawn) <= axes.get_ylim()[1]
        # A browser draws the text of an SVG with a font of its own, a quarter wider than this one.
        assert 1.25 * axes.get_xaxis().label.get_window_extent().width <= axes.get_window_extent().width


def test_figures_are_drawn_with_their_tables(stored: Reproduction) -> None:
    assert {plot.name for plot in PAPER.figures} == {"toy", "flow", "units", "bits", "scatter", "relu"}
    for plot in PAPER.figures:
        figure = PaperFigure(plot, stored.results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")
        assert "Run: all of the small grid." in figure.caption


def test_every_figure_has_an_experiment_of_the_paper() -> None:
    assert all(plot.experiments[0] in PAPER.by_name for plot in PAPER.figures)
