"""Can sums of seen conjunctions give the right answer on unseen cells at all?

A model with an overlap kernel is a sum of one value per seen conjunction, whatever its loss or regularisation
(conjunction-wise additivity, Lippl & Stachenfeld 2025, Theorem 4.2). So before asking what such a model learns, ask
whether the truth is of that form: exactly (least squares), in sign (a linear program), or with one rule that also
explains the seen cells (the same two questions for a chosen family of subsets of the factors).

The answer says something of the truth only where some other truth would have failed. Seen conjunctions that reach
every direction of the unseen cells can give any answers there, and then the kind is "anything".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.conjunctions import Subset, distinct, subsets
from recombine.checks import reals
from recombine.errors import InputError, SolverError
from recombine.writing import few_digits, plural, share

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: A target is exactly additive when no cell is missed by more than this share of the largest target.
EXACT_TOLERANCE = 1e-8
#: Signs are representable when the best margin, recomputed from the weights themselves, exceeds this.
MARGIN_TOLERANCE = 1e-9
#: Labellings of up to this many independent cells are all counted; of more, as many are drawn.
MAX_COUNTED_CELLS = 14
#: Labels in all labellings that are counted for every answer: some milliseconds.
MAX_COUNTED_LABELS = 2**20
#: Beyond this many matrix entries least squares is solved iteratively on the sparse matrix.
MAX_DENSE_LSTSQ_ENTRIES = 20_000_000


@dataclass(frozen=True, repr=False)
class Representability:
    """What sums of seen conjunctions can express; printed as a sentence that begins with its kind.

    Attributes
    ----------
    exact, sign : bool
        Some weights give every judged target, or its sign (targets of zero are not judged).
    residual, worst : float, int or None
        Largest miss of the least-squares weights over the judged cells, and its row in ``cells``; None when exact.
    margin : float
        Largest t such that weights in [-1, 1] reach sign(target) * f >= t on every judged cell, at most 1.
    family : tuple of tuple of int, or None
        The subsets of factors that were allowed; None stands for all seen conjunctions, judged on unseen cells only.
    judged : int
        How many cells were judged: the unseen ones, or all of them where a family was given.
    rank : int, or None
        In how many independent ways sums can answer on the judged cells. Where it is their number, any answers at all
        pass; None where the problem is too large to tell.
    share : float or None
        Of all labellings of the judged cells with -1 and +1, how many are exact: an exact answer says little where it
        is large. None where counting takes long; `passing_share` draws some, and tells the share that is right in sign.

    Examples
    --------
    >>> Representability(False, 0.5, 3, True, 0.2, None, judged=8, rank=5)
    sign only: a sum of seen conjunctions has the right signs on 8 unseen cells (rank 5), with margin 0.2, and none the
    right values, the nearest is off by 0.5; passing_share(..., sign=True) says how many random labels have such signs
    """

    exact: bool
    residual: float
    worst: int | None
    sign: bool
    margin: float
    family: tuple[Subset, ...] | None
    judged: int
    rank: int | None
    share: float | None = None

    def __repr__(self) -> str:
        cells = plural(self.judged, "unseen cell" if self.family is None else "cell")
        on = f"on {cells}" if self.rank is None else f"on {cells} (rank {self.rank})"
        if self.kind == "anything":
            return f"anything: any labels of {cells} would pass (rank {self.rank})"
        if self.kind == "exact":
            often = "; passing_share says for how many random labels one would be"
            often = often if self.share is None else f", as one would be for {share(self.share)} of random labels"
            return f"exact: a sum of seen conjunctions is right {on}{often}"
        nearest = f"the nearest is off by {few_digits(self.residual)}"
        if self.kind == "neither":
            return f"neither: no sum of seen conjunctions has the right signs {on}; {nearest}"
        return (
            f"sign only: a sum of seen conjunctions has the right signs {on}, with margin {few_digits(self.margin)}, "
            f"and none the right values, {nearest}; passing_share(..., sign=True) says how many random labels have "
            "such signs"
        )

    @property
    def kind(self) -> str:
        """``"anything"`` (no answers would fail), ``"exact"``, ``"sign only"`` or ``"neither"``."""
        if self.rank == self.judged:
            return "anything"
        if self.exact:
            return "exact"
        return "sign only" if self.sign else "neither"


def representability(
    cells: npt.ArrayLike,
    seen: npt.ArrayLike,
    target: npt.ArrayLike,
    family: Iterable[Iterable[int]] | None = None,
) -> Representability:
    """Decide whether the target is a sum of seen conjunctions, exactly or in sign.

    Parameters
    ----------
    cells, seen, target : arrays of shapes (N, C), (N,) and (N,)
        Seen and unseen cells, which are seen, and the truth on all of them.
    family : iterable of subsets, optional
        Left out: every conjunction of every order that occurs in a seen cell may be used, and only unseen cells are
        judged, because whole-cell conjunctions fit anything that is seen. Given, say ``[(0, 1), (0, 2)]``: only these
        subsets (and a constant) may be used, and one set of weights must fit seen and unseen cells alike. A task that
        passes the first and fails the second can only be fitted by memorizing.

    Examples
    --------
    Seven items are compared after seeing neighbours only; then four items, two of a kind, are called alike or not.

    >>> from recombine.cells import every_cell
    >>> cells = every_cell((7, 7))
    >>> cells = cells[cells[:, 0] != cells[:, 1]]
    >>> steps = cells[:, 1] - cells[:, 0]
    >>> verdict = representability(cells, np.abs(steps) == 1, np.sign(steps))
    >>> print(verdict)
    sign only: a sum of seen conjunctions has the right signs on 30 unseen cells (rank 13), with margin 0.667, and none
    the right values, the nearest is off by 0.547; passing_share(..., sign=True) says how many random labels have such
    signs
    >>> pairs = every_cell((4, 4))
    >>> alike = np.where(pairs[:, 0] // 2 == pairs[:, 1] // 2, 1, -1)
    >>> representability(pairs, (pairs % 2 == 0).any(axis=1), alike).kind
    'neither'

    With one cell unseen there is nothing to fail: every answer is the sum of what was seen and what is left.

    >>> print(representability(pairs, np.arange(16) != 5, alike))
    anything: any labels of 1 unseen cell would pass (rank 1)

    Where few labels would pass, to pass says something. Here four cells in a block are unseen, and to be a sum binds
    one to the three others:

    >>> print(representability(pairs, (pairs > 1).any(axis=1), np.ones(16)))
    exact: a sum of seen conjunctions is right on 4 unseen cells (rank 3), as one would be for 37.5 % of random labels
    """
    codes, mask, truth = _checked(cells, seen, target)
    features, judged, chosen = _judged_features(codes, mask, family)
    weights, rank = _least_squares(features, truth[judged])
    misses = np.abs(truth[judged] - features @ weights)
    margin = _best_margin(features, np.sign(truth[judged]))
    residual = float(misses.max(initial=0.0))
    exact = residual <= EXACT_TOLERANCE * max(1.0, float(np.abs(truth[judged]).max(initial=0.0)))
    return Representability(
        exact=exact,
        residual=residual,
        worst=None if exact else int(judged[misses.argmax()]),
        sign=margin > MARGIN_TOLERANCE,
        margin=margin,
        family=chosen,
        judged=len(judged),
        rank=rank,
        share=_counted_share(features, rank),
    )


def _counted_share(features: csr_array, rank: int | None) -> float | None:
    """Return the share of labellings that are exact where they are few enough to be counted in passing."""
    if rank is None or rank > MAX_COUNTED_CELLS or features.shape[0] << rank > MAX_COUNTED_LABELS:
        return 1.0 if rank == features.shape[0] else None
    return _share_of_exact(*_pivots(features.toarray()), np.random.default_rng(0)).value


@dataclass(frozen=True)
class PassingShare:
    """How many of all labellings would pass.

    Attributes
    ----------
    value : float
        The share of labellings with -1 or +1 on each judged cell, a coin for each.
    exact : bool
        Whether all were counted, not drawn.

    Examples
    --------
    >>> PassingShare(0.5, exact=True).value
    0.5
    """

    value: float
    exact: bool


def passing_share(
    cells: npt.ArrayLike,
    seen: npt.ArrayLike,
    family: Iterable[Iterable[int]] | None = None,
    *,
    sign: bool = False,
    draws: int = 200,
    seed: int = 0,
) -> PassingShare:
    """Return the share of random labellings that `representability` would call exact, or right in sign.

    A task that passes where one labelling in a thousand does has a structure; one that passes where all do has none
    that was tested. Labellings are counted where that is cheap, else drawn from a seed.

    Parameters
    ----------
    cells, seen, family
        As in `representability`.
    sign : bool, default False
        Ask for the signs alone.
    draws : int, default 200
        Labellings to draw where there are too many to count.
    seed : int, default 0
        Of the draws.

    Examples
    --------
    Three sizes in three colours, of which the four pairs of two sizes and two colours are unseen:

    >>> from recombine.cells import every_cell
    >>> cells = every_cell((3, 3))
    >>> passing_share(cells, (cells == 0).any(axis=1))
    PassingShare(value=0.375, exact=True)
    >>> passing_share(cells, (cells == 0).any(axis=1), sign=True)
    PassingShare(value=0.875, exact=True)
    """
    codes, mask, _ = _checked(cells, seen, np.zeros(len(as_cells(cells))))
    if draws < 1:
        raise InputError(f"draws is {draws}; give at least one labelling to draw")
    features, judged, _ = _judged_features(codes, mask, family)
    if features.shape[0] * features.shape[1] > MAX_DENSE_LSTSQ_ENTRIES:
        raise InputError(
            f"{len(judged)} cells with {features.shape[1]} seen conjunctions are too many to count labellings of; "
            f"give a "
            "smaller family, or a part of the cells"
        )
    basis, pivots = _pivots(features.toarray())
    if len(pivots) == len(judged):
        return PassingShare(1.0, exact=True)
    generator = np.random.default_rng(seed)
    if sign:
        return _share_of_signs(features, generator, draws)
    return _share_of_exact(basis, pivots, generator)


def _judged_features(
    codes: IntArray, mask: BoolArray, family: Iterable[Iterable[int]] | None
) -> tuple[csr_array, IntArray, tuple[Subset, ...] | None]:
    """Return the seen conjunctions of the cells that are judged, the rows of these, and the family."""
    chosen = None if family is None else _family(family, codes.shape[1])
    judged = np.flatnonzero(~mask) if chosen is None else np.arange(len(codes))
    return seen_incidence(codes, mask, chosen)[judged], judged, chosen


def _pivots(features: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return (n, r) that gives the answers on all n rows from those on r independent rows, and these rows."""
    from scipy.linalg import qr

    if not features.size:
        return np.zeros((len(features), 0)), np.zeros(0, dtype=np.int64)
    rank = int(np.linalg.matrix_rank(features))
    pivots = np.asarray(qr(features.T, mode="r", pivoting=True)[1][:rank], dtype=np.int64)
    basis = np.asarray(np.linalg.lstsq(features[pivots].T, features.T, rcond=None)[0].T, dtype=np.float64)
    return basis, pivots


def _share_of_exact(basis: FloatArray, pivots: IntArray, generator: np.random.Generator) -> PassingShare:
    """Labels of independent rows are free and give the others: these have to be -1 or +1 as well."""
    rank = len(pivots)
    counted = rank <= MAX_COUNTED_CELLS
    if counted:
        labels = 1.0 - 2.0 * ((np.arange(2**rank)[:, None] >> np.arange(rank)) & 1)
    else:
        labels = generator.choice([-1.0, 1.0], size=(2**MAX_COUNTED_CELLS, rank))
    passes = (np.abs(np.abs(labels @ basis.T) - 1) <= EXACT_TOLERANCE).all(axis=1)
    return PassingShare(float(passes.mean()) * 2.0 ** (rank - len(basis)), exact=counted)


def _share_of_signs(features: csr_array, generator: np.random.Generator, draws: int) -> PassingShare:
    """A linear program for each labelling; one and its opposite pass together."""
    cells = features.shape[0]
    counted = 2 ** (cells - 1) <= draws
    if counted:
        labels = 1.0 - 2.0 * ((np.arange(2 ** (cells - 1))[:, None] >> np.arange(cells)) & 1)
    else:
        labels = generator.choice([-1.0, 1.0], size=(draws, cells))
    passes = [_best_margin(features, row) > MARGIN_TOLERANCE for row in labels]
    return PassingShare(float(np.mean(passes)), exact=counted)


def seen_incidence(cells: IntArray, seen: BoolArray, family: Iterable[Subset] | None = None) -> csr_array:
    """Return the 0/1 matrix (N, F) of a constant and every conjunction that some seen one of ``cells`` (N, C) has.

    ``family`` are the subsets of factors to use, all non-empty ones by default.
    """
    from scipy.sparse import csr_array, hstack

    if family is None:
        count = cells.shape[1]
        family = [subset for order in range(1, count + 1) for subset in subsets(count, order)]
    blocks = [_block(cells[:, list(subset)], seen) for subset in family if subset]
    return csr_array(hstack([csr_array(np.ones((len(cells), 1))), *blocks], format="csr"))


def _block(levels: IntArray, seen: BoolArray) -> csr_array:
    """Indicators of the seen rows of ``levels`` (N, J), one column each."""
    from scipy.sparse import csr_array

    _, inverse = distinct(levels)
    seen_groups = np.unique(inverse[seen])
    rows = np.flatnonzero(np.isin(inverse, seen_groups))
    columns = np.searchsorted(seen_groups, inverse[rows])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(levels), len(seen_groups)))


