"""Two-layer gated networks and their limits: by number of units (Fig. 2d and supplement), and one by one (2a, 2b)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.gated_linear.figures.drawing import (
    GREY,
    NAMES,
    PUBLISHED,
    SEEDS,
    draw_series,
    name_lines,
    percent_over_seeds,
    published_beside,
    stacked,
    units_axis,
    where,
)
from recombine.papers.gated_linear.readings.published import published
from recombine.papers.paper import Plot
from recombine.papers.plots import palette
from recombine.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Classifiers of Fig. 2d, in the order of their lines.
LINES = ("network", "group", "effective", "published effective")
#: Classifiers whose errors are compared one by one with those of networks, and the published one in the same panel.
SCATTER = {"group": "published group", "zeta": "", "effective": "", "published effective": "published effective"}
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
        for place, size in zip(row, sizes, strict=True):
            chosen = table.only(bits=bits, thresholds=thresholds, samples=size)
            draw_series(place, chosen, "units", "error", {name: NAMES[name] for name in LINES}, apart=1.04)
            hyperplanes = f"{bits} hyperplane{'s' if bits > 1 else ''}"
            about = f"{size} images" if len(kinds) == 1 else f"{size} images, {thresholds}, {hyperplanes}"
            place.set_title(about, fontsize=10.5, loc="left")
        row[0].set_ylabel("error (%)")
    for place in axes[-1]:
        units_axis(place, sorted(table.by("units")))
        place.set_ylim(0, None)
    name_lines(canvas, list(axes.ravel()), columns=3, published="published" in table["source"])


def _say_units(table: Table) -> str:
    few = table.only(units=int(table["units"].min()), samples=int(table["samples"].min()))
    errors = [
        f"{NAMES[str(name)]} {float(part['error'][0]):.0f}%{' (published)' if source == 'published' else ''}"
        for (source, name), part in few.by("source", "classifier").items()
    ]
    return f"Error on {where(table)} by number of units and images; with fewest of both: {', '.join(errors)}."


def _scatter_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["two-layer"].table.only(layers=2, momentum=0.0)
    parts = [_pairs(rows.only(classifier=name), rows.only(classifier="network"), name, "ours") for name in SCATTER]
    if rows["images"][0] == "mnist":
        theirs = published("two layers", momentum=0.0)
        networks = theirs.only(classifier="network")
        parts += [
            _pairs(theirs.only(classifier=old), networks, new, "published") for new, old in SCATTER.items() if old
        ]
    return stacked(*parts)


def _pairs(limits: Table, networks: Table, name: str, source: str) -> Table:
    """Return error and inconsistency of limits beside the error of their networks, in percent."""
    keys = ["units", "bits", "thresholds", "samples", "seed"]
    there = limits.where(np.isfinite(limits["error"]))
    errors = dict(zip(zip(*(networks[key].tolist() for key in keys), strict=True), networks["error"], strict=True))
    found = [
        {"source": source, "classifier": name, "thresholds": row["thresholds"], "network": 100 * errors[key]}
        | {column: 100 * row[column] for column in ("error", "inconsistency")}
        for row in there.rows()
        if (key := tuple(row[name] for name in keys)) in errors
    ]
    return Table.from_rows(found)


def _draw_scatter(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(2, len(SCATTER), sharex=True, sharey="row")
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.88, bottom=0.09, wspace=0.07, hspace=0.12)
    right = float(table["network"].max()) * 1.06
    colours = palette()
    chance = np.linspace(0, right / 100, 50)
    for column, name in enumerate(SCATTER):
        for place, value in zip(axes[:, column], ("error", "inconsistency"), strict=True):
            for order, (word, marker) in enumerate((("median", "o"), ("random", "^"))):
                style: dict[str, Any] = {"ls": "", "marker": marker, "ms": 4.5, "mfc": "none"}
                grey = table.only(classifier=name, thresholds=word, source="published")
                place.plot(grey["network"], grey[value], color=GREY, **style | {"ms": 3.5})
                dots = table.only(classifier=name, thresholds=word, source="ours")
                place.plot(dots["network"], dots[value], color=colours[order], label=f"{word} thresholds", **style)
        plain: dict[str, Any] = {"color": "0.3", "linewidth": 1.0, "marker": ""}
        axes[0, column].plot([0, right], [0, right], linestyle="-", label="equal errors", **plain)
        axes[1, column].plot(
            100 * chance, 200 * chance * (1 - chance), linestyle="--", label="2p(1-p): unrelated", **plain
        )
        axes[0, column].set_title(NAMES[name], fontsize=11)
        axes[1, column].set_xlabel("error of the network (%)")
    axes[0, 0].set(ylabel="error of the limit (%)", xlim=(float(table["network"].min()) * 0.9, right))
    axes[1, 0].set_ylabel("differs from network (%)")
    for place in axes[:, 0]:
        place.set_ylim(0, None)
    name_lines(canvas, [axes[0, 0], axes[1, 0]], columns=5, published="published" in table["source"])


def _say_scatter(table: Table) -> str:
    dots = table.only(source="ours", thresholds="median").by("classifier")
    words = ", ".join(
        f"{NAMES[str(name)]} {np.corrcoef(d['network'], d['error'])[0, 1]:.2f}" for name, d in dots.items()
    )
    return f"Error of limits against that of trained networks; correlations with median thresholds: {words}."


FIGURES = (
    Plot(
        "scatter",
        title="What the limit predicts of trained networks (Fig. 2a and 2b)",
        caption=(
            "One mark per network with two layers and momentum 0, all shapes, sizes and seeds. Above, errors of limit "
            "and network; below, the share of validation images on which they differ. Grey: published; its "
            "disagreements with median thresholds are those of networks that lost their thresholds."
        ),
        experiments=("two-layer",),
        table=_scatter_table,
        draw=_draw_scatter,
        alternative=_say_scatter,
        height=520,
    ),
    Plot(
        "units",
        title="Two-layer networks and limits by number of units (Fig. 2d)",
        caption=f"Median thresholds, one hyperplane per unit, momentum 0. {SEEDS} {PUBLISHED}",
        experiments=("two-layer",),
        table=_units_table,
        draw=_draw_units,
        alternative=_say_units,
        height=360,
    ),
    Plot(
        "supplement",
        title="The same with random thresholds, and with two hyperplanes per unit",
        caption=f"Momentum 0. {SEEDS} {PUBLISHED}",
        experiments=("two-layer",),
        table=_supplement_table,
        draw=_draw_supplement,
        alternative=_say_units,
        height=720,
    ),
)
