"""What figures of images share: means over seeds beside the published ones, and lines that cannot hide each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.plots import DASHES, MARKS, palette
from recombine.lab.papers.seeds import over_seeds
from recombine.lab.worlds.images.sources import SOURCES
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Classifiers in words.
NAMES = {
    "network": "trained network",
    "group": "SVM-GLN",
    "published group": "SVM-GLN, groups as released",
    "effective": "SVM-L2 as defined",
    "published effective": "SVM-L2 by the released formula",
    "zeta": "L2 on zeta",
    "one-layer": "SVM in each context",
}
#: Which classifier a published one is drawn beside.
BESIDE = {"published group": "group"}
GREY = "0.55"
#: What a legend calls grey lines, and the mark it shows; lines themselves have that of ours.
SAME_MARKS = ("published, same marks", "o")
MEANS = "Mean and two standard errors over three seeds of contexts and first weights, which share the images."
PUBLISHED = "Grey: published, from the authors' result files."


def percent_over_seeds(rows: Table, keys: tuple[str, ...], names: tuple[str, ...], source: str) -> Table:
    """Return means over seeds, in percent, with a column that says whose they are; what has no limit is left out.

    Examples
    --------
    >>> rows = Table({"units": [10, 10], "error": [0.1, 0.3]})
    >>> percent_over_seeds(rows, ("units",), ("error",), "ours")
    source  units  error  error 2se  n
    ours    10     20.0   20.0       2
    """
    finite = rows.where(np.isfinite(rows["error"]))
    columns = {name: finite[name] for name in keys} | {name: 100 * finite[name] for name in names}
    means = over_seeds(Table(columns), keys, names)
    return Table({"source": [source] * len(means)} | {name: means[name] for name in means.columns})


def stacked(*tables: Table) -> Table:
    """Return the rows of tables with the same columns, one after the other; empty ones are skipped.

    Examples
    --------
    >>> len(stacked(Table({"a": [1]}), Table({"a": [2, 3]})))
    3
    """
    filled = [table for table in tables if len(table)]
    return Table({name: np.concatenate([table[name] for table in filled]) for name in filled[0].columns})


def published_beside(rows: Table, images: str) -> Table:
    """Return published rows under the names of the classifiers they stand beside; none where other images stood in.

    Examples
    --------
    >>> len(published_beside(Table({"classifier": ["published group"]}), "digits"))
    0
    """
    names = [BESIDE.get(name, name) for name in rows["classifier"].tolist()]
    renamed = Table({name: rows[name] for name in rows.columns} | {"classifier": names})
    return renamed.where(np.full(len(renamed), images == "mnist"))


def draw_series(
    axes: Axes,
    table: Table,
    key: str,
    column: str,
    names: Mapping[str, str],
    *,
    apart: float = 1.0,
    shift: float = 0.0,
    start: int = 0,
) -> None:
    """Draw one line per classifier over ``key`` with bars, and the published one in grey with the same mark.

    Lines are moved along the axis by a factor ``apart``, or by ``shift``, so that none hides another; ``start`` is the
    place of the first in the cycle of styles.
    """
    colours = palette()
    for order, (name, words) in enumerate(names.items(), start):
        offset = order - start - (len(names) - 1) / 2
        style: dict[str, Any] = {"marker": MARKS[order % len(MARKS)], "capsize": 2, "linewidth": 1.4, "markersize": 5}
        line = _sorted(table, key, classifier=name, source="published")
        if len(line):
            across = line[key] * apart**offset + shift * offset
            grey = style | {"color": GREY, "mfc": "white", "ls": ":", "zorder": 1, "linewidth": 1.0}
            axes.errorbar(across, line[column], np.nan_to_num(line[f"{column} 2se"]), **grey)
        line = _sorted(table, key, classifier=name, source="ours")
        if len(line):
            across = line[key] * apart**offset + shift * offset
            ours = style | {"color": colours[order % len(colours)], "ls": DASHES[order % len(DASHES)], "label": words}
            axes.errorbar(across, line[column], np.nan_to_num(line[f"{column} 2se"]), **ours)


def _sorted(table: Table, key: str, **chosen: Any) -> Table:
    line = table.only(**chosen)
    return line.where(np.argsort(line[key]))


def name_lines(
    canvas: Canvas,
    axes: Sequence[Axes],
    *,
    columns: int = 4,
    published: bool = True,
    grey: tuple[str, str] = SAME_MARKS,
) -> None:
    """Name every line of some panels once, above them, and what is grey."""
    from matplotlib.lines import Line2D

    legends = [panel.get_legend_handles_labels() for panel in axes]
    handles: dict[str, Any] = {
        label: line for lines, labels in legends for line, label in zip(lines, labels, strict=True)
    }
    if published:
        handles[grey[0]] = Line2D([], [], color=GREY, marker=grey[1], mfc="white", ls=":")
    style: dict[str, Any] = {"frameon": False, "fontsize": 10, "ncols": columns, "columnspacing": 1.2}
    canvas.legend(list(handles.values()), list(handles), loc="upper center", **style)


def units_axis(axes: Axes, units: Sequence[int], label: str = "hidden units") -> None:
    """Make the x axis logarithmic, with a tick at every number of units."""
    ticks = sorted(units)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(label)


def where(table: Table) -> str:
    """Return the title of the images that a table is about.

    Examples
    --------
    >>> where(Table({"images": ["mnist"]}))
    'MNIST'
    """
    return SOURCES[str(table["images"][0])].title
