"""Variance components of many cells: mixed-model equations that are sparse, solved exactly or by fixed probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.components.sparse.mixed_equations import MixedEquations as MixedEquations
    from recombine.theory.components.sparse.mixed_equations import mixed_equations as mixed_equations
    from recombine.theory.components.sparse.solver import SparseCriterion as SparseCriterion
    from recombine.theory.components.sparse.solver import SparsePosterior as SparsePosterior
    from recombine.theory.components.sparse.solver import fit_sparse as fit_sparse
    from recombine.theory.components.sparse.solver import sparse_posterior as sparse_posterior

lazy_package(__name__)
