"""Gradient resists: figures. Bands are the mean and two standard errors over seeds; captions give their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.papers.gradient_resists.readings.images import chosen
from recombine.papers.paper import Plot
from recombine.papers.plots import draw_band
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SEEDS = "Bands are two standard errors over n seeds."
#: Epochs and seeds that the grid of boundaries has room for.
SHOWN_EPOCHS = (0, 1, 4, 16, 64, 1024)
SHOWN_SEEDS = {"A": 4, "B": 1}


# ---------------------------------------------------------------------------- pairs of digits


def _pairs_table(results: Mapping[str, Evidence]) -> Table:
    names = ("train accuracy", "test accuracy", "excess information", "marginal information", "gradient share")
    return over_seeds(chosen(results["pairs"].table), ("images", "setting", "step"), names)


def _draw_accuracy(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.74, top=0.95, bottom=0.17)
    for setting in ("A", "B"):
        for part in ("train", "test"):
            draw_band(axes, table.only(setting=setting), "step", f"{part} accuracy", f"{setting}, {part}")
    axes.axhline(0.1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    axes.text(axes.get_xlim()[1], 0.11, "chance", ha="right", va="bottom", fontsize=11, color="0.4")
    axes.set(xlabel="training steps", ylabel="accuracy", ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=11.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _say_accuracy(table: Table) -> str:
    last = table.where(table["step"] == table["step"].max())
    ends = {s: float(last.only(setting=s)["test accuracy"][0]) for s in ("A", "B")}
    return f"Accuracy over steps: on the test, A ends at {ends['A']:.2f} and B at {ends['B']:.2f}."


def _draw_dependence(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.33)
    shown = {
        "excess information": ("I(prediction; Y₂ | Y₁)", "information beyond chance (bits)", 0.0),
        "marginal information": ("I(prediction; Y₂)", "information (bits)", 0.0),
        "gradient share": ("Gradient", "share of the right image", 0.5),
    }
    for axes, (name, (title, label, reference)) in zip(panels, shown.items(), strict=True):
        axes.axhline(reference, color="0.6", linewidth=0.8, linestyle="-", marker="")
        for setting in ("A", "B"):
            draw_band(axes, table.only(setting=setting), "step", name, setting)
        axes.set(xlabel="training steps", ylabel=label, title=title)
    panels[0].legend(frameon=False, fontsize=11.5)


def _say_dependence(table: Table) -> str:
    last = table.where(table["step"] == table["step"].max())
    bits, shares = (
        [float(last.only(setting=s)[name][0]) for s in ("A", "B")] for name in ("excess information", "gradient share")
    )
    return (
        f"Dependence on the right image at the end, A and B: {bits[0]:.2f} and {bits[1]:.2f} bits beyond chance, "
        f"{shares[0]:.2f} and {shares[1]:.2f} of the gradient."
    )


# ---------------------------------------------------------------------------- SCAN


def _scan_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["scan"].table.only(encoder=32)
    return over_seeds(rows, ("reading", "repeats", "step"), ("train accuracy", "distinct accuracy", "test accuracy"))


def _draw_scan(canvas: Canvas, table: Table) -> None:
    whole = table["step"].max() > 60
    panels = canvas.subplots(1, 3 if whole else 2, sharey=False)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.89, bottom=0.33, wspace=0.25)
    early = table.where(table["step"] <= 60)
    lines = {"A": ("A", True), "A without repeats": ("A", False), "B1": ("B1", True), "B3": ("B3", True)}
    for axes, column, title in zip(
        panels, ("train accuracy", "distinct accuracy"), ("Training rows", "Distinct commands"), strict=False
    ):
        for label, (name, repeats) in lines.items():
            draw_band(axes, early.only(reading=name, repeats=repeats), "step", column, label)
        axes.set(xlabel="training steps", ylabel="sentences right", title=title, ylim=(-0.01, None))
    top = max(axes.get_ylim()[1] for axes in panels[:2])
    for axes in panels[:2]:
        axes.set_ylim(-0.01, top)
    _below(panels[0], 2)
    if whole:
        _draw_whole_scan(panels[2], table.where((table["step"] > 0) & table["repeats"]))


def _draw_whole_scan(axes: Axes, table: Table) -> None:
    for name, column in (("A", "train"), ("A", "test"), ("B1", "test"), ("B2", "test"), ("B3", "test")):
        draw_band(axes, table.only(reading=name), "step", f"{column} accuracy", f"{name}, {column}")
    axes.set(xlabel="training steps", ylabel="sentences right", title="To the end", xscale="log", ylim=(-0.03, 1.03))
    axes.set_xticks(ticks := [10, 100, 1000], [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    _below(axes, 2)


def _below(axes: Axes, columns: int) -> None:
    axes.legend(frameon=False, fontsize=11, ncols=columns, loc="upper center", bbox_to_anchor=(0.5, -0.2))


def _say_scan(table: Table) -> str:
    at = [float(table.only(reading="A", repeats=repeats, step=25)["train accuracy"][0]) for repeats in (True, False)]
    return f"Sentences right on SCAN: at step 25, A has {at[0]:.3f} of its training rows, without repeats {at[1]:.3f}."


# ---------------------------------------------------------------------------- two dimensions


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
            line = lines.only(setting=setting, model=model)
            if len(line):
                draw_band(
                    axes, line, "epoch", "held-out accuracy", setting if model == "network" else "A, linear model"
                )
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
        seeds = sorted(set(rows.only(setting=setting)["seed"].tolist()))[:count]
        kept &= (rows["setting"] != setting) | np.isin(rows["seed"], seeds)
    return rows.where(kept)


def _draw_boundaries(canvas: Canvas, table: Table) -> None:
    lines = [
        (setting, seed) for setting in SHOWN_SEEDS for seed in sorted(set(table.only(setting=setting)["seed"].tolist()))
    ]
    panels = canvas.subplots(len(lines), len(SHOWN_EPOCHS), sharex=True, sharey=True, squeeze=False)
    canvas.subplots_adjust(left=0.095, right=0.99, top=0.955, bottom=0.06, wspace=0.08, hspace=0.08)
    edge, height = float(table["to"].max()), _spacing(table["X2"])
    for across, (setting, seed) in zip(panels, lines, strict=True):
        for axes, epoch in zip(across, SHOWN_EPOCHS, strict=True):
            _draw_region(axes, table.only(setting=setting, seed=seed, epoch=epoch), edge, height)
        across[0].set_ylabel(f"{setting}, seed {seed}\nX₂")
    for axes, epoch in zip(panels[0], SHOWN_EPOCHS, strict=True):
        axes.set_title(f"epoch {epoch:,}" if epoch else "untrained", loc="center", fontsize=12)
    for axes in panels[-1]:
        axes.set_xlabel("X₁")


def _spacing(values: np.ndarray) -> float:
    different = np.unique(values)
    return float(np.diff(different).min()) if len(different) > 1 else 1.0


def _draw_region(axes: Axes, region: Table, edge: float, height: float) -> None:
    """Where the output is positive; it should be the right half. The held-out quadrant is framed."""
    for row in region.rows():
        axes.broken_barh(
            [(row["from"], row["to"] - row["from"])], (row["X2"] - 0.7 * height, 1.4 * height), color="#7fa8d1", lw=0
        )
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
        "accuracy",
        title="A redundant image makes training faster and the test worse",
        caption=(
            "Pairs of digits, the label that of the left one. A: in training the right image shows the same digit or the "
            f"next. B: any digit. The test shows the other eight. {SEEDS}"
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
            f"itself, and the share of the right image in the gradient of the true class. {SEEDS}"
        ),
        experiments=("pairs",),
        table=_pairs_table,
        draw=_draw_dependence,
        alternative=_say_dependence,
    ),
    Plot(
        "scan",
        title="SCAN: the early lead is a repeated word",
        caption=(
            "Share of sentences right to the last symbol. A: 'jump' is seen alone only, as one row in ten. B1, as "
            "released: every command once. B2, B3: action words replaced at random, so that single words repeat as in A. "
            f"{SEEDS}"
        ),
        experiments=("scan",),
        table=_scan_table,
        draw=_draw_scan,
        alternative=_say_scan,
        height=380,
    ),
    Plot(
        "plane",
        title="Two dimensions: how much of the held-out quadrant is right",
        caption=(
            "A: three quadrants are seen; B: X₂ is redrawn at every visit. The code's data keep a margin between classes, "
            f"the text's do not. {SEEDS}"
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
