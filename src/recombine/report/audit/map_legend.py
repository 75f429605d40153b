"""What the colours of the verdict map mean: tints of one blue, and the legend that explains them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report.theme import HAIR, INK, PAPER, ink_on, rgb, symbol_marker
from recombine.verdicts import Verdict
from recombine.words.captions import SHARE_DETERMINED
from recombine.writing import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recombine.jobs.audit.pairs import Panel

#: The palest tint of a share just above zero, or of the least sure step; the full colour means all, or surest.
PALEST_SHARE = 0.18
#: How strongly grey lies on the paper where cells were seen: on white it is the verdict's colour, by night a dark grey.
_SEEN = (135, 146, 164, round(255 * 0.45))
#: Boundaries between steps of sureness at most.
_MOST_STEPS = 5
#: Height of a line and width of a letter, in pixels.
LINE_HEIGHT_PX, _LETTER = 36.0, 6.6

Rgba = tuple[int, int, int, int]


def tint(strength: float) -> Rgba:
    """Return the colour of determined cells, laid on the paper with ``strength`` (0 to 1): pale on white, dim by night.

    Examples
    --------
    >>> tint(1.0)
    (0, 114, 178, 255)
    """
    return *rgb(Verdict.DETERMINED.colour), round(255 * (PALEST_SHARE + (1 - PALEST_SHARE) * strength))


def verdict_tint(verdict: Verdict) -> Rgba:
    """Return the colour of a verdict's place."""
    return _SEEN if verdict is Verdict.SEEN else (*rgb(verdict.colour), 255)


def mark_on(colour: Rgba) -> str:
    """Return the ink that reads on a place of ``colour``: the page's own where much of the paper shows through."""
    red, green, blue, opaque = colour
    if opaque < 204:
        return INK
    if opaque == 255 and f"#{red:02x}{green:02x}{blue:02x}" == Verdict.UNSEEN_LEVEL.colour:
        return PAPER
    share = opaque / 255
    return ink_on("#" + "".join(f"{round(255 + share * (channel - 255)):02x}" for channel in (red, green, blue)))


