"""Sufficiency: whether a support determines what components do everywhere, under a known composition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.sufficiency.conditions import CompositionalSupport as CompositionalSupport
    from recombine.theory.sufficiency.conditions import compositional_support as compositional_support
    from recombine.theory.sufficiency.conditions import gauge_aware_support as gauge_aware_support
    from recombine.theory.sufficiency.conditions import sufficient_support as sufficient_support
    from recombine.theory.sufficiency.finite import FiniteIdentifiability as FiniteIdentifiability
    from recombine.theory.sufficiency.finite import finite_identifiability as finite_identifiability
    from recombine.theory.sufficiency.peeling import Peeling as Peeling
    from recombine.theory.sufficiency.peeling import peel as peel
    from recombine.theory.sufficiency.rank_reports import RankTest as RankTest
    from recombine.theory.sufficiency.rank_reports import SlotRank as SlotRank
    from recombine.theory.sufficiency.reconstruction import Reconstruction as Reconstruction
    from recombine.theory.sufficiency.reconstruction import reconstruct_components as reconstruct_components
    from recombine.theory.sufficiency.refit import Refit as Refit
    from recombine.theory.sufficiency.refit import refit as refit
    from recombine.theory.sufficiency.table_support import TableSupport as TableSupport
    from recombine.theory.sufficiency.table_support import table_support as table_support

lazy_package(__name__)
