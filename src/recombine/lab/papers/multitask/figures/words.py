"""Multi-task learning and pretraining: what its figures call methods and bands, and how they draw lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recombine.lab.papers.plots import DASHES, MARKS, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Method -> words, in the order of the colour cycle.
METHODS = {"pt+ft": "PT+FT", "stl": "single task", "mtl": "MTL", "pt+ft probe": "linear probe"}
METHODS |= {"slow mtl": "MTL, rate 0.3"}
#: Legend of grey marks, and what captions say of them.
PUBLISHED = "published"
GREY = "Small grey marks: the authors' means, from their result files."
BANDS = "Bands and bars: two standard errors over n seeds, of logarithms."


def method_looks() -> dict[str, dict[str, Any]]:
    """Return colour, dash and mark of every method."""
    looks = zip(METHODS, palette(), (*DASHES, ":"), (*MARKS, "x"), strict=False)
    return {method: {"color": colour, "linestyle": dash, "marker": mark} for method, colour, dash, mark in looks}


def shades(values: Iterable[float]) -> dict[float, dict[str, Any]]:
    """Return colour, dash and mark of values, the largest of them darkest."""
    from matplotlib import colormaps

    falling = sorted(values, reverse=True)
    colours = [colormaps["viridis"](0.72 * rank / max(1, len(falling) - 1)) for rank in range(len(falling))]
    return {
        value: {"color": colour, "linestyle": DASHES[rank % 4], "marker": "osD^v"[rank % 5]}
        for rank, (value, colour) in enumerate(zip(falling, colours, strict=True))
    }


def draw_published(
    axes: Axes, x: Sequence[float], y: Sequence[float], look: dict[str, Any], *, joined: bool = False
) -> None:
    """Draw what the authors published in grey over a method's own line: its mark, small and open."""
    style: dict[str, Any] = {
        "color": "0.5",
        "markersize": 4.5,
        "markerfacecolor": "none",
        "markeredgewidth": 1,
        "zorder": 5,
    }
    style |= {"marker": look.get("marker", ""), "linestyle": look["linestyle"] if joined else "", "linewidth": 0.9}
    unnamed = PUBLISHED not in axes.get_legend_handles_labels()[1]
    axes.plot(x, y, label=PUBLISHED if unnamed else "_", **style)


def draw_legend(canvas: Canvas, axes: Axes, corner: tuple[float, float] = (0.07, 1.0), **style: Any) -> None:
    """Name the lines of a panel for the whole canvas, side by side unless ``style`` says otherwise."""
    handles, labels = named_lines(axes)
    layout: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": corner, "frameon": False}
    canvas.legend(handles, labels, **layout | {"ncols": len(labels), "fontsize": 11.5} | style)


def named_lines(axes: Axes) -> tuple[list[Any], list[str]]:
    """Return the lines of a panel and their names, published marks last."""
    named = sorted(zip(*axes.get_legend_handles_labels(), strict=True), key=lambda pair: pair[1] == PUBLISHED)
    return [line for line, _ in named], [word for _, word in named]
