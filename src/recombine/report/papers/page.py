"""A paper's report: one HTML file with every claim, its outcome, and the figures next to the claims they support."""

from __future__ import annotations

from typing import Any

from recombine._version import __version__
from recombine.errors import plural
from recombine.papers.paper import Plot
from recombine.papers.reproduce import Reproduction
from recombine.papers.standing import Standing
from recombine.report.papers.figure import PaperFigure
from recombine.report.papers.terminal import UNIT, beside_bounds, tally
from recombine.report.templates import fill_template, inline


def paper_page(state: Reproduction, command: str | None = None) -> str:
    """Return the report of a reproduction as one self-contained HTML document.

    Parameters
    ----------
    state : Reproduction
    command : str, optional
        The command that made the report.

    Examples
    --------
    >>> from recombine.papers import find
    >>> paper = find("kernel-theory")
    >>> text = paper_page(Reproduction(paper, paper.chosen(["14"]), {}))
    >>> text.startswith("<!doctype html>"), "not run" in text
    (True, True)
    """
    return fill_template(
        "paper.html.j2",
        paper=state.paper,
        summary=f"{plural(len(state.claims), 'claim')}: {tally(state.standings)}",
        items=_items(state),
        standings=list(Standing),
        unit=UNIT,
        sources=[state.results[name].provenance for name in sorted(state.results)],
        versions=_versions(state),
        command=command,
        version=__version__,
    )


def _versions(state: Reproduction) -> list[tuple[str, str]]:
    """Which experiments were run with which versions, as two texts per set of versions."""
    groups: dict[str, list[str]] = {}
    for name in sorted(state.results):
        versions = state.results[name].provenance.versions.items()
        groups.setdefault(", ".join(f"{library} {version}" for library, version in versions), []).append(name)
    return [(", ".join(names), words) for words, names in groups.items()]


def _items(state: Reproduction) -> list[dict[str, Any]]:
    """Return claims with their outcomes, and each figure with the first shown claim that it supports."""
    outcomes, placed = state.outcomes, _placed(state)
    return [
        {
            "claim": claim,
            "outcome": outcomes[claim.id],
            "measured": beside_bounds(claim, outcomes[claim.id]),
            "figures": [_figure(plot, state) for plot in placed.get(claim.id, [])],
        }
        for claim in state.claims
    ]


def _placed(state: Reproduction) -> dict[str, list[Plot]]:
    shown = {claim.id for claim in state.claims}
    placed: dict[str, list[Plot]] = {}
    for plot in state.paper.figures:
        first = next((claim.id for claim in state.paper.shown_in(plot) if claim.id in shown), None)
        if first is not None and plot.drawable(state.results):
            placed.setdefault(first, []).append(plot)
    return placed


def _figure(plot: Plot, state: Reproduction) -> dict[str, Any]:
    figure = PaperFigure(plot, state.results)
    return {"svg": inline(figure), "caption": figure.caption, "title": plot.title}
