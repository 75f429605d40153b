"""Saliences and values of many cells by Henderson's equations: beyond the thousands that fill a dense covariance.

`mixed_equations` sums seen cells up; `SparseCriterion(equations, centres)` is the restricted likelihood that
`maximize_criterion` climbs, the same function of log variances as the dense `Criterion`; `SparsePosterior` gives values
of any cell. With M = I + L G L, L the root of each column's variance over the noise's (no I for the flat mean),

    -2 log likelihood = (n - 1) log 2 pi s_0 + log |M| + sum log noise + (|y - Z L b|_W^2 + |b|^2) / s_0,    M b = L c,

its derivative by log s_J is q_J - tr (M^-1)_JJ - |b_J|^2 / s_0 with q_J columns. The largest term's block
is diagonal; what eliminating it leaves, the Schur complement, is factored as a dense matrix up to `MAX_DENSE_COLUMNS`
columns, so that everything is exact. Beyond that `stochastic_traces` solves by conjugate gradients, with fixed probes
for traces and log-determinant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import diags_array, hstack

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.theory.components.criterion import Saliences, add_prior, best_saliences, with_replicates
from recombine.theory.components.factors import Factors
from recombine.theory.components.sparse.mixed_equations import MixedEquations, ReducedSystem, mixed_equations
from recombine.theory.components.sparse.stochastic_traces import IterativeSystem
from recombine.theory.components.terms import ComponentTerm

#: Columns beside the eliminated term's up to which their Schur complement is a dense matrix.
MAX_DENSE_COLUMNS = 5_000
#: Time of one product in a sparse matrix in units of one in a dense matrix.
SPARSE_COST_RATIO = 100
#: Residual over right-hand side at which iterations for the average information end: it only guides steps.
INFORMATION_TOLERANCE = 1e-3
#: Share of an outcome in its noise below which one minus the rest would cancel; products of such cells with all cells
#: up to which it is summed up instead.
SMALL_SHARE, MAX_EXACT_SHARES = 1e-2, 10_000_000
#: Rows of the coupling made dense at once, and cells whose variances are computed at once.
CHUNK_ROWS = 2_048


@dataclass(frozen=True, eq=False)
class SchurSystem(ReducedSystem):
    """M with the Schur complement of the eliminated block factored as a dense matrix."""

    @cached_property
    def _lower(self) -> FloatArray:
        """Lower Cholesky factor (R, R) of the Schur complement."""
        from scipy.linalg.lapack import dpotrf

        complement = self.remaining.toarray() - self._coupled_gram(1 / self.pivots)
        lower, failed = dpotrf(complement.T, lower=1, clean=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the equations of the components are singular")
        return np.asarray(lower)

    def _coupled_gram(self, weights: FloatArray) -> FloatArray:
        """Return B diag(weights) B' for the coupling B (R, E), by the faster of two routes."""
        counts = np.diff(self.coupled.indptr)
        columns = self.coupling.shape[0]
        if SPARSE_COST_RATIO * float(counts @ counts) < columns**2 * len(weights):
            return np.asarray((self.coupling @ (diags_array(weights) @ self.coupled)).toarray())
        total = np.zeros((columns, columns))
        for start in range(0, len(weights), CHUNK_ROWS):
            block = self.coupled[start : start + CHUNK_ROWS].toarray()
            block *= np.sqrt(weights[start : start + CHUNK_ROWS])[:, None]
            total += block.T @ block
        return total

    @cached_property
    def inverse(self) -> FloatArray:
        """Inverse (R, R) of the Schur complement."""
        from scipy.linalg.lapack import dpotri

        inverse, _ = dpotri(self._lower, lower=1)
        return np.asarray(inverse + np.tril(inverse, -1).T)

    @cached_property
    def log_det(self) -> float:
        """The log of the determinant of M."""
        return float(np.log(self.pivots).sum() + 2.0 * np.log(self._lower.diagonal()).sum())

    @cached_property
    def traces(self) -> FloatArray:
        """Trace of each term's diagonal block (T,) of the inverse of M."""
        diagonal = np.concatenate([np.zeros(self.size), self.inverse.diagonal()])
        traces = np.array([diagonal[span].sum() for span in self.equations.spans])
        shift = np.vdot(self.inverse, self._coupled_gram(self.pivots**-2))
        traces[self.equations.eliminated] = (1 / self.pivots).sum() + shift
        return traces

    def solve_remaining(self, vectors: FloatArray, tolerance: float) -> FloatArray:
        """Return the inverse of the Schur complement times vectors (R, k), exact."""
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self._lower, vectors, lower=1)[0])

    def spread(self, eliminated: Any, remaining: Any) -> FloatArray:
        """Return v S^-1 v' (N,) level by level of the eliminated term, of which each row has one."""
        levels, weights = eliminated.indices, eliminated.data / self.pivots[eliminated.indices]
        order = np.argsort(levels, kind="stable")
        starts = np.searchsorted(levels[order], np.arange(0, self.size + CHUNK_ROWS, CHUNK_ROWS))
        result = np.zeros(len(levels))
        for chunk, (start, stop) in enumerate(pairwise(starts)):
            if start < stop:
                members, offset = order[start:stop], chunk * CHUNK_ROWS
                block = self.coupled[offset : offset + CHUNK_ROWS]
                images = block @ self.inverse
                squares = np.asarray(block.multiply(images).sum(axis=1))
                rows, levels_here, factor = remaining[members], levels[members] - offset, weights[members]
                entry_rows = np.repeat(np.arange(len(members)), np.diff(rows.indptr))
                mixed = rows.data * images[levels_here[entry_rows], rows.indices]
                result[members] = factor**2 * squares[levels_here] - 2 * factor * np.bincount(entry_rows, mixed)
                result[members] += self._squares(rows)
        return result

    def _squares(self, rows: Any) -> FloatArray:
        """Return y S^-1 y' (N,) for sparse rows y (N, R) of equally many entries."""
        width = rows.nnz // rows.shape[0]
        columns, entries = rows.indices.reshape(-1, width), rows.data.reshape(-1, width)
        total = np.zeros(rows.shape[0])
        for i in range(width):
            for j in range(i + 1):
                total += (1 + (i != j)) * entries[:, i] * entries[:, j] * self.inverse[columns[:, i], columns[:, j]]
        return total


