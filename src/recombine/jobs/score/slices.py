"""The few levels, or pairs of levels, that carry a model's error: found unasked, told only where beyond chance.

A cell's squared error is set beside what it would be if the model erred alike everywhere: a constant plus the noise of
the cell's mean (and of the value that seen cells determine), fitted to all cells. The root of their ratio is compared
among cells of about equal noise, a stratum. Every level and every pair of levels is one look; beyond chance is a slice
whose sum lies above the largest sum of any slice in nearly all random orders of the cells of each stratum, which holds
whatever tails errors have. The worst slice is taken out, and the others are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.design.design import Design
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, mean_amount
from recombine.jobs.score.held_out import HeldOutCells
from recombine.verdicts import Verdict

#: Random orders of the cells: many if there are few slices, and never fewer than decide at the chance asked for.
MAX_ORDERS, MIN_ORDERS = 999, 199
#: Sums that all orders together may take; what that leaves of orders is between the two numbers above.
MAX_SUMMED_ORDERS = 200_000_000
#: Cells that are looked at, drawn at random if there are more; and cells of all pairs of levels together, beyond which
#: single levels are looked at only.
MAX_CELLS_SEARCHED, MAX_CELLS_OF_PAIRS = 50_000, 1_000_000
#: Sums that are held at once.
MAX_SUMS_HELD = 4_000_000
#: Cells of one stratum, on average at least, and strata at most.
MIN_CELLS_PER_STRATUM, MAX_NOISE_LEVELS = 25, 8
#: Noise that differs by less makes no strata.
MIN_RATIO_OF_STRATA = 1.1
#: Chances are taken to be no closer to 0 and 1 where the noise of their outcomes is reckoned.
MIN_CHANCE_OF_NOISE = 0.02
#: How often weights follow the expectation that is fitted with them.
WEIGHT_ROUNDS = 4


@dataclass(frozen=True)
class Slice:
    """Determined cells that share one or two levels, on which a model's squared error is beyond that of the others.

    Examples
    --------
    >>> Slice((("drug", "A"), ("line", "B")), 6, 0.05, 0.4, Amount(2, 1, 3), Amount(9, 5, 16), None, 0.001).name
    'drug=A & line=B'
    """

    levels: tuple[tuple[str, str], ...]  #: One or two pairs of factor and level.
    cells: int
    share_of_cells: float
    share_of_error: float
    error: Amount  #: Mean squared error of its cells.
    times: Amount  #: That over the mean squared error of cells in no slice.
    miss: Amount | None  #: Mean of prediction less outcome; None where there are several classes.
    chance: float  #: That any slice of this table looks so bad if the model errs alike everywhere.

    @property
    def name(self) -> str:
        """The levels, as a reader finds the cells by them."""
        return " & ".join(f"{factor}={level}" for factor, level in self.levels)


@record
class _Looks:
    """All slices of T cells: which cells each of S holds, and the levels that make it."""

    levels: Sequence[tuple[tuple[str, str], ...]]
    members: Any  # sparse (S, T)

    def of_cells(self, chosen: BoolArray) -> Any:
        """Return the members among the ``chosen`` cells (T,), sparse (S, T')."""
        return self.members[:, np.flatnonzero(chosen)]


def find_slices(held_out: HeldOutCells, predicted: FloatArray, seed: int = 0) -> tuple[Slice, ...]:
    """Return the slices in which the error of predictions (H, K) is concentrated, worst first; mostly none.

    Examples
    --------
    A model that has lost one level:

    >>> import recombine as rc
    >>> rng = np.random.default_rng(0)
    >>> cells = np.indices((8, 8, 4)).reshape(3, -1).T
    >>> design = rc.Design.from_cells(cells, rng.normal(size=256), train=rng.random(256) < 0.5, names=list("abc"))
    >>> missed = design.outcome[~design.train] + 0.3 * rng.normal(size=len(design.held_out))
    >>> missed[design.held_out[:, 1] == 3] += 2
    >>> [(worst.name, worst.cells) for worst in rc.score(design, {"net": missed}).models[0].slices]
    [('b=3', 18)]
    """
    determined = held_out.codes == Verdict.DETERMINED
    counted = held_out.counts[determined] > 0
    chosen = np.flatnonzero(determined)[counted]
    if len(chosen) < SCORE_LIMITS.min_cells_for_causes:
        return ()
    rng = np.random.default_rng(seed)
    misses = (predicted - held_out.observed)[chosen]
    squares = np.sum(misses**2, axis=1)
    if not squares.any():
        return ()
    noises = _noises(held_out, predicted, chosen, counted)
    looks = _looks(held_out.design, held_out.design.held_out[chosen])
    remaining, worst = np.ones(len(chosen), dtype=bool), list[tuple[int, float]]()
    while len(worst) < SCORE_LIMITS.max_slices and remaining.sum() >= SCORE_LIMITS.min_cells_for_causes:
        searched = np.zeros(len(chosen), dtype=bool)
        searched[rng.permutation(np.flatnonzero(remaining))[:MAX_CELLS_SEARCHED]] = True
        if not squares[searched].any():
            break
        look = _worst(looks.of_cells(searched), squares[searched], noises[searched], rng)
        if look is None:
            break
        worst.append(look)
        remaining &= ~_cells_of(looks, look[0])
    counts = held_out.counts[chosen]
    miss = misses[:, 0] if misses.shape[1] == 1 else None
    return tuple(
        _slice(looks.levels[look], _cells_of(looks, look), remaining, squares, counts, miss, chance)
        for look, chance in worst
    )


def _cells_of(looks: _Looks, look: int) -> BoolArray:
    """Return which cells (T,) belong to a slice."""
    return np.asarray(looks.members[[look]].toarray()[0] > 0)


def _noises(held_out: HeldOutCells, predicted: FloatArray, chosen: IntArray, counted: BoolArray) -> FloatArray:
    """Return what a cell's squared error may grow with, (T, J): nothing, its own noise, that of its determined value.

    Where outcomes are classes, their noise is that of the chance that is predicted.
    """
    design = held_out.design
    bounds = (0.0, 1.0) if held_out.classes else design.outcome_column.two_values
    single = np.ones(len(chosen))
    if bounds is not None:
        chances = (predicted[chosen] - bounds[0]) / (bounds[1] - bounds[0])
        chances = np.clip(chances, MIN_CHANCE_OF_NOISE, 1 - MIN_CHANCE_OF_NOISE)
        single = (bounds[1] - bounds[0]) ** 2 * np.sum(chances * (1 - chances), axis=1)
    rows = np.flatnonzero(~design.train)[chosen]
    columns = [np.ones(len(chosen)), single / design.precision[rows]]
    if held_out.noise is not None:
        columns.append(held_out.noise.carried.reshape(len(counted), -1).mean(axis=1)[counted])
    return np.stack(columns, axis=1)


def _looks(design: Design, cells: IntArray) -> _Looks:
    """Return all levels and pairs of levels that hold enough of the ``cells`` (T, C), but not most of them."""
    from scipy import sparse

    rows, columns, names = list[IntArray](), list[IntArray](), list[tuple[str, str]]()
    for group in design.space.groups:
        name = " and ".join(design.names[position] for position in group)
        for position in group:
            rows.append(np.arange(len(cells)))
            columns.append(len(names) + cells[:, position])
        names += [(name, str(label)) for label in design.factors[group[0]].labels]
    ones = np.ones(sum(map(len, rows)))
    single = sparse.csr_array((ones, (np.concatenate(rows), np.concatenate(columns))), (len(cells), len(names)))
    single.data[:] = 1.0  # interchangeable factors may hold one level twice
    together = sparse.triu(single.T @ single, k=1).tocoo()
    sizes: FloatArray = np.asarray(single.sum(axis=0)).ravel()
    fewest, largest = SCORE_LIMITS.min_cells_of_slice, SCORE_LIMITS.max_share_of_slice * len(cells)
    # A pair that holds all of a level's cells is that level.
    real = (together.data >= fewest) & (together.data < np.minimum(sizes[together.row], sizes[together.col]))
    pairs = np.stack([together.row[real], together.col[real]])
    if together.data[real].sum() > MAX_CELLS_OF_PAIRS:
        pairs = pairs[:, :0]
    by_level = single.tocsc()
    members = sparse.vstack([by_level.T, (by_level[:, pairs[0]] * by_level[:, pairs[1]]).T]).tocsr()
    levels = [(name,) for name in names] + [(names[a], names[b]) for a, b in pairs.T.tolist()]
    sizes = np.asarray(members.sum(axis=1)).ravel()
    enough = np.flatnonzero((sizes >= fewest) & (sizes <= largest))
    return _Looks([levels[look] for look in enough], members[enough])


@record
class _Strata:
    """Magnitudes of T errors within strata of about equal noise: 0 on average in each, with variance 1."""

    magnitudes: FloatArray  # (T,)
    stratum: IntArray  # (T,)

    @classmethod
    def of(cls, squares: FloatArray, noises: FloatArray) -> _Strata:
        """Compare squared errors (T,) with what ``noises`` (T, J) lead to expect."""
        expected, noise = _expected(squares, noises), noises[:, 1]
        stratum = np.zeros(len(squares), dtype=np.int64)
        if noise.max() > MIN_RATIO_OF_STRATA * noise.min():
            count = int(np.clip(len(squares) // MIN_CELLS_PER_STRATUM, 1, MAX_NOISE_LEVELS))
            edges = np.unique(np.quantile(noise, np.arange(1, count) / count))
            stratum = np.unique(np.searchsorted(edges, noise), return_inverse=True)[1]
        magnitudes = np.sqrt(squares / expected)
        number = np.bincount(stratum)
        magnitudes -= (np.bincount(stratum, magnitudes) / number)[stratum]
        spread = np.sqrt(np.bincount(stratum, magnitudes**2) / number)[stratum]
        return cls(np.where(spread > 0, magnitudes / np.where(spread > 0, spread, 1.0), 0.0), stratum)

    @cached_property
    def members(self) -> list[IntArray]:
        """The cells of each stratum."""
        return [np.flatnonzero(self.stratum == number) for number in range(self.stratum.max() + 1)]

    def spread_of_sums(self, looks: Any) -> FloatArray:
        """Return the standard deviation, over orders within strata, of the sum over each slice of sparse (S, T)."""
        sizes = looks @ np.eye(len(self.members))[self.stratum]
        number = np.bincount(self.stratum)
        return np.asarray(np.sqrt(np.sum(sizes * (number - sizes) / np.maximum(number - 1, 1), axis=1)))

    def orders(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the magnitudes in random orders within strata, (T, count)."""
        drawn = np.empty((len(self.magnitudes), count))
        for cells in self.members:
            drawn[cells] = rng.permuted(np.tile(self.magnitudes[cells][:, None], (1, count)), axis=0)
        return drawn


def _expected(squares: FloatArray, noises: FloatArray) -> FloatArray:
    """Return squared errors (T,) as a sum of ``noises`` (T, J), none of which takes away, fitted to all cells."""
    from scipy.optimize import nnls

    size = float(squares.mean())
    scale = np.maximum(noises.mean(axis=0), 1e-300)
    expected = np.full(len(squares), size)
    for _ in range(WEIGHT_ROUNDS):
        coefficients, _ = nnls(noises / scale / expected[:, None], squares / expected)
        expected = np.maximum(noises / scale @ coefficients, 1e-3 * size)
    return expected


def _worst(looks: Any, squares: FloatArray, noises: FloatArray, rng: np.random.Generator) -> tuple[int, float] | None:
    """Return the slice of sparse (S, T) whose error is furthest beyond that of the others, and its chance."""
    strata = _Strata.of(squares, noises)
    sizes, spread = np.asarray(looks.sum(axis=1)).ravel(), strata.spread_of_sums(looks)
    told = np.flatnonzero((sizes >= SCORE_LIMITS.min_cells_of_slice) & (sizes < len(squares)) & (spread > 1e-6))
    if not len(told):
        return None
    looks, spread, sizes, total = looks[told], spread[told], sizes[told], float(squares.sum())
    scores, of_slice = looks @ strata.magnitudes / spread, looks @ squares
    times = of_slice / sizes * (len(squares) - sizes) / np.maximum(total - of_slice, 1e-300)
    large = (times >= SCORE_LIMITS.min_times_of_slice) & (of_slice >= SCORE_LIMITS.share_told * total)
    if not large.any():
        return None
    best = int(np.argmax(np.where(large, scores, -np.inf)))
    count = int(np.clip(MAX_SUMMED_ORDERS // max(looks.nnz, 1), MIN_ORDERS, MAX_ORDERS))
    chunk, higher = int(np.clip(MAX_SUMS_HELD // max(looks.shape), 1, count)), 0
    for start in range(0, count, chunk):
        drawn = looks @ strata.orders(min(chunk, count - start), rng) / spread[:, None]
        higher += int((drawn.max(axis=0) >= scores[best]).sum())
    chance = (1 + higher) / (1 + count)
    return (int(told[best]), chance) if chance <= SCORE_LIMITS.chance_of_slice else None


def _slice(
    levels: tuple[tuple[str, str], ...],
    inside: BoolArray,
    outside: BoolArray,
    squares: FloatArray,
    counts: FloatArray,
    misses: FloatArray | None,
    chance: float,
) -> Slice:
    """Return a slice of the cells ``inside`` (T,), beside those ``outside`` all slices."""
    error = mean_amount(squares[inside], counts[inside])
    weighted = counts * squares
    return Slice(
        levels,
        int(inside.sum()),
        float(inside.mean()),
        float(weighted[inside].sum() / weighted.sum()),
        error,
        _ratio(error, mean_amount(squares[outside], counts[outside])),
        None if misses is None else mean_amount(misses[inside], counts[inside]),
        chance,
    )


def _ratio(error: Amount, other: Amount) -> Amount:
    """Return one mean squared error over another: the range is that of the difference of their logarithms."""
    if not (error.value > 0 and other.value > 0):
        return Amount(float("inf"), float("nan"), float("nan"))
    # The half ranges over the values are the standard errors of the logarithms, times the reach of either freedom.
    reach = float(np.hypot((error.high - error.value) / error.value, (other.high - other.value) / other.value))
    ratio = error.value / other.value
    return Amount(ratio, ratio * float(np.exp(-reach)), ratio * float(np.exp(reach)))
