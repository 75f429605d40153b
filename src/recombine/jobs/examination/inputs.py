"""What an examination is given, checked before anything is trained: inputs of models, factor columns and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier

from recombine.errors import InputError
from recombine.jobs.split.splitter import factor_columns
from recombine.tables.numbers import level_text, missing_values
from recombine.writing import listing, plural

#: A column of fractions with more values than this is no factor unless it is named as one.
MAX_VALUES_OF_FRACTIONS = 20


def read_inputs(X: Any, factors: Any) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """Return what models are given, and the factor columns (N,) by name.

    Examples
    --------
    >>> read_inputs(np.array([[0, 1], [1, 1]]), None)[1]
    {'column 0': array([0, 1]), 'column 1': array([1, 1])}
    """
    inputs = X if hasattr(X, "columns") or hasattr(X, "tocsr") else np.asarray(X)
    apart = hasattr(factors, "columns") or (factors is not None and np.ndim(factors) == 2)
    if not apart and not hasattr(inputs, "columns") and (hasattr(inputs, "tocsr") or inputs.ndim != 2):
        raise InputError(
            f"X has shape {inputs.shape}, so its columns are no factors; give these apart, one row per row of X: "
            "factors=frame"
        )
    read = factor_columns(factors, None) if apart else factor_columns(inputs, factors)
    columns = {
        name if isinstance(name, str) else f"column {name}": _levels(str(name), values) for name, values in read.items()
    }
    if factors is None:
        _refuse_measurements(columns)
    count = len(next(iter(columns.values())))
    if count != inputs.shape[0]:
        raise InputError(f"factors have {count:,} rows and X has {inputs.shape[0]:,}; give one for each row of X")
    return inputs, columns


def _levels(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a factor column (N,) without gaps, as text where it holds values of several kinds."""
    if (absent := missing_values(values)).any():
        row, count = int(np.argmax(absent)), int(absent.sum())
        raise InputError(
            f"factor {name!r} is missing in {plural(count, 'row')} of X, such as row {row}; leave these rows out of X "
            "and y, or fill in a level of their own"
        )
    if values.dtype != object or len({type(value) for value in values}) < 2:
        return values
    return np.array([level_text(value) for value in values])


def _refuse_measurements(columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Refuse to take all columns for factors where one holds fractions: each row would be a combination of its own."""
    measured = [
        name
        for name, values in columns.items()
        if values.dtype.kind == "f"
        and (values != np.floor(values)).any()
        and len(np.unique(values)) > MAX_VALUES_OF_FRACTIONS
    ]
    if measured:
        others = [name for name in columns if name not in measured]
        raise InputError(
            f"column {measured[0]!r} of X holds {len(np.unique(columns[measured[0]])):,} different fractions, so that "
            f"hardly a combination would occur twice; name the factors: factors=[{listing(map(repr, others), 8)}]"
        )


def read_outcome(y: Any, X: Any) -> npt.NDArray[Any]:
    """Return the outcome of each row of ``X`` (N,): numbers, or classes.

    Examples
    --------
    >>> read_outcome([1, 2.5], [[0, 1], [1, 1]])
    array([1. , 2.5])
    >>> read_outcome([1, None], [[0, 1], [1, 1]])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: y is missing in 1 row, such as row 1; leave these rows out of X and y
    """
    if y is None:
        raise InputError("y is None; give the outcome of each row of X")
    _refuse_other_order(X, y)
    values = np.asarray(y)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or not len(values):
        return values  # told with the number of rows
    if (absent := missing_values(values)).any():
        row, rows = int(np.argmax(absent)), plural(int(absent.sum()), "row")
        raise InputError(f"y is missing in {rows}, such as row {row}; leave these rows out of X and y")
    if values.dtype == object and all(isinstance(value, int | float | np.number) for value in values):
        values = values.astype(bool if all(isinstance(value, bool) for value in values) else float)
    if values.dtype.kind not in "biufOUS":
        raise InputError(f"y holds values of type {values.dtype}; give numbers or classes")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"y is not finite in row {int(np.argmin(np.isfinite(values)))}; leave it out of X and y")
    if (values == values[0]).all():
        raise InputError(f"y is {values[0]!s} in every row; there is nothing to predict")
    return values


def _refuse_other_order(X: Any, y: Any) -> None:
    """Refuse rows whose labels are the same in another order: models pair them by position."""
    index, reordered = (getattr(getattr(given, "index", None), "sort_values", None) for given in (X, y))
    if index is None or reordered is None or len(X) != len(y) or X.index.equals(y.index):
        return
    if index().equals(reordered()):
        raise InputError("X and y have the same index in different order; give y.loc[X.index], or reset both indices")


def classes_of_outcome(models: Any, outcome: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the classes as they are written, with what stands in ``outcome`` (N,); empty where it holds numbers.

    Examples
    --------
    >>> classes_of_outcome([], np.array(["yes", "no"])), classes_of_outcome([], np.array([0.5, 1.5]))
    ({'no': 'no', 'yes': 'yes'}, {})
    """
    given = models.values() if isinstance(models, Mapping) else models if isinstance(models, list) else [models]
    if outcome.dtype.kind not in "OUSb" and not any(
        is_classifier(model) for model in given if isinstance(model, BaseEstimator)
    ):
        return {}
    return {str(value): value for value in np.unique(outcome).tolist()}
