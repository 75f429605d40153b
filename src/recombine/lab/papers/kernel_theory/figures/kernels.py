"""Kernel theory: its figures, from the rows of the experiments. Plain matplotlib under the package's theme."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.kernel_theory.readings.context import BARS
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.measures.outputs.contributions import KINDS
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NAMES = {"relu": "ReLU", "step": "step", "quadratic": "quadratic", "gaussian": "Gaussian", "ntk": "NTK"}
ACTIVATIONS = tuple(NAMES)
#: Solved tasks -> colour and words, from all to none; told apart in grey as well.
PHASES = (
    ("#1b6ca8", "CD-1, CD-2 and CD-3"),
    ("#7fb8d8", "CD-1 and CD-2"),
    ("#d9e6ec", "CD-1 only"),
    ("#3a3f47", "none"),
)


def _stacked(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> Table:
    return Table({name: [row[column] for row in rows] for column, name in enumerate(names)})


# ---------------------------------------------------------------------------- salience by depth


def _salience_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["salience"].table
    is_drawn = np.isin(rows["activation"], ACTIVATIONS) & np.isin(rows["factors"], (2, 3)) & (rows["depth"] <= 100)
    return rows.where(is_drawn)


def _draw_salience(canvas: Canvas, table: Table) -> None:
    panels = [(2, 1, "two factors, single levels"), (2, 2, "two factors, whole cells"), (3, 3, "three, whole cells")]
    axes = canvas.subplots(1, 3, sharex=True)
    canvas.subplots_adjust(left=0.07, right=0.985, top=0.88, bottom=0.17, wspace=0.27)
    for panel, (factors, order, title) in zip(axes, panels, strict=True):
        for activation in ACTIVATIONS:
            line = table.only(factors=factors, order=order, activation=activation)
            panel.plot(line["depth"], line["salience"], label=NAMES[activation], markevery=(0.0, 0.12))
        panel.set(xscale="log", title=title, xlabel="hidden layers", ylim=(0, 0.52 if order == 1 else 1.03))
        panel.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    axes[0].set_ylabel("salience S(k;C)")
    axes[0].legend(frameon=False, fontsize=11, loc="upper right", handlelength=2.4)


def _say_salience(table: Table) -> str:
    deep = table.only(activation="relu", factors=2, order=2, depth=100)["salience"][0]
    return f"Line plots of salience by depth for five activations; ReLU reaches S(2;2) = {deep:.2f} at depth 100."


# ---------------------------------------------------------------------------- leak


def _leak_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["leak"].table.only(shift=0.0, constant=0.0, intercept=False)
    # Marks at every twentieth are enough to see that they lie on the lines.
    rows = rows.where(np.isclose(20 * rows["salience"], np.rint(20 * rows["salience"])))
    listed = [("kernel", r["set"], r["p"], r["salience"], r["slope"]) for r in rows.rows() if r["set"] != "asymmetric"]
    amounts = np.linspace(0, 0.5, 51)
    for p in range(1, 6):
        curve = zip(amounts.tolist(), slope(amounts, p).tolist(), strict=True)
        listed += [("theory", "any", p, amount, value) for amount, value in curve]
    return _stacked(listed, ("source", "set", "p", "salience", "slope"))


def _draw_leak(canvas: Canvas, table: Table) -> None:
    axes = canvas.subplots()
    canvas.subplots_adjust(left=0.09, right=0.8, top=0.96, bottom=0.16)
    for p in range(1, 6):
        line = table.only(source="theory", p=p)
        (curve,) = axes.plot(line["salience"], line["slope"], marker="", linestyle="-", linewidth=1.4)
        for name, marker in (("extrapolation", "^"), ("interpolation", "s"), ("both", "o")):
            points = table.only(source="kernel", p=p, set=name)
            style: dict[str, Any] = {
                "color": curve.get_color(),
                "linestyle": "",
                "markersize": 6,
                "markerfacecolor": "none",
            }
            axes.plot(points["salience"], points["slope"], marker=marker, **style)
        # Each label sits on its own line, at a salience where the lines are apart.
        at = 0.245 if p == 1 else 0.15
        paper: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.annotate(f"p = {p}", (at, float(slope(at, p))), ha="center", va="center", fontsize=11, bbox=paper)
    axes.axhline(1, linewidth=0.8, marker="", linestyle="-", color="0.5")
    axes.set(xlabel="salience of single items S(1;2)", ylabel="slope on unseen sums", xlim=(0, 0.51), ylim=(0, 1.05))
    _legend_marks(axes)


def _legend_marks(axes: Axes) -> None:
    from matplotlib.lines import Line2D

    ink: dict[str, Any] = {"color": "0.2", "markerfacecolor": "none"}
    marks = [
        Line2D([], [], marker="", linestyle="-", label="Eq. 3", color="0.2"),
        Line2D([], [], marker="^", linestyle="", label="extrapolation", **ink),
        Line2D([], [], marker="s", linestyle="", label="interpolation", **ink),
        Line2D([], [], marker="o", linestyle="", label="both", **ink),
    ]
    axes.legend(handles=marks, frameon=False, fontsize=11, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _say_leak(table: Table) -> str:
    miss = np.abs(
        table.only(source="kernel")["slope"]
        - slope(table.only(source="kernel")["salience"], table.only(source="kernel")["p"])
    ).max()
    return f"Slopes of kernel fits lie on the five theory curves, p = 1 to 5; the largest distance is {miss:.0e}."


# ---------------------------------------------------------------------------- phase diagram


def _phase_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["phase"].table
    columns: dict[str, Any] = {}
    for loss in ("hinge", "squared"):
        tasks = {task: rows.only(task=task, loss=loss) for task in ("CD-3", "CD-2", "CD-1")}
        solved = np.sum([table["margin"] > 1e-9 for table in tasks.values()], axis=0)
        columns = {"s1": tasks["CD-3"]["s1"], "s2": tasks["CD-3"]["s2"], **columns, loss: solved}
        accuracy = _trained_accuracy(results, loss)
        columns[f"trained, {loss}"] = np.full(len(solved), accuracy)
    return Table(columns)


def _trained_accuracy(results: Mapping[str, Evidence], loss: str) -> float:
    """Mean accuracy on CD-3 of lazy networks with one hidden layer, trained; NaN before they were."""
    if "onehot-context" not in results:
        return float("nan")
    name = "logistic" if loss == "hinge" else "mse"
    lazy = results["onehot-context"].table.only(task="CD-3", sigma=1.0, loss=name)
    return float(lazy["accuracy"].mean()) if len(lazy) else float("nan")


def _draw_phase(canvas: Canvas, table: Table) -> None:
    from matplotlib.patches import Patch

    axes = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.24, wspace=0.08)
    titles = ("Hard margin (cross-entropy)", "Squared loss")
    for panel, loss, title in zip(axes, ("hinge", "squared"), titles, strict=True):
        _tiles(panel, table, loss)
        _marked(panel, float(table[f"trained, {loss}"][0]))
        panel.set(title=title, xlabel="salience of single levels S(1;3)", xlim=(-0.005, 0.34), ylim=(-0.005, 0.34))
        panel.grid(visible=False)
    axes[0].set_ylabel("salience of pairs S(2;3)")
    patches = [Patch(color=colour, label=words) for colour, words in PHASES]
    canvas.legend(handles=patches, loc="lower center", ncols=4, frameon=False, fontsize=11.5, title=None)


def _tiles(axes: Axes, table: Table, loss: str) -> None:
    """Paint each kernel of the lattice with the colour of what it solves."""
    from matplotlib.colors import ListedColormap

    steps = round(1 / (3 * np.diff(np.unique(table["s1"].round(9))).min()))
    image = np.full((steps + 1, steps + 1), np.nan)
    columns = np.rint(table["s1"] * 3 * steps).astype(int), np.rint(table["s2"] * 3 * steps).astype(int)
    image[columns[1], columns[0]] = 3 - table[loss]
    half = 1 / (6 * steps)
    extent = (-half, 1 / 3 + half, -half, 1 / 3 + half)
    colours = ListedColormap([colour for colour, _ in PHASES])
    axes.imshow(image, origin="lower", extent=extent, cmap=colours, vmin=0, vmax=3, interpolation="nearest")
    axes.set_aspect("auto")


def _marked(axes: Axes, trained: float) -> None:
    """Mark where wide random networks lie, depth by depth, and what trained ones of depth 1 reach on CD-3."""
    from recombine.lab.papers.kernel_theory.experiments.kernels import network_kernel

    for activation, marker, word in (("relu", "o", "ReLU"), ("quadratic", "s", "quadratic")):
        points = np.array([network_kernel(activation, depth, 3).salience[:2] for depth in (1, 2, 3, 5, 10)])
        style: dict[str, Any] = {
            "markersize": 6,
            "markerfacecolor": "white",
            "markeredgecolor": "black",
            "linewidth": 1,
        }
        axes.plot(points[:, 0], points[:, 1], color="black", marker=marker, linestyle="-", **style)
        axes.plot(*points[2], marker=marker, markersize=6, markerfacecolor="black", markeredgecolor="black")
        axes.annotate(word, points[0], (8, 8), textcoords="offset points", fontsize=11)
    if not np.isnan(trained):
        words = f"trained networks, ReLU, depth 1:\n{trained:.0%} of unseen CD-3 cells right"
        axes.text(0.335, 0.32, words, ha="right", va="top", fontsize=11)


def _say_phase(table: Table) -> str:
    hinge, squared = (float((table[loss] == 3).mean()) for loss in ("hinge", "squared"))
    return f"Map of kernels by the tasks they solve: all three for {hinge:.0%} (hard margin), {squared:.0%} (squared)."


# ---------------------------------------------------------------------------- dispersed addition


def _dispersed_table(results: Mapping[str, Evidence]) -> Table:
    from recombine.lab.papers.kernel_theory.experiments.kernels import DISPERSED_SALIENCE
    from recombine.lab.papers.kernel_theory.readings.kernels import PUBLISHED_DISPERSED_ERRORS

    rows = results["dispersed"].table
    listed: list[tuple[Any, ...]] = []
    for solver in ("exact", "tube 0.1"):
        for amount in np.unique(rows["salience"]).tolist():
            errors = rows.only(solver=solver, salience=amount)["mean squared error"]
            listed.append((solver, amount, float(errors.mean()), 2 * float(errors.std(ddof=1)) / len(errors) ** 0.5))
    published = zip(DISPERSED_SALIENCE[1:], PUBLISHED_DISPERSED_ERRORS, strict=True)
    listed += [("published", amount, error, np.nan) for amount, error in published]
    return _stacked(listed, ("source", "salience", "mean squared error", "two standard errors"))


def _draw_dispersed(canvas: Canvas, table: Table) -> None:
    main, detail = canvas.subplots(1, 2, gridspec_kw={"width_ratios": (2, 1)})
    canvas.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.17, wspace=0.2)
    words = {"exact": "interpolation", "tube 0.1": "support vectors, tube 0.1"}
    for axes in (main, detail):
        for source, label in words.items():
            line = table.only(source=source)
            error, band = line["mean squared error"], line["two standard errors"]
            (curve,) = axes.plot(line["salience"], error, label=label, markevery=0.08)
            axes.fill_between(line["salience"], error - band, error + band, color=curve.get_color(), alpha=0.15, lw=0)
        points = table.only(source="published")
        style: dict[str, Any] = {"marker": "x", "linestyle": "", "color": "0.4", "markersize": 10, "markeredgewidth": 2}
        axes.plot(points["salience"], points["mean squared error"], label="published (figure 7b)", **style)
        axes.set_xlabel("salience of single items S(1;2)")
    main.set(ylabel="mean squared error, unseen sums", title="Dispersed addition", ylim=(0, None))
    detail.set(xlim=(0.437, 0.503), ylim=(-0.05, 2.6), title="its right end")
    main.legend(frameon=False, fontsize=11)


def _say_dispersed(table: Table) -> str:
    ends = [float(table.only(source=s, salience=0.5)["mean squared error"][0]) for s in ("exact", "tube 0.1")]
    return f"Test error falls with salience; at S = 0.5 to {ends[0]:.3f} for interpolation, {ends[1]:.3f} with a tube."


# ---------------------------------------------------------------------------- conjunction types


def _kinds_table(results: Mapping[str, Evidence]) -> Table:
    return results["conjunctions"].table.only(depth=3)


def _draw_kinds(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(2, 3, sharex=True, sharey="row")
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.93, bottom=0.2, wspace=0.06, hspace=0.2)
    for column, task in enumerate(("CD-3", "CD-2", "CD-1")):
        above, below = panels[0, column], panels[1, column]
        bars = [(name, loss) for name in ("relu", "quadratic") for loss in ("hinge", "squared")]
        _draw_bars(above, table.only(task=task), bars, "share")
        _draw_bars(below, table.only(task=task), [("relu", "labels"), ("quadratic", "labels")], "size")
        for step, name in enumerate(("relu", "quadratic")):
            published = BARS.get((name, task), {})
            positions = [KINDS.index(kind) + 0.4 * step - 0.2 for kind in published]
            style: dict[str, Any] = {"linestyle": "", "marker": "x", "color": "#b23a0e", "markersize": 8}
            below.plot(positions, list(published.values()), **style, markeredgewidth=1.8, zorder=5)
        above.set_title(task)
        below.set_xticks(range(len(KINDS)), KINDS, rotation=35, ha="right")
        for axes in (above, below):
            axes.grid(axis="x", visible=False)
    panels[0, 0].set_ylabel("outputs: share")
    panels[1, 0].set_ylabel("labels: mean size")
    panels[0, 2].legend(frameon=False, fontsize=10.5)
    panels[1, 2].plot([], [], label="published (figure 3e)", **style, markeredgewidth=1.8)
    panels[1, 2].legend(frameon=False, fontsize=10.5)


def _draw_bars(axes: Axes, table: Table, bars: list[tuple[str, str]], column: str) -> None:
    """One group of bars for each kind of conjunction, and in it one bar for each activation and loss."""
    width = 0.8 / len(bars)
    words = {"hinge": ", hard margin", "squared": ", squared", "labels": ""}
    for step, (name, loss) in enumerate(bars):
        kinds = table.only(activation=name, loss=loss)
        heights = [float(kinds.only(kind=kind)[column][0]) for kind in KINDS]
        style: dict[str, Any] = {
            "color": "#1b6ca8" if name == "relu" else "#d9e6ec",
            "hatch": "////" if loss == "squared" else "",
            "edgecolor": "0.2",
        }
        positions = np.arange(len(KINDS)) + width * (step - (len(bars) - 1) / 2)
        axes.bar(positions, heights, width=width, label=f"{NAMES[name]}{words[loss]}", linewidth=0.6, **style)


def _say_kinds(table: Table) -> str:
    failing = table.only(task="CD-3", activation="relu", loss="hinge")
    kind = failing["kind"][int(failing["size"].argmax())]
    return f"Bars of what each kind of conjunction contributes; a ReLU kernel on CD-3 leans most on {kind}."


FIGURES = (
    Plot(
        "salience",
        title="Salience by depth",
        caption=(
            "Salience of wide random networks, from their layer maps: with depth, whole cells take over; Gaussian "
            "units stop short. NTK: all layers trained; the others: readout only."
        ),
        experiments=("salience",),
        table=_salience_table,
        draw=_draw_salience,
        alternative=_say_salience,
    ),
    Plot(
        "leak",
        title="Memorization leak",
        caption=(
            "Slope of kernel predictions on unseen sums. Lines: Eq. 3 for p anchors. Marks: exact fits of nine items."
        ),
        experiments=("leak",),
        table=_leak_table,
        draw=_draw_leak,
        alternative=_say_leak,
        height=400,
    ),
    Plot(
        "phase",
        title="Which kernels solve context dependence",
        caption=(
            "Every point is a kernel on (context, feature 1, feature 2). Marks: wide random networks of depth 1, 2, "
            "3, 5, 10 (depth 1 at the right end); filled: the two the paper singles out. Trained: lazy one-hot "
            "networks of depth 1 under logistic (left) and squared loss (right)."
        ),
        experiments=("phase",),
        table=_phase_table,
        draw=_draw_phase,
        alternative=_say_phase,
        height=430,
    ),
    Plot(
        "dispersed",
        title="Dispersed addition: exact and with a tube",
        caption=(
            "Mean over 50 shuffled training sets, bands of two standard errors; grey crosses: published (figure 7b), "
            "made with support vector regression whose tube of 0.1 costs nothing."
        ),
        experiments=("dispersed",),
        table=_dispersed_table,
        draw=_draw_dispersed,
        alternative=_say_dispersed,
    ),
    Plot(
        "kinds",
        title="What the models lean on",
        caption=(
            "Mean absolute contribution of the seen conjunctions of each kind, exact values of two kernels of depth 3. "
            "Above: of the models' own outputs, as a share of the sum over kinds. Below: of the smallest weights that "
            "give the labels predicted under the hard margin. Crosses: the heights of figure 3e that are known."
        ),
        experiments=("conjunctions",),
        table=_kinds_table,
        draw=_draw_kinds,
        alternative=_say_kinds,
        height=520,
    ),
)
