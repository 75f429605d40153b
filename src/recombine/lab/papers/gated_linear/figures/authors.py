"""Limits on the authors' images and contexts, problem by problem beside the published errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import stacked
from recombine.lab.papers.gated_linear.readings.published import PROBLEM, published_rows
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import palette
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Panel, series, classifier of ours, published classifier, and the column that is compared.
SERIES = (
    ("one layer", "SVM in each context", "one-layer", "one-layer", "error, zero wrong"),
    ("two layers: SVM-GLN", "groups as released", "published group", "published group", "error, zero wrong"),
    ("two layers: SVM-GLN", "group norm as defined", "group", "published group", "error, zero wrong"),
    ("two layers: SVM-L2", "released formula (ridge 1e-6)", "published effective", "published effective", "error"),
    ("two layers: SVM-L2", "L2 norm as defined", "effective", "published effective", "error"),
)


def _table(results: Mapping[str, Evidence]) -> Table:
    rows, theirs = results["authors"].table, published_rows()
    layers = np.where(theirs["kind"] == "one layer", 1, np.where(theirs["kind"] == "two layers", 2, 0))
    theirs = Table({name: theirs[name] for name in theirs.columns} | {"layers": layers})
    theirs = theirs.where(np.isfinite(theirs["error"]) & (layers > 0)).only(momentum=0.0)
    keys = [name for name in PROBLEM if name != "classifier"]
    tables = []
    for panel, words, classifier, published, column in SERIES:
        mine = rows.only(classifier=classifier)
        both = Table({name: mine[name] for name in keys} | {"error": mine[column]})
        ours, their_errors = both.paired(theirs.only(classifier=published), "error", on=keys)
        about = {"panel": [panel] * len(ours), "series": [words] * len(ours)}
        tables.append(Table(about | {"published": 100 * their_errors, "ours": 100 * ours}))
    return stacked(*tables)


def _draw(canvas: Canvas, table: Table) -> None:
    panels = list(dict.fromkeys(panel for panel, *_ in SERIES))
    axes = canvas.subplots(1, len(panels))
    canvas.subplots_adjust(left=0.065, right=0.99, top=0.92, bottom=0.14, wspace=0.17)
    colours = palette()
    for panel_axes, panel in zip(axes, panels, strict=True):
        chosen = table.only(panel=panel)
        both = np.concatenate([chosen["published"], chosen["ours"]])
        low, high = 0.85 * float(both.min()), 1.05 * float(both.max())
        panel_axes.plot([low, high], [low, high], color="0.55", linewidth=1.0, marker="", linestyle="-", label="equal")
        for order, (series, dots) in enumerate(chosen.by("series").items()):
            style: dict[str, Any] = {"marker": "os"[order], "ms": [5, 4.5][order], "mfc": "none", "mew": 1.1}
            panel_axes.plot(dots["published"], dots["ours"], ls="", color=colours[order], label=str(series), **style)
        panel_axes.set_title(panel, fontsize=11)
        panel_axes.set(xlabel="published error (%)", xlim=(low, high), ylim=(low, high), aspect="equal")
        panel_axes.legend(frameon=False, fontsize=9, loc="upper left", handletextpad=0.3)
    axes[0].set_ylabel("our error (%)")


def _say(table: Table) -> str:
    texts = [
        f"{panel}, {series}: {np.mean(dots['ours']):.1f}% where {np.mean(dots['published']):.1f}% was published"
        for (panel, series), dots in table.by("panel", "series").items()
    ]
    return f"Our errors against published ones, one mark per problem; means: {'; '.join(texts)}."


FIGURES = (
    Plot(
        "authors",
        title="Errors of limits on the authors' own images and contexts, against the published ones",
        caption=(
            "One mark per margin problem: shape, thresholds, number of images and context seed of the authors' grid. "
            "On the line, our error is the published one. SVM-GLN as released and the one-layer limits come out; "
            "SVM-L2 as published is far from the L2 norm as defined, most of all in small networks (right end)."
        ),
        experiments=("authors",),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=345,
    ),
)
