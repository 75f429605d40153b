"""The verdict map: a grid of levels by levels, one place per cell (two factors) or pair of levels (more)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.jobs.audit import pairs
from recombine.report.audit import map_legend
from recombine.report.audit.map_legend import Rgba, SureSteps, mark_on, tint, verdict_tint
from recombine.report.figure import Figure
from recombine.report.theme import PAPER, PIXELS_PER_INCH, SOFT, shorten, symbol_marker, text_width
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words import captions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.pairs import Axis, MappedCells, Panel, Sureness

#: Pairs shown at most: those whose map varies most.
MOST_PANELS = 6
#: Axes with more levels than this carry no names (the table beside the figure has them).
MOST_NAMES = 48
#: Names need a place at least this wide.
NAME_WIDTH = 11.0
#: Symbols are drawn in grids up to this many places; in larger ones they would be specks.
MOST_SYMBOLS = 1_000
#: Places are at most this large; bins, whose number says little, fill a grid of about this width.
LARGEST_PLACE_PX, BINNED_WIDTH, TALLEST_PX = 26.0, 320.0, 620.0
_TITLE, _GAP, _LETTER, _NOTE = 28.0, 26.0, 7.0, 17.0


@dataclass(frozen=True)
class PanelBox:
    """Where a panel stands, in pixels from the top left: the grid itself and the room around it."""

    left: float
    top: float
    place: tuple[float, float]
    columns: int
    rows: int
    below: float
    named: tuple[bool, bool]

    @property
    def width(self) -> float:
        """Width of the grid."""
        return self.columns * self.place[0]

    @property
    def height(self) -> float:
        """Height of the grid."""
        return self.rows * self.place[1]

    @property
    def bottom(self) -> float:
        """Where the room below the grid ends."""
        return self.top + self.height + self.below


class VerdictMap(Figure):
    """What the data say about every cell, as a map.

    Two factors give one grid, a place per cell. More factors give a grid for each pair of factors; a place then stands
    for all cells with those two levels and is shaded by the share of the unseen ones that are determined, with a dot
    where the pair was seen. Where all unseen cells are determined, it is shaded by how well their values are known.
    Levels that seen cells connect stand together, often seen ones first.

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
        return pairs.cells_to_map(self.audit.decided)

    @cached_property
    def sure(self) -> Sureness | None:
        """How well the values of unseen cells are known; None unless all of them are determined."""
        return pairs.sureness_of(self.audit.values, self.mapped)

    @cached_property
    def all_panels(self) -> list[Panel]:
        """One panel per pair of factors."""
        return pairs.panels(self.audit.decided, self.mapped, self.sure)

    @cached_property
    def shown(self) -> list[Panel]:
        """The panels that are drawn."""
        if len(self.all_panels) <= MOST_PANELS:
            return self.all_panels
        chosen = np.argsort([-spread_of(panel) for panel in self.all_panels], kind="stable")[:MOST_PANELS]
        return [self.all_panels[position] for position in sorted(chosen.tolist())]

    @cached_property
    def table(self) -> Table:
        """Verdict counts at every place of every pair."""
        return pairs.pair_table(self.all_panels)

    @cached_property
    def levels(self) -> Table:
        """Verdict counts of every level, in the order of the map."""
        return pairs.level_table(self.audit.decided, self.mapped)

    @property
    def single(self) -> bool:
        """Whether each place is one cell."""
        return self.shown[0].single

    @cached_property
    def steps(self) -> SureSteps | None:
        """The steps by which sureness is coloured; None where verdicts are, or where all is known equally well."""
        if self.sure is None:
            return None
        values = [panel.typical.reshape(-1) for panel in self.shown if panel.typical is not None]
        steps = SureSteps.of(np.concatenate(values).tolist())
        return steps if steps.bounds else None

    @property
    def tells(self) -> bool:
        """Whether the map shows more than a sentence says: not every unseen cell looks the same."""
        return self.steps is not None or bool((self.mapped.codes > Verdict.DETERMINED).any())

    @property
    def quantity(self) -> str:
        """What is coloured where every unseen cell is determined, in words."""
        if self.sure is not None and self.sure.what == "standard error":
            return f"standard error of {shorten(self.audit.design.outcome_column.name or 'the outcome', 20)}"
        return captions.LEVERAGE

    @property
    def alternative(self) -> str:
        """The map in a sentence."""
        shade = "" if self.steps is None else self.quantity
        return captions.map_alternative(map(_title, self.shown), self.mapped.codes, shade)

    def _draw(self) -> Canvas:
        entries, legend, boxes, height = self._layout()
        figure = self._canvas(height)
        for panel, box in zip(self.shown, boxes, strict=True):
            axes = _axes(figure, box.left, box.top, box.width, box.height)
            draw_panel(axes, panel, box, place_colours(panel, self.steps), verdicts=self.steps is None)
        axes = _axes(figure, 0, 0, self.width, legend)
        axes.set(xlim=(0, self.width), ylim=(legend, 0))
        axes.axis("off")
        for entry, x, top in entries:
            entry.draw(axes, x, top)
        return figure

    def _layout(self) -> tuple[list[Any], float, list[PanelBox], float]:
        """The legend's entries and height, where grids stand below it, and the height of all."""
        entries = map_legend.placed(map_legend.legend_entries(self.shown, self.steps, self.quantity), self.width)
        legend = entries[-1][2] + map_legend.LINE_HEIGHT_PX if entries else 0.0
        boxes = _boxes(self.shown, self.width, legend)
        return entries, legend, boxes, max(box.bottom for box in boxes) + 4

    def places(self, width: float) -> npt.NDArray[np.float64]:
        """Left, top, width and height of each grid in a drawing so many pixels wide, as shares of all; shape (P, 4)."""
        with self._laid_out(width):
            _, _, boxes, tall = self._layout()
        corners = np.array([(box.left, box.top, box.width, box.height) for box in boxes])
        return np.asarray(corners / (width, tall, width, tall))