def system_of(equations: MixedEquations, scales: FloatArray) -> ReducedSystem:
    """Return the equations at given scales (E + R,), by the exact route where it is affordable."""
    dense = equations.remaining.shape[0] <= MAX_DENSE_COLUMNS
    return SchurSystem(equations, scales) if dense else IterativeSystem(equations, scales)


@record
class SparseCriterion:
    """Restricted likelihood of the equations as a function of log variances."""

    equations: MixedEquations
    centres: FloatArray | None = None  #: Of the normal priors of log variances (T + 1,), the noise's last; None: flat.

    def derivatives(self, logs: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return criterion, gradient (T + 1,) and average information (T + 1, T + 1) at log variances (T + 1,)."""
        equations, noise = self.equations, float(np.exp(logs[-1]))
        scales = equations.scales(np.exp(logs[:-1] - logs[-1]))
        system = system_of(equations, scales)
        effects = system.solve((scales * equations.moments)[:, None])[:, 0]
        missed = float(equations.weights @ equations.residuals(scales * effects) ** 2)
        squares = missed + float(effects[:-1] @ effects[:-1])  # as a difference from y' W y it would cancel
        degrees = len(equations.weights) - 1
        value = -0.5 * (degrees * np.log(2 * np.pi * noise) + system.log_det + squares / noise)
        value += 0.5 * float(np.log(equations.weights).sum())
        powers = np.array([effects[span] @ effects[span] for span in equations.spans]) / noise
        counts = np.array([columns.count for columns in equations.columns])
        slopes = 0.5 * (powers - counts + system.traces)
        gradient = np.append(slopes, 0.5 * (squares / noise - degrees) - slopes.sum())
        information = self._information(system, scales * effects, missed) / noise
        result = float(value), gradient, information
        return result if self.centres is None else add_prior(logs, self.centres, *result)

    def _information(self, system: ReducedSystem, effects: FloatArray, missed: float) -> FloatArray:
        """Return s_0 f' P f / 2 (T + 1, T + 1), f being what each term adds to the values, and last the residuals."""
        equations = self.equations
        pieces = np.zeros((len(effects), len(equations.columns) + 1))
        for index, span in enumerate(equations.spans):
            pieces[span, index] = effects[span]
        pieces[:, -1] = effects
        images = equations.gram(pieces)
        products = pieces.T @ images
        residual = equations.moments - images[:, -1]
        products[:, -1] = products[-1, :] = np.append(pieces[:, :-1].T @ residual, 0.0)
        products[-1, -1] = missed
        images[:, -1] = residual
        images *= system.scales[:, None]
        return np.asarray(products - images.T @ system.solve(images, INFORMATION_TOLERANCE)) / 2


@record
class SparsePosterior:
    """A normal process with a flat mean that saw outcomes (n,) at cells (n, F), for given saliences.

    Variances are exact where the Schur complement is dense; beyond that they are mean squares over `POSTERIOR_DRAWS`
    draws from the posterior, given which the eliminated term's variance is exact: their standard deviations are within
    some 8 percent.
    """

    factors: Factors
    y: FloatArray
    system: ReducedSystem
    effects_mean: FloatArray  #: Expected effects (E + R,), the mean last.
    noise: float  #: Variance of an outcome of weight 1 about its cell's value.
    further: MixedEquations | None = None  #: With columns that know levels which the equations do not.

    def with_factors(self, factors: Factors) -> SparsePosterior:
        """Return the posterior with further levels of factors that have coordinates."""
        equations = self.system.equations
        columns = tuple(each.extended(factors) for each in equations.columns)
        return replace(self, factors=factors, further=replace(equations, columns=columns))

    @property
    def codes(self) -> IntArray:
        """Seen cells (n, F)."""
        return self.system.equations.codes

    @property
    def mean(self) -> float:
        """The mean, by generalized least squares."""
        return float(self.effects_mean[-1]) + self.system.equations.centre

    def predict(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (M,) of the value, without noise, of cells (M, F)."""
        mean, variance = self._values(cells, None)
        return mean + self.system.equations.centre, variance

    def means(self, cells: IntArray) -> FloatArray:
        """Return the mean alone (M,) of cells (M, F)."""
        equations = self.further or self.system.equations
        return self._sums(*equations.rows(cells)) + equations.centre

    def _sums(self, eliminated: Any, remaining: Any) -> FloatArray:
        size = self.system.size
        return np.asarray(eliminated @ self.effects_mean[:size] + remaining @ self.effects_mean[size:])

    def duals(self, outcomes: FloatArray) -> FloatArray:
        """Return weights of seen cells in any value, had the outcomes been others (n, k): residuals over the noise."""
        system, equations = self.system, self.system.equations
        weighed = equations.weights[:, None] * outcomes
        rows = hstack(equations.rows(self.codes), format="csr")
        effects = system.scales[:, None] * system.solve(system.scales[:, None] * (rows.T @ weighed))
        return np.asarray((weighed - equations.weights[:, None] * (rows @ effects)) / self.noise)

    def effects(self, factor: int, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation (L,) of what the levels of one factor add by themselves."""
        cells = np.full((len(levels), self.codes.shape[1]), -1)
        cells[:, factor] = levels
        mean, variance = self._values(cells, factor)
        return mean, np.sqrt(variance)

    def _values(self, cells: IntArray, alone: int | None) -> tuple[FloatArray, FloatArray]:
        system, equations = self.system, self.further or self.system.equations
        eliminated, remaining = equations.rows(cells, alone)
        spread = system.variances(eliminated, remaining)
        for columns, ratio in zip(equations.columns, system.ratios, strict=True):
            if alone is None or columns.term.factors == (alone,):
                unseen = columns.term.variance(self.factors, cells) - columns.rows(cells).power(2).sum(axis=1)
                spread += ratio * unseen
        return self._sums(eliminated, remaining), self.noise * np.maximum(spread, 0.0)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (n,), noise included, of every seen outcome had it been left out."""
        return self._left_out

    @cached_property
    def _left_out(self) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.predict(self.codes)
        equations = self.system.equations
        weights, terms = equations.weights, zip(equations.columns, self.system.ratios, strict=True)
        prior = sum(ratio * columns.term.variance(self.factors, self.codes) for columns, ratio in terms)
        noise = self.noise / weights
        # A cell says most of itself where no cell beside it tells of its terms; no draw may say more than twice that.
        share = np.maximum(1.0 - variance / noise, 0.5 / (1.0 + prior * weights))
        small = np.flatnonzero(share < SMALL_SHARE)
        if len(small) * len(share) <= MAX_EXACT_SHARES and isinstance(self.system, SchurSystem):
            share[small] = self._shares(small)
        return self.y - (self.y - mean) / share, noise / share

    def _shares(self, members: IntArray) -> FloatArray:
        """Return the part of some seen outcomes (k,) that no cell beside them foretells, over their noise.

        It is the least that squares of residuals and effects come to where one outcome is 1 and all others are 0. As
        a sum of squares it does not cancel, however small it is.
        """
        equations, weights = self.system.equations, self.system.equations.weights
        rows = hstack(self.system.in_units(*equations.rows(self.codes)), format="csr")
        shares = np.empty(len(members))
        for start in range(0, len(members), CHUNK_ROWS):
            chunk = members[start : start + CHUNK_ROWS]
            effects = self.system.solve(rows[chunk].T.toarray() * weights[chunk])
            missed = rows @ effects
            missed[chunk, np.arange(len(chunk))] -= 1.0
            squares = weights @ missed**2 + np.square(effects[:-1]).sum(axis=0)
            shares[start : start + CHUNK_ROWS] = squares / weights[chunk]
        return shares

    def leave_out(self, members: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (k,), noise included, of seen outcomes had all of them been left out together."""
        equations, weights = self.system.equations, self.system.equations.weights[members] / self.noise
        covariance = self.noise * self.system.covariance(*equations.rows(self.codes[members]))
        block = np.diag(weights) - weights[:, None] * covariance * weights
        residuals = weights * (self.y[members] - self.predict(self.codes[members])[0])
        spread = np.linalg.pinv(block, hermitian=True)
        return self.y[members] - spread @ residuals, np.maximum(spread.diagonal(), 0.0)


def sparse_posterior(
    factors: Factors, y: FloatArray, equations: MixedEquations, variances: FloatArray, noise: float
) -> SparsePosterior:
    """Return the posterior at variances of terms (T,) and of the noise, given the equations of outcomes (n,)."""
    system = system_of(equations, equations.scales(variances / noise))
    effects = system.scales * system.solve((system.scales * equations.moments)[:, None])[:, 0]
    return SparsePosterior(factors, y, system, effects, noise)


def fit_sparse(
    factors: Factors,
    codes: IntArray,
    y: FloatArray,
    noise: FloatArray,
    terms: Sequence[ComponentTerm],
    centres: FloatArray,
    within: tuple[float, float] | None = None,
) -> tuple[Saliences, SparsePosterior]:
    """Return saliences and posterior of outcomes (n,) of variance 1 at cells (n, F), noise up to a factor (n,).

    ``centres`` are those of the priors of log variances (T + 1,), ``within`` squares and freedom of rows within cells.
    """
    equations = mixed_equations(factors, codes, y, noise, terms)
    criterion = with_replicates(SparseCriterion(equations, centres), within)
    saliences = best_saliences(criterion, terms)
    return saliences, sparse_posterior(factors, y, equations, saliences.variances, saliences.noise)
