"""Observed against predicted-from-the-others: whether effects add, cell by cell."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.jobs.audit.additivity import AdditivityCheck, OrderCheck
from recombine.jobs.listing import level_columns
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, PAPER, POINT, SOFT, WIDTH, inches, shorten
from recombine.tables.table import Table
from recombine.words.captions import additivity_alternative
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
        return additivity_alternative(self.check)

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
        left, right = figure.subplots(*shape, gridspec_kw={"hspace": 0.42} if narrow else {"wspace": 0.28})
        for axis in (left.xaxis, left.yaxis, right.xaxis, right.yaxis):
            axis.set_major_locator(MaxNLocator(6))
            axis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))
        edge = 66 / self.width
        figure.subplots_adjust(
            left=edge, right=1 - 16 / self.width, top=0.95 if narrow else 0.91, bottom=0.08 if narrow else 0.14
        )
        rows = self._drawn
        observed, predicted, rest = (self.table[name][rows] for name in ("observed", "predicted", "difference"))
        self._equality(left, predicted, observed)
        self._differences(right, predicted, rest)
        return figure

    def _equality(self, axes: Axes, predicted: FloatArray, observed: FloatArray) -> None:
        low, high = _span(np.concatenate([predicted, observed]))
        axes.plot([low, high], [low, high], color=SOFT, linewidth=1, zorder=1)
        _scatter(axes, predicted, observed)
        axes.set(xlim=(low, high), ylim=(low, high))
        axes.set_title("Observed and predicted")
        axes.set_xlabel(f"predicted {self.outcome}")
        axes.set_ylabel(f"observed {self.outcome}")

    def _differences(self, axes: Axes, predicted: FloatArray, rest: FloatArray) -> None:
        axes.axhline(0, color=SOFT, linewidth=1, zorder=1)
        floor = self.check.expected
        if floor:
            axes.axhspan(-2 * floor, 2 * floor, color=HAIR, alpha=0.55, zorder=0, linewidth=0)
        _scatter(axes, predicted, rest)
        low, high = _span(np.concatenate([rest, [0.0]]))
        reach = max(-low, high) * 1.05
        axes.set(xlim=_span(predicted), ylim=(-reach, reach))
        axes.set_title("Left over" + (" (band: ± 2 × noise)" if floor else ""))
        axes.set_xlabel(f"predicted {self.outcome}")
        axes.set_ylabel(f"observed − predicted {self.outcome}")
        self._name_worst(axes, predicted, rest)

    def _name_worst(self, axes: Axes, predicted: FloatArray, rest: FloatArray) -> None:
        """Name the worst cells, leaving out a name that would run into one already there."""
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        named: list[float] = []
        wide = axes.get_position().width * self.width
        for place in range(min(NAMED, len(rest))):
            if all(abs(rest[place] - other) > 0.06 * (high - low) for other in named):
                named.append(float(rest[place]))
                side = -1 if predicted[place] > (left + right) / 2 else 1
                room = (predicted[place] - left if side < 0 else right - predicted[place]) / (right - left) * wide
                axes.annotate(
                    self._cell(place, room / _LETTER - 2),
                    (predicted[place], rest[place]),
                    (7 * side, 0),
                    textcoords="offset points",
                    ha="right" if side < 0 else "left",
                    va="center",
                    fontsize=11,
                )

    def _cell(self, place: int, limit: float) -> str:
        """Return the cell's levels in at most so many letters."""
        names = self.table.columns[: len(self.audit.design.factors)]
        levels = [shorten(str(self.table[name][self._drawn[place]]), 14) for name in names]
        return shorten(" · ".join(levels), min(limit, 34))


def _scatter(axes: Axes, across: FloatArray, up: FloatArray) -> None:
    axes.plot(across, up, "o", ms=4.2, mfc=POINT, mec=PAPER, mew=0.5)


def _span(values: FloatArray) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return low - room, high + room
