"""Separation: directions in which a likelihood never falls, by linear programming and proven in whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.structures.separation.recession import recession as recession

lazy_package(__name__)
