"""Multi-task learning and pretraining: figures of rescaled networks on images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.papers.log_plots import by_samples, counts
from recombine.papers.over_seeds import band, over_seeds
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence, matching
from recombine.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NETWORKS = {"resnet": "ResNet-18", "vit": "ViT", "small resnet": "small ResNet, digits"}

#: Methods other than PT+FT: what a legend calls them, and how to find them.
OTHERS: dict[str, dict[str, str]] = {
    "MTL, both learned": {"method": "mtl", "stop rule": "both"},
    "MTL, published stop": {"method": "mtl", "stop rule": "main"},
    "single task": {"method": "stl"},
}


def _distinct(rows: Table) -> Table:
    """Keep one row a network: those with layers have several."""
    keys = [tuple(row[k] for k in ("network", "method", "stop rule", "n", "factor", "seed")) for row in rows.rows()]
    return rows.where(np.array([key not in keys[:place] for place, key in enumerate(keys)], dtype=bool))


def _accuracy_table(results: Mapping[str, Evidence]) -> Table:
    rows = by_samples(_distinct(results["rescaling"].table))
    return over_seeds(rows, ("network", "method", "stop rule", "factor", "samples"), ("accuracy",))


def _draw_accuracy(canvas: Canvas, table: Table) -> None:
    names = [name for name in NETWORKS if name in table["network"]]
    panels = np.atleast_1d(canvas.subplots(1, len(names), sharey=True))
    canvas.subplots_adjust(left=0.085, right=0.8, top=0.9, bottom=0.17, wspace=0.08)
    for axes, name in zip(panels, names, strict=True):
        chosen = matching(table, network=name)
        for factor in sorted(set(matching(chosen, method="pt+ft")["factor"].tolist()), reverse=True):
            band(axes, matching(chosen, method="pt+ft", factor=factor), "samples", "accuracy", f"PT+FT, s = {factor:g}")
        for word, values in OTHERS.items():
            line = matching(chosen, **values)
            if len(line):
                band(axes, line, "samples", "accuracy", word)
        axes.set(title=NETWORKS[name], xlabel="main-task samples")
        axes.set_ylim(top=min(1.005, axes.get_ylim()[1]))
        counts(axes, sorted(set(chosen["samples"].tolist())))
    panels[0].set_ylabel("test accuracy")
    panels[-1].legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.4)


def _say_accuracy(table: Table) -> str:
    most = table["samples"] == table["samples"].max()
    best = table.where(most & (table["method"] == "pt+ft"))
    top = int(best["accuracy"].argmax())
    return (
        f"Accuracy by samples, factor and method; with the most samples PT+FT is best at s = {best['factor'][top]:g}, "
        f"with {best['accuracy'][top]:.0%}."
    )


def _layers_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["rescaling"].table
    return over_seeds(
        rows.where(rows["layer"] != ""), ("network", "factor", "layer"), ("PR before", "PR after", "ENSD")
    )


def _draw_layers(canvas: Canvas, table: Table) -> None:
    name = next(name for name in NETWORKS if name in table["network"])
    chosen = matching(table, network=name)
    layers = list(dict.fromkeys(chosen["layer"].tolist()))
    factors = sorted(set(chosen["factor"].tolist()))
    panels = np.atleast_1d(canvas.subplots(1, len(factors), sharey=True))
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.79, bottom=0.22, wspace=0.08)
    for axes, factor in zip(panels, factors, strict=True):
        for column, word in (("PR before", "PR before"), ("PR after", "PR after"), ("ENSD", "ENSD of both")):
            rows = matching(chosen, factor=factor)
            half = np.nan_to_num(rows[f"{column} 2se"])
            axes.errorbar(np.arange(len(rows)), rows[column], half, label=word, capsize=3)
        axes.set(title=f"s = {factor:g}")
        axes.set_xticks(np.arange(len(layers)), layers, rotation=40, ha="right")
    panels[0].set_ylabel("dimensions")
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, frameon=False, fontsize=11.5, ncols=3, loc="upper left", bbox_to_anchor=(0.05, 1.0))


def _say_layers(table: Table) -> str:
    low = float(table["factor"].min())
    rows = matching(table, factor=low)
    return f"Participation ratio before and after finetuning and ENSD in {len(rows)} layers, from s = {low:g} up."


IMAGE_FIGURES = (
    Plot(
        "rescaling",
        "Rescaling before finetuning",
        "Two classes are learned after, or along with, all others; s multiplies every pretrained parameter. Mean and "
        "two standard errors over seeds, final accuracy.",
        ("multitask/15a", "multitask/15b"),
        ("rescaling",),
        _accuracy_table,
        _draw_accuracy,
        _say_accuracy,
        height=350,
    ),
    Plot(
        "layers",
        "Dimensions before and after finetuning",
        "Participation ratio and effective number of shared dimensions, not centred, on the main task's training "
        "images. Nested: fewer dimensions after than before, and shared. Mean and two standard errors over seeds.",
        ("multitask/16b",),
        ("rescaling",),
        _layers_table,
        _draw_layers,
        _say_layers,
        height=370,
    ),
)
