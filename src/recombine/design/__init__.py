"""A design: factors, their levels, and which of their cells a table holds, how often and with which outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.design.design import Design as Design
    from recombine.design.design import as_design as as_design
    from recombine.design.design import used_spec as used_spec
    from recombine.design.factors import Factor as Factor
    from recombine.design.nesting import Nested as Nested
    from recombine.design.observed import Observed as Observed
    from recombine.design.observed import OutcomeColumn as OutcomeColumn
    from recombine.design.reading import Reading as Reading
    from recombine.design.space import FactorSpace as FactorSpace

lazy_package(__name__)
