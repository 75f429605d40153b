"""The inspection says whether activations over a grid of cells compose, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.inspection.inspection import Inspection as Inspection
    from recombine.lab.inspection.inspection import inspect as inspect
    from recombine.lab.inspection.reading import Composes as Composes
    from recombine.lab.inspection.reading import LayerReading as LayerReading
    from recombine.lab.inspection.reading import StillCells as StillCells
    from recombine.lab.inspection.reading import Truth as Truth
    from recombine.lab.inspection.words import inspection_sentence as inspection_sentence

lazy_package(__name__)
