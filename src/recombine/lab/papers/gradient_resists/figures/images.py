"""Gradient resists: figures of pairs of digits. Bands are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recombine.lab.papers.gradient_resists.readings import reference
from recombine.lab.papers.gradient_resists.readings.images import image_runs
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: How the numbers of the reference run are shown.
GREY: dict[str, Any] = {"color": "0.45", "linestyle": "", "markersize": 6, "markerfacecolor": "none", "zorder": 5}


def _pairs_table(results: Mapping[str, Evidence]) -> Table:
    names = ("train accuracy", "test accuracy", "excess information", "marginal information", "gradient share")
    return over_seeds(image_runs(results["pairs"].table), ("images", "setting", "step"), names)


def _draw_accuracy(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.74, top=0.95, bottom=0.17)
    for setting in ("A", "B"):
        for kind in ("train", "test"):
            draw_band(axes, table.only(setting=setting), "step", f"{kind} accuracy", f"{setting}, {kind}")
    if _is_mnist(table):
        for index, marker in enumerate("ox"):
            marks = [(step, pair[index]) for run in reference.PAIRS.values() for step, pair in run.items()]
            steps, values = zip(*marks, strict=True)
            axes.plot(steps, values, label="" if index else "reference run", **GREY, marker=marker)
    axes.axhline(0.1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    axes.text(axes.get_xlim()[1], 0.11, "chance", ha="right", va="bottom", fontsize=11, color="0.4")
    axes.set(xlabel="training steps", ylabel="accuracy", ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=11.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _is_mnist(table: Table) -> bool:
    """Say whether these are the images of the reference run."""
    return "mnist" in table["images"].tolist()


def _say_accuracy(table: Table) -> str:
    a, b = _ends(table, "test accuracy")
    return f"Accuracy over steps: on the test, A ends at {a:.2f} and B at {b:.2f}."


def _ends(table: Table, column: str) -> list[float]:
    last = int(table["step"].max())
    return [float(table.only(setting=setting, step=last)[column][0]) for setting in ("A", "B")]


def _draw_dependence(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.33)
    measures = {
        "excess information": ("I(prediction; Y₂ | Y₁)", "information beyond chance (bits)", 0.0),
        "marginal information": ("I(prediction; Y₂)", "information (bits)", 0.0),
        "gradient share": ("Gradient", "share of the right image", 0.5),
    }
    for axes, (name, (title, label, level)) in zip(panels, measures.items(), strict=True):
        axes.axhline(level, color="0.6", linewidth=0.8, linestyle="-", marker="")
        for setting in ("A", "B"):
            draw_band(axes, table.only(setting=setting), "step", name, setting)
            if name == "gradient share" and _is_mnist(table):
                marks = reference.SHARES[setting]
                (shown_as,) = axes.plot(list(marks), list(marks.values()), label="reference run", **GREY, marker="o")
                axes.legend(handles=[shown_as], fontsize=11, loc="upper right", bbox_to_anchor=(1.0, 0.9))
        axes.set(xlabel="training steps", ylabel=label, title=title)
    panels[0].legend(frameon=False, fontsize=11.5)


def _say_dependence(table: Table) -> str:
    bits, shares = _ends(table, "excess information"), _ends(table, "gradient share")
    return (
        f"Dependence on the right image at the end, A and B: {bits[0]:.2f} and {bits[1]:.2f} bits beyond chance, "
        f"{shares[0]:.2f} and {shares[1]:.2f} of the gradient."
    )


FIGURES = (
    Plot(
        "accuracy",
        title="A redundant image makes training faster and the test worse",
        caption=(
            "Pairs of digits, the label that of the left one. A: in training the right image shows the same digit or "
            "the next. B: any digit. The test shows the other eight. Bands are two standard errors over n seeds. "
            "The paper's figure 3a has no numbers; grey marks are an independent reference run (training circles, "
            "test crosses)."
        ),
        experiments=("pairs",),
        table=_pairs_table,
        draw=_draw_accuracy,
        alternative=_say_accuracy,
    ),
    Plot(
        "dependence",
        title="What networks make of the right image",
        caption=(
            "On pairs of independent test images: information beyond the mean of its permutation null, information by "
            "itself, and the share of the right image in the gradient of the true class (both slopes by themselves "
            "are in the figure of slopes). Bands are two "
            "standard errors over n seeds; grey marks are an independent reference run. The paper measures none of "
            "these."
        ),
        experiments=("pairs",),
        table=_pairs_table,
        draw=_draw_dependence,
        alternative=_say_dependence,
    ),
)
