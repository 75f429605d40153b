"""Structures beyond adding: models of 0/1 outcomes, classes and counts, and what seen cells say of others in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.theory.structures import separation as separation
    from recombine.theory.structures.existence import Effect as Effect
    from recombine.theory.structures.existence import Existence as Existence
    from recombine.theory.structures.existence import Limit as Limit
    from recombine.theory.structures.existence import existence as existence
    from recombine.theory.structures.likelihood import FittedEffect as FittedEffect
    from recombine.theory.structures.likelihood import LikelihoodFit as LikelihoodFit
    from recombine.theory.structures.likelihood import fit_likelihood as fit_likelihood

open_room(__name__)
