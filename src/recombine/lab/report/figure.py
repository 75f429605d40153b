"""A paper's figure, drawn: the plan of `recombine.lab.papers` under the package's theme."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES
from recombine.lab.papers.results import Evidence
from recombine.report.figure import Figure
from recombine.report.theme import INK, WIDTH, inches
from recombine.tables.table import Table
from recombine.writing import listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure as Canvas

#: Lines are told apart by marker and dash first, so that they survive a grey printer.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Lines beyond the first, which is ink; told apart by lightness as well as by hue.
COLOURS = (INK, "#1b6ca8", "#c2551b", "#4c9a63", "#8a5a9c", "#b08d1e")


class PaperFigure(Figure):
    """One figure of a paper.

    Parameters
    ----------
    plot : Plot
    results : mapping of str to Evidence

    Examples
    --------
    >>> from recombine.lab.papers import find
    >>> PaperFigure(find("kernel-theory").figures[0], {})
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: figure 'salience' needs results of salience; run them first
    """

    by_night = False

    def __init__(self, plot: Plot, results: Mapping[str, Evidence]) -> None:
        missing = [name for name in plot.experiments if name not in results]
        if missing:
            raise InputError(f"figure {plot.name!r} needs results of {listing(missing)}; run them first")
        self.name = plot.name
        self.plot = plot
        self._results = results

    @cached_property
    def table(self) -> Table:
        """The numbers that the figure shows."""
        return self.plot.table(self._results)

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        return self.plot.alternative(self.table)

    @property
    def caption(self) -> str:
        """Caption, with how much of the grid the results shown are and the number of networks behind each mean."""
        names = [*self.plot.experiments, *(name for name in self.plot.optional if name in self._results)]
        scales = {name: self._results[name].extent for name in names}
        words = sorted(set(scales.values()))
        if len(words) > 1:
            words = [f"{name} {extent}" for name, extent in scales.items()]
        return f"{self.plot.caption} Run: {', '.join(words)}.{self._networks()}"

    def _networks(self) -> str:
        if "n" not in self.table.columns or not len(self.table):
            return ""
        fewest, largest = int(self.table["n"].min()), int(self.table["n"].max())
        return f" n = {largest}." if fewest == largest else f" n = {fewest} to {largest}."

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        with _cycle():
            canvas = Canvas(figsize=inches(WIDTH, self.plot.height))
            self.plot.draw(canvas, self.table)
        return canvas


@contextmanager
def _cycle() -> Iterator[None]:
    """Tell lines apart by colour, dash and marker at once."""
    import matplotlib
    from cycler import cycler

    count = len(COLOURS)
    dashes = [DASHES[index % len(DASHES)] for index in range(count)]
    marks = cycler(color=COLOURS) + cycler(linestyle=dashes) + cycler(marker=MARKERS[:count])
    with matplotlib.rc_context({"axes.prop_cycle": marks, "lines.linewidth": 1.5, "lines.markersize": 5}):
        yield
