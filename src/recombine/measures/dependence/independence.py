"""Does a prediction depend on a factor beyond the one it should depend on? A test with an effect size and its null.

A model that generalises compositionally has I(prediction; factor j | factor i) = 0 for the factors j it should ignore
(Li et al. 2020, section 3). The null is the same estimate with factor j shuffled among rows of equal factor i.
"""

from __future__ import annotations

import math
from dataclasses import field
from enum import StrEnum

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.measures.dependence.contingency import Contingency
from recombine.measures.dependence.information import count_logs, entropy_of, information_of
from recombine.measures.dependence.permutation import changeable_entries, null_sums

#: Estimates that differ by less (in bits) are ties: sums of logarithms are not exact.
TIE_BITS = 1e-10


class DependenceState(StrEnum):
    """Whether a prediction was found to depend on a factor; ``CANNOT_TELL`` where the factor varies in no row."""

    DEPENDS = "depends"
    NOT_FOUND = "no dependence found"
    CANNOT_TELL = "cannot tell"

    def __repr__(self) -> str:
        return repr(self.value)


@record
class Independence:
    """A test whether a prediction depends on a factor beyond another one. Make one with `independence_test`."""

    estimate: float  #: I(prediction; factor | given) in bits.
    null: FloatArray  #: The same estimate with the factor shuffled among rows of equal ``given``.
    entropy: float  #: H(prediction | given) in bits (plug-in): what the given factor leaves open.
    freedom: int  #: Degrees of freedom: the sum over strata of (predictions - 1)(levels - 1).
    rows: int
    levels: tuple[int, int, int]  #: Different values of prediction, factor and given.
    varied: float  #: Share of the rows at levels of the given factor where the factor varies: only these can tell.
    bins: dict[str, int] = field(default_factory=dict)  #: Into how many bins columns of measurements were cut.

    @property
    def null_mean(self) -> float:
        """What the estimate is on average without any dependence, in bits."""
        return float(self.null.mean())

    @property
    def null_sd(self) -> float:
        """How much that varies, in bits."""
        return float(self.null.std())

    @property
    def excess(self) -> float:
        """The dependence in bits: the estimate minus the mean of its null."""
        return self.estimate - self.null_mean

    @property
    def effect(self) -> float:
        """The dependence as a share of what the given factor leaves open; 0 where it leaves nothing open."""
        return self.excess / self.entropy if self.entropy > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Chance of an estimate at least as large without any dependence: (1 + shuffles that reach it) / (1 + all)."""
        return (1 + int((self.null >= self.estimate - TIE_BITS).sum())) / (1 + len(self.null))

    def threshold(self, level: float = 0.05) -> float:
        """Return the excess in bits from which on the p-value falls below ``level``."""
        return float(np.quantile(self.null, 1 - level) - self.null_mean)

    def verdict(self, level: float = 0.05, p_value: float | None = None) -> DependenceState:
        """Return whether a dependence was found at a ``level``; an adjusted p-value may be passed in."""
        if not self.varied:
            return DependenceState.CANNOT_TELL
        chance = self.p_value if p_value is None else p_value
        return DependenceState.DEPENDS if chance <= level else DependenceState.NOT_FOUND


def independence_of(
    table: Contingency,
    permutations: int,
    generator: np.random.Generator,
    *,
    corrected: bool = True,
    bins: dict[str, int] | None = None,
) -> Independence:
    """Run `independence_test` on counts."""
    estimate = information_of(table, corrected=corrected)
    total, occupied = null_sums(table, permutations, generator)
    free = changeable_entries(table)
    gain = total - count_logs(table.counts[free])
    if corrected:
        gain -= (occupied - int(free.sum())) / (2 * math.log(2))
    return Independence(
        estimate,
        estimate + gain / table.rows,
        entropy_of(table),
        int(table.freedom.sum()),
        table.rows,
        (int(table.prediction.max()) + 1, int(table.factor.max()) + 1, len(table.sizes)),
        float(table.sizes[table.varied].sum() / table.rows),
        bins or {},
    )
