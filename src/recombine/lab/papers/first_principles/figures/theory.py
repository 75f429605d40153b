"""First principles, the theory: its figures, from the rows of the experiments. Plain matplotlib under the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.first_principles.grids import SKETCHES
from recombine.lab.papers.plots import plot_of
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MAPS = {
    "back, one anchor": "Back slot, one anchor",
    "back, two anchors": "Back slot, two anchors",
    "front": "Front slot",
    "front, rgba": "Front opacity, RGBa",
}
#: Supports of each kind that the figure of finite grids shows, and points that the figure of supports does.
MAX_MARKS, MAX_POINTS = 120, 150


# ---------------------------------------------------------------------------- supports

SUPPORTS = (
    "Points of six supports, by one of the five latents of both sprites. Above each: whether every value of every slot "
    "occurs, and the share of all pixels of the image with full rank for the back slot under hard occlusion."
)


def _draw_sketches(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(2, 3, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.94, bottom=0.1, wspace=0.1, hspace=0.34)
    for panel, name in zip(axes.flat, SKETCHES, strict=True):
        points = table.only(support=name)
        if not len(points):
            panel.set_title(f"{name}\n(not run yet)", fontsize=12.5)
            continue
        missing, share = float(points["missing"][0]), float(points["back pixels"][0])
        across, up = points["front x"][:MAX_POINTS], points["back x"][:MAX_POINTS]
        panel.plot(across, up, linestyle="", marker="o", markersize=3.2, alpha=0.75)
        panel.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
        words = "all values seen" if missing == 0 else f"{100 * missing:.0f} % of values unseen"
        panel.set_title(f"{name}\n", fontsize=12.5)
        words += f"; {'100' if share == 1 else f'{100 * share:.1f}'} % of back pixels"
        panel.text(0.0, 1.02, words, fontsize=10.5, va="bottom", transform=panel.transAxes)
        panel.grid(visible=False)
    for panel in axes[1]:
        panel.set_xlabel("front sprite: x (unit range)")
    for panel in axes[:, 0]:
        panel.set_ylabel("back sprite: x (unit range)")


def _say_sketches(table: Table) -> str:
    if not {"orthogonal gap", "orthogonal*"} <= set(table["support"].tolist()):
        return "Panels of training points by the x of both sprites, not all of them finished."
    gap = table.only(support="orthogonal gap")["missing"][0]
    star = table.only(support="orthogonal*")["back pixels"][0]
    return (
        f"Six panels of training points by the x of both sprites. The gap leaves {gap:.0%} of values unseen; one plane "
        f"a slot settles {star:.1%} of the back sprite's pixels under hard occlusion."
    )


# ---------------------------------------------------------------------------- rank maps

MAPPED = (
    "Dark: share of probed values at which the stacked Jacobian of a pixel lacks full rank (hard occlusion, planes of "
    "the paper). Right: alpha compositing, counting only what other combinations would show."
)


def _draw_maps(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(1, len(MAPS))
    canvas.subplots_adjust(left=0.01, right=0.9, top=0.86, bottom=0.04, wspace=0.06)
    side = round(len(table) ** 0.5)
    for panel, (name, title) in zip(axes, MAPS.items(), strict=True):
        open_share = 1 - table[name][np.argsort(table["pixel"])].reshape(side, side)
        image = panel.imshow(open_share, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        never = int((open_share == 1).sum())
        panel.set_title(f"{title}\n{f'{never:,} pixels always open' if never else 'no pixel open'}", fontsize=11.5)
        panel.set(xticks=[], yticks=[])
        panel.grid(visible=False)
        for spine in panel.spines.values():
            spine.set_visible(True)
    bar = canvas.add_axes((0.92, 0.12, 0.012, 0.66))
    canvas.colorbar(image, cax=bar, label="share of values left open")


def _say_maps(table: Table) -> str:
    single, double = (int((table[name] == 0).sum()) for name in ("back, one anchor", "back, two anchors"))
    return (
        f"Maps of the 64 x 64 pixels. With one anchor {single} pixels of the back slot are never settled, with two "
        f"{double}; transparent pixels of the front never are, which matters only for RGBa."
    )


# ---------------------------------------------------------------------------- visibility

HIDDEN_CAPTION = (
    "Share of the pixels of random back sprites, counted together and without those of the empty image around them, "
    "that every front sprite we drew covers: upper bounds of what every admissible one covers."
)


def _draw_hidden(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.98, top=0.95, bottom=0.17)
    for fronts, label in {"drawn": "200 front sprites drawn", "ends": "and put at the ends of the band"}.items():
        line = table.only(way=fronts)
        order = np.argsort(line["width"])
        axes.plot(line["width"][order], line["hidden"][order], label=label)
    axes.set(xlabel="half-width of the diagonal, delta (unit range)", ylabel="share of back pixels never shown")
    axes.set(ylim=(-0.02, None), xlim=(0, None))
    axes.legend(frameon=False, fontsize=11.5)


def _say_hidden(table: Table) -> str:
    line = table.only(way="ends")
    ends = (np.argmin(line["width"]), np.argmax(line["width"]))
    shares = [f"{line['hidden'][index]:.3f} at a half-width of {line['width'][index]:g}" for index in ends]
    return f"Share of back pixels that no front sprite we drew shows: {', '.join(shares)}."


# ---------------------------------------------------------------------------- finite grids

GRIDS = (
    "Random supports of a 6 x 6 grid. Components are moved at random and refitted to the seen cells; every mark is one "
    f"support, up to {MAX_MARKS} of each kind."
)


def _grid_table(rows: Table) -> Table:
    columns = {name: rows[name] for name in ("rule", "unknowns", "outputs")}
    return Table({**columns, "deficit": rows["full"] - rows["rank"], "error": np.maximum(rows["error"], 1e-16)})


def _draw_grids(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.75, top=0.95, bottom=0.17)
    kinds = [("add", 3, 3), ("bilinear", 2, 3), ("bilinear", 3, 2), ("bilinear", 4, 2)]
    for shift, (rule, unknowns, outputs) in enumerate(kinds):
        chosen = table.only(rule=rule, unknowns=unknowns, outputs=outputs).head(MAX_MARKS)
        label = f"{rule}, M = {unknowns}, N = {outputs}"
        positions = chosen["deficit"] + 0.12 * (shift - 1.5)
        axes.plot(positions, chosen["error"], linestyle="", label=label, markersize=5, markerfacecolor="none")
    axes.set(xlabel="missing rank: rank J_grid - rank J_P", ylabel="error on the whole grid after refitting")
    axes.set_yscale("log")
    axes.set_yticks([1e0, 1e-4, 1e-8, 1e-12, 1e-16], ["1", "1e-4", "1e-8", "1e-12", "1e-16"])
    axes.minorticks_off()
    axes.axhline(1e-6, color="0.5", linewidth=0.8, linestyle="-", marker="")
    axes.legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2)


def _say_grids(table: Table) -> str:
    none = table["deficit"] == 0
    high, low = float(table["error"][none].max()), float(table["error"][~none].min())
    return f"Refitting errs by at most {high:.0e} where no rank is missing, and by at least {low:.0e} where some is."


# ---------------------------------------------------------------------------- numerical simulation

SIMULATION = (
    "R2 on random points by the size of the training set, after as many steps as the authors' plots show; means over "
    "random generators with two standard errors, drawn from -1 up. Grey bands are read off these plots at the largest "
    "training sets, dotted lines are ours after a quarter of the steps."
)
#: R2 of blockwise and of plain networks, read off the plots of the authors' notebook at the largest training sets.
READ_OFF = {
    "random": ((0.96, 0.98), (0.96, 0.98)),
    "diagonal": ((0.96, 0.98), (0.12, 0.17)),
    "orthogonal": ((0.92, 0.94), (0.3, 0.55)),
}
SUPPORT_NAMES = {"random": "everywhere", "diagonal": "exact diagonal", "orthogonal": "orthogonal planes"}


def _size_table(rows: Table) -> Table:
    """Means after all steps and after a quarter of them."""
    steps = sorted(set(rows["steps"].tolist()))
    rows = rows.where(np.isin(rows["steps"], [steps[-1], steps[-3]]))
    return over_seeds(rows, ("support", "samples", "steps"), ("blockwise", "plain"))


def _draw_sizes(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, len(READ_OFF), sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.8, bottom=0.19, wspace=0.08)
    end = int(table["steps"].max())
    for axes, (support, bands) in zip(panels, READ_OFF.items(), strict=True):
        rows = table.only(support=support)
        for (low, high), model, colour, mark in zip(
            bands, ("blockwise", "plain"), ("#1b6ca8", "#c2551b"), "os", strict=True
        ):
            line = rows.only(steps=end)
            half = np.nan_to_num(line[f"{model} 2se"])
            style: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 6, "capsize": 3, "zorder": 3}
            axes.errorbar(line["samples"], line[model], yerr=half, label=model, linestyle="-", **style)
            early = rows.where(rows["steps"] < end)
            axes.plot(early["samples"], early[model], color=colour, linestyle=":", marker="", linewidth=1.2)
            axes.fill_between([700, 6000], low, high, color="0.45", alpha=0.5, linewidth=0, zorder=1)
        axes.set(xscale="log", xlabel="training points", ylim=(-1, 1.1), title=SUPPORT_NAMES[support])
        ticks = np.unique(table["samples"])[::2]
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.axhline(0, color="0.5", linewidth=0.8, marker="", linestyle="-")
    panels[0].set_ylabel("R2 on random points")
    panels[0].fill_between([], [], [], color="0.45", alpha=0.5, label="authors' plots")
    panels[0].plot([], [], color="0.3", linestyle=":", marker="", label="a quarter of the steps")
    names, labels = panels[0].get_legend_handles_labels()
    canvas.legend(names, labels, frameon=False, ncols=4, loc="upper center", fontsize=11.5)


def _say_sizes(table: Table) -> str:
    last = table.only(support="diagonal", steps=int(table["steps"].max()), samples=int(table["samples"].max()))
    apart, plain = (float(last[model][0]) for model in ("blockwise", "plain"))
    return f"From the exact diagonal a blockwise network reaches an R2 of {apart:.3f}, a plain one {plain:.3f}."


REFITTED, READ = "Missing rank predicts what refitting finds", "Reading latents off stacked observations"
FIGURES = (
    plot_of("supports", "sketches", "Training supports", SUPPORTS, _draw_sketches, _say_sketches, 560),
    plot_of("rank-maps", "rank-maps", "Pixels that the support leaves open", MAPPED, _draw_maps, _say_maps, 270),
    plot_of("visibility", "visibility", "What a narrow diagonal hides", HIDDEN_CAPTION, _draw_hidden, _say_hidden, 300),
    plot_of("finite-grids", "finite-grids", REFITTED, GRIDS, _draw_grids, _say_grids, 330, _grid_table),
    plot_of("simulation", "simulation", READ, SIMULATION, _draw_sizes, _say_sizes, 340, _size_table),
)
