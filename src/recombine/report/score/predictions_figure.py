"""Predicted against observed, one panel per model, by verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score import ModelScore, Score
from recombine.report.figure import Figure
from recombine.report.theme import INK, SOFT, WIDTH, inches, shorten, symbol_marker, verdict_legend
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words.captions import PREDICTIONS_ALTERNATIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Panels at most, and points of one verdict in a panel.
MAX_MODELS_DRAWN, MAX_POINTS_DRAWN = 4, 400
VERDICTS = (
    Verdict.SEEN,
    Verdict.UNDECIDED,
    Verdict.BEYOND,
    Verdict.UNSEEN_LEVEL,
    Verdict.DISCONNECTED,
    Verdict.DETERMINED,
)


class PredictionsFigure(Figure):
    """Scatter of predicted against observed means of held-out cells; of several classes one point per cell and class.

    Parameters
    ----------
    score : Score
    """

    name = "predictions"
    by_night = True

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
            if len(mine) > MAX_POINTS_DRAWN:
                mine = np.sort(np.random.default_rng(0).permutation(mine)[:MAX_POINTS_DRAWN])
            points.append((verdict, self.score.observed[mine].ravel(), model.predicted[mine].ravel()))
        return points

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        across = min(len(self.models), 2) if self.width >= WIDTH else 1
        down = -(-len(self.models) // across)
        side = min((self.width - 40) / across - 70, 330.0)
        height = 40 + down * (side + 74)
        figure = Canvas(figsize=inches(self.width, height))
        ends = self._ends
        for position, model in enumerate(self.models):
            left = 66 + (position % across) * (side + 82)
            bottom = height - 40 - (position // across + 1) * (side + 74) + 52
            axes = figure.add_axes((left / self.width, bottom / height, side / self.width, side / height))
            self._panel(axes, model, ends)
            if position % across == 0:
                axes.set_ylabel(shorten(f"predicted {self._unit}", 34))
            axes.set_xlabel(shorten(f"observed {self._unit}", 34), loc="right")
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

    def _panel(self, axes: Axes, model: ModelScore, ends: tuple[float, float]) -> None:
        axes.plot(ends, ends, color=SOFT, linewidth=1.0, zorder=1)
        for verdict, observed, predicted in self._points(model):
            look: dict[str, Any] = {"ms": 6, "mfc": verdict.colour, "mec": INK, "mew": 0.35, "alpha": 0.8, "zorder": 3}
            axes.plot(observed, predicted, linestyle="none", marker=symbol_marker(verdict), **look)
        axes.set(xlim=ends, ylim=ends)
        axes.set_title(shorten(model.name, 30), fontsize=12.5, pad=6)
