"""Layers of stacked networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.nets.layers.dense import MLP as MLP
    from recombine.nets.layers.dense import dense as dense
    from recombine.nets.layers.dense import linear as linear
    from recombine.nets.layers.dense import readout as readout

open_room(__name__)
