"""Gated linear networks: figures. Bands and bars are the mean and two standard errors over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.papers.over_seeds import over_seeds
from recombine.papers.paper import Plot
from recombine.papers.results import Evidence, as_table, matching
from recombine.tables import Table
from recombine.theory.gated_margin import largest_margin
from recombine.worlds.gated_problems import problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Norms of the toy's panels, and classifiers of the image figures, in words.
TOY_NORMS = {"group": "group norm (two layers)", "effective": "effective L2", "one-layer": "one layer"}
NAMES = {
    "network": "trained network",
    "group": "SVM-GLN (group norm)",
    "effective": "SVM-L2 (effective)",
    "published effective": "SVM-L2 as published",
    "zeta": "L2 on zeta",
    "one-layer": "SVM in each context",
}
#: Squares a side of the toy's plane.
SIDE = 121


# ---------------------------------------------------------------------------- toy


def _toy_table(results: Mapping[str, Evidence]) -> Table:
    given = problem("toy")
    ticks = np.linspace(-1.1, 1.1, SIDE)
    plane = np.column_stack([np.tile(ticks, SIDE), np.repeat(ticks, SIDE), np.ones(SIDE**2)])
    ids = (plane[:, :2] > 0).astype(np.int64)
    columns: dict[str, Any] = {"x1": plane[:, 0].round(6), "x2": plane[:, 1].round(6)}
    for norm in TOY_NORMS:
        best = largest_margin(given.X, given.y, given.ids, contexts=2, norm=norm)
        columns[norm] = best.decision(plane, ids).round(6)
    return Table(columns)


def _draw_toy(canvas: Canvas, table: Table) -> None:
    given = problem("toy")
    axes = canvas.subplots(1, 3, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.9, bottom=0.16, wspace=0.08)
    for place, (norm, title) in zip(axes, TOY_NORMS.items(), strict=True):
        values = table[norm].reshape(SIDE, SIDE)
        place.imshow(values > 0, origin="lower", extent=(-1.12, 1.12, -1.12, 1.12), cmap="Greys", vmin=0, vmax=4)
        place.axhline(0, color="0.5", linewidth=0.8, marker="", linestyle=":")
        place.axvline(0, color="0.5", linewidth=0.8, marker="", linestyle=":")
        for sign, marker, face in ((1, "o", "#1b6ca8"), (-1, "^", "white")):
            chosen = given.X[given.y == sign]
            style: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": "black", "markersize": 7}
            place.plot(chosen[:, 0], chosen[:, 1], linestyle="", marker=marker, **style)
        place.set(title=title, xlabel="x1", aspect="equal")
        place.grid(visible=False)
    axes[0].set_ylabel("x2")


def _say_toy(table: Table) -> str:
    shares = ", ".join(f"{title} {float((table[norm] > 0).mean()):.0%}" for norm, title in TOY_NORMS.items())
    return f"The plane around 16 points of two classes, split by three classifiers; share labelled positive: {shares}."


# ---------------------------------------------------------------------------- flow


def _flow_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["flow"].table
    rows = rows.where((rows["margin"] > 0) & (~rows["sharing"].astype(bool)) & (rows["scale"] == 0.1))
    return as_table(
        {"problem": row["problem"], "seed": row["seed"], "tau": row["tau"]}
        | {"excess": row["ratio"] / row["optimum"] - 1}
        for row in rows.rows()
    )


def _draw_flow(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.13, right=0.97, top=0.95, bottom=0.17)
    looks = {"toy": ("-", "#1b6ca8", "toy"), "G1": ("--", "0.35", "G1, whose limit switches a unit off")}
    for name, (dash, colour, words) in looks.items():
        chosen = matching(table, problem=name)
        for order, seed in enumerate(sorted(set(chosen["seed"].tolist()))):
            line = matching(chosen, seed=seed)
            label = words if order == 0 else None
            axes.plot(line["tau"], line["excess"], dash, color=colour, marker="", linewidth=1.4, label=label)
    axes.set(yscale="log", xlabel="rescaled time tau", ylabel="norm / margin above optimum")
    axes.set_yticks([1e-6, 1e-4, 1e-2, 1], ["0.0001%", "0.01%", "1%", "100%"])
    axes.minorticks_off()
    axes.set_ylim(1e-7, 30)
    axes.legend(frameon=False, loc="lower left")


def _say_flow(table: Table) -> str:
    ends = {name: matching(table, problem=name) for name in ("toy", "G1")}
    least = {name: float(rows["excess"].min()) for name, rows in ends.items() if len(rows)}
    words = " and ".join(f"{value:.0e} on {name}" for name, value in least.items())
    return f"Lines fall towards the optimum along the flow; the closest gets within {words}."


# ---------------------------------------------------------------------------- images, by size of network


def _series(rows: Table, key: str) -> Table:
    """Means over seeds by classifier, in percent; classifiers without a hard margin are left out."""
    kept = rows.where(np.isfinite(rows["error"]))
    percent = {name: 100 * kept[name] for name in ("error", "inconsistency", "reloaded", "chance")}
    columns = {name: kept[name] for name in ("images", "thresholds", "classifier", "samples", key)} | percent
    keys = ("images", "thresholds", "classifier", "samples", key)
    means = over_seeds(Table(columns), keys, tuple(percent))
    return means


def _smallest(rows: Table) -> Table:
    return matching(rows, samples=int(rows["samples"].min()))


def _units_table(results: Mapping[str, Evidence]) -> Table:
    rows = matching(results["two-layer"].table, layers=2, bits=1, momentum=0.0, thresholds="median")
    return _series(_smallest(rows), "units")


def _bits_table(results: Mapping[str, Evidence]) -> Table:
    return _series(_smallest(matching(results["shallow"].table, layers=1, momentum=0.0, thresholds="median")), "bits")


def _lines(axes: Axes, table: Table, key: str, column: str, names: tuple[str, ...]) -> None:
    for name in names:
        line = matching(table, classifier=name)
        order = np.argsort(line[key])
        band = np.nan_to_num(line[f"{column} 2se"][order])
        axes.errorbar(line[key][order], line[column][order], band, capsize=3, label=NAMES[name])


def _draw_pair(canvas: Canvas, table: Table, key: str, names: tuple[str, ...], label: str) -> None:
    """Error at the left; at the right disagreements with the trained network, and after it lost its thresholds."""
    left, right = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.78, bottom=0.14, wspace=0.2)
    _lines(left, table, key, "error", names)
    best = names[1]
    # The network's own style is skipped, so that a classifier looks the same in both panels.
    right.errorbar([], [], [])
    _lines(right, table, key, "inconsistency", names[1:])
    line = matching(table, classifier=best)
    order = np.argsort(line[key])
    plain: dict[str, Any] = {"marker": "", "linewidth": 1.2}
    right.plot(line[key][order], line["chance"][order], ":", color="0.3", label="unrelated, 2p(1-p)", **plain)
    right.plot(line[key][order], line["reloaded"][order], "-.", color="black", label="thresholds lost", **plain)
    left.set(xlabel=label, ylabel="error (%)", ylim=(0, None))
    right.set(xlabel=label, ylabel="differs from the network (%)", ylim=(0, None))
    for place in (left, right):
        if key == "units":
            place.set_xscale("log")
            ticks = np.unique(table[key]).tolist()
            place.set_xticks(ticks, [str(tick) for tick in ticks])
            place.minorticks_off()
        place.legend(frameon=False, fontsize=10, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, columnspacing=1)


def _draw_units(canvas: Canvas, table: Table) -> None:
    _draw_pair(canvas, table, "units", ("network", "group", "effective", "published effective", "zeta"), "hidden units")


def _draw_bits(canvas: Canvas, table: Table) -> None:
    _draw_pair(canvas, table, "bits", ("network", "one-layer"), "hyperplanes s (2^s contexts)")


def _say_units(table: Table) -> str:
    few = matching(table, units=int(table["units"].min()))
    errors = ", ".join(
        f"{NAMES[name]} {float(matching(few, classifier=name)['error'][0]):.0f}%"
        for name in ("network", "group", "effective", "published effective")
    )
    return f"Error and disagreement with training by number of units on {table['images'][0]}; with fewest: {errors}."


def _say_bits(table: Table) -> str:
    network = matching(table, classifier="network")
    best = network["bits"][np.argmin(network["error"])]
    return f"Error of one-layer networks on {table['images'][0]} by hyperplanes: least at s = {best}, then it rises."


# ---------------------------------------------------------------------------- trained against predicted


def _scatter_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["two-layer"].table
    chosen = rows.where(np.isin(rows["classifier"], ("group", "effective", "published effective")))
    chosen = chosen.where(np.isfinite(chosen["error"]) & (chosen["layers"] == 2))
    return as_table(
        {"classifier": row["classifier"], "thresholds": row["thresholds"]}
        | {"network": 100 * row["network error"], "limit": 100 * row["error"]}
        for row in chosen.rows()
    )


def _draw_scatter(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots(1, 3, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.16, wspace=0.08)
    top = float(max(table["network"].max(), table["limit"].max())) * 1.05
    for place, name in zip(axes, ("group", "effective", "published effective"), strict=True):
        for word, marker in (("median", "o"), ("random", "^")):
            dots = matching(table, classifier=name, thresholds=word)
            style: dict[str, Any] = {"markersize": 6, "markerfacecolor": "none"}
            place.plot(dots["network"], dots["limit"], linestyle="", marker=marker, label=f"{word} thresholds", **style)
        place.plot([0, top], [0, top], color="0.5", linewidth=0.8, marker="", linestyle="-")
        place.set(title=NAMES[name], xlabel="error of the network (%)", xlim=(0, top), ylim=(0, top))
    axes[0].set_ylabel("error of the limit (%)")
    axes[0].legend(frameon=False, fontsize=11, loc="lower right", handletextpad=0.2)


def _say_scatter(table: Table) -> str:
    words = []
    for name in ("group", "effective", "published effective"):
        dots = matching(table, classifier=name)
        words.append(f"{NAMES[name]} {float(np.corrcoef(dots['network'], dots['limit'])[0, 1]):.2f}")
    return f"Error of limits against that of trained networks; correlations: {', '.join(words)}."


# ---------------------------------------------------------------------------- ReLU


def _relu_table(results: Mapping[str, Evidence]) -> Table:
    rows = matching(results["relu"].table, momentum=0.9)
    rows = rows.where(np.isfinite(rows["error"]))
    few = matching(rows, samples=int(rows["samples"].min()))
    columns = {name: few[name] for name in ("images", "units", "classifier")}
    percent = {name: 100 * few[name] for name in ("error", "inconsistency")}
    return over_seeds(Table(columns | percent), ("images", "units", "classifier"), tuple(percent))


def _draw_relu(canvas: Canvas, table: Table) -> None:
    left, right = canvas.subplots(1, 2)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.14, wspace=0.2)
    kinds = ("network", "hidden layer", "learned contexts", "random contexts", "gates only")
    for place, column in ((left, "error"), (right, "inconsistency")):
        for kind in kinds:
            line = matching(table, classifier=kind)
            if column == "inconsistency" and kind == "network":
                place.errorbar([], [], [])
                continue
            band = np.nan_to_num(line[f"{column} 2se"])
            place.errorbar(line["units"], line[column], band, capsize=3, label=kind)
        ticks = np.unique(table["units"]).tolist()
        place.set(xscale="log", xlabel="hidden units", ylim=(0, None))
        place.set_xticks(ticks, [str(tick) for tick in ticks])
        place.minorticks_off()
    left.set_ylabel("error (%)")
    right.set_ylabel("differs from the network (%)")
    left.legend(frameon=False, fontsize=11, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5)


def _say_relu(table: Table) -> str:
    means = {
        kind: float(matching(table, classifier=kind)["inconsistency"].mean())
        for kind in ("hidden layer", "learned contexts", "random contexts")
    }
    words = ", ".join(f"{kind} {value:.1f}%" for kind, value in means.items())
    return f"Error of ReLU networks and of limits given parts of them; disagreement with the network: {words}."


_SEEDS = "Mean and two standard errors over three seeds of contexts and first weights; fewest training samples."

FIGURES = (
    Plot(
        "toy",
        "Fig. 1's points, split by the largest margin under three norms",
        "Circles are the positive class, grey what each classifier labels positive; dotted lines are the two gates.",
        ("gated-linear/3", "gated-linear/1"),
        ("limits",),
        _toy_table,
        _draw_toy,
        _say_toy,
    ),
    Plot(
        "flow",
        "The rescaled flow approaches the optimum of the margin problem",
        "One line a seed, first weights of scale 0.1. A line ends where the margin is too large to tell samples apart.",
        ("gated-linear/1", "gated-linear/8b"),
        ("flow",),
        _flow_table,
        _draw_flow,
        _say_flow,
    ),
    Plot(
        "units",
        "Two-layer gated networks and their limits, by number of units",
        f"Median thresholds, one hyperplane a unit, momentum 0. {_SEEDS}",
        ("gated-linear/9", "gated-linear/10", "gated-linear/11a", "gated-linear/17"),
        ("two-layer",),
        _units_table,
        _draw_units,
        _say_units,
        height=400,
    ),
    Plot(
        "bits",
        "One-layer gated networks and their limits, by number of hyperplanes",
        f"Median thresholds, momentum 0. {_SEEDS}",
        ("gated-linear/13a", "gated-linear/11b"),
        ("shallow",),
        _bits_table,
        _draw_bits,
        _say_bits,
        height=380,
    ),
    Plot(
        "scatter",
        "What the limit predicts of the error of trained networks",
        "One mark a network with two layers; on the line, limit and network have the same error.",
        ("gated-linear/9", "gated-linear/17"),
        ("two-layer",),
        _scatter_table,
        _draw_scatter,
        _say_scatter,
    ),
    Plot(
        "relu",
        "ReLU networks, and limits that are given more or less of them",
        f"Momentum 0.9. {_SEEDS}",
        ("gated-linear/14", "gated-linear/15"),
        ("relu",),
        _relu_table,
        _draw_relu,
        _say_relu,
        height=380,
    ),
)
