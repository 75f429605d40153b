"""Multi-task learning and pretraining: figures of rescaled networks on images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.figures.words import draw_legend, draw_published
from recombine.lab.papers.multitask.published import ACCURACIES, BLOCKS, DIMENSIONS, PUBLISHED_IMAGES, STAGES
from recombine.lab.papers.multitask.readings.images import network_rows
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import DASHES, by_samples, counts, grown, palette
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NETWORKS = {"resnet": "ResNet-18", "resnet centred": "ResNet-18, centred", "vit": "ViT"}
NETWORKS |= {"small resnet": "small ResNet, digits"}

#: Factors whose accuracies are drawn, as far as there are results; gains of all of them are in the table beside.
DRAWN = {1.0: 0, 0.125: 4, 2.0: 2}
#: Methods other than PT+FT: how to find them, and how to draw them.
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "single task": ({"method": "stl"}, {"marker": "x", "linestyle": ":"}),
    "MTL, both learned": ({"method": "mtl", "stop rule": "both"}, {"marker": "D", "linestyle": ""}),
    "MTL, published stop": ({"method": "mtl", "stop rule": "main"}, {"marker": "^", "linestyle": ""}),
}
#: Methods whose gains are shown, and what marks them; the second is a control.
GAINING = {"pt+ft": "", "pt+ft recalibrated": "*"}
#: What is shown of a layer, in words; chance is not in results from before it was recorded.
SIZES = {"PR before": "rescaled, before finetuning", "PR after": "after finetuning"}
SIZES |= {"ENSD": "shared (ENSD)", "chance": "shared if shuffled"}
#: Fewer shared dimensions than this are none; a line that goes there leaves the panel.
MIN_SHARED_DIMENSIONS = 0.003
#: Points of accuracy at which a tint is full.
FULL_TINT_POINTS = 20.0


def _accuracy_table(results: Mapping[str, Evidence]) -> Table:
    """Means over seeds; ``samples`` 0 is the mean over all numbers of samples within a seed."""
    rows = by_samples(network_rows(results["rescaling"].table))
    keys = list(zip(*(rows[name].tolist() for name in ("network", "method", "samples", "seed")), strict=True))
    gaining = np.isin(rows["method"], list(GAINING))
    plain = gaining & (rows["factor"] == 1.0)
    start = {key: value for key, value, chosen in zip(keys, rows["accuracy"], plain, strict=True) if chosen}
    gain = rows["accuracy"] - np.array([start.get(key, np.nan) for key in keys])
    about, values = ("network", "method", "stop rule", "factor"), ("accuracy", "gain")
    columns = {name: rows[name] for name in (*about, "samples", "seed")}
    percent = Table({**columns, "accuracy": 100 * rows["accuracy"], "gain": 100 * gain})
    each = over_seeds(percent, (*about, "samples"), values)
    over_all = over_seeds(over_seeds(percent.where(gaining), (*about, "seed"), values), about, values)
    listed = [*each.rows(), *({**row, "samples": 0} for row in over_all.rows())]
    return Table({name: [row[name] for row in listed] for name in each.columns})


def _networks(table: Table) -> list[str]:
    return [name for name in NETWORKS if name in table["network"]]


def _draw_accuracy(canvas: Canvas, table: Table) -> None:
    names = _networks(table)
    grown(canvas, len(names))
    panels = canvas.subplots(len(names), 2, squeeze=False, width_ratios=(1, 1.35))
    tall = canvas.get_figheight() * 72
    canvas.subplots_adjust(left=0.075, right=0.99, wspace=0.17, hspace=0.27, top=1 - 54 / tall, bottom=48 / tall)
    for (means, gains), name in zip(panels, names, strict=True):
        chosen = table.only(network=name)
        _draw_means(means, chosen.where(chosen["samples"] > 0))
        _draw_gains(gains, chosen)
        means.set(title=NETWORKS[name], ylabel="test accuracy (%)")
        gains.set(title="Gain over s = 1, points", ylabel="weights times s")
    for axes in panels[-1]:
        axes.set_xlabel("main-task samples")
    draw_legend(canvas, panels[0, 0], (0.06, 1.0), fontsize=10.5, columnspacing=0.8, handletextpad=0.35)


def _draw_means(axes: Axes, table: Table) -> None:
    table = table.where(np.argsort(table["samples"], kind="stable"))
    for number, (factor, colour) in enumerate(DRAWN.items()):
        line = table.only(method="pt+ft", factor=factor)
        if len(line):
            style: dict[str, Any] = {"color": palette()[colour], "marker": "ovs"[number], "linestyle": DASHES[number]}
            axes.plot(line["samples"], line["accuracy"], label=f"PT+FT, s = {_fraction(factor)}", **style)
    for word, (values, style) in OTHERS.items():
        line = table.only(**values)
        if len(line):
            line = line.where(line["n"] == line["n"].max())
            axes.plot(line["samples"], line["accuracy"], label=word, color="0.45", markerfacecolor="none", **style)
    _draw_known(axes, table)
    counts(axes, list(table.by("samples")))


def _draw_known(axes: Axes, table: Table) -> None:
    """Draw published accuracies of finetuning at the numbers of samples that there are."""
    network = str(table["network"][0])
    for number, factor in enumerate(DRAWN):
        published = dict(zip(PUBLISHED_IMAGES, ACCURACIES.get((network, "pt+ft", factor), ()), strict=False))
        shared = [n for n in published if n in table["samples"]]
        if shared:
            look = {"marker": "ovs"[number], "linestyle": DASHES[number]}
            draw_published(axes, shared, [published[n] for n in shared], look)


def _draw_gains(axes: Axes, table: Table) -> None:
    """Write differences within a seed: accuracies of different seeds are of different classes and vary far more."""
    from matplotlib import colormaps

    tuned = table.where(np.isin(table["method"], list(GAINING)) & (table["factor"] != 1.0))
    rows = sorted({(GAINING[row["method"]], -row["factor"]) for row in tuned.rows()}, reverse=True)
    numbers = sorted(set(tuned["samples"].tolist()) - {0})
    columns = {**{n: float(x) for x, n in enumerate(numbers)}, 0: len(numbers) + 0.15}  # the mean stands apart
    for cell in tuned.rows():
        x, y = columns[cell["samples"]], rows.index((GAINING[cell["method"]], -cell["factor"]))
        if np.isfinite(cell["gain"]):
            tint = colormaps["BrBG"](0.5 + 0.25 * np.clip(cell["gain"] / FULL_TINT_POINTS, -1, 1))
            axes.fill_between([x - 0.48, x + 0.48], y - 0.46, y + 0.46, color=tint, lw=0)
            _write_gain(axes, (x, y), cell["gain"], cell["gain 2se"] if cell["n"] > 2 else np.nan)
    axes.set_xticks(list(columns.values()), [f"{n}" if n else "mean" for n in columns])
    axes.set_yticks(range(len(rows)), [_fraction(-factor) + star for star, factor in rows])
    axes.set(xlim=(-0.55, len(numbers) + 0.65), ylim=(-0.5, max(len(rows), 1) - 0.5))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _write_gain(axes: Axes, position: tuple[float, float], gain: float, half: float) -> None:
    """Write a gain over its two standard errors, bold where it exceeds them."""
    words: dict[str, Any] = {"ha": "center", "color": "#20242b"}
    bold = "bold" if abs(gain) > half else "normal"
    several_seeds = np.isfinite(half)
    text = "0.0" if abs(gain) < 0.05 else f"{gain:+.1f}".replace("-", "−")
    axes.text(*position, text, fontsize=11, weight=bold, va="bottom" if several_seeds else "center", **words)
    if several_seeds:
        axes.text(*position, f"±{half:.1f}", fontsize=9.5, va="top", **words)


def _fraction(factor: float) -> str:
    """Return a factor as people say it.

    >>> _fraction(0.125), _fraction(2.0), _fraction(0.3)
    ('1/8', '2', '0.3')
    """
    return f"1/{1 / factor:.0f}" if factor < 1 and np.isclose(1 / factor, round(1 / factor)) else f"{factor:g}"


def _say_accuracy(table: Table) -> str:
    phrases = []
    for name in _networks(table):
        tuned = table.only(network=name, method="pt+ft")
        largest = tuned.where(tuned["samples"] == tuned["samples"].max())
        top = int(largest["accuracy"].argmax())
        phrases.append(f"{NETWORKS[name]} at s = {_fraction(largest['factor'][top])}, {largest['accuracy'][top]:.0f}%")
    return f"Accuracy by samples, factor and method; with the most samples PT+FT is best for {'; for '.join(phrases)}."


def _layers_table(results: Mapping[str, Evidence]) -> Table:
    """Plain finetuning and the smallest factor, which claims are about; panels of all factors are too many to read."""
    rows = results["rescaling"].table.but(layer="")
    rows = rows.where(np.isin(rows["factor"], [1.0, rows["factor"].min()]))
    sizes = tuple(name for name in SIZES if name in rows.columns and np.isfinite(rows[name]).all())
    centred = np.where(rows["method"] == "pt+ft recalibrated", " centred", "")
    columns = {name: rows[name] for name in ("factor", "layer", *sizes)}
    named = Table({**columns, "network": np.char.add(rows["network"].astype(str), centred)})
    return over_seeds(named, ("network", "factor", "layer"), sizes)


def _draw_layers(canvas: Canvas, table: Table) -> None:
    names, factors = _networks(table), sorted(table.by("factor"), reverse=True)
    grown(canvas, len(factors))
    panels = canvas.subplots(len(factors), len(names), sharex="col", sharey=True, squeeze=False)
    tall = canvas.get_figheight() * 72
    canvas.subplots_adjust(left=0.09, right=0.985, wspace=0.08, hspace=0.2, top=1 - 56 / tall, bottom=52 / tall)
    for row, factor in zip(panels, factors, strict=True):
        for axes, name in zip(row, names, strict=True):
            _sizes(axes, table.only(network=name, factor=factor))
            axes.set_title(f"{NETWORKS[name]}, s = {_fraction(factor)}", fontsize=12)
        row[0].set_ylabel("dimensions")
    for axes, name in zip(panels[-1], names, strict=True):
        axes.set_xlabel("block" if name == "vit" else "stage")
    _count_dimensions(panels[0, 0])
    draw_legend(canvas, panels[0, 0], columnspacing=1.2)


def _sizes(axes: Axes, rows: Table) -> None:
    axes.set_xticks(np.arange(len(rows)), [_short(name) for name in rows["layer"].tolist()])
    for column, word in SIZES.items():
        if column in rows.columns and len(rows):
            middle, half = rows[column], np.nan_to_num(rows[f"{column} 2se"])
            below = np.minimum(half, 0.9 * middle)  # an error bar must not leave a logarithmic axis
            bars = axes.errorbar(np.arange(len(rows)), middle, [below, half], label=word, capsize=2.5, elinewidth=1)
            _published_sizes(axes, rows, column, {"marker": bars.lines[0].get_marker()})


def _published_sizes(axes: Axes, rows: Table, column: str, look: dict[str, Any]) -> None:
    """Draw published means at the layers that both have; what is centred has none."""
    network, factor = str(rows["network"][0]), float(rows["factor"][0])
    published = dict(
        zip(BLOCKS if network == "vit" else STAGES, DIMENSIONS.get((network, factor, column), ()), strict=False)
    )
    indices = [index for index, layer in enumerate(rows["layer"].tolist()) if layer in published]
    if indices:
        # Beside ours, on which most of them lie.
        beside = [index + 0.22 for index in indices]
        draw_published(axes, beside, [published[rows["layer"][index]] for index in indices], look)


def _count_dimensions(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    axes.set_yscale("log")
    axes.set_ylim(bottom=max(axes.get_ylim()[0], MIN_SHARED_DIMENSIONS))
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 3000 else (1.0, 2.0, 5.0), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()


def _short(layer: str) -> str:
    """Return the number of a stage or block, counted from one, or a short name.

    >>> [_short(name) for name in ("stem", "stage1", "blocks.0", "readout")]
    ['stem', '1', '1', 'out']
    """
    if layer.startswith("blocks."):
        return f"{int(layer.removeprefix('blocks.')) + 1}"
    return {"readout": "out"}.get(layer, layer.removeprefix("stage").removeprefix("block"))


def _say_layers(table: Table) -> str:
    low, names = float(table["factor"].min()), _networks(table)
    listed = " and ".join(f"{len(table.only(factor=low, network=name))} of {NETWORKS[name]}" for name in names)
    content = "Dimensions before and after finetuning and those shared, by layer"
    return f"{content} ({listed}), from s = {_fraction(low)} and from s = 1."


FIGURES = (
    Plot(
        "rescaling",
        title="Rescaling before finetuning",
        caption=(
            "Two classes are learned after (PT+FT), or along with (MTL), all others; s multiplies every pretrained "
            "parameter. MTL ends when both tasks are learned or, as published, when the main one is. Left: final "
            "accuracy, mean over n seeds; points of a grey series that lack some of its seeds are left out. Right: "
            "what rescaling gains over plain finetuning (s = 1) within a seed, mean and, from three seeds on, two "
            "standard errors, bold where it exceeds them; the last column is the mean over all numbers of samples. *: "
            "plain finetuning, too, starts from batch-norm statistics of the main task's samples. Small light marks: "
            "the authors' mean accuracies of PT+FT, from their result files (up to 50 seeds)."
        ),
        experiments=("rescaling",),
        table=_accuracy_table,
        draw=_draw_accuracy,
        alternative=_say_accuracy,
        height=350,
    ),
    Plot(
        "layers",
        title="Dimensions before and after finetuning",
        caption=(
            "Participation ratio (PR) of each layer on the main task's training images, and the effective number of "
            'dimensions that both networks share (ENSD). "Before" is the pretrained network with its weights already '
            "times s, batch normalisation using the statistics of these images. Not centred unless the title says so; "
            "centred ones are of the networks of claim 15c. Nested: fewer dimensions after than before, and shared; "
            "ENSD counts as far as it exceeds that of shuffled neurons. Mean and two standard errors over n seeds; "
            f"lines that leave a panel go on below {MIN_SHARED_DIMENSIONS:g}. Small grey marks, right of ours: the "
            "authors' means, from their result files (38 and 28 seeds)."
        ),
        experiments=("rescaling",),
        table=_layers_table,
        draw=_draw_layers,
        alternative=_say_layers,
        height=350,
    ),
)
