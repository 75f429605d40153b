"""Information and its test on columns of rows, as they stand in a table: coded, counted, then as on counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, refuse_masked
from recombine.errors import InputError
from recombine.measures.dependence.contingency import MAX_DISTINCT_VALUES, MAX_ENTRIES_PER_ROW, Contingency, bin_edges
from recombine.measures.dependence.independence import Independence, independence_of
from recombine.writing import listing


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
    return table.information(corrected=corrected)


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


def independence_test(
    prediction: npt.ArrayLike,
    factor: npt.ArrayLike,
    given: npt.ArrayLike | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    permutations: int = 200,
    seed: int | np.random.Generator = 0,
    corrected: bool = True,
    bins: int = 10,
) -> Independence:
    """Test whether a prediction depends on a factor beyond the given one, by shuffling it at each level of the latter.

    The null is exact for any counts: under independence every order of the factor within a level of ``given`` is
    equally likely. The shuffled tables are drawn as counts, so that a million rows cost no more than a thousand.

    Parameters
    ----------
    prediction, factor, given : arrays of shape (N,)
        Integers and text are levels; floating-point numbers with more than 20 different values are cut at quantiles
        into ``bins`` bins, and the result says so. Without ``given``, all rows are one stratum.
    counts : array of int, shape (N,), optional
        How many rows each entry stands for, for data that are grouped already.
    corrected : bool
        Use the Miller-Madow correction, in the estimate and in its null.

    Notes
    -----
    A ``given`` column that was cut into bins still varies within each: a factor that goes along with it there is
    blamed for its work. More bins lessen that.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> own, other = generator.integers(4, size=(2, 2000))
    >>> prediction = np.where(generator.random(2000) < 0.2, other, own)
    >>> test = independence_test(prediction, other, own)
    >>> test.verdict(), round(test.excess, 2), test.freedom
    ('depends', 0.31, 36)
    >>> independence_test(own, other, own).verdict()
    'no dependence found'
    """
    if permutations < 1:
        raise InputError(f"{permutations} permutations give no null; use at least 1, better 200")
    table, binned = tabulate(prediction, factor, given, counts, bins)
    return independence_of(table, permutations, np.random.default_rng(seed), corrected=corrected, bins=binned)


def as_codes(values: npt.ArrayLike, name: str = "column", bins: int = 10) -> tuple[IntArray, int | None]:
    """Return a column as codes 0, 1, ... and, where it had to be cut into bins, how many.

    Integers, flags and text are levels. Floating-point numbers are too, unless there are more than 20 different ones:
    then they are cut at quantiles into ``bins`` bins of about equal counts. Messages call the column ``name``.

    Examples
    --------
    >>> as_codes(["b", "a", "b"])
    (array([1, 0, 1]), None)
    >>> codes, count = as_codes(np.linspace(0, 1, 1000) ** 3, "yhat", bins=4)
    >>> np.bincount(codes).tolist(), count
    ([250, 250, 250, 250], 4)
    """
    refuse_masked(values, name)
    column = np.asarray(values)
    if column.ndim != 1 or not len(column):
        raise InputError(f"{name} has shape {column.shape}; give one value per row, and at least one row")
    _refuse_missing(column, name)
    if column.dtype.kind == "O":
        column = column.astype(str)
    elif (
        column.dtype.kind in "iub" and int(column.min()) >= 0 and int(column.max()) < MAX_ENTRIES_PER_ROW * len(column)
    ):
        return column.astype(np.int64), None
    levels, codes = np.unique(column, return_inverse=True)
    if column.dtype.kind == "f" and len(levels) > MAX_DISTINCT_VALUES:
        numbers = column.astype(np.float64)
        codes = np.searchsorted(bin_edges(numbers, bins), numbers, side="left").astype(np.int64)
        return codes, int(codes.max()) + 1
    return codes.reshape(-1).astype(np.int64), None


def _refuse_missing(column: npt.NDArray[Any], name: str) -> None:
    if column.dtype.kind == "f":
        lacking = ~np.isfinite(column)
    elif column.dtype.kind == "O":
        lacking = np.array([value is None or value != value for value in column.tolist()])
    elif column.dtype.kind in "mM":
        lacking = np.isnat(column)
    else:
        return
    if lacking.any():
        rows = np.flatnonzero(lacking)
        which = f"row{'s' if len(rows) > 1 else ''} {listing(rows.tolist(), 4)}"
        raise InputError(f"{name} has no finite value in {which}; leave these rows out, of every column")
