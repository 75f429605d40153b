"""Multi-task learning and pretraining: figures of diagonal networks beside theory.

Losses span many powers of ten, so means and bands of two standard errors over seeds are those of their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.figures.words import (
    BANDS,
    GREY,
    METHODS,
    PUBLISHED,
    draw_published,
    method_looks,
    shades,
)
from recombine.lab.papers.multitask.published import NESTED, OVERLAP, PUBLISHED_ACTIVE, PUBLISHED_SAMPLES
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import MARKS, by_samples, counts, logarithms, mark, points, powers_of_ten, ribbon
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


#: Theory for the seeds of the networks beside it; NaN where theory does not speak for them.
SAME = "theory of these seeds"
#: Share of the networks of a mark.
REACHED = "reached 1e-10"
#: What of a line's look stands for theory and for networks.
SHOWN_BY = {"linestyle": "theory", "marker": "trained"}
#: A short bar.
BAR: dict[str, Any] = {"marker": "_", "markeredgewidth": 1.6, "linestyle": ""}
#: A mark of published numbers in a legend.
BARE: dict[str, Any] = {"markerfacecolor": "none", "linestyle": ""}
#: What published losses of diagonal networks are.
LEAST = f"{GREY} They are least losses over training, ours final ones."


def _with_networks(theory: Table, networks: Table | None, keys: tuple[str, ...], column: str, per: str = "") -> Table:
    """Return means of theory's lines and of networks, or one row for each value of ``per``, a seed.

    How many of a row's networks reached a training loss of 1e-10 is a share: 0, 1 or in between.
    """
    lines = over_seeds(logarithms(theory, column), keys, (column,)).rows()
    listed = [{**row, "source": "theory", REACHED: 1.0, SAME: np.nan} for row in lines]
    if networks is not None:
        seen = over_seeds(networks, (*keys, per) if per else keys, (column, SAME, "stopped")).rows()
        listed += [{**row, "source": "trained", REACHED: row["stopped"]} for row in seen]
    columns = ("source", REACHED, *keys, column, f"{column} 2se", "n", SAME)
    return Table.from_rows({name: row[name] for name in columns} for row in listed)


def _fill(share: float) -> str:
    """Marks are full, half full or open if all, some or none of their networks learned."""
    return {0.0: "none", 1.0: "full"}.get(share, "left")


def _meaning(half: bool) -> list[Any]:
    """Legend of what fills a mark."""
    from matplotlib.lines import Line2D

    words = {"full": "trained to 1e-10", **({"left": "some seeds"} if half else {}), "none": "not reached"}
    style: dict[str, Any] = {"color": "0.45", "marker": "o", "linestyle": ""}
    return [Line2D([], [], label=word, **style, **mark("0.45", fill)) for fill, word in words.items()]


# ---------------------------------------------------------------------------- test loss by samples


def _samples_table(results: Mapping[str, Evidence]) -> Table:
    theory = results["overlap"].table.only(form="exact")
    theory = by_samples(theory.where(np.isin(theory["method"], list(METHODS)) & (theory["method"] != "mtl")))
    trained = None
    if "overlap-networks" in results:
        rows = by_samples(results["overlap-networks"].table)
        # The least group norm does not speak for networks without weight decay.
        predicted = np.where(rows["method"] == "mtl", np.nan, rows["theory"])
        trained = logarithms(logarithms(Table({**{name: rows[name] for name in rows.columns}, SAME: predicted}), SAME))
    return _with_networks(theory, trained, ("overlap", "method", "samples"), "loss")


def _draw_samples(canvas: Canvas, table: Table) -> None:
    overlaps = sorted(table.by("overlap"), reverse=True)
    panels = np.atleast_1d(canvas.subplots(1, len(overlaps), sharex=True, sharey=True))
    canvas.subplots_adjust(left=0.085, right=0.985, top=0.84, bottom=0.155, wspace=0.08)
    for axes, shared in zip(panels, overlaps, strict=True):
        for method, look in method_looks().items():
            line, seen = (table.only(source=source, overlap=shared, method=method) for source in ("theory", "trained"))
            if len(line):
                ribbon(axes, line, "samples", "loss", METHODS[method], **look | {"marker": ""})
            _means(axes, line, seen, look)
            published = dict(zip(PUBLISHED_SAMPLES, OVERLAP.get((int(shared), method), ()), strict=False))
            samples = [n for n in published if n in table["samples"]]
            draw_published(axes, samples, [published[n] for n in samples], look)
        axes.set(title=f"{shared} of 40 shared", xlabel="main-task samples")
        powers_of_ten(axes, "y")
        counts(axes, sorted(table.by("samples")))
    panels[0].set_ylabel("test loss")
    _legend(canvas, table)


def _means(axes: Axes, line: Table, seen: Table, look: Mapping[str, Any]) -> None:
    """Draw means of networks; a short bar is theory for their seeds where the line has others."""
    for row in seen.rows():
        chosen = seen.only(samples=row["samples"])
        points(axes, chosen, "samples", "loss", look["color"], look["marker"], fill=_fill(row[REACHED]))
        same_seeds = line.only(samples=row["samples"], n=row["n"])
        if not len(same_seeds) and np.isfinite(row[SAME]):
            axes.plot([row["samples"]], [10 ** row[SAME]], color=look["color"], markersize=17, **BAR)


def _legend(canvas: Canvas, table: Table) -> None:
    """Promise a line or a mark only where there is one."""
    from matplotlib.lines import Line2D

    sources, marks = table.by("method", "source"), []
    for method, look in method_looks().items():
        hidden = [element for element, source in SHOWN_BY.items() if (method, source) not in sources]
        if len(hidden) < len(SHOWN_BY):
            marks.append(Line2D([], [], label=METHODS[method], **look | dict.fromkeys(hidden, "")))
    shares = table.only(source="trained")[REACHED]
    marks += _meaning(half=bool(np.any((shares > 0) & (shares < 1)))) if len(shares) else []
    marks.append(Line2D([], [], label=PUBLISHED, color="0.5", marker="o", markersize=4.5, **BARE))
    layout: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.07, 1.0), "ncols": len(marks)}
    canvas.legend(
        handles=marks, frameon=False, fontsize=11, columnspacing=0.8, handletextpad=0.35, handlelength=1.7, **layout
    )


def _say_samples(table: Table) -> str:
    at = table.only(source="theory", overlap=40, samples=64)
    losses = {row["method"]: 10 ** row["loss"] for row in at.rows()}
    return (
        f"Test loss by samples for four overlaps; with all features shared and 64 samples theory says "
        f"{losses['pt+ft']:.0e} for PT+FT and {losses['stl']:.2f} for a single task."
    )


# ---------------------------------------------------------------------------- nested feature selection


def _nested_table(results: Mapping[str, Evidence]) -> Table:
    theory = results["nested"].table.only(n=64, method="pt+ft")
    keys, trained = ("place", "scaling", "active"), None
    if "nested-networks" in results:
        rows = results["nested-networks"].table.only(n=64, method="pt+ft")
        relative = {"relative loss": rows["loss"] / rows["power"], SAME: rows["theory"] / rows["power"]}
        plain = {name: rows[name] for name in (*keys, "seed", "stopped")}
        trained = logarithms(logarithms(Table({**plain, **relative}), "relative loss"), SAME)
    return _with_networks(theory, trained, keys, "relative loss", per="seed")


def _draw_nested(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    canvas.subplots_adjust(left=0.085, right=0.8, top=0.91, bottom=0.15, wspace=0.06)
    looks = shades(table.by("scaling"))
    for axes, (location, word) in zip(panels, (("inside", "known"), ("outside", "new")), strict=True):
        for number, (m, look) in enumerate(looks.items()):
            line, seen = (table.only(source=source, place=location, scaling=m) for source in ("theory", "trained"))
            ribbon(axes, line, "active", "relative loss", f"m = {m:g}", **look | {"marker": ""})
            _networks(axes, seen, 0.85 * (number - (len(looks) - 1) / 2), look)
            if (location, m) in NESTED:
                draw_published(axes, PUBLISHED_ACTIVE, NESTED[location, m], look, joined=True)
        axes.set(title=f"All features {word}", xlabel="features of the main task, k")
        powers_of_ten(axes, "y")
        axes.set_xticks([5, 10, 20, 30, 40])
    panels[0].set_ylabel("test loss / power of targets")
    _nested_legend(canvas, panels[0], bool(len(table.only(source="trained"))))


def _networks(axes: Axes, seen: Table, shift: float, look: Mapping[str, Any]) -> None:
    """Draw a mark for each network, and how far it is from theory for its seed, a short bar."""
    colour = look["color"]
    for row in seen.rows():
        x, ends = row["active"] + shift, [10 ** row[SAME], 10 ** row["relative loss"]]
        axes.plot([x, x], ends, color=colour, linestyle="-", linewidth=1, marker="")
        axes.plot([x], ends[:1], color=colour, markersize=9, **BAR)
        style = {**look, "linestyle": "", **mark(colour, _fill(row[REACHED]))}
        axes.plot([x], ends[1:], markersize=5.5, **style)


def _nested_legend(canvas: Canvas, axes: Axes, trained: bool) -> None:
    from matplotlib.lines import Line2D

    layout: dict[str, Any] = {"frameon": False, "fontsize": 11, "loc": "upper left", "handlelength": 2.4}
    layout["alignment"] = "left"
    theory_lines = [line for line in axes.get_lines() if str(line.get_label()).startswith("m = ")]
    labels = [str(line.get_label()) for line in theory_lines]
    lines = [
        Line2D([], [], color=line.get_color(), linestyle=line.get_linestyle(), marker=marker * trained)
        for line, marker in zip(theory_lines, MARKS, strict=False)
    ]
    canvas.legend(lines, labels, title="line: theory", bbox_to_anchor=(0.8, 0.93), **layout)
    if trained:
        meaning = [*_meaning(half=False), Line2D([], [], color="0.45", label="theory, its seed", markersize=9, **BAR)]
        meaning.append(Line2D([], [], label=PUBLISHED, color="0.5", marker="o", markersize=4.5, **BARE))
        canvas.legend(handles=meaning, title="mark: a network", bbox_to_anchor=(0.8, 0.6), **layout)


def _say_nested(table: Table) -> str:
    inside = table.only(source="theory", place="inside", scaling=0.1)
    low, high = (10 ** float(inside["relative loss"][inside["active"] == k][0]) for k in (5, 40))
    return (
        f"Test loss by number of features; rescaled to 0.1, known features cost {low:.0e} for 5 and {high:.0e} for 40."
    )


FIGURES = (
    Plot(
        "samples",
        title="Test loss by samples",
        caption=(
            "Diagonal networks of 1000 inputs, of which each task uses 40. Lines: theory, which has none for MTL. "
            "Marks: trained networks, mean final test loss; filled, half filled or open where all, some or none of the "
            "seeds reached a training loss of 1e-10 before the most steps. Short bars, if any: theory for the seeds of "
            f"a mark, where the line has more of them. {BANDS} {LEAST}"
        ),
        experiments=("overlap",),
        table=_samples_table,
        draw=_draw_samples,
        alternative=_say_samples,
        height=350,
        optional=("overlap-networks",),
    ),
    Plot(
        "nested",
        title="Nested feature selection",
        caption=(
            "PT+FT with 64 samples; hidden weights are multiplied by m before finetuning, readouts start at 0.001 m. "
            "Coefficients of the main task are 1/k, of the auxiliary one 1/sqrt(40), as in the published data. Lines: "
            "theory, mean and two standard errors over n seeds, of logarithms. Marks: one per trained network (n = 1), "
            "its final test loss, joined to a short bar, theory for its seed; open where the training loss did not "
            f"reach 1e-10 before the most steps. Marks of different m stand side by side around their k. {LEAST}"
        ),
        experiments=("nested",),
        table=_nested_table,
        draw=_draw_nested,
        alternative=_say_nested,
        height=350,
        optional=("nested-networks",),
    ),
)
