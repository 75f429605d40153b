"""Forced rendering: figures of decoders without a remedy. Bands and bars: mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.papers.forced_rendering.figures.pictures import INK, SOFT, conditions
from recombine.papers.forced_rendering.readings.decoders import MORE_DRAWS
from recombine.papers.paper import Plot
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: What is drawn of a layer, and the words for it.
LAYER_MEASURES = {
    "additive share": "share of main effects",
    "volume ratio": "area, hole / donut",
    "factorization": "factorization F",
}


def _layers_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["layers"].table, ("code", "stripes", "layer"), tuple(LAYER_MEASURES))


def _draw_layers(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, sharex=True)
    canvas.subplots_adjust(left=0.06, right=0.985, top=0.88, bottom=0.17, wspace=0.24)
    for axes, (name, title) in zip(panels, LAYER_MEASURES.items(), strict=True):
        for code, stripes, word in conditions(table):
            draw_band(axes, table.only(code=code, stripes=stripes), "layer", name, word)
        last = int(table["layer"].max())
        top = float((table[name] + np.nan_to_num(table[f"{name} 2se"])).max())
        axes.set(title=title, xlabel="layer", ylim=(0, max(1.05, 1.05 * top)))
        axes.set_xticks(range(last + 1), ["code", *[str(layer) for layer in range(1, last)], "image"])
    panels[2].legend(frameon=False, fontsize=11, loc="lower left")


def _say_layers(table: Table) -> str:
    last = table.where(table["layer"] == table["layer"].max())
    parts = [
        f"{row['code']}{' with stripes' if row['stripes'] else ''} {row['additive share']:.2f}, "
        f"{row['volume ratio']:.2f} and {row['factorization']:.2f}"
        for row in last.rows()
    ]
    return f"At the image, the share of main effects, the area ratio and F are: {'; '.join(parts)}."


def _codes_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["donut"].table
    return over_seeds(
        rows.where(rows["draws"] < MORE_DRAWS),
        ("model", "code"),
        ("pasted", "pasted seen", "correlation", "relative error"),
    )


def _draw_codes(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.2, right=0.985, top=0.84, bottom=0.14, wspace=0.08)
    names = [f"{row['model'].upper()}, {row['code']}" for row in table.rows()]
    heights = np.arange(len(names))[::-1]
    for name, marker, word, colour, fill in (
        ("pasted", "s", "with the pasted image", SOFT, SOFT),
        ("pasted seen", "D", "same, on the donut", SOFT, "none"),
        ("correlation", "o", "with the right image", INK, INK),
    ):
        spread = np.nan_to_num(table[f"{name} 2se"])
        panels[0].errorbar(
            table[name], heights, xerr=spread, fmt=marker, color=colour, markerfacecolor=fill, capsize=3, label=word
        )
    spread = np.nan_to_num(table["relative error 2se"])
    panels[1].errorbar(table["relative error"], heights, xerr=spread, fmt="o", color=INK, capsize=3)
    panels[1].axvline(1, color=SOFT, linewidth=1, linestyle=":", marker="")
    panels[0].set(xlabel="correlation of what is painted in the hole", xlim=(-0.15, 1.05))
    panels[1].set(xlabel="error in the hole / error of a blank image", xlim=(0, None))
    panels[0].set_yticks(heights, names)
    panels[0].legend(frameon=False, fontsize=12, ncols=3, loc="lower left", bbox_to_anchor=(-0.04, 1.0), title=None)


def _say_codes(table: Table) -> str:
    parts = [f"{row['model']} on {row['code']} {row['relative error']:.2f}" for row in table.rows()]
    return f"Error in the hole over that of a blank image: {', '.join(parts)}."


def _hole_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["hole"].table, ("hole side",), ("unseen peaks", "correlation"))


def _draw_hole(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.985, top=0.95, bottom=0.17)
    for name, word in (("unseen peaks", "peaks in place"), ("correlation", "correlation with the right image")):
        draw_band(axes, table, "hole side", name, word)
    axes.set(xlabel="side of the hole (bump widths)", ylabel="in the hole", ylim=(-0.03, 1.05))
    axes.legend(frameon=False)


def _say_hole(table: Table) -> str:
    parts = [f"{row['hole side']}: {row['unseen peaks']:.2f}" for row in table.rows()]
    return f"Share of peaks in place by the side of the hole: {', '.join(parts)}."


FIGURES = (
    Plot(
        "codes",
        title="Every code fails, not every code pastes",
        caption=(
            "Decoders trained on the donut; mean and two standard errors over seeds. Open: correlation with the "
            "pasted image on the donut, where nothing is pasted. Dotted: a blank image."
        ),
        experiments=("donut",),
        table=_codes_table,
        draw=_draw_codes,
        alternative=_say_codes,
        height=360,
    ),
    Plot(
        "layers",
        title="Factors re-entangle layer by layer",
        caption=(
            "Convolutional decoders on the donut alone, which fail in the hole, and with stripes, which compose; mean"
            " and two standard errors over seeds. What tells these apart is the area that a unit square of places "
            "becomes."
        ),
        experiments=("layers",),
        table=_layers_table,
        draw=_draw_layers,
        alternative=_say_layers,
    ),
    Plot(
        "hole-size",
        title="Small holes are interpolated",
        caption="Convolutional decoders of bump codes; mean and two standard errors over seeds.",
        experiments=("hole",),
        table=_hole_table,
        draw=_draw_hole,
        alternative=_say_hole,
        height=320,
    ),
)
