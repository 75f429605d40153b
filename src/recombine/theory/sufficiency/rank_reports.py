"""What a rank test found: for each slot and value, which blocks of the stacked Jacobian pass, and how safely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.tables.table import Table
from recombine.theory.supports.latents import as_text
from recombine.verdicts import Verdict
from recombine.writing import listing


@record
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
        What the theorem needs beside the ranks and the support does not offer, in words: a slot that moves while the
        others stay, so that the data show a derivative by it, and a path from the known value to every other. For
        levels that repeat ask `finite_identifiability`, for scattered samples `supports.around`.
    gauges : tuple of int
        Slots with a value where not even all combinations together give full rank, so that no support could pass;
        `gauge_aware_support` leaves those directions out.
    listed : bool
        Whether the support is a list of points.

    Examples
    --------
    >>> slot = SlotRank(1, np.zeros((1, 1)), np.array([2]), np.array([[True, False]]), np.zeros(1), np.zeros(1))
    >>> print(RankTest((slot,), gauge_aware=False))
    undecided: slot 1, full rank at 0/1 values, 50.00% of blocks at 0
    """

    slots: tuple[SlotRank, ...]
    gauge_aware: bool
    missing: tuple[str, ...] = ()
    gauges: tuple[int, ...] = ()
    listed: bool = False

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

    def __str__(self) -> str:
        what = "full rank, gauge apart" if self.gauge_aware else "full rank"
        if self.full_rank and self.missing:
            return f"{self.verdict.word}: {what}, but {'; '.join(self.missing)}{self._elsewhere}"
        if self.holds:
            count = sum(len(slot.values) for slot in self.slots)
            return f"{self.verdict.word} (given one point)" + f": {what}, {count} values{self._growth}"
        slot = min(self.slots, key=lambda report: report.shares.mean())
        low = int(slot.shares.argmin())
        passed = f"{self.verdict.word}: slot {slot.slot}" + f", {what} at {slot.passed}/{len(slot.values)} values"
        blocks = f", {slot.shares[low]:.2%} of blocks" + f" at {as_text(slot.values[low])}"
        return f"{passed}{blocks}{self._elsewhere}"

    @property
    def _elsewhere(self) -> str:
        """Which other functions answer what this one cannot."""
        which = f"slot{'s' * (len(self.gauges) > 1)} {listing(self.gauges)}"
        gauge = f"; gauge of {which}: gauge_aware_support"
        points = "; points: finite_identifiability, supports.around"
        return gauge * bool(self.gauges) + points * (self.listed and bool(self.missing))

    @property
    def _growth(self) -> str:
        worst = max(float(slot.amplification.max()) for slot in self.slots)
        drawn = np.concatenate([slot.anchors for slot in self.slots])
        few, many = int(drawn.min()), int(drawn.max())
        number = f"{few} anchor{'s' * (few > 1)}" if few == many else f"{few} to {many} anchors"
        return "" if self.gauge_aware else f", {number} each, errors" + f" grow {worst:.3g}-fold"

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
