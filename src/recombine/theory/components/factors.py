"""What is known of the levels of factors: how many, where they lie on a line, what describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.errors import InputError


@record
class Factors:
    """Levels of F factors, each with coordinates or features where they have some.

    A code outside ``0 ... sizes[f] - 1`` is a level of which nothing is known.
    """

    sizes: tuple[int, ...]  #: Levels of each factor that codes may name.
    coordinates: tuple[FloatArray | None, ...]  #: (L,) each, of mean 0 and variance 1 over the seen cells; NaN: none.
    #: (L, D) each, every column of mean 0 and variance 1 over the seen cells; rows of NaN for levels without features.
    features: tuple[FloatArray | None, ...]
    #: Where coordinates and features (D,) have their zeros and units, as they were given.
    units: tuple[tuple[FloatArray, FloatArray], ...] = ()
    feature_units: tuple[tuple[FloatArray, FloatArray], ...] = ()
    symmetric: tuple[tuple[int, ...], ...] = ()  #: Groups of interchangeable factors, whose levels have the same codes.

    @classmethod
    def of(
        cls,
        codes: IntArray,
        coordinates: Mapping[int, npt.ArrayLike] | None = None,
        features: Mapping[int, npt.ArrayLike] | None = None,
        symmetric: Sequence[Sequence[int]] = (),
    ) -> Factors:
        """Describe the factors of seen cells (N, F); arrays by factor hold one row per level, unseen ones too.

        Examples
        --------
        >>> factors = Factors.of(np.array([[0, 0], [1, 1]]), coordinates={1: [10.0, 20.0, 40.0]})
        >>> factors.sizes, factors.coordinates[1]
        ((2, 3), array([-1.,  1.,  5.]))
        """
        seen = codes.max(axis=0, initial=-1) + 1
        lines, units = _scaled(codes, coordinates or {}, described=False)
        tables, feature_units = _scaled(codes, features or {}, described=True)
        sizes = [
            max(int(size), *(len(array) for array in (line, table) if array is not None), 0)
            for size, line, table in zip(seen, lines, tables, strict=True)
        ]
        flat = tuple(None if line is None else line[:, 0] for line in lines)
        return cls(tuple(sizes), flat, tables, units, feature_units, tuple(map(tuple, symmetric)))

    def extended(
        self,
        coordinates: Mapping[int, npt.ArrayLike] | None = None,
        features: Mapping[int, npt.ArrayLike] | None = None,
    ) -> Factors:
        """Return factors with further levels by coordinates (K,) or features (K, D), coded after those named so far.

        Examples
        --------
        >>> factors = Factors.of(np.array([[0], [1]]), coordinates={0: [10.0, 20.0]}).extended({0: [15.0]})
        >>> factors.sizes, factors.coordinates[0]
        ((3,), array([-1.,  1.,  0.]))
        """
        sizes, lines, tables = list(self.sizes), list(self.coordinates), list(self.features)
        given = {factor: np.asarray(line, dtype=float) for factor, line in (coordinates or {}).items()}
        described = {factor: np.asarray(table, dtype=float) for factor, table in (features or {}).items()}
        for factor in {*given, *described}:
            size = sizes[factor] + max(len(each[factor]) for each in (given, described) if factor in each)
            if (line := lines[factor]) is not None:
                (zero, unit), further = self.units[factor], given.get(factor, np.empty(0))
                lines[factor] = _placed(line[:, None], (further[:, None] - zero) / unit, sizes[factor], size)[:, 0]
            if (table := tables[factor]) is not None:
                zero, unit = self.feature_units[factor]
                further = (described.get(factor, np.empty((0, table.shape[1]))) - zero) / unit
                tables[factor] = _placed(table, further, sizes[factor], size)
            sizes[factor] = size
        return replace(self, sizes=tuple(sizes), coordinates=tuple(lines), features=tuple(tables))

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self.sizes)

    def twins(self, factor: int) -> tuple[int, ...]:
        """Return the factors that are interchangeable with one, its own number among them."""
        return next((group for group in self.symmetric if factor in group), (factor,))

    def images(self, chosen: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the sets of factors that interchangeable ones make of one, each in the order of ``chosen``.

        Examples
        --------
        >>> Factors.of(np.zeros((1, 3), dtype=int), symmetric=[(0, 1)]).images((0, 2))
        [(0, 2), (1, 2)]
        """
        return [image for image in product(*map(self.twins, chosen)) if len(set(image)) == len(image)]


def _placed(table: FloatArray, further: FloatArray, start: int, size: int) -> FloatArray:
    """Return numbers of levels (size, D) with further ones from ``start`` on, NaN where there are none."""
    longer = np.full((size, table.shape[1]), np.nan)
    longer[: len(table)] = table
    longer[start : start + len(further)] = further
    return longer


def _scaled(
    codes: IntArray, given: Mapping[int, npt.ArrayLike], described: bool
) -> tuple[tuple[FloatArray | None, ...], tuple[tuple[FloatArray, FloatArray], ...]]:
    """Return numbers of levels (L, D) of every factor of cells (N, F) in units, and these: zero and unit (D,)."""
    scaled: list[FloatArray | None] = [None] * codes.shape[1]
    units = [(np.zeros(1), np.ones(1))] * codes.shape[1]
    for factor, levels in enumerate(codes.T):
        if (numbers := given.get(factor)) is not None:
            table = _checked(factor, levels, np.asarray(numbers, dtype=float), described)
            zero, unit = units[factor] = _units(table[levels])
            scaled[factor] = (table - zero) / unit
    return tuple(scaled), tuple(units)


def _checked(factor: int, levels: IntArray, numbers: FloatArray, described: bool) -> FloatArray:
    """Return numbers of levels (L, D), of which ``levels`` (N,) were seen; one without features has a row of NaN."""
    table = numbers[:, None] if numbers.ndim == 1 else numbers
    if len(table) <= levels.max(initial=-1):
        raise InputError(
            f"factor {factor} has numbers for {len(table)} levels but level {levels.max()} was seen; give all"
        )
    nothing = np.isnan(table).all(axis=1) if described else np.zeros(len(table), dtype=bool)
    if not np.isfinite(table[~nothing]).all():
        raise InputError(f"a number of factor {factor} is not finite; give a number for every level, or none")
    return table


def _units(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (D,) of the numbers (N, D) of seen cells."""
    rows = rows[~np.isnan(rows).any(axis=1)]
    if not len(rows):
        return np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)
