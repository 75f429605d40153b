"""Information in bits, from counts: what a factor tells about a prediction, alone or beyond another factor.

Estimates from counts are biased upwards, corrected or not: `independence` sets them against their null.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.measures.dependence.contingency import Contingency, as_codes


def entropy(values: npt.ArrayLike, given: npt.ArrayLike | None = None, *, corrected: bool = True) -> float:
    """Estimate the entropy of a column (N,) in bits, or what is left of it when another one is known.

    Numbers are cut into bins as in `mutual_information`. ``corrected`` adds the Miller-Madow correction for a sample;
    of a table that is the whole truth, ask for False.

    Examples
    --------
    >>> entropy([0, 1, 2, 3], corrected=False), entropy([0, 1, 2, 3], given=[0, 0, 1, 1], corrected=False)
    (2.0, 1.0)
    """
    return conditional_information(values, values, given, corrected=corrected)


def mutual_information(first: npt.ArrayLike, second: npt.ArrayLike, *, corrected: bool = True) -> float:
    """Estimate the mutual information of two columns (N,), in bits.

    Integers and text are levels; numbers are cut into 10 bins where there are more than 20 different ones. With the
    Miller-Madow correction it may be slightly negative; without it, it is the plug-in estimate.

    Examples
    --------
    >>> mutual_information([0, 0, 1, 1], [0, 0, 1, 1], corrected=False)
    1.0
    >>> mutual_information([0, 0, 1, 1], [0, 1, 0, 1], corrected=False)
    0.0
    """
    return conditional_information(first, second, corrected=corrected)


def conditional_information(
    prediction: npt.ArrayLike, factor: npt.ArrayLike, given: npt.ArrayLike | None = None, *, corrected: bool = True
) -> float:
    """Estimate I(prediction; factor | given) in bits: what the factor tells about the prediction beyond the given one.

    Use a probe set in which factor and given one vary independently. The estimate is biased upwards even with the
    correction: subtract the mean of its null, as `independence_test` does, before you compare it with zero. Columns
    (N,) and the correction are those of `mutual_information`, which this is without ``given``.

    Examples
    --------
    >>> prediction, factor, given = [0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]
    >>> conditional_information(prediction, factor, given, corrected=False)
    0.5
    """
    table, _ = tabulate(prediction, factor, given)
    return information_of(table, corrected=corrected)


def information_of(table: Contingency, *, corrected: bool = True) -> float:
    """Run `conditional_information` on counts: c log c over entries, minus both margins, plus strata, by rows.

    Examples
    --------
    >>> information_of(Contingency.of([0, 1], [0, 1], [0, 0], counts=[500, 500]), corrected=False)
    1.0
    """
    pairs, levels = table.predictions[2], table.factors[2]
    gain = count_logs(table.counts) - count_logs(pairs) - count_logs(levels) + count_logs(table.sizes)
    if corrected:
        gain += (len(pairs) + len(levels) - len(table.counts) - len(table.sizes)) / (2 * math.log(2))
    return gain / table.rows


def entropy_of(table: Contingency) -> float:
    """Return H(prediction | stratum) in bits (plug-in); exactly 0 where each stratum has one prediction.

    Examples
    --------
    >>> entropy_of(Contingency.of([0, 1, 1], [0, 0, 0], [0, 0, 1], counts=[2, 2, 4]))
    0.5
    """
    if len(table.predictions[2]) == len(table.sizes):
        return 0.0
    return (count_logs(table.sizes) - count_logs(table.predictions[2])) / table.rows


def invariance_entropy(predictions: npt.ArrayLike) -> FloatArray:
    """Return the mean entropy, in bits, of predictions while only what they should ignore changes, shape (...).

    The predicted classes (..., N, M) are of N values of the component that decides, each with M values of the component
    that should not matter, for any number of models. 0 if and only if no prediction changes.

    Examples
    --------
    >>> invariance_entropy([[[3, 3, 3, 3], [5, 5, 5, 5]], [[3, 3, 3, 3], [5, 5, 4, 4]]]).tolist()
    [0.0, 0.5]
    """
    labels = np.asarray(predictions)
    if labels.ndim < 2 or not labels.size or labels.dtype.kind not in "iub":
        raise InputError(
            f"predictions have shape {labels.shape} and dtype {labels.dtype}; give predicted classes as integers, one "
            "row per value that decides and one column per value that should not matter"
        )
    ordered = np.sort(labels.reshape(-1, labels.shape[-1]), axis=1)
    starts = np.ones(ordered.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    row, column = np.nonzero(starts)
    ends = np.append(row[1:] * ordered.shape[1] + column[1:], ordered.size)
    share = (ends - (row * ordered.shape[1] + column)) / ordered.shape[1]
    entropy = np.bincount(row, weights=share * np.log2(1 / share), minlength=len(ordered))
    return entropy.reshape(labels.shape[:-1]).mean(axis=-1)  # type: ignore[no-any-return]


def tabulate(
    prediction: npt.ArrayLike,
    factor: npt.ArrayLike,
    given: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    bins: int = 10,
) -> tuple[Contingency, dict[str, int]]:
    """Code and count three columns (N,), a row standing for ``counts`` rows; and into how many bins which were cut.

    Examples
    --------
    >>> table, binned = tabulate(["a", "b", "b"], [0, 1, 1])
    >>> table.counts.tolist(), binned
    ([1, 2], {})
    """
    named: dict[str, Any] = {"the prediction": prediction, "the factor": factor}
    named["the given one"] = np.zeros(np.asarray(prediction).size, dtype=np.int64) if given is None else given
    coded = {name: as_codes(values, name, bins) for name, values in named.items()}
    codes = [column for column, _ in coded.values()]
    binned = {name: count for name, (_, count) in coded.items() if count is not None}
    return Contingency.of(codes[0], codes[1], codes[2], _checked_counts(counts)), binned


def _checked_counts(counts: npt.ArrayLike | None) -> IntArray | None:
    if counts is None:
        return None
    numbers = np.asarray(counts)
    if numbers.dtype.kind not in "iu" or not (numbers > 0).all():
        raise InputError("counts must be whole numbers of rows, at least 1 each; leave out entries of no row")
    return numbers.astype(np.int64)


def count_logs(counts: IntArray) -> float:
    """Return the sum of c log2 c over ``counts`` (M,), all at least 1.

    Examples
    --------
    >>> count_logs(np.array([1, 2, 4]))
    10.0
    """
    return float((counts * np.log2(counts)).sum())
