"""Effects that add on a hidden scale and are bent by one increasing curve on the way out.

y = g(sum of effects) + noise, with effects of conjunctions up to an order and g increasing. Every round takes one
Gauss-Newton step on effects and curve together (to alternate between them creeps: one nearly undoes what the other
did), then refits the curve exactly, under its constraint, to the new sums. Shrinkage of the effects and
smoothness of the curve are chosen in the same rounds by the evidence of the linearized problem, so that a curve the
data do not show is a straight line. The hidden sums have standard deviation one over the seen cells, and are zero
where every factor is at the level that the others depart from.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset
from recombine.cells.threads import one_thread
from recombine.errors import InputError, SolverError
from recombine.theory.structures.curve import MIN_SLOPE_SHARE, Curve, Pieces, increasing, pieces_of
from recombine.theory.structures.kinds.sums import OfConjunctions
from recombine.theory.structures.normal_equations import (
    DENSE_COLUMNS,
    NANOSECONDS_PER_ENTRY_OF_VECTOR,
    NANOSECONDS_TO_INVERT,
    factored,
    inverted,
    solved,
)
from recombine.theory.structures.shrinkage import MIN_RIDGE_SHARE, determined_effects, fit_design, next_ridge
from recombine.theory.structures.structure import StructureData, StructureFit
from recombine.theory.structures.terms import Terms, as_outcomes, design_of, scaled_rows
from recombine.theory.structures.work import spend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from recombine.theory.components.held_out import HeldOutComponents
    from recombine.theory.structures.monotone_bounds import MonotoneBounds

#: Most rounds, and the relative change of the misfit at which they stop.
MAX_ROUNDS_OF_LINK, LINK_SETTLED_SHARE = 40, 1e-4
#: Knots of the curve, and cells for each.
MAX_KNOTS_OF_LINK, CELLS_PER_KNOT = 40, 8
#: Rounds in which the knots follow the hidden sums.
ROUNDS_OF_MOVING_KNOTS = 6
#: Cells, and cells for each term, of the sample that a large table's fit starts from.
MIN_CELLS_OF_START, CELLS_PER_TERM = 20_000, 40
#: Relative change of shrinkage and smoothing below which they are kept.
RIDGE_STEADY_SHARE = 0.01
#: What an effect counts when noise is estimated: above one, so that few cells do not pass for noiseless ones.
CELLS_PER_EFFECT = 1.4
#: Nanoseconds on a laptop to fit the curve, for each cell; and share of a step's work where nothing is inverted.
NANOSECONDS_PER_CELL_OF_CURVE, SHARE_WITHOUT_INVERSE = 300.0, 0.5
#: Shares of a step that are tried until one lowers the misfit.
STEP_SHARES = (1.0, 0.5, 0.2, 0.05)
#: Terms under a curve up to which it is tried unasked: its fit takes their number cubed, forty times.
MAX_TERMS_UNASKED_UNDER_CURVE = 1_200
#: Levels up to which a curve is fitted though outcomes do not bend along held-out sums: it may change these itself.
MAX_LEVELS_ALWAYS_CURVED = 200
#: Seen cells up to which the linear programs of bounds take a second or two.
MAX_CELLS_FOR_BOUNDS = 250
#: Outcomes count as ordered from so many standard deviations of their difference on.
ORDERED_STANDARD_DEVIATIONS = 3.0


class Link(OfConjunctions):
    """Effects of conjunctions up to ``order`` add on a hidden scale that one increasing curve takes to the outcome.

    Examples
    --------
    >>> Link(1).assumption, Link(2).name
    ('effects add on a curved scale', 'link-pairs')
    """

    costly = True
    min_cells = 2
    max_terms = DENSE_COLUMNS
    max_terms_unasked = MAX_TERMS_UNASKED_UNDER_CURVE

    def __init__(self, order: int = 1) -> None:
        self.order = order
        self.name = "link" if order == 1 else "link-pairs"
        self.complexity = 50 if order == 1 else 70
        add = "effects add" if order == 1 else f"effects add up to interactions of {order} factors,"
        self.assumption = f"{add} on a curved scale"
        effects = "Effects" if order == 1 else f"Effects of up to {order} levels"
        curve = "and one increasing curve, found with them, leads from there to the outcome"
        self.help = f"{effects} add up to a hidden sum, {curve}."

    @property
    def explains(self) -> str:
        """What effects do, and what curve and effects explain, before a share."""
        return f"{self.assumption}; {'the curve explains' if self.order == 1 else 'together they explain'}"

    def affordable(self, data: StructureData) -> bool:
        """Say whether a curve takes no longer than the rest."""
        return data.levels <= self.max_terms_unasked if self.order == 1 else super().affordable(data)

    def fit(self, data: StructureData) -> LinkFit:
        """Fit effects and curve together."""
        return fit_link(data.cells, data.y, self.order, weights=data.weights, symmetric=data.symmetric)

    def nothing_over(self, components: HeldOutComponents) -> bool:
        """Say whether outcomes do not bend along sums, or sums have no interactions; few effects are always fitted."""
        if self.order == 1:
            return sum(components.factors.sizes) > MAX_LEVELS_ALWAYS_CURVED and not components.curved()
        return not (components.carries(self.order) and components.curved(self.order))


@record
class LinkFit(StructureFit):
    """Effects that add up to a hidden sum, and the curve from there to the outcome."""

    terms: Terms
    effects: FloatArray  #: (P,): on the hidden scale, on which the sums of the seen cells have standard deviation one.
    # `field()` keeps the defaults of the base class out: these two are always given.
    curve: Curve = field()
    #: Smallest and largest hidden sum of a seen cell; the curve is known in between.
    seen_range: tuple[float, float] = field()
    #: Shrinkage of the effects of each order, and weight of the curve's roughness.
    ridge: FloatArray
    smoothing: float
    #: Variance of the outcomes about the fit, at mean weight, and effective number of effects and slopes.
    noise: float
    freedom: float
    rounds: int
    leaves_open = True

    def latent(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the hidden sum of ``cells`` (N, C), shape (N,)."""
        return np.asarray(self.terms.matrix(cells) @ self.effects)

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C); beyond the seen range the curve is continued straight."""
        return self.curve(self.latent(cells))

    def centre(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C), moved to the curve's end beyond it: all known is that it rises."""
        return self.curve(np.clip(self.latent(cells), *self.seen_range))

    def bounds_of(self, data: StructureData, cell: IntArray) -> tuple[MonotoneBounds, float] | None:
        """Return between which seen cells ``cell`` (C,) lies, whatever the increasing curve; None for many cells.

        Outcomes closer than the second number, which noise may have put in the wrong order, are not taken as ordered.
        """
        if len(data.cells) > MAX_CELLS_FOR_BOUNDS or data.symmetric:
            return None
        from recombine.theory.structures.monotone_bounds import monotone_bounds

        margin = ORDERED_STANDARD_DEVIATIONS * float(np.sqrt(2 * self.noise))
        with suppress(InputError, SolverError):
            [bounds] = monotone_bounds(
                data.cells, data.y, cell[None], order=self.terms.order, sizes=data.sizes, margin=margin
            )
            return bounds, margin
        return None


