"""The registry of structures."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.registry import Registry
from recombine.theory.structures.kinds.link import Link
from recombine.theory.structures.kinds.log import Log
from recombine.theory.structures.kinds.logit import Logit
from recombine.theory.structures.kinds.multiplicative import Multiplicative
from recombine.theory.structures.kinds.sums import Sum
from recombine.theory.structures.structure import Structure

#: Every structure that can be asked for by name; an audit tries them by their complexity.
STRUCTURES: Registry[Structure] = Registry(
    "structure", [Sum(1), Logit(), Log(), Multiplicative(), Link(1), Sum(2), Link(2), Sum(3)]
)


def simplest_first(names: Sequence[str] | None = None) -> list[Structure]:
    """Return the structures with these names, all unless given, in the order of the ladder.

    Examples
    --------
    >>> [structure.name for structure in simplest_first(["pairs", "log", "add"])]
    ['add', 'log', 'pairs']
    """
    chosen = [STRUCTURES[name] for name in (STRUCTURES.names if names is None else names)]
    return sorted(chosen, key=lambda structure: structure.complexity)


def sum_of(order: int) -> Structure:
    """Return the structure in which effects of conjunctions of up to ``order`` factors add.

    Examples
    --------
    >>> sum_of(2) is STRUCTURES["pairs"], sum_of(4).name
    (True, 'order 4')
    """
    return next((entry for entry in STRUCTURES if entry.is_sum and entry.order == order), Sum(order))
