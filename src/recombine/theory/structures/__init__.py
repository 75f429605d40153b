"""Structures: what effects do beyond adding: conjunctions, one curve on the way out, products; and which one holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.theory.structures.curve import Curve as Curve
    from recombine.theory.structures.ladder import Ladder as Ladder
    from recombine.theory.structures.ladder import Structure as Structure
    from recombine.theory.structures.ladder import fit_structure as fit_structure
    from recombine.theory.structures.ladder import ladder as ladder
    from recombine.theory.structures.link import LinkFit as LinkFit
    from recombine.theory.structures.link import fit_link as fit_link
    from recombine.theory.structures.monotone_bounds import MonotoneBounds as MonotoneBounds
    from recombine.theory.structures.monotone_bounds import OrderCertificate as OrderCertificate
    from recombine.theory.structures.monotone_bounds import monotone_bounds as monotone_bounds
    from recombine.theory.structures.products import LogFit as LogFit
    from recombine.theory.structures.products import ProductFit as ProductFit
    from recombine.theory.structures.products import fit_log as fit_log
    from recombine.theory.structures.products import fit_products as fit_products
    from recombine.theory.structures.shrinkage import TermsFit as TermsFit
    from recombine.theory.structures.shrinkage import fit_terms as fit_terms
    from recombine.theory.structures.terms import Terms as Terms
    from recombine.theory.structures.terms import terms_of as terms_of

open_room(__name__)
