"""What is known of the levels of factors: how many, where they lie on a line, what describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
        lines = [_standardized(codes, factor, (coordinates or {}).get(factor)) for factor in range(codes.shape[1])]
        described = [_standardized(codes, factor, (features or {}).get(factor)) for factor in range(codes.shape[1])]
        seen = codes.max(axis=0, initial=-1) + 1
        sizes = [
            max(int(size), *(len(array) for array in (line, table) if array is not None), 0)
            for size, line, table in zip(seen, lines, described, strict=True)
        ]
        flat = tuple(None if line is None else line[:, 0] for line in lines)
        return cls(tuple(sizes), flat, tuple(described))

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self.sizes)


def _standardized(codes: IntArray, factor: int, given: npt.ArrayLike | None) -> FloatArray | None:
    """Return numbers of levels (L, D) with mean 0 and variance 1 over the seen cells."""
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
    rows = table[codes[:, factor]]
    spread = rows.std(axis=0)
    return np.asarray((table - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
