"""Flights that left New York City in 2013, by carrier, origin and destination."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


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
