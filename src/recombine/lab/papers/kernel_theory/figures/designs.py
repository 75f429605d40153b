"""Kernel theory: the figure of training sets, their errors and what theory and leverage say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds, rank_correlation
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PANELS = {"theory": "Kernel theory", "leverage": "Leverage"}
AXES = {"theory": "error that theory predicts from the inputs", "leverage": "mean leverage of unseen cells"}


def _table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["designs"].table, ("design", "theory", "leverage"), ("error",))


def _draw(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.17, wspace=0.06)
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        half = np.nan_to_num(table["error 2se"])
        axes.errorbar(table[name], table["error"], half, linestyle="", marker="o", color="#0072b2", elinewidth=0.8)
        axes.set_title(f"{title}: rank correlation {rank_correlation(table[name], table['error']):.2f}", fontsize=12)
        axes.set_xlabel(AXES[name])
    panels[0].set_ylabel("networks' error on unseen cells")


def _say(table: Table) -> str:
    values = [rank_correlation(table[name], table["error"]) for name in PANELS]
    return (
        f"Errors of networks on {len(table)} training sets: rank correlation {values[0]:.2f} with theory, "
        f"{values[1]:.2f} with leverage."
    )


FIGURES = (
    Plot(
        "designs",
        title="Which training sets are good, told before training",
        caption=(
            "Each mark is a training set of 18 of 81 sums of two digits: squared error of trained networks on the "
            "unseen sums, mean and two standard errors over seeds, by what kernel theory says of the set and by its "
            "leverage if effects add. The paper has no such figure."
        ),
        experiments=("designs",),
        table=_table,
        draw=_draw,
        alternative=_say,
    ),
)
