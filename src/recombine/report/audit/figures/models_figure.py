"""Errors of several models by verdict: what no model can know beside what a model merely misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.report.audit.sections import MODEL_VERDICTS
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, PAPER, WIDTH, inches, shorten, symbol_marker, verdict_legend
from recombine.tables.table import Table
from recombine.words.captions import ERROR_AXIS, TRAINED_ON, models_alternative
from recombine.writing import listing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: An error over fewer cells than this is drawn hollow.
MIN_CELLS_SOLID = 10
_ROW, _MARGIN = 30, 88


class ModelsFigure(Figure):
    """Dot plot of the root mean squared error of each model, split by verdict, one panel per training share.

    Parameters
    ----------
    models : Table
        As `Audit.compare_models` returns it.
    outcome : str
        Name of the outcome, for the axis.
    """

    name = "models"
    by_night = True

    def __init__(self, models: Table, outcome: str = "outcome") -> None:
        words = [name for verdict in MODEL_VERDICTS for name in (verdict.word, f"{verdict.word} cells")]
        missing = [name for name in ("share", "model", *words) if name not in models.columns]
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
        return models_alternative(self._models)

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        shares = list(dict.fromkeys(self._models["share"].tolist()))
        names = list(dict.fromkeys(self._models["model"].tolist()))
        lines = len(shares) if self.width < WIDTH else 1
        height = lines * (_ROW * len(names) + _MARGIN)
        figure = Canvas(figsize=inches(self.width, height))
        shape = (lines, len(shares) // lines)
        gaps = {"wspace": 0.08, "hspace": 80 / (_ROW * len(names))}
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
        axes.set_xlim(0, 1.06 * self._largest)
        axes.grid(axis="y", visible=False)
        axes.set_title(TRAINED_ON.format(share=share), fontsize=12, pad=8, weight="normal", loc="right")
        unit = shorten(self.outcome, 26 if self.width >= WIDTH else 18)
        axes.set_xlabel(ERROR_AXIS.format(unit=unit), loc="right")

    @property
    def _largest(self) -> float:
        errors = np.concatenate([self._models[verdict.word] for verdict in MODEL_VERDICTS])
        return float(np.nanmax(errors, initial=0.0)) or 1.0

    def _row(self, axes: Axes, row: dict[str, Any], height: int) -> None:
        errors = {verdict: float(row[verdict.word]) for verdict in MODEL_VERDICTS if not np.isnan(row[verdict.word])}
        if errors:
            axes.plot([min(errors.values()), max(errors.values())], [height] * 2, color=HAIR, linewidth=2, zorder=1)
        for verdict, error in errors.items():
            colour = verdict.colour if row[f"{verdict.word} cells"] >= MIN_CELLS_SOLID else PAPER
            look: dict[str, Any] = {"ms": 9, "mfc": colour, "mec": INK, "mew": 0.5, "zorder": 3}
            axes.plot([error], [height], linestyle="none", marker=symbol_marker(verdict), **look)
