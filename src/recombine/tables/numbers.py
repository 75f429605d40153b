"""What texts write: numbers, dates or labels. Used for order and for kinds; a text stays the text it is."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?|\d{1,2}:\d{2}(:\d{2}.*)?")


def is_number(text: str) -> bool:
    """Say whether a text writes a finite number."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def kind_of_texts(texts: Collection[str]) -> str:
    """Return what all of some texts could be read as: a number padded with zeros (007) is a label."""
    if texts and all(map(is_number, texts)) and not any(map(_PADDED.match, texts)):
        return "integer" if all(float(text).is_integer() for text in texts) else "number"
    return "date" if texts and all(map(_DATE.fullmatch, texts)) else "text"


def level_text(level: object) -> str:
    """Return a level as the reader would write it: no trailing zeros, no midnight, no digit lost."""
    if isinstance(level, float):
        short = f"{level:g}"
        return short if float(short) == level else repr(level).removesuffix(".0")
    if isinstance(level, datetime) and level.time() == time():
        return str(level.date())
    return str(level)


def missing_values(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say which of ``values`` (N,) are missing, whatever stands for that."""
    if values.dtype.kind == "O":
        listed = values.tolist()
        if not any(map(is_nothing, set(listed))):  # of the few values that stand in many rows each is looked at once
            return np.zeros(len(listed), dtype=bool)
        return np.fromiter(map(is_nothing, listed), dtype=bool, count=len(listed))
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)
    return np.zeros(len(values), dtype=bool)


def is_nothing(value: Any) -> bool:
    """Say whether a value of a table is missing; pandas has missing values that refuse to be compared."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
