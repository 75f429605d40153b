"""gated-linear: figures are drawn with their tables, and panels hold what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.lab.papers import find
from recombine.lab.papers.reproduce import Reproduction, from_results
from recombine.lab.report.figure import PaperFigure
from recombine.tables.table import Table

PAPER = find("gated-linear")
RESULTS = Path(__file__).parents[4] / "results"


@pytest.fixture(scope="module")
def stored() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="quick")


@pytest.fixture(scope="module")
def full() -> Reproduction:
    return from_results(PAPER, RESULTS, scale="full")


def table_of(name: str, state: Reproduction) -> Table:
    return PaperFigure(next(plot for plot in PAPER.figures if plot.name == name), state.results).table


def test_marks_of_the_relu_figure_are_means_of_all_networks_of_a_shape(full: Reproduction) -> None:
    table = table_of("relu", full).only(source="ours")
    assert set(table["n"].tolist()) == {3}
    assert set(table["units"].tolist()) == {10, 20, 50, 100, 500, 1000}


@pytest.mark.parametrize("name", ["scatter", "units", "supplement", "bits", "best", "relu"])
def test_figures_of_images_show_the_published_values(full: Reproduction, stored: Reproduction, name: str) -> None:
    assert {"ours", "published"} <= set(table_of(name, full)["source"].tolist())
    # Digits stand in for MNIST at the small scale, so that nothing published is comparable.
    assert set(table_of(name, stored)["source"].tolist()) == {"ours"}


def test_published_values_are_those_of_the_figure(full: Reproduction) -> None:
    every = table_of("supplement", full).only(thresholds="median", bits=1)
    shown = []
    for table in (every, table_of("units", full)):
        few = table.only(source="published", units=10, samples=500)
        shown.append(dict(zip(few["classifier"].tolist(), few["error"].round(1).tolist(), strict=True)))
    assert shown[0] == {"network": 16.6, "group": 16.2, "published effective": 30.4}
    assert shown[1] == {"published effective": 30.4}


def test_the_headline_shows_four_lines(full: Reproduction) -> None:
    groups = table_of("units", full).by("source", "classifier")
    assert set(groups) == {
        *(("ours", name) for name in ("group", "effective", "published effective")),
        ("published", "published effective"),
    }


@pytest.mark.parametrize("name", ["units", "bits", "relu", "best"])
def test_panels_hold_all_their_lines_and_labels(full: Reproduction, name: str) -> None:
    plot = next(plot for plot in PAPER.figures if plot.name == name)
    canvas = PaperFigure(plot, full.results)._draw()
    canvas.canvas.draw()
    for axes in canvas.axes:
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) > 1]
        assert max(np.max(values) for values in drawn) <= axes.get_ylim()[1]
        # A browser draws the text of an SVG with a font of its own, a quarter wider than this one.
        assert 1.25 * axes.get_xaxis().label.get_window_extent().width <= axes.get_window_extent().width


@pytest.mark.slow
def test_figures_are_drawn_with_their_tables(stored: Reproduction) -> None:
    names = {"authors", "toy", "flow", "scatter", "units", "supplement", "bits", "best", "relu", "relu-scatter"}
    names |= {"relu-supplement", "gains"}
    assert {plot.name for plot in PAPER.figures} == names
    for plot in PAPER.figures:
        if plot.name in ("authors", "relu-supplement"):
            assert not plot.drawable(stored.results)
            continue
        figure = PaperFigure(plot, stored.results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")
        assert "small grid" in figure.caption


def test_every_figure_has_an_experiment_of_the_paper() -> None:
    assert all(plot.experiments[0] in PAPER.by_name for plot in PAPER.figures)
