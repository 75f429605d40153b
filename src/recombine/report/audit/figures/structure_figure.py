"""The ladder of structures and, under a curved scale, the curve: what explains held-out seen cells."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, PAPER, POINT, SOFT, WIDTH, inches, shorten
from recombine.tables.table import Table
from recombine.words.captions import CURVE, structures_alternative
from recombine.writing import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit

#: Seen cells drawn about the curve at most.
MOST_POINTS = 700
#: R2 below which a rung is drawn at the left end.
LEAST = -0.25
_ROW, _MARGIN, _CURVE = 32, 84, 330


class StructureFigure(Figure):
    """Left: what each structure explains of held-out seen cells, with its standard error, and what noise leaves.

    Right, under a curved scale: the curve from the hidden sum to the outcome, and the seen cells about it.

    Parameters
    ----------
    audit : Audit
        Whose structures were scored.
    """

    name = "structures"
    by_night = True

    def __init__(self, audit: Audit) -> None:
        if audit.choice.ladder is None:
            raise InputError("no structures were scored, so there is nothing to draw; name an outcome with --outcome")
        self.audit = audit
        self.ladder = audit.choice.ladder
        fit = audit.choice.fit
        self.fit = None if fit is None or fit.curve is None else fit

    @cached_property
    def table(self) -> Table:
        """One row per structure: name, share explained, its standard error, cells, whether it was chosen."""
        names = ("name", "r2", "error", "cells", "chosen")
        return Table({name: [getattr(rung, name) for rung in self.ladder.rungs] for name in names})

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return structures_alternative(self.ladder, self.fit is not None)

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        rungs, width = _ROW * len(self.ladder.rungs) + _MARGIN, self.width
        stacked = self.fit is not None and width < WIDTH
        height = rungs + _CURVE if stacked else rungs if self.fit is None else max(rungs, _CURVE)
        half = width if self.fit is None or stacked else width / 2
        figure = Canvas(figsize=inches(width, height))

        def axes(x: float, bottom: float, wide: float, tall: float) -> Axes:
            return figure.add_axes((x / width, bottom / height, wide / width, tall / height))

        self._ladder(axes(96, height - rungs + 50 if stacked else 50, half - 116, (rungs if stacked else height) - 84))
        if self.fit is not None:
            self._bent(axes(66 + width - half, 50, half - 86, (_CURVE - 100) if stacked else height - 84))
        return figure

    def _ladder(self, axes: Axes) -> None:
        rungs = self.ladder.rungs
        for height, rung in enumerate(rungs):
            at = max(rung.r2, LEAST)
            reach = [max(at - rung.error, LEAST), min(at + rung.error, 1.0)]
            axes.plot(reach, [height] * 2, color=SOFT, linewidth=1.5, zorder=2)
            axes.plot([at], [height], "o", ms=9, mfc=POINT if rung.chosen else PAPER, mec=INK, mew=0.8, zorder=3)
        if self.ladder.ceiling is not None:
            axes.axvline(self.ladder.ceiling, color=SOFT, linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
        axes.set_yticks(range(len(rungs)), [f"{rung.name}" for rung in rungs])
        for label, rung in zip(axes.get_yticklabels(), rungs, strict=True):
            label.set_fontweight("bold" if rung.chosen else "normal")
        axes.set_ylim(-0.6, len(rungs) - 0.4)
        low = min(min(rung.r2 - rung.error for rung in rungs), 0.98)
        axes.set_xlim(max(low, LEAST) - 0.04, 1.02)
        axes.grid(axis="y", visible=False)
        axes.set_title("Share explained" + (" (dashes: all but noise)" if self.ladder.ceiling is not None else ""))
        axes.set_xlabel("held-out R², ± standard error")

    @cached_property
    def _drawn(self) -> IntArray:
        count = len(self.audit.design.seen)
        if count <= MOST_POINTS:
            return np.arange(count)
        return np.sort(np.random.default_rng(self.audit.seed).permutation(count)[:MOST_POINTS])

    def _bent(self, axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        design = self.audit.design
        assert self.fit is not None
        assert self.fit.curve is not None
        assert self.fit.seen_range is not None
        assert design.outcome is not None
        sums = self.fit.latent(design.seen[self._drawn])
        assert sums is not None
        axes.plot(sums, design.outcome[design.train][self._drawn], "o", ms=3.6, mfc=POINT, mec=PAPER, mew=0.4, zorder=1)
        across = np.linspace(*self.fit.seen_range, 200)
        axes.plot(across, self.fit.curve(across), color=INK, linewidth=2.2, zorder=3)
        for end in self.fit.seen_range:
            axes.axvline(end, color=HAIR, linewidth=1, zorder=0)
        axes.yaxis.set_major_locator(MaxNLocator(6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))
        axes.set_title(CURVE)
        axes.set_xlabel("hidden sum of effects")
        axes.set_ylabel(shorten(design.outcome_column.name or "outcome", 24 if self.width >= WIDTH else 15))
