"""Supports: the sets of latents that a model was trained on, the known ones and your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.supports.known import band as band
    from recombine.theory.supports.known import finite as finite
    from recombine.theory.supports.known import gap as gap
    from recombine.theory.supports.planes import planes as planes
    from recombine.theory.supports.regions import around as around
    from recombine.theory.supports.regions import region as region
    from recombine.theory.supports.sets import Support as Support
    from recombine.theory.supports.sets import box as box

lazy_package(__name__)
