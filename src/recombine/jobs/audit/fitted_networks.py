"""Wide networks fitted to a design's own outcome, by their kernels, and scored where the outcome is known.

Where rows are held out, the networks are fitted to the training cells and scored there. Without any, each seen cell is
predicted from all others, or, where that would be too large a matrix, a random tenth of them from the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.conjunctions import canonical, every_arrangement, places_among
from recombine.cells.scales import FactorScale
from recombine.errors import SolverError
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.progress import each
from recombine.theory.identification.additive_fit import AdditiveFit, fit_additive
from recombine.theory.identification.identify import identify
from recombine.theory.identification.nullspace import Route
from recombine.theory.kernels.left_out import predict_left_out
from recombine.theory.kernels.overlap import MAX_FACTORS_OF_SUBSETS, OverlapKernel
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.audit.additivity import OrderCheck

DEPTHS = (1, 2, 3, 4)
KERNELS: dict[str, Callable[[int, int], OverlapKernel]] = {"ntk": OverlapKernel.ntk, "nngp": OverlapKernel.relu}
#: Where not every seen cell is left out, the share of them that is held out, and how many are scored at most.
HELD_SHARE, MAX_SCORED_CELLS = 0.1, 4_000
#: Entries that one iterative solve may go through, each step one for each cell and subset of factors: a few seconds.
MAX_STEP_ENTRIES, MIN_STEPS = 200_000_000, 50
#: Errors are read to three digits, so that iterative solves may stop early.
KERNEL_TOLERANCE = 1e-4


class ForecastSource(StrEnum):
    """On which cells a forecast was scored: held-out rows, seen cells by all others, or a tenth by the rest."""

    HELD_OUT_ROWS = auto()
    SEEN_CELLS = auto()
    HELD_OUT_CELLS = auto()


class NoForecast(StrEnum):
    """Why networks are not forecast."""

    NO_OUTCOME = auto()
    CONSTANT_OUTCOME = auto()
    NUMERIC_FACTORS = auto()
    MANY_CELLS = auto()
    MANY_STEPS = auto()
    FEW_CELLS = auto()
    CHANCE = auto()


@dataclass(frozen=True)
class ForecastObstacle:
    """Why networks are not forecast: the limit of cells or of steps that is passed, or the factors that are numbers."""

    reason: NoForecast
    limit: int = 0
    factors: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Scored:
    """Predictions at T cells whose outcome is known and that the fitted cells determine, each of shape (T,).

    ``places`` are their numbers among the cells of the design. ``additive`` is the value that follows if effects add,
    ``mean`` the plain mean of the fitted cells, ``noise`` the variance of the noise of ``observed`` where it is known;
    ``networks`` go by kernel ("ntk": all layers learn, "nngp": the readout) and number of hidden layers. ``adding``
    says that the cells are all that adding determines.
    """

    source: ForecastSource
    places: IntArray
    observed: FloatArray
    additive: FloatArray
    mean: FloatArray
    noise: FloatArray | None
    networks: dict[tuple[str, int], FloatArray] = field(default_factory=dict)
    adding: bool = True

    def only(self, chosen: BoolArray) -> Scored:
        """Return the predictions at some of the cells, (T,)."""
        if chosen.all():
            return self
        arrays = {name: getattr(self, name)[chosen] for name in ("places", "observed", "additive", "mean")}
        noise = None if self.noise is None else self.noise[chosen]
        networks = {name: values[chosen] for name, values in self.networks.items()}
        return replace(self, **arrays, noise=noise, networks=networks, adding=False)


def fitted_cells(design: Design) -> int:
    """Return how many cells a network is shown: the seen ones, in every order of interchangeable levels."""
    return len(every_arrangement(design.seen, design.symmetric))


def obstacle(design: Design) -> ForecastObstacle | None:
    """Return why networks are not fitted to a design; None if they are."""
    if design.outcome is None:
        return ForecastObstacle(NoForecast.NO_OUTCOME)
    if np.ptp(design.observed.seen_outcome) == 0:
        return ForecastObstacle(NoForecast.CONSTANT_OUTCOME)
    if numeric := [factor.name for factor in design.factors if factor.scale is FactorScale.NUMERIC]:
        return ForecastObstacle(NoForecast.NUMERIC_FACTORS, factors=tuple(numeric))
    few = len(design.factors) <= AUDIT_LIMITS.few_factors
    limit = AUDIT_LIMITS.max_cells_fitted if few else AUDIT_LIMITS.max_cells_of_many_factors
    if len(design.factors) > MAX_FACTORS_OF_SUBSETS:
        limit = min(limit, AUDIT_LIMITS.max_cells_left_out)  # the solvers for more cells weigh every subset of factors
    return ForecastObstacle(NoForecast.MANY_CELLS, limit) if fitted_cells(design) > limit else None


def depths_of(design: Design) -> tuple[int, ...]:
    """Return the numbers of hidden layers that are tried: all four unless that would take too long."""
    cells, few = len(design.seen), len(design.factors) <= AUDIT_LIMITS.few_factors
    deep = cells <= AUDIT_LIMITS.max_cells_left_out or (few and cells <= AUDIT_LIMITS.max_cells_by_depth)
    return DEPTHS if deep else (1,)


def predict_networks(
    design: Design, train: BoolArray, cells: IntArray, depths: Sequence[int] = DEPTHS
) -> dict[tuple[str, int], FloatArray]:
    """Return what networks fitted to the design's cells flagged in ``train`` (M,) predict at ``cells`` (T, C).

    A kernel whose solve does not converge in the steps it is given is left out, and so are those after it.
    """
    # Cells are shown in every order of symmetric factors, each with its outcome.
    shown = every_arrangement(design.cells[train], design.symmetric)
    places = places_among(design.cells[train], canonical(shown, design.symmetric))
    answers = design.observed.measured[train][places]
    predictions = {}
    for name, depth in each("kernels of networks", _asked(depths)):
        kernel = KERNELS[name](depth, len(design.factors))
        try:
            solution = solve(
                kernel, shown, answers, tolerance=KERNEL_TOLERANCE, intercept=True, most_steps=affordable_steps(shown)
            )
        except SolverError:
            break
        predictions[name, depth] = kernel_expansion(kernel, shown, solution.value, cells) + float(solution.intercept)
    return predictions


def affordable_steps(cells: IntArray) -> int:
    """Return how many steps an iterative solve on ``cells`` (N, C) may take.

    Examples
    --------
    >>> affordable_steps(np.zeros((1_000, 3), dtype=int)), affordable_steps(np.zeros((500_000, 5), dtype=int))
    (25000, 50)
    """
    return max(MAX_STEP_ENTRIES // (len(cells) << int(cells.shape[1])), MIN_STEPS)


def _asked(depths: Sequence[int]) -> list[tuple[str, int]]:
    return [(name, depth) for depth in depths for name in KERNELS]


def score_held_out(
    design: Design, fit: AdditiveFit, rows: IntArray, train: BoolArray, source: ForecastSource
) -> Scored:
    """Score networks fitted to the design's cells flagged in ``train`` (M,) on its cells number ``rows`` (T,)."""
    cells, outcome = design.cells[rows], design.observed.measured
    return Scored(
        source,
        rows,
        outcome[rows],
        fit.predict(cells),
        np.full(len(rows), float(outcome[train].mean())),
        noise_at(design, rows),
        predict_networks(design, train, cells, depths_of(design)),
    )


