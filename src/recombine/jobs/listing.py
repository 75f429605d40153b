"""Which unseen cells are listed: all of them, the user's targets, or a sample of a product too large to list.

Where nearly every factor of nearly every seen cell is at its commonest level, as in a table of mutants, random cells of
the product are far from anything that will be asked. What is listed and proposed is then chosen among cells with about
as many departures from the commonest levels as the seen ones have, and verdicts are counted by that number, exactly.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import product_size
from recombine.cells.conjunctions import Conjunctions, Subset, canonical, contains, distinct, every_cell
from recombine.cells.departures import MAX_DEPARTING_SHARE, MIN_SPARSE_BLOCKS
from recombine.cells.scaled import ScaledConjunctions
from recombine.jobs.limits import LISTING_LIMITS
from recombine.theory.identification.residues import PRIME

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from recombine.cells.arrays import BoolArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.importance import Importance
    from recombine.theory.identification.identify import Identification

#: Different sums of null values that are told apart at most when verdicts near the commonest cell are counted.
MAX_NEAR_SUMS = 200_000


class ListingKind(StrEnum):
    """Which cells are listed: all unseen ones, those that were asked for, or a sample of too many."""

    ALL_UNSEEN = auto()
    TARGETS = auto()
    SAMPLE = auto()


@dataclass(frozen=True, eq=False)
class Listing:
    """Listed cells, shape (T, C), and how they were chosen; ``departures`` is the most they have, where that counts.

    Where importance set the order, ``plain`` (N,) are the places of the cells that would be listed without, in their
    order then; of a product too large to list ``matter`` unseen cells matter, and the first of them are listed too.
    """

    cells: IntArray
    kind: ListingKind
    product: int
    departures: int | None = None
    plain: IntArray | None = None
    matter: int | None = None

    @property
    def typical(self) -> IntArray:
        """The cells that would be listed whatever matters, shape (N, C)."""
        return self.cells if self.plain is None else self.cells[self.plain]


def choose_cells(design: Design, targets: IntArray | None, seed: int, importance: Importance | None = None) -> Listing:
    """Choose the cells to list, the most important first; of a product too large to list all that matter, if few do.

    Examples
    --------
    >>> from recombine.design import Design
    >>> choose_cells(Design.from_cells([[0, 0], [1, 1]]), None, seed=0).cells.tolist()
    [[0, 1], [1, 0]]
    """
    listing = _choose(design, targets, seed)
    if importance is None:
        return listing
    cells, count, sampled = listing.cells, None, listing.kind is ListingKind.SAMPLE
    matter = importance.support(design.possible, LISTING_LIMITS.max_listed) if sampled else None
    if matter is not None:
        matter = matter[~contains(design.seen, matter)]
        top = matter[np.argsort(-importance.of(matter), kind="stable")[: LISTING_LIMITS.max_sample]]
        cells, count = np.vstack([cells, top[~contains(cells, top)]]), len(matter)
    order = np.argsort(-importance.of(cells), kind="stable")
    plain = np.argsort(order)[: len(listing.cells)]
    return replace(listing, cells=cells[order], plain=plain, matter=count)


def _choose(design: Design, targets: IntArray | None, seed: int) -> Listing:
    """Choose the cells to list where all matter alike."""
    if targets is not None:
        first_rows = np.sort(np.unique(distinct(targets)[1], return_index=True)[1])
        return Listing(targets[first_rows], ListingKind.TARGETS, design.possible.count)
    if design.possible.span <= LISTING_LIMITS.max_listed:
        cells = keep_unseen(design, design.possible.cells())
        return Listing(cells, ListingKind.ALL_UNSEEN, design.possible.count)
    generator, size = np.random.default_rng(seed), LISTING_LIMITS.max_sample
    near = near_cells(design)
    if near is not None and not len(design.held_out):
        cells = _unseen_near(design, near, size, generator)
        return Listing(cells, ListingKind.SAMPLE, design.possible.count, near.most)
    drawn = design.possible.draw(2 * size, generator)
    held_out = keep_unseen(design, design.held_out)[:size]
    random = keep_unseen(design, distinct(canonical(drawn, design.symmetric))[0])
    random = random[np.sort(generator.permutation(len(random))[: size - len(held_out)])]
    return Listing(distinct(np.vstack([held_out, random]))[0], ListingKind.SAMPLE, design.possible.count)


def level_columns(design: Design, cells: IntArray, others: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the level labels of ``cells`` (N, C) as columns to stand beside ``others``.

    A factor that has the name of one of those is shown as "name (factor)", so that neither hides the other.

    Examples
    --------
    >>> from recombine.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["cost", "shape"])
    >>> list(level_columns(design, design.seen, ["verdict", "cost"]))
    ['cost (factor)', 'shape']
    """
    taken, columns = set(others), design.space.decode(cells)
    return {f"{name} (factor)" if name in taken else name: labels for name, labels in columns.items()}


