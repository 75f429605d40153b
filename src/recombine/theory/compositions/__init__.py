"""Compositions: how the components of slots make an observation, the known ones and your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.compositions.composition import Composition as Composition
    from recombine.theory.compositions.composition import own as own
    from recombine.theory.compositions.known import add as add
    from recombine.theory.compositions.known import bilinear as bilinear
    from recombine.theory.compositions.known import occlude as occlude
    from recombine.theory.compositions.known import product as product
    from recombine.theory.compositions.known import rgba as rgba
    from recombine.theory.compositions.known import stack as stack

lazy_package(__name__)
