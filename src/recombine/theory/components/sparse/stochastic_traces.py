"""Mixed-model equations too large to factor: conjugate gradients, with fixed random probes for traces.

The preconditioner P is the Schur complement of a design with the same factors and rows in which every combination of
levels is seen alike: there each set I of factors has its own space of contrasts, on which P is the identity plus one
rank: w_J w_K with w_J^2 = s_J / s_0 times the rows of a level of J, for the terms J and K that hold I. Its inverse,
root and determinant are sums over I. A diagonal scaling brings P's diagonal to that of the equations at hand.

Probes r = P^1/2 e, with e of random signs, give by one run of conjugate gradients the log-determinant (Lanczos
quadrature of log P^-1 S) and the traces: tr A S^-1 = tr A P^-1 + E r' P^-1 A (S^-1 - P^-1) r, the term in front exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.theory.components.sparse.mixed_equations import ReducedSystem

#: Probes of traces and of the log-determinant, and draws from the posterior for the variances of cells.
TRACE_PROBES, POSTERIOR_DRAWS = 12, 72
#: Seeds of probes and draws: the same answer in every run.
PROBE_SEED, DRAW_SEED = 20, 21
#: Residual over right-hand side at which conjugate gradients for probes end; their steps at most.
PROBE_TOLERANCE, MAX_SOLVE_STEPS = 1e-3, 1_000

Set = tuple[int, ...]
Operator = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class _Grid:
    """Columns of a term that has one for every combination of its factors' levels."""

    factors: Set
    span: slice
    levels: tuple[int, ...]

    @property
    def count(self) -> int:
        return math.prod(self.levels)

    def marginal(self, vectors: FloatArray, chosen: Set) -> FloatArray:
        """Return sums of vectors (R, k) over factors that are not chosen, over the root of their combinations."""
        axes = tuple(axis for axis, factor in enumerate(self.factors) if factor not in chosen)
        sums = vectors[self.span].reshape(*self.levels, -1).sum(axis=axes)
        return np.asarray(sums / math.sqrt(math.prod(self.levels[axis] for axis in axes)))

    def add(self, vectors: FloatArray, chosen: Set, contrast: FloatArray) -> None:
        """Add to vectors (R, k) the transpose of `marginal`."""
        shape = [size if factor in chosen else 1 for factor, size in zip(self.factors, self.levels, strict=True)]
        spread = contrast.reshape(*shape, -1) * math.sqrt(math.prod(shape) / self.count)
        vectors[self.span].reshape(*self.levels, -1)[...] += spread


@dataclass(frozen=True, eq=False)
class BalancedPreconditioner:
    """P by its contrasts: for each set I of factors, how much the term of each grid knows of them."""

    grids: tuple[_Grid, ...]
    loadings: dict[Set, FloatArray]  #: For every set I, w_J of each grid's term J, 0 where J does not hold I.
    scaling: FloatArray  #: Root of the diagonal scaling (R,).

    def apply(self, vectors: FloatArray, power: float) -> FloatArray:
        """Return P^power without its diagonal scaling, times vectors (R, k)."""
        result = vectors.copy()
        for chosen, loading in self.loadings.items():
            members = [(grid, weight) for grid, weight in zip(self.grids, loading, strict=True) if weight]
            contrast = sum((weight * grid.marginal(vectors, chosen) for grid, weight in members), np.zeros(1))
            for axis in range(len(chosen)):
                contrast = contrast - contrast.mean(axis=axis, keepdims=True)
            contrast = contrast * _gain(loading, power)
            for grid, weight in members:
                grid.add(result, chosen, weight * contrast)
        return result

    def solve(self, vectors: FloatArray) -> FloatArray:
        """Return the inverse of P times vectors (R, k)."""
        return self.apply(vectors / self.scaling[:, None], -1.0) / self.scaling[:, None]

    def root(self, vectors: FloatArray) -> FloatArray:
        """Return a root of P times vectors (R, k)."""
        return self.apply(vectors, 0.5) * self.scaling[:, None]

    @property
    def log_det(self) -> float:
        """The log of the determinant of P."""
        sums = sum(self._dimension(chosen) * np.log1p(loading @ loading) for chosen, loading in self.loadings.items())
        return float(sums + 2 * np.log(self.scaling).sum())

    def diagonal(self, power: float) -> FloatArray:
        """Return the diagonal (R,) of P^power without its diagonal scaling."""
        diagonal = np.ones(len(self.scaling))
        for chosen, loading in self.loadings.items():
            for grid, weight in zip(self.grids, loading, strict=True):
                diagonal[grid.span] += weight**2 * _gain(loading, power) * self._dimension(chosen) / grid.count
        return diagonal

    def _dimension(self, chosen: Set) -> int:
        """Return the dimension of the contrasts among all factors of a set."""
        return math.prod(size - 1 for factor, size in _sizes(self.grids).items() if factor in chosen)


