"""Cells as arrays of level numbers (N, C): checks, conjunctions of levels, and which cells were seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.cells.array_files import load_arrays as load_arrays
    from recombine.cells.arrays import as_cells as as_cells
    from recombine.cells.arrays import as_numbers as as_numbers
    from recombine.cells.arrays import product_size as product_size
    from recombine.cells.arrays import sizes_of as sizes_of
    from recombine.cells.conjunctions import Conjunctions as Conjunctions
    from recombine.cells.conjunctions import canonical as canonical
    from recombine.cells.conjunctions import contains as contains
    from recombine.cells.conjunctions import distinct as distinct
    from recombine.cells.conjunctions import every_cell as every_cell
    from recombine.cells.conjunctions import subsets as subsets
    from recombine.cells.contributions import Contributions as Contributions
    from recombine.cells.departures import Departures as Departures
    from recombine.cells.departures import departures as departures
    from recombine.cells.possible import Combinations as Combinations
    from recombine.cells.possible import Possible as Possible
    from recombine.cells.saved_arrays import read_arrays as read_arrays
    from recombine.cells.saved_arrays import write_arrays as write_arrays
    from recombine.cells.scaled import ScaledConjunctions as ScaledConjunctions
    from recombine.cells.scaled import additive_model as additive_model
    from recombine.cells.scales import Scale as Scale
    from recombine.cells.scales import place_levels as place_levels
    from recombine.cells.seen import SeenCells as SeenCells

lazy_package(__name__)
