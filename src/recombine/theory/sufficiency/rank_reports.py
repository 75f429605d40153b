"""What a rank test found: for each slot and value, which blocks of the stacked Jacobian pass, and how safely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.tables.table import Table
from recombine.theory.supports.latents import as_text
from recombine.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class SlotRank:
    """Ranks of one slot at V values.

    Attributes
    ----------
    values : float array, (V, D)
    anchors : int array, (V,)
        Anchors used at each value.
    good : bool array, (V, blocks...)
        Which blocks pass: full column rank, or (gauge-aware) nothing open that other combinations would show.
    smallest : float array, (V,)
        Smallest singular value of the stack; 0 where the rank is not full.
    radius : float array, (V,)
        How far the anchors are from the value; 0 unless they are nearest neighbours.

    Examples
    --------
    >>> good = np.array([[True, True], [True, False]])
    >>> found = SlotRank(0, np.zeros((2, 1)), np.array([1, 1]), good, np.array([0.5, 0.0]), np.zeros(2))
    >>> found.shares.tolist(), found.passed, found.amplification.tolist()
    ([1.0, 0.5], 1, [2.0, inf])
    """

    slot: int
    values: FloatArray
    anchors: IntArray
    good: BoolArray
    smallest: FloatArray
    radius: FloatArray

    __repr__ = brief_repr

    @property
    def shares(self) -> FloatArray:
        """Share of blocks that pass at each value, (V,)."""
        shares: FloatArray = self.good.reshape(len(self.good), -1).mean(axis=1)
        return shares

    @property
    def passed(self) -> int:
        """Number of values at which all blocks pass."""
        return int((self.shares == 1).sum())

    @property
    def amplification(self) -> FloatArray:
        """1 / smallest singular value: how much an error in f may grow in the component, (V,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / self.smallest)


@dataclass(frozen=True, eq=False)
class RankTest:
    """Ranks of the stacked Jacobians of all slots; see `sufficient_support` and `gauge_aware_support`.

    Attributes
    ----------
    missing : tuple of str
        What the theorem needs beside the ranks and the support does not offer, in words.

    Examples
    --------
    >>> slot = SlotRank(1, np.zeros((1, 1)), np.array([2]), np.array([[True, False]]), np.zeros(1), np.zeros(1))
    >>> print(RankTest((slot,), gauge_aware=False))
    undecided: slot 1 has full rank at 0 of 1 values; at 0 in 50.00% of its blocks (such as pixels),
    from 2 anchors
    """

    slots: tuple[SlotRank, ...]
    gauge_aware: bool
    missing: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if ranks are full and nothing else that the theorem needs is ``missing``."""
        return self.full_rank and not self.missing

    @property
    def full_rank(self) -> bool:
        """True if all blocks pass at all values of all slots."""
        return all(slot.passed == len(slot.values) for slot in self.slots)

    @property
    def verdict(self) -> Verdict:
        """Determined where the condition holds; else undecided, for it is sufficient, not necessary.

        The theorem also asks that the components are known at one point (its A4). Only where what is open cancels, as
        the shifts of addition do, can that be left out; `finite_identifiability` tells with and without.
        """
        return Verdict.DETERMINED if self.holds else Verdict.UNDECIDED

    @property
    def summary(self) -> str:
        """The result in one line."""
        if self.full_rank and self.missing:
            return (
                f"{self.verdict.word}: {self._what} at the probed values, but {'; '.join(self.missing)}; "
                "for levels that repeat ask finite_identifiability, for scattered samples supports.around"
            )
        if self.holds:
            count = sum(len(slot.values) for slot in self.slots)
            every = f"{self._what} at all {count} probed values of {len(self.slots)} slots"
            return (
                f"{self.verdict.word} once the components are known at one point, for combinations of seen values "
                f"(see compositional_support): {every}{self._growth}"
            )
        slot = min(self.slots, key=lambda report: report.shares.mean())
        low = int(slot.shares.argmin())
        plural = "" if slot.anchors[low] == 1 else "s"
        return (
            f"{self.verdict.word}: slot {slot.slot} has {self._what} at {slot.passed} of {len(slot.values)} values; at "
            f"{as_text(slot.values[low])} in {slot.shares[low]:.2%} of its blocks (such as pixels), from "
            f"{slot.anchors[low]} anchor{plural}"
        )

    @property
    def _what(self) -> str:
        return "full rank up to gauge (directions that no combination shows)" if self.gauge_aware else "full rank"

    @property
    def _growth(self) -> str:
        worst = max(float(slot.amplification.max()) for slot in self.slots)
        drawn = np.concatenate([slot.anchors for slot in self.slots])
        few, many = int(drawn.min()), int(drawn.max())
        number = f"{few} anchor{'s' * (few > 1)}" if few == many else f"{few} to {many} anchors"
        return "" if self.gauge_aware else f"; with the {number} drawn at each, errors grow at most {worst:.3g} times"

    @property
    def table(self) -> Table:
        """One row per slot and value: anchors, share of blocks that pass, smallest singular value, its inverse."""
        columns: dict[str, list[object]] = {}
        for slot in self.slots:
            rows = {
                "slot": [slot.slot] * len(slot.values),
                "value": [as_text(value) for value in slot.values],
                "anchors": slot.anchors.tolist(),
                "share": slot.shares.tolist(),
                "smallest": slot.smallest.tolist(),
                "amplification": slot.amplification.tolist(),
                "radius": slot.radius.tolist(),
            }
            for name, column in rows.items():
                columns.setdefault(name, []).extend(column)
        return Table({name: np.array(column) for name, column in columns.items()})

    def __str__(self) -> str:
        return self.summary
