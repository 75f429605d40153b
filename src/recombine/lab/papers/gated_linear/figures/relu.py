"""ReLU networks and limits that are given more or less of them (Fig. 3), and the best of each kind (Fig. 2c, 3c)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import (
    GREY,
    MEANS,
    PUBLISHED,
    draw_series,
    name_lines,
    percent_over_seeds,
    published_beside,
    stacked,
    units_axis,
    where,
)
from recombine.lab.papers.gated_linear.readings.networks import RELU_KINDS
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import MARKS, palette
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

KEYS = ("images", "samples", "units", "classifier")
#: Kinds of Fig. 2c and 3c: panel, words, ours (experiment, layers, classifier), published (kind, classifier).
BEST = (
    ("Fig. 2c", "one layer, GD", "shallow", 1, "network", "one layer", "network"),
    ("Fig. 2c", "one layer, SVM", "shallow", 1, "one-layer", "one layer", "one-layer"),
    ("Fig. 2c", "two layers, GD", "two-layer", 2, "network", "two layers", "network"),
    ("Fig. 2c", "SVM-GLN", "two-layer", 2, "group", "two layers", "published group"),
    ("Fig. 2c", "SVM-L2", "two-layer", 2, "effective", "two layers", "published effective"),
    ("Fig. 3c", "ReLU, GD", "relu", 0, "network", "relu", "network"),
    ("Fig. 3c", "hidden layer", "relu", 0, "hidden layer", "relu", "hidden layer"),
    ("Fig. 3c", "learned contexts", "relu", 0, "learned contexts", "relu", "learned contexts"),
    ("Fig. 3c", "random contexts", "relu", 0, "random contexts", "relu", "random contexts"),
    ("Fig. 3c", "trained GLN", "two-layer", 2, "network", "two layers", "network"),
)


class _WithoutMomentum(Plot):
    """A figure of networks trained without momentum, which the small grid lacks."""

    def drawable(self, results: Mapping[str, Evidence]) -> bool:
        """Say whether there are such networks."""
        return super().drawable(results) and bool((results["relu"].table["momentum"] == 0).any())


def _whole(rows: Table) -> Table:
    """Return the shapes of which all networks have a limit: else marks of one shape would be of different networks."""
    groups = rows.by("samples", "units", "classifier")
    complete = [group for group in groups.values() if np.isfinite(group["error"]).all()]
    return stacked(*complete) if complete else rows.where(np.zeros(len(rows), dtype=bool))


def _relu_table(results: Mapping[str, Evidence], momentum: float = 0.9) -> Table:
    rows = results["relu"].table.only(momentum=momentum)
    rows = rows.where(np.isin(rows["classifier"], RELU_KINDS))
    images, columns = str(rows["images"][0]), ("error", "inconsistency")
    theirs = published("relu", momentum=momentum)
    theirs = theirs.where(np.isin(theirs["classifier"], RELU_KINDS))
    named = published_beside(Table({n: theirs[n] for n in theirs.columns} | {"images": [images] * len(theirs)}), images)
    tables = [
        percent_over_seeds(_whole(rows), KEYS, columns, "ours"),
        percent_over_seeds(named, KEYS, columns, "published"),
    ]
    if "authors-relu" in results:
        again = results["authors-relu"].table.only(momentum=momentum, classifier="network")
        if len(again):
            tables.append(percent_over_seeds(again, KEYS, columns, "ours, authors' images"))
    return stacked(*tables)


def _draw_relu(canvas: Canvas, table: Table) -> None:
    sizes = sorted(table.only(source="ours").by("samples"))
    axes = canvas.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.85, bottom=0.09, wspace=0.07, hspace=0.13)
    names = {kind: kind for kind in RELU_KINDS}
    for (above, below), size in zip(axes.T, sizes, strict=True):
        chosen = table.only(samples=size)
        draw_series(above, chosen, "units", "error", names, apart=1.06)
        again = chosen.only(source="ours, authors' images")
        if len(again):
            style: dict[str, Any] = {"color": "black", "marker": "x", "ls": "", "capsize": 2, "zorder": 5}
            half = np.nan_to_num(again["error 2se"])
            above.errorbar(again["units"], again["error"], half, label="network, authors' images", **style)
        draw_series(below, chosen.but(classifier="network"), "units", "inconsistency", names, apart=1.06)
        above.set_title(f"{size} images", fontsize=10.5, loc="left")
        units_axis(below, sorted(table.by("units")))
    axes[0, 0].set(ylabel="error (%)", ylim=(0, None))
    axes[1, 0].set(ylabel="differs from network (%)", ylim=(0, None))
    name_lines(canvas, list(axes[0]), columns=3, published="published" in table["source"])


def _say_relu(table: Table) -> str:
    ours = table.only(source="ours")
    words = ", ".join(f"{k} {ours.only(classifier=k)['inconsistency'].mean():.1f}%" for k in RELU_KINDS[1:])
    return f"Error of ReLU networks and of limits given parts of them on {where(table)}; disagreement: {words}."


def _best_table(results: Mapping[str, Evidence]) -> Table:
    tables = []
    for panel, words, experiment, layers, classifier, kind, theirs in BEST:
        rows = results[experiment].table.only(classifier=classifier)
        rows = rows.only(layers=layers) if layers else rows
        tables.append(_best(rows.where(rows["units"] <= 100), panel, words, "ours"))
        if str(rows["images"][0]) == "mnist":
            their_rows = published(kind, classifier=theirs)
            tables.append(_best(their_rows.where(their_rows["units"] <= 100), panel, words, "published"))
    return stacked(*tables)


def _best(rows: Table, panel: str, words: str, source: str) -> Table:
    """Return the mean over seeds of each seed's least error over all shapes, by number of images."""
    there = rows.where(np.isfinite(rows["error"]))
    lowest = Table.from_rows(
        {"samples": samples, "seed": seed, "error": 100 * group["error"].min()}
        for (samples, seed), group in there.by("samples", "seed").items()
    )
    means = over_seeds(lowest, ("samples",), ("error",))
    about = {"panel": [panel] * len(means), "kind": [words] * len(means), "source": [source] * len(means)}
    return Table(about | {name: means[name] for name in means.columns})


