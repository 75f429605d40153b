"""Plots for a notebook or a paper: an audit's map, a plan's gains and a score's errors, drawn into matplotlib axes."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recombine import words
from recombine.errors import InputError
from recombine.jobs.score.causes import CAUSES
from recombine.report.audit.map_legend import Rgba, legend_entries, mark_on, tint, verdict_tint
from recombine.report.audit.verdict_map import (
    NAME_WIDTH,
    PanelBox,
    VerdictMap,
    draw_panel,
    is_nameable,
    place_colours,
    spread_of,
)
from recombine.report.score.figures import BAR_HEIGHT_PX, CausesFigure, PredictionsFigure
from recombine.report.theme import (
    HAIR,
    PAPER,
    PIXELS_PER_INCH,
    POINT,
    SOFT,
    WIDTH,
    inches,
    ink_on,
    shorten,
    symbol_marker,
    theme,
)
from recombine.words import captions
from recombine.writing import listing, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.pairs import Panel
    from recombine.jobs.score import Score

#: Room for the names of levels, for the legend beside a map, and for the map; the height of a bar.
_NAMES_PX, _LEGEND_PX, _MAP_PX, _PLACE_PX, _BAR_PX = 110.0, 200.0, 520.0, 26.0, 30.0


@contextmanager
def drawing_on(axes: Axes | None, size: tuple[float, float]) -> Iterator[Axes]:
    """Give axes to draw on: those of the reader with the reader's look, or new ones of ``size`` inches with ours.

    Examples
    --------
    >>> with drawing_on(None, (3, 2)) as axes:
    ...     axes.figure.get_size_inches().tolist()
    [3.0, 2.0]
    """
    if axes is not None:
        yield axes
        return
    from matplotlib import pyplot

    with theme():
        yield pyplot.subplots(figsize=size, layout="constrained", dpi=2 * PIXELS_PER_INCH)[1]


def plot_audit(audit: Audit, ax: Axes | None = None, factors: Sequence[str] | None = None) -> Axes:
    """Draw the map of verdicts of one pair of factors.

    Examples
    --------
    >>> import recombine as rc
    >>> axes = plot_audit(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('shape', 'colour')
    """
    chart = VerdictMap(audit)
    panel = map_panel(chart, factors)
    rows, columns = panel.counts.shape[:2]
    side = min(_PLACE_PX, _MAP_PX / max(rows, columns))
    size = inches(columns * side + _NAMES_PX + _LEGEND_PX, max(rows * side, 150.0) + _NAMES_PX)
    with drawing_on(ax, size) as axes:
        draw_map_panel(chart, axes, panel)
        handles, labels = _legend(chart, panel)
        title = chart.quantity if chart.steps is not None else None if panel.single else captions.SHARE_DETERMINED
        placing: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "alignment": "left"}
        axes.legend(handles, labels, title=title, frameon=False, borderaxespad=0, **placing)
    return axes


def map_panel(chart: VerdictMap, factors: Sequence[str] | None = None) -> Panel:
    """Return the panel of a pair of factors; by default that whose places differ most."""
    if factors is None:
        return max(chart.all_panels, key=spread_of)
    for panel in chart.all_panels:
        if {panel.row.factor, panel.column.factor} == {*factors}:
            return panel
    names = listing(chart.audit.design.names)
    raise InputError(f"{listing(factors)} are not two factors of the map; choose two of {names}")


def draw_map_panel(chart: VerdictMap, axes: Axes, panel: Panel) -> None:
    """Draw one panel of a map, without a legend, into axes of any size."""
    rows, columns = panel.counts.shape[:2]
    pixel = PIXELS_PER_INCH / axes.figure.dpi
    size = axes.bbox.width * pixel / columns, axes.bbox.height * pixel / rows
    named = is_nameable(panel.row), is_nameable(panel.column) and size[0] >= NAME_WIDTH
    box = PanelBox(0, 0, size, columns, rows, 8.0, named)
    draw_panel(axes, panel, box, place_colours(panel, chart.steps), verdicts=chart.steps is None)
    for note in axes.texts:  # what runs along an axis without names is said by its label
        note.remove()
    labels = [
        shorten(axis.factor, 40) if shown else captions.axis_note(shorten(axis.factor), axis)
        for axis, shown in zip((panel.row, panel.column), named, strict=True)
    ]
    axes.set(title="", ylabel=labels[0], xlabel=labels[1])


def _legend(chart: VerdictMap, panel: Panel) -> tuple[list[Any], list[str]]:
    """Return what explains a map, as handles and labels; a verdict is its colour with its symbol on it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    labels: list[str] = []
    if chart.steps is not None:
        ends = [number(bound, 2) for bound in chart.steps.bounds]
        labels += [
            f"under {ends[0]}",
            *(f"{low} to {high}" for low, high in itertools.pairwise(ends)),
            f"over {ends[-1]}",
        ]
        handles += [Patch(color=_shade(tint(chart.steps.strength(step)))) for step in range(len(labels))]
    elif not panel.single:
        labels += ["all", "half", "few"]
        handles += [Patch(color=_shade(tint(share))) for share in (1.0, 0.5, 0.1)]
    for entry in legend_entries([panel], chart.steps, ""):
        marker: dict[str, Any] = {"linestyle": "none", "mec": "none"}
        if entry.verdict is not None:
            ink = mark_on(verdict_tint(entry.verdict))
            sign = Line2D([], [], marker=symbol_marker(entry.verdict), ms=6, mfc=ink, **marker)
            handles.append((Patch(color=_shade(verdict_tint(entry.verdict))), sign))
        elif entry.dot:
            handles.append(Line2D([], [], marker="o", ms=5, mfc=SOFT, **marker))
        elif list(entry.colours) == [None]:
            handles.append(Patch(facecolor=PAPER, edgecolor=HAIR))
        else:
            continue
        labels.append(entry.text)
    return handles, labels


def _shade(colour: Rgba) -> tuple[float, float, float, float]:
    red, green, blue, opacity = (channel / 255 for channel in colour)
    return red, green, blue, opacity


def plot_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw one bar per cell to collect, first on top; those that settle others and those that sharpen have own scales.

    Examples
    --------
    >>> import recombine as rc
    >>> axes = plot_plan(rc.audit(rc.Design.from_cells([[0, 0], [1, 1], [2, 1]])).plan(k=1))
    >>> [text.get_text() for text in axes.texts]
    ['2 other unseen cells become determined']
    """
    largest = {
        reason: max((pick.gain for pick in plan.picks if pick.reason == reason), default=0.0) for reason in _COLOURS
    }
    size = inches(820, _BAR_PX * max(len(plan.picks), 1) + 46)
    with drawing_on(ax, size) as axes:
        for row, pick in enumerate(plan.picks):
            length = pick.gain / largest[pick.reason] if largest[pick.reason] > 0 else 0.0
            axes.barh([row], [length], height=0.62, color=_COLOURS[pick.reason])
            text = shorten(words.plan.gain_text(plan, pick), 70)
            axes.annotate(text, (length, row), (6, 0), textcoords="offset points", va="center", color=SOFT)
        names = [f"{row}  {shorten(plan.design.label(pick.cell), 34)}" for row, pick in enumerate(plan.picks, 1)]
        axes.set_yticks(range(len(names)), names)
        axes.set(xlim=(0, 2.6), ylim=(max(len(names), 1) - 0.5, -0.5), xticks=[])
        axes.set_title(captions.PICKS)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for side in ("top", "right", "bottom"):
            axes.spines[side].set_visible(False)
        if not names:
            axes.text(0.02, 0, words.plan.plan_sentence(plan) or words.plan.NOTHING_TO_COLLECT, va="center", wrap=True)
    return axes


def plot_score(score: Score, ax: Axes | None = None) -> Axes:
    """Draw each model's error by cause, or where causes cannot be told apart, one model's predicted against observed.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> axes = plot_score(rc.score(design, {"net": design.held_out @ [1.0, 1.0]}))
    >>> [label.get_text() for label in axes.get_yticklabels()], axes.get_xlabel()
    (['net'], 'squared error on determined cells')
    """
    if score.regressors is None:
        scatter = PredictionsFigure(score)
        with drawing_on(ax, inches(420, 420)) as axes:
            scatter.draw_panel(axes, score.models[0])
        return axes
    from matplotlib.patches import Patch

    bars = CausesFigure(score)
    with drawing_on(ax, inches(WIDTH, 110 + BAR_HEIGHT_PX * len(score.models))) as axes:
        bars.draw_bars(axes, axes.bbox.width * PIXELS_PER_INCH / axes.figure.dpi)
        causes = [CAUSES[name] for name in CAUSES.names if any(name in model.causes for model in score.models)]
        handles = [
            Patch(label=cause.name, facecolor=cause.colour, hatch=cause.hatch, edgecolor=ink_on(cause.colour))
            for cause in causes
        ]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)
    return axes


#: Colour of a bar by what the cell is for.
_COLOURS = {"connect": POINT, "sharpen": "#8aa9bd"}
