"""Multi-task learning and pretraining: its figures, from the rows of the experiments.

Losses span many powers of ten, so means and bands of two standard errors over seeds are those of their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.log_plots import by_samples, counts, logarithms, palette, points, powers_of_ten, ribbon
from recombine.papers.over_seeds import over_seeds
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence, as_table, matching
from recombine.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Lines in the order of the colour cycle, told apart in grey as well.
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
#: Method -> words, in the order of the colour cycle.
METHODS = {"pt+ft": "PT+FT", "stl": "single task", "mtl": "MTL", "pt+ft probe": "linear probe"}


# ---------------------------------------------------------------------------- penalties

SHOWN = ("MTL", "PT+FT, k = B/2", "PT+FT, k = B", "ReLU, cosine 1", "ReLU, cosine 0.9")


def _penalties_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["penalties"].table
    return rows.where(np.isin(rows["penalty"], SHOWN))


def _draw_penalties(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True)
    canvas.subplots_adjust(left=0.085, right=0.79, top=0.9, bottom=0.17, wspace=0.27)
    names = {"PT+FT, k = B/2": "PT+FT, exact", "PT+FT, k = B": "PT+FT, published"}
    for name in SHOWN:
        line = matching(table, penalty=name)
        label = names.get(name, name.replace(", cosine", ",\ncosine"))
        for axes, column in zip(panels, ("price", "order"), strict=True):
            axes.plot(line["ratio"], line[column], label=label, markevery=0.12)
    panels[0].set(ylabel="price of a coefficient of 1", title="Penalty")
    powers_of_ten(panels[0], "x", "y")
    panels[1].set(ylabel="order of the penalty", title="Order", ylim=(0, 2.08))
    panels[1].axhline(1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    for axes in panels:
        powers_of_ten(axes, "x")
        axes.set_xlabel("feature's size in the auxiliary task, B")
    panels[1].legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.4)


def _say_penalties(table: Table) -> str:
    at = [matching(table, penalty=name) for name in ("PT+FT, k = B/2", "MTL")]
    tuned, joint = (float(rows["order"][np.argmin(np.abs(np.log10(rows["ratio"]) + 3))]) for rows in at)
    return f"Price and order by size of the known feature; the order at B = 0.001: PT+FT {tuned:.3f}, MTL {joint:.3f}."


# ---------------------------------------------------------------------------- test loss by samples


def _samples_table(results: Mapping[str, Evidence]) -> Table:
    theory = matching(results["overlap"].table, form="exact")
    theory = theory.where(np.isin(theory["method"], list(METHODS)) & (theory["method"] != "mtl"))
    keys = ("overlap", "method", "samples")
    listed = [{"source": "theory", **row} for row in over_seeds(by_samples(logarithms(theory)), keys, ("loss",)).rows()]
    if "overlap-networks" in results:
        trained = by_samples(results["overlap-networks"].table)
        listed += [{"source": "trained", **row} for row in over_seeds(logarithms(trained), keys, ("loss",)).rows()]
    return as_table(listed)


def _draw_samples(canvas: Canvas, table: Table) -> None:
    overlaps = sorted(set(table["overlap"].tolist()), reverse=True)
    panels = canvas.subplots(1, len(overlaps), sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.79, bottom=0.16, wspace=0.08)
    for axes, shared in zip(panels, overlaps, strict=True):
        for place, (method, word) in enumerate(METHODS.items()):
            colour = palette()[place]
            line = matching(table, source="theory", overlap=shared, method=method)
            if len(line):
                ribbon(axes, line, "samples", "loss", word, color=colour, marker="", linestyle=DASHES[place])
            seen = matching(table, source="trained", overlap=shared, method=method)
            if len(seen):
                points(axes, seen, "samples", "loss", colour, "osD^"[place])
        axes.set(title=f"{shared} of 40 shared", xlabel="main-task samples")
        powers_of_ten(axes, "y")
        counts(axes, sorted(set(table["samples"].tolist())))
    panels[0].set_ylabel("test loss")
    _legend(canvas)


def _legend(canvas: Canvas) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=colour, linestyle=dash, marker=marker, markerfacecolor="none", label=word)
        for word, colour, dash, marker in zip(METHODS.values(), palette(), DASHES, "osD^", strict=False)
    ]
    canvas.legend(handles=marks, frameon=False, fontsize=11.5, loc="upper left", ncols=4, bbox_to_anchor=(0.07, 1.0))


def _say_samples(table: Table) -> str:
    at = matching(table, source="theory", overlap=40, samples=64)
    found = {row["method"]: 10 ** row["loss"] for row in at.rows()}
    return (
        f"Test loss by samples for four overlaps; with all features shared and 64 samples theory says "
        f"{found['pt+ft']:.0e} for PT+FT and {found['stl']:.2f} for a single task."
    )


# ---------------------------------------------------------------------------- nested feature selection


def _nested_table(results: Mapping[str, Evidence]) -> Table:
    keys = ("place", "scaling", "active")
    theory = logarithms(matching(results["nested"].table, n=64, method="pt+ft"), "relative loss")
    listed = [{"source": "theory", **row} for row in over_seeds(theory, keys, ("relative loss",)).rows()]
    if "nested-networks" in results:
        rows = matching(results["nested-networks"].table, n=64, method="pt+ft")
        relative = Table({**{name: rows[name] for name in keys}, "relative loss": rows["loss"] / rows["power"]})
        seen = over_seeds(logarithms(relative, "relative loss"), keys, ("relative loss",))
        listed += [{"source": "trained", **row} for row in seen.rows()]
    return as_table(listed)


def _draw_nested(canvas: Canvas, table: Table) -> None:
    from matplotlib import colormaps

    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.09, right=0.84, top=0.9, bottom=0.17, wspace=0.08)
    scalings = sorted(set(table["scaling"].tolist()), reverse=True)
    for axes, place in zip(panels, ("inside", "outside"), strict=True):
        for number, m in enumerate(scalings):
            colour = colormaps["viridis"](number / max(1, len(scalings) - 0.6))
            dash = DASHES[number % 4]
            line = matching(table, source="theory", place=place, scaling=m)
            ribbon(axes, line, "active", "relative loss", f"m = {m:g}", color=colour, marker="", linestyle=dash)
            seen = matching(table, source="trained", place=place, scaling=m)
            if len(seen):
                points(axes, seen, "active", "relative loss", colour, "osD^"[number % 4])
        word = "known" if place == "inside" else "new"
        axes.set(title=f"All features {word}", xlabel="features of the main task, k")
        powers_of_ten(axes, "y")
        axes.set_xticks([5, 10, 20, 30, 40])
    panels[0].set_ylabel("test loss / power of targets")
    panels[1].legend(frameon=False, fontsize=11.5, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.4)


def _say_nested(table: Table) -> str:
    inside = matching(table, source="theory", place="inside", scaling=0.1)
    low, high = (10 ** float(inside["relative loss"][inside["active"] == k][0]) for k in (5, 40))
    return (
        f"Test loss by number of features; rescaled to 0.1, known features cost {low:.0e} for 5 and {high:.0e} for 40."
    )


# ---------------------------------------------------------------------------- where multi-task flow ends


def _group_table(results: Mapping[str, Evidence]) -> Table:
    return results["group-norm"].table


def _draw_group(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.97, top=0.95, bottom=0.18)
    flow = matching(table, route="gradient flow")
    axes.plot(flow["start"], flow["group norm"], label="gradient flow, no decay")
    least = float(matching(table, route="cone program")["group norm"][0])
    axes.axhline(least, color="0.3", linestyle=":", marker="", label=f"least group norm, {least:.4f}")
    decay = matching(table, route="weight decay")["group norm"]
    axes.plot(np.full(len(decay), 1e-6), decay, linestyle="", marker="D", label="vanishing weight decay")
    axes.set(xlabel="size of all weights at the start", ylabel="group norm of the solution")
    powers_of_ten(axes, "x")
    axes.invert_xaxis()
    axes.legend(frameon=False, fontsize=11.5, loc="upper left")


def _say_group(table: Table) -> str:
    last = float(matching(table, route="gradient flow")["group norm"][-1])
    return f"Flow from smaller weights ends at larger group norms, {last:.4f} in the end; weight decay at the least."


# ---------------------------------------------------------------------------- ReLU students


def _relu_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["relu-correlation"].table
    rows = rows.where(np.isin(rows["method"], list(METHODS)))
    return over_seeds(by_samples(logarithms(rows)), ("correlation", "method", "samples"), ("loss",))


def _draw_relu(canvas: Canvas, table: Table) -> None:
    names = list(dict.fromkeys(table["correlation"].tolist()))
    rows, columns = -(-len(names) // 3), min(3, len(names))
    panels = np.atleast_1d(canvas.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    canvas.subplots_adjust(
        left=0.09, right=0.985, top=0.82 if rows == 1 else 0.88, bottom=0.15, wspace=0.08, hspace=0.3
    )
    for axes, name in zip(panels, names, strict=False):
        for place, (method, word) in enumerate(METHODS.items()):
            line = matching(table, correlation=name, method=method)
            if len(line):
                style = {"color": palette()[place], "marker": "osD^"[place], "linestyle": DASHES[place]}
                ribbon(axes, line, "samples", "loss", word, **style)
        axes.set(title=f"cosines {name}", xlabel="main-task samples")
        powers_of_ten(axes, "y")
        counts(axes, sorted(set(table["samples"].tolist())))
    panels[0].set_ylabel("test loss")
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, frameon=False, fontsize=11.5, loc="upper left", ncols=4, bbox_to_anchor=(0.07, 1.0))


def _say_relu(table: Table) -> str:
    same = matching(table, correlation="1 x 6", samples=16)
    found = {row["method"]: 10 ** row["loss"] for row in same.rows()}
    return (
        f"Test loss by samples and method; with the same features and 16 samples MTL has {found['mtl']:.3f} and "
        f"PT+FT {found['pt+ft']:.3f}."
    )


BANDS = "Bands and bars: two standard errors over seeds (n in the table), of logarithms."
FIGURES = (
    Plot(
        "penalties",
        "What a known feature costs",
        "Price and order of each penalty for a coefficient of one, by the size B that the feature has in the auxiliary "
        "task. Order 2 is ridge, order 1 lasso; order and feature dependence add to one.",
        ("multitask/5a", "multitask/5b", "multitask/6"),
        ("penalties",),
        _penalties_table,
        _draw_penalties,
        _say_penalties,
        height=350,
    ),
    Plot(
        "samples",
        "Test loss by samples",
        "1000 inputs; each task uses 40 of them. Lines: theory. Marks: networks trained by gradient descent, final "
        f"test loss. {BANDS}",
        ("multitask/9a", "multitask/9b", "multitask/10", "multitask/18"),
        ("overlap",),
        _samples_table,
        _draw_samples,
        _say_samples,
        height=350,
    ),
    Plot(
        "nested",
        "Nested feature selection",
        "PT+FT with 64 samples; hidden weights are multiplied by m before finetuning, readouts start at 0.001 m. "
        f"Lines: theory. Marks: trained networks, at quick scale of one seed. {BANDS}",
        ("multitask/11", "multitask/12a", "multitask/12b"),
        ("nested",),
        _nested_table,
        _draw_nested,
        _say_nested,
        height=350,
    ),
    Plot(
        "group-norm",
        "Where multi-task training ends",
        "Two tasks of six inputs (P2). Weight decay leads to the least group norm from six random starts, gradient "
        "flow from small weights without decay leads away from it.",
        ("multitask/8a", "multitask/8b"),
        ("group-norm",),
        _group_table,
        _draw_group,
        _say_group,
        height=300,
    ),
    Plot(
        "relu",
        "ReLU students",
        f"Test loss by samples and by how the main teacher's units relate to the auxiliary teacher's. {BANDS}",
        ("multitask/13a", "multitask/13b", "multitask/13c"),
        ("relu-correlation",),
        _relu_table,
        _draw_relu,
        _say_relu,
        height=350,
    ),
)