@dataclass(frozen=True)
class SureSteps:
    """Steps from sure to unsure: ``bounds`` between them, in the order of the values.

    Examples
    --------
    >>> steps = SureSteps.of([0.4, 1.2, 3.0, 14.0])
    >>> steps.bounds, [steps.step(value) for value in (0.4, 1.2, 14.0)]
    ((0.5, 1.0, 2.0, 5.0, 10.0), [0, 2, 5])
    >>> SureSteps.of([2.0, 2.0, 2.01]).bounds
    ()
    """

    bounds: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> SureSteps:
        """Choose round bounds for ``values``; none where these hardly differ."""
        positive = [value for value in values if value == value and value > 0] or [1.0]
        low, high = min(positive), max(positive)
        if high < 1.05 * low:
            return cls(())
        ticks = _decades(low, high) if high >= 5 * low else _even(low, high)
        inside = [tick for tick in ticks if low < tick < high]
        thin = -(-len(inside) // _MOST_STEPS) or 1
        return cls(tuple(inside[::thin]))

    def step(self, value: float) -> int:
        """Return the step of ``value``, 0 for the surest."""
        return int(np.searchsorted(self.bounds, value, side="right"))

    def strength(self, step: int) -> float:
        """Return how strongly a step is coloured, from 1 (surest) to 0."""
        return 1 - step / max(len(self.bounds), 1)


def _decades(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten between two numbers."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    return [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]


def _even(low: float, high: float) -> list[float]:
    """Return round numbers at equal distances."""
    from matplotlib.ticker import MaxNLocator

    return [float(f"{tick:.10g}") for tick in MaxNLocator(_MOST_STEPS).tick_values(low, high)]


@dataclass(frozen=True)
class LegendEntry:
    """One entry of the legend: patches of colour (None: blank paper), a mark on the first, a text behind them.

    ``labels`` stand below the patches: how many patches to their left, the text, and how it is aligned there.
    """

    text: str = ""
    colours: Sequence[Rgba | None] = ()
    patch_width: float = 14.0
    verdict: Verdict | None = None
    dot: bool = False
    labels: Sequence[tuple[int, str, str]] = ()

    @property
    def _indent(self) -> float:
        """Room that is taken before the text."""
        return 14.0 if self.dot else self.patch_width * len(self.colours) + 6 * bool(self.colours and self.text)

    @property
    def width(self) -> float:
        """Room that the entry takes, in pixels."""
        return self._indent + _LETTER * len(self.text)

    def draw(self, axes: Axes, x: float, top: float) -> None:
        """Draw the entry from a left edge and a top."""
        from matplotlib.patches import Rectangle

        for step, colour in enumerate(self.colours):
            look: dict[str, Any] = {"facecolor": PAPER, "edgecolor": HAIR, "linewidth": 0.6}
            if colour is not None:
                look = {"facecolor": tuple(channel / 255 for channel in colour), "edgecolor": "none"}
            axes.add_patch(Rectangle((x + self.patch_width * step, top + 6), self.patch_width, 14, **look))
        if self.verdict is not None:
            size, ink = 2.6 if self.verdict is Verdict.SEEN else 7.0, mark_on(verdict_tint(self.verdict))
            axes.plot([x + 7], [top + 13], marker=symbol_marker(self.verdict), ms=size, mec="none", mfc=ink)
        if self.dot:
            axes.plot([x + 4], [top + 13], marker="o", ms=5, mec="none", mfc=INK)
        axes.text(x + self._indent, top + 13, self.text, va="center", fontsize=11.5, color=INK)
        for step, text, side in self.labels:
            axes.text(x + self.patch_width * step, top + 27, text, va="center", ha=side, fontsize=10, color=INK)


def legend_entries(shown: Sequence[Panel], steps: SureSteps | None, what: str) -> list[LegendEntry]:
    """Return what explains the panels ``shown``; ``what`` is the quantity behind ``steps``."""
    single, entries = shown[0].single, []
    if steps is not None:
        entries += [LegendEntry(what), _steps(steps)]
    elif not single:
        shades = [tint(step / 10) for step in range(1, 11)]
        entries.append(LegendEntry(SHARE_DETERMINED, shades, 8.0, labels=[(0, "few", "left"), (10, "all", "right")]))
    for verdict in Verdict:
        present = any((panel.leading == verdict).any() for panel in shown)
        if present and (verdict is not Verdict.DETERMINED or (single and steps is None)):
            entries.append(LegendEntry(_place_words(verdict, single), [verdict_tint(verdict)], verdict=verdict))
    if any(panel.unsampled.any() for panel in shown):
        entries.append(LegendEntry("not sampled", [None]))
    elif any(panel.impossible.any() for panel in shown):
        entries.append(LegendEntry("cannot exist", [None]))
    if not single and not any(panel.row.binned or panel.column.binned for panel in shown):
        entries.append(LegendEntry("pair seen", dot=True))
    return entries


def _steps(steps: SureSteps) -> LegendEntry:
    """The scale of sureness, its bounds written under it."""
    bounds = [number(bound, 2) for bound in steps.bounds]
    shades = [tint(steps.strength(step)) for step in range(len(bounds) + 1)]
    width = max(24.0, _LETTER * max(map(len, bounds)) + 6)
    return LegendEntry("", shades, width, labels=[(step, text, "center") for step, text in enumerate(bounds, 1)])


def _place_words(verdict: Verdict, single: bool) -> str:
    if single:
        return verdict.word
    return "all seen" if verdict is Verdict.SEEN else f"none determined: {verdict.word}"


def placed(entries: Iterable[LegendEntry], width: float) -> list[tuple[LegendEntry, float, float]]:
    """Set entries side by side while they fit into ``width``, then start a new line; return each with left and top."""
    positions, x, top = [], 1.0, 0.0
    for entry in entries:
        if x > 1 and x + entry.width > width:
            x, top = 1.0, top + LINE_HEIGHT_PX * 0.8
        positions.append((entry, x, top))
        x += entry.width + 16
    return positions
