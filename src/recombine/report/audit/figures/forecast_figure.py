"""How much of each factor's effect networks carry over to unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.report.audit.network_text import told_slopes
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, SOFT, WIDTH, inches, shorten
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit

_ROW, _MARGIN = 30, 62


class SlopeFigure(Figure):
    """Share of each factor's effect that arrives on unseen cells: a dot, and the range from NTK to NNGP.

    Parameters
    ----------
    audit : Audit
        With an outcome, and unseen cells that are determined.
    """

    name = "slopes"
    by_night = True

    def __init__(self, audit: Audit) -> None:
        self._rows = told_slopes(audit.forecast)
        if not self._rows:
            raise InputError("there is no forecast to draw: no outcome, or no factor whose effect reaches unseen cells")

    @property
    def table(self) -> Table:
        """One row per factor: the slope, and what each kernel says."""
        return Table({name: [row[name] for row in self._rows] for name in ("factor", "slope", "ntk", "nngp")})

    @property
    def alternative(self) -> str:
        """The figure in a sentence."""
        parts = [f"{row['factor']} {row['slope']:.0%}" for row in self._rows]
        return f"Dot plot of the share of each factor's effect that reaches unseen cells: {'; '.join(parts)}."

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        height = _ROW * len(self._rows) + _MARGIN
        figure = Canvas(figsize=inches(self.width, height))
        axes = figure.subplots()
        figure.subplots_adjust(left=min(180 / self.width, 0.4), right=0.975, top=1 - 12 / height, bottom=48 / height)
        for place, row in enumerate(self._rows):
            axes.plot([row["ntk"], row["nngp"]], [place] * 2, color=HAIR, linewidth=4, zorder=2)
            axes.plot([row["slope"]], [place], linestyle="none", marker="o", ms=8, mfc=INK, mec=INK, zorder=3)
        axes.axvline(1, color=SOFT, linewidth=1, zorder=1)
        axes.set_yticks(
            range(len(self._rows)),
            [shorten(str(row["factor"]), 26 if self.width >= WIDTH else 17) for row in self._rows],
        )
        axes.set_ylim(len(self._rows) - 0.4, -0.6)
        axes.set_xlim(min(0.0, axes.get_xlim()[0]), max(1.06, axes.get_xlim()[1]))
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("share of the effect that reaches unseen cells", loc="right")
        return figure
