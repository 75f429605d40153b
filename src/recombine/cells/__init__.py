"""Cells as arrays of level numbers (N, C): checks, conjunctions of levels, and which cells were seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.cells.conjunctions import Conjunctions as Conjunctions
    from recombine.cells.conjunctions import canonical as canonical
    from recombine.cells.conjunctions import distinct as distinct
    from recombine.cells.conjunctions import every_cell as every_cell
    from recombine.cells.contributions import Contributions as Contributions
    from recombine.cells.departures import departures as departures
    from recombine.cells.possible import Possible as Possible
    from recombine.cells.scales import Scale as Scale
    from recombine.cells.scales import place_levels as place_levels

lazy_package(__name__)
