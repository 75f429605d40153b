"""Forced rendering: figures of pixel MLPs, embeddings, rotations and encoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.forced_rendering.figures.decoders import listed
from recombine.lab.papers.forced_rendering.figures.pictures import BLUE, INK, SOFT
from recombine.lab.papers.forced_rendering.figures.published import PIXEL_MLPS, mark_published
from recombine.lab.papers.forced_rendering.figures.remedies import PENALTY_WORDS
from recombine.lab.papers.forced_rendering.readings.rows import donut_learned, picture_of
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TOKEN_MEASURES = {
    "unseen peaks": "peaks in place",
    "correlation": "correlation",
    "relative error": "error / blank error",
}
ROTATION_MEASURES = {
    "error to blend": "network to blend of the edges",
    "error to truth": "network to true rotation",
    "blend to truth": "blend to true rotation",
}


def _tokens_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["tokens"].table
    words = [f"{row['model']} {row['depth']}, {row['code']}" for row in rows.rows()]
    columns = {name: rows[name] for name in ("seed", "depth", *TOKEN_MEASURES)}
    return Table({"network": words, **columns, "learned": rows["seen error"] < donut_learned(rows)})


def _draw_tokens(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 3, sharey=True)
    canvas.subplots_adjust(left=0.19, right=0.985, top=0.88, bottom=0.17, wspace=0.08)
    networks = list(dict.fromkeys(table["network"].tolist()))[::-1]
    for column, (axes, (name, title)) in enumerate(zip(panels, TOKEN_MEASURES.items(), strict=True)):
        for height, network in enumerate(networks):
            values, learned = (table.only(network=network)[of] for of in (name, "learned"))
            heights = height + (np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(1))
            for which, face in ((learned, INK), (~learned, "none")):
                style = {"color": INK, "markerfacecolor": face, "markersize": 5, "linestyle": "none"}
                axes.plot(values[which], heights[which], "o", **style)
            depth = int(table.only(network=network)["depth"][0])
            if network in ("pixel 2, one-hot", "pixel 4, bump"):
                mark_published(axes, [PIXEL_MLPS[depth][column]], [height - 0.34])
        axes.set(title=title, xlabel="in the hole", xlim=(-0.08, 1.08))
    panels[0].set_yticks(range(len(networks)), networks)


def _draw_embeddings(canvas: Canvas, table: Table) -> None:
    order = [name for name in PENALTY_WORDS if name in set(table["penalty"].tolist())]
    words = {"x": "image of one x", "y": "image of one y", "output": "painted\nwhere they meet", "truth": "right"}
    panels = canvas.subplots(len(words), len(order), squeeze=False)
    canvas.subplots_adjust(left=0.13, right=0.99, top=0.9, bottom=0.02, wspace=0.06, hspace=0.08)
    for column, penalty in zip(panels.T, order, strict=True):
        rows = table.only(penalty=penalty)
        for axes, name in zip(column, words, strict=True):
            embedding = name in ("x", "y")
            _show(axes, rows.only(picture=name), "RdBu_r" if embedding else "Greys", -1 if embedding else 0)
        column[0].set_title(f"{PENALTY_WORDS[penalty]}\npeaks {rows['unseen peaks'][0]:.2f}", fontsize=12)
    for axes, word in zip(panels[:, 0], words.values(), strict=True):
        axes.set_ylabel(word)


def _show(axes: Axes, rows: Table, colours: str, low: float) -> None:
    axes.grid(visible=False)
    axes.imshow(picture_of(rows), cmap=colours, vmin=low, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=SOFT)


def _say_embeddings(table: Table) -> str:
    each = {row["penalty"]: row["unseen peaks"] for row in table.only(picture="truth").rows()}
    texts = [f"{PENALTY_WORDS[name]} {peaks:.2f}" for name, peaks in each.items()]
    return f"Images that one x and one y own; share of peaks in place: {', '.join(texts)}."


def _rotation_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["rotation"].table, ("gap",), tuple(ROTATION_MEASURES))


def _draw_rotation(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.2, right=0.985, top=0.86, bottom=0.22)
    marks = {
        "error to blend": ("s", BLUE, BLUE),
        "error to truth": ("o", INK, INK),
        "blend to truth": ("D", "none", BLUE),
    }
    heights = np.arange(len(table))[::-1]
    for name, (mark, face, edge) in marks.items():
        spread = np.nan_to_num(table[f"{name} 2se"])
        style: dict[str, Any] = {"color": edge, "markerfacecolor": face, "fmt": mark, "capsize": 3}
        axes.errorbar(table[name], heights, xerr=spread, label=ROTATION_MEASURES[name], **style)
    axes.set(xlabel="mean squared error per pixel in the gap", xlim=(0, None), ylim=(-0.6, len(table) - 0.4))
    axes.set_yticks(heights, [f"gap {gap}°" for gap in table["gap"].tolist()])
    axes.legend(frameon=False, ncols=3, fontsize=11.5, loc="lower left", bbox_to_anchor=(-0.2, 1.0))


def _encoder_table(results: Mapping[str, Evidence]) -> Table:
    return over_seeds(results["encoder"].table, ("code",), ("seen right", "unseen right"))


def _draw_encoder(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.16, right=0.985, top=0.86, bottom=0.2)
    heights = np.arange(len(table))[::-1]
    for name, face, word in (("seen right", "none", "on the donut"), ("unseen right", INK, "in the hole")):
        spread = np.nan_to_num(table[f"{name} 2se"])
        axes.errorbar(
            table[name], heights, xerr=spread, fmt="o", color=INK, markerfacecolor=face, capsize=3, label=word
        )
    axes.set(xlabel="share of places read within 1.5 pixels", xlim=(-0.03, 1.05), ylim=(-0.6, len(table) - 0.4))
    axes.set_yticks(heights, table["code"].tolist())
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1.0))


FIGURES = (
    Plot(
        "tokens",
        title="Networks with one token per pixel: pixel MLPs compose without a remedy, transformers differ by seed",
        caption="Trained on the bare donut, on G; one dot per network: model, layers, code. Open: a network that has "
        "not learned the donut. Grey crosses: the two released pixel MLPs (both of one-hot codes, with a hole in the "
        "corner and 2,000 epochs; here 100). Transformers after the released 20 epochs; their script paints 1 - G.",
        experiments=("tokens",),
        table=_tokens_table,
        draw=_draw_tokens,
        alternative=listed("Correlation in the hole", "{network} {correlation:.2f}"),
        height=280,
    ),
    Plot(
        "embeddings",
        title="With the variance penalty each value owns a stripe",
        caption="One low-rank network per column, with the seed of the released notebook: the image that one x and one "
        "y of the hole own, each over its largest size (red and blue: its two signs), and what is painted where they "
        "meet. Peaks of the released networks: 0.04 without a penalty, 1.00 with both.",
        experiments=("embeddings",),
        table=lambda results: results["embeddings"].table,
        draw=_draw_embeddings,
        alternative=_say_embeddings,
        height=640,
    ),
    Plot(
        "rotation",
        title="A decoder of angles blends the edges of a gap",
        caption="A digit rotated through all angles but a gap; mean and two standard errors over seeds. The blend is "
        "the pixelwise mixture of the two images at the edges of the gap. No number was released of the gap: the "
        "notebooks record losses on angles outside it, and pictures.",
        experiments=("rotation",),
        table=_rotation_table,
        draw=_draw_rotation,
        alternative=listed(
            "Error to the blend and to the truth", "gap {gap} {error to blend:.3f} and {error to truth:.3f}"
        ),
        height=220,
    ),
    Plot(
        "encoder",
        title="Encoders trained on the donut misread the hole",
        caption="Share of places read right from the image, by the code that is read; mean and two standard errors "
        "over seeds. No number was released: the encoder scripts record none.",
        experiments=("encoder",),
        table=_encoder_table,
        draw=_draw_encoder,
        alternative=listed("Places read right in the hole", "{code} {unseen right:.2f}"),
        height=230,
    ),
)
