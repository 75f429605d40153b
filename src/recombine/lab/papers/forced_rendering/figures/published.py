"""Forced rendering: numbers of the released files, which figures show in grey. The paper's text prints few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colour and mark of what was published; nothing measured here is grey.
GREY = "#8b929c"
STYLE: dict[str, Any] = {"color": GREY, "marker": "X", "markersize": 9, "linestyle": "none", "zorder": 1.5}
#: Error in the hole over that of a blank image, recorded in the demo notebooks: CNNs with ten layers, a hole of 9 x 9.
DEMO_DEPTH = 10
DEMO_ERRORS = {"bump": 0.0031 / 0.004007, "ramp": 0.0049 / 0.004007}
#: The two released low-rank networks: share of peaks in place, components of a value.
LOW_RANK = {"none": {"unseen peaks": 0.04, "components": 17.9}, "both": {"unseen peaks": 1.0, "components": 1.0}}
#: The two released pixel MLPs, of one-hot codes: layers, peaks, correlation, error in the hole over a blank image's.
PIXEL_MLPS = {2: (1.0, 0.995, 3.9e-5 / 0.004007), 4: (1.0, 0.996, 3.2e-5 / 0.004007)}


def mark_published(axes: Axes, across: Any, up: Any, label: str = "published") -> None:
    """Draw published numbers as grey crosses.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> mark_published(axes, [1.0], [0.5])
    >>> axes.lines[0].get_label()
    'published'
    """
    axes.plot(across, up, label=label, **STYLE)
