"""Wide networks fitted to a design's own outcome, by their kernels, and scored where the outcome is known.

Where rows are held out, the networks are fitted to the training cells and scored there. Without any, each seen cell is
predicted from all others, or, where that would be too large a matrix, a random tenth of them from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.cells.scales import FactorScale
from recombine.design.design import Design
from recombine.errors import SolverError
from recombine.jobs.audit.additivity import OrderCheck
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.audit.noise import cell_noise
from recombine.progress import each
from recombine.theory.identification.additive_fit import AdditiveFit, fit_additive
from recombine.theory.identification.identify import identify
from recombine.theory.identification.nullspace import Route
from recombine.theory.kernels.left_out import predict_left_out
from recombine.theory.kernels.overlap import MAX_FACTORS_OF_SUBSETS, OverlapKernel
from recombine.theory.kernels.slopes import every_arrangement
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve
from recombine.verdicts import Verdict
from recombine.writing import listing

DEPTHS = (1, 2, 3, 4)
KERNELS: dict[str, Callable[[int, int], OverlapKernel]] = {"ntk": OverlapKernel.ntk, "nngp": OverlapKernel.relu}
#: Seen cells up to which each is left out in turn: a dense inverse per kernel, two seconds for all eight.
LEFT_OUT_CELLS = 1_200
#: Beyond, the share of them that is held out, and how many of those are scored at most.
HELD_SHARE, MAX_SCORED_CELLS = 0.1, 4_000
#: Most cells that are fitted with few factors, and with more than that (where each product takes all pairs of cells).
MAX_FITTED_CELLS, FEW_FACTORS, MOST_CELLS_OF_MANY = 300_000, 5, 4_000
#: Most cells at which networks of two layers and more are fitted as well.
MOST_CELLS_BY_DEPTH = 20_000
#: Entries that one iterative solve may go through, each step one for each cell and subset of factors: a few seconds.
STEP_ENTRIES, FEWEST_STEPS = 200_000_000, 50
#: Errors are read to three digits, so that iterative solves may stop early.
KERNEL_TOLERANCE = 1e-4


class ForecastSource(StrEnum):
    """On which cells a forecast was scored: held-out rows, seen cells by all others, or a tenth by the rest."""

    HELD_OUT_ROWS = auto()
    SEEN_CELLS = auto()
    HELD_OUT_CELLS = auto()


@dataclass(frozen=True, eq=False)
class Scored:
    """Predictions at T cells whose outcome is known and that the fitted cells determine.

    Attributes
    ----------
    source : ForecastSource
        Which cells.
    observed, additive, mean : float arrays of shape (T,)
        Outcome, value that follows if effects add, plain mean of the fitted cells.
    noise : float or None
        Root mean square of the noise of ``observed``, where rows repeat.
    networks : dict of (str, int) to float array of shape (T,)
        By kernel ("ntk": all layers learn, "nngp": the readout) and number of hidden layers.
    """

    source: ForecastSource
    observed: FloatArray
    additive: FloatArray
    mean: FloatArray
    noise: float | None
    networks: dict[tuple[str, int], FloatArray] = field(default_factory=dict)


def fitted_cells(design: Design) -> int:
    """Return how many cells a network is shown: the seen ones, in every order of interchangeable levels."""
    return len(every_arrangement(design.seen, design.symmetric))


def obstacle(design: Design) -> str:
    """Say why networks are not fitted to a design, in words; empty if they are."""
    if design.outcome is None:
        return "no outcome was named, and what a network makes of the seen cells depends on it (--outcome)"
    if np.ptp(design.outcome[design.train]) == 0:
        return "the outcome is the same in every seen cell"
    if numeric := [factor.name for factor in design.factors if factor.scale is FactorScale.NUMERIC]:
        return f"it is known of networks whose inputs are labels, and {listing(numeric)} is a number"
    most = MAX_FITTED_CELLS if len(design.factors) <= FEW_FACTORS else MOST_CELLS_OF_MANY
    if len(design.factors) > MAX_FACTORS_OF_SUBSETS:
        most = min(most, LEFT_OUT_CELLS)  # the solvers for more cells weigh every subset of factors
    if fitted_cells(design) > most:
        return f"more than {most:,} seen cells of {len(design.factors)} factors would take too long"
    return ""


def depths_of(design: Design) -> tuple[int, ...]:
    """Return the numbers of hidden layers that are tried: all four unless that would take too long."""
    cells, few = len(design.seen), len(design.factors) <= FEW_FACTORS
    return DEPTHS if cells <= LEFT_OUT_CELLS or (few and cells <= MOST_CELLS_BY_DEPTH) else (1,)


def predict_networks(
    design: Design, train: BoolArray, cells: IntArray, depths: Sequence[int] = DEPTHS
) -> dict[tuple[str, int], FloatArray]:
    """Return what networks fitted to the design's cells flagged in ``train`` (M,) predict at ``cells`` (T, C).

    A kernel whose solve does not converge in the steps it is given is left out, and so are those after it.
    """
    assert design.outcome is not None
    shown, answers = shown_cells(design, design.cells[train], design.outcome[train])
    found = {}
    for name, depth in each("kernels of networks", _asked(depths)):
        kernel = KERNELS[name](depth, len(design.factors))
        try:
            solution = solve(
                kernel, shown, answers, tolerance=KERNEL_TOLERANCE, intercept=True, most_steps=affordable_steps(shown)
            )
        except SolverError:
            break
        found[name, depth] = kernel_expansion(kernel, shown, solution.value, cells) + float(solution.intercept)
    return found


def affordable_steps(cells: IntArray) -> int:
    """Return how many steps an iterative solve on ``cells`` (N, C) may take.

    Examples
    --------
    >>> affordable_steps(np.zeros((1_000, 3), dtype=int)), affordable_steps(np.zeros((500_000, 5), dtype=int))
    (25000, 50)
    """
    return max(STEP_ENTRIES // (len(cells) << int(cells.shape[1])), FEWEST_STEPS)


def _asked(depths: Sequence[int]) -> list[tuple[str, int]]:
    return [(name, depth) for depth in depths for name in KERNELS]


def beyond_steps(design: Design) -> str:
    """Say that fitting networks to a design took more steps than they are given."""
    most = affordable_steps(every_arrangement(design.seen, design.symmetric))
    return (
        f"fitting networks to {fitted_cells(design):,} seen cells of {len(design.factors)} factors takes more than "
        f"{most:,} steps, and more would take too long"
    )


def shown_cells(design: Design, cells: IntArray, outcome: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return cells in every order of symmetric factors, each with its outcome."""
    shown = every_arrangement(cells, design.symmetric)
    _, where = distinct(np.vstack([cells, canonical(shown, design.symmetric)]))
    value = np.zeros(int(where.max()) + 1)
    value[where[: len(cells)]] = outcome
    return shown, value[where[len(cells) :]]


