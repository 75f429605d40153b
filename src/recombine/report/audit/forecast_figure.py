"""How much of each factor's effect a network carries over to unseen cells: by depth, and by additive share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.report.figure import Figure
from recombine.report.theme import DASHES, INK, MARKERS, PAPER, SOFT, WIDTH, inches, shorten
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

    from recombine.jobs.audit.audit import Audit

_HEIGHT = 340
#: Smallest distance between two line labels, in slopes.
_APART = 0.075


class SlopeFigure(Figure):
    """Predicted slope of each factor on the unseen cells.

    Left: ReLU networks of one to four hidden layers. Right: any representation, by the share of it that is additive.

    Parameters
    ----------
    audit : Audit
        Whose forecast was not skipped.
    """

    name = "slopes"

    def __init__(self, audit: Audit) -> None:
        self.forecast = audit.forecast
        if not len(self.forecast.slopes):
            raise InputError("there is no forecast to draw: no unseen cell is determined, or too many cells were seen")

    @property
    def depths(self) -> list[int]:
        """Numbers of hidden layers."""
        return [int(name.removeprefix("depth ")) for name in self.forecast.slopes.columns[1:]]

    @cached_property
    def table(self) -> Table:
        """One row per factor and model: the model in words, and the slope."""
        slopes, curve = self.forecast.slopes, self.forecast.curve
        rows = [
            (row["factor"], f"ReLU network, depth {depth}", row[f"depth {depth}"])
            for row in slopes.rows()
            for depth in self.depths
        ]
        for row in curve.rows() if self._has_curve else ():
            rows += [(name, f"additive share {row['additive share']:.1f}", row[name]) for name in curve.columns[1:]]
        return Table({name: [row[place] for row in rows] for place, name in enumerate(("factor", "model", "slope"))})

    @property
    def _has_curve(self) -> bool:
        return "additive share" in self.forecast.curve.columns and len(self.forecast.curve) > 0

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        parts = [
            f"{row['factor']} from {row[f'depth {self.depths[0]}']:.0%} to {row[f'depth {self.depths[-1]}']:.0%}"
            for row in self.forecast.slopes.rows()
            if not np.isnan(row[f"depth {self.depths[0]}"])
        ]
        return (
            f"Line plots of the share of each factor's effect that reaches unseen cells, from {self.depths[0]} to "
            f"{self.depths[-1]} hidden layers: {'; '.join(parts)}."
        )

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=inches(WIDTH, _HEIGHT))
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.38})
        figure.subplots_adjust(left=0.075, right=0.975, top=0.9, bottom=0.16)
        names = [str(name) for name in self.forecast.slopes["factor"]]
        slopes = [[float(row[f"depth {depth}"]) for depth in self.depths] for row in self.forecast.slopes.rows()]
        _lines(left, np.array(self.depths, dtype=float), names, np.array(slopes))
        _label_ends(left, float(self.depths[-1]), names, np.array(slopes)[:, -1])
        left.set_xticks(self.depths)
        _dress(left, "ReLU network", "hidden layers")
        left.set_ylabel("share of the effect that carries over")
        if self._has_curve:
            curve = self.forecast.curve
            drawn = _lines(right, curve["additive share"], names, np.array([curve[name] for name in names]))
            right.legend(handles=drawn, loc="lower right", frameon=False, fontsize=11.5, handlelength=2.6)
            right.set_xlim(0, 1.02)
        _dress(right, "Any network or kernel", "share of the representation that is additive")
        right.set_visible(self._has_curve)
        return figure


def _dress(axes: Axes, title: str, across: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), max(1.06, axes.get_ylim()[1]))
    axes.axhline(1, color=SOFT, linewidth=1, zorder=1)


def _lines(axes: Axes, across: FloatArray, names: list[str], slopes: FloatArray) -> list[Line2D]:
    """Draw one line per factor that varies and return the lines."""
    lines = []
    for place in range(len(names)):
        if not np.isnan(slopes[place]).all():
            filled: dict[str, Any] = {
                "mfc": PAPER if place % 2 else INK,
                "mec": INK,
                "ms": 5.5,
                "marker": MARKERS[place % len(MARKERS)],
            }
            dash = DASHES[place % len(DASHES)]
            label = shorten(names[place], 16)
            lines += axes.plot(across, slopes[place], color=INK, linewidth=1.3, linestyle=dash, label=label, **filled)
    return lines


def _label_ends(axes: Axes, across: float, names: list[str], ends: FloatArray) -> None:
    """Name the lines at their right ends."""
    drawn = np.flatnonzero(~np.isnan(ends)).tolist()
    heights = spread_out([float(ends[place]) for place in drawn], _APART)
    for place, height in zip(drawn, heights, strict=True):
        text = shorten(names[place], 14)
        axes.annotate(text, (across, height), (9, 0), textcoords="offset points", va="center", fontsize=11.5)


def spread_out(heights: list[float], apart: float) -> list[float]:
    """Move heights as little as it takes to keep them ``apart``, in the same order.

    Examples
    --------
    >>> [round(height, 2) for height in spread_out([0.5, 0.52, 0.9], 0.1)]
    [0.46, 0.56, 0.9]
    """
    order = np.argsort(heights, kind="stable")
    groups: list[list[float]] = []  # each holds the heights of labels that touch
    for place in order.tolist():
        groups.append([heights[place]])
        while len(groups) > 1 and _top(groups[-2], apart) + apart > _bottom(groups[-1], apart):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = np.empty(len(heights))
    moved[order] = [_bottom(group, apart) + apart * step for group in groups for step in range(len(group))]
    return moved.tolist()


def _bottom(group: list[float], apart: float) -> float:
    return sum(group) / len(group) - apart * (len(group) - 1) / 2


def _top(group: list[float], apart: float) -> float:
    return _bottom(group, apart) + apart * (len(group) - 1)
