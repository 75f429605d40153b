"""Gated linear networks: figures of the small problems, where the limit is known exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.tables.table import Table
from recombine.theory.gated.margin import largest_margin

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Norms of the toy's panels in words; the first is also drawn as a line in the second.
TOY_NORMS = {"group": "two layers", "one-layer": "one layer"}
#: Norms of two-layer networks whose limits are the same function on the toy.
SAME = ("effective", "zeta")
#: Points per side of the toy's plane: an even number, so that none is on a gate, where a boundary may jump.
TOY_SIDE = 112


def _toy_table(results: Mapping[str, Evidence]) -> Table:
    problem = gated_problem("toy")
    ticks = np.linspace(-1.105, 1.105, TOY_SIDE)
    plane = np.column_stack([np.tile(ticks, TOY_SIDE), np.repeat(ticks, TOY_SIDE), np.ones(TOY_SIDE**2)])
    ids = (plane[:, :2] > 0).astype(np.int64)
    columns: dict[str, Any] = {"x1": plane[:, 0].round(6), "x2": plane[:, 1].round(6)}
    for norm in (*TOY_NORMS, *SAME):
        best = largest_margin(problem.X, problem.y, problem.ids, contexts=2, norm=norm)
        columns[norm] = best.decision(plane, ids).round(6)
    return Table(columns)


def _draw_toy(canvas: Canvas, table: Table) -> None:
    problem = gated_problem("toy")
    axes = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.92, bottom=0.13, wspace=0.04)
    ticks = np.unique(table["x1"])
    limit = table["group"].reshape(TOY_SIDE, TOY_SIDE)
    for panel, (norm, title) in zip(axes, TOY_NORMS.items(), strict=True):
        panel.contourf(ticks, ticks, table[norm].reshape(TOY_SIDE, TOY_SIDE), levels=[0, np.inf], colors=["0.82"])
        panel.contour(ticks, ticks, limit, levels=[0], colors="#c2551b", linewidths=1.5)
        # The solution that Fig. 1 draws by hand: |x1| + |x2| = 1.
        panel.plot([0, 1, 0, -1, 0], [1, 0, -1, 0, 1], color="0.4", linewidth=1.2, marker="", linestyle="--")
        for gate in (panel.axhline, panel.axvline):
            gate(0, color="0.5", linewidth=0.8, marker="", linestyle=":")
        for sign, mark, face in ((1, "o", "#1b6ca8"), (-1, "^", "white")):
            chosen = problem.X[problem.y == sign]
            panel.plot(chosen[:, 0], chosen[:, 1], mark, ls="", mfc=face, mec="black", ms=7)
        panel.set(title=title, xlabel="x1", aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
        panel.set_xticks([-1, -0.5, 0, 0.5, 1])
        panel.grid(visible=False)
    axes[0].set_ylabel("x2")


def _say_toy(table: Table) -> str:
    group = table["group"]
    same = max(float(np.abs(table[norm] - group).max()) for norm in SAME)
    apart = float(((table["one-layer"] > 0) != (group > 0)).mean())
    return (
        f"The plane around 16 points, split by limits of one and of two layers, which differ on {apart:.0%} of it; the "
        f"effective norm and L2 on zeta give the function of two layers (largest difference {same:.0e})."
    )


def _flow_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["flow"].table.only(sharing=False)
    rows = rows.where(rows["margin"] > 1)
    columns = {name: rows[name] for name in ("problem", "scale", "seed", "tau", "margin")}
    return Table(columns | {"excess": rows["ratio"] / rows["optimum"] - 1})


def _draw_flow(canvas: Canvas, table: Table) -> None:
    pair = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.09, right=0.985, top=0.9, bottom=0.16, wspace=0.05)
    words = {"toy": "Fig. 1's points", "G1": "G1, whose limit switches a unit off"}
    for axes, (name, about) in zip(pair, words.items(), strict=True):
        flows = table.only(problem=name).by("scale", "seed")
        for _, line in sorted(flows.items()):
            axes.plot(line["margin"], line["excess"], "-", color="#1b6ca8", marker="", linewidth=0.9, alpha=0.8)
        axes.set_title(f"{about} ({len(flows)} flows)", fontsize=11, loc="left")
        axes.set(xscale="log", yscale="log", xlabel="smallest margin")
        axes.set_xticks([1, 1e2, 1e4, 1e6], ["1", "100", "10,000", "1,000,000"])
        axes.set_yticks([1e-6, 1e-4, 1e-2, 1], ["0.0001%", "0.01%", "1%", "100%"])
        axes.minorticks_off()
    pair[0].set(ylabel="norm / margin above optimum", ylim=(5e-8, 10))


def _say_flow(table: Table) -> str:
    last = table.where(table["margin"] > 0.99 * table["margin"].max())
    ends = {name: last.only(problem=name)["excess"] for name in ("toy", "G1")}
    words = ", ".join(f"{excess.min():.0e} to {excess.max():.0e} on {name}" for name, excess in ends.items())
    return f"Lines fall as the margin grows, those of G1 more slowly; above the optimum at the end: {words}."


FIGURES = (
    Plot(
        "toy",
        title="Fig. 1's points, split by the largest margins of two layers and of one",
        caption=(
            "Circles are the positive class, grey what a classifier labels positive, dotted lines the two gates. The "
            "line in both is the limit of two layers; group norm, effective norm and L2 on zeta all give this "
            "function here (nine support vectors fix its nine weights), so the toy does not tell these norms apart. "
            "Dashed: the solution drawn by hand in Fig. 1, which has smaller margins."
        ),
        experiments=("limits",),
        table=_toy_table,
        draw=_draw_toy,
        alternative=_say_toy,
        height=420,
    ),
    Plot(
        "flow",
        title="The rescaled flow approaches the optimum of the margin problem",
        caption=(
            "One line per flow, from the same seeds and scales of first weights on both problems. All end at a margin "
            "of 4 million, beyond which numbers of 64 bits do not tell samples apart. The paper shows no such curves."
        ),
        experiments=("flow",),
        table=_flow_table,
        draw=_draw_flow,
        alternative=_say_flow,
    ),
)
