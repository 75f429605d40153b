"""What figures share: bands over seeds, means of logarithms, and axes of powers of ten without raised exponents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.paper import Plot
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Dashes and marks in the order of the colour cycle, told apart in grey as well.
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
MARKS = "osD^"


def plot_of(
    name: str,
    reads: str,
    title: str,
    caption: str,
    draw: Callable[[Figure, Table], None],
    alternative: Callable[[Table], str],
    height: int = 340,
    choose: Callable[[Table], Table] = lambda rows: rows,
) -> Plot:
    """Return a figure of the rows of one experiment, or of what is chosen from them.

    Examples
    --------
    >>> plot_of("demo", "runs", "Demo", "", print, str).experiments
    ('runs',)
    """
    return Plot(name, title, caption, (reads,), lambda results: choose(results[reads].table), draw, alternative, height)


def palette() -> list[str]:
    """Return the colours of the theme's cycle, for series that skip or repeat some of them.

    Examples
    --------
    >>> len(palette()) > 3
    True
    """
    import matplotlib

    return list(matplotlib.rcParams["axes.prop_cycle"].by_key()["color"])


def power(value: float) -> str:
    """Return a power of ten in plain letters.

    Examples
    --------
    >>> [power(value) for value in (1e-6, 0.01, 1.0, 100.0, 1e4)]
    ['1e-6', '0.01', '1', '100', '1e4']
    """
    exponent = round(float(np.log10(value)))
    return f"{10.0**exponent:g}" if -3 < exponent < 4 else f"1e{exponent}"


def powers_of_ten(axes: Axes, *names: str, ticks: int = 7) -> None:
    """Make axes "x", "y" or both logarithmic, with ticks at powers of ten written plainly."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for name in names:
        getattr(axes, f"set_{name}scale")("log")
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(LogLocator(numticks=ticks))
        axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
        axis.set_minor_formatter(NullFormatter())
        axis.minorticks_off()
        low, high = (float(np.log10(end)) for end in getattr(axes, f"get_{name}lim")())
        if np.floor(high) < np.ceil(low):
            # No power of ten in sight: both neighbours, or the axis would have no number.
            getattr(axes, f"set_{name}lim")(10 ** np.floor(low), 10 ** np.ceil(high))


def counts(axes: Axes, values: list[int]) -> None:
    """Make the x axis logarithmic with ticks at whole numbers, as many of them written as fit."""
    axes.set_xscale("log")
    axes.set_xticks(values, _fitting(values, axes.get_window_extent().width))
    axes.xaxis.minorticks_off()


def _fitting(values: list[int], wide: float, digit: float = 7.5) -> list[str]:
    """Return numbers with a digit's room between them on a logarithmic axis ``wide`` pixels long, else empty labels.

    >>> _fitting([16, 32, 64, 128], 150), _fitting([16, 32, 64, 128], 70)
    (['16', '32', '64', '128'], ['16', '', '64', ''])
    """
    written, end = [], -np.inf
    scale = 0.9 * wide / max(float(np.log(max(values) / min(values))), 1e-9)  # a twentieth is left free at either end
    for value in values:
        middle, half = scale * float(np.log(value)), 0.5 * digit * len(str(value))
        written.append(f"{value}" if middle - half > end + digit else "")
        end = middle + half if written[-1] else end
    return written


def logarithms(rows: Table, column: str = "loss") -> Table:
    """Return rows with ``column`` as its decimal logarithm.

    Examples
    --------
    >>> logarithms(Table({"loss": [0.1, 0.001]}))["loss"].tolist()
    [-1.0, -3.0]
    """
    columns = {name: rows[name] for name in rows.columns}
    return Table({**columns, column: np.log10(np.maximum(rows[column], 1e-16))})


def by_samples(rows: Table) -> Table:
    """Return rows with the number of samples under "samples": a table of means uses "n" for the number of seeds.

    Examples
    --------
    >>> by_samples(Table({"n": [16], "loss": [0.1]})).columns
    ['samples', 'loss']
    """
    return Table({"samples" if name == "n" else name: rows[name] for name in rows.columns})


def ribbon(axes: Axes, table: Table, across: str, value: str, label: str, **style: Any) -> None:
    """Draw a mean logarithm with its band on a logarithmic axis."""
    order = np.argsort(table[across])
    x, y, half = table[across][order], table[value][order], np.nan_to_num(table[f"{value} 2se"][order])
    (curve,) = axes.plot(x, 10**y, label=label, **style)
    axes.fill_between(x, 10 ** (y - half), 10 ** (y + half), color=curve.get_color(), alpha=0.15, lw=0)


def points(
    axes: Axes, table: Table, across: str, value: str, colour: Any, marker: str = "o", *, fill: str = "full"
) -> None:
    """Draw mean logarithms with error bars on a logarithmic axis; `mark` says what ``fill`` is."""
    half = np.nan_to_num(table[f"{value} 2se"])
    middle = table[value]
    bars = [10**middle - 10 ** (middle - half), 10 ** (middle + half) - 10**middle]
    style: dict[str, Any] = {"linestyle": "", "color": colour, "marker": marker, "capsize": 3, "markersize": 7}
    axes.errorbar(table[across], 10**middle, bars, **style, **mark(colour, fill))


def mark(colour: Any, fill: str) -> dict[str, Any]:
    """Return the style of a mark that is "full", "left" (half) or "none".

    Examples
    --------
    >>> mark("black", "none")["markerfacecolor"]
    'none'
    """
    empty = {"markerfacecoloralt": "white", "markeredgewidth": 1.6}
    return {
        "fillstyle": "full" if fill == "none" else fill,
        "markerfacecolor": "none" if fill == "none" else colour,
    } | empty


def grown(canvas: Figure, rows: int) -> None:
    """Make room for so many rows of panels on a canvas that was planned for one."""
    canvas.set_figheight(canvas.get_figheight() * (0.25 + 0.75 * rows))


def draw_band(axes: Axes, line: Table, across: str, name: str, label: str) -> None:
    """Draw the mean ``name`` over ``across`` with a band of two standard errors."""
    order = np.argsort(line[across])
    middle, half = line[name][order], np.nan_to_num(line[f"{name} 2se"][order])
    stride = 0.12 if len(line) > 12 else 1
    (curve,) = axes.plot(line[across][order], middle, label=label, markevery=stride)
    axes.fill_between(line[across][order], middle - half, middle + half, color=curve.get_color(), alpha=0.15, lw=0)