def score_seen(design: Design, check: OrderCheck, assumed: OrderCheck, seed: int) -> Scored | None:
    """Score networks on seen cells that the other seen cells determine; None if those are too few.

    ``check`` is that of order 1, whose predictions they stand beside, ``assumed`` that of the order that is assumed.
    """
    if len(design.seen) > AUDIT_LIMITS.max_cells_left_out:
        return _score_tenth(design, assumed.order, seed)
    outcome, tested = design.observed.seen_outcome, check.determined & assumed.determined
    if tested.sum() < AUDIT_LIMITS.min_cells_tested:
        return None
    mean = (outcome.sum() - outcome) / (len(outcome) - 1)
    networks = {
        (name, depth): predict_left_out(
            KERNELS[name](depth, len(design.factors)), design.seen, outcome, design.symmetric
        )[tested]
        for name, depth in each("kernels of networks", _asked(DEPTHS))
    }
    places, additive = np.flatnonzero(design.train)[tested], check.predicted[tested]
    noise, all_tested = noise_at(design, places), bool((tested == check.determined).all())
    source = ForecastSource.SEEN_CELLS
    return Scored(source, places, outcome[tested], additive, mean[tested], noise, networks, all_tested)


def _score_tenth(design: Design, order: int, seed: int) -> Scored | None:
    """Hold out a random tenth of the seen cells, once; those are scored that the rest determines at ``order``."""
    seen = np.flatnonzero(design.train)
    count = min(round(HELD_SHARE * len(seen)), MAX_SCORED_CELLS)
    held = np.sort(np.random.default_rng(seed).choice(seen, count, replace=False))
    train = design.train.copy()
    train[held] = False
    # Floating point is good enough to choose cells to score: what it leaves undecided is not scored.
    verdicts = identify(design.cells[train], design.cells[held], order, **design.shape, route=Route.PROJECTION).verdicts
    rows = held[verdicts == Verdict.DETERMINED]
    if len(rows) < AUDIT_LIMITS.min_cells_tested:
        return None
    outcome, precision = design.observed.measured[train], design.precision[train]
    fit = fit_additive(design.features(1), design.cells[train], outcome, precision)
    return replace(score_held_out(design, fit, rows, train, ForecastSource.HELD_OUT_CELLS), adding=order == 1)


def noise_at(design: Design, rows: IntArray) -> FloatArray | None:
    """Return the variance of the noise of mean outcomes (T,), where it is known; held-out cells count like seen."""
    noise, count = cell_noise(design), design.precision
    if noise is None or noise.at_most:
        return None
    single = float(np.average(noise.variances * count[design.train], weights=count[design.train]))
    variances = single / count
    variances[design.train] = noise.variances
    return np.asarray(variances[rows])
