"""First principles: figures of trained decoders. Bars are two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.lab.papers.first_principles.experiments.pictures import MAP_CELLS, SHOWN_PICTURES, unpack
from recombine.lab.papers.first_principles.experiments.ranks import amplifications
from recombine.lab.papers.first_principles.experiments.supports import GAP_X
from recombine.lab.papers.first_principles.experiments.worlds import WORLDS
from recombine.lab.papers.first_principles.grids import SHOWN, TABLE
from recombine.lab.papers.first_principles.readings.decoders import GROWN, PUBLISHED
from recombine.lab.papers.first_principles.readings.gates import paints_front
from recombine.lab.papers.first_principles.readings.scales import (
    SCALES,
    SPRITES,
    DecoderRows,
    living_rows,
    rows_at,
    scale_in_words,
)
from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.plots import plot_of
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MODELS = {"compositional": "compositional", "monolithic": "monolithic", "rgba": "RGBa", "rgba sigmoid": "RGBa, sigmoid"}
#: Marks of published values.
RELEASED: dict[str, Any] = {"color": "0.45", "markeredgewidth": 1.8, "linestyle": "none"}
#: From the whole cube over planes to bands.
ORDER = (
    *("random", "orthogonal", "orthogonal+", "orthogonal normal", "orthogonal gap", "orthogonal*"),
    *("diagonal 0.2", "diagonal 0.1", "diagonal 0.05"),
)


# ---------------------------------------------------------------------------- every row of the table

ROWS_TITLE = "Only the compositional decoder is right beyond planes; on narrow bands it fails where the front is lost"
ROWS = (
    "What is left to explain, 1 - R2, on fresh images of the support and on all combinations. Dots and squares are "
    "means of the networks that paint the front and are not black (bars: two standard errors); in brackets how many "
    "these are of how many. Released: means of all seeds."
)


def _rows_table(rows: Table) -> Table:
    """Seeds of the largest scale that has all rows, or else of the largest there is; collapsed models left out."""
    present = [scale for scale in SCALES if len(rows.only(scale=scale))]
    try:
        scale = DecoderRows.largest(rows, *TABLE).scale
    except MissingRowsError:
        scale = present[0]
    trained, listed = living_rows(rows_at(rows, scale)), []
    soft = (trained["model"] == "compositional") & (scale != "tiny")
    lost = soft & ~paints_front(trained)
    counts = rows_at(rows, scale).by("support", "model")
    for row in over_seeds(trained.where(~lost), ("support", "model"), ("r2 id", "r2 all")).rows():
        key = row["support"], row["model"]
        published = dict(zip(("published id", "published all"), PUBLISHED.get(key, (np.nan, np.nan)), strict=True))
        single = {
            f"{word} {name}": " ".join(
                f"{value:.5f}" for value in runs.only(support=key[0], model=key[1])[f"r2 {name}"]
            )
            for name in ("id", "all")
            for word, runs in (("seeds", trained.where(~lost)), ("lost", trained.where(lost)))
        }
        listed.append({"scale": scale, **row, "of": len(counts[key]), **published, **single})
    return Table.from_rows(sorted(listed, key=lambda row: (ORDER.index(row["support"]), [*MODELS].index(row["model"]))))


def _draw_rows(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.33, right=0.98, top=0.9, bottom=0.12)
    heights = np.arange(len(table))[::-1]
    for name, shift, marker, colour, word in (
        ("id", 0.19, "o", "#1b6ca8", "on the support"),
        ("all", -0.19, "s", "#c2551b", "on all combinations"),
    ):
        error, half = 1 - table[f"r2 {name}"], np.nan_to_num(table[f"r2 {name} 2se"])
        style: dict[str, Any] = {"color": colour, "linestyle": "none", "marker": marker}
        low = np.minimum(half, 0.6 * error)
        axes.errorbar(error, heights + shift, xerr=[low, half], label=word, capsize=3, markersize=6, zorder=3, **style)
        for height, seeds in zip(heights + shift, table[f"seeds {name}"], strict=True):
            single = [1 - float(value) for value in seeds.split()]
            axes.plot(single, np.full(len(single), height), **style | {"marker": "|", "markersize": 10}, zorder=2)
        for height, networks in zip(heights + shift, table[f"lost {name}"], strict=True):
            ends = [1 - float(value) for value in networks.split()]
            cross = style | {"marker": "X", "markersize": 8, "markerfacecolor": "none", "markeredgewidth": 1.4}
            axes.plot(ends, np.full(len(ends), height), **cross, zorder=5)
        published = 1 - table[f"published {name}"]
        axes.plot(published, heights + shift, "x", markersize=8, zorder=4, **RELEASED)
    if any(table["lost all"]):
        hollow: dict[str, Any] = {"color": "0.2", "markerfacecolor": "none", "markersize": 8, "linestyle": "none"}
        axes.plot([], [], marker="X", label="front dead or leaking", **hollow)
    axes.plot([], [], "|", color="0.2", markersize=10, label="one network")
    axes.plot([], [], "x", label="released table", **RELEASED)
    axes.set_yticks(
        heights, [f"{row['support']}, {MODELS[row['model']]} ({row['n']} of {row['of']})" for row in table.rows()]
    )
    axes.set_xscale("log")
    ticks = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel=f"1 - R2 (0 is perfect, 1 the mean image); {scale_in_words(str(table['scale'][0]))}")
    axes.set(ylim=(-0.6, len(table) - 0.4))
    axes.axvline(1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    axes.legend(frameon=False, fontsize=11, loc="lower center", bbox_to_anchor=(0.32, 1.0), ncols=5)


def _say_rows(table: Table) -> str:
    plain, ours = (table.only(support="orthogonal", model=m)["r2 all"] for m in ("monolithic", "compositional"))
    words = f"{ours[0]:.2f} against {plain[0]:.2f}" if len(plain) and len(ours) else "not both run"
    return f"R2 on the support and on all combinations by row; on planes, compositional and monolithic: {words}."


# ---------------------------------------------------------------------------- growth of errors

GROWTH = (
    "Error on all combinations over that on the support, and below each support the largest factor by which stacked "
    "Jacobians of soft occlusion let errors grow in the front and in the back; bars are two standard errors over "
    "seeds, grey crosses the released table."
)


def _growth_table(rows: Table) -> Table:
    try:
        decoders = DecoderRows.largest(rows, *GROWN, scales=SPRITES)
    except MissingRowsError:
        return rows.where(np.zeros(len(rows), dtype=bool))
    listed = []
    for case, published in GROWN.items():
        ours, (front, back) = decoders.growth(case), amplifications(case[0])
        listed.append({"support": case[0], "front": front, "back": back, "growth": ours.mean, "2se": ours.error})
        listed[-1] |= {"released": published, "scale": decoders.scale}
    return Table.from_rows(listed)


def _draw_growth(canvas: Canvas, table: Table) -> None:
    if _unfinished(canvas, not len(table)):
        return
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.98, top=0.95, bottom=0.17)
    positions = np.arange(len(table))
    ours: dict[str, Any] = {"linestyle": "none", "marker": "s", "color": "#c2551b", "capsize": 3, "markersize": 6}
    axes.errorbar(positions - 0.06, table["growth"], yerr=table["2se"], label=scale_in_words(table["scale"][0]), **ours)
    axes.plot(positions + 0.06, table["released"], "x", markersize=8, label="released table", **RELEASED)
    axes.legend(frameon=False, fontsize=11, loc="upper left")
    names = [f"{row['support']}\nfront {row['front']:.1f} x, back {row['back']:.1f} x" for row in table.rows()]
    axes.set_xticks(positions, names)
    axes.set(ylabel="error on all / on support", ylim=(0, None), xlim=(-0.5, len(table) - 0.5))


def _say_growth(table: Table) -> str:
    if not len(table):
        return "How errors grow off planes of sprites, which are not finished."
    listed = ", ".join(f"{row['support']} {row['growth']:.1f}" for row in table.rows())
    return f"Errors on all combinations over those on the support: {listed}."


# ---------------------------------------------------------------------------- pictures

#: Of the shown supports and models, those that a figure cannot do without.
GAPS, GHOSTS = (TABLE[0], ("orthogonal gap", "compositional")), (TABLE[0], ("orthogonal*", "compositional"))
DRAWN = (
    "Truth above drawings of models trained on the planes of Orthogonal, one seed each, after as many of the paper's "
    "392,000 steps as stand above them; after 3,300 shapes are still round."
)
DRAWN_WELL = "Truth and drawings: all models draw planes well; off them the monolithic one loses or misplaces sprites"


def _longest_pictures(rows: Table, shown: Sequence[tuple[str, str]]) -> Table:
    """Return the pictures of the length of training at which most of these were drawn, of several the longest."""
    drawn = {scale: set(rows.only(scale=scale).by("support", "model")) for scale in SCALES}
    return rows.only(scale=max(SCALES, key=lambda scale: len(drawn[scale].intersection(shown))))


def _drawn_table(rows: Table) -> Table:
    rows = _longest_pictures(rows, SHOWN[:3])
    return rows.where(np.isin(rows["what"], ("ID", "OOD"))).only(support="orthogonal")


def _tell_length(canvas: Canvas, table: Table) -> None:
    """Write how long the models were trained into the corner."""
    said = scale_in_words(str(table["scale"][0]))
    canvas.text(0.005, 0.99, said, ha="left", va="top", fontsize=10, color="0.35")


def _images(row: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Targets and predictions (2, pictures, side, side, 3)."""
    return unpack(row["data"], np.uint8, (2, SHOWN_PICTURES, 3, row["side"], row["side"])).transpose(0, 1, 3, 4, 2)


