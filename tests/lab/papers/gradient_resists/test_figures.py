"""Gradient resists: every figure is drawn from the committed results."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.lab.papers import find
from recombine.lab.papers.results import load_all_evidence
from recombine.lab.report.figure import PaperFigure

PAPER = find("gradient-resists")
RESULTS = Path(__file__).parents[4] / "results"


@pytest.mark.slow
def test_every_figure_is_drawn_from_the_committed_results() -> None:
    results = load_all_evidence(RESULTS, PAPER.name, PAPER.by_name, ("full", "quick"))
    for plot in PAPER.figures:
        figure = PaperFigure(plot, results)
        text = figure.svg()
        assert text.startswith("<svg")
        assert "mathdefault" not in text
        assert len(figure.table) > 0
        assert figure.alternative.endswith(".")
