"""Figures of a score: the error as one stacked bar of causes per model, and predicted against observed means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.jobs.score import ModelScore, Score
from recombine.jobs.score.causes import CAUSES
from recombine.report.figure import Figure
from recombine.report.theme import INK, SOFT, WIDTH, ink_on, shorten, symbol_marker, text_width, verdict_legend
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words.captions import PREDICTIONS_ALTERNATIVE, SQUARED_ERROR
from recombine.words.score import causes_alternative
from recombine.words.verdicts import UNSEEN
from recombine.writing import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: A part at least so wide, in pixels per letter, carries its name.
_LETTER_PX = 7.4
BAR_HEIGHT_PX, _BOTTOM_PX = 46, 52
#: Errors beside the bars that are larger than this many times the largest bar would squeeze them.
_MAX_TIMES_BAR = 1.6
#: Panels at most, and points of one verdict in a panel.
MAX_MODELS_DRAWN, MAX_CELLS_DRAWN = 4, 400
#: In the order in which they are drawn, the last on top.
VERDICTS = (Verdict.SEEN, *reversed(UNSEEN))


class CausesFigure(Figure):
    """Stacked bars of squared error by cause, one per model; what offsets others stands left of zero."""

    name = "causes"

    def __init__(self, score: Score) -> None:
        if score.regressors is None:
            raise InputError("too few determined cells to tell causes apart, so there is no figure of them")
        self.score = score

    @property
    def table(self) -> Table:
        """One row per model and cause."""
        return self.score.causes

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return causes_alternative(self.score)

    def _draw(self) -> Canvas:
        models = self.score.models
        top = 14 + 15 * sum(value <= self._limits[1] for _, value in self._marks)
        height = top + _BOTTOM_PX + BAR_HEIGHT_PX * len(models) + self._legend_height
        figure = self._canvas(height)
        margin = min(40 + 7.0 * max(text_width(shorten(model.name, 20)) for model in models), 0.4 * self.width)
        bottom, tall = (_BOTTOM_PX + self._legend_height) / height, BAR_HEIGHT_PX * len(models) / height
        axes = figure.add_axes((margin / self.width, bottom, 1 - (margin + 18) / self.width, tall))
        self.draw_bars(axes, self.width - margin - 18)
        self._legend(figure, height)
        return figure

    def draw_bars(self, axes: Axes, width: float) -> None:
        """Draw the bars, without a legend, into axes that are so many pixels wide."""
        models, (low, high) = self.score.models, self._limits
        axes.set_xlim(low, high)
        pixels = width / (high - low)
        for row, model in enumerate(models):
            self._bar(axes, model, row, pixels)
        axes.set_ylim(len(models) - 0.45, -0.55)
        axes.set_yticks(range(len(models)), [shorten(model.name, 20) for model in models])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(lambda value, _: compact(round(value, 12)))
        axes.axvline(0, color=SOFT, linewidth=0.8)
        axes.set_xlabel(SQUARED_ERROR, loc="right")
        self._beside(axes, pixels)

    @property
    def _limits(self) -> tuple[float, float]:
        values = [np.array([amount.value for amount in model.causes.values()]) for model in self.score.models]
        low = min(float(amounts.clip(max=0).sum()) for amounts in values)
        top = max(float(amounts.clip(min=0).sum()) for amounts in values) or 1.0
        near = [value for _, value in self._marks if value <= _MAX_TIMES_BAR * top]
        return low - (0.02 * top if low < 0 else 0.0), 1.05 * max([top, *near])

    @property
    def _marks(self) -> list[tuple[str, float]]:
        names = {model.name for model in self.score.models}
        rows = self.score.errors.rows()
        return [
            (row["predictions"], float(row["squared error"]))
            for row in rows
            if row["predictions"] not in names and row["predictions"] in ("adding", "plain mean", "noise alone")
        ]

    def _bar(self, axes: Axes, model: ModelScore, row: int, pixels: float) -> None:
        ends = {True: 0.0, False: 0.0}
        for name, amount in model.causes.items():
            colour, hatch, value = CAUSES[name].colour, CAUSES[name].hatch, amount.value
            start = ends[value >= 0]
            look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": ink_on(colour), "linewidth": 0.6}
            axes.barh([row], [value], left=[start], height=0.62, **look)
            if abs(value) * pixels > _LETTER_PX * text_width(name) + 6 and not hatch:
                middle = start + value / 2
                axes.text(middle, row, name, ha="center", va="center", fontsize=11, color=ink_on(colour))
            ends[value >= 0] += value
        assert model.attribution is not None
        total = model.attribution.error.value
        axes.plot([total, total], [row - 0.4, row + 0.4], color=INK, linewidth=2.2, solid_capstyle="butt")

    def _beside(self, axes: Axes, pixels: float) -> None:
        """Mark what stands beside the models; a name that would run into another moves up a line."""
        low, high = self._limits
        taken: list[tuple[float, float, int]] = []
        for name, value in sorted(self._marks, key=lambda mark: mark[1]):
            if value > high:
                continue
            axes.axvline(value, color=SOFT, linewidth=1.1, linestyle=(0, (3, 2)), zorder=0.5)
            reach = 0.5 * _LETTER_PX * text_width(name) / pixels
            middle = float(np.clip(value, low + reach, high - reach))
            line = next(step for step in range(4) if all(step != row or middle - reach > end for _, end, row in taken))
            taken.append((middle - reach, middle + reach, line))
            look: dict[str, Any] = {"ha": "center", "fontsize": 11, "color": SOFT, "textcoords": "offset pixels"}
            axes.annotate(name, (middle, 1.0), (0, 4 + 15 * line), xycoords=axes.get_xaxis_transform(), **look)

    @property
    def _legend_rows(self) -> list[list[str]]:
        rows: list[list[str]] = [[]]
        cursor = 0.0
        for name in (name for name in CAUSES.names if any(name in model.causes for model in self.score.models)):
            label = 34 + _LETTER_PX * text_width(name)
            if cursor + label > self.width - 20 and rows[-1]:
                rows.append([])
                cursor = 0.0
            rows[-1].append(name)
            cursor += label
        return rows

    @property
    def _legend_height(self) -> float:
        return 22.0 * len(self._legend_rows)

    def _legend(self, figure: Canvas, height: float) -> None:
        from matplotlib.patches import Rectangle

        for line, names in enumerate(self._legend_rows):
            cursor, level = 10.0, self._legend_height - 16 - 22 * line
            for name in names:
                colour, hatch = CAUSES[name].colour, CAUSES[name].hatch
                corner = (cursor / self.width, level / height)
                size = (14 / self.width, 12 / height)
                box = Rectangle(corner, *size, transform=figure.transFigure, facecolor=colour, hatch=hatch)
                box.set(edgecolor=ink_on(colour), linewidth=0.6)
                figure.add_artist(box)
                figure.text((cursor + 19) / self.width, (level + 6) / height, name, va="center", fontsize=11.5)
                cursor += 34 + _LETTER_PX * text_width(name)


class PredictionsFigure(Figure):
    """Scatter of predicted against observed means of held-out cells, and of several classes one point for each."""

    name = "predictions"

    def __init__(self, score: Score) -> None:
        self.score = score

    @property
    def models(self) -> tuple[ModelScore, ...]:
        """The models that are drawn: the first few."""
        return self.score.models[:MAX_MODELS_DRAWN]

    @property
    def table(self) -> Table:
        """One row per drawn point."""
        rows = []
        for model in self.models:
            for verdict, observed, predicted in self._points(model):
                pairs = zip(observed.tolist(), predicted.tolist(), strict=True)
                rows += [
                    {"model": model.name, "verdict": verdict.word, "observed": outcome, "predicted": prediction}
                    for outcome, prediction in pairs
                ]
        return Table.from_rows(rows)

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        models = ", ".join(model.name for model in self.models)
        return PREDICTIONS_ALTERNATIVE.format(cells=len(self.score.codes), models=models)

    def _points(self, model: ModelScore) -> list[tuple[Verdict, FloatArray, FloatArray]]:
        points = []
        for verdict in VERDICTS:
            mine = np.flatnonzero(self.score.codes == verdict)
            if not len(mine):
                continue
            if len(mine) > MAX_CELLS_DRAWN:
                mine = np.sort(np.random.default_rng(0).permutation(mine)[:MAX_CELLS_DRAWN])
            points.append((verdict, self.score.observed[mine].ravel(), model.predicted[mine].ravel()))
        return points

    def _draw(self) -> Canvas:
        across = min(len(self.models), 2) if self.width >= WIDTH else 1
        down = -(-len(self.models) // across)
        side = min((self.width - 40) / across - 70, 330.0)
        height = 40 + down * (side + 74)
        figure = self._canvas(height)
        for position, model in enumerate(self.models):
            x = 66 + (position % across) * (side + 82)
            bottom = height - 40 - (position // across + 1) * (side + 74) + 52
            axes = self._axes(figure, height, x, bottom, side, side)
            self.draw_panel(axes, model)
            if position % across:
                axes.set_ylabel("")
        verdict_legend(figure, [verdict for verdict in VERDICTS if (self.score.codes == verdict).any()])
        return figure

    @property
    def _unit(self) -> str:
        return "chance" if self.score.classes else self.score.outcome_name

    @property
    def _ends(self) -> tuple[float, float]:
        values = np.concatenate([self.score.observed.ravel(), *(model.predicted.ravel() for model in self.models)])
        low, high = float(values.min()), float(values.max())
        margin = 0.04 * ((high - low) or 1.0)
        return low - margin, high + margin

    def draw_panel(self, axes: Axes, model: ModelScore) -> None:
        """Draw the points of one model into axes of any size."""
        ends = self._ends
        axes.set_xlabel(shorten(f"observed {self._unit}", 34), loc="right")
        axes.set_ylabel(shorten(f"predicted {self._unit}", 34))
        axes.plot(ends, ends, color=SOFT, linewidth=1.0, zorder=1)
        for verdict, observed, predicted in self._points(model):
            look: dict[str, Any] = {"ms": 6, "mfc": verdict.colour, "mec": INK, "mew": 0.35, "alpha": 0.8, "zorder": 3}
            axes.plot(observed, predicted, linestyle="none", marker=symbol_marker(verdict), **look)
        axes.set(xlim=ends, ylim=ends)
        axes.set_title(shorten(model.name, 30), fontsize=12.5, pad=6)
