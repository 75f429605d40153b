"""Observed against predicted-from-the-others: whether effects add, cell by cell."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.jobs.audit.additivity import AdditivityCheck, OrderCheck
from recombine.jobs.listing import level_columns
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, PAPER, POINT, SOFT, WIDTH, inches, shorten
from recombine.tables.table import Table
from recombine.words.captions import ADDITIVITY_ALTERNATIVE
from recombine.writing import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit

#: Points drawn at most; more would only make the file heavy.
MOST_POINTS = 700
#: Cells named in the figure, the worst ones.
NAMED = 3
_HEIGHT, _LETTER = 380, 6.6


class AdditivityFigure(Figure):
    """Each seen cell against its value predicted from the other seen cells, and the differences.

    Left: observed against predicted with the line of equality. Right: what is left over, with a band of twice what
    noise alone would make of it where that is known.

    Parameters
    ----------
    audit : Audit
        With an outcome and enough cells for the check.
    """

    name = "additivity"
    by_night = True

    def __init__(self, audit: Audit) -> None:
        check = audit.structure.additivity
        if check is None or audit.design.outcome is None:
            raise InputError("there is no outcome to draw; name its column with --outcome")
        chosen = check.at(audit.order) or (check.orders[0] if check.orders else None)
        if chosen is None or not chosen.tested:
            raise InputError("no seen cell is determined by the others, so there is nothing to draw")
        if not chosen.error:
            raise InputError("every seen cell is exactly what the others say, so there is nothing to draw")
        self.audit = audit
        self.whole: AdditivityCheck = check
        self.check: OrderCheck = chosen

    @cached_property
    def table(self) -> Table:
        """Tested cells: levels, observed, predicted, difference."""
        design, tested = self.audit.design, self.check.determined
        assert design.outcome is not None
        observed, predicted = design.outcome[design.train][tested], self.check.predicted[tested]
        values = {"observed": observed, "predicted": predicted, "difference": observed - predicted}
        return Table({**level_columns(design, design.seen[tested], values), **values})

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        check = self.check
        return ADDITIVITY_ALTERNATIVE.format(tested=check.tested, order=check.order, error=check.error)

    @property
    def outcome(self) -> str:
        """The outcome's name, short enough for an axis."""
        return shorten(self.audit.design.outcome_column.name or "outcome", 24 if self.width >= WIDTH else 15)

    @cached_property
    def _drawn(self) -> IntArray:
        """Rows of the table that are drawn: all of them, or the worst ones and a random part of the rest."""
        count = len(self.table)
        worst = np.argsort(-np.abs(self.table["difference"]), kind="stable")
        if count <= MOST_POINTS:
            return worst
        others = np.random.default_rng(self.audit.seed).permutation(worst[50:])[: MOST_POINTS - 50]
        return np.concatenate([worst[:50], others])

    @property
    def thinned(self) -> bool:
        """Whether only part of the cells is drawn."""
        return len(self._drawn) < len(self.table)

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        narrow = self.width < WIDTH
        figure = Canvas(figsize=inches(self.width, _HEIGHT * (1.6 if narrow else 1.0)))
        shape = (2, 1) if narrow else (1, 2)
        both, leftover = figure.subplots(*shape, gridspec_kw={"hspace": 0.42} if narrow else {"wspace": 0.28})
        for axis in (both.xaxis, both.yaxis, leftover.xaxis, leftover.yaxis):
            axis.set_major_locator(MaxNLocator(6))
            axis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))
        top, bottom = (0.95, 0.08) if narrow else (0.91, 0.14)
        figure.subplots_adjust(left=66 / self.width, right=1 - 16 / self.width, top=top, bottom=bottom)
        names = ("observed", "predicted", "difference")
        observed, predicted, difference = (self.table[name][self._drawn] for name in names)
        low, high = _span(np.concatenate([predicted, observed]))
        both.plot([low, high], [low, high], color=SOFT, linewidth=1, zorder=1)
        both.set(xlim=(low, high), ylim=(low, high), title="Observed and predicted", ylabel=f"observed {self.outcome}")
        self._differences(leftover, predicted, difference)
        for axes, values in ((both, observed), (leftover, difference)):
            axes.plot(predicted, values, "o", ms=4.2, mfc=POINT, mec=PAPER, mew=0.5)
            axes.set_xlabel(f"predicted {self.outcome}")
        return figure

    def _differences(self, axes: Axes, predicted: FloatArray, difference: FloatArray) -> None:
        axes.axhline(0, color=SOFT, linewidth=1, zorder=1)
        floor = self.check.expected
        if floor:
            axes.axhspan(-2 * floor, 2 * floor, color=HAIR, alpha=0.55, zorder=0, linewidth=0)
        reach = 1.05 * max(map(abs, _span(np.concatenate([difference, [0.0]]))))
        title = "Left over" + (" (band: ± 2 × noise)" if floor else "")
        axes.set(
            xlim=_span(predicted), ylim=(-reach, reach), title=title, ylabel=f"observed − predicted {self.outcome}"
        )
        self._name_worst(axes, predicted, difference)

    def _name_worst(self, axes: Axes, predicted: FloatArray, difference: FloatArray) -> None:
        """Name the worst cells, leaving out a name that would run into one already there."""
        (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        heights: list[float] = []
        pixels = axes.get_position().width * self.width / (high - low)
        for row, (x, y) in enumerate(zip(predicted[:NAMED], difference[:NAMED], strict=True)):
            if all(abs(y - height) > 0.06 * (top - bottom) for height in heights):
                heights.append(float(y))
                to_left = x > (low + high) / 2
                room = (x - low if to_left else high - x) * pixels
                look: dict[str, Any] = {"ha": "right" if to_left else "left", "va": "center", "fontsize": 11}
                text, shift = self._cell(row, room / _LETTER - 2), (-7 if to_left else 7, 0)
                axes.annotate(text, (x, y), shift, textcoords="offset points", **look)

    def _cell(self, row: int, limit: float) -> str:
        """Return the levels of a drawn cell in at most so many letters."""
        names = self.table.columns[: len(self.audit.design.factors)]
        levels = [shorten(str(self.table[name][self._drawn[row]]), 14) for name in names]
        return shorten(" · ".join(levels), min(limit, 34))


def _span(values: FloatArray) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return low - room, high + room
