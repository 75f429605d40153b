"""Gradient resists: the figure of networks that fit without a gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.gradient_resists.readings.without_gradient import DESCENT, SHAPE, WAYS, WORDS, shares_by_seed
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def _ways_table(results: Mapping[str, Evidence]) -> Table:
    """One row per data, way and set of samples."""
    rows = results["without-gradient"].table
    return Table.from_rows(
        [
            {"data": data, "way": way, "seed": seed, "held-out accuracy": share}
            for data in WORDS
            for way in WAYS
            for seed, share in shares_by_seed(rows, way, data).items()
        ]
    )


def _draw_ways(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, len(WORDS), sharey=True)
    canvas.subplots_adjust(left=0.205, right=0.985, top=0.89, bottom=0.17, wspace=0.08)
    for axes, (data, title) in zip(panels, WORDS.items(), strict=True):
        _draw_data(axes, table.only(data=data))
        axes.set(title=title[0].upper() + title[1:], xlabel="held-out cell labelled right", xlim=(-0.03, 1.03))
        axes.set(ylim=(len(WAYS) - 0.5, -0.5))
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    words = [f"{way}, end" if way == DESCENT else way for way in WAYS]
    panels[0].set_yticks(range(len(WAYS)), [way.replace(", ", ",\n") for way in words])


def _draw_data(axes: Axes, table: Table) -> None:
    """Every set of samples as a small mark, and beside them the mean with two standard errors."""
    generator = np.random.default_rng(0)
    means = {row["way"]: row for row in over_seeds(table, ("way",), ("held-out accuracy",)).rows()}
    for line, way in enumerate(WAYS):
        shares = table.only(way=way)["held-out accuracy"]
        heights = line + 0.12 + 0.22 * generator.random(len(shares))
        axes.plot(shares, heights, marker=".", markersize=4, linestyle="", color="0.6")
        mean = means[way]
        axes.errorbar(
            mean["held-out accuracy"],
            line - 0.12,
            xerr=mean["held-out accuracy 2se"],
            marker="o" if line < 2 else "s",
            markersize=7,
            capsize=4,
            linestyle="",
        )


def _say_ways(table: Table) -> str:
    means = over_seeds(table, ("data", "way"), ("held-out accuracy",)).rows()
    words = [f"{WORDS[row['data']]}, {row['way']} {row['held-out accuracy']:.2f}" for row in means]
    return f"Share of the held-out cell that is right: {'; '.join(words)}."


FIGURES = (
    Plot(
        "without-gradient",
        title="Networks that fit without a gradient are right on less of the unseen cell",
        caption=(
            f"Networks of shape {SHAPE} that fit the seen cells, and how much of the unseen cell they label right. "
            "Drawn: first weights again and again, what fits is kept. Random steps: a step stays if it makes no more "
            "errors. Gradient descent: at the first recorded epoch that fits, and after training. Grey marks are sets "
            "of samples, large marks their mean with two standard errors. Not in the paper."
        ),
        experiments=("without-gradient",),
        table=_ways_table,
        draw=_draw_ways,
        alternative=_say_ways,
    ),
)
