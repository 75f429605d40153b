"""The third part of an audit: the structure that is assumed, and whether it holds on the seen cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from recombine.jobs.audit.parts.values import Values
from recombine.jobs.structure.choice import Choice

if TYPE_CHECKING:
    from recombine.jobs.audit.additivity import AdditivityCheck
    from recombine.theory.structures.ladder import Ladder


@dataclass(frozen=True, eq=False)
class AssumedStructure:
    """What verdicts and values assume, and how well that holds: ``audit.structure``."""

    values: Values

    @property
    def choice(self) -> Choice:
        """The structure that was chosen or named, and how."""
        return self.values.decided.choice

    @property
    def ladder(self) -> Ladder | None:
        """All structures that were scored on held-out seen cells; None where none was."""
        return self.choice.ladder

    @cached_property
    def additivity(self) -> AdditivityCheck | None:
        """Whether effects add, checked on the seen cells; None without an outcome."""
        decided, fit, first = self.values.decided, self.values.fit, self.values.first_fit
        if fit is None or first is None:
            return None
        from recombine.jobs.audit.additivity import check_additivity

        order = decided.choice.order
        orders = tuple(sorted({1, 2, order}))
        return check_additivity(decided.design, orders, decided.seed, asked=order, fits={1: first, order: fit})
