"""Limits against the networks they belong to, one mark each: errors above, disagreements below (Fig. 2a, 2b, 3a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.gated_linear.figures.drawing import GREY, NAMES, name_lines, stacked
from recombine.lab.papers.gated_linear.readings.networks import RELU_KINDS
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import palette
from recombine.lab.papers.results import Evidence
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Classifiers whose errors are compared one by one with those of networks, and the published one in the same panel.
SCATTER = {"group": "published group", "zeta": "", "effective": "", "published effective": "published effective"}
RELU_SCATTER = {name: name for name in RELU_KINDS[1:]}
#: What tells one network from another, by experiment.
GATED_KEYS = ("units", "bits", "thresholds", "samples", "seed")
RELU_KEYS = ("units", "momentum", "samples", "seed")
GATED_GROUPS = {"median": "median thresholds", "random": "random thresholds"}
RELU_GROUPS = {"momentum 0.0": "momentum 0", "momentum 0.9": "momentum 0.9"}


def _gated_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["two-layer"].table.only(layers=2, momentum=0.0)
    theirs = published("two layers", momentum=0.0)
    return _paired(_grouped(rows, "thresholds"), _grouped(theirs, "thresholds"), SCATTER, GATED_KEYS)


def _relu_table(results: Mapping[str, Evidence]) -> Table:
    rows = results["relu"].table
    return _paired(_grouped(rows, "momentum"), _grouped(published("relu"), "momentum"), RELU_SCATTER, RELU_KEYS)


def _grouped(rows: Table, column: str) -> Table:
    """Return rows with a column "group" that decides colour and mark."""
    groups = [str(value) if column == "thresholds" else f"{column} {value}" for value in rows[column].tolist()]
    return Table({name: rows[name] for name in rows.columns} | {"group": groups})


def _paired(rows: Table, theirs: Table, names: Mapping[str, str], keys: Sequence[str]) -> Table:
    networks = rows.only(classifier="network")
    tables = [_pairs(rows.only(classifier=name), networks, name, "ours", keys) for name in names]
    if rows["images"][0] == "mnist":
        nets = theirs.only(classifier="network")
        tables += [_pairs(theirs.only(classifier=o), nets, new, "published", keys) for new, o in names.items() if o]
    return stacked(*tables)


def _pairs(limits: Table, networks: Table, name: str, source: str, keys: Sequence[str]) -> Table:
    """Return error and inconsistency of limits beside the error of their networks, in percent."""
    there = limits.where(np.isfinite(limits["error"]))
    errors = dict(zip(zip(*(networks[key].tolist() for key in keys), strict=True), networks["error"], strict=True))
    pairs = [
        {"source": source, "classifier": name, "group": row["group"], "network": 100 * errors[key]}
        | {column: 100 * row[column] for column in ("error", "inconsistency")}
        for row in there.rows()
        if (key := tuple(row[name] for name in keys)) in errors
    ]
    return Table.from_rows(pairs)


def _draw(canvas: Canvas, table: Table, names: Sequence[str], groups: Mapping[str, str]) -> None:
    axes = canvas.subplots(2, len(names), sharex=True, sharey="row")
    canvas.subplots_adjust(left=0.075, right=0.985, top=0.88, bottom=0.09, wspace=0.07, hspace=0.12)
    right = float(table["network"].max()) * 1.06
    colours = palette()
    chance = np.linspace(0, right / 100, 50)
    for column, name in enumerate(names):
        for panel, value in zip(axes[:, column], ("error", "inconsistency"), strict=True):
            for order, ((group, words), marker) in enumerate(zip(groups.items(), "o^", strict=True)):
                style: dict[str, Any] = {"ls": "", "marker": marker, "ms": 4.5, "mfc": "none"}
                grey = table.only(classifier=name, group=group, source="published")
                panel.plot(grey["network"], grey[value], color=GREY, **style | {"ms": 3.5})
                dots = table.only(classifier=name, group=group, source="ours")
                panel.plot(dots["network"], dots[value], color=colours[order], label=words, **style)
        plain: dict[str, Any] = {"color": "0.3", "linewidth": 1.0, "marker": ""}
        axes[0, column].plot([0, right], [0, right], linestyle="-", label="equal errors", **plain)
        axes[1, column].plot(
            100 * chance, 200 * chance * (1 - chance), linestyle="--", label="2p(1-p): unrelated", **plain
        )
        axes[0, column].set_title(_title(name), fontsize=11)
        axes[1, column].set_xlabel("error of the network (%)")
    axes[0, 0].set(ylabel="error of the limit (%)", xlim=(float(table["network"].min()) * 0.9, right))
    axes[1, 0].set_ylabel("differs from network (%)")
    for panel in axes[:, 0]:
        panel.set_ylim(0, None)
    name_lines(canvas, [axes[0, 0], axes[1, 0]], columns=5, published="published" in table["source"])


def _title(name: str) -> str:
    """Return what fits above a panel."""
    return NAMES.get(name, name).replace("by the released formula", "as released")


def _draw_gated(canvas: Canvas, table: Table) -> None:
    _draw(canvas, table, list(SCATTER), GATED_GROUPS)


def _draw_relu(canvas: Canvas, table: Table) -> None:
    _draw(canvas, table, list(RELU_SCATTER), RELU_GROUPS)


def _say(table: Table) -> str:
    ours = table.only(source="ours")
    group = sorted(set(ours["group"].tolist()))[0]
    words = ", ".join(
        f"{_title(str(name))} {np.corrcoef(dots['network'], dots['error'])[0, 1]:.2f}"
        for name, dots in ours.only(group=group).by("classifier").items()
    )
    return f"Error of limits against that of trained networks; correlations with {group}: {words}."


FIGURES = (
    Plot(
        "scatter",
        title="What the limit predicts of trained networks (Fig. 2a and 2b)",
        caption=(
            "One mark per network with two layers and momentum 0, all shapes, sizes and seeds. Above, errors of limit "
            "and network; below, the share of validation images on which they differ. Grey: published; its "
            "disagreements with median thresholds are those of networks that lost their thresholds."
        ),
        experiments=("two-layer",),
        table=_gated_table,
        draw=_draw_gated,
        alternative=_say,
        height=520,
    ),
    Plot(
        "relu-scatter",
        title="What limits predict of ReLU networks (Fig. 3a)",
        caption=(
            "One mark per ReLU network, all sizes and seeds, and the limit that is given its hidden layer, the gates "
            "it has learned, or other gates drawn at random. Above, errors; below, the share of validation images on "
            "which they differ. Networks without such a limit have no mark. Grey: published."
        ),
        experiments=("relu",),
        table=_relu_table,
        draw=_draw_relu,
        alternative=_say,
        height=520,
    ),
)
