"""Gradient resists: the figure of SCAN. Bands are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recombine.lab.papers.gradient_resists.readings import reference
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Legends stand below their panels.
BELOW: dict[str, Any] = {"frameon": False, "fontsize": 11, "ncols": 2, "loc": "upper center"}
BELOW["bbox_to_anchor"] = (0.5, -0.2)
#: How the numbers of the reference run are shown.
GREY: dict[str, Any] = {"color": "0.45", "linestyle": "", "markersize": 6, "markerfacecolor": "none", "zorder": 5}


def _scan_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["scan"].table.only(encoder=32)
    return over_seeds(rows, ("reading", "repeats", "step"), ("train accuracy", "distinct accuracy", "test accuracy"))


def _draw_scan(canvas: Canvas, table: Table) -> None:
    complete = table["step"].max() > 60
    panels = canvas.subplots(1, 3 if complete else 2, sharey=False)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.89, bottom=0.33, wspace=0.25)
    early = table.where(table["step"] <= 60)
    lines = {"A": ("A", True), "A without repeats": ("A", False), "B1": ("B1", True), "B3": ("B3", True)}
    titles = {"train accuracy": "Training rows", "distinct accuracy": "Distinct commands"}
    for axes, (column, title) in zip(panels[:2], titles.items(), strict=True):
        for label, (name, repeats) in lines.items():
            draw_band(axes, early.only(reading=name, repeats=repeats), "step", column, label)
        axes.set(xlabel="training steps", ylabel="sentences right", title=title, ylim=(-0.01, None))
    for index, marks in enumerate(reference.SCAN.values()):
        steps = [step for step in marks if step <= 60]
        named = "" if index else "reference run"
        panels[0].plot(steps, [marks[step][0] for step in steps], label=named, **GREY, marker="osD"[index])
    top = max(axes.get_ylim()[1] for axes in panels[:2])
    for axes in panels[:2]:
        axes.set_ylim(-0.01, top)
    panels[0].legend(**BELOW)
    if complete:
        _draw_whole_scan(panels[2], table.where((table["step"] > 0) & table["repeats"]))


def _draw_whole_scan(axes: Axes, table: Table) -> None:
    """The test alone; training is in the other panels."""
    for name in ("A", "", "B1", "B3", "B2"):  # colours as in the other panels, where A without repeats is second
        draw_band(axes, table.only(reading=name), "step", "test accuracy", name) if name else axes.plot([], [])
    for index, marks in enumerate(reference.SCAN.values()):
        axes.plot(list(marks), [pair[1] for pair in marks.values()], **GREY, marker="osD"[index])
    axes.set(
        xlabel="training steps", ylabel="sentences right", title="Test, to the end", xscale="log", ylim=(-0.03, 1.03)
    )
    axes.set_xticks(ticks := [10, 100, 1000], [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(**BELOW)


def _say_scan(table: Table) -> str:
    at = [float(table.only(reading="A", repeats=repeats, step=25)["train accuracy"][0]) for repeats in (True, False)]
    return f"Sentences right on SCAN: at step 25, A has {at[0]:.3f} of its training rows, without repeats {at[1]:.3f}."


FIGURES = (
    Plot(
        "scan",
        title="SCAN: the early lead is a repeated word",
        caption=(
            "Share of sentences right to the last symbol. A: 'jump' is seen alone only, as one row in ten. B1, as "
            "released: every command once. B2, B3: action words replaced at random, so that single words repeat as in "
            "A. Left and middle: the first steps of training. Right: the test, which A never learns. Bands are two "
            "standard errors over n seeds. The paper's figure 3b has no numbers; grey marks are an "
            "independent reference run (circles A, squares B1, diamonds B3; on the left training, on the right test)."
        ),
        experiments=("scan",),
        table=_scan_table,
        draw=_draw_scan,
        alternative=_say_scan,
        height=380,
    ),
)
