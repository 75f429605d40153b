"""What the colours of the verdict map mean: tints of one blue, and the legend that explains them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.audit.pairs import Panel
from recombine.report.theme import HAIR, INK, PAPER, ink_on, symbol_marker
from recombine.verdicts import Verdict
from recombine.writing import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The palest tint of a share just above zero, or of the least sure step; the full colour means all, or surest.
PALEST = 0.18
#: How strongly grey lies on the paper where cells were seen: on white it is the verdict's colour, by night a dark grey.
_SEEN = (135, 146, 164, 0.45)
#: Boundaries between steps of sureness at most.
_MOST_STEPS = 5
LINE, _TEXT = 36.0, 11.5

Rgba = tuple[int, int, int, int]


def tint(strength: float) -> Rgba:
    """Return the colour of determined cells, laid on the paper with ``strength`` (0 to 1): pale on white, dim by night.

    Examples
    --------
    >>> tint(1.0)
    (0, 114, 178, 255)
    """
    red, green, blue = (int(Verdict.DETERMINED.colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue, round(255 * (PALEST + (1 - PALEST) * strength))


def verdict_tint(verdict: Verdict) -> Rgba:
    """Return the colour of a verdict's place."""
    if verdict is Verdict.SEEN:
        red, green, blue, strength = _SEEN
        return red, green, blue, round(255 * strength)
    red, green, blue = (int(verdict.colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue, 255


def mark_on(colour: Rgba) -> str:
    """Return the ink that reads on a place of ``colour``: the page's own where much of the paper shows through."""
    red, green, blue, opaque = colour
    if opaque < 204:
        return INK
    if opaque == 255 and f"#{red:02x}{green:02x}{blue:02x}" == Verdict.UNSEEN_LEVEL.colour:
        return PAPER
    share = opaque / 255
    return ink_on("#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in (red, green, blue)))


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
        known = [value for value in values if value == value and value > 0]
        low, high = (min(known), max(known)) if known else (1.0, 1.0)
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
    """One entry of the legend: its width, and what draws it from a left edge and a top."""

    width: float
    draw: Callable[[Axes, float, float], None]


def legend_entries(shown: Sequence[Panel], steps: SureSteps | None, what: str) -> list[LegendEntry]:
    """Return what explains the panels ``shown``; ``what`` is the quantity behind ``steps``."""
    single, entries = shown[0].single, []
    if steps is not None:
        entries += [_words_alone(what), _steps(steps)]
    elif not single:
        entries.append(_scale())
    for verdict in Verdict:
        found = any((panel.leading == verdict).any() for panel in shown)
        if found and (verdict is not Verdict.DETERMINED or (single and steps is None)):
            entries.append(_swatch(_words(verdict, single), verdict))
    if any(panel.unsampled.any() for panel in shown):
        entries.append(_swatch("not sampled"))
    elif any(panel.impossible.any() for panel in shown):
        entries.append(_swatch("cannot exist"))
    if not single and not any(panel.row.binned or panel.column.binned for panel in shown):
        entries.append(LegendEntry(14 + _wide("pair seen"), _pair_seen))
    return entries


def placed(entries: Iterable[LegendEntry], width: float) -> list[tuple[LegendEntry, float, float]]:
    """Set entries side by side while they fit into ``width``, then start a new line; return each with left and top."""
    found, left, top = [], 1.0, 0.0
    for entry in entries:
        if left > 1 and left + entry.width > width:
            left, top = 1.0, top + LINE * 0.8
        found.append((entry, left, top))
        left += entry.width + 16
    return found


def _wide(text: str) -> float:
    return 6.6 * len(text)


def _words(verdict: Verdict, single: bool) -> str:
    if single:
        return verdict.word
    return "all seen" if verdict is Verdict.SEEN else f"none determined: {verdict.word}"


def _swatch(text: str, verdict: Verdict | None = None) -> LegendEntry:
    def draw(axes: Axes, left: float, top: float) -> None:
        if verdict is None:
            _patch(axes, left, top, None)
        else:
            colour = verdict_tint(verdict)
            _patch(axes, left, top, colour)
            size = 7.0 if verdict is not Verdict.SEEN else 2.6
            axes.plot([left + 7], [top + 13], marker=symbol_marker(verdict), ms=size, mec="none", mfc=mark_on(colour))
        _say(axes, left + 20, top + 13, text)

    return LegendEntry(20 + _wide(text), draw)


def _pair_seen(axes: Axes, left: float, top: float) -> None:
    axes.plot([left + 4], [top + 13], marker="o", ms=5, mec="none", mfc=INK)
    _say(axes, left + 14, top + 13, "pair seen")


def _scale() -> LegendEntry:
    """The scale of shares."""
    steps, wide, text = 10, 8.0, "share of unseen determined"

    def draw(axes: Axes, left: float, top: float) -> None:
        for step in range(steps):
            _patch(axes, left + wide * step, top, tint((step + 1) / steps), wide)
        _say(axes, left + wide * steps + 6, top + 13, text)
        for edge, mark in ((0, "few"), (steps, "all")):
            _say(axes, left + wide * edge, top + 27, mark, 10, "left" if not edge else "right")

    return LegendEntry(wide * steps + 6 + _wide(text), draw)


def _words_alone(text: str) -> LegendEntry:
    return LegendEntry(_wide(text), lambda axes, left, top: _say(axes, left, top + 13, text))


def _steps(steps: SureSteps) -> LegendEntry:
    """The scale of sureness, its bounds written under it."""
    marks = [number(bound, 2) for bound in steps.bounds]
    wide = max(24.0, 6.6 * max(map(len, marks)) + 6)
    count = len(marks) + 1

    def draw(axes: Axes, left: float, top: float) -> None:
        for step in range(count):
            _patch(axes, left + wide * step, top, tint(steps.strength(step)), wide)
        for place, mark in enumerate(marks, 1):
            _say(axes, left + wide * place, top + 27, mark, 10, "center")

    return LegendEntry(wide * count, draw)


def _patch(axes: Axes, left: float, top: float, colour: Rgba | None, wide: float = 14) -> None:
    """Draw a piece of a place; without a colour, a piece of blank paper."""
    from matplotlib.patches import Rectangle

    box = partial(Rectangle, (left, top + 6), wide, 14)
    if colour is None:
        axes.add_patch(box(facecolor=PAPER, edgecolor=HAIR, linewidth=0.6))
    else:
        opaque = tuple(part / 255 for part in colour)
        axes.add_patch(box(facecolor=opaque, edgecolor="none"))


def _say(axes: Axes, left: float, top: float, text: str, size: float = _TEXT, side: str = "left") -> None:
    axes.text(left, top, text, va="center", ha=side, fontsize=size, color=INK)
