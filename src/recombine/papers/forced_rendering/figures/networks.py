"""Forced rendering: figures of trained networks. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.forced_rendering.figures.pictures import INK, PICTURE_FIGURES, SOFT, conditions, plot
from recombine.papers.forced_rendering.readings.decoders import MORE_DRAWS
from recombine.papers.forced_rendering.readings.remedies import GOAL, amounts, power_law
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

PENALTY_WORDS = {"none": "no penalty", "entropy": "entropy alone", "variance": "variance alone", "both": "both"}
#: What is drawn of a layer, and the words for it.
LAYER_MEASURES = {
    "additive share": "share of main effects",
    "volume ratio": "area, hole / donut",
    "factorization": "factorization F",
}


# ---------------------------------------------------------------------------- layers, codes, hole size


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


# ---------------------------------------------------------------------------- remedies


def _penalties_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["low-rank"].table
    return Table.from_rows(
        {name: row[name] for name in ("penalty", "seed", "unseen peaks", "striped")} | {"components": row["rank"]}
        for row in rows.rows()
    )


def _draw_penalties(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.88, bottom=0.26, wspace=0.28)
    order = [name for name in PENALTY_WORDS if name in set(table["penalty"].tolist())]
    titles = {
        "unseen peaks": "peaks in the hole",
        "components": "components of a value",
        "striped": "share that is a stripe",
    }
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        for place, penalty in enumerate(order):
            values = table.only(penalty=penalty)[name]
            spread = np.linspace(-0.15, 0.15, len(values)) if len(values) > 1 else np.zeros(1)
            axes.plot(place + spread, values, "o", color=SOFT, markersize=5, linestyle="none")
            axes.plot(
                [place - 0.28, place + 0.28], [values.mean()] * 2, color=INK, linewidth=2, marker="", linestyle="-"
            )
        axes.set(title=title, ylim=(0, None) if name == "components" else (-0.04, 1.05))
        axes.set_xticks(range(len(order)), [PENALTY_WORDS[name] for name in order], rotation=25, ha="right")


def _say_penalties(table: Table) -> str:
    means = {name: table.only(penalty=name) for name in PENALTY_WORDS}
    parts = [
        f"{PENALTY_WORDS[name]} {rows['unseen peaks'].mean():.2f} with {rows['components'].mean():.1f} components"
        for name, rows in means.items()
        if len(rows)
    ]
    return f"Share of peaks in place in the hole: {', '.join(parts)}."


def _efficiency_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["efficiency"].table, ("side", "stripes", "bumps"), ("correlation", "peaks"))


def _draw_efficiency(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.88, bottom=0.17, wspace=0.26)
    for axes, stripes, title in zip(panels, (0, 1), ("bumps alone", "with all stripes"), strict=False):
        for side in sorted(set(table["side"].tolist())):
            line = table.only(side=side, stripes=stripes)
            draw_band(axes, line, "bumps", "correlation", f"side {side}")
        axes.axhline(GOAL, color=SOFT, linewidth=1, linestyle=":", marker="")
        axes.set(xscale="log", title=title, xlabel="bumps trained on", ylim=(-0.05, 1.05))
        _plain_ticks(axes.xaxis, table.only(stripes=stripes)["bumps"])
    panels[0].set_ylabel("correlation, unseen places")
    panels[1].legend(frameon=False, fontsize=11, ncols=2, loc="lower right")
    _draw_amounts(panels[2], table)


def _draw_amounts(axes: Axes, table: Table) -> None:
    """How many bumps are needed by side, and the published cube through the first of them."""
    for stripes, word in ((0, "alone"), (1, "with stripes")):
        found = {side: amount for side, amount in amounts(table, stripes).items() if np.isfinite(amount)}
        if found:
            axes.plot(list(found), list(found.values()), label=f"{word}{_slope(found)}")
            if stripes == 0:
                sides = np.array(sorted(found), dtype=float)
                cube = found[min(found)] * (sides / sides[0]) ** 3
                axes.plot(sides, cube, color=SOFT, linewidth=1, linestyle=":", marker="", label="published: cube")
    ticks = sorted(set(table["side"].tolist()))
    axes.set(xscale="log", yscale="log", title=f"bumps for {GOAL}", xlabel="side of the image (pixels)")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    low, high = axes.get_ylim()
    # Room for the legend below the lines.
    axes.set_ylim(low / (high / low) ** 0.45, high)
    _plain_ticks(axes.yaxis, np.array([low, high]))
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=10.5, handlelength=1.8, loc="lower right")


def _plain_ticks(axis: Axis, values: FloatArray) -> None:
    """Powers of ten, and threes between them, in plain digits over the range of ``values``."""
    choices = [factor * 10**power for power in range(6) for factor in (1, 3)]
    ticks = [tick for tick in choices if values.min() <= tick <= values.max()]
    axis.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())


def _slope(found: dict[int, float]) -> str:
    if len(found) < 3:
        return ""
    power, _, half = power_law(found)
    return f": exponent {power:.1f} ± {half:.1f}"


def _say_efficiency(table: Table) -> str:
    alone, helped = amounts(table, 0), amounts(table, 1)
    parts = [f"side {side}: {alone[side]:.0f} alone, {helped[side]:.0f} with stripes" for side in alone]
    return f"Bumps needed for a correlation of {GOAL} on unseen places: {'; '.join(parts)}."


def _stripes_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(
        results["stripes"].table,
        ("model", "code", "depth", "stripes"),
        ("unseen peaks", "correlation", "relative error"),
    )


def _draw_stripes(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, sharey=True)
    canvas.subplots_adjust(left=0.27, right=0.985, top=0.9, bottom=0.14, wspace=0.08)
    names = [_stripes_label(row) for row in table.rows()]
    heights = np.arange(len(names))[::-1]
    titles = {"unseen peaks": "peaks in place", "correlation": "correlation", "relative error": "error / blank error"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        axes.errorbar(table[name], heights, xerr=np.nan_to_num(table[f"{name} 2se"]), fmt="o", color=INK, capsize=3)
        axes.set(title=title, xlabel="in the hole", xlim=(0, None if name == "relative error" else 1.05))
        if name != "relative error":
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panels[0].set_yticks(heights, names)


def _stripes_label(row: dict[str, Any]) -> str:
    repeats = f"each × {row['stripes']}" if row["stripes"] else "no stripes"
    return f"{row['model'].upper()} {row['depth']}, {row['code']}, {repeats}"


def _say_stripes(table: Table) -> str:
    parts = [f"{_stripes_label(row)}: {row['unseen peaks']:.2f}" for row in table.rows()]
    return f"Share of peaks in place in the hole: {'; '.join(parts)}."


FIGURES = (
    *PICTURE_FIGURES,
    plot(
        "codes",
        "Every code fails, not every code pastes",
        "Decoders trained on the donut; mean and two standard errors over seeds. Open: correlation with the pasted "
        "image on the donut, where nothing is pasted. Dotted: a blank image.",
        "4 1",
        "donut",
        _codes_table,
        _draw_codes,
        _say_codes,
        height=360,
    ),
    plot(
        "layers",
        "Factors re-entangle layer by layer",
        "Convolutional decoders on the donut alone, which fail in the hole, and with stripes, which compose; mean and "
        "two standard errors over seeds. What tells these apart is the area that a unit square of places becomes.",
        "8 7",
        "layers",
        _layers_table,
        _draw_layers,
        _say_layers,
    ),
    plot(
        "hole-size",
        "Small holes are interpolated",
        "Convolutional decoders of bump codes; mean and two standard errors over seeds.",
        "14",
        "hole",
        _hole_table,
        _draw_hole,
        _say_hole,
        height=320,
    ),
    plot(
        "stripes",
        "What stripes do",
        "Decoder, its layers, code, and how often each stripe is in the training set; mean and two standard errors "
        "over seeds.",
        "9a 9b 10",
        "stripes",
        _stripes_table,
        _draw_stripes,
        _say_stripes,
        height=420,
    ),
    plot(
        "penalties",
        "One component a value is not enough; stripes are",
        "Low-rank pixel-embedding networks, one dot a seed; the line is their mean. Components are counted by the "
        "entropy of their weights; a stripe, in either direction, has rank one however many it is made of.",
        "12b 12a",
        "low-rank",
        _penalties_table,
        _draw_penalties,
        _say_penalties,
        height=360,
    ),
    plot(
        "efficiency",
        "How many bumps are needed",
        "Correlation with the right image on all unseen places; mean and two standard errors over seeds. Right: bumps "
        "for a correlation of 0.9; exponents with 95 % intervals (Student's t, two degrees of freedom for four sides).",
        "15b 15a",
        "efficiency",
        _efficiency_table,
        _draw_efficiency,
        _say_efficiency,
    ),
)