def _least_squares(features: csr_array, target: FloatArray) -> tuple[FloatArray, int | None]:
    """Return minimum-norm least-squares weights, shape (F,), and the rank where the matrix is small enough for it."""
    if features.shape[0] * features.shape[1] <= MAX_DENSE_LSTSQ_ENTRIES:
        weights, _, rank, _ = np.linalg.lstsq(features.toarray(), target, rcond=None)
        return weights, int(rank)
    from scipy.sparse.linalg import lsmr

    iterative: FloatArray = lsmr(features, target, atol=1e-14, btol=1e-14, maxiter=50 * features.shape[1])[0]
    return iterative, None


def _best_margin(features: csr_array, sign: FloatArray) -> float:
    """Maximise the smallest sign * f over weights in [-1, 1], capped at 1."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    rows = np.flatnonzero(sign)
    if not rows.size:
        return 1.0
    signed = csr_array(diags_array(sign[rows]) @ features[rows])
    # Variables are the weights and t; each row says t - sign * f <= 0.
    constraints = hstack([-signed, csr_array(np.ones((len(rows), 1)))], format="csr")
    width = features.shape[1]
    solution = linprog(
        np.append(np.zeros(width), -1.0),
        A_ub=constraints,
        b_ub=np.zeros(len(rows)),
        bounds=[(-1.0, 1.0)] * width + [(None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise SolverError(f"the margin program stopped: {solution.message}; try fewer cells or a smaller family")
    # The solver's own t may overshoot by its tolerance; the weights themselves are the proof.
    reached = float((signed @ np.clip(solution.x[:width], -1.0, 1.0)).min())
    return min(max(reached, 0.0), 1.0)


def _checked(
    cells: npt.ArrayLike, seen: npt.ArrayLike, target: npt.ArrayLike
) -> tuple[IntArray, BoolArray, FloatArray]:
    codes = as_cells(cells)
    mask = np.asarray(seen)
    words = [entry for entry in np.ravel(np.asarray(target, dtype=object)).tolist() if isinstance(entry, str)]
    if words:
        raise InputError(
            f"target holds the text {words[0]!r}; code two answers as -1 and 1, and of more each against the others: "
            f"np.where(np.asarray(target) == {words[0]!r}, 1, -1)"
        )
    truth = reals(target, "answers in target")
    if mask.dtype != np.bool_ or mask.shape != (len(codes),):
        raise InputError(f"seen must be {len(codes)} True/False values, one per cell; got {mask.dtype} {mask.shape}")
    if truth.shape != (len(codes),):
        raise InputError(f"target must be {len(codes)} finite numbers, one per cell; got shape {truth.shape}")
    return codes, mask, truth


def _family(family: Iterable[Iterable[int]], factors: int) -> tuple[Subset, ...]:
    chosen = tuple(sorted({tuple(sorted({int(factor) for factor in subset})) for subset in family}))
    for subset in chosen:
        if any(not 0 <= factor < factors for factor in subset):
            raise InputError(f"family names the subset {subset}; factors are numbered 0 to {factors - 1}")
    return chosen
