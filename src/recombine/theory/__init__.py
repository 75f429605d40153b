"""Theories of what fitting the seen cells says about the unseen ones: one package per theory.

Four arrows join them, `sufficiency` to `compositions`, to `supports` and to `identification`, and `structures` to
`identification`; no other theory imports another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory import components as components
    from recombine.theory import compositions as compositions
    from recombine.theory import diagonal as diagonal
    from recombine.theory import gated as gated
    from recombine.theory import identification as identification
    from recombine.theory import kernels as kernels
    from recombine.theory import structures as structures
    from recombine.theory import sufficiency as sufficiency
    from recombine.theory import supports as supports

lazy_package(__name__)
