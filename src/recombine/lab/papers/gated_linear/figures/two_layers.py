"""Two-layer gated networks and their limits by number of units (Fig. 2d and supplement)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import (
    MEANS,
    NAMES,
    PUBLISHED,
    SAME_MARKS,
    draw_series,
    name_lines,
    percent_over_seeds,
    published_beside,
    stacked,
    units_axis,
    where,
)
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import MARKS
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Classifiers of Fig. 2d, in the order of their lines.
LINES = ("network", "group", "effective", "published effective")
#: Those of the headline, which leaves out trained networks, and shows what was published of the released formula alone.
HEADLINE, RELEASED = LINES[1:], LINES[-1]
KEYS = ("images", "thresholds", "bits", "samples", "units", "classifier")


def _means(results: Mapping[str, Evidence]) -> Table:
    rows = results["two-layer"].table.only(layers=2, momentum=0.0)
    rows = rows.where(np.isin(rows["classifier"], LINES))
    images = str(rows["images"][0])
    theirs = published("two layers", momentum=0.0)
    theirs = theirs.where(theirs["units"] <= 100)
    named = published_beside(Table({n: theirs[n] for n in theirs.columns} | {"images": [images] * len(theirs)}), images)
    return stacked(
        percent_over_seeds(rows, KEYS, ("error",), "ours"), percent_over_seeds(named, KEYS, ("error",), "published")
    )


def _units_table(results: Mapping[str, Evidence]) -> Table:
    means = _means(results).only(thresholds="median", bits=1)
    ours = (means["source"] == "ours") & np.isin(means["classifier"], HEADLINE)
    return means.where(ours | ((means["source"] == "published") & (means["classifier"] == RELEASED)))


def _draw_units(canvas: Canvas, table: Table) -> None:
    _draw_grid(canvas, table, HEADLINE, top=0.8, bottom=0.15)


def _draw_supplement(canvas: Canvas, table: Table) -> None:
    _draw_grid(canvas, table, LINES, top=0.91, bottom=0.06)


def _draw_grid(canvas: Canvas, table: Table, lines: Sequence[str], *, top: float, bottom: float) -> None:
    """One row per thresholds and hyperplanes, one column per number of training images."""
    kinds = sorted(table.by("bits", "thresholds"))
    sizes = sorted(table.only(source="ours").by("samples"))
    axes = canvas.subplots(len(kinds), len(sizes), sharex=True, sharey=True, squeeze=False)
    canvas.subplots_adjust(left=0.075, right=0.985, top=top, bottom=bottom, wspace=0.07, hspace=0.3)
    for row, (bits, thresholds) in zip(axes, kinds, strict=True):
        for panel, size in zip(row, sizes, strict=True):
            chosen = table.only(bits=bits, thresholds=thresholds, samples=size)
            named, start = {name: NAMES[name] for name in lines}, LINES.index(lines[0])
            draw_series(panel, chosen, "units", "error", named, apart=1.04, start=start)
            hyperplanes = f"{bits} hyperplane{'s' if bits > 1 else ''}"
            about = f"{size} images" if len(kinds) == 1 else f"{size} images, {thresholds}, {hyperplanes}"
            panel.set_title(about, fontsize=10.5, loc="left")
        row[0].set_ylabel("error (%)")
    for panel in axes[-1]:
        units_axis(panel, sorted(table.by("units")))
        panel.set_ylim(0, None)
    grey = ("SVM-L2, published", MARKS[LINES.index(RELEASED)]) if lines == HEADLINE else SAME_MARKS
    name_lines(canvas, list(axes.ravel()), published="published" in table["source"], grey=grey)


def _say_units(table: Table) -> str:
    few = table.only(units=int(table["units"].min()), samples=int(table["samples"].min()))
    errors = [
        f"{NAMES[str(name)]} {float(rows['error'][0]):.0f}%{' (published)' if source == 'published' else ''}"
        for (source, name), rows in few.by("source", "classifier").items()
    ]
    return f"Error on {where(table)} by number of units and images; with fewest of both: {', '.join(errors)}."


FIGURES = (
    Plot(
        "units",
        title=(
            "By the L2 norm as defined, SVM-L2 errs nearly as little as SVM-GLN; the released formula "
            "does not (Fig. 2d)"
        ),
        caption=(
            "Median thresholds, one hyperplane per unit, momentum 0. On our draw of images, so that numbers differ a "
            f"little from those on the authors' images in the text. {MEANS} {PUBLISHED} Networks, and what else was "
            "published, are in the figure of all shapes."
        ),
        experiments=("two-layer",),
        table=_units_table,
        draw=_draw_units,
        alternative=_say_units,
        height=360,
    ),
    Plot(
        "supplement",
        title="All shapes: trained networks and limits by thresholds and hyperplanes, beside published errors",
        caption=f"Momentum 0. {MEANS} {PUBLISHED}",
        experiments=("two-layer",),
        table=_means,
        draw=_draw_supplement,
        alternative=_say_units,
        height=940,
    ),
)
