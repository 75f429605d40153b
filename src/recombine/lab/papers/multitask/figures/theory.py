"""Multi-task learning and pretraining: figures of theory alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.figures.words import draw_published, named_lines
from recombine.lab.papers.multitask.published import AUXILIARY_SIZES, ORDERS
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, palette, powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- penalties

#: Penalty -> its words, and its place in the colour cycle: PT+FT and MTL look as in the other figures.
SHOWN = {
    "PT+FT, k = B/2": ("PT+FT, exact", 0),
    "PT+FT, k = B": ("PT+FT, published form", 4),
    "MTL": ("MTL", 2),
    "ReLU, cosine 1": ("ReLU, cosine 1", 3),
    "ReLU, cosine 0.9": ("ReLU, cosine 0.9", 5),
}


def _penalties_table(results: Mapping[str, Evidence]) -> Table:
    """Penalties have units of their own: what tells them apart is how a price changes with B."""
    rows = results["penalties"].table
    rows = rows.where(np.isin(rows["penalty"], list(SHOWN)))
    base = {name: line["price"][line["ratio"].argmin()] for name, line in rows.by("penalty").items()}
    relative = rows["price"] / np.array([base[name] for name in rows["penalty"].tolist()])
    return Table({**{name: rows[name] for name in rows.columns}, "relative price": relative})


def _draw_penalties(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True)
    canvas.subplots_adjust(left=0.085, right=0.79, top=0.9, bottom=0.17, wspace=0.24)
    for number, (name, (label, shade)) in enumerate(SHOWN.items()):
        line = table.only(penalty=name)
        style: dict[str, Any] = {"color": palette()[shade], "linestyle": DASHES[number % 4], "marker": "osD^v"[number]}
        for axes, column in zip(panels, ("relative price", "order"), strict=True):
            axes.plot(line["ratio"], line[column], label=label, markevery=0.12, **style)
        if name in ORDERS:
            draw_published(panels[1], AUXILIARY_SIZES, ORDERS[name], style)
    panels[0].set(ylabel="price / price at B = 0.0001", title="Penalty")
    powers_of_ten(panels[0], "x", "y")
    panels[1].set(ylabel="order of the penalty", title="Order", ylim=(0, 2.08), yticks=(0, 0.5, 1, 1.5, 2))
    panels[1].axhline(1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    for axes in panels:
        powers_of_ten(axes, "x")
        axes.set_xlabel("feature's size in the auxiliary task, B")
    about: dict[str, Any] = {"frameon": False, "fontsize": 11, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    panels[1].legend(*named_lines(panels[1]), **about, handlelength=2.4)


def _say_penalties(table: Table) -> str:
    at = [table.only(penalty=name) for name in ("PT+FT, k = B/2", "PT+FT, k = B", "MTL")]
    orders = [float(rows["order"][np.argmin(np.abs(np.log10(rows["ratio"]) + 3))]) for rows in at]
    return (
        f"Price and order by size of the known feature; the order at B = 0.001: PT+FT {orders[0]:.3f} ({orders[1]:.3f} "
        f"in the published form), MTL {orders[2]:.3f}."
    )


# ---------------------------------------------------------------------------- where multi-task flow ends


def _group_table(results: Mapping[str, Evidence]) -> Table:
    """Random starts have no size of their own: their number is not one."""
    rows = results["group-norm"].table
    size = np.where(rows["route"] == "gradient flow", rows["start"], np.nan)
    return Table({"route": rows["route"], "weights at the start": size, "group norm": rows["group norm"]})


def _draw_group(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.96, top=0.95, bottom=0.18)
    flow = table.only(route="gradient flow")
    axes.plot(flow["weights at the start"], flow["group norm"], label="gradient flow, no decay")
    lowest = float(table.only(route="cone program")["group norm"][0])
    axes.axhline(lowest, color="0.3", linestyle=":", marker="", label=f"least group norm, {lowest:.4f}")
    decay = table.only(route="weight decay")["group norm"]
    # At the margin: these starts are random, not small.
    style: dict[str, Any] = {"linestyle": "", "marker": "D", "clip_on": False, "transform": axes.get_yaxis_transform()}
    axes.plot(np.ones(len(decay)), decay, label=f"vanishing weight decay, {len(decay)} random starts", **style)
    axes.set(xlabel="size of all weights before gradient flow", ylabel="group norm of the solution")
    powers_of_ten(axes, "x")
    axes.invert_xaxis()
    axes.legend(frameon=False, fontsize=11.5, loc="upper left")


def _say_group(table: Table) -> str:
    last = float(table.only(route="gradient flow")["group norm"][-1])
    return f"Flow from smaller weights ends at larger group norms, {last:.4f} in the end; weight decay at the least."


FIGURES = (
    Plot(
        "penalties",
        title="What a known feature costs",
        caption=(
            "Price (over that of a feature which is hardly known) and order of each penalty for a coefficient of one, "
            "by the size B that the feature has in the auxiliary task: pretraining and finetuning (PT+FT) and "
            "multi-task learning (MTL) of diagonal networks, and PT+FT of a ReLU unit at a cosine to the known one. "
            "Order 2 is ridge, order 1 lasso; order and feature dependence, the slope of the price, add to one. Small "
            "grey marks: the formulas in the code of the authors' figure “penalties”, evaluated apart from ours."
        ),
        experiments=("penalties",),
        table=_penalties_table,
        draw=_draw_penalties,
        alternative=_say_penalties,
        height=350,
    ),
    Plot(
        "group-norm",
        title="Where multi-task training ends",
        caption=(
            "Six inputs, three samples of the main and four of the auxiliary task. Weight decay leads to the least "
            "group norm from every random start (diamonds at the margin, one upon the other), gradient flow from small "
            "weights without decay leads away from it. The problem is ours, so that there is no published number."
        ),
        experiments=("group-norm",),
        table=_group_table,
        draw=_draw_group,
        alternative=_say_group,
        height=300,
    ),
)
