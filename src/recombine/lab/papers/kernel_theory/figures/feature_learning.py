"""Kernel theory: figures of what one-hot networks learn inside, and of their slopes by the number of anchors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.feature_learning import OTHER, UNIT_TYPES
from recombine.lab.papers.kernel_theory.readings.feature_learning import LAZY_SIGMA
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import palette, plot_of
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- units of rich networks


def _draw_units(canvas: Canvas, table: Table) -> None:
    heat, shares_panel = canvas.subplots(1, 2, gridspec_kw={"width_ratios": (3, 2)})
    canvas.subplots_adjust(left=0.17, right=0.985, top=0.86, bottom=0.24, wspace=0.12)
    rich = table.but(sigma=LAZY_SIGMA)
    weights = np.array([[rich.only(type=name)[f"input {i}"].mean() for i in range(8)] for name in UNIT_TYPES])
    size = float(np.abs(weights).max())
    heat.imshow(weights, cmap="RdBu_r", vmin=-2.4 * size, vmax=2.4 * size, aspect="auto")
    for row, column in np.ndindex(weights.shape):
        heat.text(column, row, f"{weights[row, column]:+.2f}", ha="center", va="center", fontsize=10, color="black")
    heat.axvline(3.5, color="black", linewidth=1.5, marker="", linestyle="-")
    votes = [f"{name}\nvotes {'same' if vote > 0 else 'different'}" for name, (_, vote) in UNIT_TYPES.items()]
    heat.set_yticks(range(4), votes, fontsize=10)
    heat.set_xticks(range(8), ["A", "A'", "B", "B'"] * 2)
    heat.set_title("Input weights, rich networks")
    for middle, words in ((1.5, "first item"), (5.5, "second item")):
        heat.text(middle, -0.16, words, transform=heat.get_xaxis_transform(), ha="center", va="center")
    heat.grid(visible=False)
    names = (*UNIT_TYPES, OTHER)
    for step, (regime, rows) in enumerate((("rich", rich), ("lazy", table.only(sigma=LAZY_SIGMA)))):
        shares = [rows.only(type=name)["share"] for name in names]
        means = [float(share.mean()) for share in shares]
        errors = [2 * float(share.std(ddof=1)) / len(share) ** 0.5 if len(share) > 1 else 0.0 for share in shares]
        positions = np.arange(len(names)) + 0.4 * step - 0.2
        colour = ("#1b6ca8", "#d9e6ec")[step]
        shares_panel.bar(
            positions, means, 0.4, yerr=errors, capsize=3, color=colour, edgecolor="0.2", linewidth=0.6, label=regime
        )
    shares_panel.set_xticks(range(len(names)), [*[str(number) for number in range(1, 5)], OTHER])
    shares_panel.set(title="Share of the strength", xlabel="type of unit, from above", ylim=(0, 1.03))
    shares_panel.legend(frameon=False, fontsize=11, loc="upper left")


def _say_units(table: Table) -> str:
    rich = table.but(sigma=LAZY_SIGMA).only(type=OTHER)["share"].max()
    lazy = table.only(sigma=LAZY_SIGMA, type=OTHER)["share"].mean()
    return f"Input weights of four types of unit; others make up {rich:.0%} of rich networks, {lazy:.0%} of lazy ones."


# ---------------------------------------------------------------------------- similarity of overlapping cells


def _draw_similarity(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.88, bottom=0.18, wspace=0.06)
    colours = palette()
    for axes, (title, rows) in zip(
        panels, (("Lazy", table.only(sigma=LAZY_SIGMA)), ("Rich", table.but(sigma=LAZY_SIGMA))), strict=True
    ):
        for index, when in enumerate(("before", "after")):
            for number, curve in enumerate(rows.only(when=when).by("seed").values()):
                style = {"color": colours[index], "linestyle": ("-", "--")[index], "linewidth": 1.2, "marker": ""}
                label = f"{when} training" if not number else None
                axes.plot(curve["similarity"], curve["level"], label=label, **style)
        axes.axvspan(0.43, 0.45, color="0.8", label="published peak, lazy" if title == "Lazy" else None, zorder=0)
        axes.set(title=title, xlabel="similarity of cells that share an item")
    panels[0].set_ylabel("share of pairs below")
    panels[0].legend(frameon=False, fontsize=11, loc="lower right")


def _say_similarity(table: Table) -> str:
    ends = table.where(np.isin(table["level"], (0.1, 0.9)))
    after = ends.but(sigma=LAZY_SIGMA).only(when="after")["similarity"]
    return f"Distributions of similarity; rich training spreads them from {after.min():.2f} to {after.max():.2f}."


# ---------------------------------------------------------------------------- slope by the number of anchors


def _anchors_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["anchors"].table, ("set", "p"), ("slope",))


def _draw_anchors(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.72, top=0.95, bottom=0.17)
    counts = np.linspace(1, 5, 81)
    for kernel, word, dash in ((OverlapKernel.relu(1, 2), "NNGP", "-"), (OverlapKernel.ntk(1, 2), "NTK", ":")):
        law = slope(kernel.salience[0], counts)
        axes.plot(counts, law, color="0.5", linestyle=dash, marker="", label=f"Eq. 3, {word}")
    for name, marker, shift in (("extrapolation", "o", -0.04), ("interpolation", "s", 0.04)):
        line = table.only(set=name)
        error = np.nan_to_num(line["slope 2se"])
        axes.errorbar(line["p"] + shift, line["slope"], error, linestyle="", marker=marker, capsize=3, label=name)
    axes.set(xlabel="anchors p", ylabel="slope on unseen sums", ylim=(0.55, 1.0))
    axes.set_xticks(range(1, 6))
    axes.legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _say_anchors(table: Table) -> str:
    return (
        f"Slopes of lazy networks rise from {table['slope'].min():.2f} to {table['slope'].max():.2f} with the anchors."
    )


FIGURES = (
    plot_of(
        "units",
        "equivalence-units",
        title="The four types of unit that solve transitive equivalence",
        caption=(
            "Left: input weights of unit length, mean over the active units of each type in rich networks (scale "
            "1e-6); "
            "A and A' are one class, B and B' the other. Right: how much of a network's strength, input weights times "
            "readout, is of each type; mean and two standard errors over six networks. The paper shows the same "
            "weights "
            "without numbers."
        ),
        draw=_draw_units,
        alternative=_say_units,
        height=380,
    ),
    plot_of(
        "similarity",
        "feature-similarity",
        title="Similarity of overlapping cells, before and after training",
        caption=(
            "Hidden features of networks on addition with one anchor: 0 is the similarity of cells that share nothing, "
            "1 "
            "that of a cell with itself. One line per network, six each. Grey: where the published distribution of "
            "lazy "
            "networks has its peak (figure 8)."
        ),
        draw=_draw_similarity,
        alternative=_say_similarity,
    ),
    Plot(
        "anchors",
        title="Slope by the number of anchors",
        caption=(
            "Lazy one-hot networks; mean and two standard errors over six seeds. Lines: the leak law with the salience "
            "of the random-feature kernel (NNGP) and of the NTK."
        ),
        experiments=("anchors",),
        table=_anchors_table,
        draw=_draw_anchors,
        alternative=_say_anchors,
    ),
)
