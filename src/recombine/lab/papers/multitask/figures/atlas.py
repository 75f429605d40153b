"""Multi-task learning and pretraining: the figure of the atlas of scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.experiments.atlas import BY_RULE, HELD_OUT, MADE_FOR
from recombine.lab.papers.multitask.readings.atlas import SHIFTS, beside_rule
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, MARKS, powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table
from recombine.theory.diagonal.scales import REGIMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: What is drawn over the size of labels, by its name in the readings.
LINES = {"rule": "rule", "constant": "constant by kind of task", "plain": "plain finetuning"}
BY_LABELS = "labels"
#: Ratios at which the colour of a cell is full, and above which its number is white.
FULL_COLOUR_RATIO, WHITE_TEXT_RATIO = 4.0, 2.5
#: Height of the line panel over its largest number, so that the legend stands above the lines.
LEGEND_ROOM_FACTOR = 1.35


def _atlas_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["atlas"].table
    listed: list[dict[str, Any]] = []
    for name in HELD_OUT:
        for task in MADE_FOR:
            cells = rows.only(inputs=name, task=task, readouts=BY_RULE).by("wanted")
            means = {wanted: 10 ** float(np.log10(cells[wanted]["error"]).mean()) for wanted in REGIMES}
            lowest = min(means.values())
            listed += [_row(name, task, wanted, np.nan, mean / lowest) for wanted, mean in means.items()]
    for shift in SHIFTS:
        logs = beside_rule(rows, (shift,), SHIFTS)
        for name, word in LINES.items():
            over = float(10 ** np.mean(logs[name] - logs["least"]))
            listed.append(_row(BY_LABELS, "", word, 10 ** (2 * shift), over))
    return Table.from_rows(listed)


def _row(panel: str, task: str, scale: str, labels: float, error: float) -> dict[str, Any]:
    return {"panel": panel, "task": task, "scale": scale, "size of labels": labels, "error over the least": error}


def _draw_atlas(canvas: Canvas, table: Table) -> None:
    left_cells, right_cells, lines = canvas.subplots(1, 3, width_ratios=(1, 1, 1.25))
    canvas.subplots_adjust(left=0.115, right=0.985, top=0.88, bottom=0.19, wspace=0.12)
    for axes, name in zip((left_cells, right_cells), HELD_OUT, strict=True):
        _draw_cells(axes, table.only(panel=name), name)
    right_cells.set_yticklabels([])
    worst = float(table.only(panel=BY_LABELS)["error over the least"].max())
    box = lines.get_position()
    lines.set_position((box.x0 + 0.055, box.y0, box.width - 0.055, box.height))
    for index, word in enumerate(LINES.values()):
        line = table.only(panel=BY_LABELS, scale=word)
        style: dict[str, Any] = {"marker": MARKS[index], "linestyle": DASHES[index], "label": word}
        lines.plot(line["size of labels"], line["error over the least"], **style)
    lines.set(
        title="By size of labels",
        xlabel="size of labels",
        ylabel="error over the least",
        ylim=(0.9, LEGEND_ROOM_FACTOR * worst),
    )
    powers_of_ten(lines, "x")
    lines.legend(frameon=False, fontsize=11)


def _draw_cells(axes: Axes, cells: Table, title: str) -> None:
    """Draw a row per kind of task and a column per scale, with the one that errs least in each row in bold."""
    values = np.array(
        [[cells.only(task=task, scale=wanted)["error over the least"][0] for wanted in REGIMES] for task in MADE_FOR]
    )
    axes.imshow(np.log(values), cmap="Blues", vmin=0, vmax=np.log(FULL_COLOUR_RATIO), aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        about: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12}
        about |= {
            "color": "white" if value > WHITE_TEXT_RATIO else "black",
            "weight": "bold" if value == 1 else "normal",
        }
        axes.text(column, row, f"{value:.2f}" if value < 10 else f"{value:.0f}", **about)
    axes.set(title=title, xlabel="scale by the rule for", xticks=range(4), yticks=range(4))
    axes.set_xticklabels(REGIMES)
    axes.set_yticklabels(MADE_FOR)
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _say_atlas(table: Table) -> str:
    cells = table.but(panel=BY_LABELS)
    won = sum(row["error over the least"] == 1 and MADE_FOR[row["task"]] == row["scale"] for row in cells.rows())
    ends = table.only(panel=BY_LABELS)
    highest = {word: float(ends.only(scale=word)["error over the least"].max()) for word in LINES.values()}
    listed = ", ".join(f"{word} {value:.2f}" for word, value in highest.items())
    return (
        f"The scale made for a kind of task errs least of the four in {won} of {len(HELD_OUT) * len(MADE_FOR)} rows; "
        f"error over the least at the worst size of labels: {listed}."
    )


FIGURES = (
    Plot(
        "atlas",
        title="Which scale for which task",
        caption=(
            "Inputs are rows of real data. Left: error of four scales by kind of task, over the least in its row; "
            "bold is least. Right: error over the least of the plane of scales, by size of labels, for the scale made "
            "for each kind of task, for a constant chosen for it on other data, and for weights as pretrained. "
            "Geometric means over problems."
        ),
        experiments=("atlas",),
        table=_atlas_table,
        draw=_draw_atlas,
        alternative=_say_atlas,
    ),
)
