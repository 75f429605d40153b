"""One-layer gated networks and a maximum margin in each context, by number of hyperplanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
    where,
)
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

RANDOM = "network, random"
KEYS = ("images", "samples", "bits", "classifier")


def _table(results: Mapping[str, Evidence]) -> Table:
    rows = _with_random(results["shallow"].table.only(layers=1, momentum=0.0))
    images = str(rows["images"][0])
    theirs = _with_random(published("one layer", momentum=0.0))
    theirs = theirs.where((theirs["bits"] <= rows["bits"].max()) & np.isin(theirs["classifier"], rows["classifier"]))
    extra: dict[str, Any] = {"images": [images] * len(theirs), "reloaded": theirs["inconsistency"]}
    extra |= {"chance": np.full(len(theirs), np.nan), "inconsistency": np.full(len(theirs), np.nan)}
    named = published_beside(Table({n: theirs[n] for n in theirs.columns} | extra), images)
    columns = ("error", "inconsistency", "reloaded", "chance")
    return stacked(
        percent_over_seeds(rows, KEYS, columns, "ours"), percent_over_seeds(named, KEYS, columns, "published")
    )


def _with_random(rows: Table) -> Table:
    """Return rows of median thresholds, and those of networks with random ones under a name of their own."""
    random = rows.only(thresholds="random", classifier="network")
    named = Table({name: random[name] for name in random.columns} | {"classifier": [RANDOM] * len(random)})
    # A single number of hyperplanes makes no line.
    return stacked(rows.only(thresholds="median"), *([named] if len(random.by("bits")) > 1 else []))


def _draw(canvas: Canvas, table: Table) -> None:
    sizes = sorted(table.only(source="ours").by("samples"))
    axes = canvas.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.85, bottom=0.09, wspace=0.07, hspace=0.13)
    for (above, below), size in zip(axes.T, sizes, strict=True):
        chosen = table.only(samples=size)
        names = {n: NAMES[n] for n in ("network", "one-layer")} | {RANDOM: "network, random thresholds"}
        draw_series(above, chosen, "bits", "error", names, shift=0.2)
        limits = chosen.only(classifier="one-layer")
        draw_series(below, limits, "bits", "reloaded", {"one-layer": "SVM differs, thresholds lost"}, start=3)
        ours = limits.only(source="ours")
        draw_series(below, ours, "bits", "inconsistency", {"one-layer": "SVM differs, thresholds kept"}, start=4)
        line = ours.where(np.argsort(ours["bits"]))
        below.plot(line["bits"], line["chance"], "--", color="0.3", marker="", label="if unrelated")
        above.set_title(f"{size} images", fontsize=10.5, loc="left")
        below.set(xlabel="hyperplanes s (2^s contexts)", xticks=range(0, int(table["bits"].max()) + 1, 2))
    axes[0, 0].set(ylabel="error (%)", ylim=(0, None))
    axes[1, 0].set(ylabel="differs from network (%)", ylim=(0, None))
    name_lines(canvas, [axes[0, 0], axes[1, 0]], columns=3, published="published" in table["source"])


def _say(table: Table) -> str:
    network = table.only(classifier="network", source="ours", samples=int(table["samples"].min()))
    best = network["bits"][np.argmin(network["error"])]
    return f"Error of one-layer networks on {where(table)}, by hyperplanes: least at s = {best}, then it rises."


FIGURES = (
    Plot(
        "bits",
        title="One-layer networks and their limits, by number of hyperplanes",
        caption=(
            f"Momentum 0, thresholds at the median unless said otherwise. {MEANS} {PUBLISHED} "
            "Published limits count images in contexts without "
            "training images as wrong and as differing, hence their rise from eight hyperplanes on; published "
            "disagreements are of networks that lost their thresholds."
        ),
        experiments=("shallow",),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=520,
    ),
)
