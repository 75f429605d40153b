"""Figures of an audit: whether effects add, which structure holds, what carries the outcome, what other models miss."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.jobs.listing import level_columns
from recombine.jobs.values.outcome_shares import SIZES
from recombine.report.audit.page_tables import MODEL_VERDICTS
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, PAPER, POINT, SOFT, WIDTH, shorten, symbol_marker, verdict_legend
from recombine.tables.table import Table
from recombine.words import captions
from recombine.words.values import noise_phrase
from recombine.writing import compact, listing, plural, whole_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.additivity import AdditivityCheck, OrderCheck
    from recombine.jobs.audit.audit import Audit

#: Points drawn at most, which keeps files light, and cells named, the worst ones.
MAX_POINTS_DRAWN, MAX_CELLS_NAMED = 700, 3
#: R2 below which a rung is drawn at the left end.
MIN_R2_DRAWN = -0.25
#: An error over fewer cells than this is drawn hollow.
MIN_CELLS_SOLID = 10
#: Sizes in pixels.
_SCATTER_HEIGHT, _LETTER_WIDTH = 380, 6.6
_RUNG_ROW, _RUNG_MARGIN, _CURVE_HEIGHT = 32, 84, 330
_MODEL_ROW, _MODEL_MARGIN = 30, 88
_SET_ROW, _SIZE_ROW, _TITLE, _FOOT = 26, 30, 34, 46
#: Sets of factors that have a row of their own.
MAX_SETS_DRAWN = 8
#: How dark the parts of a bar are: single factors, pairs, larger sets, noise.
_SHADES = ((POINT, 1.0), (POINT, 0.55), (POINT, 0.25), (HAIR, 1.0))


class AdditivityFigure(Figure):
    """Each seen cell against its value predicted from the other seen cells, and the differences.

    Left: observed against predicted with the line of equality. Right: what is left over, with a band of twice what
    noise alone would make of it where that is known.
    """

    name = "additivity"

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
        return captions.ADDITIVITY_ALTERNATIVE.format(tested=check.tested, order=check.order, error=check.error)

    @property
    def outcome(self) -> str:
        """The outcome's name, short enough for an axis."""
        return shorten(self.audit.design.outcome_column.name or "outcome", 24 if self.width >= WIDTH else 15)

    @cached_property
    def _drawn(self) -> IntArray:
        """Rows of the table that are drawn: all of them, or the worst ones and a random part of the rest."""
        count = len(self.table)
        worst = np.argsort(-np.abs(self.table["difference"]), kind="stable")
        if count <= MAX_POINTS_DRAWN:
            return worst
        others = np.random.default_rng(self.audit.seed).permutation(worst[50:])[: MAX_POINTS_DRAWN - 50]
        return np.concatenate([worst[:50], others])

    @property
    def thinned(self) -> bool:
        """Whether only part of the cells is drawn."""
        return len(self._drawn) < len(self.table)

    def _draw(self) -> Canvas:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        narrow = self.width < WIDTH
        figure = self._canvas(_SCATTER_HEIGHT * (1.6 if narrow else 1.0))
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
        title = "Left over" + (" (band: by noise alone)" if floor else "")
        axes.set(
            xlim=_span(predicted), ylim=(-reach, reach), title=title, ylabel=f"observed − predicted {self.outcome}"
        )
        self._name_worst(axes, predicted, difference)

    def _name_worst(self, axes: Axes, predicted: FloatArray, difference: FloatArray) -> None:
        """Name the worst cells, leaving out a name that would run into one already there."""
        (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        heights: list[float] = []
        pixels = axes.get_position().width * self.width / (high - low)
        for row, (x, y) in enumerate(zip(predicted[:MAX_CELLS_NAMED], difference[:MAX_CELLS_NAMED], strict=True)):
            if all(abs(y - height) > 0.06 * (top - bottom) for height in heights):
                heights.append(float(y))
                to_left = x > (low + high) / 2
                room = (x - low if to_left else high - x) * pixels
                look: dict[str, Any] = {"ha": "right" if to_left else "left", "va": "center", "fontsize": 11}
                text, shift = self._cell(row, room / _LETTER_WIDTH - 2), (-7 if to_left else 7, 0)
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


class StructureFigure(Figure):
    """Left: what each structure explains of held-out seen cells, with its standard error, and what noise leaves.

    Right, under a curved scale: the curve from the hidden sum to the outcome, and the seen cells about it.
    """

    name = "structures"

    def __init__(self, audit: Audit) -> None:
        if audit.choice.ladder is None:
            raise InputError("no structures were scored, so there is nothing to draw; name an outcome with --outcome")
        self.audit = audit
        self.ladder = audit.choice.ladder
        fit = audit.choice.fit
        self.fit = None if fit is None or fit.curve is None else fit

    @property
    def tells(self) -> bool:
        """Whether there is something to see: several structures or a curve, which explain more than chance does."""
        return (len(self.ladder.rungs) > 1 or self.fit is not None) and not self.audit.values.at_mean

    @cached_property
    def table(self) -> Table:
        """One row per structure: name, share explained, its standard error, cells, whether it was chosen."""
        names = ("name", "r2", "error", "cells", "chosen")
        return Table({name: [getattr(rung, name) for rung in self.ladder.rungs] for name in names})

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return captions.structures_alternative(self.ladder, self.fit is not None)

    def _draw(self) -> Canvas:
        rungs, width = _RUNG_ROW * len(self.ladder.rungs) + _RUNG_MARGIN, self.width
        stacked = self.fit is not None and width < WIDTH
        height = rungs + _CURVE_HEIGHT if stacked else rungs if self.fit is None else max(rungs, _CURVE_HEIGHT)
        half = width if self.fit is None or stacked else width / 2
        figure = self._canvas(height)
        frame = 96, height - rungs + 50 if stacked else 50, half - 116, (rungs if stacked else height) - 84
        self._ladder(self._axes(figure, height, *frame))
        if self.fit is not None:
            beside = 66 + width - half, 50, half - 86, (_CURVE_HEIGHT - 100) if stacked else height - 84
            self._bent(self._axes(figure, height, *beside))
        return figure

    def _ladder(self, axes: Axes) -> None:
        rungs = self.ladder.rungs
        for height, rung in enumerate(rungs):
            at = max(rung.r2, MIN_R2_DRAWN)
            reach = [max(at - rung.error, MIN_R2_DRAWN), min(at + rung.error, 1.0)]
            axes.plot(reach, [height] * 2, color=SOFT, linewidth=1.5, zorder=2)
            axes.plot([at], [height], "o", ms=9, mfc=POINT if rung.chosen else PAPER, mec=INK, mew=0.8, zorder=3)
        if self.ladder.ceiling is not None:
            axes.axvline(self.ladder.ceiling, color=SOFT, linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
        axes.set_yticks(range(len(rungs)), [f"{rung.name}" for rung in rungs])
        for label, rung in zip(axes.get_yticklabels(), rungs, strict=True):
            label.set_fontweight("bold" if rung.chosen else "normal")
        axes.set_ylim(-0.6, len(rungs) - 0.4)
        low = min(min(rung.r2 - rung.error for rung in rungs), 0.98)
        axes.set_xlim(max(low, MIN_R2_DRAWN) - 0.04, 1.02)
        axes.grid(axis="y", visible=False)
        axes.set_title("Share explained" + (" (dashes: all but noise)" if self.ladder.ceiling is not None else ""))
        axes.set_xlabel("held-out R², ± standard error")

    @cached_property
    def _drawn(self) -> IntArray:
        count = len(self.audit.design.seen)
        if count <= MAX_POINTS_DRAWN:
            return np.arange(count)
        return np.sort(np.random.default_rng(self.audit.seed).permutation(count)[:MAX_POINTS_DRAWN])

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
        axes.set_title(captions.CURVE)
        axes.set_xlabel("hidden sum of effects")
        axes.set_ylabel(shorten(design.outcome_column.name or "outcome", 24 if self.width >= WIDTH else 15))


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


class ModelsFigure(Figure):
    """Dot plot of the root mean squared error of each model, split by verdict, one panel per training share.

    ``models`` is what `Audit.compare_models` returns, ``outcome`` the name of the outcome for the axis.
    """

    name = "models"

    def __init__(self, models: Table, outcome: str = "outcome") -> None:
        words = [name for verdict in MODEL_VERDICTS for name in (verdict.word, f"{verdict.word} cells")]
        missing = [name for name in ("share", "model", "cells", *words) if name not in models.columns]
        if missing:
            raise InputError(f"the model table lacks {listing(missing)}; pass what audit.compare_models() returns")
        self._models = models
        self.outcome = outcome

    @property
    def table(self) -> Table:
        """The table that is drawn."""
        return self._models

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return captions.models_alternative(self._models)

    def _draw(self) -> Canvas:
        shares = list(dict.fromkeys(self._models["share"].tolist()))
        names = list(dict.fromkeys(self._models["model"].tolist()))
        lines = len(shares) if self.width < WIDTH else 1
        height = lines * (_MODEL_ROW * len(names) + _MODEL_MARGIN)
        figure = self._canvas(height)
        shape = (lines, len(shares) // lines)
        gaps = {"wspace": 0.08, "hspace": 80 / (_MODEL_ROW * len(names))}
        panels = figure.subplots(*shape, sharex=lines == 1, sharey=True, squeeze=False, gridspec_kw=gaps).reshape(-1)
        figure.subplots_adjust(
            left=160 / self.width, right=1 - 16 / self.width, top=1 - 46 / height, bottom=46 / height
        )
        for axes, share in zip(panels, shares, strict=True):
            self._panel(axes, share, names)
        verdict_legend(figure, MODEL_VERDICTS)
        return figure

    def _panel(self, axes: Axes, share: float, names: list[str]) -> None:
        for row in self._models.where(self._models["share"] == share).rows():
            self._row(axes, row, names.index(row["model"]))
        axes.set_yticks(range(len(names)), [shorten(name, 26) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        errors = np.concatenate([self._models[verdict.word] for verdict in MODEL_VERDICTS])
        axes.set_xlim(0, 1.06 * (float(np.nanmax(errors, initial=0.0)) or 1.0))
        axes.grid(axis="y", visible=False)
        axes.set_title(
            captions.TRAINED_ON.format(share=whole_percent(share)), fontsize=12, pad=8, weight="normal", loc="right"
        )
        unit = shorten(self.outcome, 26 if self.width >= WIDTH else 18)
        axes.set_xlabel(captions.ERROR_AXIS.format(unit=unit), loc="right")

    def _row(self, axes: Axes, row: dict[str, Any], height: int) -> None:
        errors = {verdict: float(row[verdict.word]) for verdict in MODEL_VERDICTS if not np.isnan(row[verdict.word])}
        if errors:
            axes.plot([min(errors.values()), max(errors.values())], [height] * 2, color=HAIR, linewidth=2, zorder=1)
        for verdict, error in errors.items():
            colour = verdict.colour if row[f"{verdict.word} cells"] >= MIN_CELLS_SOLID else PAPER
            look: dict[str, Any] = {"ms": 9, "mfc": colour, "mec": INK, "mew": 0.5, "zorder": 3}
            axes.plot([error], [height], linestyle="none", marker=symbol_marker(verdict), **look)
