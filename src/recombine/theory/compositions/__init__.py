"""Compositions: how the components of slots make an observation, the known ones and your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.theory.compositions.composition import Composition as Composition
    from recombine.theory.compositions.composition import own as own
    from recombine.theory.compositions.known import add as add
    from recombine.theory.compositions.known import bilinear as bilinear
    from recombine.theory.compositions.known import occlude as occlude
    from recombine.theory.compositions.known import product as product
    from recombine.theory.compositions.known import rgba as rgba
    from recombine.theory.compositions.known import stack as stack

open_room(__name__)
