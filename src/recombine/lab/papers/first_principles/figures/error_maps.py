"""First principles: the figure of supports, what they leave open and where decoders err."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import rank_correlation
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PANELS = {
    "theory": ("What the support leaves open", "mean open variance of unseen cells"),
    "way": ("Way to a seen combination", "mean way from an unseen cell to a seen one"),
}


def _table(results: Mapping[str, Evidence]) -> Table:
    return Table.from_rows(
        {"support": number, **{name: float(group[name].mean()) for name in ("theory", "way", "error")}}
        for number, group in results["error-maps"].table.by("support").items()
    )


def _draw(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.17, wspace=0.06)
    for axes, (name, (title, label)) in zip(panels, PANELS.items(), strict=True):
        axes.plot(table[name], table["error"], linestyle="", marker="o", color="#0072b2", alpha=0.8)
        axes.set_title(f"{title}: rank correlation {rank_correlation(table[name], table['error']):.2f}", fontsize=12)
        axes.set(xlabel=label, yscale="log")
    panels[0].set(xscale="log", ylabel="error on unseen cells")
    powers_of_ten(panels[0], "x")
    powers_of_ten(panels[0], "y")


def _say(table: Table) -> str:
    values = [rank_correlation(table[name], table["error"]) for name in PANELS]
    return (
        f"Errors of decoders on {len(table)} supports: rank correlation {values[0]:.2f} with what the support leaves "
        f"open, {values[1]:.2f} with the way to seen cells. Smallest error {np.min(table['error']):.2g}."
    )


FIGURES = (
    Plot(
        "support-errors",
        title="What a support leaves open, and how much decoders err",
        caption=(
            "Each mark is a support, a random union of planes, a band and single cells of a small world of two slots: "
            "mean squared error of trained decoders on unseen cells, by the variance that the stacked derivatives of "
            "the seen cells leave open there, and by the distance to the nearest seen cell. Our own experiment."
        ),
        experiments=("error-maps",),
        table=_table,
        draw=_draw,
        alternative=_say,
    ),
)
