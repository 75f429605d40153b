"""Gated linear networks: figures of images. Marks and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.gated_linear.readings.networks import RELU_KINDS, complete_networks
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence
from recombine.papers.seeds import over_seeds
from recombine.tables.table import Table
from recombine.worlds.images.sources import SOURCES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Classifiers whose errors are compared one by one with those of networks.
SCATTER = ("group", "zeta", "effective", "published effective")
#: Classifiers in words.
NAMES = {
    "network": "trained network",
    "group": "SVM-GLN (group norm)",
    "published group": "groups as published",
    "effective": "SVM-L2 (effective)",
    "published effective": "SVM-L2 as published",
    "zeta": "L2 on zeta",
    "one-layer": "SVM in each context",
}


def _percent(rows: Table, keys: tuple[str, ...], names: tuple[str, ...]) -> Table:
    """Means over seeds, in percent; classifiers without a hard margin are left out."""
    kept = rows.where(np.isfinite(rows["error"]))
    columns = {name: kept[name] for name in keys} | {name: 100 * kept[name] for name in names}
    return over_seeds(Table(columns), keys, names)


def _series(rows: Table, key: str) -> Table:
    keys = ("images", "thresholds", "classifier", "samples", key)
    return _percent(_smallest(rows), keys, ("error", "inconsistency", "reloaded", "chance"))


def _smallest(rows: Table) -> Table:
    return rows.only(samples=int(rows["samples"].min()))


def _units_table(results: Mapping[str, Evidence]) -> Table:
    means = _series(results["two-layer"].table.only(layers=2, bits=1, momentum=0.0), "units")
    linear = np.nan
    if "shallow" in results:
        # One layer without hyperplanes has one context, so it is the linear support vector machine.
        one = results["shallow"].table.only(bits=0, classifier="one-layer", samples=int(means["samples"].min()))
        linear = 100 * one["error"][0] if len(one) else np.nan
    return Table({name: means[name] for name in means.columns} | {"linear": np.full(len(means), linear)})


def _bits_table(results: Mapping[str, Evidence]) -> Table:
    return _series(results["shallow"].table.only(layers=1, momentum=0.0, thresholds="median"), "bits")


def _sorted(table: Table, name: str, key: str) -> Table:
    line = table.only(classifier=name)
    return line.where(np.argsort(line[key]))


def _draw_pair(
    pair: Sequence[Axes], table: Table, key: str, names: Mapping[str, str], apart: float = 1.0, capsize: int = 2
) -> None:
    """Errors at the left, disagreements with the trained network at the right; marks ``apart`` along the axis."""
    # The network's own style is skipped, so that a classifier looks the same in both panels.
    pair[1].errorbar([], [], [])
    shown = (("error", "error (%)"), ("inconsistency", "differs from the network (%)"))
    for first, (axes, (column, label)) in enumerate(zip(pair, shown, strict=True)):
        for order, (name, words) in [*enumerate(names.items())][first:]:
            line = _sorted(table, name, key)
            across, band = line[key] * apart ** (order - len(names) / 2), np.nan_to_num(line[f"{column} 2se"])
            axes.errorbar(across, line[column], band, capsize=capsize, label=words)
        axes.set_ylabel(label)
        if key == "units":
            ticks = np.unique(table[key]).tolist()
            axes.set_xscale("log")
            axes.set_xticks(ticks, [str(tick) for tick in ticks])
            axes.minorticks_off()


def _draw_controls(axes: Axes, table: Table, key: str, best: str, lost: bool = True) -> None:
    """Draw what unrelated classifiers would disagree on, and what is found after a network lost its thresholds."""
    line = _sorted(table, best, key)
    plain: dict[str, Any] = {"marker": "", "linewidth": 1.2}
    axes.plot(line[key], line["chance"], ":", color="0.3", label="if unrelated: p(1-q) + q(1-p)", **plain)
    if lost:
        words = f"{NAMES[best].partition(' (')[0]}, thresholds lost"
        axes.plot(line[key], line["reloaded"], "-.", color="black", label=words, **plain)


def _draw_units(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(2, 2, sharex=True, sharey="col")
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.855, bottom=0.08, wspace=0.2, hspace=0.16)
    names = {name: words for name, words in NAMES.items() if name != "one-layer"}
    dashed: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "marker": "", "linestyle": "--"}
    for word, (left, right) in zip(("median", "random"), axes, strict=True):
        chosen = table.only(thresholds=word)
        _draw_pair((left, right), chosen, "units", names, apart=1.025)
        _draw_controls(right, chosen, "units", "group", lost=word == "median")
        left.axhline(float(table["linear"][0]), label="linear SVM", **dashed)
        for place in (left, right):
            place.set_title(f"{word} thresholds ({_where(table)})", fontsize=11, loc="left")
    for place in axes[1]:
        place.set_xlabel("hidden units")
        # Only now, as panels of a column share their limits.
        place.set_ylim(0, None)
    _legend(canvas, *axes[0])


def _legend(canvas: Canvas, *axes: Axes) -> None:
    """Name every line of some panels once, above them."""
    found = [place.get_legend_handles_labels() for place in axes]
    handles = {label: line for lines, labels in found for line, label in zip(lines, labels, strict=True)}
    style: dict[str, Any] = {"frameon": False, "fontsize": 10, "ncols": 3, "columnspacing": 1.2}
    canvas.legend(list(handles.values()), list(handles), loc="upper center", **style)


def _draw_bits(canvas: Canvas, table: Table) -> None:
    pair = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.8, bottom=0.14, wspace=0.2)
    _draw_pair(pair, table, "bits", {name: NAMES[name] for name in ("network", "one-layer")})
    _draw_controls(pair[1], table, "bits", "one-layer")
    _legend(canvas, *pair)
    for place in pair:
        place.set(xlabel="hyperplanes s (2^s contexts)", ylim=(0, None))
        place.set_title(f"median thresholds ({_where(table)})", fontsize=11, loc="left")


def _say_units(table: Table) -> str:
    few = table.only(units=int(table["units"].min()), thresholds="median")
    errors = ", ".join(
        f"{NAMES[name]} {float(few.only(classifier=name)['error'][0]):.0f}%"
        for name in ("network", "group", "effective", "published effective", "zeta")
    )
    return f"Error and disagreement with training by number of units on {_where(table)}; with fewest: {errors}."


def _where(table: Table) -> str:
    return f"{SOURCES[table['images'][0]].title}, {table['samples'].min()} training images"


def _say_bits(table: Table) -> str:
    network = table.only(classifier="network")
    best = network["bits"][np.argmin(network["error"])]
    return f"Error of one-layer networks on {_where(table)}, by hyperplanes: least at s = {best}, then it rises."


def _scatter_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["two-layer"].table
    chosen = rows.where(np.isin(rows["classifier"], SCATTER))
    chosen = chosen.where(np.isfinite(chosen["error"]) & (chosen["layers"] == 2))
    errors = {"network": 100 * chosen["network error"], "limit": 100 * chosen["error"]}
    return Table({name: chosen[name] for name in ("classifier", "thresholds")} | errors)


def _draw_scatter(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(1, len(SCATTER), sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.16, wspace=0.08)
    top = float(max(table["network"].max(), table["limit"].max())) * 1.05
    for place, name in zip(axes, SCATTER, strict=True):
        for word, marker in (("median", "o"), ("random", "^")):
            dots = table.only(classifier=name, thresholds=word)
            place.plot(dots["network"], dots["limit"], ls="", marker=marker, ms=6, mfc="none", label=word)
        place.plot([0, top], [0, top], color="0.5", linewidth=0.8, marker="", linestyle="-")
        place.set_title(NAMES[name], fontsize=11)
        place.set(xlabel="error of the network (%)", xlim=(0, top), ylim=(0, top))
    axes[0].set_ylabel("error of the limit (%)")
    axes[0].legend(title="thresholds", frameon=False, fontsize=11, loc="upper left", handletextpad=0.2)


def _say_scatter(table: Table) -> str:
    dots = {NAMES[name]: table.only(classifier=name) for name in SCATTER}
    words = ", ".join(f"{name} {np.corrcoef(d['network'], d['limit'])[0, 1]:.2f}" for name, d in dots.items())
    return f"Error of limits against that of trained networks; correlations: {words}."


def _relu_table(results: Mapping[str, Evidence]) -> Table:
    """Means over seeds, for sizes at which no network lacks a limit: else lines would be of different networks."""
    rows = _smallest(results["relu"].table.only(momentum=0.9))
    units = complete_networks(rows, RELU_KINDS, by=("units",))["units"]
    keys = ("images", "samples", "units", "classifier")
    return _percent(rows.where(np.isin(rows["units"], units)), keys, ("error", "inconsistency"))


def _draw_relu(canvas: Canvas, table: Table) -> None:
    pair = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.14, wspace=0.2)
    _draw_pair(pair, table, "units", {kind: kind for kind in (*RELU_KINDS, "gates only")}, capsize=3)
    for place in pair:
        place.set(xlabel=f"hidden units ({_where(table)})", ylim=(0, None))
    pair[0].legend(frameon=False, fontsize=11, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5)


def _say_relu(table: Table) -> str:
    words = ", ".join(f"{k} {table.only(classifier=k)['inconsistency'].mean():.1f}%" for k in RELU_KINDS[1:])
    return f"Error of ReLU networks and of limits given parts of them ({_where(table)}); disagreement: {words}."


_SEEDS = (
    "Mean and two standard errors over seeds of contexts and first weights, at the smallest number of training images; "
    "seeds share the images, so bars do not show what other images would change."
)

FIGURES = (
    Plot(
        "units",
        title="Two-layer gated networks and their limits, by number of units",
        caption=(
            "One hyperplane per unit, momentum 0. As published are two defects, thresholds lost the third; p and q are "
            f"the errors of SVM-GLN and network. {_SEEDS}"
        ),
        experiments=("two-layer",),
        table=_units_table,
        draw=_draw_units,
        alternative=_say_units,
        height=620,
    ),
    Plot(
        "bits",
        title="One-layer gated networks and their limits, by number of hyperplanes",
        caption=f"Median thresholds, momentum 0. {_SEEDS}",
        experiments=("shallow",),
        table=_bits_table,
        draw=_draw_bits,
        alternative=_say_bits,
        height=380,
    ),
    Plot(
        "scatter",
        title="What the limit predicts of the error of trained networks",
        caption=(
            "One mark per network with two layers, all shapes, sizes of the training set and seeds; on the line, limit "
            "and network have the same error."
        ),
        experiments=("two-layer",),
        table=_scatter_table,
        draw=_draw_scatter,
        alternative=_say_scatter,
    ),
    Plot(
        "relu",
        title="ReLU networks, and limits that are given more or less of them",
        caption=(
            "Momentum 0.9. Sizes at which some network has no hard margin by its hidden layer, learned or random "
            f"contexts are left out; gates alone are shown where they separate the samples. {_SEEDS}"
        ),
        experiments=("relu",),
        table=_relu_table,
        draw=_draw_relu,
        alternative=_say_relu,
        height=380,
    ),
)