def spread_of(panel: Panel) -> float:
    """Return how much places differ: in what is known of them, or in the share determined, weighted by unseen cells."""
    weight = panel.unseen / max(int(panel.unseen.sum()), 1)
    values = np.nan_to_num(panel.share if panel.typical is None else panel.typical)
    mean = float(np.sum(weight * values))
    return round(float(np.sum(weight * (values - mean) ** 2)), 9)


def _axes(figure: Canvas, x: float, top: float, width: float, height: float) -> Axes:
    wide, tall = figure.get_size_inches() * figure.dpi
    return figure.add_axes((x / wide, 1 - (top + height) / tall, width / wide, height / tall))


def _boxes(shown: list[Panel], width: float, legend: float) -> list[PanelBox]:
    """Set panels side by side while they fit, then start a new line."""
    boxes: list[PanelBox] = []
    cursor, top = 0.0, legend
    margin = max(_margin(panel, width) for panel in shown)
    for panel in shown:
        start = _margin(panel, width) if cursor else margin
        size = _place(panel, width - start)
        if boxes and cursor + start + panel.counts.shape[1] * size[0] > width:
            cursor, top, start = 0.0, max(box.bottom for box in boxes) + _GAP / 2, margin
            size = _place(panel, width - start)
        named = is_nameable(panel.row), is_nameable(panel.column) and size[0] >= NAME_WIDTH
        below = 8.0
        if named[1]:
            longest = max(map(text_width, _labels(panel.column, width)))
            below = 24.0 if _fits(longest, size[0]) else 12 + _LETTER * longest
        below += _NOTE * (2 - sum(named))
        rows, columns = panel.counts.shape[:2]
        box = PanelBox(cursor + start, top + _TITLE, size, columns, rows, below, named)
        boxes.append(box)
        notes = [6.2 * text_width(text) for text in _notes(panel, box)]
        cursor = box.left + max(box.width, 8.2 * text_width(_title(panel)), *notes) + _GAP
    return boxes


