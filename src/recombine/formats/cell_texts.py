"""Values of typed cells as the text that a person would have written into a CSV file."""

from __future__ import annotations

import datetime


def cell_text(value: object) -> str:
    """Return a value as text: whole numbers without a point, the shortest decimals, dates as ISO, flags TRUE or FALSE.

    Examples
    --------
    >>> [cell_text(value) for value in (2.0, 0.1, True, None, float("nan"), datetime.datetime(2024, 5, 1, 9, 30))]
    ['2', '0.1', 'TRUE', '', '', '2024-05-01T09:30:00']
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return "" if value is None or value != value else value.hex() if isinstance(value, bytes) else str(value)
