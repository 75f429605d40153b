"""Multi-task learning and pretraining: its figures, from the rows of the experiments.

Losses span many powers of ten, so means and bands of two standard errors over seeds are those of their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.log_plots import (
    DASHES,
    MARKS,
    by_samples,
    counts,
    logarithms,
    palette,
    points,
    powers_of_ten,
    ribbon,
)
from recombine.papers.multitask_readings import METHODS
from recombine.papers.multitask_relu_figures import BANDS, RELU_FIGURES
from recombine.papers.over_seeds import over_seeds
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence, as_table, matching
from recombine.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- penalties

SHOWN = ("MTL", "PT+FT, k = B/2", "PT+FT, k = B", "ReLU, cosine 1", "ReLU, cosine 0.9")


def _penalties_table(results: Mapping[str, Evidence]) -> Table:
    """Penalties have units of their own: what tells them apart is how a price changes with B."""
    rows = results["penalties"].table
    rows = rows.where(np.isin(rows["penalty"], SHOWN))
    unknown = {name: matching(rows, penalty=name) for name in SHOWN}
    first = {name: float(line["price"][line["ratio"].argmin()]) for name, line in unknown.items()}
    relative = rows["price"] / np.array([first[name] for name in rows["penalty"].tolist()])
    return Table({**{name: rows[name] for name in rows.columns}, "relative price": relative})


def _draw_penalties(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True)
    canvas.subplots_adjust(left=0.085, right=0.79, top=0.9, bottom=0.17, wspace=0.27)
    names = {"PT+FT, k = B/2": "PT+FT, exact", "PT+FT, k = B": "PT+FT, published"}
    for name in SHOWN:
        line = matching(table, penalty=name)
        label = names.get(name, name.replace(", cosine", ",\ncosine"))
        for axes, column in zip(panels, ("relative price", "order"), strict=True):
            axes.plot(line["ratio"], line[column], label=label, markevery=0.12)
    panels[0].set(ylabel="price / price at B = 0.0001", title="Penalty")
    powers_of_ten(panels[0], "x", "y")
    panels[1].set(ylabel="order of the penalty", title="Order", ylim=(0, 2.08))
    panels[1].axhline(1, color="0.6", linewidth=0.8, linestyle="-", marker="")
    for axes in panels:
        powers_of_ten(axes, "x")
        axes.set_xlabel("feature's size in the auxiliary task, B")
    panels[1].legend(frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.4)


def _say_penalties(table: Table) -> str:
    at = [matching(table, penalty=name) for name in ("PT+FT, k = B/2", "PT+FT, k = B", "MTL")]
    orders = [float(rows["order"][np.argmin(np.abs(np.log10(rows["ratio"]) + 3))]) for rows in at]
    return (
        f"Price and order by size of the known feature; the order at B = 0.001: PT+FT {orders[0]:.3f} ({orders[1]:.3f} "
        f"in the published form), MTL {orders[2]:.3f}."
    )


# ---------------------------------------------------------------------------- theory and networks together

#: Theory for the seeds of the networks beside it; NaN where theory does not speak for them.
SAME = "theory of these seeds"


def _with_networks(theory: Table, networks: Table | None, keys: tuple[str, ...], column: str) -> Table:
    """Return means of theory's lines, and of networks that reached a training loss of 1e-10 and those that did not."""
    lines = over_seeds(logarithms(theory, column), keys, (column,)).rows()
    listed = [{"source": "theory", "reached 1e-10": True, **row, SAME: np.nan} for row in lines]
    if networks is not None:
        seen = over_seeds(networks, (*keys, "stopped"), (column, SAME)).rows()
        listed += [
            {"source": "trained", "reached 1e-10": row["stopped"], **{name: row[name] for name in keys}}
            | {name: row[name] for name in (column, f"{column} 2se", "n", SAME)}
            for row in seen
        ]
    return as_table(listed)


