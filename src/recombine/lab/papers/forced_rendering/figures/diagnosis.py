"""Forced rendering: what tells composing from failing decoders, and how failure goes with depth and with sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.forced_rendering.figures.decoders import draw_rows, listed, table_over_seeds
from recombine.lab.papers.forced_rendering.figures.pictures import BLUE, INK, SOFT, TARGET
from recombine.lab.papers.forced_rendering.figures.published import DEMO_DEPTH, DEMO_ERRORS, GREY, mark_published
from recombine.lab.papers.forced_rendering.readings.geometry import MIN_CORRELATION, SIGNS, composing, ranked_above
from recombine.lab.papers.forced_rendering.readings.rows import one_target
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Weight of the best product in the kernel of a one-hot code of 28 levels: 1/2 + sqrt(28) / 29.
ONE_HOT_WEIGHT = 0.5 + 28**0.5 / 29
GROUPS = {
    "CNN": ("o", "none", INK),
    "CNN with stripes": ("s", BLUE, BLUE),
    "MLP": ("^", "none", "#c2551b"),
    "MLP with stripes": ("v", "#c2551b", "#c2551b"),
}


def _networks(results: Mapping[str, Evidence]) -> Table:
    """One row per network of the released target: what it is, its signs, and whether it composes."""
    rows = []
    for row in one_target(results["stripes"].table).rows():
        if np.isfinite(row["kernel factorization"]):
            group = f"{row['model'].upper()}{' with stripes' if row['stripes'] else ''}"
            signs = {sign: float(row[column]) for sign, column in SIGNS.items()}
            rows.append({"group": group, "code": row["code"], "seed": row["seed"], **signs} | _success(row))
    return Table.from_rows(rows)


def _success(row: dict[str, float]) -> dict[str, float]:
    return {name: float(row[name]) for name in ("unseen peaks", "correlation")}


def _draw_kernel(canvas: Canvas, table: Table) -> None:
    by_f, by_k = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.84, bottom=0.15, wspace=0.07)
    for axes, sign in ((by_f, "F"), (by_k, "F_K")):
        for group, (mark, face, edge) in GROUPS.items():
            rows = table.only(group=group)
            if not len(rows):
                continue
            style = {"marker": mark, "markerfacecolor": face, "markeredgecolor": edge, "linestyle": "none"}
            axes.plot(rows[sign], rows["correlation"], markersize=5, alpha=0.75, label=group, **style)
        axes.axhline(MIN_CORRELATION, color=SOFT, linewidth=1, linestyle=":", marker="")
        area = ranked_above(table[sign], composing(table))
        axes.set_title(f"composing above failing: {area:.2f}", fontweight="normal", fontsize=12)
    by_k.axvline(ONE_HOT_WEIGHT, color=SOFT, linewidth=1, linestyle="--", marker="")
    by_k.text(ONE_HOT_WEIGHT, 1.04, " one-hot code", color=SOFT, fontsize=10.5, va="top")
    by_f.set(xlabel="F, directions of the factors", ylabel="correlation with the right image, hole")
    by_k.set(xlabel="F_K, best product in the kernel of images", ylim=(-0.1, 1.05))
    canvas.legend(*by_f.get_legend_handles_labels(), frameon=False, ncols=4, loc="upper left", bbox_to_anchor=(0.06, 1))


def _say_kernel(table: Table) -> str:
    good = composing(table)
    texts = [f"{sign} {ranked_above(table[sign], good):.2f}" for sign in SIGNS]
    return f"Share of pairs in which a composing network is ranked above a failing one: {', '.join(texts)}."


def _depth_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(
        one_target(results["depth"].table), ("model", "code", "depth"), ("unseen peaks", "relative error")
    )


def _draw_depth(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.06, right=0.985, top=0.88, bottom=0.17, wspace=0.12)
    titles = {"unseen peaks": "peaks in place, hole", "relative error": "error in the hole / error of a blank image"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        for (model, code), rows in table.by("model", "code").items():
            draw_band(axes, rows, "depth", name, f"{model.upper()}, {code}")
        axes.set(title=title, xlabel="layers")
    if {"bump", "ramp"} <= set(table["code"].tolist()) and DEMO_DEPTH in table["depth"]:
        mark_published(panels[1], [DEMO_DEPTH] * 2, [DEMO_ERRORS["bump"], DEMO_ERRORS["ramp"]], "released notebooks")
        for code, error in DEMO_ERRORS.items():
            panels[1].text(DEMO_DEPTH + 0.2, error, code, color=GREY, fontsize=10.5, va="center")
        panels[1].set_xlim(None, DEMO_DEPTH + 1.3)
    panels[0].set_ylim(-0.03, 1.05)
    panels[1].set_ylim(0, None)
    panels[1].axhline(1, color=SOFT, linewidth=1, linestyle=":", marker="")
    panels[0].legend(frameon=False, ncols=2)


def _draw_sums(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.12, right=0.985, top=0.86, bottom=0.24)
    draw_rows(axes, table, "summed", BLUE, lift=0.12, fmt="s", markerfacecolor=BLUE, label="with x alone + y alone")
    draw_rows(axes, table, "summed seen", BLUE, lift=-0.12, fmt="D", markerfacecolor="none", label="same, on the donut")
    draw_rows(axes, table, "correlation", markerfacecolor=INK, label="with the right image")
    axes.set(xlabel="correlation of what is painted in the hole", xlim=(-0.05, 1.05), ylim=(-0.6, len(table) - 0.4))
    axes.set_yticks(range(len(table))[::-1], table["code"].tolist())
    axes.legend(frameon=False, fontsize=12, ncols=3, loc="lower left", bbox_to_anchor=(-0.04, 1.0))


FIGURES = (
    Plot(
        "kernel",
        title="The kernel of its images tells more than directions do",
        caption="One mark per network of claim 25; dotted: what counts as composing here. Left: the factorization "
        "metric F of the images. Right: F_K, the weight of the best product of one kernel per factor in the kernel of "
        "the images, 1 for right images. Above: how often a composing network has the higher value. F_K is ours, and "
        f"of F no number was released. {TARGET}",
        experiments=("stripes",),
        table=_networks,
        draw=_draw_kernel,
        alternative=_say_kernel,
        height=380,
    ),
    Plot(
        "single-factors",
        title="In the hole decoders paint something closer to x alone plus y alone than to the right image",
        caption="Convolutional decoders of population codes; mean and two standard errors over seeds. x alone: the "
        "code of x beside the mean code of y over the training set. Trained on 1 - G. The "
        "released test records pictures, no number.",
        experiments=("single-factors",),
        table=table_over_seeds("single-factors", ("code",), ("summed", "summed seen", "correlation")),
        draw=_draw_sums,
        alternative=listed("Correlation with the sum of x alone and y alone", "{code} {summed:.2f}"),
        height=220,
    ),
    Plot(
        "depth",
        title="Deeper decoders fail as well",
        caption="Decoders of the released depth sweeps; mean and two standard errors over seeds. Dotted: a blank "
        "image. Grey crosses: the released demo notebooks (256 filters, a hole of 9 x 9); the released sweeps record "
        f"no number. {TARGET}",
        experiments=("depth",),
        table=_depth_table,
        draw=_draw_depth,
        alternative=listed("Share of peaks in place in the hole", "{model} {code} {depth} layers {unseen peaks:.2f}"),
    ),
)
