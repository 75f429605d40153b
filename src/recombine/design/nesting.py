"""Nesting: a factor lies inside another if each of its levels goes with one level of that other only.

A plant has one treatment, a school one district. Combining a plant with another treatment then makes no sense, and the
cells that do are left out of the product. That a factor lies inside another can be said, or read off the rows where
chance does not explain it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Subset, distinct, sparse_rows
from recombine.cells.possible import Combinations, Possible, broken_at, follows
from recombine.design.factors import Factor
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Nesting is inferred if scattered rows, and scattered cells, would have broken it but for a chance of at most these.
MAX_CHANCE_BY_ROWS, MAX_CHANCE_BY_CELLS = 1e-4, 1e-3
#: Levels per level of the parent, at least: two factors that run in parallel may be confounded rather than nested.
MIN_CHILDREN_PER_PARENT = 2.0
#: Cells on which a pair of factors is looked at first; most pairs that are not nested show it there.
FIRST_CELLS_LOOKED_AT = 1_000
#: Combinations of factors that share a parent, at most; beyond, an inferred nesting of the later one is not used.
MAX_NESTED_COMBINATIONS = 2_000_000


@dataclass(frozen=True)
class Nested:
    """One factor inside another.

    ``inferred`` says whether that was read off the rows rather than said, and ``chance`` is then the chance of the same
    in rows or cells that pair levels at random.

    Examples
    --------
    >>> print(Nested("plant", "treatment"))
    plant lies inside treatment
    """

    child: str
    parent: str
    inferred: bool = False
    chance: float = 0.0

    def __str__(self) -> str:
        return f"{self.child} lies inside {self.parent}"


def nesting_phrase(nesting: Sequence[Nested]) -> str:
    """Say which factors lie inside which."""
    parents: dict[str, list[str]] = {}
    for item in nesting:
        parents.setdefault(item.child, []).append(item.parent)
    return "; ".join(f"{child} lies inside {' and '.join(names)}" for child, names in parents.items())


def infer_nesting(factors: Sequence[Factor], cells: IntArray, rows: IntArray, skip: Sequence[int] = ()) -> list[Nested]:
    """Return the pairs of factors that lie inside each other beyond chance, but for factors at the places ``skip``.

    Two chances must both be small: that of rows (``rows`` (N,) of them in each of ``cells`` (N, C)) whose levels of the
    two factors are drawn independently, given how many rows each level has; and that of cells scattered at random, so
    that repeated rows of one cell do not count as evidence on their own.
    """
    pairs = []
    for child, parent in itertools.permutations(range(len(factors)), 2):
        children, parents = len(factors[child].levels), len(factors[parent].levels)
        if child in skip or parent in skip or children < MIN_CHILDREN_PER_PARENT * parents:
            continue
        if follows(cells[:FIRST_CELLS_LOOKED_AT], child, parent) and follows(cells, child, parent):
            chance = nesting_chance(cells[:, child], cells[:, parent], rows)
            if chance is not None:
                pairs.append(Nested(factors[child].name, factors[parent].name, True, chance))
    return pairs


def nesting_chance(child: IntArray, parent: IntArray, rows: IntArray) -> float | None:
    """Return the larger of the two chances of the nesting of ``child`` (N,) in ``parent`` (N,); None if not small."""
    by_rows = _log_chance(child, parent, rows, _drawn)
    by_cells = _log_chance(child, parent, np.ones(len(child), dtype=np.int64), _scattered)
    if by_rows > np.log(MAX_CHANCE_BY_ROWS) or by_cells > np.log(MAX_CHANCE_BY_CELLS):
        return None
    return float(np.exp(max(by_rows, by_cells)))


def _log_chance(
    child: IntArray, parent: IntArray, amounts: IntArray, chance_of: Callable[[float, FloatArray], float]
) -> float:
    """Sum the logarithms of the chances of all children, children with the same amount together."""
    share = np.bincount(parent, weights=amounts)
    share = share[share > 0] / share.sum()
    amount = np.bincount(child, weights=amounts)
    values, levels = np.unique(amount[amount > 0], return_counts=True)
    chances = [max(chance_of(value, share), 1e-300) for value in values.tolist()]
    return float(np.sum(levels * np.log(chances)))


def _drawn(number: float, share: FloatArray) -> float:
    """Return the chance that ``number`` rows, each with a parent drawn by ``share`` (P,), have one and the same."""
    return float(np.sum(share**number))


def _scattered(number: float, share: FloatArray) -> float:
    """Return the chance that cells scattered at random, ``number`` expected for a child, fall to one parent.

    The number that falls to each parent is a Poisson count; that there is any is given, since the level was seen.
    """
    with np.errstate(under="ignore"):
        chance = np.sum(-np.expm1(-number * share) * np.exp(-number * (1 - share)))
    return float(chance / -np.expm1(-number))


def declare_nesting(
    texts: Sequence[str], factors: Sequence[Factor], cells: IntArray, skip: Sequence[int]
) -> list[Nested]:
    """Read ``"plant/treatment"`` (the plant lies inside the treatment) and check that ``cells`` (N, C) agree."""
    names = [factor.name for factor in factors]
    pairs = []
    for text in texts:
        for child, parent in itertools.pairwise(_chain(text, names)):
            if child in skip or parent in skip:
                raise InputError(f"nested {text!r}: symmetric factors are one factor used twice and cannot be nested")
            _check_nested(factors, cells, child, parent)
            pairs.append(Nested(names[child], names[parent]))
    return pairs


def _chain(text: str, names: Sequence[str]) -> list[int]:
    chain = [name.strip() for name in text.split("/")]
    for name in chain:
        if name not in names:
            raise InputError(f"nested {text!r}: {name!r} is not a factor;{near_miss(name, names, 'Factors:')}")
    if len(chain) < 2 or len(set(chain)) < len(chain):
        raise InputError(f"nested {text!r} must name a factor and the one it lies inside: plant/treatment")
    return [list(names).index(name) for name in chain]


def _check_nested(factors: Sequence[Factor], cells: IntArray, child: int, parent: int) -> None:
    level = broken_at(cells, child, parent)
    if level is None:
        return
    inner, outer = factors[child], factors[parent]
    with_them = np.unique(cells[cells[:, child] == level, parent])
    swapped = f"; did you mean {outer.name}/{inner.name}?" if follows(cells, parent, child) else ""
    raise InputError(
        f"{inner.name} does not lie inside {outer.name}: {inner.name} {inner.labels[level]!r} occurs with "
        f"{listing([outer.labels[code] for code in with_them], 3)}{swapped}"
    )


def nested_product(
    sizes: Sequence[int], symmetric: Sequence[Subset], pairs: Sequence[tuple[int, int]], cells: IntArray
) -> Possible:
    """Return the product of all factors without the cells that would take a child out of its parent.

    ``pairs`` are the places of child and parent. ``cells`` (N, C) exist and say which parent each child has, so every
    level of a child must be there.
    """
    plain = Possible.product(sizes, symmetric)
    if not pairs:
        return plain
    above = _ancestors(pairs)
    inner = _innermost(above)
    involved = {*inner, *itertools.chain(*above.values())}
    tables = [table for table in plain.parts if table.twins or table.places[0] not in involved]
    joined: list[Combinations] = []
    for child in inner:
        places = sorted([child, *above[child]])
        table = Combinations(tuple(places), distinct(cells[:, places])[0])
        for overlapping in [overlapping for overlapping in joined if set(overlapping.places) & set(table.places)]:
            joined.remove(overlapping)
            table = _joined(overlapping, table)
        joined.append(table)
    tables = sorted([*tables, *joined], key=lambda table: table.places)
    return Possible(tuple(sizes), tuple(symmetric), tuple(tables))


def _ancestors(pairs: Sequence[tuple[int, int]]) -> dict[int, set[int]]:
    """Return the factors around each child: parents, their parents, and so on."""
    above: dict[int, set[int]] = {}
    for child, parent in pairs:
        above.setdefault(child, set()).add(parent)
    for middle in list(above):
        for child, parents in above.items():
            if middle in parents:
                above[child] = (parents | above[middle]) - {child}
    return above


def _innermost(above: dict[int, set[int]]) -> list[int]:
    """Return the children that are around no other one; of two that lie inside each other, the first."""
    links = [(child, parent) for child, parents in above.items() for parent in parents]
    outer = {parent for child, parent in links if child not in above.get(parent, ()) or child < parent}
    return sorted(set(above) - outer)


def _joined(first: Combinations, second: Combinations) -> Combinations:
    """Return the combinations of both parts that agree on the factors they share."""
    shared = [factor for factor in first.places if factor in second.places]
    keys = [np.column_stack([table.column(factor) for factor in shared]) for table in (first, second)]
    _, inverse = distinct(np.vstack(keys))
    keys1, keys2 = inverse[: len(keys[0])], inverse[len(keys[0]) :]
    kinds = int(inverse.max()) + 1
    total = int(np.bincount(keys2, minlength=kinds)[keys1].sum())
    if total > MAX_NESTED_COMBINATIONS:
        names = f"{total:,} combinations inside shared factors"
        raise InputError(f"nesting leaves {names}, too many to list; audit fewer factors, or pass --crossed")
    pairs = sparse_rows(keys1[:, None], kinds) @ sparse_rows(keys2[:, None], kinds).T
    pairs.sort_indices()
    down, across = pairs.nonzero()
    more = [factor for factor in second.places if factor not in first.places]
    table = np.column_stack([first.table[down], *(second.column(factor)[across] for factor in more)])
    factors = (*first.places, *more)
    sorting = np.argsort(factors)
    return Combinations(tuple(np.array(factors)[sorting].tolist()), table[:, sorting])
