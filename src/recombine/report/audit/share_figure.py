"""Figure of what carries an outcome: shares of factors and pairs with ranges, and what networks begin with."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.jobs.values.outcome_shares import SIZES
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, PAPER, POINT, SOFT, WIDTH, shorten
from recombine.words import captions
from recombine.words.values import noise_phrase
from recombine.writing import plural, whole_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit
    from recombine.tables.table import Table

#: Sets of factors that have a row of their own.
MAX_SETS_DRAWN = 8
#: Sizes in pixels.
_SET_ROW, _SIZE_ROW, _TITLE, _FOOT = 26, 30, 34, 46
#: How dark the parts of a bar are: single factors, pairs, larger sets, noise.
_SHADES = ((POINT, 1.0), (POINT, 0.55), (POINT, 0.25), (HAIR, 1.0))


class ShareFigure(Figure):
    """Above: the share of the outcome's variance that each set of factors carries, with its 90 % range.

    Below: the same by size of set, beside what wide networks begin with.
    """

    name = "shares"

    def __init__(self, audit: Audit) -> None:
        if audit.values.shares is None:
            raise InputError("nothing is known to carry the outcome, so there is nothing to draw")
        self.shares = audit.values.shares
        self.outcome = audit.design.outcome_column.name or "outcome"

    @property
    def table(self) -> Table:
        """One row per set of factors: share and range."""
        return self.shares.table

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return captions.shares_alternative(self.shares, self.outcome)

    @cached_property
    def _rows(self) -> list[tuple[str, float, float, float]]:
        """Names, shares and ends of ranges from top to bottom, the noise last."""
        rows = [(str(row["set"]), row["share"], row["low"], row["high"]) for row in self.table.rows()]
        sets = [row for row in rows[:-1] if row[3] >= 0.005][:MAX_SETS_DRAWN]
        return [*sets, (noise_phrase(self.shares), *rows[-1][1:])]

    @property
    def _margin(self) -> int:
        """Pixels left of the axes, for names."""
        return 216 if self.width >= WIDTH else 136

    @property
    def _title_start(self) -> float:
        """Where titles begin, in widths of the axes: above the names where there is little room."""
        return 0.0 if self.width >= WIDTH else -(self._margin - 8) / (self.width - self._margin - 24)

    def _draw(self) -> Canvas:
        sizes = list(self.shares.by_size.rows())
        tops = _SET_ROW * len(self._rows), _SIZE_ROW * len(sizes)
        height, wide = sum(tops) + 2 * (_TITLE + _FOOT), self.width - self._margin - 24
        figure = self._canvas(height)
        self._sets(self._axes(figure, height, self._margin, tops[1] + _TITLE + 2 * _FOOT, wide, tops[0]))
        self._sizes(self._axes(figure, height, self._margin, _FOOT, wide, tops[1]))
        return figure

    def _sets(self, axes: Axes) -> None:
        for height, (_, share, low, high) in enumerate(self._rows):
            noise = height == len(self._rows) - 1
            axes.plot([low, high], [height] * 2, color=SOFT, linewidth=1.5, zorder=2)
            colour = PAPER if noise else POINT
            axes.plot([share], [height], "o", ms=8, mfc=colour, mec=INK, mew=0.8, zorder=3, clip_on=False)
        wide = self.width >= WIDTH
        names = [shorten(name, 30 if wide else 15) for name, *_ in self._rows[:-1]]
        noise_name = self._rows[-1][0] if wide else self._rows[-1][0].replace(" or ", "\nor ")
        axes.set_yticks(range(len(self._rows)), [*names, noise_name])
        axes.set_ylim(len(self._rows) - 0.4, -0.6)
        axes.set_title(
            captions.SHARES_TITLE.format(outcome=shorten(self.outcome, 30 if wide else 18)), x=self._title_start
        )
        self._percent_axis(axes)

    def _sizes(self, axes: Axes) -> None:
        names = []
        for height, row in enumerate(self.shares.by_size.rows()):
            names.append(f"network, {plural(row['layers'], 'layer')}" if row["layers"] else str(row["of"]))
            start = 0.0
            for size, (colour, shade) in zip((*SIZES, "noise"), _SHADES, strict=True):
                axes.barh([height], [row[size]], 0.62, left=start, color=colour, alpha=shade, linewidth=0)
                start += row[size]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_title(captions.SIZES_TITLE, x=self._title_start)
        self._percent_axis(axes)

    def _percent_axis(self, axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter

        axes.set_xlim(0, 1.0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: whole_percent(value)))
        axes.grid(axis="y", visible=False)
