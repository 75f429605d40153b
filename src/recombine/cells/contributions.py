"""What each conjunction adds to an output, by subset of the factors; prints as one line and lists as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.conjunctions import Subset
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.tables.table import Table


class Contributions(Mapping[Subset, tuple[npt.NDArray[Any], FloatArray]]):
    """Levels (M, size) of the seen conjunctions of each subset of the factors, and their values.

    One ``axis`` of the values has length M: the last one of values of many models, the first of those of many outputs.

    Examples
    --------
    >>> single = (np.array([[0], [1]]), np.array([0.5, -2.0]))
    >>> found = Contributions({(): (np.zeros((1, 0)), np.array([1.0])), (0,): single})
    >>> found
    Contributions(1 of order 0, 2 of order 1; .table() lists them)
    >>> found[0,][1].tolist()
    [0.5, -2.0]
    >>> found.table(["dose"])
    order  conjunction  value
    1      dose 1       -2.0
    0      constant     1.0
    1      dose 0       0.5
    """

    def __init__(self, values: Mapping[Subset, tuple[npt.NDArray[Any], FloatArray]], axis: int = -1) -> None:
        self._parts, self._axis = dict(values), axis

    def __getitem__(self, subset: Subset) -> tuple[npt.NDArray[Any], FloatArray]:
        return self._parts[subset]

    def __iter__(self) -> Iterator[Subset]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        counts: dict[int, int] = {}
        for subset, (levels, _) in self._parts.items():
            counts[len(subset)] = counts.get(len(subset), 0) + len(levels)
        listed = ", ".join(f"{count:,} of order {order}" for order, count in counts.items())
        return f"Contributions({listed}; .table() lists them)"

    def table(self, names: Sequence[str] | None = None) -> Table:
        """Return one row per conjunction, the largest first; values of several models or outputs as their mean.

        ``names`` are those of the factors, ``factor 1`` and so on by default.
        """
        from recombine.tables.table import Table

        count = max((factor for subset in self for factor in subset), default=-1) + 1
        words = list(names) if names is not None else [f"factor {index + 1}" for index in range(count)]
        if len(words) < count:
            raise InputError(f"{len(words)} names for {count} factors; give one for each")
        rows = [
            (len(subset), ", ".join(f"{words[f]} {level}" for f, level in zip(subset, row, strict=True)), value)
            for subset, (levels, values) in self._parts.items()
            for row, value in zip(levels.tolist(), self._means(values), strict=True)
        ]
        rows.sort(key=lambda row: -float(f"{abs(row[2]):.9g}"))  # of equal ones, rounding does not choose the first
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        return Table(
            {
                "order": np.array(columns[0], dtype=np.int64),
                "conjunction": [text or "constant" for text in columns[1]],
                "value": np.array(columns[2], dtype=float),
            }
        )

    def _means(self, values: FloatArray) -> list[float]:
        lined = np.moveaxis(np.asarray(values, dtype=float), self._axis, 0)
        means: list[float] = lined.reshape(len(lined), -1).mean(axis=1).tolist()
        return means
