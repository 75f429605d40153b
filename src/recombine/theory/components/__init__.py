"""The value of a cell by variance components: one model for every table, and how far each value may be trusted.

The outcome at a cell z is

    y(z) = m + sum_J u_J(z_J) + e,    u_J ~ N(0, s_J K_J),    e ~ N(0, s_0 / n(z))

with one component for every set J of factors: single factors, pairs, triples; lines and curves over the levels of a
factor that have coordinates, one for all or one for every level of another factor; curves over features of levels.
Every component is a `ComponentTerm`, whose covariance between two cells is a product over its factors; its variance
s_J is learned from the seen cells by restricted likelihood. A child within its parent is their pair.

`fit_components(codes, values, counts, coordinates=..., features=...)` chooses terms and the scale of the outcome and
gives a `ComponentsFit`: ``predict(codes) -> CellValues(mean, sd, low, high)`` for any cell, levels never seen included
(code -1, or any code above those seen), ``leave_one_out()``, ``effects(factor)``.
`variance_shares(fit)` are the shares of variance of sets of factors, with ranges.
`HeldOutComponents` gives values of cells that are held out, by order and scale: structures are read from them.
The layers below, pure functions on arrays: `Factors` (what is known of levels), `candidate_terms`,
`maximize_criterion` (saliences by likelihood), `Posterior` (values for given saliences), `SCALES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.components import sparse as sparse
    from recombine.theory.components.criterion import Criterion as Criterion
    from recombine.theory.components.criterion import Saliences as Saliences
    from recombine.theory.components.criterion import maximize_criterion as maximize_criterion
    from recombine.theory.components.factors import Factors as Factors
    from recombine.theory.components.fit import CellValues as CellValues
    from recombine.theory.components.fit import ComponentsFit as ComponentsFit
    from recombine.theory.components.fit import fit_components as fit_components
    from recombine.theory.components.held_out import HeldOutComponents as HeldOutComponents
    from recombine.theory.components.level_kernels import LevelKernel as LevelKernel
    from recombine.theory.components.posterior import Posterior as Posterior
    from recombine.theory.components.posterior import posterior_of as posterior_of
    from recombine.theory.components.scales import SCALES as SCALES
    from recombine.theory.components.scales import OutcomeScale as OutcomeScale
    from recombine.theory.components.shares import VarianceShares as VarianceShares
    from recombine.theory.components.shares import variance_shares as variance_shares
    from recombine.theory.components.terms import ComponentTerm as ComponentTerm
    from recombine.theory.components.terms import candidate_terms as candidate_terms
    from recombine.theory.components.terms import label_term as label_term

lazy_package(__name__)
