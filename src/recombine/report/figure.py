"""What every figure is: something that draws itself and hands back the table behind the drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.report.theme import inline_svg, theme
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class Figure(ABC):
    """A figure with its table.

    Subclasses give ``name`` (for ids), ``table`` (the numbers shown), ``alternative`` (the figure in one sentence, for
    those who do not see it) and ``_draw``.
    """

    name = "figure"

    @property
    @abstractmethod
    def table(self) -> Table:
        """The numbers that the figure shows."""

    @property
    @abstractmethod
    def alternative(self) -> str:
        """What the figure shows, in a sentence."""

    @abstractmethod
    def _draw(self) -> Canvas:
        """Draw under the theme."""

    def draw(self) -> Canvas:
        """Return the matplotlib figure."""
        with theme():
            return self._draw()

    def svg(self) -> str:
        """Return the figure as an ``<svg>`` element to put into an HTML page."""
        with theme():
            return inline_svg(self._draw(), self.name, self.alternative)

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file whose suffix names the format (svg, pdf, png); the same figure, the same bytes."""
        target = Path(path)
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        if target.suffix.lower() not in dates:
            raise InputError(f"{target.name} does not end in .svg, .pdf or .png; choose one of these formats")
        with theme():
            self._draw().savefig(target, metadata=dates[target.suffix.lower()])
        return target

    def _repr_html_(self) -> str:
        return self.svg()
