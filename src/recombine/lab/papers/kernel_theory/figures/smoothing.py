"""Kernel theory: the figure of smoothed labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, MARKS, palette, powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: The smoothing whose kernel curve stands for all, which coincide.
SHOWN_SMOOTHED_SHARE = 0.01
#: Place of each curve in the cycle of colours, the same in every panel.
CYCLE = {"none": 0, "0.001": 1, "0.01": 2, "0.1": 3, "any smoothing": 2}
TITLES = {"kernels": "Kernels", "networks": "Lazy networks", "images": "ConvNets on digits"}
SQUARED_LOSS = "squared loss"


def _smoothing_table(results: Mapping[str, Evidence]) -> Table:
    kernels = results["smoothing"].table.only(activation="relu", task="CD-3")
    listed = [
        {"panel": "kernels", "line": "any smoothing" if row["smoothing"] else "none", "x": row["depth"]}
        | {"y": row["relative margin"], "y 2se": 0.0}
        for row in kernels.where(np.isin(kernels["smoothing"], (0.0, SHOWN_SMOOTHED_SHARE))).rows()
    ]
    for panel, name in (("networks", "smoothing-networks"), ("images", "smoothing-images")):
        if name in results:
            listed += _over_training(panel, results[name].table.only(task="CD-3"))
    return Table.from_rows(listed)


def _over_training(panel: str, rows: Table) -> list[dict[str, Any]]:
    """Mean share of unseen cells that are right by step, with two standard errors, a row per line and step."""
    names = [name for name in ("smoothing", "loss") if name in rows.columns]
    means = over_seeds(rows.where(rows["step"] > 0), (*names, "step"), ("accuracy",))
    return [
        {"panel": panel, "line": _line(row), "x": int(row["step"]), "y": row["accuracy"], "y 2se": row["accuracy 2se"]}
        for row in means.rows()
    ]


def _line(row: Mapping[str, Any]) -> str:
    if row.get("loss", "logistic") == "mse":
        return SQUARED_LOSS
    return f"{row['smoothing']:g}" if row["smoothing"] else "none"


def _draw_smoothing(canvas: Canvas, table: Table) -> None:
    panels = list(dict.fromkeys(table["panel"].tolist()))
    axes_of = dict(zip(panels, canvas.subplots(1, len(panels)), strict=True))
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.89, bottom=0.17, wspace=0.3)
    for name, axes in axes_of.items():
        rows = table.only(panel=name)
        for line in sorted(set(rows["line"].tolist()), key=lambda word: CYCLE.get(word, len(CYCLE))):
            _draw_line(axes, rows.only(line=line), line)
        axes.set(title=TITLES[name], xlabel="hidden layers" if name == "kernels" else "steps")
        legend: dict[str, Any] = {"frameon": False, "fontsize": 11, "alignment": "left"}
        if name == "kernels":
            axes.legend(**legend, loc="upper right")
        else:
            axes.legend(**legend, loc="upper left", title="smoothing")
            axes.set(ylim=(-0.05, 1.05))
            powers_of_ten(axes, "x")
    axes_of["kernels"].axhline(0, color="0.6", linewidth=0.8, linestyle="-", marker="")
    axes_of["kernels"].set(ylabel="margin, unseen over seen")
    axes_of["networks"].set(ylabel="unseen cells right")
    if "images" in axes_of:
        axes_of["images"].axhline(0.5, color="0.6", linewidth=0.8, linestyle="-", marker="")


def _draw_line(axes: Axes, rows: Table, line: str) -> None:
    """Draw a mean with its band; squared loss is grey, as what the others are compared with."""
    index = CYCLE.get(line)
    style: dict[str, Any] = {"marker": "", "linestyle": "-", "color": "0.45"}
    if index is not None:
        style = {"marker": MARKS[index], "linestyle": DASHES[index], "color": palette()[index]}
    axes.plot(rows["x"], rows["y"], label=line, **style)
    half = np.nan_to_num(rows["y 2se"])
    axes.fill_between(rows["x"], rows["y"] - half, rows["y"] + half, color=style["color"], alpha=0.15, lw=0)


def _say_smoothing(table: Table) -> str:
    words = []
    for panel, who in (("networks", "lazy networks"), ("images", "ConvNets on digits")):
        rows = table.only(panel=panel)
        if len(rows):
            end = rows.only(x=rows["x"].max()).rows()
            shares = ", ".join(f"{row['y']:.0%} with {row['line']}" for row in end)
            words.append(f"At the last step {who} get {shares} of the unseen cells right.")
    return " ".join(words)


FIGURES = (
    Plot(
        "smoothing",
        title="Label smoothing on CD-3",
        caption=(
            "Left: mean margin on unseen cells over the smallest on seen ones, exact ReLU kernels; with any smoothing "
            "the curve is the same. Middle: share of unseen cells that wide lazy networks get right during training, "
            "mean over seeds. Right: the same for small ConvNets on three 8x8 digits, new images, with logistic loss "
            "by smoothing, and with squared loss; chance is 0.5. Bands: two standard errors."
        ),
        experiments=("smoothing", "smoothing-networks"),
        optional=("smoothing-images",),
        table=_smoothing_table,
        draw=_draw_smoothing,
        alternative=_say_smoothing,
    ),
)
