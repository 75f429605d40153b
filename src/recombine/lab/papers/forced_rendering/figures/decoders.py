"""Forced rendering: figures of decoders without a remedy. Bands and bars: mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.forced_rendering.figures.pictures import BLUE, INK, SOFT, TARGET, conditions
from recombine.lab.papers.forced_rendering.figures.published import DEMO_ERRORS, mark_published
from recombine.lab.papers.forced_rendering.readings.decoders import CONTROL_DRAWS
from recombine.lab.papers.forced_rendering.readings.rows import one_target
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Tabulate = Callable[[Mapping[str, Evidence]], Table]
#: What is drawn of a layer, and the words for it.
LAYER_MEASURES = {
    "additive share": "share of main effects",
    "volume ratio": "area, hole / donut",
    "factorization": "factorization F",
}


def table_over_seeds(experiment: str, keys: tuple[str, ...], values: tuple[str, ...]) -> Tabulate:
    """Return what makes a plot's table: means over seeds of networks of one target, a row per combination of keys."""
    return lambda results: over_seeds(one_target(results[experiment].table), keys, values)


def listed(start: str, each: str, between: str = ", ") -> Callable[[Table], str]:
    """Return what says a plot's table in a sentence: its start, then each row by a format.

    Examples
    --------
    >>> listed("Peaks by side", "{hole side}: {peaks:.2f}")(Table({"hole side": [5, 9], "peaks": [1.0, 0.5]}))
    'Peaks by side: 5: 1.00, 9: 0.50.'
    """
    return lambda table: f"{start}: {between.join(each.format_map(row) for row in table.rows())}."


def draw_rows(axes: Axes, table: Table, name: str, colour: str = INK, lift: float = 0.0, **style: Any) -> None:
    """Draw a column with its errors, a row of the table per height, the first on top."""
    heights, spread = np.arange(len(table))[::-1] + lift, np.nan_to_num(table[f"{name} 2se"])
    axes.errorbar(table[name], heights, xerr=spread, color=colour, capsize=3, **{"fmt": "o", **style})


def _draw_layers(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, sharex=True)
    canvas.subplots_adjust(left=0.06, right=0.985, top=0.88, bottom=0.17, wspace=0.24)
    last = int(table["layer"].max())
    for axes, (name, title) in zip(panels, LAYER_MEASURES.items(), strict=True):
        for word, rows in conditions(table).items():
            draw_band(axes, rows, "layer", name, word)
        top = float((table[name] + np.nan_to_num(table[f"{name} 2se"])).max())
        # F is near 1 everywhere; on a whole axis its lines would hide each other.
        low = float((table[name] - np.nan_to_num(table[f"{name} 2se"])).min())
        ends = (low - 0.1 * (1 - low), 1 + 0.1 * (1 - low)) if name == "factorization" else (0, max(1.05, 1.05 * top))
        axes.set(title=title, xlabel="layer", ylim=ends)
        axes.set_xticks(range(last + 1), ["code", *map(str, range(1, last)), "image"])
    panels[0].legend(frameon=False, fontsize=11, loc="lower left")


def _say_layers(table: Table) -> str:
    start = "At the image, the share of main effects, the area ratio and F are"
    each = "{words} {additive share:.2f}, {volume ratio:.2f} and {factorization:.2f}"
    last = table.only(layer=table["layer"].max())
    words = [f"{row['code']}{' with stripes' if row['stripes'] else ''}" for row in last.rows()]
    return listed(start, each, "; ")(Table({**{name: last[name] for name in LAYER_MEASURES}, "words": words}))


def _codes_table(results: Mapping[str, Evidence]) -> Table:
    values = ("pasted", "pasted seen", "correlation", "relative error")
    return over_seeds(one_target(results["donut"].table).but(draws=CONTROL_DRAWS), ("model", "code"), values)


def _draw_codes(canvas: Canvas, table: Table) -> None:
    correlations, errors_panel = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.2, right=0.985, top=0.84, bottom=0.14, wspace=0.08)
    draw_rows(correlations, table, "pasted", BLUE, fmt="s", markerfacecolor=BLUE, label="with the pasted image")
    draw_rows(correlations, table, "pasted seen", BLUE, fmt="D", markerfacecolor="none", label="same, on the donut")
    draw_rows(correlations, table, "correlation", markerfacecolor=INK, label="with the right image")
    draw_rows(errors_panel, table, "relative error")
    published = [
        (DEMO_ERRORS[row["code"]], len(table) - 1 - row_number)
        for row_number, row in enumerate(table.rows())
        if row["model"] == "cnn" and row["code"] in DEMO_ERRORS
    ]
    if published:
        errors, heights = zip(*published, strict=True)
        mark_published(errors_panel, errors, heights, "released notebooks")
        errors_panel.legend(frameon=False, fontsize=11, loc="lower left", handletextpad=0.2)
    errors_panel.axvline(1, color=SOFT, linewidth=1, linestyle=":", marker="")
    correlations.set(xlabel="correlation of what is painted in the hole", xlim=(-0.15, 1.05))
    errors_panel.set(xlabel="error in the hole / error of a blank image", xlim=(0, None))
    correlations.set_yticks(range(len(table))[::-1], [f"{row['model'].upper()}, {row['code']}" for row in table.rows()])
    correlations.legend(frameon=False, fontsize=12, ncols=3, loc="lower left", bbox_to_anchor=(-0.04, 1.0), title=None)


def _draw_hole(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.985, top=0.95, bottom=0.17)
    draw_band(axes, table, "hole side", "unseen peaks", "peaks in place")
    draw_band(axes, table, "hole side", "correlation", "correlation with the right image")
    axes.set(xlabel="side of the hole (bump widths)", ylabel="in the hole", ylim=(-0.03, 1.05))
    axes.legend(frameon=False)


FIGURES = (
    Plot(
        "codes",
        title="Every code fails, not every code pastes",
        caption="Decoders trained on the donut; mean and two standard errors over seeds. Open: correlation with the "
        "pasted image on the donut, where nothing is pasted. Dotted: a blank image. Grey crosses: recorded in the "
        f"released demo notebooks, whose CNNs have ten layers of 256 filters and whose hole is 9 x 9. {TARGET}",
        experiments=("donut",),
        table=_codes_table,
        draw=_draw_codes,
        alternative=listed("Error in the hole over that of a blank image", "{model} on {code} {relative error:.2f}"),
        height=360,
    ),
    Plot(
        "layers",
        title="Factors re-entangle layer by layer",
        caption="Convolutional decoders on the donut alone, which fail in the hole, and with stripes, which compose; "
        "mean and two standard errors over seeds. The area that a unit square of places becomes tells these apart, but "
        f"not MLPs and ramps, which fail with large ones. No number of this was released. {TARGET}",
        experiments=("layers",),
        table=table_over_seeds("layers", ("code", "stripes", "layer"), tuple(LAYER_MEASURES)),
        draw=_draw_layers,
        alternative=_say_layers,
    ),
    Plot(
        "hole-size",
        title="Small holes are interpolated",
        caption="Convolutional decoders of bump codes; mean and two standard errors over seeds. No number to compare "
        f"with was released: the notebooks, with a side of 9, compare peaks with x and y exchanged. {TARGET}",
        experiments=("hole",),
        table=table_over_seeds("hole", ("hole side",), ("unseen peaks", "correlation")),
        draw=_draw_hole,
        alternative=listed("Share of peaks in place by the side of the hole", "{hole side}: {unseen peaks:.2f}"),
        height=320,
    ),
)
