"""Twenty-four drugs on forty melanoma lines, of which two campaigns measured a part."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def screen_path() -> Path:
    """Return the path of the bundled drug screen.

    Activity areas (above the dose-response curve; 0: no effect, 8: all cells die at all doses) of 24 drugs on the 40
    skin lines of the Cancer Cell Line Encyclopedia: 936 of 960 wells were measured. Columns: ``drug``, ``cell_line``,
    ``activity`` and ``split``: ``measured`` is what two campaigns would have that share no drug and no line, half of
    their wells; the others are ``hidden``. Barretina et al., Nature 483, 603-607 (2012); distributed by DepMap under
    CC BY 4.0.

    Examples
    --------
    >>> screen_path().read_text().splitlines()[0]
    'drug,cell_line,activity,split'
    """
    return Path(str(files("recombine.data") / "screen.csv"))
