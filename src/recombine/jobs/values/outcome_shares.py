"""What carries an outcome, by the names of factors, and what networks begin with on the same axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset
from recombine.tables.table import Table
from recombine.theory.components.fit import ComponentsFit
from recombine.theory.components.shares import VarianceShares, variance_shares
from recombine.theory.kernels.network_shares import MAX_NETWORK_FACTORS, network_shares
from recombine.theory.kernels.overlap import OverlapKernel

#: Sizes of sets that are told apart: single factors, pairs, and all larger ones.
SIZES = ("single factors", "pairs", "larger sets")


@record
class OutcomeShares:
    """Shares of the variance of an outcome over the seen cells (N, C), by sets of factors."""

    shares: VarianceShares
    factors: tuple[str, ...]
    cells: IntArray
    symmetric: tuple[tuple[int, ...], ...] = ()  #: Groups of factors that are one, used several times.

    @property
    def table(self) -> Table:
        """One row per set of factors, the largest share first: ``set``, ``size``, ``share``, ``low``, ``high``.

        The last row, of size 0, is noise; without rows that repeat it holds what only whole combinations carry too.
        """
        sets = [self._name(chosen) for chosen in self.shares.sets]
        sizes = [len(chosen) for chosen in self.shares.sets]
        columns = {"share": self.shares.share, "low": self.shares.low, "high": self.shares.high}
        return Table({"set": sets, "size": sizes, **columns})

    def _name(self, chosen: Subset) -> str:
        """Name a set of factors; of factors that are one, by all their names."""
        alike = [group for group in self.symmetric if len(chosen) == 1 and chosen[0] in group]
        if alike:
            return "/".join(self.factors[factor] for factor in alike[0])
        return " × ".join(self.factors[factor] for factor in chosen) or "noise"

    @cached_property
    def by_size(self) -> Table:
        """One row for this table and for each kind of network: shares of `SIZES`, and of the ``noise``."""
        own = dict.fromkeys((*SIZES, "noise"), 0.0)
        for chosen, share in zip(self.shares.sets, self.shares.share, strict=True):
            own[SIZES[min(len(chosen), len(SIZES)) - 1] if chosen else "noise"] += float(share)
        records: list[dict[str, Any]] = [{"of": "this table", "layers": 0, **own}]
        if 2 <= len(self.factors) <= MAX_NETWORK_FACTORS:
            for layers in (1, 3):
                kernel = OverlapKernel.ntk(depth=layers, factors=len(self.factors))
                begun = network_shares(self.cells, kernel, sizes=len(SIZES))
                padded = np.append(begun, np.zeros(len(SIZES) - len(begun)))
                records.append({"of": "network", "layers": layers, **dict(zip(SIZES, padded, strict=True)), "noise": 0})
        return Table({name: [record[name] for record in records] for name in records[0]})


def outcome_shares(
    fit: ComponentsFit, factors: Sequence[str], cells: IntArray, symmetric: Sequence[Sequence[int]] = ()
) -> OutcomeShares | None:
    """Return what carries the outcome of seen cells (N, C); None where no value is better than the mean.

    ``symmetric`` are groups of factors that are one factor, used several times.

    Examples
    --------
    >>> from recombine.theory.components import fit_components
    >>> cells = np.indices((8, 6)).reshape(2, -1).T
    >>> fit = fit_components(cells, 3.0 * cells[:, 0] + cells[:, 1])
    >>> outcome_shares(fit, ["drug", "dose"], cells).table["set"].tolist()
    ['drug', 'dose', 'noise']
    """
    if not fit.terms or np.ptp(fit.y) == 0:
        return None
    return OutcomeShares(variance_shares(fit), tuple(factors), cells, tuple(map(tuple, symmetric)))