def fit_link(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    order: int = 1,
    *,
    weights: npt.ArrayLike | None = None,
    symmetric: Sequence[Subset] = (),
) -> LinkFit:
    """Fit effects that add up to ``order`` on a hidden scale, and the increasing curve from it to outcomes ``y`` (N,).

    ``cells`` (N, C) are those seen; ``weights`` (N,) are one over the variance of each outcome, up to a common factor.

    Examples
    --------
    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> y = np.exp(cells.sum(axis=1) / 3)
    >>> seen = np.random.default_rng(0).random(len(cells)) < 0.7
    >>> fit = fit_link(cells[seen], y[seen])
    >>> unseen = cells[~seen]
    >>> error = np.abs(fit.predict(unseen) - y[~seen])[~fit.beyond(unseen)]
    >>> bool(error.max() < 0.05 * y.std())
    True
    """
    codes = as_cells(cells)
    values, counted = as_outcomes(y, weights, len(codes))
    terms, design = design_of(codes, order, symmetric)
    if terms.columns > DENSE_COLUMNS:
        raise InputError(
            f"a link with {terms.columns:,} terms is too large; at most {DENSE_COLUMNS:,} are fitted: lower the order"
        )
    if not terms.columns or np.ptp(values) == 0:
        raise InputError("a link needs cells that differ and outcomes that differ; there are none")
    few = max(MIN_CELLS_OF_START, CELLS_PER_TERM * terms.columns)
    with one_thread():
        start = None
        if len(codes) > 3 * few:  # a sample of the cells goes nearly all the way, far faster
            rows = np.sort(np.random.default_rng(0).choice(len(codes), few, replace=False))
            start = _Rounds(terms, design[rows], values[rows], counted[rows]).run()
        return _Rounds(terms, design, values, counted, start).run()


