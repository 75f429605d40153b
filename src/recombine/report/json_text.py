"""Results as JSON text, for scripts and dashboards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec
import numpy as np

from recombine._version import SCHEMA, __version__


def json_text(record: Mapping[str, object] | Sequence[object]) -> str:
    """Return a record, or a list of them, as JSON; numbers that do not exist are null.

    Examples
    --------
    >>> print(json_text({"leverage": [np.float64(1.5), float("nan")], "cells": 10**30}))
    {
      "leverage": [
        1.5,
        null
      ],
      "cells": "1000000000000000000000000000000"
    }
    """
    document = msgspec.json.encode(_plain(dict(record) if isinstance(record, Mapping) else list(record)))
    return msgspec.json.format(document, indent=2).decode()


def json_document(kind: str, record: Mapping[str, object]) -> str:
    """Return a result as JSON text that says of which kind and form it is, and by which version it was written.

    ``schema.json`` beside this file, which ``recombine schema`` prints, says what documents of each kind hold.

    Examples
    --------
    >>> print(json_document("probe", {}).splitlines()[2].strip())
    "kind": "probe",
    """
    return json_text({"recombine": __version__, "kind": kind, "schema": SCHEMA, **record})


def _plain(value: Any) -> Any:
    """Make a value fit for JSON: no NaN, no infinities, and integers of any size as they are or as text."""
    if isinstance(value, np.generic):
        value = value.item()
    # Texts and numbers come first: nearly all values are.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if value.isascii() else _in_utf8(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value)


def _in_utf8(text: str) -> str:
    """Return text as it is, but for what UTF-8 has no place for: a file's name that the locale could not read."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half of a character, which no locale makes
        return text.encode("utf-8", "replace").decode("utf-8")
