"""Measures of activations on a grid of cells (levels_1, ..., levels_C, D): shares, shapes, dimensions, mixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.measures.activations.additive import additive_share as additive_share
    from recombine.measures.activations.anova import effect_shares as effect_shares
    from recombine.measures.activations.dimensionality import Reuse as Reuse
    from recombine.measures.activations.dimensionality import ensd as ensd
    from recombine.measures.activations.dimensionality import feature_reuse as feature_reuse
    from recombine.measures.activations.factorization import factorization as factorization
    from recombine.measures.activations.factorization import kernel_factorization as kernel_factorization
    from recombine.measures.activations.factorization import product_share as product_share
    from recombine.measures.activations.geometry import metric_tensor as metric_tensor
    from recombine.measures.activations.geometry import speed_ratios as speed_ratios
    from recombine.measures.activations.geometry import volume_element as volume_element
    from recombine.measures.activations.geometry import volume_ratio as volume_ratio
    from recombine.measures.activations.grid import ActivationGrid as ActivationGrid
    from recombine.measures.activations.grid import as_grid as as_grid
    from recombine.measures.activations.linear_probe import LinearProbe as LinearProbe
    from recombine.measures.activations.linear_probe import linear_probe as linear_probe
    from recombine.measures.activations.peaks import peak_accuracy as peak_accuracy
    from recombine.measures.activations.salience import measured_salience as measured_salience
    from recombine.measures.activations.stand_ins import additive_prediction as additive_prediction
    from recombine.measures.activations.stand_ins import pasted_outputs as pasted_outputs
    from recombine.measures.activations.superposition import Superposition as Superposition
    from recombine.measures.activations.superposition import correlations as correlations
    from recombine.measures.activations.superposition import superposition as superposition
    from recombine.measures.activations.surrogate import Surrogate as Surrogate
    from recombine.measures.activations.surrogate import surrogate as surrogate

lazy_package(__name__)
