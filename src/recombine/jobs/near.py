"""Cells near the commonest one: of a table of mutants, those with few mutations rather than any of the product.

Where nearly every factor of nearly every seen cell is at its commonest level, random cells of the product are far from
anything that will be asked. What is listed and proposed is then chosen among cells with about as many departures from
the commonest levels as the seen ones have, and verdicts are counted by that number, exactly.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import contains, distinct
from recombine.cells.departures import MAX_DEPARTING_SHARE, MIN_SPARSE_BLOCKS
from recombine.cells.scaled import ScaledConjunctions
from recombine.design.design import Design
from recombine.theory.identification.identify import Identification
from recombine.theory.identification.residues import PRIME
from recombine.writing import plural

#: More departures than this are not near.
MAX_DEPARTURES = 6
#: Different sums of null values that are told apart at most when verdicts are counted.
MAX_NEAR_SUMS = 200_000


@dataclass(frozen=True, eq=False)
class NearCells:
    """The cells with few departures from the commonest level of each factor; see `near_cells`.

    Attributes
    ----------
    sizes : tuple of int
    common : int array of shape (C,)
        The commonest seen level of each factor.
    departures : int array of shape (N,)
        Departures of each seen cell.
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
            cells = self._all(number) if there_are <= share else self.draw(number, share, generator)
            blocks.append(distinct(cells)[0])
            remaining -= len(blocks[-1])
        return np.vstack(blocks)

    def _all(self, departures: int) -> IntArray:
        cells = []
        for factors in itertools.combinations(range(len(self.sizes)), departures):
            other_levels = [
                [level for level in range(self.sizes[factor]) if level != self.common[factor]] for factor in factors
            ]
            for levels in itertools.product(*other_levels):
                cell = self.common.copy()
                cell[list(factors)] = levels
                cells.append(cell)
        return np.array(cells)

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
    >>> mutants = [[1 if place in pair else 0 for place in range(12)] for pair in itertools.combinations(range(12), 2)]
    >>> near = near_cells(Design.from_cells(mutants))
    >>> near.most, near.counts
    (3, [1, 12, 66, 220])
    """
    if len(design.sizes) < MIN_SPARSE_BLOCKS or design.symmetric or not design.possible.whole:
        return None
    common = np.array([np.bincount(column).argmax() for column in design.seen.T])
    departures = np.zeros(len(design.seen), dtype=np.int64)
    for factor, level in enumerate(common.tolist()):
        departures += design.seen[:, factor] != level
    few = departures.mean() <= MAX_DEPARTING_SHARE * len(design.sizes) and departures.max() < MAX_DEPARTURES
    return NearCells(design.sizes, common, departures) if few else None


def unseen_near(design: Design, near: NearCells, count: int, generator: np.random.Generator) -> IntArray:
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


def departures_statement(design: Design, known: Identification) -> str:
    """Say what follows by number of departures from the commonest cell, and whether that cell mends the rest.

    Nothing is said where seen cells are not near it, where everything near it is determined, or beyond order 1.

    Examples
    --------
    >>> from recombine.theory.identification.identify import identify
    >>> mutants = [[1 if place in pair else 0 for place in range(12)] for pair in itertools.combinations(range(12), 2)]
    >>> print(departures_statement(Design.from_cells(mutants), identify(mutants)).partition("constant: ")[2])
    cells with 2 departures alone determine no single departure and no triple departure, however many there are; one
        row of 0 · 0 · 0 · 0 · 0 · 0 · 0 · 0 · 0 · 0 · 0 · 0 itself mends it.
    """
    near = near_cells(design)
    told = None if near is None else near.told(known)
    if near is None or told is None or told == near.counts:
        return ""
    home = design.label(near.common)
    parts = [
        f"{number}: {'none' if not known else 'all' if known == every else f'{known:,}'} of {every:,}"
        for number, (known, every) in enumerate(zip(told, near.counts, strict=True))
    ]
    lead = f"By number of departures from the commonest levels ({home}), seen or determined are {'; '.join(parts)}"
    fewest, most = int(near.departures.min()), int(near.departures.max())
    if fewest < most or fewest == 0:
        return f"{lead}."
    kind = {1: "single", 2: "double", 3: "triple"}
    same = f"cells with {plural(most, 'departure')}"
    if all(part.kind == "sequence" for part in design.space.parts) and design.space.parts and most in kind:
        same = f"{kind[most]} mutants"
    others = [kind.get(number, f"{number}-fold") for number in (most - 1, most + 1) if number]
    none = " and ".join(f"no {word} {'mutant' if 'mutant' in same else 'departure'}" for word in others)
    mends = (
        f"; one row of {home} itself mends it" if known.deficit == 1 else f"; a row of {home} itself is the first step"
    )
    return (
        f"{lead}. Every seen cell has exactly {plural(most, 'departure')}, so their number cannot be told from the "
        f"constant: {same} alone determine {none}, however many there are{mends}."
    )