def _margin(panel: Panel, width: float) -> float:
    """Room for level names left of the grid, in pixels."""
    return 10 + _LETTER * max(map(text_width, _labels(panel.row, width))) if is_nameable(panel.row) else 2.0


def _title(panel: Panel, room: float = 400.0) -> str:
    """Return the two factors, short enough for so many pixels."""
    letters = min((room / 8.8 - 3) / 2, 18)
    return f"{shorten(panel.row.factor, letters)} × {shorten(panel.column.factor, letters)}"


def _labels(axis: Axis, width: float) -> list[str]:
    return [shorten(label, 18 if width > 600 else 12) for label in axis.labels]


def _fits(letters: float, width: float) -> bool:
    """Whether a name of so many letters fits under its place without being turned."""
    return _LETTER * letters + 2 <= width


def is_nameable(axis: Axis) -> bool:
    """Say whether the levels along an axis are named there."""
    return len(axis.labels) <= MOST_NAMES and not axis.binned


def _place(panel: Panel, room: float) -> tuple[float, float]:
    rows, columns = panel.counts.shape[:2]
    binned = panel.row.binned and panel.column.binned
    largest = min(BINNED_WIDTH / max(rows, columns), LARGEST_PLACE_PX) if binned else LARGEST_PLACE_PX
    width = min(largest, (room - 2) / columns)
    tall = max(width, 12.0) if is_nameable(panel.row) else width
    return width, min(tall, TALLEST_PX / rows)


def draw_panel(axes: Axes, panel: Panel, box: PanelBox, colours: npt.NDArray[np.uint8], *, verdicts: bool) -> None:
    """Draw one panel into axes; symbols of determined cells only where ``verdicts`` are what is coloured."""
    rows, columns = panel.counts.shape[:2]
    wide = float(axes.figure.get_size_inches()[0]) * PIXELS_PER_INCH  # type: ignore[union-attr]
    never = panel.leading == Verdict.UNSEEN_LEVEL
    image = colours.copy()
    image[never] = 0
    axes.imshow(image, interpolation="none", aspect="auto", extent=(0, columns, rows, 0))
    _fill(axes, never)
    axes.grid(visible=False)
    _separate(axes, panel, box)
    _mark(axes, panel, box, colours, verdicts)
    _name_levels(axes, panel, box, wide)
    axes.set_title(_title(panel, wide - box.left), pad=7)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, pad=4)


def place_colours(panel: Panel, steps: SureSteps | None) -> npt.NDArray[np.uint8]:
    """Return the colour of every place, shape (rows, columns, 4) with opacity last."""
    image = np.zeros((*panel.leading.shape, 4), dtype=np.uint8)
    for at in map(tuple, np.argwhere(panel.leading >= 0).tolist()):
        verdict, sureness = Verdict(int(panel.leading[at])), panel.typical
        if steps is not None and sureness is not None and verdict is Verdict.DETERMINED:
            value = float(sureness[at])
            image[at] = tint(steps.strength(steps.step(value))) if value == value else (0, 0, 0, 0)
        else:
            image[at] = _share_colour(panel, verdict, float(panel.share[at]))
    return image


def _share_colour(panel: Panel, verdict: Verdict, share: float) -> Rgba:
    if panel.single or np.isnan(share) or share == 0:
        return verdict_tint(verdict)
    # Twenty steps: finer shades cannot be told apart, and fewer colours make a smaller file.
    return tint(float(np.ceil(share * 20)) / 20 if share < 0.95 else float(np.floor(share * 20)) / 20)


