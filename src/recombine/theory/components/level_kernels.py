"""How alike two levels of one factor are: the same or not, on a line, near each other, of like features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.theory.components.factors import Factors

#: Width of the bump over coordinates, in standard deviations of the coordinates over seen cells.
BUMP_WIDTH = 0.5


@dataclass(frozen=True)
class LevelKernel(ABC):
    """Covariance between levels of one factor."""

    name: str

    @abstractmethod
    def gram(self, factors: Factors, factor: int) -> FloatArray | None:
        """Return covariances (L + 1, L + 1), the last level being one of which nothing is known; None: labels only."""


@dataclass(frozen=True)
class _Same(LevelKernel):
    def gram(self, factors: Factors, factor: int) -> None:
        return None


@dataclass(frozen=True)
class _Line(LevelKernel):
    def gram(self, factors: Factors, factor: int) -> FloatArray:
        line = _coordinates(factors, factor)
        return _with_unknown(np.outer(line, line))


@dataclass(frozen=True)
class _Bump(LevelKernel):
    def gram(self, factors: Factors, factor: int) -> FloatArray:
        line = _coordinates(factors, factor)
        return _with_unknown(np.exp(-0.5 * np.subtract.outer(line, line) ** 2 / BUMP_WIDTH**2))


@dataclass(frozen=True)
class _FeatureBump(LevelKernel):
    column: int | None = None  #: The one feature that it is of; None: all together.

    def gram(self, factors: Factors, factor: int) -> FloatArray:
        table = factors.features[factor]
        assert table is not None
        chosen = table if self.column is None else table[:, [self.column]]
        squares = np.square(chosen[:, None] - chosen[None]).mean(axis=2)
        return _with_unknown(np.exp(-0.5 * squares))


def feature_kernels(count: int) -> tuple[LevelKernel, ...]:
    """Return kernels of features: all together, and each alone, so that learned variances drop those of no use."""
    alone = [_FeatureBump(f"feature {column}", column) for column in range(count)] if count > 1 else []
    return (ALIKE, *alone)


#: The same level or not; on one line; near each other on it; near each other in features.
SAME, LINE, BUMP, ALIKE = _Same("same"), _Line("line"), _Bump("curve"), _FeatureBump("features")


def _coordinates(factors: Factors, factor: int) -> FloatArray:
    line = factors.coordinates[factor]
    assert line is not None
    return line


def _with_unknown(gram: FloatArray) -> FloatArray:
    """Add a level that is like no other, with the variance that levels have in the mean."""
    size = len(gram)
    larger = np.zeros((size + 1, size + 1))
    larger[:size, :size] = gram
    larger[size, size] = gram.diagonal().mean() if size else 1.0
    return larger
