"""Forced rendering: pictures of what single networks paint, and where they err."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

INK, SOFT = "#20242b", "#666d78"


def _pictures_table(results: Mapping[str, Evidence]) -> Table:
    return results["pictures"].table


def conditions(table: Table) -> list[tuple[str, int, str]]:
    """Return code and stripes of each network shown, in order, with words for it."""
    pairs = dict.fromkeys(zip(table["code"].tolist(), table["stripes"].tolist(), strict=True))
    return [(code, stripes, f"{code}, with stripes" if stripes else code) for code, stripes in pairs]


def _picture(table: Table, name: str) -> FloatArray:
    """One picture (side, side) from its rows."""
    rows = table.only(picture=name)
    picture = np.zeros((int(rows["line"].max()) + 1, int(rows["column"].max()) + 1))
    picture[rows["line"], rows["column"]] = rows["value"]
    return picture


def _frame(axes: Axes, table: Table) -> None:
    """Outline the hole."""
    from matplotlib.patches import Rectangle

    low, high = int(table["hole from"][0]), int(table["hole to"][0])
    size = high - low + 1
    axes.add_patch(Rectangle((low - 0.5, low - 0.5), size, size, fill=False, edgecolor="#d1495b", linewidth=1.2))


def _bare(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=SOFT)


def _draw_pictures(canvas: Canvas, table: Table) -> None:
    shown = conditions(table)
    panels = canvas.subplots(3, len(shown), squeeze=False)
    canvas.subplots_adjust(left=0.1, right=0.99, top=0.93, bottom=0.02, wspace=0.06, hspace=0.06)
    for column, (code, stripes, title) in enumerate(shown):
        rows = table.only(code=code, stripes=stripes)
        for axes, (name, word) in zip(
            panels[:, column],
            (("truth", "right"), ("output", "painted"), ("pasted", "pasted from\ncolumn and row")),
            strict=True,
        ):
            axes.imshow(_picture(rows, name), cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
            _bare(axes)
            _frame(axes, rows)
            if column == 0:
                axes.set_ylabel(word)
        panels[0, column].set_title(title)


def _say_pictures(table: Table) -> str:
    parts = []
    for code, stripes, title in conditions(table):
        rows = table.only(code=code, stripes=stripes)
        truth, output = (_picture(rows, name).ravel() for name in ("truth", "output"))
        parts.append(f"{title} {np.corrcoef(truth, output)[0, 1]:.2f}")
    return f"Images painted at a place in the hole; correlation with the right one: {', '.join(parts)}."


def _errors_table(results: Mapping[str, Evidence]) -> Table:
    return results["pictures"].table.only(picture="error")


def _draw_errors(canvas: Canvas, table: Table) -> None:
    shown = conditions(table)
    panels = canvas.subplots(1, len(shown), squeeze=False)[0]
    canvas.subplots_adjust(left=0.055, right=0.9, top=0.88, bottom=0.14, wspace=0.12)
    for axes, (code, stripes, title) in zip(panels, shown, strict=True):
        rows = table.only(code=code, stripes=stripes)
        drawn = axes.imshow(_picture(rows, "error"), cmap="Greys", vmin=0, vmax=2, interpolation="nearest")
        axes.grid(visible=False)
        _frame(axes, rows)
        axes.set(title=title, xlabel="x of the bump (pixels)")
    panels[0].set_ylabel("y of the bump (pixels)")
    place = canvas.add_axes((0.915, 0.2, 0.015, 0.6))
    canvas.colorbar(drawn, cax=place, label="error / blank error", extend="max")


def _say_errors(table: Table) -> str:
    parts = []
    for code, stripes, title in conditions(table):
        rows = table.only(code=code, stripes=stripes)
        hole = slice(int(rows["hole from"][0]), int(rows["hole to"][0]) + 1)
        parts.append(f"{title} {_picture(rows, 'error')[hole, hole].mean():.2f}")
    return f"Error at every place; mean in the hole over that of a blank image: {', '.join(parts)}."


FIGURES = (
    Plot(
        "pictures",
        title="What decoders paint in the hole",
        caption=(
            "One place of the hole (its outline in red), one seed per column. Pasted: the mean seen image of the "
            "place's column plus that of its row."
        ),
        experiments=("pictures",),
        table=_pictures_table,
        draw=_draw_pictures,
        alternative=_say_pictures,
        height=560,
    ),
    Plot(
        "error-maps",
        title="Error at every place",
        caption=(
            "Mean squared error of the image for each place of the bump, over that of a blank image; the hole is "
            "outlined, one seed."
        ),
        experiments=("pictures",),
        table=_errors_table,
        draw=_draw_errors,
        alternative=_say_errors,
        height=270,
    ),
)