def score_held_out(design: Design, fit: AdditiveFit, places: IntArray) -> Scored:
    """Score networks on held-out cells: rows ``places`` (T,) of the design."""
    assert design.outcome is not None
    cells = design.cells[places]
    return Scored(
        ForecastSource.HELD_OUT_ROWS,
        design.outcome[places],
        fit.predict(cells),
        np.full(len(places), float(design.outcome[design.train].mean())),
        _noise(design, places),
        predict_networks(design, design.train, cells, depths_of(design)),
    )


def score_seen(design: Design, check: OrderCheck, seed: int) -> Scored | None:
    """Score networks on seen cells that the other seen cells determine; None if those are too few."""
    if len(design.seen) > LEFT_OUT_CELLS:
        return _score_tenth(design, seed)
    if check.tested < AUDIT_LIMITS.min_cells_tested:
        return None
    assert design.outcome is not None
    outcome, known = design.outcome[design.train], check.determined
    mean = (outcome.sum() - outcome) / (len(outcome) - 1)
    networks = {
        (name, depth): predict_left_out(
            KERNELS[name](depth, len(design.factors)), design.seen, outcome, design.symmetric
        )[known]
        for name, depth in each("kernels of networks", _asked(DEPTHS))
    }
    noise = None if check.at_most else check.noise
    return Scored(ForecastSource.SEEN_CELLS, outcome[known], check.predicted[known], mean[known], noise, networks)


def _score_tenth(design: Design, seed: int) -> Scored | None:
    """Hold out a random tenth of the seen cells, once."""
    assert design.outcome is not None
    seen = np.flatnonzero(design.train)
    count = min(round(HELD_SHARE * len(seen)), MAX_SCORED_CELLS)
    held = np.sort(np.random.default_rng(seed).choice(seen, count, replace=False))
    rest = design.train.copy()
    rest[held] = False
    # Floating point is good enough to choose cells to score: what it leaves undecided is not scored.
    found = identify(design.cells[rest], design.cells[held], 1, **design.shape, route=Route.PROJECTION)
    places = held[found.verdicts == Verdict.DETERMINED]
    if len(places) < AUDIT_LIMITS.min_cells_tested:
        return None
    outcome = design.outcome
    fit = fit_additive(design.features(1), design.cells[rest], outcome[rest], design.precision[rest])
    return Scored(
        ForecastSource.HELD_OUT_CELLS,
        outcome[places],
        fit.predict(design.cells[places]),
        np.full(len(places), float(outcome[rest].mean())),
        _noise(design, places),
        predict_networks(design, rest, design.cells[places], depths_of(design)),
    )


def _noise(design: Design, places: IntArray) -> float | None:
    """Return the root mean square of the noise of the mean outcomes of rows ``places`` (T,), where it is known.

    A cell that was held out counts as a measurement like those of the seen cells.
    """
    noise, count = cell_noise(design), design.precision
    if noise is None or noise.at_most:
        return None
    single = float(np.average(noise.variances * count[design.train], weights=count[design.train]))
    return float(np.sqrt(np.mean(single / count[places])))
