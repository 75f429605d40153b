"""Measured values, whatever they are: numbers, words, estimates, series and labelled series, as entries and as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.lab.papers.seeds import Estimate, Interval


def entries_of(value: Any) -> list[Any]:
    """Return the plain numbers or words of a measured value: one, or those of a series; of an estimate its mean.

    Examples
    --------
    >>> entries_of(0.5), entries_of([Estimate(0.1, 0.01, 5), 2]), entries_of({"relu": 0.3})
    ([0.5], [0.1, 2], [0.3])
    """
    if isinstance(value, Estimate | Interval):
        return [value.mean]
    if isinstance(value, Mapping):
        return entries_of(list(value.values()))
    return [entry for item in value for entry in entries_of(item)] if _is_series(value) else [value]


def _is_series(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def text_of(value: Any, unit: str = "", decimals: int | None = None) -> str:
    """Return a measured value as text: with so many decimals, or else three digits that count.

    Examples
    --------
    >>> text_of(1.42e-15), text_of([0.51812, 0.2]), text_of(0.0512, "%"), text_of(Estimate(0.5, 0.01, 3))
    ('1.42e-15', '0.518, 0.2', '5.12%', '0.500 ± 0.010')
    >>> text_of(12345.6), text_of(4), text_of(1.5, "x", decimals=2), text_of({"ReLU": 0.9244, "Gaussian": 0.875})
    ('12,346', '4', '1.50 x', 'ReLU 0.924, Gaussian 0.875')
    """
    if isinstance(value, str | Estimate | Interval):
        return str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text_of(entry, unit, decimals)}" for name, entry in value.items())
    if _is_series(value):
        return ", ".join(text_of(entry, unit, decimals) for entry in value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if unit == "%":
        return f"{_digits(100 * float(value), None if decimals is None else max(0, decimals - 2))}%"
    plain = f"{value:,}" if isinstance(value, int | np.integer) else _digits(float(value), decimals)
    return f"{plain} {unit}".rstrip()


def _digits(number: float, decimals: int | None) -> str:
    if decimals is not None:
        return f"{number:.{decimals}f}"
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e9 else without_zeros(f"{number:.3g}")


def without_zeros(text: str) -> str:
    """Write 1e-9 where Python writes 1e-09.

    Examples
    --------
    >>> without_zeros("1e-09"), without_zeros("2.5e+07")
    ('1e-9', '2.5e7')
    """
    return text.replace("e-0", "e-").replace("e+0", "e")
