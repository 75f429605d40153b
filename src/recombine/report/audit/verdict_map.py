"""The verdict map: a grid of levels by levels, one place per cell (two factors) or pair of levels (more)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.jobs.audit.pairs import Axis, MappedCells, Panel, cells_to_map, level_table, pair_table, panels
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, PAPER, SOFT, WIDTH, inches, ink_on, shorten, symbol_marker, text_width
from recombine.tables.table import Table
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit

#: Pairs shown at most: those whose map varies most.
MOST_PANELS = 6
#: Axes with more levels than this carry no names (the table beside the figure has them).
MOST_NAMES = 48
#: Symbols are drawn in grids up to this many places; in larger ones they would be specks.
MOST_SYMBOLS = 1_000
LARGEST_PLACE, LARGEST_BIN, TALLEST = 26.0, 10.0, 620.0
_TITLE, _LEGEND, _GAP, _LETTER = 28.0, 36.0, 26.0, 7.0
#: The palest tint of a share just above zero; the full colour means all.
_PALEST = 0.18


def share_colour(share: float) -> str:
    """Return the colour of a place of whose unseen cells ``share`` (0 to 1) are determined.

    Examples
    --------
    >>> share_colour(1.0) == Verdict.DETERMINED.colour
    True
    """
    amount = _PALEST + (1 - _PALEST) * share
    parts = [int(Verdict.DETERMINED.colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + amount * (part - 255)):02x}" for part in parts)


@dataclass(frozen=True)
class _Box:
    """Where a panel stands, in pixels from the top left: the grid itself and the room around it."""

    left: float
    top: float
    place: tuple[float, float]
    columns: int
    rows: int
    below: float

    @property
    def width(self) -> float:
        return self.columns * self.place[0]

    @property
    def height(self) -> float:
        return self.rows * self.place[1]

    @property
    def bottom(self) -> float:
        return self.top + self.height + self.below


class VerdictMap(Figure):
    """What the data say about every cell, as a map.

    Two factors give one grid, a place per cell. More factors give a grid for each pair of factors; a place then stands
    for all cells with those two levels and is shaded by the share of the unseen ones that are determined, with a dot
    where the pair was seen. Levels that seen cells connect stand together, often seen ones first.

    Parameters
    ----------
    audit : Audit

    Examples
    --------
    >>> import recombine as rc
    >>> chart = VerdictMap(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])))
    >>> int(chart.table["determined"].sum()), int(chart.table["seen"].sum())
    (1, 3)
    """

    name = "map"

    def __init__(self, audit: Audit) -> None:
        self.audit = audit

    @cached_property
    def mapped(self) -> MappedCells:
        """The cells that are counted."""
        return cells_to_map(self.audit)

    @cached_property
    def all_panels(self) -> list[Panel]:
        """One panel per pair of factors."""
        return panels(self.audit, self.mapped)

    @cached_property
    def shown(self) -> list[Panel]:
        """The panels that are drawn."""
        if len(self.all_panels) <= MOST_PANELS:
            return self.all_panels
        chosen = np.argsort([-_spread(panel) for panel in self.all_panels], kind="stable")[:MOST_PANELS]
        return [self.all_panels[place] for place in sorted(chosen.tolist())]

    @cached_property
    def table(self) -> Table:
        """Verdict counts at every place of every pair."""
        return pair_table(self.all_panels)

    @cached_property
    def levels(self) -> Table:
        """Verdict counts of every level, in the order of the map."""
        return level_table(self.audit, self.mapped)

    @property
    def single(self) -> bool:
        """Whether each place is one cell."""
        return self.shown[0].single

    @property
    def alternative(self) -> str:
        """The map in a sentence."""
        tally = np.bincount(self.mapped.codes, minlength=len(Verdict))
        parts = ", ".join(f"{int(tally[verdict]):,} {verdict.word}" for verdict in Verdict if tally[verdict])
        pairs = "; ".join(_title(panel) for panel in self.shown)
        return f"Verdict map of {pairs}. Cells counted: {parts}. The table below gives the counts for every level."

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        boxes = _boxes(self.shown)
        figure = Canvas(figsize=inches(WIDTH, max(box.bottom for box in boxes) + 4))
        for panel, box in zip(self.shown, boxes, strict=True):
            _draw_panel(_axes(figure, box.left, box.top, box.width, box.height), panel, box)
        _draw_legend(_axes(figure, 0, 0, WIDTH, _LEGEND), self)
        return figure


def _spread(panel: Panel) -> float:
    """How much the determined share differs from place to place, places weighted by their unseen cells."""
    weight = panel.unseen / max(int(panel.unseen.sum()), 1)
    share = np.nan_to_num(panel.share)
    mean = float(np.sum(weight * share))
    return round(float(np.sum(weight * (share - mean) ** 2)), 9)


def _axes(figure: Canvas, left: float, top: float, width: float, height: float) -> Axes:
    wide, tall = figure.get_size_inches() * figure.dpi
    return figure.add_axes((left / wide, 1 - (top + height) / tall, width / wide, height / tall))


def _boxes(shown: list[Panel]) -> list[_Box]:
    """Set panels side by side while they fit, then start a new line."""
    boxes: list[_Box] = []
    cursor, top = 0.0, _LEGEND
    margin = max(_room(panel)[0] for panel in shown)
    for panel in shown:
        left, below = _room(panel)
        left = left if cursor else margin
        place = _place(panel, left)
        if boxes and cursor + left + panel.counts.shape[1] * place[0] > WIDTH:
            cursor, top, left = 0.0, max(box.bottom for box in boxes) + _GAP / 2, margin
        box = _Box(cursor + left, top + _TITLE, place, panel.counts.shape[1], panel.counts.shape[0], below)
        boxes.append(box)
        cursor = box.left + max(box.width, 8.2 * text_width(_title(panel)), _footing(panel)) + _GAP
    return boxes


def _room(panel: Panel) -> tuple[float, float]:
    """Room for level names: left of the grid and below it, in pixels."""
    left = 10 + _LETTER * max(map(text_width, _labels(panel.row))) if _named(panel.row) else 22.0
    below = 12 + _LETTER * max(map(text_width, _labels(panel.column))) if _named(panel.column) else 24.0
    return left, below


def _title(panel: Panel) -> str:
    return f"{shorten(panel.row.factor, 28)} × {shorten(panel.column.factor, 28)}"


def _labels(axis: Axis) -> list[str]:
    return [shorten(label) for label in axis.labels]


def _footing(panel: Panel) -> float:
    return 0.0 if _named(panel.column) else 6.2 * text_width(_unnamed(panel.column))


def _named(axis: Axis) -> bool:
    return len(axis.labels) <= MOST_NAMES and not axis.binned


def _place(panel: Panel, left: float) -> tuple[float, float]:
    rows, columns = panel.counts.shape[:2]
    largest = LARGEST_BIN if panel.row.binned and panel.column.binned else LARGEST_PLACE
    width = min(largest, (WIDTH - left - 2) / columns)
    tall = max(width, 12.0) if _named(panel.row) else width
    return width, min(tall, TALLEST / rows)


def _draw_panel(axes: Axes, panel: Panel, box: _Box) -> None:
    rows, columns = panel.counts.shape[:2]
    axes.imshow(_colours(panel), interpolation="none", aspect="auto", extent=(0, columns, rows, 0))
    axes.grid(visible=False)
    _separate(axes, panel, box)
    _mark(axes, panel, box)
    _name_levels(axes, panel)
    axes.set_title(_title(panel), pad=7)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, pad=4)


def _colours(panel: Panel) -> npt.NDArray[np.uint8]:
    """Return the colour of every place, shape (rows, columns, 4) with opacity last."""
    image = np.zeros((*panel.leading.shape, 4), dtype=np.uint8)
    for down, across in np.argwhere(panel.leading >= 0).tolist():
        image[down, across] = _rgba(_colour(panel, down, across))
    return image


def _colour(panel: Panel, down: int, across: int) -> str:
    share = panel.share[down, across]
    if panel.single or np.isnan(share) or share == 0:
        return Verdict(int(panel.leading[down, across])).colour
    # Twenty steps: finer shades cannot be told apart, and fewer colours make a smaller file.
    return share_colour(float(np.ceil(share * 20)) / 20 if share < 0.95 else float(np.floor(share * 20)) / 20)


def _rgba(colour: str) -> tuple[int, int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16), 255


def _separate(axes: Axes, panel: Panel, box: _Box) -> None:
    rows, columns = panel.counts.shape[:2]
    width = float(np.clip(min(box.place) / 14, 0.3, 1.2))
    axes.vlines(np.arange(columns + 1), 0, rows, colors=PAPER, linewidth=width)
    axes.hlines(np.arange(rows + 1), 0, columns, colors=PAPER, linewidth=width)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)


def _mark(axes: Axes, panel: Panel, box: _Box) -> None:
    """Draw symbols: of every cell in a small grid, of seen pairs and of what is not determined in others."""
    size = min(box.place)
    if panel.single:
        if panel.leading.size <= MOST_SYMBOLS:
            for verdict in Verdict:
                _symbols(axes, panel.leading == verdict, verdict, size * (0.5 if verdict is not Verdict.SEEN else 0.13))
        return
    seen = (panel.counts[:, :, Verdict.SEEN] > 0) & (not panel.row.binned) & (not panel.column.binned)
    for ink in (INK, PAPER):
        _points(axes, seen & _inked(panel, ink), marker="o", size=max(size * 0.3, 2.2), colour=ink)
    if panel.leading.size <= MOST_SYMBOLS:
        for verdict in (Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL, Verdict.UNDECIDED):
            _symbols(axes, (panel.share == 0) & (panel.leading == verdict) & ~seen, verdict, size * 0.5)


def _inked(panel: Panel, ink: str) -> npt.NDArray[np.bool_]:
    """Say at which places ``ink`` is the one that reads."""
    where = np.zeros(panel.leading.shape, dtype=bool)
    for down, across in np.argwhere(panel.leading >= 0).tolist():
        where[down, across] = ink_on(_colour(panel, down, across)) == ink
    where[panel.leading < 0] = ink == INK  # on paper
    return where


def _symbols(axes: Axes, where: npt.NDArray[np.bool_], verdict: Verdict, size: float) -> None:
    _points(axes, where, marker=symbol_marker(verdict), size=size, colour=ink_on(verdict.colour))


def _points(axes: Axes, where: npt.NDArray[np.bool_], *, marker: Any, size: float, colour: str) -> None:
    down, across = np.nonzero(where)
    if len(down):
        axes.plot(across + 0.5, down + 0.5, linestyle="none", marker=marker, ms=size, mec="none", mfc=colour)


def _name_levels(axes: Axes, panel: Panel) -> None:
    rows, columns = panel.counts.shape[:2]
    axes.set_xticks([])
    axes.set_yticks([])
    if _named(panel.row):
        axes.set_yticks(np.arange(rows) + 0.5, _labels(panel.row), fontsize=10)
    else:
        axes.set_ylabel(_unnamed(panel.row), fontsize=11, color=SOFT)
    if _named(panel.column):
        # Anchored at the grid, so that the page's font may be wider or narrower than the one measured here.
        anchored: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
        axes.set_xticks(np.arange(columns) + 0.5, _labels(panel.column), fontsize=11, **anchored)
    else:
        axes.set_xlabel(_unnamed(panel.column), fontsize=11, color=SOFT, loc="left")


def _unnamed(axis: Axis) -> str:
    if axis.binned:
        return f"{shorten(axis.factor)}: {axis.levels:,} levels in {len(axis.labels)} bins"
    return f"{shorten(axis.factor)}: {axis.levels:,} levels, often seen ones first"


def _draw_legend(axes: Axes, chart: VerdictMap) -> None:
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(_LEGEND, 0)
    axes.axis("off")
    codes = [panel.leading for panel in chart.shown]
    cursor = 1.0 if chart.single else _scale(axes, 1.0)
    for verdict in Verdict:
        if any((found == verdict).any() for found in codes) and (chart.single or verdict is not Verdict.DETERMINED):
            cursor = _entry(axes, cursor, verdict, verdict.word if chart.single else _group_words(verdict))
    if any(panel.unsampled.any() for panel in chart.shown):
        cursor = _swatch(axes, cursor, PAPER, "not sampled")
    elif any(panel.impossible.any() for panel in chart.shown):
        cursor = _swatch(axes, cursor, PAPER, "cannot exist")
    if not chart.single and not any(panel.row.binned or panel.column.binned for panel in chart.shown):
        axes.plot([cursor + 4], [13], marker="o", ms=5, mec="none", mfc=INK)
        axes.text(cursor + 14, 13, "pair seen", va="center", fontsize=11.5, color=INK)


def _entry(axes: Axes, left: float, verdict: Verdict, text: str) -> float:
    """Draw one legend entry and return where the next one starts."""
    after = _swatch(axes, left, verdict.colour, text)
    size = 7.0 if verdict is not Verdict.SEEN else 2.6
    axes.plot([left + 7], [13], marker=symbol_marker(verdict), ms=size, mec="none", mfc=ink_on(verdict.colour))
    return after


def _swatch(axes: Axes, left: float, colour: str, text: str) -> float:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((left, 6), 14, 14, facecolor=colour, edgecolor=HAIR, linewidth=0.6))
    axes.text(left + 20, 13, text, va="center", fontsize=11.5, color=INK)
    return left + 20 + 6.8 * len(text) + 16


def _group_words(verdict: Verdict) -> str:
    return "all seen" if verdict is Verdict.SEEN else f"none determined: {verdict.word}"


def _scale(axes: Axes, left: float) -> float:
    """Draw the scale of shares and return where the next entry starts."""
    from matplotlib.patches import Rectangle

    steps, wide, text = 10, 9.0, "share of unseen cells determined (pale: few)"
    for step in range(steps):
        colour = share_colour((step + 1) / steps)
        axes.add_patch(Rectangle((left + wide * step, 6), wide, 14, facecolor=colour, edgecolor="none"))
    axes.text(left + wide * steps + 6, 13, text, va="center", fontsize=11.5, color=INK)
    return left + wide * steps + 6 + 6.6 * len(text) + 16
