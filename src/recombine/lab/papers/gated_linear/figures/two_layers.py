"""Two-layer gated networks and their limits by number of units (Fig. 2d and supplement)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import (
    MEANS,
    NAMES,
    PUBLISHED,
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
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Classifiers of Fig. 2d, in the order of their lines.
LINES = ("network", "group", "effective", "published effective")
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
    return _means(results).only(thresholds="median", bits=1)


def _supplement_table(results: Mapping[str, Evidence]) -> Table:
    means = _means(results)
    return means.where((means["thresholds"] != "median") | (means["bits"] != 1))


def _draw_units(canvas: Canvas, table: Table) -> None:
    _draw_grid(canvas, table, top=0.8, bottom=0.15)


def _draw_supplement(canvas: Canvas, table: Table) -> None:
    _draw_grid(canvas, table, top=0.88, bottom=0.07)


def _draw_grid(canvas: Canvas, table: Table, top: float, bottom: float) -> None:
    """One row per thresholds and hyperplanes, one column per number of training images."""
    kinds = sorted(table.by("bits", "thresholds"))
    sizes = sorted(table.only(source="ours").by("samples"))
    axes = canvas.subplots(len(kinds), len(sizes), sharex=True, sharey=True, squeeze=False)
    canvas.subplots_adjust(left=0.075, right=0.985, top=top, bottom=bottom, wspace=0.07, hspace=0.3)
    for row, (bits, thresholds) in zip(axes, kinds, strict=True):
        for panel, size in zip(row, sizes, strict=True):
            chosen = table.only(bits=bits, thresholds=thresholds, samples=size)
            draw_series(panel, chosen, "units", "error", {name: NAMES[name] for name in LINES}, apart=1.04)
            hyperplanes = f"{bits} hyperplane{'s' if bits > 1 else ''}"
            about = f"{size} images" if len(kinds) == 1 else f"{size} images, {thresholds}, {hyperplanes}"
            panel.set_title(about, fontsize=10.5, loc="left")
        row[0].set_ylabel("error (%)")
    for panel in axes[-1]:
        units_axis(panel, sorted(table.by("units")))
        panel.set_ylim(0, None)
    name_lines(canvas, list(axes.ravel()), columns=3, published="published" in table["source"])


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
            f"little from those on the authors' images in the text. {MEANS} {PUBLISHED}"
        ),
        experiments=("two-layer",),
        table=_units_table,
        draw=_draw_units,
        alternative=_say_units,
        height=360,
    ),
    Plot(
        "supplement",
        title="The same with random thresholds, and with two hyperplanes per unit",
        caption=f"Momentum 0. {MEANS} {PUBLISHED}",
        experiments=("two-layer",),
        table=_supplement_table,
        draw=_draw_supplement,
        alternative=_say_units,
        height=720,
    ),
)