def _say(words: str) -> Callable[[Table], str]:
    """Return what says words, and how long the models that are shown were trained."""
    return lambda table: f"{words} ({scale_in_words(str(table['scale'][0]))})." if len(table) else f"{words}."


def _unfinished(canvas: Canvas, missing: bool) -> bool:
    """Say on the canvas that the runs it needs are not all there."""
    if missing:
        canvas.text(0.5, 0.5, "the runs shown here are not finished", ha="center", va="center")
    return missing


def _draw_drawn(canvas: Canvas, table: Table) -> None:
    models = [model for model in MODELS if len(table.only(model=model))]
    if _unfinished(canvas, not models):
        return
    _tell_length(canvas, table)
    panels = canvas.subplots(1 + len(models), 2 * SHOWN_PICTURES)
    canvas.subplots_adjust(left=0.15, right=0.99, top=0.91, bottom=0.02, wspace=0.06, hspace=0.06)
    for column, word in enumerate(("ID", "OOD")):
        for index in range(SHOWN_PICTURES):
            for line, name in enumerate(("truth", *models)):
                row = next(table.only(model=name if line else models[0], what=word).rows())
                axes = panels[line, column * SHOWN_PICTURES + index]
                _picture(axes, _images(row)[min(line, 1), index])
                if column == index == 0:
                    axes.set_ylabel(MODELS.get(name, name), rotation=0, ha="right", va="center")
        panels[0, column * SHOWN_PICTURES].set_title("on the support" if word == "ID" else "any combination")