def _marks(axes: Axes, line: Table, seen: Table, across: str, column: str, style: tuple[Any, str]) -> None:
    """Draw networks, filled where they learned; a short bar is theory for their seeds where the line has others."""
    colour, marker = style
    for learned in (True, False):
        chosen = matching(seen, **{"reached 1e-10": learned})
        if len(chosen):
            points(axes, chosen, across, column, colour, marker, filled=learned)
    for row in seen.rows():
        whole = matching(line, **{across: row[across], "n": row["n"]})
        if not len(whole) and np.isfinite(row[SAME]):
            bar: dict[str, Any] = {"marker": "_", "markersize": 17, "markeredgewidth": 1.6, "linestyle": ""}
            axes.plot([row[across]], [10 ** row[SAME]], color=colour, **bar)


# ---------------------------------------------------------------------------- test loss by samples


def _samples_table(results: Mapping[str, Evidence]) -> Table:
    theory = matching(results["overlap"].table, form="exact")
    theory = by_samples(theory.where(np.isin(theory["method"], list(METHODS)) & (theory["method"] != "mtl")))
    trained = None
    if "overlap-networks" in results:
        rows = by_samples(results["overlap-networks"].table)
        # The least group norm does not speak for networks without weight decay.
        foretold = np.where(rows["method"] == "mtl", np.nan, rows["theory"])
        trained = logarithms(logarithms(Table({**{name: rows[name] for name in rows.columns}, SAME: foretold}), SAME))
    return _with_networks(theory, trained, ("overlap", "method", "samples"), "loss")


def _draw_samples(canvas: Canvas, table: Table) -> None:
    overlaps = sorted(set(table["overlap"].tolist()), reverse=True)
    panels = np.atleast_1d(canvas.subplots(1, len(overlaps), sharex=True, sharey=True))
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.79, bottom=0.16, wspace=0.08)
    for axes, shared in zip(panels, overlaps, strict=True):
        for place, (method, word) in enumerate(METHODS.items()):
            colour = palette()[place]
            line = matching(table, source="theory", overlap=shared, method=method)
            if len(line):
                ribbon(axes, line, "samples", "loss", word, color=colour, marker="", linestyle=DASHES[place])
            seen = matching(table, source="trained", overlap=shared, method=method)
            _marks(axes, line, seen, "samples", "loss", (colour, MARKS[place]))
        axes.set(title=f"{shared} of 40 shared", xlabel="main-task samples")
        powers_of_ten(axes, "y")
        counts(axes, sorted(set(table["samples"].tolist())))
    panels[0].set_ylabel("test loss")
    _legend(canvas, table)


def _legend(canvas: Canvas, table: Table) -> None:
    """Promise a line or a mark only where there is one."""
    from matplotlib.lines import Line2D

    marks = []
    for word, method, colour, dash, marker in zip(METHODS.values(), METHODS, palette(), DASHES, MARKS, strict=False):
        drawn = [bool(len(matching(table, source=source, method=method))) for source in ("theory", "trained")]
        style: dict[str, Any] = {"linestyle": dash if drawn[0] else "", "marker": marker if drawn[1] else ""}
        if any(drawn):
            marks.append(Line2D([], [], color=colour, label=word, **style))
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
    theory = matching(results["nested"].table, n=64, method="pt+ft")
    keys, trained = ("place", "scaling", "active"), None
    if "nested-networks" in results:
        rows = matching(results["nested-networks"].table, n=64, method="pt+ft")
        relative = {"relative loss": rows["loss"] / rows["power"], SAME: rows["theory"] / rows["power"]}
        plain = {name: rows[name] for name in (*keys, "stopped")}
        trained = logarithms(logarithms(Table({**plain, **relative}), "relative loss"), SAME)
    return _with_networks(theory, trained, keys, "relative loss")