@dataclass(frozen=True, eq=False)
class _State:
    """Where the fit stands: effects, their sums, the curve with its height and slopes (K + 1,), and the misfit."""

    effects: FloatArray
    sums: FloatArray
    pieces: Pieces
    bent: FloatArray
    misfit: float
    objective: float

    @property
    def knots(self) -> FloatArray:
        return self.pieces.knots

    @property
    def curve(self) -> Curve:
        return Curve(self.knots, float(self.bent[0]), self.bent[1:])


class _Rounds:
    """Gauss-Newton rounds on effects and curve, from those of addition or from those of a part of the cells."""

    def __init__(
        self, terms: Terms, design: csr_array, y: FloatArray, weights: FloatArray, begun: LinkFit | None = None
    ) -> None:
        self.terms, self.design, self.y, self.weights = terms, design, y, weights
        self.back = design.T.tocsr()
        self.begun, self.choosing = begun is not None, True
        self.count = int(np.clip(len(y) // CELLS_PER_KNOT, 4, MAX_KNOTS_OF_LINK))
        start = fit_design(terms, design, y, weights) if begun is None else begun
        self.noise, self.freedom, self.ridge, self.smoothing = start.noise, start.freedom, start.ridge, 1e-2 * len(y)
        if begun is not None:
            self.smoothing = begun.smoothing
        else:
            self.ridge = start.ridge * (float((design @ start.effects).std()) or 1.0) ** 2
        entries = np.diff(design.indptr).astype(float)
        self.work_of_step = NANOSECONDS_TO_INVERT * terms.columns**3 + NANOSECONDS_PER_ENTRY_OF_VECTOR * float(
            entries @ entries
        )
        self.state = self._bent(start.effects, None)

    def run(self) -> LinkFit:
        state, moving, done = self.state, not self.begun, 0
        while done < MAX_ROUNDS_OF_LINK:
            done += 1
            # Inverting takes most of a round, and all cells change little of what a part of them chose.
            self.choosing = done == 1 if self.begun else self.choosing
            before, tried = state.misfit, self._round(state, moving)
            stands = tried is None or abs(before - tried.misfit) < LINK_SETTLED_SHARE * before
            state = tried or state
            if stands and not moving:
                break
            # Quantiles of the sums move with every step; knots that stand still let the last steps be small.
            moving = moving and not stands and done < ROUNDS_OF_MOVING_KNOTS
        seen = (float(state.sums.min()), float(state.sums.max()))
        return LinkFit(
            self.terms, state.effects, state.curve, seen, self.ridge, self.smoothing, self.noise, self.freedom, done
        )

    def _round(self, state: _State, moving: bool) -> _State | None:
        """Return the state after a step that lowers the penalized misfit, None if there is none."""
        move = self._step(state)
        knots, bar = None if moving else state.knots, self._objective(state)
        for share in STEP_SHARES:
            tried = self._bent(state.effects + share * move, knots)
            if tried.objective < bar:
                return tried
        return None

    def _bent(self, effects: FloatArray, knots: FloatArray | None) -> _State:
        """Bring the sums to unit spread and fit the curve to them; knots at their quantiles, unless given."""
        spend(NANOSECONDS_PER_CELL_OF_CURVE * len(self.y))
        sums = self.design @ effects
        spread = float(sums.std()) or 1.0
        effects, sums = effects / spread, sums / spread
        pieces = pieces_of(self._knots(sums) if knots is None else knots, sums)
        gram = pieces.gram(self.weights) + self.smoothing * pieces.rough
        bent = increasing(gram, pieces.dot(self.weights * self.y))
        misfit = float(self.weights @ (self.y - pieces.heights(bent)) ** 2)
        state = _State(effects, sums, pieces, bent, misfit, 0.0)
        return replace(state, objective=self._objective(state))

    def _objective(self, state: _State) -> float:
        shrunk = float(self.ridge[self.terms.size - 1] @ state.effects**2)
        rough = float(state.bent @ state.pieces.rough @ state.bent)
        return state.misfit + shrunk + self.smoothing * rough

    def _knots(self, sums: FloatArray) -> FloatArray:
        """Half of the knots where the sums are dense, half evenly, so that the ends have some."""
        dense = np.quantile(sums, np.linspace(0, 1, self.count // 2 + 1))
        even = np.linspace(sums.min(), sums.max(), self.count - self.count // 2)
        knots = np.unique(np.concatenate([dense, even]))
        apart = np.concatenate([[True], np.diff(knots) >= 1e-3 * (knots[-1] - knots[0])])
        apart[-1] = True
        return np.asarray(knots[apart])

    def _step(self, state: _State) -> FloatArray:
        """Return the Gauss-Newton step of the effects, the curve moving along; sets both smoothings on the way."""
        pieces, turn = state.pieces, state.pieces.turn
        slope = pieces.steepness(state.bent)
        steep = self.weights * slope
        size, bends = self.terms.columns, turn.shape[1]
        spend(self.work_of_step * (1.0 if self.choosing else SHARE_WITHOUT_INVERSE))
        matrix = np.zeros((size + bends, size + bends), order="F")
        matrix[:size, :size] = (self.back @ scaled_rows(self.design, steep * slope)).toarray()
        matrix[size:, :size] = turn.T @ (self.back @ pieces.rows(steep)).toarray().T
        matrix[size:, size:] = pieces.gram(self.weights)
        scale = float(matrix.diagonal()[:size].mean()) or 1.0
        residuals = self.weights * (self.y - pieces.heights(state.bent))
        shrink, rough = self.ridge[self.terms.size - 1], self.smoothing * pieces.rough
        matrix[size:, size:] += rough + 1e-9 * np.diag(matrix.diagonal()[size:] + scale)
        matrix[np.arange(size), np.arange(size)] += shrink + MIN_RIDGE_SHARE * scale
        down = self.back @ (slope * residuals) - shrink * state.effects
        flat = size + 1 + np.flatnonzero(state.bent[1:] <= 2 * MIN_SLOPE_SHARE * state.bent[1:].mean())
        matrix[flat, flat] += 1e9 * matrix.diagonal().max()  # slopes at their bound stay there
        lower = factored(matrix)
        move = solved(lower, np.concatenate([down, pieces.dot(residuals) - rough @ state.bent]))
        # Sums of another spread are the same sums: the step keeps it.
        along = np.concatenate([self.back @ (state.sums - state.sums.mean()), np.zeros(bends)])
        turned = solved(lower, along)
        move = move - turned * float(along @ move) / float(along @ turned)
        if self.choosing:
            self._choose(state, inverted(lower), scale)
        return np.asarray(move[:size])

    def _choose(self, state: _State, inverse: FloatArray, scale: float) -> None:
        """Set shrinkage and smoothing to the next round of their fixed point."""
        size, orders, spread = self.terms.columns, self.terms.size, inverse.diagonal()
        determined = determined_effects(self.ridge, spread[:size], orders)
        rough = state.pieces.rough
        bends = max(len(state.knots) - 1 - self.smoothing * float((inverse[size:, size:] * rough).sum()), 1e-9)
        self.freedom = float(determined.sum()) + 1.0 + bends
        spare = len(self.y) - CELLS_PER_EFFECT * self.freedom
        self.noise = state.misfit / max(spare, 0.1 * len(self.y))
        before = np.append(self.ridge, self.smoothing)
        self.ridge = next_ridge(state.effects, determined, self.noise, orders, scale)
        power = max(float(state.bent @ rough @ state.bent), 1e-300)
        self.smoothing = float(np.clip(self.noise * bends / power, 1e-12 * len(self.y), 1e6 * len(self.y)))
        self.choosing = bool(np.abs(np.log(np.append(self.ridge, self.smoothing) / before)).max() > RIDGE_STEADY_SHARE)
