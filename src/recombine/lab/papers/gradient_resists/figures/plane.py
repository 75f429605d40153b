"""Gradient resists: figures of two dimensions. Bands are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine.lab.papers.gradient_resists.readings import reference
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import draw_band
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.lab.worlds import plane as world
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


#: How the numbers of the reference run are shown.
GREY: dict[str, Any] = {"color": "0.45", "linestyle": "", "markersize": 6, "markerfacecolor": "none", "zorder": 5}
#: Epochs that a film has room for, the lines of the other figure, and the rows of the film.
SHOWN_EPOCHS = (0, 1, 4, 16, 64, 1024)
LINES = {
    ("A", "network"): "A",
    ("B", "network"): "B",
    ("A", "two nodes"): "A, two output nodes",
    ("B", "two nodes"): "B, two output nodes",
    ("A", "linear"): "A, linear model",
}
FILMED = (("code", "A"), ("code", "B"), ("text", "A"), ("text", "B"))


def _plane_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["plane"].table
    finite = rows.where(np.isfinite(rows["tilt"]) | (rows["model"] != "linear"))
    return over_seeds(finite, ("reading", "setting", "model", "epoch"), ("held-out accuracy", "slope 1", "slope 2"))


def _draw_plane(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.89, bottom=0.17, wspace=0.08)
    for axes, reading in zip(panels, ("code", "text"), strict=True):
        lines = table.only(reading=reading)
        for (setting, model), label in LINES.items():
            if len(line := lines.only(setting=setting, model=model)):
                draw_band(axes, line, "epoch", "held-out accuracy", label)
        for setting, marker in (("A", "o"), ("B", "s")):
            marks = reference.PLANE[reading, setting]
            named = "reference run" if setting == "A" else ""
            axes.plot(list(marks), list(marks.values()), label=named, marker=marker, **GREY)
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


def _samples_table(results: Mapping[str, Evidence]) -> Table:
    """Draw the training samples of the first network anew, as they are no result, and what is held out."""
    seed = min(int(seed) for seed in results["plane"].table["seed"])
    rows = []
    for reading in ("code", "text"):
        for kind, points in (
            ("seen", world.draw_training(reading, seed).points),
            ("held out", world.draw_held_out(reading, 60)),
        ):
            rows += [{"reading": reading, "part": kind, "X1": float(x), "X2": float(y)} for x, y in points]
    return Table.from_rows(rows)


def _draw_samples(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.06, right=0.82, top=0.9, bottom=0.14, wspace=0.3)
    for axes, reading in zip(panels, ("code", "text"), strict=True):
        points = table.only(reading=reading)
        seen, held_out = points.only(part="seen"), points.only(part="held out")
        style: dict[str, Any] = {"linestyle": "", "markersize": 4.5}
        right = seen["X1"] > 0
        axes.plot(seen["X1"][right], seen["X2"][right], marker="o", label="seen, label 1", **style)
        axes.plot(seen["X1"][~right], seen["X2"][~right], marker="s", label="seen, label -1", **style)
        axes.plot(held_out["X1"], held_out["X2"], marker="x", color="0.45", label="held out, label 1", **style)
        axes.axvline(0, color="0.3", linewidth=0.9, linestyle="-", marker="")
        axes.axhline(0, color="0.3", linewidth=0.9, linestyle="-", marker="")
        axes.set(xlabel="X₁", ylabel="X₂", title=f"The {reading}'s data", aspect="equal")
    panels[1].legend(frameon=False, fontsize=10.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _say_samples(table: Table) -> str:
    counts = {reading: len(table.only(reading=reading, part="seen")) for reading in ("code", "text")}
    return f"Training samples on three quadrants: {counts['code']} by the code and {counts['text']} by the text."


def _film_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["boundaries"].table
    return rows.where(np.isin(rows["epoch"], SHOWN_EPOCHS))


def _single_table(results: Mapping[str, Evidence], reading: str) -> Table:
    return _film_table(results).only(reading=reading, setting="A")


def _panels(canvas: Canvas, labels: list[str]) -> NDArray[Any]:
    """One row of panels per label and one column per epoch."""
    panels = canvas.subplots(len(labels), len(SHOWN_EPOCHS), sharey="row", squeeze=False)
    canvas.subplots_adjust(left=0.105, right=0.99, top=0.94, bottom=0.075, wspace=0.08, hspace=0.08)
    for across, label in zip(panels, labels, strict=True):
        across[0].set_ylabel(f"{label}\nX₂")
    for axes, epoch in zip(panels[0], SHOWN_EPOCHS, strict=True):
        axes.set_title(f"epoch {epoch:,}" if epoch else "untrained", loc="center", fontsize=12)
    for axes in panels[-1]:
        axes.set_xlabel("X₁")
    for axes in panels[:-1].ravel():
        axes.tick_params(labelbottom=False)
    return panels


def _draw_film(canvas: Canvas, table: Table) -> None:
    rows = [(reading, setting) for reading, setting in FILMED if len(table.only(reading=reading, setting=setting))]
    panels = _panels(canvas, [f"{setting}, {reading}'s data" for reading, setting in rows])
    for across, (reading, setting) in zip(panels, rows, strict=True):
        networks = table.only(reading=reading, setting=setting)
        for axes, epoch in zip(across, SHOWN_EPOCHS, strict=True):
            _draw_region(axes, networks.only(epoch=epoch), networks, 1 / len(networks.by("seed")))


def _draw_single(canvas: Canvas, table: Table) -> None:
    seeds = sorted(table.by("seed"))
    panels = _panels(canvas, [f"seed {seed}" for seed in seeds])
    for across, seed in zip(panels, seeds, strict=True):
        for axes, epoch in zip(across, SHOWN_EPOCHS, strict=True):
            _draw_region(axes, table.only(seed=seed, epoch=epoch), table, 1.0)


def _draw_region(axes: Axes, region: Table, every: Table, weight: float) -> None:
    """How many networks answer 1 at each place; it should be the right half. The held-out quadrant is framed."""
    levels = np.unique(every["X2"])
    edge = float(every["to"].max())
    across = np.linspace(-edge, edge, len(levels) + 1)
    share, middles = np.zeros((len(levels), len(levels))), (across[1:] + across[:-1]) / 2
    for row in region.rows():
        share[int(np.abs(levels - row["X2"]).argmin())] += weight * ((middles > row["from"]) & (middles < row["to"]))
    # White is no network and the full blue all of them.
    image = 1 - share[..., np.newaxis] * (1 - np.array([0.30, 0.52, 0.74]))
    axes.imshow(image, origin="lower", extent=(-edge, edge, -edge, edge), interpolation="nearest", aspect="equal")
    axes.plot([0, 0, edge, edge, 0], [edge, 0, 0, edge, edge], color="0.15", linewidth=1.4, linestyle="-", marker="")
    axes.plot([0, 0], [-edge, 0], color="0.15", linewidth=0.8, linestyle=":", marker="")
    ticks = [-4, 0, 4] if edge > 2 else [-0.5, 0, 0.5]
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge), xticks=ticks, yticks=ticks)
    axes.tick_params(labelsize=9)
    axes.grid(False)


def _say_film(table: Table) -> str:
    return (
        "Where networks answer 1 over epochs: in setting A the boundary bends into the held-out quadrant and stays, in "
        "B it is upright."
    )


FIGURES = (
    Plot(
        "film",
        title="With the code's data, one epoch moves the boundary into the corner that was never seen",
        caption=(
            "The darker the blue, the more of six networks answer 1; X₁ alone decides, so that it should be the "
            "right half. The framed quadrant is held out in A; in B X₂ is redrawn at every visit. Data as the code "
            "draws them, with a margin, and as the text describes them. The paper's figures 5 and 6 show single "
            "networks of A. Both axes run to about 5 with the code's data and to 1 with the text's."
        ),
        experiments=("boundaries",),
        table=_film_table,
        draw=_draw_film,
        alternative=_say_film,
        height=560,
    ),
    Plot(
        "samples",
        title="Two dimensions: what is seen and what is held out",
        caption=(
            "Training samples of one network and places of the held-out quadrant, as in the paper's figure 4. The "
            "code's data keep a margin of 0.3 on each side of the axes, the text's do not."
        ),
        experiments=("plane",),
        table=_samples_table,
        draw=_draw_samples,
        alternative=_say_samples,
        height=400,
    ),
    Plot(
        "plane",
        title="Two dimensions: how much of the held-out quadrant is right",
        caption=(
            "A: three quadrants are seen; B: X₂ is redrawn at every visit; one output node as released, or two as in "
            "appendix C. The code's data keep a margin between "
            "classes, the text's do not. Bands are two standard errors over n seeds. The paper gives no such "
            "numbers; grey marks are an independent reference run (circles A, squares B)."
        ),
        experiments=("plane",),
        table=_plane_table,
        draw=_draw_plane,
        alternative=_say_plane,
    ),
    Plot(
        "boundaries",
        title="Six networks, the code's data",
        caption="Blue: where a network of A answers 1. The held-out quadrant is framed. As in the paper's figures 5 "
        "and 6.",
        experiments=("boundaries",),
        table=partial(_single_table, reading="code"),
        draw=_draw_single,
        alternative=_say_film,
        height=800,
    ),
    Plot(
        "boundaries-text",
        title="Six networks, the text's data",
        caption="Blue: where a network of A answers 1, with the data that the paper describes: no margin between "
        "classes.",
        experiments=("boundaries",),
        table=partial(_single_table, reading="text"),
        draw=_draw_single,
        alternative=_say_film,
        height=800,
    ),
)
