"""What every figure is: something that draws itself and hands back the table behind the drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.output_files import open_beside
from recombine.report.theme import WIDTH, inches, inline_svg, theme
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


class Figure(ABC):
    """A figure with its table.

    Subclasses give ``name`` (for ids), ``table`` (the numbers shown), ``alternative`` (the figure in one sentence, for
    those who do not see it) and ``_draw``, which lays out in ``width`` pixels.
    """

    name = "figure"
    width: float = WIDTH
    #: Whether it can be read on dark paper, that of a page by night.
    by_night = True

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

    def svg(self, width: float | None = None) -> str:
        """Return the figure as an ``<svg>`` element to put into an HTML page, laid out ``width`` pixels wide."""
        name = self.name if width is None else f"{self.name}-{width:g}"
        with theme(), self._laid_out(width or self.width):
            return inline_svg(self._draw(), name, self.alternative, self.by_night)

    def _canvas(self, height: float) -> Canvas:
        """Return an empty drawing, so many pixels tall."""
        from matplotlib.figure import Figure as Canvas

        return Canvas(figsize=inches(self.width, height))

    def _axes(self, canvas: Canvas, height: float, x: float, bottom: float, wide: float, tall: float) -> Axes:
        """Add axes to a drawing of a ``height``, in pixels from its lower left."""
        return canvas.add_axes((x / self.width, bottom / height, wide / self.width, tall / height))

    @contextmanager
    def _laid_out(self, width: float) -> Iterator[None]:
        usual, self.width = self.width, width
        try:
            yield
        finally:
            self.width = usual

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file whose suffix names the format (svg, pdf, png); the same figure, the same bytes."""
        target = Path(path)
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        if target.suffix.lower() not in dates:
            raise InputError(f"{target.name} does not end in .svg, .pdf or .png; choose one of these formats")
        with theme(), open_beside(target) as file:
            ending = target.suffix.lower()
            self._draw().savefig(file, format=ending[1:], metadata=dates[ending])
        return target

    def _repr_html_(self) -> str:
        return self.svg()
