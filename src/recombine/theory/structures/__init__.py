"""Structures: what effects do beyond adding (conjunctions, a curve on the way out, products, chances); which holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.structures import kinds as kinds
    from recombine.theory.structures import separation as separation
    from recombine.theory.structures.all_structures import STRUCTURES as STRUCTURES
    from recombine.theory.structures.all_structures import simplest_first as simplest_first
    from recombine.theory.structures.all_structures import sum_of as sum_of
    from recombine.theory.structures.curve import Curve as Curve
    from recombine.theory.structures.existence import Existence as Existence
    from recombine.theory.structures.existence import existence as existence
    from recombine.theory.structures.kinds.link import LinkFit as LinkFit
    from recombine.theory.structures.kinds.link import fit_link as fit_link
    from recombine.theory.structures.ladder import Ladder as Ladder
    from recombine.theory.structures.ladder import Rung as Rung
    from recombine.theory.structures.ladder import ladder as ladder
    from recombine.theory.structures.likelihood import LikelihoodFit as LikelihoodFit
    from recombine.theory.structures.likelihood import fit_likelihood as fit_likelihood
    from recombine.theory.structures.monotone_bounds import MonotoneBounds as MonotoneBounds
    from recombine.theory.structures.monotone_bounds import OrderCertificate as OrderCertificate
    from recombine.theory.structures.monotone_bounds import monotone_bounds as monotone_bounds
    from recombine.theory.structures.separation.effects import Effect as Effect
    from recombine.theory.structures.separation.effects import FittedEffect as FittedEffect
    from recombine.theory.structures.separation.effects import effect_limits as effect_limits
    from recombine.theory.structures.separation.effects import fitted_effects as fitted_effects
    from recombine.theory.structures.separation.families import Limit as Limit
    from recombine.theory.structures.shrinkage import TermsFit as TermsFit
    from recombine.theory.structures.shrinkage import fit_terms as fit_terms
    from recombine.theory.structures.structure import Structure as Structure
    from recombine.theory.structures.structure import StructureData as StructureData
    from recombine.theory.structures.structure import StructureFit as StructureFit
    from recombine.theory.structures.terms import Terms as Terms
    from recombine.theory.structures.terms import terms_of as terms_of

lazy_package(__name__)