def holds_first(cells: IntArray, group: Subset, factor: int) -> BoolArray:
    """Say in which cells (N, C) the factor at ``factor`` holds a level that no earlier one of its ``group`` holds.

    Examples
    --------
    >>> holds_first(np.array([[0, 1], [2, 2]]), (0, 1), 1).tolist()
    [True, False]
    """
    earlier = cells[:, list(group[: group.index(factor)])]
    return np.asarray(~(earlier == cells[:, [factor]]).any(axis=1))


def furthest_outside(design: Design, cells: IntArray) -> dict[int, list[tuple[int, ...]]]:
    """Return, for each factor whose seen range ``cells`` (N, C) leave, a seen cell moved to the furthest levels."""
    ends: dict[int, list[tuple[int, ...]]] = {}
    home = design.seen[0].tolist()
    for factor, scale in enumerate(design.scales):
        if scale is None:
            continue
        levels = np.unique(cells[:, factor])
        outside = sorted(levels[scale.beyond[levels]].tolist(), key=scale.places.__getitem__)
        if outside:
            furthest = dict.fromkeys((outside[0], outside[-1]))
            ends[factor] = [(*home[:factor], level, *home[factor + 1 :]) for level in furthest]
    return ends


def keep_unseen(design: Design, cells: IntArray) -> IntArray:
    """Keep the cells that are not seen, in canonical order of symmetric levels."""
    if design.symmetric:
        cells = cells[(canonical(cells, design.symmetric) == cells).all(axis=1)]
    if product_size(design.sizes) > LISTING_LIMITS.max_listed:
        return cells[~contains(design.seen, cells)]
    features = Conjunctions(design.sizes, len(design.sizes))
    seen = np.zeros(features.columns, dtype=bool)
    seen[features.ids(design.seen)[:, 0]] = True
    return cells[~seen[features.ids(cells)[:, 0]]]


@dataclass(frozen=True, eq=False)
class NearCells:
    """The cells with few departures from the commonest level of each factor; see `near_cells`.

    ``common`` (C,) are the commonest seen levels, ``departures`` (N,) those of each seen cell.
    """

    sizes: tuple[int, ...]
    common: IntArray
    departures: IntArray

    @property
    def most(self) -> int:
        """Departures of the cells that are looked at, at most: one more than the seen cells have."""
        return int(self.departures.max()) + 1

    @cached_property
    def counts(self) -> list[int]:
        """How many cells have 0, 1, ... up to ``most`` departures."""
        counts = [1] + [0] * self.most
        for size in self.sizes:
            for number in range(self.most, 0, -1):
                counts[number] += counts[number - 1] * (size - 1)
        return counts

    def draw(self, departures: int, count: int, generator: np.random.Generator) -> IntArray:
        """Draw ``count`` cells with so many departures, each as likely as any other, shape (count, C)."""
        cells = np.repeat(self.common[None], count, axis=0)
        if not departures:
            return cells
        other_levels = np.array(self.sizes) - 1
        share = other_levels / other_levels.sum()
        factors = generator.choice(len(other_levels), size=(count, departures), p=share)
        while len(clash := np.flatnonzero((np.diff(np.sort(factors, axis=1), axis=1) == 0).any(axis=1))):
            factors[clash] = generator.choice(len(other_levels), size=(len(clash), departures), p=share)
        step = 1 + (generator.random(factors.shape) * other_levels[factors]).astype(np.int64)
        rows = np.arange(count)[:, None]
        cells[rows, factors] = (cells[rows, factors] + step) % np.array(self.sizes)[factors]
        return cells

    def spread(self, count: int, generator: np.random.Generator) -> IntArray:
        """Return about ``count`` distinct cells, as many of each number of departures as there are, if that is few."""
        blocks, remaining = [], count
        for number, there_are in enumerate(self.counts):
            share = remaining // (self.most + 1 - number)
            cells = self._all(number) if number and there_are <= share else self.draw(number, share, generator)
            blocks.append(distinct(cells)[0])
            remaining -= len(blocks[-1])
        return np.vstack(blocks)

    def _all(self, departures: int) -> IntArray:
        blocks, sizes = [], np.array(self.sizes)
        for factors in map(list, itertools.combinations(range(len(sizes)), departures)):
            steps = 1 + every_cell([size - 1 for size in sizes[factors].tolist()])
            blocks.append(np.repeat(self.common[None], len(steps), axis=0))
            blocks[-1][:, factors] = (self.common[factors] + steps) % sizes[factors]
        return np.vstack(blocks)

    def uniform(self, count: int, generator: np.random.Generator) -> IntArray:
        """Return about ``count`` distinct cells with at most ``most`` departures, each as likely as any other."""
        share = np.array([float(number) for number in self.counts])
        numbers = generator.multinomial(count, share / share.sum())
        return distinct(np.vstack([self.draw(number, int(many), generator) for number, many in enumerate(numbers)]))[0]

    def told(self, identification: Identification) -> list[int] | None:
        """Count the cells with 0, 1, ... departures that were seen or are determined, exactly, at order 1.

        None where too many different sums of null values would have to be told apart.
        """
        null = identification.null
        scaled = isinstance(identification.features, ScaledConjunctions)
        if identification.features.order > 1 or not null.modulus or identification.features.following or scaled:
            return None
        values = [
            null.look_up(block)[:, 0].tolist()
            for block in (np.arange(columns.start, columns.stop) for columns in identification.features.blocks.values())
        ]
        home = sum(levels[level] for levels, level in zip(values, self.common.tolist(), strict=True)) % PRIME
        sums: list[Counter[int]] = [Counter({home: 1})] + [Counter() for _ in range(self.most)]
        for levels, level in zip(values, self.common.tolist(), strict=True):
            steps = Counter((value - levels[level]) % PRIME for code, value in enumerate(levels) if code != level)
            for number in range(self.most, 0, -1):
                if len(sums[number - 1]) * len(steps) > MAX_NEAR_SUMS:
                    return None
                for total, ways in sums[number - 1].items():
                    for step, more in steps.items():
                        sums[number][(total + step) % PRIME] += ways * more
            if sum(map(len, sums)) > MAX_NEAR_SUMS:
                return None
        return [counter[0] for counter in sums]


