"""Multi-task learning and pretraining: the figure of students of the authors' draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.multitask.figures.words import METHODS, draw_legend, method_looks
from recombine.lab.papers.multitask.readings.released import with_published
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Of each student: the authors' loss, and ours.
LOSSES = ("published", "least", "final")


def _table(results: Mapping[str, Evidence]) -> Table:
    rows: list[dict[str, Any]] = []
    for method in ("stl", "pt+ft", "mtl"):
        try:
            students, published = with_published(results["relu-released"].table, method)
        except MissingRowsError:
            continue
        about = {name: students[name] for name in ("method", "cosines", "n", "seed")}
        losses = dict(zip(LOSSES, (published, students["best"], students["loss"]), strict=True))
        rows += Table({**about, **losses}).rows()
    return Table.from_rows(rows) if rows else Table({name: [] for name in ("method", "n", *LOSSES)})


def _draw(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.09, right=0.985, top=0.84, bottom=0.17, wspace=0.08)
    values = np.concatenate([table[name] for name in LOSSES])
    ends = [values.min(), values.max()] if len(values) else [0.1, 1.0]
    looks = method_looks()
    for axes, name, title in zip(panels, LOSSES[1:], ("Least over training", "At the end of training"), strict=True):
        axes.plot(ends, ends, color="0.6", linewidth=0.9, marker="", label="published = ours")
        for method, students in table.by("method").items():
            look = {key: looks[method][key] for key in ("color", "marker")}
            axes.plot(students["published"], students[name], linestyle="", markersize=4, label=METHODS[method], **look)
        axes.set(title=title, xlabel="published test loss")
        powers_of_ten(axes, "x", "y")
    panels[0].set_ylabel("test loss")
    draw_legend(canvas, panels[0])


def _say(table: Table) -> str:
    if not len(table):
        return "Losses of students of the authors' draws over the published ones."
    share = np.mean(np.abs(np.log(table["least"] / table["published"])) < np.log(1.01))
    students = several(len(table), "student")
    return f"Test loss against the authors' for {students} of their draws: {share:.0%} of the least ones within 1%."


FIGURES = (
    Plot(
        "relu-released",
        title="Students of the authors' draws, seed by seed",
        caption=(
            "Test loss of every student that has the authors' teachers, inputs and first weights, over the loss in "
            "their result file: the least over training (left) and the last (right). One mark per student; marks on "
            "the line have the published loss."
        ),
        experiments=("relu-released",),
        table=_table,
        draw=_draw,
        alternative=_say,
        height=350,
    ),
)
