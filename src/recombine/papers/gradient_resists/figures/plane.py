"""Gradient resists: figures of two dimensions. Bands are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.papers.paper import Plot
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


#: Epochs and seeds that the grid of boundaries has room for.
SHOWN_EPOCHS = (0, 1, 4, 16, 64, 1024)
SHOWN_SEEDS = {"A": 4, "B": 1}


def _plane_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["plane"].table
    finite = rows.where(np.isfinite(rows["tilt"]) | (rows["model"] == "network"))
    return over_seeds(finite, ("reading", "setting", "model", "epoch"), ("held-out accuracy", "slope 1", "slope 2"))


def _draw_plane(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.08)
    for axes, reading in zip(panels, ("code", "text"), strict=True):
        lines = table.only(reading=reading)
        for setting, model in (("A", "network"), ("B", "network"), ("A", "linear")):
            if len(line := lines.only(setting=setting, model=model)):
                label = setting if model == "network" else "A, linear model"
                draw_band(axes, line, "epoch", "held-out accuracy", label)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks(ticks := [0, 1, 4, 16, 64, 256, 1024], [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set(xlabel="epochs", title=f"The {reading}'s data", ylim=(-0.02, 1.03))
        axes.legend(frameon=False, fontsize=11.5, loc="lower right")
    panels[0].set_ylabel("held-out quadrant labelled right")


def _say_plane(table: Table) -> str:
    last = table.where((table["epoch"] == table["epoch"].max()) & (table["model"] == "network"))
    words = [f"{r['reading']} {r['setting']} {r['held-out accuracy']:.2f}" for r in last.rows()]
    return f"Share of the held-out quadrant labelled right over epochs; at the end {', '.join(words)}."


def _boundary_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["boundaries"].table
    kept = np.isin(rows["epoch"], SHOWN_EPOCHS)
    for setting, count in SHOWN_SEEDS.items():
        seeds = sorted(rows.only(setting=setting).by("seed"))[:count]
        kept &= (rows["setting"] != setting) | np.isin(rows["seed"], seeds)
    return rows.where(kept)


def _draw_boundaries(canvas: Canvas, table: Table) -> None:
    lines = [(setting, seed) for setting in SHOWN_SEEDS for seed in sorted(table.only(setting=setting).by("seed"))]
    panels = canvas.subplots(len(lines), len(SHOWN_EPOCHS), sharex=True, sharey=True, squeeze=False)
    canvas.subplots_adjust(left=0.095, right=0.99, top=0.955, bottom=0.06, wspace=0.08, hspace=0.08)
    levels = np.unique(table["X2"])
    edge, height = float(table["to"].max()), float(np.diff(levels).min()) if len(levels) > 1 else 1.0
    for across, (setting, seed) in zip(panels, lines, strict=True):
        for axes, epoch in zip(across, SHOWN_EPOCHS, strict=True):
            _draw_region(axes, table.only(setting=setting, seed=seed, epoch=epoch), edge, height)
        across[0].set_ylabel(f"{setting}, seed {seed}\nX₂")
    for axes, epoch in zip(panels[0], SHOWN_EPOCHS, strict=True):
        axes.set_title(f"epoch {epoch:,}" if epoch else "untrained", loc="center", fontsize=12)
    for axes in panels[-1]:
        axes.set_xlabel("X₁")


def _draw_region(axes: Axes, region: Table, edge: float, height: float) -> None:
    """Where the output is positive; it should be the right half. The held-out quadrant is framed."""
    for row in region.rows():
        across, along = (row["from"], row["to"] - row["from"]), (row["X2"] - 0.7 * height, 1.4 * height)
        axes.broken_barh([across], along, color="#7fa8d1", lw=0)
    axes.plot([0, 0, edge, edge, 0], [edge, 0, 0, edge, edge], color="0.15", linewidth=1.2, linestyle="-", marker="")
    axes.plot([0, 0], [-edge, 0], color="0.15", linewidth=0.8, linestyle=":", marker="")
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xticks=[-4, 0, 4], yticks=[-4, 0, 4])
    axes.grid(False)


def _say_boundaries(table: Table) -> str:
    return (
        "Where networks answer 1 over epochs: in setting A the boundary bends into the held-out quadrant and stays, in "
        "B it is upright."
    )


FIGURES = (
    Plot(
        "plane",
        title="Two dimensions: how much of the held-out quadrant is right",
        caption=(
            "A: three quadrants are seen; B: X₂ is redrawn at every visit. The code's data keep a margin between "
            "classes, the text's do not. Bands are two standard errors over n seeds."
        ),
        experiments=("plane",),
        table=_plane_table,
        draw=_draw_plane,
        alternative=_say_plane,
    ),
    Plot(
        "boundaries",
        title="The boundary moves early, then creeps",
        caption=(
            "Blue: where a network answers 1; the answer that uses X₁ alone is the right half. The held-out quadrant "
            "is framed. The code's data, single networks."
        ),
        experiments=("boundaries",),
        table=_boundary_table,
        draw=_draw_boundaries,
        alternative=_say_boundaries,
        height=760,
    ),
)
