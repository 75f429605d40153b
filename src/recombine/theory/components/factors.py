"""What is known of the levels of factors: how many, where they lie on a line, what describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.errors import InputError


@dataclass(frozen=True, eq=False)
class Factors:
    """Levels of F factors, each with coordinates or features where they have some.

    A code outside ``0 ... sizes[f] - 1`` is a level of which nothing is known.
    """

    sizes: tuple[int, ...]  #: Levels of each factor that codes may name.
    coordinates: tuple[FloatArray | None, ...]  #: (L,) each, of mean 0 and variance 1 over the seen cells.
    features: tuple[FloatArray | None, ...]  #: (L, D) each, every column of mean 0 and variance 1 over the seen cells.
    #: Where coordinates have their zero and their unit, as they were given.
    units: tuple[tuple[float, float], ...] = ()

    __repr__ = brief_repr

    @classmethod
    def of(
        cls,
        codes: IntArray,
        coordinates: Mapping[int, npt.ArrayLike] | None = None,
        features: Mapping[int, npt.ArrayLike] | None = None,
    ) -> Factors:
        """Describe the factors of seen cells (N, F); arrays by factor hold one row per level, unseen ones too.

        Examples
        --------
        >>> factors = Factors.of(np.array([[0, 0], [1, 1]]), coordinates={1: [10.0, 20.0, 40.0]})
        >>> factors.sizes, factors.coordinates[1]
        ((2, 3), array([-1.,  1.,  5.]))
        """
        factors = range(codes.shape[1])
        given = [_numbers(codes, factor, (coordinates or {}).get(factor)) for factor in factors]
        units = [_units(line, codes[:, factor]) for factor, line in enumerate(given)]
        lines = [
            None if line is None else (line - zero) / unit for line, (zero, unit) in zip(given, units, strict=True)
        ]
        tables = [_numbers(codes, factor, (features or {}).get(factor)) for factor in factors]
        scaled = [_units(table, codes[:, factor]) for factor, table in enumerate(tables)]
        described = [
            None if table is None else (table - zero) / unit for table, (zero, unit) in zip(tables, scaled, strict=True)
        ]
        seen = codes.max(axis=0, initial=-1) + 1
        sizes = [
            max(int(size), *(len(array) for array in (line, table) if array is not None), 0)
            for size, line, table in zip(seen, lines, described, strict=True)
        ]
        flat = tuple(None if line is None else line[:, 0] for line in lines)
        return cls(
            tuple(sizes), flat, tuple(described), tuple((float(zero[0]), float(unit[0])) for zero, unit in units)
        )

    def extended(self, coordinates: Mapping[int, npt.ArrayLike]) -> Factors:
        """Return factors with further levels by their coordinates (K,), coded after those that codes named so far.

        Examples
        --------
        >>> factors = Factors.of(np.array([[0], [1]]), coordinates={0: [10.0, 20.0]}).extended({0: [15.0]})
        >>> factors.sizes, factors.coordinates[0]
        ((3,), array([-1.,  1.,  0.]))
        """
        sizes, lines = list(self.sizes), list(self.coordinates)
        for factor, given in coordinates.items():
            line, (zero, unit) = lines[factor], self.units[factor]
            if line is not None:
                longer = np.append(line, (np.asarray(given, dtype=float) - zero) / unit)
                lines[factor], sizes[factor] = longer, len(longer)
        return replace(self, sizes=tuple(sizes), coordinates=tuple(lines))

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self.sizes)


def _numbers(codes: IntArray, factor: int, given: npt.ArrayLike | None) -> FloatArray | None:
    """Return numbers of levels (L, D), checked."""
    if given is None:
        return None
    table = np.asarray(given, dtype=float)
    table = table[:, None] if table.ndim == 1 else table
    if len(table) <= codes[:, factor].max(initial=-1):
        raise InputError(
            f"factor {factor} has numbers for {len(table)} levels but level {codes[:, factor].max()} was seen; give all"
        )
    if not np.isfinite(table).all():
        raise InputError(f"a number of factor {factor} is not finite; give a number for every level, or none")
    return table


def _units(table: FloatArray | None, levels: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (D,) over seen cells of the numbers (L, D) of their levels (N,)."""
    if table is None:
        return np.zeros(1), np.ones(1)
    rows = table[levels]
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)
