"""Flights that left New York City in 2013, by carrier, origin and destination."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any


def flights_path() -> Path:
    """Return the path of the bundled flights table.

    Minutes in the air of flights that left New York City in 2013, by carrier (16), origin (3) and destination (102):
    388 of 4,896 cells seen, 32,735 flights. Columns: ``carrier, origin, dest, air_time`` (mean, minutes), ``sd``
    (standard deviation within the cell; 0 where there is one flight) and ``n`` (flights).

    Examples
    --------
    >>> flights_path().read_text().splitlines()[0]
    'carrier,origin,dest,air_time,sd,n'
    """
    return Path(str(files("recombine.data") / "flights.csv"))


def flights_models() -> tuple[str, list[dict[str, Any]]]:
    """Return how other models did on the bundled flights, as `recombine.audit(...).compare_models()` has it.

    They were trained when this version of the package was made, because that takes longer than everything else that
    the demo does: the version of scikit-learn, then one row per share of cells and model.

    Examples
    --------
    >>> version, rows = flights_models()
    >>> rows[0]["model"], round(rows[0]["determined"], 2)
    ('additive least squares', 6.59)
    """
    stored = json.loads((files("recombine.data") / "flights_models.json").read_text(encoding="utf-8"))
    return str(stored["scikit-learn"]), list(stored["rows"])
