"""First principles: the figure of lost slots, by support and gate, and of how fronts are lost in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.first_principles.grids import FAST_RATE, NARROW_BANDS, SLOT_SUPPORTS, SLOW_RATE
from recombine.lab.papers.first_principles.readings.lost_slots import (
    WARNED_AFTER_SHARE,
    WARNING_SHARE,
    front_lost,
    interval_of,
    slot_lost,
)
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import MARKS, palette
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SERIES = {
    ("soft", FAST_RATE): "soft occlusion",
    ("soft with a floor", FAST_RATE): "with a floor of 0.01",
    ("soft", SLOW_RATE): "a third of the learning rate",
    ("opacity", FAST_RATE): "an opacity of its own",
}
#: Colours of fronts that are lost and of the others.
LOST_COLOUR, PAINTED_COLOUR = "#8a5a9c", "#b08d1e"


def _table(results: Mapping[str, Evidence]) -> Table:
    return results["lost-slots"].table.only(dtype="float32")


def _draw(canvas: Canvas, table: Table) -> None:
    rates, courses = canvas.subplots(1, 2, width_ratios=(1, 1))
    canvas.subplots_adjust(left=0.115, right=0.985, top=0.8, bottom=0.15, wspace=0.2)
    _draw_rates(rates, table.where(table["step"] == table["steps"]))
    _draw_courses(courses, table.only(gate="soft", rate=FAST_RATE, support=NARROW_BANDS[0]))


def _draw_rates(axes: Axes, ended: Table) -> None:
    heights = np.arange(len(SLOT_SUPPORTS))[::-1]
    for order, ((gate, rate), words) in enumerate(SERIES.items()):
        style: dict[str, Any] = {"color": palette()[order], "marker": MARKS[order], "linestyle": "none", "capsize": 3}
        shares, lows, highs = [], [], []
        for name in SLOT_SUPPORTS:
            lost = slot_lost(ended.only(gate=gate, rate=rate, support=name))
            low, high = interval_of(int(lost.sum()), len(lost))
            share = float(lost.mean())
            shares.append(100 * share)
            lows.append(100 * max(share - low, 0))
            highs.append(100 * max(high - share, 0))
        places = heights + 0.18 * (1.5 - order)
        axes.errorbar(shares, places, xerr=[lows, highs], label=words, markersize=7, **style)
    axes.set_yticks(
        heights, [name.replace("diagonal", "band").replace("orthogonal", "planes") for name in SLOT_SUPPORTS]
    )
    axes.set(xlim=(-2, 102), ylim=(-0.6, len(SLOT_SUPPORTS) - 0.4), xlabel="networks that lose a slot, %")
    axes.set_title("How often", loc="left", fontsize=13, pad=46)
    axes.legend(frameon=False, fontsize=11, ncols=2, loc="lower left", bbox_to_anchor=(-0.2, 1.0), columnspacing=1)


def _draw_courses(axes: Axes, soft: Table) -> None:
    steps = int(soft["steps"][0])
    for seed in sorted(set(soft["seed"].tolist())):
        course = soft.only(seed=seed)
        course = course.where(np.argsort(course["step"]))
        lost = bool(front_lost(course)[-1])
        colour, words = (LOST_COLOUR, "lost") if lost else (PAINTED_COLOUR, "not lost")
        style: dict[str, Any] = {"color": colour, "marker": "", "linestyle": "-" if lost else (0, (5, 1.5))}
        labelled = words in axes.get_legend_handles_labels()[1]
        axes.plot(course["step"], course["front"], label=None if labelled else words, alpha=0.8, **style)
    early = WARNED_AFTER_SHARE * steps
    axes.plot([early, early], [0, 1.3], color="0.35", linewidth=1.2, linestyle=":", marker="")
    axes.plot([0, early], [WARNING_SHARE] * 2, color="0.35", linewidth=1.2, linestyle=":", marker="")
    words = f"warned of: at least {WARNING_SHARE}\nafter a quarter of the steps"
    axes.text(1.8 * early, 0.64, words, fontsize=11.5, va="center")
    axes.set(xlabel="steps", ylabel="error of the front, 1 is unpainted", ylim=(0, 1.3), xlim=(0, steps))
    axes.set_title("When: soft occlusion, band 0.05", loc="left", fontsize=13, pad=46)
    axes.legend(frameon=False, fontsize=11, ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1.0))


def _say(table: Table) -> str:
    ended = table.where(table["step"] == table["steps"])
    rates = []
    for (gate, rate), words in SERIES.items():
        lost = slot_lost(ended.only(gate=gate, rate=rate))
        rates.append(f"{words} {int(lost.sum())} of {len(lost)}")
    return (
        f"Networks that lose a slot, over four supports: {', '.join(rates)}. Lost fronts are unpainted early on, too."
    )


FIGURES = (
    Plot(
        "lost-slots",
        title="A third of the learning rate keeps both slots; other gates do not",
        caption=(
            "Small convolutional decoders of blobs of 12 pixels with hard targets, 20 seeds a support. Left: networks "
            "of which the front or the back is not painted at all, with intervals of 95%. Right: error on the front's "
            "pixels over that of the image without the front, one line a network. Our own experiment."
        ),
        experiments=("lost-slots",),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=400,
    ),
)
