"""Identification: which unseen cells follow from the seen ones if effects add, how surely, and the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.identification import scaled as scaled
    from recombine.theory.identification.additive_fit import AdditiveFit as AdditiveFit
    from recombine.theory.identification.additive_fit import fit_additive as fit_additive
    from recombine.theory.identification.certificate import Certificate as Certificate
    from recombine.theory.identification.certificate import certificate as certificate
    from recombine.theory.identification.counts import Counts as Counts
    from recombine.theory.identification.identify import Identification as Identification
    from recombine.theory.identification.identify import identify as identify
    from recombine.theory.identification.leverage import Leverage as Leverage

lazy_package(__name__)
