"""Layers of stacked networks, and how their first weights are drawn: what an architecture of your own is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.layers.dense import apply_layer as apply_layer
    from recombine.lab.nets.layers.dense import dense as dense
    from recombine.lab.nets.layers.dense import layer_norm as layer_norm
    from recombine.lab.nets.layers.dense import linear as linear
    from recombine.lab.nets.layers.dense import perceptron as perceptron
    from recombine.lab.nets.layers.dense import prelu as prelu
    from recombine.lab.nets.layers.dense import readout as readout
    from recombine.lab.nets.layers.first_weights import biases as biases
    from recombine.lab.nets.layers.first_weights import default_layers as default_layers
    from recombine.lab.nets.layers.first_weights import filters as filters
    from recombine.lab.nets.layers.first_weights import glorot as glorot
    from recombine.lab.nets.layers.first_weights import norm_parameters as norm_parameters
    from recombine.lab.nets.layers.first_weights import norm_statistics as norm_statistics
    from recombine.lab.nets.layers.first_weights import uniform as uniform
    from recombine.lab.nets.layers.side_by_side import apart as apart
    from recombine.lab.nets.layers.side_by_side import convolve as convolve
    from recombine.lab.nets.layers.side_by_side import convolve_transposed as convolve_transposed
    from recombine.lab.nets.layers.side_by_side import normalise as normalise
    from recombine.lab.nets.layers.side_by_side import side_by_side as side_by_side

lazy_package(__name__)
