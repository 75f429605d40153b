"""Which unseen cells do the seen ones determine, if effects add at a given order?

A cell is determined if and only if its row of conjunctions lies in the span of the seen rows, that is, if every
function of that order which vanishes on the seen cells vanishes on it too (kernel theory, section "which test items
are determined"; statisticians say: the cell is an estimable function).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells, product_size, sizes_of
from recombine.cells.conjunctions import Conjunctions, Subset, canonical, every_cell
from recombine.cells.possible import Possible
from recombine.cells.scaled import FactorShape, ScaledConjunctions, additive_model
from recombine.cells.scales import Scale
from recombine.cells.seen import SeenCells
from recombine.errors import InputError
from recombine.theory.identification.certificate import Certificate, certificate
from recombine.theory.identification.counts import Counts, count_vanishing, estimated_counts, exact_counts
from recombine.theory.identification.judgement import Codes, Judgement, Separation
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.nullspace import NullVectors, Route, possible_rank, present_levels
from recombine.theory.identification.scaled.routes import leverage_for, null_vectors_for
from recombine.verdicts import Verdict

#: Products up to this many cells are judged cell by cell; larger ones are counted by value or sampled.
MAX_GRID_CELLS = 2**24

#: Cells drawn when a product can only be sampled.
SAMPLED_CELLS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """What the distinct seen cells say about others; see `identify`.

    Examples
    --------
    >>> answer = identify([[0, 0], [0, 1], [1, 0], [2, 2]])
    >>> answer.verdicts_on_grid().tolist()
    [[0, 0, 2], [0, 1, 2], [2, 2, 0]]
    >>> answer.route.value, answer.rank, answer.deficit
    ('graph', 4, 1)
    >>> answer
    Identification(order 1, 4 of 3 x 3 cells seen)
    """

    features: Conjunctions
    seen: SeenCells
    targets: IntArray | None  #: (N, C): the cells asked about; None for the whole product.
    null: NullVectors  #: The null vectors behind every verdict.
    possible: Possible  #: The cells that can exist. Others are not counted, and asking about one is asking nothing.

    def __repr__(self) -> str:
        cells = f"{len(self.seen):,} of {' x '.join(map(str, self.features.sizes))} cells"
        return f"Identification(order {self.features.order}, {cells} seen)"

    @property
    def route(self) -> Route:
        """How the verdicts were found: graph, exact or projection."""
        return self.null.route

    @property
    def rank(self) -> int | None:
        """Rank of the seen cells, None if the route cannot know it."""
        return self.null.rank

    @cached_property
    def deficit(self) -> int | None:
        """How many more independent cells would determine every possible cell of the levels present."""
        full = None if self.rank is None else possible_rank(self.features, self._known, vectors=null_vectors_for)
        return None if full is None or self.rank is None else full - self.rank

    @cached_property
    def _known(self) -> Possible:
        """The possible cells whose levels are all present."""
        return self.possible.known(self._present)

    @cached_property
    def _judgement(self) -> Judgement:
        return Judgement(self.null, self.seen.cells)

    @cached_property
    def gap(self) -> Separation | None:
        """How clearly floating point separated zeros from non-zeros on the targets; None on exact routes."""
        if self.null.modulus or (self.targets is None and product_size(self.features.sizes) > MAX_GRID_CELLS):
            return self._judgement.gap()
        if self.targets is None:
            return self._judgement.gap(self.null.distances_on_grid()[np.ix_(*self._present)])
        present = [mask[self.targets[:, factor]] for factor, mask in enumerate(self._present)]
        return self._judgement.gap(self.null.distance(self.targets[np.logical_and.reduce(present)]))

    @cached_property
    def _present(self) -> list[BoolArray]:
        return present_levels(self.features, self.seen.cells)

    @cached_property
    def _open_levels(self) -> list[tuple[Verdict, list[BoolArray]]]:
        """What to say of levels whatever the rank, one mask per factor; where a cell has several, the last holds."""
        unseen = (Verdict.UNSEEN_LEVEL, [~mask for mask in self._present])
        if not isinstance(self.features, ScaledConjunctions):
            return [unseen]
        scales = zip(self.features.sizes, self.features.scales, strict=True)
        outside = [np.zeros(size, dtype=bool) if scale is None else scale.beyond for size, scale in scales]
        absent = [~mask & ~beyond for mask, beyond in zip(self._present, outside, strict=True)]
        return [(Verdict.BEYOND, outside), (Verdict.UNSEEN_LEVEL, absent)]

    def verdicts_of(self, cells: npt.ArrayLike) -> Codes:
        """Return the verdict codes of any cells, (N, C) -> (N,) of uint8."""
        checked = cells_within(cells, self.features.sizes, "cells")
        codes = self._judgement.codes(checked)
        for verdict, masks in self._open_levels:
            open_here = [mask[checked[:, factor]] for factor, mask in enumerate(masks)]
            codes[np.logical_or.reduce(open_here)] = verdict
        codes[self.seen.holds(checked)] = Verdict.SEEN
        return codes

    @cached_property
    def verdicts(self) -> Codes:
        """Verdict codes of the targets, or of every cell (last factor fastest) when there are none."""
        return self.verdicts_on_grid().reshape(-1) if self.targets is None else self.verdicts_of(self.targets)

    def verdicts_on_grid(self) -> Codes:
        """Return the verdict codes of the whole product, shape ``sizes``; small products only."""
        if product_size(self.features.sizes) > MAX_GRID_CELLS:
            raise InputError(
                f"the product has {product_size(self.features.sizes)} cells, too many to list; "
                "give targets, ask .verdicts_of(cells), or use .count_verdicts()"
            )
        codes = self._judgement.codes_on_grid()
        for verdict, masks in self._open_levels:
            for factor, mask in enumerate(masks):
                np.moveaxis(codes, factor, 0)[mask] = verdict
        for arranged in self.seen.arrangements():
            codes[tuple(arranged.T)] = Verdict.SEEN
        return codes

    def count_verdicts(self, seed: int = 0) -> Counts:
        """Count the verdicts over all possible cells: exactly where that can be done, else from a sample."""
        total = self._known.count
        base = {Verdict.SEEN: len(self.seen), **self._count_open()}
        determined = total if self.deficit == 0 else count_vanishing(self.null, self._known)
        if self.features.saturated:
            determined = len(self.seen)  # the saturated model: nothing follows from anything else
        if determined is not None:
            decided = {Verdict.DETERMINED: determined - len(self.seen), Verdict.DISCONNECTED: total - determined}
            return exact_counts(base | decided)
        if self.possible.span <= MAX_GRID_CELLS:
            number = np.bincount(self._verdicts_of_possible(), minlength=len(Verdict))
            return exact_counts({verdict: int(number[verdict]) for verdict in Verdict})
        cells = self._known.draw(SAMPLED_CELLS, np.random.default_rng(seed))
        codes = self.verdicts_of(cells)
        return estimated_counts(base, codes[codes != Verdict.SEEN].astype(np.int64), total - len(self.seen))

    def _count_open(self) -> dict[Verdict, int]:
        """Count the possible cells that a level leaves open, whatever the rank."""
        counts, remaining = {}, self.possible.count
        settled = [np.ones(size, dtype=bool) for size in self.features.sizes]
        for verdict, masks in reversed(self._open_levels):
            settled = [mask & ~left_open for mask, left_open in zip(settled, masks, strict=True)]
            counts[verdict], remaining = (remaining - (count := self.possible.known(settled).count), count)
        return counts

    def _verdicts_of_possible(self) -> Codes:
        if not self.possible.whole:
            return self.verdicts_of(self.possible.cells())
        codes = self.verdicts_on_grid().reshape(-1)
        if self.features.symmetric:
            cells = every_cell(self.features.sizes)
            codes = codes[(cells == canonical(cells, self.features.symmetric)).all(axis=1)]
        return codes

    def certificate_of(self, which: int | Sequence[int]) -> Certificate:
        """Return signed seen cells that add up to a determined cell: target number ``which``, or the cell itself."""
        if np.ndim(which) == 0 and self.targets is None:
            raise InputError("there are no targets to number; give the cell itself, for example (0, 2)")
        chosen = self.targets[which] if np.ndim(which) == 0 and self.targets is not None else which
        cell = cells_within(np.atleast_2d(chosen), self.features.sizes, "cell")
        code = Verdict(int(self.verdicts_of(cell)[0]))
        if code not in (Verdict.SEEN, Verdict.DETERMINED):
            raise InputError(
                f"cell {tuple(cell[0].tolist())} is {code.word}, so no sum of seen cells gives it; "
                "ask for a cell that is determined"
            )
        return certificate(self.features, self.seen, cell[0])

    @cached_property
    def leverage(self) -> FloatArray:
        """Variance of the least-squares value of each target in units of one seen cell's; NaN if not determined."""
        return self.leverage_of(every_cell(self.features.sizes) if self.targets is None else self.targets)

    def leverage_of(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the leverage of any cells, (N, C) -> (N,)."""
        checked = cells_within(cells, self.features.sizes, "cells")
        result = np.full(len(checked), np.nan)
        usable = self.verdicts_of(checked) <= Verdict.DETERMINED
        result[usable] = self._leverage.of(checked[usable])
        return result

    @cached_property
    def _leverage(self) -> Leverage:
        return leverage_for(self.features, self.seen.cells, rank=self.rank)


def cells_within(cells: npt.ArrayLike, sizes: tuple[int, ...], name: str) -> IntArray:
    """Return ``cells`` (N, C) as codes, or say which level is above those that its factor has."""
    checked = as_cells(cells, name, factors=len(sizes))
    beyond = np.argwhere(checked >= np.array(sizes))
    if len(beyond):
        row, factor = beyond[0]
        raise InputError(
            f"{name}[{row}, {factor}] is level {checked[row, factor]} but factor {factor} has {sizes[factor]} levels; "
            "pass larger sizes"
        )
    return checked


def _model(
    seen: IntArray,
    targets: IntArray | None,
    order: int,
    sizes: Sequence[int] | None = None,
    symmetric: Sequence[Subset] = (),
    possible: Possible | None = None,
    scales: Sequence[Scale | None] = (),
) -> tuple[Conjunctions, Possible]:
    """Return the additive model of the seen cells and targets, and the cells that can exist."""
    if not len(seen):
        raise InputError("no cells were seen; pass at least one")
    groups = tuple(tuple(sorted(int(factor) for factor in group)) for group in symmetric)
    levels = list(sizes or (sizes_of(seen) if targets is None else sizes_of(seen, targets)))
    for group in groups if sizes is None else ():
        largest = max(levels[factor] for factor in group)
        levels = [largest if factor in group else level for factor, level in enumerate(levels)]
    following = () if possible is None else possible.following
    features = additive_model(tuple(map(int, levels)), order, groups, following, scales)
    return features, possible or Possible.product(features.sizes, groups)


def identify(
    seen: npt.ArrayLike,
    targets: npt.ArrayLike | None = None,
    order: int = 1,
    *,
    route: str | None = None,
    seed: int = 0,
    **shape: Unpack[FactorShape],
) -> Identification:
    """Say which cells the seen ones determine under the additive model of one order.

    Parameters
    ----------
    seen : array_like of int, (N, C)
        Seen cells, one column per factor, levels coded from 0. Repeats do no harm.
    targets : array_like of int, (M, C), optional
        Cells to judge; by default the whole product, which is counted at any size and listed when small.
    order : int
        Largest number of factors that interact.
    route : {"graph", "exact", "projection"}, optional
        Force a route; by default connectivity for two factors at order 1, arithmetic modulo 2**61 - 1 while at most
        2,000 columns need elimination, floating-point projection beyond.
    sizes : sequence of int, optional
        Number of levels of each factor; by default what ``seen`` and ``targets`` use.
    symmetric : sequence of tuples of int
        Groups of interchangeable factors, such as ``[(0, 1)]`` for gene pairs.
    possible : Possible, optional
        The cells that can exist, all seen ones among them; by default the full product.
    scales : sequence of Scale or None, optional
        Where levels of ordered and numeric factors lie, one for each factor, None for labels. A level between seen ones
        then follows from its knots, and one outside the seen range is `beyond the seen range`.

    Notes
    -----
    The graph route cannot err. The exact route errs on a cell with probability about 4e-19 (a random residue that
    vanishes by chance), and on a design built so that its rank drops modulo 2**61 - 1. The projection route reports
    its gap, and gives `undecided` rather than guess.

    Examples
    --------
    >>> answer = identify([[0, 0], [0, 1], [1, 0]], [[1, 1], [2, 0]])
    >>> [Verdict(code).word for code in answer.verdicts]
    ['determined', 'unseen level']
    >>> print(answer.certificate_of(0))
    y(1,1) = y(1,0) + y(0,1) - y(0,0)
    >>> answer.leverage.round(6).tolist()
    [3.0, nan]
    """
    cells = as_cells(seen, "seen")
    goal = None if targets is None else as_cells(targets, "targets", factors=cells.shape[1])
    features, possible = _model(cells, goal, order, **shape)
    cells_within(cells, features.sizes, "seen")
    if goal is not None:
        cells_within(goal, features.sizes, "targets")
    cells_seen = SeenCells(features, cells)
    null = null_vectors_for(features, cells_seen.cells, route=route, seed=seed)
    return Identification(features, cells_seen, goal, null, possible)
