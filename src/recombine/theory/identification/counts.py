"""How many of the cells that can exist carry each verdict, whatever their number."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.possible import Possible
from recombine.cells.scaled import ScaledConjunctions
from recombine.theory.identification.nullspace import NullVectors
from recombine.theory.identification.residues import PRIME, add_residues
from recombine.verdicts import Verdict

#: Sums formed at most when counting by value; beyond this the cells are sampled.
MAX_SUMS_COUNTED = 3_000_000


@dataclass(frozen=True, repr=False)
class Counts:
    """Verdict counts over all cells that can exist (interchangeable cells counted once).

    Examples
    --------
    >>> counts = exact_counts({Verdict.SEEN: 3, Verdict.DETERMINED: 1})
    >>> counts.total, counts[Verdict.DETERMINED], counts.exact
    (4, 1, True)
    """

    by_verdict: dict[Verdict, int]  #: The counts; estimates of them where ``exact`` is False.
    total: int
    #: Whether the counts are exact; if not, `seen`, `unseen level` and the total still are, and so many random cells
    #: are behind the others.
    exact: bool
    sampled: int
    #: 95 % interval; equal to the counts where exact.
    low: dict[Verdict, int]
    high: dict[Verdict, int]

    def __repr__(self) -> str:
        shown = ", ".join(f"{verdict.word} {count:,}" for verdict, count in self.by_verdict.items() if count)
        return f"Counts({shown}; {'exact' if self.exact else f'from {self.sampled:,} random cells'})"

    def __getitem__(self, verdict: Verdict) -> int:
        return self.by_verdict[verdict]


def _sums(values: dict[int, int], members: int) -> Counter[int]:
    """Count the multisets of ``members`` levels by the sum of their values; ``values`` counts the levels of each."""
    totals: list[Counter[int]] = [Counter({0: 1})] + [Counter() for _ in range(members)]
    for value, levels in values.items():
        for used in range(members, 0, -1):
            for taken in range(1, used + 1):
                ways = math.comb(levels + taken - 1, taken)
                for total, number in totals[used - taken].items():
                    totals[used][(total + taken * value) % PRIME] += number * ways
    return totals[members]


def _joined(first: Counter[int], second: Counter[int]) -> Counter[int]:
    # Millions of sums at once; many factors have more cells than a machine's integers hold.
    dtype = np.int64 if max(first.total(), second.total(), first.total() * second.total()) < 2**63 else object
    values = np.add.outer([*first], [*second]).ravel() % PRIME
    ways = np.multiply.outer(*(np.array([*side.values()], dtype) for side in (first, second))).ravel()
    order = np.argsort(values)
    starts = np.flatnonzero(np.diff(values[order], prepend=-1))
    totals = np.add.reduceat(ways[order], starts).tolist()
    return Counter(dict(zip(values[order][starts].tolist(), totals, strict=True)))


def count_vanishing(null: NullVectors, possible: Possible) -> int | None:
    """Count the possible cells on which the null vector vanishes, order 1 only; None if too costly.

    Combinations of a part with one value are counted together, and sums over two halves of the parts are matched.

    Examples
    --------
    >>> from recombine.cells import Conjunctions
    >>> from recombine.theory.identification.nullspace import null_vectors
    >>> null = null_vectors(Conjunctions((2, 2)), np.array([[0, 0], [1, 1]]))
    >>> count_vanishing(null, Possible.product((2, 2)))
    2
    """
    features = null.features
    if features.order != 1 or not null.modulus or isinstance(features, ScaledConjunctions):
        return None
    offsets = dict(zip(features.free, features.ids(np.zeros((1, len(features.sizes)), dtype=np.int64))[0], strict=True))
    sums = []
    for combinations in possible.parts:
        factors = [factor for factor in combinations.places if factor in offsets][: 1 if combinations.twins else None]
        looked_up = [null.look_up(offsets[factor] + combinations.column(factor))[:, 0] for factor in factors]
        values, levels = np.unique(add_residues(looked_up), return_counts=True)
        members = len(combinations.places) if combinations.twins else 1
        if len(values) ** members > MAX_SUMS_COUNTED:
            return None
        sums.append(_sums(dict(zip(values.tolist(), levels.tolist(), strict=True)), members))
    return _matches(sums)


def _matches(sums: list[Counter[int]]) -> int | None:
    halves = [Counter({0: 1}), Counter({0: 1})]
    for block in sorted(sums, key=len, reverse=True):
        halves.sort(key=len)
        if len(halves[0]) * len(block) > MAX_SUMS_COUNTED:
            return None
        halves[0] = _joined(halves[0], block)
    small, large = sorted(halves, key=len)
    return sum(ways * large.get(-total % PRIME, 0) for total, ways in small.items())


def _wilson_interval(hits: int, trials: int) -> tuple[float, float]:
    """Return the 95 % score interval of a proportion.

    Examples
    --------
    >>> [round(bound, 3) for bound in _wilson_interval(0, 100)]
    [0.0, 0.037]
    """
    z = 1.959963984540054
    centre = (hits + z * z / 2) / (trials + z * z)
    half = z / (trials + z * z) * math.sqrt(hits * (trials - hits) / trials + z * z / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def exact_counts(by_verdict: dict[Verdict, int]) -> Counts:
    """Wrap counts known exactly."""
    filled = {verdict: by_verdict.get(verdict, 0) for verdict in Verdict}
    return Counts(filled, sum(filled.values()), True, 0, dict(filled), dict(filled))


def estimated_counts(base: dict[Verdict, int], codes: IntArray, unknown: int) -> Counts:
    """Spread ``unknown`` cells over verdicts as in the sampled ``codes`` (n,); ``base`` holds what is exact.

    Examples
    --------
    >>> counts = estimated_counts({Verdict.SEEN: 5}, np.array([1, 1, 2, 1]), 1000)
    >>> counts.total, counts[Verdict.DETERMINED], counts.low[Verdict.DETERMINED] < 750 < counts.high[Verdict.DETERMINED]
    (1005, 750, True)
    """
    exact = exact_counts(base)
    estimate, low, high = dict(exact.by_verdict), dict(exact.low), dict(exact.high)
    drawn = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNDECIDED)
    for verdict in drawn:
        hits = int((codes == verdict).sum())
        bounds = _wilson_interval(hits, len(codes))
        estimate[verdict] = hits * unknown // len(codes)
        low[verdict], high[verdict] = (math.floor(bounds[0] * unknown), min(unknown, math.ceil(bounds[1] * unknown)))
    estimate[Verdict.DETERMINED] += unknown - sum(estimate[verdict] for verdict in drawn)
    return Counts(estimate, exact.total + unknown, False, len(codes), low, high)
