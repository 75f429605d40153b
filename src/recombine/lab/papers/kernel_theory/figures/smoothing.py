"""Kernel theory: the figure of smoothed labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, MARKS, powers_of_ten
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: The smoothing whose kernel curve stands for all, which coincide.
SHOWN_SMOOTHED_SHARE = 0.01


def _smoothing_table(results: Mapping[str, Evidence]) -> Table:
    kernels = results["smoothing"].table.only(activation="relu", task="CD-3")
    listed = [
        {"panel": "kernels", "smoothing": row["smoothing"], "x": row["depth"], "y": row["relative margin"]}
        for row in kernels.where(np.isin(kernels["smoothing"], (0.0, SHOWN_SMOOTHED_SHARE))).rows()
    ]
    networks = results["smoothing-networks"].table.only(task="CD-3")
    networks = networks.where(networks["step"] > 0)
    for amount in np.unique(networks["smoothing"]):
        for step in np.unique(networks["step"]):
            mean = float(networks.only(smoothing=amount, step=step)["accuracy"].mean())
            listed.append({"panel": "networks", "smoothing": float(amount), "x": int(step), "y": mean})
    return Table.from_rows(listed)


def _draw_smoothing(canvas: Canvas, table: Table) -> None:
    kernels, networks = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.89, bottom=0.17, wspace=0.22)
    for axes, name in ((kernels, "kernels"), (networks, "networks")):
        lines = table.only(panel=name)
        for index, amount in enumerate(np.unique(lines["smoothing"])):
            line = lines.only(smoothing=amount)
            word = f"{amount:g}" if name == "networks" else ("any smoothing" if amount else "none")
            axes.plot(line["x"], line["y"], marker=MARKS[index], linestyle=DASHES[index], label=word)
        axes.legend(frameon=False, fontsize=11, title="smoothing" if name == "networks" else None)
    kernels.axhline(0, color="0.6", linewidth=0.8, linestyle="-", marker="")
    kernels.set(title="Kernels", xlabel="hidden layers", ylabel="margin, unseen over seen")
    networks.set(title="Lazy networks", xlabel="steps", ylabel="unseen cells right", ylim=(-0.05, 1.05))
    powers_of_ten(networks, "x")


def _say_smoothing(table: Table) -> str:
    networks = table.only(panel="networks")
    end = networks.only(x=networks["x"].max())
    shares = ", ".join(f"{row['y']:.0%} with {row['smoothing']:g}" for row in end.rows())
    return f"At the last step networks get {shares} of the unseen cells right."


FIGURES = (
    Plot(
        "smoothing",
        title="Label smoothing on CD-3",
        caption=(
            "Left: mean margin on unseen cells over the smallest on seen ones, exact ReLU kernels; with any smoothing "
            "the curve is the same. Right: share of unseen cells that wide lazy networks get right during training, "
            "mean over seeds."
        ),
        experiments=("smoothing", "smoothing-networks"),
        table=_smoothing_table,
        draw=_draw_smoothing,
        alternative=_say_smoothing,
    ),
)
