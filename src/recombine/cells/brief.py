"""How results look in one line: arrays by their shapes, so that looking at one computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Result = TypeVar("Result")

#: Items of a sequence that are shown one by one, and characters of anything else.
MAX_ITEMS_SHOWN, MAX_LETTERS_SHOWN = 4, 60


def brief_repr(thing: Any) -> str:
    """Return a dataclass in one line: arrays and tensors by dtype and shape, what is long by its length."""
    texts = [f"{field.name}={_brief(getattr(thing, field.name))}" for field in fields(thing) if field.repr]
    return f"{type(thing).__name__}({', '.join(texts)})"


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(kind: type[Result]) -> type[Result]:
    """Make a frozen dataclass of a class of results: equal only to itself, as arrays are, and shown in one line.

    Examples
    --------
    >>> import numpy as np
    >>> @record
    ... class Fit:
    ...     effects: Any
    ...     noise: float
    >>> Fit(np.zeros((5, 2)), 0.5)
    Fit(effects=float64[5, 2], noise=0.5)
    """
    kind.__repr__ = brief_repr  # type: ignore[method-assign]
    return dataclass(frozen=True, eq=False, repr=False)(kind)


def _brief(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, Mapping) or (isinstance(value, list | tuple) and len(value) > MAX_ITEMS_SHOWN):
        return f"{len(value):,} items"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(_brief, value))
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    text = repr(value)
    return text if len(text) <= MAX_LETTERS_SHOWN and "\n" not in text else type(value).__name__