def _gain(loading: FloatArray, power: float) -> float:
    """Return g with (I + w w')^power = I + g w w'."""
    strength = float(loading @ loading)
    return float(np.expm1(power * np.log1p(strength)) / strength) if strength else 0.0


def _sizes(grids: Iterable[_Grid]) -> dict[int, int]:
    return {factor: size for grid in grids for factor, size in zip(grid.factors, grid.levels, strict=True)}


def balanced_preconditioner(system: ReducedSystem) -> BalancedPreconditioner:
    """Return the preconditioner of a system's Schur complement."""
    equations, size, scales, count = system.equations, system.size, system.scales, system.remaining.shape[0]
    eliminated = equations.columns[equations.eliminated]
    grids = [
        _Grid(columns.labels, slice(span.start - size, span.stop - size), columns.sizes)
        for columns, span in zip(equations.columns, equations.spans, strict=True)
        if columns.term.is_labels and columns.keys is None and columns is not eliminated
    ]
    grids.append(_Grid((), slice(count - 1, count), ()))
    rows = equations.weights.sum()
    powers = np.array([scales[size + grid.span.start] ** 2 * rows / grid.count for grid in grids])
    loadings = {}
    sets = {
        some for grid in grids for size in range(len(grid.factors) + 1) for some in combinations(grid.factors, size)
    }
    for chosen in sorted(sets):
        free = [levels for factor, levels in _sizes(grids).items() if factor in set(chosen) - set(eliminated.labels)]
        share = _remaining_share(equations.diagonal, scales[:size], math.prod(free))
        members = np.array([set(chosen) <= set(grid.factors) for grid in grids])
        loadings[chosen] = np.sqrt(members * powers * share)
    plain = BalancedPreconditioner(tuple(grids), loadings, np.ones(count))
    diagonal = system.remaining.diagonal() - system.coupling.power(2) @ (1 / system.pivots)
    return replace(plain, scaling=np.sqrt(diagonal / plain.diagonal(1.0)))


def _remaining_share(diagonal: FloatArray, scales: FloatArray, free: int) -> float:
    """Return how much of a contrast is beyond the eliminated term, ``free`` combinations of it being in each level.

    Of d rows drawn from a level the eliminated term takes s d / (1 + s d) of their mean; contrasts within the level
    have a mean only in so far as the d rows miss some of the combinations.
    """
    taken = scales**2 * diagonal / (1 + scales**2 * diagonal)
    exposed = diagonal if free == 1 else np.clip((free - diagonal) / (free - 1), 0.0, 1.0)
    return float(np.clip(1.0 - taken @ exposed / diagonal.sum(), 1e-6, 1.0))


@dataclass(frozen=True, eq=False)
class ConjugateSolutions:
    """Solutions (R, k) by conjugate gradients, step lengths and ratios (steps, k): nan once a column is done."""

    value: FloatArray
    lengths: FloatArray
    ratios: FloatArray
    residual: float  #: The largest residual over its right-hand side.

    def log_quadrature(self) -> FloatArray:
        """Return for each column (k,) r' P^-1/2 log(P^-1/2 S P^-1/2) P^-1/2 r over r' P^-1 r."""
        from scipy.linalg import eigh_tridiagonal

        results = np.zeros(self.value.shape[1])
        for column in range(len(results)):
            steps = int(np.isfinite(self.lengths[:, column]).sum())
            lengths, ratios = self.lengths[:steps, column], self.ratios[:steps, column]
            diagonal = 1 / lengths + np.append(0.0, ratios[:-1] / lengths[:-1])
            values, vectors = eigh_tridiagonal(diagonal, np.sqrt(ratios[:-1]) / lengths[:-1])
            results[column] = vectors[0] ** 2 @ np.log(values)
        return results


def conjugate_gradients(
    multiply: Operator, precondition: Operator, targets: FloatArray, tolerance: float
) -> ConjugateSolutions:
    """Solve S x = targets (R, k), each column until its residual is below the tolerance."""
    value, residual = np.zeros_like(targets), targets.copy()
    limits = tolerance * np.linalg.norm(targets, axis=0)
    direction = image = precondition(residual)
    power = np.einsum("ij,ij->j", residual, image)
    lengths: list[FloatArray] = []
    ratios: list[FloatArray] = []
    active = np.linalg.norm(residual, axis=0) > limits
    while active.any() and len(lengths) < MAX_SOLVE_STEPS:
        product = multiply(direction)
        length = np.where(active, power / np.where(active, np.einsum("ij,ij->j", direction, product), 1.0), 0.0)
        value += length * direction
        residual -= length * product
        image = precondition(residual)
        previous, power = power, np.einsum("ij,ij->j", residual, image)
        ratio = np.where(active, power / np.where(active, previous, 1.0), 0.0)
        direction = image + ratio * direction
        lengths.append(np.where(active, length, np.nan))
        ratios.append(np.where(active, ratio, np.nan))
        active &= np.linalg.norm(residual, axis=0) > limits
    worst = float((np.linalg.norm(residual, axis=0) / np.maximum(limits / tolerance, 1e-300)).max(initial=0.0))
    shape = (len(lengths), targets.shape[1])
    return ConjugateSolutions(value, np.reshape(lengths, shape), np.reshape(ratios, shape), worst)


