"""Kernel theory: figures of tasks by class, and of exposure and uneven salience."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import palette, plot_of
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

CLASSES = {"anything": "any\nanswers", "exact": "all\nanswers", "sign only": "signs\nonly", "neither": "neither"}


def _draw_tasks(canvas: Canvas, table: Table) -> None:
    classes_panel, accuracy = canvas.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": (1, 1)})
    canvas.subplots_adjust(left=0.21, right=0.985, top=0.9, bottom=0.15, wspace=0.05)
    names = table["task"].tolist()[::-1]
    rows = {row["task"]: row for row in table.rows()}
    heights = np.arange(len(names))
    columns = [list(CLASSES).index(rows[name]["class"]) for name in names]
    classes_panel.plot(columns, heights, "s", color="#1b6ca8", markersize=11, linestyle="")
    classes_panel.set_xticks(range(len(CLASSES)), list(CLASSES.values()))
    classes_panel.set(xlim=(-0.5, len(CLASSES) - 0.5), title="What sums can express")
    classes_panel.set_yticks(heights, names)
    for loss, marker, shift in (("squared", "o", 0.12), ("hinge", "D", -0.12)):
        share = np.array([rows[name][f"accuracy, {loss}"] for name in names], dtype=float)
        word = {"squared": "squared loss", "hinge": "hard margin"}[loss]
        accuracy.plot(share, heights + shift, marker, linestyle="", markersize=7, label=word, markerfacecolor="none")
    accuracy.axvline(0.5, color="0.6", linewidth=0.8, linestyle="-", marker="")
    accuracy.set(title="What a ReLU kernel gets right", xlim=(-0.05, 1.05), xlabel="accuracy on unseen cells")
    accuracy.legend(frameon=False, fontsize=11, loc="upper left")


def _say_tasks(table: Table) -> str:
    counts = {name: int((table["class"] == name).sum()) for name in CLASSES}
    anything, exact, sign, neither = counts.values()
    return (
        f"Of {len(table)} tasks, sums express {anything} with any answers, {exact} exactly, {sign} in sign and "
        f"{neither} "
        "not at all."
    )


def _exposure_table(results: Mapping[str, Evidence]) -> Table:
    listed = [
        {"panel": "exposure", "line": row["task"], "x": row["similarity"], "fitted": row["margin"]}
        | {"closed form": row["closed form"]}
        for row in results["exposure"].table.rows()
    ]
    uneven = results["uneven-salience"].table.only(second=results["uneven-salience"].table["second"].min())
    listed += [
        {"panel": "uneven", "line": f"p = {row['p']}, {'louder' if row['slot'] == 0 else 'other'} factor"}
        | {"x": row["first"], "fitted": row["slope"], "closed form": row["closed form"]}
        for row in uneven.rows()
        if row["p"] < 3
    ]
    return Table.from_rows(listed)


def _draw_exposure(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.2)
    colours = palette()
    for axes, name in zip(panels, ("exposure", "uneven"), strict=True):
        lines = table.only(panel=name)
        for index, line in enumerate(dict.fromkeys(lines["line"].tolist())):
            points = lines.only(line=line)
            order = np.argsort(points["x"])
            ink: dict[str, Any] = {"color": colours[index % len(colours)]}
            axes.plot(points["x"][order], points["closed form"][order], marker="", linestyle="-", linewidth=1.2, **ink)
            style: dict[str, Any] = {"linestyle": "", "marker": "osD^"[index % 4], "markerfacecolor": "none", **ink}
            every = max(1, len(order) // 12)
            axes.plot(points["x"][order][::every], points["fitted"][order][::every], label=line, **style)
        axes.legend(frameon=False, fontsize=11)
    panels[0].set(title="A rule carries over", xlabel="similarity k of overlapping cells", ylabel="margin, unseen cell")
    panels[1].set(title="One factor more salient", xlabel="salience of the louder factor", ylabel="slope of its items")


def _say_exposure(table: Table) -> str:
    return f"Fits lie on the closed forms, to {np.abs(table['fitted'] - table['closed form']).max():.0e}."


FIGURES = (
    plot_of(
        "tasks",
        "tasks",
        title="Tasks by class",
        caption=(
            "Left: what sums of seen conjunctions can express of the unseen answers. Right: what the kernel of one "
            "random "
            "ReLU layer gets right, where answers are -1 and +1 (a zero counts one half). Being expressible is not "
            "being "
            "learned: CD-3 is in the second class. In the first, any answers would be expressed."
        ),
        draw=_draw_tasks,
        alternative=_say_tasks,
        height=430,
    ),
    Plot(
        "exposure",
        title="Exposure and uneven salience",
        caption=(
            "Lines: closed forms; marks: exact fits. Left: invariance (the rule is seen with one level of the other "
            "factor) and partial exposure (with all but one cell). Right: addition with one or two anchors; the other "
            "factor has the smallest salience of the grid."
        ),
        experiments=("exposure", "uneven-salience"),
        table=_exposure_table,
        draw=_draw_exposure,
        alternative=_say_exposure,
    ),
)
