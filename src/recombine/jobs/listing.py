"""Which unseen cells are listed: all of them, the user's targets, or a sample of a product too large to list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, IntArray, product_size
from recombine.cells.conjunctions import Conjunctions, Subset, canonical, contains, distinct
from recombine.design.design import Design
from recombine.jobs.near import near_cells, unseen_near

if TYPE_CHECKING:
    from recombine.jobs.importance import Importance

#: Products up to this many cells are listed whole.
MAX_LISTED_WHOLE = 1_000_000
#: Cells listed of a larger product, held-out cells first.
MAX_SAMPLE = 10_000


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
    >>> choose_cells(Design.from_cells([[0, 0], [1, 1]]), None, seed=0).cells.tolist()
    [[0, 1], [1, 0]]
    """
    listing = _choose(design, targets, seed)
    if importance is None:
        return listing
    cells, count = listing.cells, None
    if (
        listing.kind is ListingKind.SAMPLE
        and (matter := importance.support(design.possible, MAX_LISTED_WHOLE)) is not None
    ):
        matter = matter[~contains(design.seen, matter)]
        first = matter[np.argsort(-importance.of(matter), kind="stable")[:MAX_SAMPLE]]
        cells, count = np.vstack([cells, first[~contains(cells, first)]]), len(matter)
    order = np.argsort(-importance.of(cells), kind="stable")
    plain = np.argsort(order)[: len(listing.cells)]
    return replace(listing, cells=cells[order], plain=plain, matter=count)


def _choose(design: Design, targets: IntArray | None, seed: int) -> Listing:
    """Choose the cells to list where all matter alike."""
    if targets is not None:
        return Listing(_in_order(targets), ListingKind.TARGETS, design.possible.count)
    if design.possible.span <= MAX_LISTED_WHOLE:
        cells = keep_unseen(design, design.possible.cells())
        return Listing(cells, ListingKind.ALL_UNSEEN, design.possible.count)
    generator = np.random.default_rng(seed)
    near = near_cells(design)
    if near is not None and not len(design.held_out):
        return Listing(
            unseen_near(design, near, MAX_SAMPLE, generator), ListingKind.SAMPLE, design.possible.count, near.most
        )
    drawn = design.possible.draw(2 * MAX_SAMPLE, generator)
    held_out = keep_unseen(design, design.held_out)[:MAX_SAMPLE]
    random = keep_unseen(design, distinct(canonical(drawn, design.symmetric))[0])
    random = random[np.sort(generator.permutation(len(random))[: MAX_SAMPLE - len(held_out)])]
    return Listing(distinct(np.vstack([held_out, random]))[0], ListingKind.SAMPLE, design.possible.count)


def level_columns(design: Design, cells: IntArray, others: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the level labels of ``cells`` (N, C) as columns to stand beside ``others``.

    A factor that has the name of one of those is shown as "name (factor)", so that neither hides the other.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["cost", "shape"])
    >>> list(level_columns(design, design.seen, ["verdict", "cost"]))
    ['cost (factor)', 'shape']
    """
    taken = set(others)
    return {
        f"{name} (factor)" if name in taken else name: labels for name, labels in design.space.decode(cells).items()
    }


def _in_order(cells: IntArray) -> IntArray:
    """Drop repeats, keeping the user's order."""
    _, inverse = distinct(cells)
    return cells[np.sort(np.unique(inverse, return_index=True)[1])]


def holds_first(cells: IntArray, group: Subset, factor: int) -> BoolArray:
    """Say in which cells (N, C) the factor at ``factor`` holds a level that no earlier one of its ``group`` holds.

    Examples
    --------
    >>> holds_first(np.array([[0, 1], [2, 2]]), (0, 1), 1).tolist()
    [True, False]
    """
    earlier = cells[:, list(group[: group.index(factor)])]
    return np.asarray(~(earlier == cells[:, [factor]]).any(axis=1))


def keep_unseen(design: Design, cells: IntArray) -> IntArray:
    """Keep the cells that are not seen, in canonical order of symmetric levels."""
    if design.symmetric:
        cells = cells[(canonical(cells, design.symmetric) == cells).all(axis=1)]
    if product_size(design.sizes) > MAX_LISTED_WHOLE:
        return cells[~contains(design.seen, cells)]
    features = Conjunctions(design.sizes, len(design.sizes))
    seen = np.zeros(features.columns, dtype=bool)
    seen[features.ids(design.seen)[:, 0]] = True
    return cells[~seen[features.ids(cells)[:, 0]]]
