"""What texts write: numbers, dates or labels. Used for order and for kinds; a text stays the text it is."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import datetime, time

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?|\d{1,2}:\d{2}(:\d{2}.*)?")


def is_number(text: str) -> bool:
    """Say whether a text writes a finite number.

    Examples
    --------
    >>> [is_number(text) for text in ("1E5", " -0.5", "0x10", "1e999", "3 kg")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def kind_of_texts(texts: Collection[str]) -> str:
    """Return what all of some texts could be read as: a number padded with zeros (007) is a label.

    Examples
    --------
    >>> kind_of_texts(["1", "2.5"]), kind_of_texts(["007", "12"]), kind_of_texts(["2013-01-31"])
    ('number', 'text', 'date')
    """
    if texts and all(map(is_number, texts)) and not any(map(_PADDED.match, texts)):
        return "integer" if all(float(text).is_integer() for text in texts) else "number"
    return "date" if texts and all(map(_DATE.fullmatch, texts)) else "text"


def level_text(level: object) -> str:
    """Return a level as the reader would write it: no trailing zeros, no midnight, no digit lost.

    Examples
    --------
    >>> level_text(2.0), level_text(1234567.5), level_text(datetime(2013, 1, 31))
    ('2', '1234567.5', '2013-01-31')
    """
    if isinstance(level, float):
        short = f"{level:g}"
        return short if float(short) == level else repr(level).removesuffix(".0")
    if isinstance(level, datetime) and level.time() == time():
        return str(level.date())
    return str(level)
