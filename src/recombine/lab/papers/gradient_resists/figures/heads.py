"""Gradient resists: the figure of slopes. Bands are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

KEYS = ("images", "setting", "heads", "output", "step")


def _table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["heads"].table, KEYS, ("slope by left", "slope by right", "excess information"))


def _draw(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.89, bottom=0.36, wspace=0.3)
    single, double = table.only(heads=1), table.only(heads=2)
    for setting in "AB":
        for side in ("left", "right"):
            draw_band(panels[0], single.only(setting=setting), "step", f"slope by {side}", f"{setting}, by {side}")
    for setting in "AB":
        for output, side in ((1, "right"), (2, "left")):
            line = double.only(setting=setting, output=output)
            draw_band(panels[1], line, "step", f"slope by {side}", f"{setting}, M{'₁₂' if output == 1 else '₂₁'}")
            draw_band(panels[2], line, "step", "excess information", f"{setting}, output {output}")
    titles = ("One output: its slopes", "Two outputs: crossed slopes", "Two outputs: crossed bits")
    for axes, title in zip(panels, titles, strict=True):
        _finish(axes, title, "bits beyond chance" if axes is panels[2] else "mean size of the derivative")


def _finish(axes: Axes, title: str, label: str) -> None:
    axes.set(xlabel="training steps", ylabel=label)
    axes.set_title(title, fontsize=12.5)
    axes.axhline(0, color="0.6", linewidth=0.8, linestyle="-", marker="", zorder=0)
    axes.legend(frameon=False, fontsize=11, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))


def _say(table: Table) -> str:
    last = table.where((table["step"] == table["step"].max()) & (table["heads"] == 2) & (table["output"] == 1))
    ends = {row["setting"]: row for row in last.rows()}
    return (
        "Slopes over training. With two outputs, the first one's slope by the right image ends at "
        f"{ends['A']['slope by right']:.1f} in A and {ends['B']['slope by right']:.1f} in B, and its prediction has "
        f"{ends['A']['excess information']:.2f} and {ends['B']['excess information']:.2f} bits about the right label."
    )


FIGURES = (
    Plot(
        "slopes",
        title="Each output depends on each image, and most where the other one helps",
        caption=(
            "Mean size of the derivative of the true class by an image: of the paper's network with one output "
            "(left), and of networks that learn both labels, by the image that should not matter (middle). Right: "
            "what each prediction tells about the other label beyond its own. Bands are two standard errors over n "
            "seeds."
        ),
        experiments=("heads",),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=380,
    ),
)
