"""Multi-task learning and pretraining: the figure of directions and dimensions of hidden units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.experiments.hidden_units import CLUSTERS, ONE_KNOWN
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: What a line is of: method, task and number of samples, few or many.
LINES = {
    ("stl", "6 new", True): "single task, few samples",
    ("stl", "6 new", False): "single task, many samples",
    ("pt+ft", "1 x 6", True): "PT+FT, few samples",
    ("mtl", "1 x 6", True): "MTL, few samples",
}
COLOURS = ("#999999", "#000000", "#0072b2", "#d55e00")


def _table(results: Mapping[str, Evidence]) -> Table:
    """Return spread by clusters of six units, and by factor of one known unit, in one column ``at``."""
    rows, listed = results["hidden-units"].table, []
    few = rows["n"].min()
    for row in rows.rows():
        kind = LINES.get((row["method"], row["task"], bool(row["n"] == few)))
        if kind and row["scaling"] == 1:
            listed += [
                {"of": kind, "at": float(k), "seed": row["seed"], "value": row[f"inertia {k}"]} for k in CLUSTERS
            ]
        if row["task"] == ONE_KNOWN and row["method"] == "pt+ft":
            listed.append({"of": "dimensions", "at": row["scaling"], "seed": row["seed"], "value": row["dimensions"]})
    return over_seeds(Table.from_rows(listed), ("of", "at"), ("value",))


def _bars(axes: Axes, table: Table, label: str, **style: Any) -> None:
    order = np.argsort(table["at"])
    half = np.nan_to_num(table["value 2se"][order])
    axes.errorbar(table["at"][order], table["value"][order], half, label=label, capsize=3, **style)


def _draw(canvas: Canvas, table: Table) -> None:
    spreads, right = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, wspace=0.16, bottom=0.16, top=0.84)
    for words, colour, marker in zip(LINES.values(), COLOURS, "osDX", strict=True):
        line = table.only(of=words)
        if len(line):
            _bars(spreads, line, words, color=colour, marker=marker)
    spreads.set(xlabel="clusters", ylabel="spread of directions left", ylim=(0, None), xticks=CLUSTERS)
    spreads.set_title("Six units", fontsize=12)
    dimensions = table.only(of="dimensions")
    _bars(right, dimensions, "", color="#009e73", marker="o")
    factors = np.unique(dimensions["at"])
    right.set(xscale="log", xlabel="factor on pretrained weights", ylabel="dimensions (participation ratio)")
    right.set_xticks(factors, [f"{factor:g}" for factor in factors])
    right.minorticks_off()
    right.set_ylim(0, None)
    right.set_title("One of six known units is needed", fontsize=12)
    spreads.legend(frameon=False, fontsize=11)


def _say(table: Table) -> str:
    dimensions = table.only(of="dimensions")
    ends = dimensions.where(np.argsort(dimensions["at"]))["value"]
    return (
        "Directions of hidden units by number of clusters, and by factor on pretrained weights: dimensions "
        f"{ends[0]:.2g} from the smallest, {ends[-1]:.2g} from the largest."
    )


FIGURES = (
    Plot(
        "hidden-units",
        title="What hidden units of ReLU students turn to",
        caption=(
            "Left: how much of the spread of directions of hidden units k-means with so many clusters leaves; the "
            "teacher has six units. Single tasks learn new units, PT+FT and MTL those of the auxiliary task; few are "
            "64 samples, many 256. Right: dimensions of hidden activity after finetuning on one of six known units. "
            "Bars: two standard errors over n seeds."
        ),
        experiments=("hidden-units",),
        table=_table,
        draw=_draw,
        alternative=_say,
    ),
)
