"""Multi-task learning and pretraining: figures of ReLU students."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.multitask.figures.words import (
    BANDS,
    GREY,
    METHODS,
    draw_legend,
    draw_published,
    method_looks,
    named_lines,
    shades,
)
from recombine.lab.papers.multitask.published import (
    CORRELATED,
    MAGNITUDE_LOSSES,
    MAGNITUDES,
    PUBLISHED_SAMPLES,
    UNIT_LOSSES,
)
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.plots import by_samples, counts, grown, logarithms, power, powers_of_ten, ribbon
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import over_seeds, several
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


# ---------------------------------------------------------------------------- correlated features

#: Methods of the headline, and of the figure that has probes as well; MTL at a rate of 0.3 is in claims alone.
HEADLINE = ("pt+ft", "stl", "mtl")
SHOWN = [method for method in METHODS if method != "slow mtl"]


def _relu_table(results: Mapping[str, Evidence], methods: Sequence[str] = SHOWN) -> Table:
    """Mean losses of these methods, or of all where a run that was stopped early has none of these."""
    rows = results["relu-correlation"].table
    shown = np.isin(rows["method"], methods)
    rows = rows.where(shown) if shown.any() else rows
    return over_seeds(by_samples(logarithms(rows)), ("correlation", "method", "samples"), ("loss",))


def _draw_relu(canvas: Canvas, table: Table, *, published: bool) -> None:
    names = list(table.by("correlation"))
    rows, columns = -(-len(names) // 3), min(3, len(names))
    grown(canvas, rows)
    panels = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    space: dict[str, float] = {"top": 0.84, "bottom": 0.16} if rows == 1 else {"top": 0.91, "bottom": 0.09}
    canvas.subplots_adjust(left=0.09, right=0.985, wspace=0.08, hspace=0.16, **space)
    for axes, name in zip(panels.flat, names, strict=False):
        for method, look in method_looks().items():
            line = table.only(correlation=name, method=method)
            if len(line):
                ribbon(axes, line, "samples", "loss", METHODS[method], **look)
        for method, look in method_looks().items() if published else ():
            losses = dict(zip(PUBLISHED_SAMPLES, CORRELATED.get((name, method), ()), strict=False))
            shared = [n for n in losses if n in table["samples"]]
            if shared:
                draw_published(axes, shared, [losses[n] for n in shared], look)
        axes.set_title(_units_in_words(name), fontsize=12)
        powers_of_ten(axes, "y")
        counts(axes, sorted(table.by("samples")))
    _label(panels, "main-task samples", "test loss")
    draw_legend(canvas, panels[0, 0])


def _units_in_words(cosines: str) -> str:
    """Say how many units of the main teacher are known (cosine 1 with an auxiliary one), alike, or new (cosine 0).

    >>> _units_in_words("1 x 5, 0"), _units_in_words("0.9 x 6"), _units_in_words("1 x 2, 0.9 x 2, 0 x 2")
    ('5 known units, 1 new', '6 units of cosine 0.9', '2 known, 2 of cosine 0.9, 2 new')
    """
    pairs = [pair.partition(" x ")[::2] for pair in cosines.split(", ")]
    kinds = [(number or "1", {"1": "known", "0": "new"}.get(cosine, f"of cosine {cosine}")) for cosine, number in pairs]
    if len(kinds) < 3:  # there is room for a noun
        number, kind = kinds[0]
        kinds[0] = (number, f"units {kind}" if kind.startswith("of") else f"{kind} units")
    return ", ".join(" ".join(words) for words in kinds)


def _label(panels: Any, x: str, y: str) -> None:
    """Name the axes once per column and once per row."""
    for axes in panels[-1]:
        axes.set_xlabel(x)
    for axes in panels[:, 0]:
        axes.set_ylabel(y)


def _say_relu(table: Table) -> str:
    """Compare MTL and PT+FT at the first condition that has both; runs that were stopped early may lack some."""
    for row in table.only(method="mtl").rows():
        tuned = table.only(method="pt+ft", correlation=row["correlation"], samples=row["samples"])
        if len(tuned):
            return (
                f"Test loss by samples and method; with {_units_in_words(row['correlation'])} and {row['samples']} "
                f"samples MTL has {10 ** row['loss']:.1e} and PT+FT {10 ** float(tuned['loss'][0]):.1e}."
            )
    return "Test loss by samples and method."


# ---------------------------------------------------------------------------- number of units

#: Methods that know no scaling, in words; PT+FT has a line for each.
UNSCALED = {"mtl": "MTL", "stl": "single task"}


def _units_table(results: Mapping[str, Evidence]) -> Table:
    rows = by_samples(logarithms(results["relu-units"].table))
    return over_seeds(rows, ("samples", "cosine", "method", "scaling", "units"), ("loss",))


def _draw_units(canvas: Canvas, table: Table) -> None:
    samples, cosines = (sorted(table.by(name), reverse=True) for name in ("samples", "cosine"))
    grown(canvas, len(samples))
    panels = canvas.subplots(len(samples), len(cosines), sharex=True, sharey=True, squeeze=False)
    space: dict[str, float] = {"top": 0.88, "bottom": 0.17} if len(samples) == 1 else {"top": 0.94, "bottom": 0.1}
    canvas.subplots_adjust(left=0.09, right=0.79, wspace=0.08, hspace=0.22, **space)
    for axes, (n, cosine) in zip(panels.flat, product(samples, cosines), strict=True):
        _units_lines(axes, table.only(samples=n, cosine=cosine))
        axes.set(title=f"{'Known' if cosine == 1 else 'New'} units, {n} samples")
        axes.set_xticks(sorted(table.by("units")))
        powers_of_ten(axes, "y")
    _label(panels, "units of the main teacher", "test loss")
    draw_legend(canvas, panels[0, 0], (0.795, space["top"]), fontsize=11, ncols=1)


def _units_lines(axes: Any, table: Table) -> None:
    tuned = table.only(method="pt+ft").by("scaling")
    for m, look in shades(tuned).items():
        ribbon(axes, tuned[m], "units", "loss", f"PT+FT, {power(m)} x", **look)
    for (method, word), dash, marker in zip(UNSCALED.items(), ("-", ":"), "Px", strict=True):
        line = table.only(method=method)
        if len(line):
            ribbon(axes, line, "units", "loss", word, color="0.45", linestyle=dash, marker=marker)
    if 64 in table["samples"]:
        _published_units(axes, table, {**{("pt+ft", m): look for m, look in shades(tuned).items()}})


def _published_units(axes: Axes, table: Table, looks: dict[tuple[str, float], dict[str, Any]]) -> None:
    """Draw published losses of PT+FT with 64 samples."""
    cosine, numbers = float(table["cosine"][0]), sorted(table.by("units"))
    for (method, m), look in looks.items():
        losses = UNIT_LOSSES.get((cosine, method, m))
        if losses:
            draw_published(axes, numbers, [losses[count - 1] for count in numbers], look)


def _say_units(table: Table) -> str:
    top = table.only(method="pt+ft", scaling=1.0, cosine=1.0, samples=int(table["samples"].max()))
    if not len(top):
        return "Test loss by number of units."
    fewest, largest = top["units"].argmin(), top["units"].argmax()
    ends = [
        f"{10 ** top['loss'][at]:.0e} with {several(int(top['units'][at]), 'known unit')}" for at in (fewest, largest)
    ]
    return f"Test loss by number of units; PT+FT has {' and '.join(dict.fromkeys(ends))}."


# ---------------------------------------------------------------------------- magnitude of the main task


def _magnitude_table(results: Mapping[str, Evidence]) -> Table:
    """Losses over the power of the targets: those of small targets are small whatever is learned."""
    rows = results["relu-magnitude"].table
    columns = {name: rows[name] for name in ("method", "cosine", "magnitude")}
    relative = Table({"samples": rows["n"], **columns, "relative loss": rows["loss"] / rows["power"]})
    return over_seeds(logarithms(relative, "relative loss"), ("samples", *columns), ("relative loss",))


def _draw_magnitude(canvas: Canvas, table: Table) -> None:
    samples, looks = sorted(table.by("samples")), shades(table.by("cosine"))
    panels = canvas.subplots(1, len(samples), sharex=True, sharey=True, squeeze=False)
    canvas.subplots_adjust(left=0.09, right=0.79, top=0.9, bottom=0.17, wspace=0.08)
    lowest = min(looks)
    for axes, n in zip(panels.flat, samples, strict=True):
        for cosine, look in looks.items():
            line = table.only(samples=n, method="pt+ft", cosine=cosine)
            ribbon(axes, line, "magnitude", "relative loss", f"PT+FT, cosine {cosine:g}", **look)
            _published_magnitudes(axes, (cosine, "pt+ft", int(n)), look)
        single_task = table.only(samples=n, method="stl", cosine=lowest)
        if len(single_task):
            look = {"color": "0.45", "linestyle": ":", "marker": "x"}
            ribbon(axes, single_task, "magnitude", "relative loss", f"single task, cosine {lowest:g}", **look)
            _published_magnitudes(axes, (lowest, "stl", int(n)), look)
        axes.set(title=f"{n} samples")
        powers_of_ten(axes, "x", "y")
    _label(panels, "magnitude of the main task", "test loss / power of targets")
    layout: dict[str, Any] = {"frameon": False, "fontsize": 11, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    panels[0, -1].legend(*named_lines(panels[0, -1]), **layout, handlelength=2.4)


def _published_magnitudes(axes: Axes, condition: tuple[float, str, int], look: dict[str, Any]) -> None:
    if condition in MAGNITUDE_LOSSES:
        draw_published(axes, MAGNITUDES, MAGNITUDE_LOSSES[condition], look)


def _say_magnitude(table: Table) -> str:
    tuned = table.only(method="pt+ft", cosine=0.9, samples=int(table["samples"].max()))
    if not len(tuned):
        return "Test loss over power by magnitude of the main task."
    ends = [10 ** float(tuned["relative loss"][tuned["magnitude"].argsort()[end]]) for end in (-1, 0)]
    return (
        "Test loss over power by magnitude of the main task; with features of cosine 0.9 PT+FT leaves "
        f"{ends[0]:.1e} at the largest and {ends[1]:.1e} at the smallest."
    )


FIGURES = (
    Plot(
        "relu",
        title="PT+FT gains most from similar features, MTL from known ones next to new ones",
        caption=(
            "A student network learns the outputs of a six-unit teacher. Test loss by samples and by how the six "
            "units of the main teacher relate to those of the auxiliary "
            "teacher: known units are the same (cosine 1), others have a cosine of 0.9 with one of them, new ones are "
            "at right angles (cosine 0). MTL learns at the published rate of 1; with up to 128 samples few of these "
            f"students converge. {BANDS} Probes and published losses are in a figure below."
        ),
        experiments=("relu-correlation",),
        table=lambda results: _relu_table(results, HEADLINE),
        draw=partial(_draw_relu, published=False),
        alternative=_say_relu,
        height=350,
    ),
    Plot(
        "relu-published",
        title="The same students with linear probes, beside published losses",
        caption=(
            "As in the headline figure; the linear probe fits readouts on pretrained units. "
            f"{BANDS} {GREY} Each has the shape of its line's marks."
        ),
        experiments=("relu-correlation",),
        table=_relu_table,
        draw=partial(_draw_relu, published=True),
        alternative=_say_relu,
        height=350,
    ),
    Plot(
        "relu-units",
        title="Few of the known units",
        caption=(
            "Test loss of ReLU students by how many units the main teacher has, all of them known from the auxiliary "
            "teacher or all new; pretrained weights times a factor before finetuning. Main readouts are 1 / units, so "
            f"that the power of the targets falls with them, as published. {BANDS} {GREY} They are shown for PT+FT."
        ),
        experiments=("relu-units",),
        table=_units_table,
        draw=_draw_units,
        alternative=_say_units,
        height=330,
    ),
    Plot(
        "relu-magnitude",
        title="Correlated features and the size of the task",
        caption=(
            "Test loss of ReLU students over the power of the targets, by cosine of the main teacher's units with the "
            f"auxiliary teacher's and by the factor on the main targets. {BANDS} Small grey marks: the authors' "
            "students, from their result file, which has one seed; they start from weights a thousand times smaller."
        ),
        experiments=("relu-magnitude",),
        table=_magnitude_table,
        draw=_draw_magnitude,
        alternative=_say_magnitude,
        height=350,
    ),
)
