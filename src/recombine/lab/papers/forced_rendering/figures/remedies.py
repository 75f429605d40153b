"""Forced rendering: figures of remedies. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.forced_rendering.figures.decoders import draw_rows, table_over_seeds
from recombine.lab.papers.forced_rendering.figures.pictures import BLUE, INK, SOFT, TARGET
from recombine.lab.papers.forced_rendering.figures.published import GREY, LOW_RANK, mark_published
from recombine.lab.papers.forced_rendering.readings.efficiency import GOAL_SCORE, bumps_by_side, power_law
from recombine.lab.papers.forced_rendering.readings.rows import donut_learned, one_target
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

PENALTY_WORDS = {"none": "no penalty", "entropy": "entropy alone", "variance": "variance alone", "both": "both"}
#: What is drawn of networks with penalties and of decoders with stripes, and the words for it.
PENALTY_MEASURES = {
    "unseen peaks": "peaks in the hole",
    "components": "components of a value",
    "striped": "share that is a stripe",
}
STRIPE_MEASURES = {
    "unseen peaks": "peaks in place",
    "correlation": "correlation",
    "relative error": "error / blank error",
}


def _penalties_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["low-rank"].table
    columns = {name: rows[name] for name in ("penalty", "seed", "unseen peaks", "striped")}
    return Table({**columns, "components": rows["rank"], "learned": rows["seen error"] < donut_learned(rows)})


def _draw_penalties(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.88, bottom=0.26, wspace=0.28)
    order = [name for name in PENALTY_WORDS if name in set(table["penalty"].tolist())]
    for axes, (name, title) in zip(panels, PENALTY_MEASURES.items(), strict=True):
        for position, penalty in enumerate(order):
            values, learned = (table.only(penalty=penalty)[column] for column in (name, "learned"))
            spread = np.linspace(-0.15, 0.15, len(values)) if len(values) > 1 else np.zeros(1)
            for which, face in ((learned, BLUE), (~learned, "none")):
                style = {"color": BLUE, "markerfacecolor": face, "markersize": 5, "linestyle": "none"}
                axes.plot(position + spread[which], values[which], "o", **style)
            axes.plot([position - 0.28, position + 0.28], [values.mean()] * 2, "-", color=INK, linewidth=2, marker="")
            if name in LOW_RANK.get(penalty, {}):
                mark_published(axes, [position + 0.32], [LOW_RANK[penalty][name]])
        axes.set(title=title, ylim=(0, None) if name == "components" else (-0.04, 1.05))
        axes.set_xticks(range(len(order)), [PENALTY_WORDS[name] for name in order], rotation=25, ha="right")


def _say_penalties(table: Table) -> str:
    means = over_seeds(table, ("penalty",), ("unseen peaks", "components"))
    words = [
        f"{PENALTY_WORDS[row['penalty']]} {row['unseen peaks']:.2f} with {row['components']:.1f} components"
        for row in means.rows()
    ]
    return f"Share of peaks in place in the hole: {', '.join(words)}."


def _draw_efficiency(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.88, bottom=0.17, wspace=0.26)
    for axes, stripes, title in zip(panels, (0, 1), ("bumps alone", "with all stripes"), strict=False):
        for side in sorted(set(table["side"].tolist())):
            _draw_scores(axes, table.only(side=side, stripes=stripes), f"side {side}")
        axes.axhline(GOAL_SCORE, color=SOFT, linewidth=1, linestyle=":", marker="")
        axes.set(xscale="log", title=title, xlabel="bumps trained on", ylim=(-0.05, 1.05))
        _plain_ticks(axes.xaxis, table.only(stripes=stripes)["bumps"])
    panels[0].set_ylabel("correlation, unseen places")
    panels[1].legend(frameon=False, fontsize=11, ncols=2, loc="lower right")
    _draw_amounts(panels[2], table)


def _draw_scores(axes: Axes, networks: Table, label: str) -> None:
    """A line through the mean scores of one side, and a dot per network: bands of three seeds would hide each other."""
    means = over_seeds(networks, ("bumps",), ("correlation",))
    (line,) = axes.plot(means["bumps"], means["correlation"], markersize=0, label=label)
    style: dict[str, Any] = {
        "color": line.get_color(),
        "marker": "o",
        "markersize": 3.5,
        "linestyle": "none",
        "alpha": 0.6,
    }
    axes.plot(networks["bumps"], networks["correlation"], **style)


def _draw_amounts(axes: Axes, table: Table) -> None:
    """How many bumps are needed by side, and the published powers through the first of them."""
    for stripes, word, power, name in ((0, "alone", 3, "cube"), (1, "with stripes", 1, "in proportion")):
        amounts = {side: amount for side, amount in bumps_by_side(table, stripes).items() if np.isfinite(amount)}
        if amounts:
            slope = ": exponent {0:.1f} ± {2:.1f}".format(*power_law(amounts)) if len(amounts) > 2 else ""
            axes.plot(list(amounts), list(amounts.values()), label=f"{word}{slope}")
            sides = np.array(sorted(amounts), dtype=float)
            line = amounts[min(amounts)] * (sides / sides[0]) ** power
            dashes = ":" if power == 3 else "--"
            axes.plot(sides, line, color=GREY, linewidth=1.2, linestyle=dashes, marker="", label=f"README: {name}")
    ticks = sorted(set(table["side"].tolist()))
    axes.set(xscale="log", yscale="log", title=f"bumps for {GOAL_SCORE}", xlabel="side of the image (pixels)")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    low, high = axes.get_ylim()
    # Room for the legend below the lines.
    axes.set_ylim(low / (high / low) ** 0.45, high)
    _plain_ticks(axes.yaxis, np.array([low, high]))
    axes.legend(frameon=False, fontsize=10.5, handlelength=1.8, loc="lower right")


def _plain_ticks(axis: Axis, values: FloatArray) -> None:
    """Powers of ten, and threes between them, in plain digits over the range of ``values``."""
    choices = [factor * 10**power for power in range(6) for factor in (1, 3)]
    ticks = [tick for tick in choices if values.min() <= tick <= values.max()]
    axis.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    axis.axes.minorticks_off()


def _say_efficiency(table: Table) -> str:
    bare, helped = bumps_by_side(table, 0), bumps_by_side(table, 1)
    texts = [f"side {side}: {bare[side]:.0f} alone, {helped[side]:.0f} with stripes" for side in bare]
    return f"Bumps needed for a correlation of {GOAL_SCORE} on unseen places: {'; '.join(texts)}."


def _draw_stripes(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, sharey=True)
    canvas.subplots_adjust(left=0.27, right=0.985, top=0.9, bottom=0.14, wspace=0.08)
    for axes, (name, title) in zip(panels, STRIPE_MEASURES.items(), strict=True):
        draw_rows(axes, table, name)
        axes.set(title=title, xlabel="in the hole", xlim=(0, None if name == "relative error" else 1.05))
        if name != "relative error":
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panels[0].set_yticks(range(len(table))[::-1], [_stripes_label(row) for row in table.rows()])


def _stripes_label(row: dict[str, Any]) -> str:
    repeats = f"each × {row['stripes']}" if row["stripes"] else "no stripes"
    return f"{row['model'].upper()} {row['depth']}, {row['code']}, {repeats}"


def _say_stripes(table: Table) -> str:
    texts = [f"{_stripes_label(row)}: {row['unseen peaks']:.2f}" for row in table.rows()]
    return f"Share of peaks in place in the hole: {'; '.join(texts)}."


FIGURES = (
    Plot(
        "stripes",
        title="What stripes do",
        caption="Decoder, its layers, code, and how often each stripe is in the training set; mean and two standard "
        f"errors over seeds. {TARGET} No number was released: the released stripe scripts have no stripes.",
        experiments=("stripes",),
        table=table_over_seeds("stripes", ("model", "code", "depth", "stripes"), tuple(STRIPE_MEASURES)),
        draw=_draw_stripes,
        alternative=_say_stripes,
        height=420,
    ),
    Plot(
        "penalties",
        title="One component per value is not enough; stripes are",
        caption="Low-rank pixel-embedding networks, one dot per seed; the line is their mean. Open: a network that "
        "has not learned the donut. Components are counted by the entropy of their weights; the sum of several that "
        "are constant in the same direction is a stripe, and of rank one. Grey crosses: the two released networks.",
        experiments=("low-rank",),
        table=_penalties_table,
        draw=_draw_penalties,
        alternative=_say_penalties,
        height=360,
    ),
    Plot(
        "efficiency",
        title="How many bumps are needed",
        caption="Left and middle: correlation with the right image on all unseen places, a dot per network; lines are "
        "means. Right: bumps for a correlation of 0.9; exponents with 95 % intervals (Student's t, two degrees of "
        "freedom for four sides). Grey: the powers that the README of the released code names, through our first side. "
        "Trained on G; the released scaling scripts paint 1 - G and draw real-valued places.",
        experiments=("efficiency",),
        table=lambda results: one_target(results["efficiency"].table),
        draw=_draw_efficiency,
        alternative=_say_efficiency,
    ),
)