@dataclass(frozen=True, eq=False)
class IterativeSystem(ReducedSystem):
    """M by conjugate gradients on the Schur complement: traces and log-determinant are estimates."""

    @cached_property
    def preconditioner(self) -> BalancedPreconditioner:
        """The preconditioner of the Schur complement."""
        return balanced_preconditioner(self)

    def multiply(self, vectors: FloatArray) -> FloatArray:
        """Return the Schur complement times vectors (R, k)."""
        finest, inner = self.equations.finest, self.scales[self.size :, None]
        weights = (self.scales[: self.size] ** 2 / self.pivots)[:, None]
        columns = finest.sums @ (inner * vectors)
        product = finest.gram @ columns - finest.coupling @ (weights * (finest.coupled @ columns))
        result = inner * (finest.sums_transposed @ product)
        result[:-1] += vectors[:-1]
        return np.asarray(result)

    def solve_remaining(self, vectors: FloatArray, tolerance: float) -> FloatArray:
        """Return the inverse of the Schur complement times vectors (R, k)."""
        return conjugate_gradients(self.multiply, self.preconditioner.solve, vectors, tolerance).value

    @cached_property
    def _probes(self) -> tuple[FloatArray, ConjugateSolutions]:
        """Probes times the inverse of P (R, k), and the inverse of S times the probes."""
        shape = (self.equations.remaining.shape[0], TRACE_PROBES)
        probes = self.preconditioner.root(np.random.default_rng(PROBE_SEED).choice([-1.0, 1.0], size=shape))
        solutions = conjugate_gradients(self.multiply, self.preconditioner.solve, probes, PROBE_TOLERANCE)
        return self.preconditioner.solve(probes), solutions

    @cached_property
    def log_det(self) -> float:
        """An estimate of the log of the determinant of M."""
        size = int(self.equations.remaining.shape[0])
        quadrature = float(self._probes[1].log_quadrature().mean())
        return float(np.log(self.pivots).sum()) + self.preconditioner.log_det + size * quadrature

    @cached_property
    def traces(self) -> FloatArray:
        """Estimates of the trace of each term's diagonal block (T,) of the inverse of M."""
        plain, solutions = self._probes
        differences = (plain * (solutions.value - plain)).mean(axis=1)
        diagonal = self.preconditioner.diagonal(-1.0) / self.preconditioner.scaling**2 + differences
        padded = np.concatenate([np.zeros(self.size), diagonal])
        traces = np.array([padded[span].sum() for span in self.equations.spans])
        images = (self.coupled @ plain) * (self.coupled @ solutions.value)
        traces[self.equations.eliminated] = (1 / self.pivots).sum() + (self.pivots**-2 @ images).mean()
        return traces

    @cached_property
    def _draws(self) -> FloatArray:
        """Draws (R, k) of the remaining columns' effects about their expectation, in units of the terms' variances."""
        rng = np.random.default_rng(DRAW_SEED)
        eliminated, remaining = self.equations.rows(self.equations.codes)
        draws = []
        for _ in range(0, POSTERIOR_DRAWS, TRACE_PROBES):
            noise = np.sqrt(self.equations.weights)[:, None] * rng.standard_normal((eliminated.shape[0], TRACE_PROBES))
            data = self.scales[:, None] * np.concatenate([eliminated.T @ noise, remaining.T @ noise])
            data[:-1] += rng.standard_normal((len(data) - 1, TRACE_PROBES))
            reduced = data[self.size :] - self.coupling @ (data[: self.size] / self.pivots[:, None])
            draws.append(conjugate_gradients(self.multiply, self.preconditioner.solve, reduced, PROBE_TOLERANCE).value)
        return np.hstack(draws)

    def spread(self, eliminated: Any, remaining: Any) -> FloatArray:
        """Return an estimate of v S^-1 v' (N,): the mean square over draws."""
        total = np.zeros(remaining.shape[0])
        for start in range(0, POSTERIOR_DRAWS, TRACE_PROBES):
            draws = self._draws[:, start : start + TRACE_PROBES]
            values = remaining @ draws - eliminated @ ((self.coupled @ draws) / self.pivots[:, None])
            total += np.square(values).sum(axis=1)
        return total / POSTERIOR_DRAWS
