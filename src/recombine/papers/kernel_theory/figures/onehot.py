"""Kernel theory: figures of trained networks. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.papers.kernel_theory.experiments.onehot import FITTED
from recombine.papers.kernel_theory.readings.onehot import SYMMETRIC
from recombine.papers.paper import Plot
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- lazy and rich addition


def _slopes_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["onehot-addition"].table
    kept = rows.where((rows["train loss"] <= FITTED) & np.isin(rows["set"], list(SYMMETRIC)))
    return over_seeds(kept, ("set", "sigma"), ("slope",))


def _draw_slopes(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.72, top=0.95, bottom=0.17)
    for name, p in SYMMETRIC.items():
        line = table.only(set=name)
        order = np.argsort(line["sigma"])
        band = np.nan_to_num(line["slope 2se"][order])
        axes.errorbar(line["sigma"][order], line["slope"][order], band, capsize=3, label=f"{name}, p = {p}")
    for p, dash in ((1, ":"), (2, "-.")):
        for kernel, colour, word in (
            (OverlapKernel.relu(1, 2), "0.25", "NNGP"),
            (OverlapKernel.ntk(1, 2), "0.6", "NTK"),
        ):
            height = float(slope(kernel.salience[0], p))
            label = f"{word}, p = {p}: {height:.3f}"
            axes.axhline(height, color=colour, linestyle=dash, linewidth=1, marker="", label=label)
    axes.set(xscale="log", xlabel="initial scale (rich at the left, lazy at the right)", ylabel="slope on unseen sums")
    scales = np.unique(table["sigma"]).tolist()
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _say_slopes(table: Table) -> str:
    lazy = [float(table.only(set=name, sigma=1.0)["slope"][0]) for name in SYMMETRIC]
    return f"Slopes of trained networks by initial scale; lazy ones reach {', '.join(f'{v:.2f}' for v in lazy)}."


# ---------------------------------------------------------------------------- transitive equivalence over time


def _equivalence_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["onehot-equivalence"].table.only(loss="mse")
    ends = rows.where(np.isin(rows["sigma"], (1.0, 1e-6)))
    return over_seeds(ends, ("sigma", "step"), ("train accuracy", "accuracy", "margin"))


def _draw_equivalence(canvas: Canvas, table: Table) -> None:
    from matplotlib.ticker import MaxNLocator

    panels = canvas.subplots(1, 2, sharex=True)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.2)
    for sigma, word in ((1e-6, "rich"), (1.0, "lazy")):
        line = table.only(sigma=sigma)
        for axes, names in zip(panels, (("train accuracy", "accuracy"), ("margin",)), strict=True):
            for name in names:
                what = {"train accuracy": "seen", "accuracy": "unseen", "margin": "unseen"}[name]
                draw_band(axes, line, "step", name, f"{word}, {what} pairs")
    panels[0].axhline(0.5, color="0.6", linewidth=0.8, linestyle="-", marker="")
    panels[0].set(ylabel="accuracy", title="Transitive equivalence", xlabel="steps", ylim=(0.2, 1.03))
    panels[1].set(ylabel="margin on unseen pairs", title="How sure", xlabel="steps")
    for axes in panels:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    panels[0].legend(frameon=False, fontsize=11, loc=(0.42, 0.57))
    panels[1].legend(frameon=False, fontsize=11)


def _say_equivalence(table: Table) -> str:
    ends = {sigma: table.only(sigma=sigma)["accuracy"][-1] for sigma in (1e-6, 1.0)}
    return (
        f"Accuracy over training: rich networks end at {ends[1e-6]:.0%} on unseen pairs, lazy ones at {ends[1.0]:.0%}."
    )


FIGURES = (
    Plot(
        "slopes",
        title="Lazy and rich networks on addition",
        caption=(
            "One hidden layer of ReLU units, one-hot inputs; mean and two standard errors over seeds. Lines: what "
            "kernel theory says for the random-feature kernel (NNGP) and for the NTK."
        ),
        experiments=("onehot-addition",),
        table=_slopes_table,
        draw=_draw_slopes,
        alternative=_say_slopes,
        height=360,
    ),
    Plot(
        "equivalence",
        title="Transitive equivalence, rich and lazy",
        caption="Squared loss, initial scale 1e-6 (rich) and 1 (lazy); mean and two standard errors over seeds.",
        experiments=("onehot-equivalence",),
        table=_equivalence_table,
        draw=_draw_equivalence,
        alternative=_say_equivalence,
    ),
)
