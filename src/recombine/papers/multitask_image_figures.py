"""Multi-task learning and pretraining: figures of rescaled networks on images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.log_plots import by_samples, counts, grown
from recombine.papers.multitask_readings import one_a_network
from recombine.papers.over_seeds import over_seeds
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence, matching
from recombine.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NETWORKS = {"resnet": "ResNet-18", "resnet centred": "ResNet-18, centred", "vit": "ViT"}
NETWORKS |= {"small resnet": "small ResNet, digits"}

#: Methods other than PT+FT: how to find them, and how to draw them so that they are not taken for one of its factors.
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "s = 1, new statistics": (
        {"method": "pt+ft recalibrated", "factor": 1.0},
        {"marker": "x", "linestyle": (0, (1, 1))},
    ),
    "MTL, both learned": ({"method": "mtl", "stop rule": "both"}, {"marker": "D", "linestyle": "-"}),
    "MTL, published stop": ({"method": "mtl", "stop rule": "main"}, {"marker": "^", "linestyle": (0, (6, 2))}),
    "single task": ({"method": "stl"}, {"marker": "o", "linestyle": ":"}),
}
#: What is shown of a layer, in words; chance is not in results from before it was recorded.
SIZES = {"PR before": "PR before", "PR after": "PR after", "ENSD": "ENSD of both", "chance": "ENSD, neurons shuffled"}
#: Fewer shared dimensions than this are none; they are left out.
FEWEST_DIMENSIONS = 0.003


def _accuracy_table(results: Mapping[str, Evidence]) -> Table:
    rows = by_samples(one_a_network(results["rescaling"].table))
    keys = list(zip(rows["network"].tolist(), rows["samples"].tolist(), rows["seed"].tolist(), strict=True))
    plain = (rows["method"] == "pt+ft") & (rows["factor"] == 1.0)
    start = {key: value for key, value, chosen in zip(keys, rows["accuracy"], plain, strict=True) if chosen}
    gain = rows["accuracy"] - np.array([start.get(key, np.nan) for key in keys])
    columns = {name: rows[name] for name in rows.columns}
    percent = Table({**columns, "accuracy": 100 * rows["accuracy"], "gain": 100 * gain})
    return over_seeds(percent, ("network", "method", "stop rule", "factor", "samples"), ("accuracy", "gain"))


def _networks(table: Table) -> list[str]:
    return [name for name in NETWORKS if name in table["network"]]


def _draw_accuracy(canvas: Canvas, table: Table) -> None:
    names = _networks(table)
    grown(canvas, len(names))
    panels = canvas.subplots(len(names), 2, squeeze=False, sharex=True)
    space: dict[str, float] = {"top": 0.9, "bottom": 0.17} if len(names) == 1 else {"top": 0.95, "bottom": 0.09}
    canvas.subplots_adjust(left=0.085, right=0.775, wspace=0.24, hspace=0.2, **space)
    for (means, gains), name in zip(panels, names, strict=True):
        chosen = matching(table, network=name)
        _draw_means(means, chosen)
        _draw_gains(gains, matching(chosen, method="pt+ft"))
        means.set(title=NETWORKS[name], ylabel="test accuracy (%)")
        gains.set(title="gain over s = 1", ylabel="points")
    for axes in panels[-1]:
        axes.set_xlabel("main-task samples")
        counts(axes, sorted(set(table["samples"].tolist())))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    panels[0, 1].legend(
        handles, labels, frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.04), handlelength=2.4
    )


def _draw_means(axes: Axes, table: Table) -> None:
    for factor in _factors(table):
        line = matching(table, method="pt+ft", factor=factor)
        axes.plot(*_sorted(line, "accuracy"), label=f"PT+FT, s = {factor:g}")
    for word, (values, style) in OTHERS.items():
        line = matching(table, **values)
        if len(line):
            line = line.where(line["n"] == line["n"].max())
            axes.plot(*_sorted(line, "accuracy"), label=word, color="0.5", markerfacecolor="none", **style)


def _draw_gains(axes: Axes, table: Table) -> None:
    """Differences within a seed: accuracies of different seeds are of different classes and vary far more."""
    factors = _factors(table)
    for place, factor in enumerate(factors):
        line = matching(table, factor=factor)
        x, middle = _sorted(line, "gain")
        _, half = _sorted(line, "gain 2se")
        shift = 1.035 ** (place - len(factors) // 2)
        if factor == 1.0:
            axes.plot([], [])  # each factor keeps the look it has on the left
        else:
            axes.errorbar(x * shift, middle, half if line["n"].min() > 2 else None, capsize=2, elinewidth=1)
    axes.axhline(0, color="0.4", lw=1)


def _factors(table: Table) -> list[float]:
    return sorted(set(matching(table, method="pt+ft")["factor"].tolist()), reverse=True)


def _sorted(line: Table, name: str) -> tuple[Any, Any]:
    order = np.argsort(line["samples"])
    return line["samples"][order].astype(float), line[name][order]


def _say_accuracy(table: Table) -> str:
    said = []
    for name in _networks(table):
        tuned = matching(table, network=name, method="pt+ft")
        most = tuned.where(tuned["samples"] == tuned["samples"].max())
        top = int(most["accuracy"].argmax())
        said.append(f"{NETWORKS[name]} at s = {most['factor'][top]:g}, {most['accuracy'][top]:.0f}%")
    return f"Accuracy by samples, factor and method; with the most samples PT+FT is best for {'; for '.join(said)}."


def _layers_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["rescaling"].table
    rows = rows.where(rows["layer"] != "")
    sizes = tuple(name for name in SIZES if name in rows.columns and np.isfinite(rows[name]).all())
    columns = {name: rows[name] for name in rows.columns}
    centred = np.where(rows["method"] == "pt+ft recalibrated", " centred", "")
    named = Table({**columns, "network": np.char.add(rows["network"].astype(str), centred)})
    return over_seeds(named, ("network", "factor", "layer"), sizes)


def _draw_layers(canvas: Canvas, table: Table) -> None:
    names = _networks(table)
    factors = sorted(set(table["factor"].tolist()))
    grown(canvas, len(names))
    panels = canvas.subplots(len(names), len(factors), sharey="row", sharex="row", squeeze=False)
    tall = canvas.get_figheight()
    space = {"top": 1 - 0.82 / tall, "bottom": 0.86 / tall, "hspace": 0.52}
    canvas.subplots_adjust(left=0.1, right=0.985, wspace=0.08, **space)
    for row, name in zip(panels, names, strict=True):
        chosen = matching(table, network=name)
        for axes, factor in zip(row, factors, strict=True):
            _sizes(axes, matching(chosen, factor=factor), factor)
        row[0].set_ylabel(f"dimensions\n{NETWORKS[name]}", visible=True)
        _count_dimensions(row[0])
    handles, labels = panels[0, 0].get_legend_handles_labels()
    canvas.legend(handles, labels, frameon=False, fontsize=11.5, ncols=4, loc="upper left", bbox_to_anchor=(0.05, 1.0))


def _sizes(axes: Axes, rows: Table, factor: float) -> None:
    """Draw what is known of the layers; a factor that this network was not finetuned from has an empty panel."""
    if not len(rows):
        axes.spines[:].set_visible(False)
        axes.tick_params(bottom=False, left=False, labelbottom=False)
        axes.grid(visible=False)
        return
    axes.set(title=f"s = {factor:g}")
    axes.set_xticks(np.arange(len(rows)), rows["layer"].tolist(), rotation=55, ha="right", fontsize=10)
    for column, word in SIZES.items():
        if column in rows.columns:
            middle, half = rows[column], np.nan_to_num(rows[f"{column} 2se"])
            below = np.minimum(half, 0.9 * middle)  # an error bar must not leave a logarithmic axis
            shown = np.where(middle > FEWEST_DIMENSIONS, middle, np.nan)
            axes.errorbar(np.arange(len(rows)), shown, [below, half], label=word, capsize=2.5, markersize=4)


def _count_dimensions(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, FEWEST_DIMENSIONS), high)
    wide = high / max(low, FEWEST_DIMENSIONS) > 3000
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()


def _say_layers(table: Table) -> str:
    low, names = float(table["factor"].min()), _networks(table)
    listed = " and ".join(f"{len(matching(table, factor=low, network=name))} of {NETWORKS[name]}" for name in names)
    return f"Participation ratio before and after finetuning and ENSD by layer ({listed}), from s = {low:g} up."


IMAGE_FIGURES = (
    Plot(
        "rescaling",
        "Rescaling before finetuning",
        "Two classes are learned after, or along with, all others; s multiplies every pretrained parameter. MTL ends "
        "when both tasks are learned or, as published, when the main one is. Left: final accuracy, mean over n seeds. "
        "Right: what rescaling gains over plain finetuning, within a seed; mean and, from three seeds on, two standard "
        "errors. Grey points that lack seeds which others of their line have are left out.",
        ("multitask/15a", "multitask/15b", "multitask/15c", "multitask/23a", "multitask/23b"),
        ("rescaling",),
        _accuracy_table,
        _draw_accuracy,
        _say_accuracy,
        height=350,
    ),
    Plot(
        "layers",
        "Dimensions before and after finetuning",
        "Participation ratio and effective number of shared dimensions, not centred unless the name says so, on the "
        "main task's training images. Nested: fewer dimensions after than before, and shared; ENSD counts as far as it "
        "exceeds that of shuffled neurons. Mean and two standard errors over n seeds; values below "
        f"{FEWEST_DIMENSIONS:g} are left out.",
        ("multitask/16b", "multitask/16c", "multitask/16d"),
        ("rescaling",),
        _layers_table,
        _draw_layers,
        _say_layers,
        height=370,
    ),
)