def _draw_best(canvas: Canvas, table: Table) -> None:
    panels = list(dict.fromkeys(table["panel"].tolist()))
    axes = canvas.subplots(1, len(panels), sharey=True)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.83, bottom=0.13, wspace=0.05)
    for panel_axes, panel in zip(axes, panels, strict=True):
        _draw_panel(panel_axes, table.only(panel=panel))
        panel_axes.set_title(panel, fontsize=11, loc="left")
    axes[0].set(ylabel="error of the best shape (%)", ylim=(0, None))
    name_lines(canvas, [axes[0]], published="published" in table["source"])


def _draw_panel(axes: Axes, table: Table) -> None:
    kinds = list(dict.fromkeys(table["kind"].tolist()))
    for order, size in enumerate(sorted(table.only(source="ours").by("samples"))):
        for source, shift in (("published", 0.16), ("ours", 0.0)):
            line = table.only(samples=size, source=source)
            across = np.array([kinds.index(kind) for kind in line["kind"].tolist()]) + 0.08 * (order - 1) + shift
            style: dict[str, Any] = {"ls": "", "marker": MARKS[order], "capsize": 2, "ms": 5.5}
            grey = source == "published"
            ink = {"color": GREY, "mfc": "white"} if grey else {"color": palette()[order], "label": f"{size} images"}
            axes.errorbar(across, line["error"], np.nan_to_num(line["error 2se"]), **style | ink)
    axes.set_xticks(range(len(kinds)), [kind.replace(", ", ",\n").replace(" contexts", "\ncontexts") for kind in kinds])
    axes.set_xlim(-0.5, len(kinds) - 0.4)


def _say_best(table: Table) -> str:
    fewest = table.only(source="ours", samples=int(table.only(source="ours")["samples"].min()))
    words = ", ".join(f"{row['kind']} {row['error']:.1f}%" for row in fewest.rows())
    return f"Error of the best shape of each kind, with fewest images: {words}."


FIGURES = (
    Plot(
        "best",
        title="The best shape of each kind of network and limit (Fig. 2c and 3c)",
        caption=(
            "Each seed's least error over all shapes with up to 100 units, thresholds and momenta. Mean and two "
            f"standard errors over three seeds. {PUBLISHED}"
        ),
        experiments=("two-layer", "shallow", "relu"),
        table=_best_table,
        draw=_draw_best,
        alternative=_say_best,
        height=360,
    ),
    Plot(
        "relu",
        title="ReLU networks, and limits that are given more or less of them (Fig. 3b and 3d)",
        caption=(
            f"Momentum 0.9. Shapes of which some network has no such limit are left out of ours. {MEANS} {PUBLISHED} "
            "Crosses: our networks on the authors' images."
        ),
        experiments=("relu",),
        table=_relu_table,
        draw=_draw_relu,
        alternative=_say_relu,
        height=520,
        optional=("authors-relu",),
    ),
    _WithoutMomentum(
        "relu-supplement",
        title="The same without momentum (supplement of Fig. 3)",
        caption=f"Momentum 0. Shapes of which some network has no such limit are left out of ours. {MEANS} {PUBLISHED}",
        experiments=("relu",),
        table=partial(_relu_table, momentum=0.0),
        draw=_draw_relu,
        alternative=_say_relu,
        height=520,
    ),
)
