"""First principles, the theory: its figures, from the rows of the experiments. Plain matplotlib under the theme."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.first_principles.grids import SKETCHES
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MAPS = {
    "back, one anchor": "Back slot, one anchor",
    "back, two anchors": "Back slot, two anchors",
    "front": "Front slot",
    "front, rgba": "Front opacity, RGBa",
}
BLUE = "#1b6ca8"
#: Supports of each kind that the figure of finite grids shows.
MARKS = 120
#: Points of each support that are drawn.
POINTS = 150


# ---------------------------------------------------------------------------- supports


def _sketch_table(results: Mapping[str, Evidence]) -> Table:
    return results["sketches"].table


def _draw_sketches(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(2, 3, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.94, bottom=0.1, wspace=0.1, hspace=0.34)
    for place, name in zip(axes.flat, SKETCHES, strict=True):
        points = table.only(support=name)
        if not len(points):
            place.set_title(f"{name}\n(not run yet)", fontsize=12.5)
            continue
        missing, shown = float(points["missing"][0]), float(points["back pixels"][0])
        across, up = points["front x"][:POINTS], points["back x"][:POINTS]
        place.plot(across, up, linestyle="", marker="o", markersize=3.2, alpha=0.75)
        place.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
        words = "all values seen" if missing == 0 else f"{100 * missing:.0f} % of values unseen"
        place.set_title(f"{name}\n", fontsize=12.5)
        style: dict[str, Any] = {"fontsize": 10.5, "va": "bottom", "transform": place.transAxes}
        place.text(0.0, 1.02, f"{words}; {_share(shown)} of back pixels", **style)
        place.grid(visible=False)
    for place in axes[1]:
        place.set_xlabel("front sprite: x (unit range)")
    for place in axes[:, 0]:
        place.set_ylabel("back sprite: x (unit range)")


def _share(share: float) -> str:
    return "100 %" if share == 1 else f"{100 * share:.1f} %"


def _say_sketches(table: Table) -> str:
    if not {"orthogonal gap", "orthogonal*"} <= set(table["support"].tolist()):
        return "Panels of training points by the x of both sprites, not all of them finished."
    gap = float(table.only(support="orthogonal gap")["missing"][0])
    one = float(table.only(support="orthogonal*")["back pixels"][0])
    return (
        f"Six panels of training points by the x of both sprites. The gap leaves {gap:.0%} of values unseen; one plane "
        f"a slot settles {one:.1%} of the back sprite's pixels under hard occlusion."
    )


# ---------------------------------------------------------------------------- rank maps


def _map_table(results: Mapping[str, Evidence]) -> Table:
    return results["rank-maps"].table


def _draw_maps(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(1, len(MAPS))
    canvas.subplots_adjust(left=0.01, right=0.9, top=0.86, bottom=0.04, wspace=0.06)
    side = round(len(table) ** 0.5)
    for place, (name, title) in zip(axes, MAPS.items(), strict=True):
        open_share = 1 - table[name][np.argsort(table["pixel"])].reshape(side, side)
        shown = place.imshow(open_share, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        place.set_title(f"{title}\n{_opened(open_share)}", fontsize=11.5)
        place.set(xticks=[], yticks=[])
        place.grid(visible=False)
        for spine in place.spines.values():
            spine.set_visible(True)
    bar = canvas.add_axes((0.92, 0.12, 0.012, 0.66))
    canvas.colorbar(shown, cax=bar, label="share of values left open")


def _opened(open_share: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    never = int((open_share == 1).sum())
    return f"{never:,} pixels always open" if never else "no pixel open"


def _say_maps(table: Table) -> str:
    one, two = (int((table[name] == 0).sum()) for name in ("back, one anchor", "back, two anchors"))
    return (
        f"Maps of the 64 x 64 pixels. With one anchor {one} pixels of the back slot are never settled, with two {two}; "
        "transparent pixels of the front never are, which matters only for RGBa."
    )


# ---------------------------------------------------------------------------- visibility


def _visibility_table(results: Mapping[str, Evidence]) -> Table:
    return results["visibility"].table


def _draw_visibility(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.98, top=0.95, bottom=0.17)
    words = {"drawn": "200 front sprites drawn", "ends": "and put at the ends of the band"}
    for way, label in words.items():
        line = table.only(way=way)
        order = np.argsort(line["width"])
        axes.plot(line["width"][order], line["hidden"][order], label=label)
    axes.set(xlabel="half-width of the diagonal, delta (unit range)", ylabel="share of back pixels never shown")
    axes.set(ylim=(-0.02, None), xlim=(0, None))
    axes.legend(frameon=False, fontsize=11.5)


def _say_visibility(table: Table) -> str:
    line = table.only(way="ends")
    ends = [int(place) for place in (np.argmin(line["width"]), np.argmax(line["width"]))]
    parts = [f"{line['hidden'][place]:.3f} at a half-width of {line['width'][place]:g}" for place in ends]
    return f"Share of back pixels that no front sprite we drew shows: {parts[0]}, {parts[1]}."


# ---------------------------------------------------------------------------- finite grids


def _grid_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["finite-grids"].table
    return Table(
        {"rule": rows["rule"], "unknowns": rows["unknowns"], "outputs": rows["outputs"]}
        | {"deficit": rows["full"] - rows["rank"], "error": np.maximum(rows["error"], 1e-16)}
    )


def _draw_grids(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.75, top=0.95, bottom=0.17)
    kinds = [("add", 3, 3), ("bilinear", 2, 3), ("bilinear", 3, 2), ("bilinear", 4, 2)]
    for shift, (rule, unknowns, outputs) in enumerate(kinds):
        chosen = table.only(rule=rule, unknowns=unknowns, outputs=outputs)
        chosen = chosen.where(np.arange(len(chosen)) < MARKS)
        label = f"{rule}, M = {unknowns}, N = {outputs}"
        places = chosen["deficit"] + 0.12 * (shift - 1.5)
        axes.plot(places, chosen["error"], linestyle="", label=label, markersize=5, markerfacecolor="none")
    axes.set(
        yscale="log", xlabel="missing rank: rank J_grid - rank J_P", ylabel="error on the whole grid after refitting"
    )
    powers = (0, -4, -8, -12, -16)
    axes.set_yticks([10.0**power for power in powers], ["1" if power == 0 else f"1e{power}" for power in powers])
    axes.minorticks_off()
    axes.axhline(1e-6, color="0.5", linewidth=0.8, linestyle="-", marker="")
    axes.legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2)


def _say_grids(table: Table) -> str:
    none = table["deficit"] == 0
    most, least = float(table["error"][none].max()), float(table["error"][~none].min())
    return f"Refitting errs by at most {most:.0e} where no rank is missing, and by at least {least:.0e} where some is."


# ---------------------------------------------------------------------------- numerical simulation


def _simulation_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["simulation"].table
    rows = rows.where(rows["low"] == rows["low"][0])
    listed = []
    for model in ("blockwise", "plain"):
        for name in ("random", "diagonal", "orthogonal"):
            found = rows.only(support=name)[model]
            spread = 2 * float(found.std(ddof=1)) / len(found) ** 0.5 if len(found) > 1 else 0.0
            listed.append((model, name, float(found.mean()), spread, len(found)))
    names = ("model", "support", "r2", "two standard errors", "n")
    return Table({name: [row[place] for row in listed] for place, name in enumerate(names)})


def _draw_simulation(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.98, top=0.97, bottom=0.18)
    style = {"blockwise": (BLUE, ""), "plain": ("#e3c4b3", "////")}
    for shift, (model, (colour, hatch)) in enumerate(style.items()):
        rows = table.only(model=model)
        places = np.arange(len(rows)) + 0.36 * shift - 0.18
        bars: dict[str, Any] = {"width": 0.34, "color": colour, "hatch": hatch, "edgecolor": "0.2", "linewidth": 0.7}
        axes.bar(places, rows["r2"], yerr=rows["two standard errors"], label=model, **bars)
        tops = np.maximum(rows["r2"] + rows["two standard errors"], 0)
        for place, value, top in zip(places, rows["r2"], tops, strict=True):
            axes.annotate(f"{value:.3f}", (place, top), (0, 4), textcoords="offset points", ha="center")
    axes.set_xticks(range(3), ["random", "exact diagonal", "orthogonal planes"])
    axes.set_xlabel(f"training support (n = {table['n'][0]} generators)")
    axes.set(ylabel="R2 on random points", ylim=(min(-0.1, float(table["r2"].min()) - 0.15), 1.25))
    axes.axhline(0, color="0.3", linewidth=0.8, marker="", linestyle="-")
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, ncols=2, loc="upper right", fontsize=11.5)


def _say_simulation(table: Table) -> str:
    apart, plain = (float(table.only(model=m, support="diagonal")["r2"][0]) for m in ("blockwise", "plain"))
    return f"From the exact diagonal a blockwise network reaches an R2 of {apart:.3f}, a plain one {plain:.3f}."


FIGURES = (
    Plot(
        "supports",
        title="Training supports",
        caption=(
            "Points of six supports, by one of the five latents of both sprites. Above each: whether every value of "
            "every slot occurs, and the share of the back slot's pixels with full rank under hard occlusion."
        ),
        experiments=("sketches",),
        table=_sketch_table,
        draw=_draw_sketches,
        alternative=_say_sketches,
        height=560,
    ),
    Plot(
        "rank-maps",
        title="Pixels that the support leaves open",
        caption=(
            "Dark: share of probed values at which the stacked Jacobian of a pixel lacks full rank (hard occlusion, "
            "planes of the paper). Right: alpha compositing, counting only what other combinations would show."
        ),
        experiments=("rank-maps",),
        table=_map_table,
        draw=_draw_maps,
        alternative=_say_maps,
        height=270,
    ),
    Plot(
        "visibility",
        title="What a narrow diagonal hides",
        caption=(
            "Share of the pixels of random back sprites, counted together, that every front sprite we drew covers: "
            "upper bounds of what every admissible one covers."
        ),
        experiments=("visibility",),
        table=_visibility_table,
        draw=_draw_visibility,
        alternative=_say_visibility,
        height=300,
    ),
    Plot(
        "finite-grids",
        title="Missing rank predicts what refitting finds",
        caption=(
            "Random supports of a 6 x 6 grid. Components are moved at random and refitted to the seen cells; every "
            f"mark is one support, up to {MARKS} of each kind."
        ),
        experiments=("finite-grids",),
        table=_grid_table,
        draw=_draw_grids,
        alternative=_say_grids,
        height=330,
    ),
    Plot(
        "simulation",
        title="Reading latents off stacked observations",
        caption=(
            "Mean over random generators with two standard errors; both models are trained on 4096 points of the "
            "support, latents between -1 and 1."
        ),
        experiments=("simulation",),
        table=_simulation_table,
        draw=_draw_simulation,
        alternative=_say_simulation,
        height=320,
    ),
)