def _fill(axes: Axes, mask: npt.NDArray[np.bool_]) -> None:
    """Draw places of unseen levels as shapes, whose colour can follow the page: near-black would vanish by night."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    shapes = []
    for row, line in enumerate(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8)):
        edges = np.flatnonzero(np.diff(line)).tolist()
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            corners = [(start, row), (stop, row), (stop, row + 1), (start, row + 1), (start, row)]
            shapes.append(Path(np.array(corners, dtype=float), closed=True))
    if shapes:
        look = {"facecolor": Verdict.UNSEEN_LEVEL.colour, "edgecolor": "none"}
        axes.add_patch(PathPatch(Path.make_compound_path(*shapes), **look))


def _separate(axes: Axes, panel: Panel, box: PanelBox) -> None:
    rows, columns = panel.counts.shape[:2]
    width = float(np.clip(min(box.place) / 14, 0.3, 1.2))
    axes.vlines(np.arange(columns + 1), 0, rows, colors=PAPER, linewidth=width)
    axes.hlines(np.arange(rows + 1), 0, columns, colors=PAPER, linewidth=width)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)


def _mark(axes: Axes, panel: Panel, box: PanelBox, colours: npt.NDArray[np.uint8], verdicts: bool) -> None:
    """Draw symbols: of every cell in a small grid, of seen pairs and of what is not determined in others."""
    size = min(box.place)
    if panel.single:
        if panel.leading.size <= MOST_SYMBOLS:
            for verdict in Verdict:
                # Where sureness is coloured, every other cell is determined; a disc on each would hide the colour.
                if verdicts or verdict is not Verdict.DETERMINED:
                    share = 0.5 if verdict is not Verdict.SEEN else 0.13
                    _symbols(axes, panel.leading == verdict, verdict, size * share)
        return
    seen = (panel.counts[:, :, Verdict.SEEN] > 0) & (not panel.row.binned) & (not panel.column.binned)
    inks = np.array([[mark_on(tuple(colour)) for colour in line] for line in colours.tolist()])
    for ink in np.unique(inks[seen]).tolist():
        _points(axes, seen & (inks == ink), "o", max(size * 0.3, 2.2), ink)
    if panel.leading.size <= MOST_SYMBOLS:
        for verdict in (Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL, Verdict.UNDECIDED, Verdict.BEYOND):
            _symbols(axes, (panel.share == 0) & (panel.leading == verdict) & ~seen, verdict, size * 0.5)


def _symbols(axes: Axes, mask: npt.NDArray[np.bool_], verdict: Verdict, size: float) -> None:
    _points(axes, mask, symbol_marker(verdict), size, mark_on(verdict_tint(verdict)))


def _points(axes: Axes, mask: npt.NDArray[np.bool_], marker: Any, size: float, colour: str) -> None:
    down, across = np.nonzero(mask)
    if len(down):
        axes.plot(across + 0.5, down + 0.5, linestyle="none", marker=marker, ms=size, mec="none", mfc=colour)


def _name_levels(axes: Axes, panel: Panel, box: PanelBox, wide: float) -> None:
    rows, columns = panel.counts.shape[:2]
    axes.set_xticks([])
    axes.set_yticks([])
    if box.named[0]:
        axes.set_yticks(np.arange(rows) + 0.5, _labels(panel.row, wide), fontsize=10.5)
    if box.named[1]:
        labels = _labels(panel.column, wide)
        # Anchored at the grid, so that the page's font may be wider or narrower than the one measured here.
        anchored: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
        turned = {} if _fits(max(map(text_width, labels)), box.place[0]) else anchored
        axes.set_xticks(np.arange(columns) + 0.5, labels, fontsize=11, **turned)
    start = box.height + box.below - _NOTE * (2 - sum(box.named))
    for line, text in enumerate(_notes(panel, box)):
        down = 1 - (start + _NOTE * (line + 0.5)) / box.height
        axes.text(0, down, text, transform=axes.transAxes, fontsize=11, color=SOFT, va="center", ha="left")


def _notes(panel: Panel, box: PanelBox) -> list[str]:
    """Say of axes without names what runs along them."""
    axes = [("across", panel.column, box.named[1]), ("down", panel.row, box.named[0])]
    return [f"{way}: {captions.axis_note(shorten(axis.factor), axis)}" for way, axis, named in axes if not named]
