"""Kernel theory: figures of networks on images. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.kernel_theory.readings.images import (
    ADDITIVITY,
    EQUIVALENCE,
    PUBLISHED_DISTANCES,
    SLOPES,
    SUMS_ADDITIVITY,
)
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band, palette
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.measures.outputs.contributions import KINDS
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Read from the published figures, by distance.
PUBLISHED = {
    **SLOPES,
    "CD-1, logistic": (0.894, 0.910, 0.940, 0.953, 0.963),
    "CD-2, logistic": (0.839, 0.870, 0.913, 0.942, 0.944),
    "CD-3, logistic": (0.503, 0.424, 0.363, 0.288, 0.229),
    "four anchors, logistic": tuple(EQUIVALENCE.values()),
}
MARKERS = "osD^vP"
PANELS = {"addition": "slope", "context dependence": "accuracy", "equivalence": "accuracy"}


# ---------------------------------------------------------------------------- by distance


def _distance_table(results: Mapping[str, Evidence]) -> Table:
    listed = []
    sums = over_seeds(results["mnist-addition"].table, ("set", "distance"), ("slope",))
    for row in sums.rows():
        if not str(row["set"]).startswith("dispersed"):
            listed.append(_point("addition", row["set"], row, "slope"))
    context = _same_seeds(results["mnist-context"].table)
    blocks = over_seeds(context, ("task", "loss", "distance"), ("accuracy",))
    for row in blocks.rows():
        listed.append(_point("context dependence", f"{row['task']}, {row['loss']}", row, "accuracy"))
    if "mnist-equivalence" in results:
        words = {1: "one anchor", 4: "four anchors"}
        pairs = over_seeds(results["mnist-equivalence"].table, ("anchors", "loss", "distance"), ("accuracy",))
        for row in pairs.rows():
            listed.append(_point("equivalence", f"{words[row['anchors']]}, {row['loss']}", row, "accuracy"))
    return Table.from_rows(sorted(listed, key=lambda row: (row["panel"], row["line"], row["distance"])))


def _same_seeds(rows: Table) -> Table:
    """Networks of context dependence whose seed has all distances of its line, so that a line has the same digits."""
    chosen = np.zeros(len(rows), dtype=bool)
    for task, loss in {(str(row["task"]), str(row["loss"])) for row in rows.rows()}:
        line = (rows["task"] == task) & (rows["loss"] == loss)
        seeds = [
            set(rows["seed"][line & (rows["distance"] == far)].tolist()) for far in np.unique(rows["distance"][line])
        ]
        chosen |= line & np.isin(rows["seed"], sorted(set.intersection(*seeds)))
    return rows.where(chosen)


def _point(panel: str, line: str, row: Mapping[str, object], name: str) -> dict[str, object]:
    named = line.replace("mse", "squared")
    return {"panel": panel, "line": named, "distance": row["distance"], "value": row[name]} | {
        "value 2se": row[f"{name} 2se"],
        "n": row["n"],
    }


def _draw_distance(canvas: Canvas, table: Table) -> None:
    names = [panel for panel in PANELS if len(table.only(panel=panel))]
    panels = canvas.subplots(1, len(names), squeeze=False)[0]
    canvas.subplots_adjust(left=0.07, right=0.99, top=0.91, bottom=0.32, wspace=0.25)
    colours = palette()
    for axes, panel in zip(panels, names, strict=True):
        points = table.only(panel=panel)
        lines = sorted(dict.fromkeys(points["line"].tolist()), key=lambda line: [*PUBLISHED, line].index(line))
        named = False
        for index, line in enumerate(lines):
            colour, mark = colours[index % len(colours)], MARKERS[index % len(MARKERS)]
            aside = 0.3 * (index - 1) if panel == "addition" else 0.0
            _line(axes, points.only(line=line), line, colour, mark, aside)
            # Digits have another geometry, so the published curves are shown for MNIST alone.
            if line in PUBLISHED and points["distance"].max() == max(PUBLISHED_DISTANCES):
                published = PUBLISHED[line]
                style: dict[str, Any] = {"color": "0.45", "linestyle": ":", "marker": mark, "markersize": 5}
                label, named = None if named else "published, same mark", True
                axes.plot(PUBLISHED_DISTANCES, published, markerfacecolor="white", label=label, zorder=1, **style)
        axes.set(xlabel="distance (pixels)", ylabel=f"{PANELS[panel]} on unseen cells", title=panel.capitalize())
        count = len(axes.get_legend_handles_labels()[0])
        axes.legend(
            frameon=False, fontsize=10, ncols=1 if count < 4 else 2, loc="upper center", bbox_to_anchor=(0.5, -0.2)
        )


def _line(axes: Axes, points: Table, label: str, colour: str, mark: str, aside: float = 0.0) -> None:
    """One series with error bars, which stay apart where bands would lie upon each other."""
    order = np.argsort(points["distance"])
    error = np.nan_to_num(points["value 2se"][order])
    style: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": "-", "capsize": 2.5, "elinewidth": 1}
    axes.errorbar(points["distance"][order] + aside, points["value"][order], error, label=label, **style)


def _say_distance(table: Table) -> str:
    hard = {loss: table.only(panel="context dependence", line=f"CD-3, {loss}") for loss in ("logistic", "squared")}
    ends = {loss: rows["value"][np.argsort(rows["distance"])][[0, -1]] for loss, rows in hard.items() if len(rows)}
    words = "; ".join(f"CD-3 under {loss} loss {start:.2f} to {end:.2f}" for loss, (start, end) in ends.items())
    return f"Slopes and accuracies of ConvNets by the distance between component images. {words}."


# ---------------------------------------------------------------------------- the shortcut by distance

#: Lines of the headline, with what they are called there.
HEADLINE = {
    "CD-1, logistic": "one pair left out, logistic loss",
    "CD-3, squared": "3 x 3 pairs left out, squared loss",
    "CD-3, logistic": "3 x 3 pairs left out, logistic loss",
}


def _headline_table(results: Mapping[str, Evidence]) -> Table:
    rows = over_seeds(_same_seeds(results["mnist-context"].table), ("task", "loss", "distance"), ("accuracy",)).rows()
    points = [_point("context dependence", f"{row['task']}, {row['loss']}", row, "accuracy") for row in rows]
    return Table.from_rows([point for point in points if point["line"] in HEADLINE])


def _say_distance_of_lines(table: Table) -> str:
    ends = {line: table.only(line=line) for line in HEADLINE}
    words = "; ".join(
        f"{HEADLINE[line]}: {rows['value'][np.argsort(rows['distance'])][0]:.2f} to "
        f"{rows['value'][np.argsort(rows['distance'])][-1]:.2f}"
        for line, rows in ends.items()
        if len(rows)
    )
    return f"Share of unseen cells that ConvNets get right, from distance 0 to the largest. {words}."


def _draw_headline(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.7, top=0.96, bottom=0.16)
    for index, (line, label) in enumerate(HEADLINE.items()):
        points = table.only(line=line)
        if len(points):
            _line(axes, points, label, palette()[index], MARKERS[index])
            last = int(np.argmax(points["distance"]))
            end = (float(points["distance"][last]), float(points["value"][last]))
            named: dict[str, Any] = {"color": palette()[index], "fontsize": 12, "va": "center"}
            axes.annotate(label, end, xytext=(14, 0), textcoords="offset points", **named)
    if len(table) and table["distance"].max() == max(PUBLISHED_DISTANCES):
        style: dict[str, Any] = {"color": "0.45", "linestyle": ":", "marker": MARKERS[2], "markerfacecolor": "white"}
        axes.plot(PUBLISHED_DISTANCES, PUBLISHED["CD-3, logistic"], label="published", zorder=1, **style)
    axes.axhline(0.5, color="0.8", linewidth=1, zorder=0)
    axes.set(xlabel="distance from one picture to the next (pixels)", ylabel="unseen cells right", ylim=(0, 1.02))
    axes.set_xticks(np.unique(table["distance"]))
    handles, names = axes.get_legend_handles_labels()
    grey = [(handle, name) for handle, name in zip(handles, names, strict=True) if name == "published"]
    if grey:
        axes.legend(*zip(*grey, strict=True), frameon=False, fontsize=11, loc="lower left")


# ---------------------------------------------------------------------------- item values


def _values_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["mnist-addition"].table
    names = tuple(f"value {item}" for item in range(9))
    listed = []
    for row in over_seeds(rows, ("set", "distance"), names).rows():
        for item, name in enumerate(names):
            if np.isfinite(row[name]) and not str(row["set"]).startswith("dispersed"):
                point = {"set": row["set"], "distance": row["distance"], "item": item - 4, "value": row[name]}
                listed.append({**point, "value 2se": row[f"{name} 2se"], "n": row["n"]})
    return Table.from_rows(listed)


#: Published lines of item values at distances 0 and 20: slope and offset.
ITEM_LINES = {
    **{(name, d): (SLOPES[name][place], 0.0) for name in SLOPES for d, place in ((0, 0), (20, -1))},
    ("asymmetric", 0): (0.516, -1.58),
    ("asymmetric", 20): (0.674, -0.95),
}


def _draw_values(canvas: Canvas, table: Table) -> None:
    sets = list(dict.fromkeys(table["set"].tolist()))
    panels = canvas.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.89, bottom=0.17, wspace=0.08)
    for axes, name in zip(panels, sets, strict=True):
        axes.plot([-4, 4], [-4, 4], color="0.6", linewidth=0.8, linestyle="-", marker="", label="truth")
        items = table.only(set=name)
        for distance in sorted({0, 20} & set(items["distance"].tolist()) or set(items["distance"].tolist())):
            draw_band(axes, items.only(distance=distance), "item", "value", f"distance {distance}")
            if (name, distance) in ITEM_LINES:
                slope, offset = ITEM_LINES[name, distance]
                ends = np.array([-4.0, 4.0])
                label = "published" if (name, distance) == ("extrapolation", 0) else None
                axes.plot(ends, slope * ends + offset, color="0.45", linestyle=":", marker="", label=label)
        axes.set(xlabel="item", title=str(name).capitalize())
    panels[0].set_ylabel("what the item adds to unseen sums")
    panels[0].legend(frameon=False, fontsize=11)


def _say_values(table: Table) -> str:
    return "Value of each item in unseen sums, by distance: straight lines flatter than the truth, steeper when apart."


# ---------------------------------------------------------------------------- what networks lean on

#: Published sizes of context over the right pair under logistic loss, at distances 0 and 20 (figure 12).
RATIOS = {"CD-3": (0.77, 1.46), "CD-2": (0.11, 0.04)}


def _kinds_table(results: Mapping[str, Evidence]) -> Table:
    """Shares of the kinds network by network, so that losses with outputs of different sizes can be compared."""
    rows = results["mnist-context"].table
    listed = []
    for row in rows.rows():
        total = sum(row[kind] for kind in KINDS)
        about = {"task": row["task"], "loss": row["loss"].replace("mse", "squared"), "distance": row["distance"]}
        shares = {kind: row[kind] / total for kind in KINDS}
        listed.append({**about, **shares, "context / right": row["context"] / row["right"]})
    return over_seeds(Table.from_rows(listed), ("task", "loss", "distance"), (*KINDS, "context / right"))


def _draw_kinds(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, gridspec_kw={"width_ratios": (1, 1, 1.1)})
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.28, wspace=0.24)
    for axes, loss in zip(panels, ("logistic", "squared"), strict=False):
        _bars(axes, table.only(task="CD-3", loss=loss))
        axes.set(title=f"CD-3, {loss} loss", ylim=(0, 0.62))
    panels[0].set_ylabel("share of the contributions")
    panels[0].legend(frameon=False, fontsize=11, loc="upper right")
    _ratios(panels[2], table)


def _ratios(axes: Axes, table: Table) -> None:
    colours = palette()
    lines = [("CD-3", "logistic"), ("CD-2", "logistic"), ("CD-3", "squared")]
    for index, (task, loss) in enumerate(lines):
        line = table.only(task=task, loss=loss)
        order = np.argsort(line["distance"])
        error = np.nan_to_num(line["context / right 2se"][order])
        style: dict[str, Any] = {"color": colours[index], "marker": MARKERS[index], "linestyle": "-", "capsize": 2.5}
        x = line["distance"][order]
        axes.errorbar(x, line["context / right"][order], error, label=f"{task}, {loss}", **style)
        if loss == "logistic" and len(x) and x[-1] == max(PUBLISHED_DISTANCES):
            grey: dict[str, Any] = {"color": "0.45", "linestyle": ":", "marker": MARKERS[index], "zorder": 1}
            label = "published, same mark" if not index else None
            axes.plot((0, 20), RATIOS[task], markerfacecolor="white", label=label, **grey)
    axes.set(title="Context / right pair", xlabel="distance (pixels)", ylim=(0, 1.35 * axes.get_ylim()[1]))
    axes.legend(frameon=False, fontsize=10.5, loc="upper left")


def _bars(axes: Axes, table: Table) -> None:
    distances = sorted({min(table["distance"].tolist()), max(table["distance"].tolist())}) if len(table) else []
    positions, width = np.arange(len(KINDS)), 0.4
    for offset, (distance, colour) in enumerate(zip(distances, ("#1b6ca8", "#d9e6ec"), strict=False)):
        rows = table.only(distance=distance)
        heights, errors = ([float(np.nan_to_num(rows[f"{kind}{end}"][0])) for kind in KINDS] for end in ("", " 2se"))
        style: dict[str, Any] = {"color": colour, "edgecolor": "0.2", "linewidth": 0.6, "yerr": errors, "capsize": 3}
        axes.bar(positions + (offset - 0.5) * width, heights, width, label=f"distance {distance}", **style)
    axes.set_xticks(positions, KINDS, rotation=40, ha="right", fontsize=11)
    axes.grid(visible=False, axis="x")


def _say_kinds(table: Table) -> str:
    hard = table.only(task="CD-3", loss="logistic")
    shares = ", ".join(f"{row['context']:.0%} at distance {row['distance']}" for row in hard.rows())
    return f"Bars of what ConvNets lean on. Context under logistic loss on CD-3: {shares}."


# ---------------------------------------------------------------------------- additivity

#: Published additivity, at distances 0 and 20 (figure 12).
PUBLISHED_ADDITIVITY = {"CD-3": ADDITIVITY["CD-3"], "CD-2": ADDITIVITY["CD-2"], "CD-1": ADDITIVITY["CD-1"]}


def _additivity_table(results: Mapping[str, Evidence]) -> Table:
    columns = ("additivity", "published additivity")
    added = results["mnist-addition"].table
    # The three dispersed sets are draws of one kind.
    sets = ["dispersed" if str(name).startswith("dispersed") else name for name in added["set"].tolist()]
    sums = over_seeds(
        Table({**{name: added[name] for name in added.columns}, "set": sets}), ("set", "distance"), columns
    )
    blocks = over_seeds(results["mnist-context"].table.only(loss="logistic"), ("task", "distance"), columns)
    listed = []
    for panel, key, table in (("addition", "set", sums), ("context dependence", "task", blocks)):
        for row in table.rows():
            for column, how in zip(columns, ("unseen cells alone", "as published"), strict=True):
                about = {"panel": panel, "line": row[key], "how": how, "distance": row["distance"], "n": row["n"]}
                listed.append({**about, "value": row[column], "value 2se": row[f"{column} 2se"]})
    return Table.from_rows(listed)


def _draw_additivity(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(2, 2, sharex=True)
    canvas.set_figheight(1.5 * canvas.get_figheight())
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.93, bottom=0.11, wspace=0.2, hspace=0.25)
    colours = palette()
    for row, panel in zip(panels, ("addition", "context dependence"), strict=True):
        for axes, how in zip(row, ("as published", "unseen cells alone"), strict=True):
            points = table.only(panel=panel, how=how)
            for index, line in enumerate(dict.fromkeys(points["line"].tolist())):
                _line(axes, points.only(line=line), line, colours[index], MARKERS[index])
                if how == "as published" and line in PUBLISHED_ADDITIVITY:
                    grey: dict[str, Any] = {"color": "0.45", "linestyle": "", "marker": MARKERS[index], "zorder": 5}
                    label = "published, same mark" if not index else None
                    axes.plot((0, 20), PUBLISHED_ADDITIVITY[line], markerfacecolor="white", label=label, **grey)
            if panel == "addition" and how == "as published":
                axes.axhspan(*SUMS_ADDITIVITY, color="0.85", zorder=0, label="published range")
            axes.set(title=f"{panel.capitalize()}, {how}", ylim=(0.96, 1.002) if panel == "addition" else (0.85, 1.01))
        row[0].set_ylabel("additivity (R²)")
        row[0].legend(frameon=False, fontsize=10.5, loc="lower right", ncols=2)
    for axes in panels[1]:
        axes.set_xlabel("distance (pixels)")
        axes.set_xticks(sorted(set(table["distance"].tolist())))


def _say_additivity(table: Table) -> str:
    unseen = table.only(how="unseen cells alone")["value"]
    return f"Additivity of ConvNets by distance; on unseen cells alone it is {unseen.min():.2f} or more."


FIGURES = (
    Plot(
        "headline",
        title=(
            "With 3 x 3 pairs left out, ConvNets take the shortcut more the further apart the images are, "
            "unless the loss is squared"
        ),
        caption=(
            "Share of unseen cells of context dependence that ConvNets get right; the line at one half is chance. Each "
            "of the three pictures is shifted by the distance to the right of the one before. "
            "Mean and two standard errors over the seeds that were run at all five distances; numbers in the text use "
            "every seed. Published: means of ten networks (figure 12)."
        ),
        experiments=("mnist-context",),
        table=_headline_table,
        draw=_draw_headline,
        alternative=_say_distance_of_lines,
        height=320,
    ),
    Plot(
        "distance",
        title="Pairs of images by distance",
        caption=(
            "ConvNets on pairs (addition, equivalence) and triples (context) of images; mean and two standard errors "
            "over seeds. Grey: published means of ten networks (figures 5, 9 and 12; slopes count training images "
            "too)."
        ),
        experiments=("mnist-addition", "mnist-context"),
        table=_distance_table,
        draw=_draw_distance,
        alternative=_say_distance,
        height=400,
    ),
    Plot(
        "item-values",
        title="What an item is worth to a ConvNet",
        caption=(
            "Value of each item that was no anchor, in sums of unseen pairs, at distances 0 and 20; mean and two "
            "standard errors over seeds. Grey: the published lines (figure 9), which count training images too."
        ),
        experiments=("mnist-addition",),
        table=_values_table,
        draw=_draw_values,
        alternative=_say_values,
        height=360,
    ),
    Plot(
        "image-kinds",
        title="What ConvNets lean on",
        caption=(
            "Left and middle: mean absolute contribution of seen conjunctions of each kind, as a share of the sum over "
            "kinds. Right and wrong: the context with the feature that counts in it, or with the other one. Right: "
            "context over the right pair. Means and two standard errors over seeds; grey: published (figure 12)."
        ),
        experiments=("mnist-context",),
        table=_kinds_table,
        draw=_draw_kinds,
        alternative=_say_kinds,
        height=360,
    ),
    Plot(
        "additivity",
        title="How far ConvNets are sums of seen conjunctions",
        caption=(
            "Share of the variance of outputs that sums of seen conjunctions explain: averaged over seen and unseen "
            "cells "
            "as in the paper (left; grey: published, figures 9 and 12), and on unseen cells alone (right). Mean and "
            "two "
            "standard errors over seeds; CD-1 has two unseen cells, which any sum fits."
        ),
        experiments=("mnist-addition", "mnist-context"),
        table=_additivity_table,
        draw=_draw_additivity,
        alternative=_say_additivity,
        height=340,
    ),
)
