"""Variance components of many cells: mixed-model equations that are sparse, solved exactly or by fixed probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.components.sparse.mixed_equations import mixed_equations as mixed_equations
    from recombine.theory.components.sparse.solver import SparseCriterion as SparseCriterion

lazy_package(__name__)