def _picture(axes: Axes, image: npt.NDArray[Any], frame: str = "none", **style: Any) -> None:
    axes.imshow(image, interpolation="nearest", **style)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=frame != "none", color=frame)


# ---------------------------------------------------------------------------- the map of the gap

GAP_MAP = (
    "Mean error on all combinations by both sprites' x, one seed each, after as many of the paper's 392,000 steps as "
    "stand above; the dashed lines bound the x that the front sprite never had."
)
BAND = "Error by both sprites' x: with the gap a band at the missing x of the front sprite, for every x of the back"


def _map_table(rows: Table) -> Table:
    rows = _longest_pictures(rows, GAPS).only(what="x and x", model="compositional")
    return rows.where(np.isin(rows["support"], ("orthogonal", "orthogonal gap")))


def _draw_map(canvas: Canvas, table: Table) -> None:
    if _unfinished(canvas, not len(table)):
        return
    _tell_length(canvas, table)
    panels = canvas.subplots(1, len(table), sharey=True, squeeze=False)[0]
    canvas.subplots_adjust(left=0.09, right=0.88, top=0.89, bottom=0.17, wspace=0.1)
    maps = [1000 * unpack(row["data"], np.float32, (MAP_CELLS, MAP_CELLS)) for row in table.rows()]
    highest = max(float(np.nanmax(errors)) for errors in maps)
    for axes, row, values in zip(panels, table.rows(), maps, strict=True):
        extent = (0.0, 1.0, 0.0, 1.0)
        image = axes.imshow(values.T, origin="lower", extent=extent, cmap="Greys", vmin=0, vmax=highest, aspect="auto")
        axes.grid(False)
        if row["support"] == "orthogonal gap":
            for edge in GAP_X:
                axes.axvline(edge, color="#c2551b", linewidth=1.5, linestyle="--", marker="")
        axes.set(xlabel="x of the front sprite", title=row["support"].capitalize())
    panels[0].set_ylabel("x of the back sprite")
    bar = canvas.add_axes((0.9, 0.17, 0.02, 0.72))
    canvas.colorbar(image, cax=bar, label="squared error (1e-3)")