def _draw_nested(canvas: Canvas, table: Table) -> None:
    from matplotlib import colormaps

    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.09, right=0.84, top=0.9, bottom=0.17, wspace=0.08)
    scalings = sorted(set(table["scaling"].tolist()), reverse=True)
    for axes, place in zip(panels, ("inside", "outside"), strict=True):
        for number, m in enumerate(scalings):
            colour = colormaps["viridis"](0.72 * number / max(1, len(scalings) - 1))
            dash = DASHES[number % 4]
            line = matching(table, source="theory", place=place, scaling=m)
            ribbon(axes, line, "active", "relative loss", f"m = {m:g}", color=colour, marker="", linestyle=dash)
            seen = matching(table, source="trained", place=place, scaling=m)
            _marks(axes, line, seen, "active", "relative loss", (colour, MARKS[number % 4]))
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
    """Random starts have no size of their own: their number is not one."""
    rows = results["group-norm"].table
    size = np.where(rows["route"] == "gradient flow", rows["start"], np.nan)
    return Table({"route": rows["route"], "weights at the start": size, "group norm": rows["group norm"]})


def _draw_group(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.1, right=0.96, top=0.95, bottom=0.18)
    flow = matching(table, route="gradient flow")
    axes.plot(flow["weights at the start"], flow["group norm"], label="gradient flow, no decay")
    least = float(matching(table, route="cone program")["group norm"][0])
    axes.axhline(least, color="0.3", linestyle=":", marker="", label=f"least group norm, {least:.4f}")
    decay = matching(table, route="weight decay")["group norm"]
    # At the margin: these starts are random, not small.
    style: dict[str, Any] = {"linestyle": "", "marker": "D", "clip_on": False, "transform": axes.get_yaxis_transform()}
    axes.plot(np.ones(len(decay)), decay, label=f"vanishing weight decay, {len(decay)} random starts", **style)
    axes.set(xlabel="size of all weights before gradient flow", ylabel="group norm of the solution")
    powers_of_ten(axes, "x")
    axes.invert_xaxis()
    axes.legend(frameon=False, fontsize=11.5, loc="upper left")


def _say_group(table: Table) -> str:
    last = float(matching(table, route="gradient flow")["group norm"][-1])
    return f"Flow from smaller weights ends at larger group norms, {last:.4f} in the end; weight decay at the least."


NETWORKS = (
    "Filled marks: networks trained to a loss of 1e-10, final test loss; open marks: those that reached the most steps "
    "before; short bars: theory for the seeds of a mark, where the line has others."
)
FIGURES = (
    Plot(
        "penalties",
        "What a known feature costs",
        "Price (over that of a feature which is hardly known) and order of each penalty for a coefficient of one, by "
        "the size B that the feature has in the auxiliary task. Order 2 is ridge, order 1 lasso; order and feature "
        "dependence, the slope of the price, add to one.",
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
        f"1000 inputs; each task uses 40 of them. Lines: theory; for MTL there is none. {NETWORKS} {BANDS}",
        ("multitask/9a", "multitask/9b", "multitask/10", "multitask/18"),
        ("overlap",),
        _samples_table,
        _draw_samples,
        _say_samples,
        height=350,
        optional=("overlap-networks",),
    ),
    Plot(
        "nested",
        "Nested feature selection",
        "PT+FT with 64 samples; hidden weights are multiplied by m before finetuning, readouts start at 0.001 m. "
        "Coefficients of the main task are 1/k, of the auxiliary one 1/sqrt(40), as in the published data. Lines: "
        f"theory. {NETWORKS} {BANDS}",
        ("multitask/11", "multitask/12a", "multitask/12b", "multitask/21a", "multitask/21b"),
        ("nested",),
        _nested_table,
        _draw_nested,
        _say_nested,
        height=350,
        optional=("nested-networks",),
    ),
    Plot(
        "group-norm",
        "Where multi-task training ends",
        "Two tasks of six inputs (P2). Weight decay leads to the least group norm from every random start (diamonds at "
        "the margin, one upon the other), gradient flow from small weights without decay leads away from it.",
        ("multitask/8a", "multitask/8b"),
        ("group-norm",),
        _group_table,
        _draw_group,
        _say_group,
        height=300,
    ),
    *RELU_FIGURES,
)
