"""What depends on what: information in bits beyond chance, and tests against shuffles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.measures.dependence.columns import conditional_information as conditional_information
    from recombine.measures.dependence.columns import entropy as entropy
    from recombine.measures.dependence.columns import independence_test as independence_test
    from recombine.measures.dependence.columns import invariance_entropy as invariance_entropy
    from recombine.measures.dependence.columns import mutual_information as mutual_information
    from recombine.measures.dependence.contingency import Contingency as Contingency
    from recombine.measures.dependence.independence import DependenceState as DependenceState
    from recombine.measures.dependence.independence import Independence as Independence

lazy_package(__name__)
