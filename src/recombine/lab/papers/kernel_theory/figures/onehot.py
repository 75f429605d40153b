"""Kernel theory: figures of trained networks. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.onehot import FITTED_LOSS
from recombine.lab.papers.kernel_theory.readings.onehot import SYMMETRIC
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band, palette
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- lazy and rich addition


def _slopes_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["onehot-addition"].table
    fitted = rows.where((rows["train loss"] <= FITTED_LOSS) & np.isin(rows["set"], list(SYMMETRIC)))
    return over_seeds(fitted, ("set", "sigma"), ("slope",))


#: Published slopes by initial scale, read from figure 8.
PUBLISHED = {
    1.0: {"extrapolation": 0.746, "interpolation": 0.848, "both": 0.851},
    1e-6: {"extrapolation": 0.761, "interpolation": 0.994, "both": 0.912},
}


#: Sets are drawn side by side, each by this factor to the right of the one before.
SIDE_BY_SIDE_FACTOR = 1.5


def _draw_slopes(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.7, top=0.95, bottom=0.17)
    for index, (name, p) in enumerate(SYMMETRIC.items()):
        line = table.only(set=name)
        order = np.argsort(line["sigma"])
        beside = line["sigma"][order] * SIDE_BY_SIDE_FACTOR ** (index - 1)
        band = np.nan_to_num(line["slope 2se"][order])
        axes.errorbar(beside, line["slope"][order], band, capsize=3, label=f"{name}, p = {p}")
        published = [(sigma * SIDE_BY_SIDE_FACTOR ** (index - 1), PUBLISHED[sigma][name]) for sigma in PUBLISHED]
        label = "published (figure 8)" if not index else None
        style: dict[str, Any] = {"linestyle": "", "marker": "x", "color": "0.4", "markersize": 10, "zorder": 5}
        axes.plot(*zip(*published, strict=True), label=label, markeredgewidth=1.8, **style)
    for kernel, colour, dash, word in (
        (OverlapKernel.relu(1, 2), "0.25", "-", "NNGP"),
        (OverlapKernel.ntk(1, 2), "0.6", "--", "NTK"),
    ):
        for p in (1, 2):
            height = float(slope(kernel.salience[0], p))
            axes.plot([0.4, 3.0], [height, height], color=colour, linestyle=dash, linewidth=1.6, marker="")
            # Two of the lines lie almost on each other: one label goes above, one below.
            side = {("NNGP", 1): "bottom", ("NTK", 2): "top"}.get((word, p), "center")
            axes.annotate(f"{word}, p = {p}", (3.2, height), fontsize=10.5, va=side, annotation_clip=False)
    axes.set(xscale="log", xlabel="initial scale (rich at the left, lazy at the right)", ylabel="slope on unseen sums")
    scales = np.unique(table["sigma"]).tolist()
    axes.set_xlim(scales[0] / 2, 3.0)
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.13, 1.02))


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

    panels = canvas.subplots(1, 3, sharex=True)
    canvas.subplots_adjust(left=0.065, right=0.985, top=0.89, bottom=0.17, wspace=0.25)
    colours = palette()
    for axes, (sigma, word) in zip(panels, ((1e-6, "Rich"), (1.0, "Lazy")), strict=False):
        line = table.only(sigma=sigma)
        order = np.argsort(line["step"])
        steps = line["step"][order]
        # The wide pale line of seen pairs stays in sight where unseen ones run on top of it.
        axes.plot(
            steps, line["train accuracy"][order], color=colours[1], alpha=0.45, linewidth=7, marker="", label="seen"
        )
        middle, half = line["accuracy"][order], np.nan_to_num(line["accuracy 2se"][order])
        axes.plot(steps, middle, color=colours[2], linestyle="-", linewidth=1.8, marker="", label="unseen")
        axes.fill_between(steps, middle - half, middle + half, color=colours[2], alpha=0.15, lw=0)
        axes.axhline(0.5, color="0.6", linewidth=0.8, linestyle="-", marker="")
        axes.set(title=f"{word}: accuracy", xlabel="steps", ylim=(0.1, 1.05))
        draw_band(panels[2], line, "step", "margin", word.lower())
    panels[1].axhspan(0.42, 0.5, color="0.75", alpha=0.6, zorder=0, label="unseen, published")
    panels[0].plot([], [], marker="x", color="0.4", linestyle="", label="published end")
    panels[0].plot([float(table["step"].max())], [1.0], marker="x", color="0.4", markersize=11, markeredgewidth=2)
    panels[2].set(title="Margin on unseen pairs", xlabel="steps")
    for axes in panels:
        axes.xaxis.set_major_locator(MaxNLocator(3))
    panels[0].legend(frameon=False, fontsize=11, loc="center right")
    panels[1].legend(frameon=False, fontsize=10.5, loc=(0.3, 0.68))
    panels[2].legend(frameon=False, fontsize=11, loc="center right")


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
            "One hidden layer of ReLU units, one-hot inputs; mean and two standard errors over six seeds. Lines at the "
            "right: what kernel theory says of lazy networks for the random-feature kernel (NNGP) and for the NTK. "
            "Grey crosses: published (figure 8)."
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
        caption=(
            "Squared loss, initial scale 1e-6 (rich) and 1 (lazy); mean and two standard errors over six seeds. Grey: "
            "where published accuracies on unseen pairs end (figure 5)."
        ),
        experiments=("onehot-equivalence",),
        table=_equivalence_table,
        draw=_draw_equivalence,
        alternative=_say_equivalence,
    ),
)
