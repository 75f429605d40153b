"""By how much the group norm errs less than plain L2, by how many units decide and by how balanced gates are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import stacked
from recombine.lab.papers.gated_linear.readings.gains import BALANCE, TEACHERS, gains
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, MARKS, palette
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TEACHER_PANEL, BALANCE_PANEL = "labels by a teacher with 20 units", "8x8 digits"
OVER = {"effective": "over SVM-L2", "zeta": "over L2 on zeta"}


def _table(results: Mapping[str, Evidence]) -> Table:
    teachers, balance = results["teachers"].table, results["balance"].table
    tables = [_means(gains(teachers, TEACHERS, norm), "deciding", TEACHER_PANEL, words) for norm, words in OVER.items()]
    plain = gains(balance, BALANCE)
    tables += [
        _means(of_units, "quantile", BALANCE_PANEL, f"{units} units")
        for units, of_units in sorted(plain.by("units").items())
    ]
    return stacked(*tables)


def _means(rows: Table, key: str, panel: str, series: str) -> Table:
    """Return the mean over seeds of each seed's gain, over all numbers of samples together."""
    by_seed = Table.from_rows(
        {"at": float(value), "seed": seed, "gain": float(group["gain"].mean())}
        for (value, seed), group in sorted(rows.by(key, "seed").items())
    )
    means = over_seeds(by_seed, ("at",), ("gain",))
    about = {"panel": [panel] * len(means), "series": [series] * len(means)}
    return Table(about | {name: means[name] for name in means.columns})


def _draw(canvas: Canvas, table: Table) -> None:
    teachers, digits = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.15, wspace=0.18)
    _panel(teachers, table.only(panel=TEACHER_PANEL), TEACHER_PANEL)
    teachers.set_xscale("log")
    counts = sorted({int(value) for value in table.only(panel=TEACHER_PANEL)["at"]})
    teachers.set_xticks(counts, [str(count) for count in counts])
    teachers.minorticks_off()
    teachers.set(xlabel="units that decide", ylabel="group norm errs less by (points)")
    _panel(digits, table.only(panel=BALANCE_PANEL), BALANCE_PANEL)
    digits.set(xlabel="share of images on which a gate is shut")


def _panel(axes: Axes, table: Table, title: str) -> None:
    for order, (series, line) in enumerate(table.by("series").items()):
        style: dict[str, Any] = {"marker": MARKS[order], "ls": DASHES[order], "color": palette()[order], "capsize": 2}
        axes.errorbar(line["at"], line["gain"], np.nan_to_num(line["gain 2se"]), label=str(series), ms=5, **style)
    axes.axhline(0, color="0.5", linewidth=1.0)
    axes.set_title(title, fontsize=11, loc="left")
    axes.legend(frameon=False, fontsize=9.5)


def _say(table: Table) -> str:
    texts = [
        f"{panel}, {series}: {line['gain'][0]:+.1f} points at {line['at'][0]:g}, "
        f"{line['gain'][-1]:+.1f} at {line['at'][-1]:g}"
        for (panel, series), line in table.by("panel", "series").items()
    ]
    return f"By how much the group norm errs less than plain L2; {'; '.join(texts)}."


FIGURES = (
    Plot(
        "gains",
        title="When the group norm beats plain L2 on the same gates",
        caption=(
            "Error of the plain norm less that of the group norm; above zero the implicit bias helps. Left: normal "
            "inputs and labels by some of 20 gated units; right: digits 0 to 4 against 5 to 9, over SVM-L2. Mean and "
            "two standard errors over 20 seeds of samples and gates, numbers of samples together."
        ),
        experiments=("teachers", "balance"),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=360,
    ),
)
