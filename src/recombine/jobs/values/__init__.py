"""The value of any cell of a design, seen or not, whatever its verdict; see `recombine.theory.components`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.values.cell_values import fit_values as fit_values
    from recombine.jobs.values.cell_values import level_coordinates as level_coordinates

lazy_package(__name__)
