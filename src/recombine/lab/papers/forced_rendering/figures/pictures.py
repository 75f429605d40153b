"""Forced rendering: pictures of what single networks paint, and where they err."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.forced_rendering.readings.rows import one_target, picture_of
from recombine.lab.papers.paper import Plot
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.image import AxesImage

INK, SOFT = "#20242b", "#666d78"
#: The colour of a second series; grey is for what was published.
BLUE = "#1b6ca8"
#: What captions say about the target of training.
TARGET = "Trained on 1 - G (at quick scale on G)."


def conditions(table: Table) -> dict[str, Table]:
    """Return the rows of each code, with stripes and without, by words for it, in order."""
    groups = table.by("code", "stripes").items()
    return {f"{code}, with stripes" if stripes else code: rows for (code, stripes), rows in groups}


def _show(axes: Axes, rows: Table, name: str, darkest: float) -> AxesImage:
    """Show a picture in greys, with the hole outlined."""
    from matplotlib.patches import Rectangle

    low, high = int(rows["hole from"][0]), int(rows["hole to"][0])
    size = high - low + 1
    axes.grid(visible=False)
    axes.add_patch(Rectangle((low - 0.5, low - 0.5), size, size, fill=False, edgecolor="#d1495b", linewidth=1.2))
    return axes.imshow(picture_of(rows.only(picture=name)), cmap="Greys", vmin=0, vmax=darkest, interpolation="nearest")


def _draw_pictures(canvas: Canvas, table: Table) -> None:
    by_title = conditions(table)
    words = {"truth": "right", "output": "painted", "pasted": "pasted from\ncolumn and row"}
    panels = canvas.subplots(3, len(by_title), squeeze=False)
    canvas.subplots_adjust(left=0.1, right=0.99, top=0.93, bottom=0.02, wspace=0.06, hspace=0.06)
    for column, (title, rows) in zip(panels.T, by_title.items(), strict=True):
        for axes, name in zip(column, words, strict=True):
            _show(axes, rows, name, 1)
            axes.set(xticks=[], yticks=[])
            for spine in axes.spines.values():
                spine.set(visible=True, color=SOFT)
        column[0].set_title(title)
        darkest = picture_of(rows.only(picture="output")).max()
        small: dict[str, Any] = {"ha": "right", "fontsize": 10, "color": SOFT}
        column[1].text(0.97, 0.03, f"darkest {darkest:.2f}", transform=column[1].transAxes, **small)
    for axes, word in zip(panels[:, 0], words.values(), strict=True):
        axes.set_ylabel(word)


def _say_pictures(table: Table) -> str:
    texts = []
    for title, rows in conditions(table).items():
        truth, output = (picture_of(rows.only(picture=name)).ravel() for name in ("truth", "output"))
        texts.append(f"{title} {np.corrcoef(truth, output)[0, 1]:.2f}")
    return f"Images painted at a place in the hole; correlation with the right one: {', '.join(texts)}."


def _draw_errors(canvas: Canvas, table: Table) -> None:
    by_title = conditions(table)
    panels = canvas.subplots(1, len(by_title), squeeze=False)[0]
    canvas.subplots_adjust(left=0.055, right=0.9, top=0.88, bottom=0.14, wspace=0.12)
    for axes, (title, rows) in zip(panels, by_title.items(), strict=True):
        image = _show(axes, rows, "error", 2)
        axes.set(title=title, xlabel="x of the bump (pixels)")
    panels[0].set_ylabel("y of the bump (pixels)")
    bar = canvas.add_axes((0.915, 0.2, 0.015, 0.6))
    canvas.colorbar(image, cax=bar, label="error / blank error", extend="max")


def _say_errors(table: Table) -> str:
    texts = []
    for title, rows in conditions(table).items():
        hole = slice(int(rows["hole from"][0]), int(rows["hole to"][0]) + 1)
        texts.append(f"{title} {picture_of(rows.only(picture='error'))[hole, hole].mean():.2f}")
    return f"Error at every place; mean in the hole over that of a blank image: {', '.join(texts)}."


FIGURES = (
    Plot(
        "pictures",
        title="In the hole decoders paste or paint next to nothing; stripes mend it",
        caption="One place of the hole (outlined in red), one seed per column, one scale of grey: the bump code's "
        f"image is faint, the ramp's nearly blank. Pasted: mean seen images of its column and row, added. {TARGET}",
        experiments=("pictures",),
        table=lambda results: one_target(results["pictures"].table),
        draw=_draw_pictures,
        alternative=_say_pictures,
        height=560,
    ),
    Plot(
        "error-maps",
        title="Error at every place",
        caption="Mean squared error of the image for each place of the bump, over that of a blank image; the hole is "
        f"outlined, one seed. Fig. 1b of the paper is such a map; its values are not at hand. {TARGET}",
        experiments=("pictures",),
        table=lambda results: one_target(results["pictures"].table).only(picture="error"),
        draw=_draw_errors,
        alternative=_say_errors,
        height=270,
    ),
)
