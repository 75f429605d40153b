"""Kernel theory: figures of networks on images. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.measures.outputs.contributions import KINDS
from recombine.papers.kernel_theory.readings.images import EQUIVALENCE
from recombine.papers.paper import Plot
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Read from the published figures, at distances 0, 5, 10, 15 and 20.
DISTANCES = (0, 5, 10, 15, 20)
PUBLISHED = {
    "extrapolation": (0.554, 0.605, 0.692, 0.747, 0.776),
    "interpolation": (0.653, 0.692, 0.763, 0.806, 0.834),
    "both": (0.656, 0.699, 0.774, 0.819, 0.833),
    "CD-1, logistic": (0.894, 0.910, 0.940, 0.953, 0.963),
    "CD-2, logistic": (0.839, 0.870, 0.913, 0.942, 0.944),
    "CD-3, logistic": (0.503, 0.424, 0.363, 0.288, 0.229),
    "four anchors, logistic": tuple(EQUIVALENCE.values()),
}
PANELS = {"addition": "slope", "context dependence": "accuracy", "equivalence": "accuracy"}


# ---------------------------------------------------------------------------- by distance


def _distance_table(results: Mapping[str, Evidence]) -> Table:
    listed = []
    sums = over_seeds(results["mnist-addition"].table, ("set", "distance"), ("slope",))
    for row in sums.rows():
        listed.append(_point("addition", row["set"], row, "slope"))
    blocks = over_seeds(results["mnist-context"].table, ("task", "loss", "distance"), ("accuracy",))
    for row in blocks.rows():
        listed.append(_point("context dependence", f"{row['task']}, {row['loss']}", row, "accuracy"))
    if "mnist-equivalence" in results:
        words = {1: "one anchor", 4: "four anchors"}
        pairs = over_seeds(results["mnist-equivalence"].table, ("anchors", "loss", "distance"), ("accuracy",))
        for row in pairs.rows():
            listed.append(_point("equivalence", f"{words[row['anchors']]}, {row['loss']}", row, "accuracy"))
    return Table.from_rows(sorted(listed, key=lambda row: (row["panel"], row["line"], row["distance"])))


def _point(panel: str, line: str, row: Mapping[str, object], name: str) -> dict[str, object]:
    named = line.replace("mse", "squared")
    return {"panel": panel, "line": named, "distance": row["distance"], "value": row[name]} | {
        "value 2se": row[f"{name} 2se"],
        "n": row["n"],
    }


def _draw_distance(canvas: Canvas, table: Table) -> None:
    shown = [panel for panel in PANELS if len(table.only(panel=panel))]
    panels = canvas.subplots(1, len(shown), squeeze=False)[0]
    canvas.subplots_adjust(left=0.07, right=0.99, top=0.89, bottom=0.33, wspace=0.25)
    for axes, panel in zip(panels, shown, strict=True):
        points = table.only(panel=panel)
        for line in dict.fromkeys(points["line"].tolist()):
            draw_band(axes, points.only(line=line), "distance", "value", line)
            # Digits have another geometry, so the published curves are shown for MNIST alone.
            if line in PUBLISHED and points["distance"].max() == max(DISTANCES):
                colour = axes.lines[-1].get_color()
                axes.plot(DISTANCES, PUBLISHED[line], "x", color=colour, markersize=6, linestyle="none")
        axes.set(xlabel="distance (pixels)", ylabel=f"{PANELS[panel]} on unseen cells", title=panel.capitalize())
        axes.legend(
            frameon=False,
            fontsize=10,
            ncols=1 if len(axes.lines) < 5 else 2,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.2),
        )


def _say_distance(table: Table) -> str:
    hard = {loss: table.only(panel="context dependence", line=f"CD-3, {loss}") for loss in ("logistic", "squared")}
    ends = {loss: rows["value"][np.argsort(rows["distance"])][[0, -1]] for loss, rows in hard.items() if len(rows)}
    words = "; ".join(f"CD-3 under {loss} loss {first:.2f} to {last:.2f}" for loss, (first, last) in ends.items())
    return f"Slopes and accuracies of ConvNets by the distance between component images. {words}."


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


def _draw_values(canvas: Canvas, table: Table) -> None:
    sets = list(dict.fromkeys(table["set"].tolist()))
    panels = canvas.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.89, bottom=0.17, wspace=0.08)
    for axes, name in zip(panels, sets, strict=True):
        axes.plot([-4, 4], [-4, 4], color="0.6", linewidth=0.8, linestyle="-", marker="", label="truth")
        shown = table.only(set=name)
        for distance in sorted(set(shown["distance"].tolist())):
            draw_band(axes, shown.only(distance=distance), "item", "value", f"distance {distance}")
        axes.set(xlabel="item", title=str(name).capitalize())
    panels[0].set_ylabel("what the item adds to unseen sums")
    panels[0].legend(frameon=False, fontsize=11)


def _say_values(table: Table) -> str:
    return "Value of each item in unseen sums, by distance: straight lines flatter than the truth, steeper when apart."


# ---------------------------------------------------------------------------- what networks lean on


def _kinds_table(results: Mapping[str, Evidence]) -> Table:
    """Shares of the kinds, so that losses with outputs of different sizes can be compared."""
    rows = results["mnist-context"].table
    distances = sorted(set(rows["distance"].tolist()))
    listed = []
    for row in over_seeds(rows, ("task", "loss", "distance"), tuple(KINDS)).rows():
        if row["distance"] in (distances[0], distances[-1]):
            total = sum(row[kind] for kind in KINDS)
            about = {"task": row["task"], "loss": row["loss"].replace("mse", "squared"), "distance": row["distance"]}
            listed += [{**about, "kind": kind, "share": row[kind] / total, "n": row["n"]} for kind in KINDS]
    return Table.from_rows(listed)


def _draw_kinds(canvas: Canvas, table: Table) -> None:
    groups = sorted({(row["task"], row["loss"]) for row in table.rows()})
    groups = [group for task in ("CD-3", "CD-2", "CD-1") for group in groups if group[0] == task]
    panels = canvas.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.3, wspace=0.08)
    for axes, (task, loss) in zip(panels, groups, strict=True):
        _bars(axes, table.only(task=task, loss=loss))
        axes.set_title(f"{task}, {loss}", fontsize=12.5)
    panels[0].set_ylabel("share of the contributions")
    panels[0].legend(frameon=False, fontsize=11, loc="upper right")


def _bars(axes: Axes, shown: Table) -> None:
    distances = sorted(set(shown["distance"].tolist()))
    places, width = np.arange(len(KINDS)), 0.8 / len(distances)
    for offset, (distance, colour) in enumerate(zip(distances, ("#1b6ca8", "#d9e6ec"), strict=False)):
        here = shown.only(distance=distance)
        heights = [float(here.only(kind=kind)["share"][0]) for kind in KINDS]
        style: dict[str, Any] = {"color": colour, "edgecolor": "0.2", "linewidth": 0.6}
        axes.bar(places + (offset - 0.5) * width, heights, width, label=f"distance {distance}", **style)
    axes.set_xticks(places, KINDS, rotation=50, ha="right", fontsize=11)
    axes.grid(visible=False, axis="x")


def _say_kinds(table: Table) -> str:
    hard = table.only(task="CD-3", loss="logistic", kind="context")
    shares = ", ".join(f"{row['share']:.0%} at distance {row['distance']}" for row in hard.rows())
    return f"Bars of what ConvNets lean on. Context under logistic loss on CD-3: {shares}."


FIGURES = (
    Plot(
        "distance",
        title="Pairs of images by distance",
        caption=(
            "ConvNets on pairs (addition, equivalence) and triples (context) of images; mean and two standard errors "
            "over seeds. Crosses: read from the published figures."
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
            "Value of each item that was no anchor, in sums of unseen pairs; mean and two standard errors over seeds."
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
            "Mean absolute contribution of seen conjunctions of each kind, as a share of the sum over kinds; means "
            "over seeds. Right and wrong: the context with the feature that counts in it, or with the other one."
        ),
        experiments=("mnist-context",),
        table=_kinds_table,
        draw=_draw_kinds,
        alternative=_say_kinds,
        height=360,
    ),
)