# ---------------------------------------------------------------------------- the ghost of the anchor

GHOST = (
    "Mean error of each pixel over all combinations, one seed each, after as many of the paper's 392,000 steps as "
    "stand above; boxes mark the held sprites O (front) and B (back)."
)
GATHERED = "Mean error of every pixel: with one plane behind, it gathers on the anchor the front was always shown with"


def _ghost_table(rows: Table) -> Table:
    rows = _longest_pictures(rows, GHOSTS)
    rows = rows.where(np.isin(rows["what"], ("pixels", "OOD"))).only(model="compositional")
    return rows.where(np.isin(rows["support"], ("orthogonal", "orthogonal*")))


def _draw_ghost(canvas: Canvas, table: Table) -> None:
    names = ("orthogonal", "orthogonal*")
    if _unfinished(canvas, not set(names) <= set(table["support"].tolist())):
        return
    _tell_length(canvas, table)
    panels = canvas.subplots(1, 4)
    canvas.subplots_adjust(left=0.02, right=0.9, top=0.86, bottom=0.12, wspace=0.12)
    side = int(table["side"][0])
    maps = [table.only(support=name, what="pixels")["data"][0] for name in names]
    errors = [unpack(data, np.float32, (side, side)) for data in maps]
    highest = max(float(error_map.max()) for error_map in errors)
    for axes, values, word in zip(panels[:2], errors, ("Two planes behind", "One plane behind"), strict=True):
        _picture(axes, values, "0.7", cmap="Greys", vmin=0, vmax=highest)
        _outlines(axes, side)
        axes.set_title(word, fontsize=12)
    pictures = _images(next(table.only(support="orthogonal*", what="OOD").rows()))
    for axes, image, word in zip(panels[2:], pictures[:, 0], ("Truth", "One plane behind: drawn"), strict=True):
        _picture(axes, image)
        axes.set_title(word, fontsize=12)
    bar = canvas.add_axes((0.92, 0.2, 0.015, 0.58))
    canvas.colorbar(panels[1].images[0], cax=bar, label="squared error")


def _outlines(axes: Axes, side: int) -> None:
    """Mark the anchors O and B."""
    world = next(world for world in WORLDS.values() if world.side == side)
    for value, name in ((0.0, "O"), (1.0, "B")):
        down, across = np.nonzero(world.anchor_pixels(value))
        west, top = across.min() - 0.5, down.min() - 0.5
        right, bottom = across.max() + 0.5, down.max() + 0.5
        corners = [west, right, right, west, west], [top, top, bottom, bottom, top]
        axes.plot(*corners, color="#c2551b", linewidth=1, linestyle="-", marker="")
        below = value == 1.0
        axes.text((west + right) / 2, bottom if below else top, name, ha="center", va="top" if below else "bottom")


FIGURES = (
    plot_of("rows", "decoders", ROWS_TITLE, ROWS, _draw_rows, _say_rows, 500, _rows_table),
    plot_of("growth", "decoders", "How errors grow off planes", GROWTH, _draw_growth, _say_growth, 300, _growth_table),
    plot_of("reconstructions", "pictures", "What models draw", DRAWN, _draw_drawn, _say(DRAWN_WELL), 470, _drawn_table),
    plot_of("gap-map", "pictures", "Where a gap hurts", GAP_MAP, _draw_map, _say(BAND), choose=_map_table),
    plot_of("ghost", "pictures", "The ghost of the anchor", GHOST, _draw_ghost, _say(GATHERED), 260, _ghost_table),
)
