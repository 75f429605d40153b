"""Designs: factors, their levels, and the cells of a table that were seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.design.design import Design as Design
    from recombine.design.factors import Factor as Factor

open_room(__name__)