def near_cells(design: Design) -> NearCells | None:
    """Return the cells near the commonest one, where most seen cells are; None for any other design.

    Examples
    --------
    >>> from recombine.design import Design
    >>> mutants = [[1 if site in pair else 0 for site in range(12)] for pair in itertools.combinations(range(12), 2)]
    >>> near = near_cells(Design.from_cells(mutants))
    >>> near.most, near.counts
    (3, [1, 12, 66, 220])
    """
    if len(design.sizes) < MIN_SPARSE_BLOCKS or design.symmetric or not design.possible.whole:
        return None
    common = np.array([np.bincount(column).argmax() for column in design.seen.T])
    departures = (design.seen != common).sum(axis=1)
    few = departures.mean() <= MAX_DEPARTING_SHARE * len(design.sizes)
    near = few and departures.max() < LISTING_LIMITS.max_departures
    return NearCells(design.sizes, common, departures) if near else None


def _unseen_near(design: Design, near: NearCells, count: int, generator: np.random.Generator) -> IntArray:
    """Return about ``count`` unseen cells near the commonest one, the same number for each number of departures."""
    cells = near.spread(2 * count, generator)
    cells = cells[~contains(design.seen, cells)]
    if len(cells) <= count:
        return cells
    number = (cells != near.common).sum(axis=1)
    chosen, remaining = [], count
    for index, departures in enumerate(levels := np.unique(number).tolist()):
        rows = np.flatnonzero(number == departures)
        chosen.append(rows[: remaining // (len(levels) - index)])
        remaining -= len(chosen[-1])
    return cells[np.sort(np.concatenate(chosen))]


@dataclass(frozen=True, eq=False)
class NearCounts:
    """How many of the cells with 0, 1, ... departures from the commonest levels are seen or determined, of ``every``.

    ``departures`` are the fewest and the most of a seen cell, ``deficit`` how many cells are missing to determine all.
    """

    common: str
    told: tuple[int, ...]
    every: tuple[int, ...]
    departures: tuple[int, int]
    deficit: int | None


def count_near(design: Design, identification: Identification) -> NearCounts | None:
    """Count what follows by number of departures from the commonest cell, at order 1.

    None where seen cells are not near it, and where everything near it is determined.

    Examples
    --------
    >>> from recombine.design import Design
    >>> from recombine.theory.identification.identify import identify
    >>> mutants = [[1 if site in pair else 0 for site in range(12)] for pair in itertools.combinations(range(12), 2)]
    >>> count_near(Design.from_cells(mutants), identify(mutants)).told
    (0, 0, 66, 0)
    """
    near = near_cells(design)
    told = None if near is None else near.told(identification)
    if near is None or told is None or told == near.counts:
        return None
    spread = int(near.departures.min()), int(near.departures.max())
    return NearCounts(design.label(near.common), tuple(told), tuple(near.counts), spread, identification.deficit)
