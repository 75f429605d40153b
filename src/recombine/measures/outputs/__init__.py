"""Measures of a model's outputs: sums of conjunctions, scores, errors by cause, response to the input, images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.measures.outputs.additivity import ConjunctionFit as ConjunctionFit
    from recombine.measures.outputs.additivity import additivity as additivity
    from recombine.measures.outputs.contrast import compositional_contrast as compositional_contrast
    from recombine.measures.outputs.contributions import ItemCurve as ItemCurve
    from recombine.measures.outputs.contributions import by_kind as by_kind
    from recombine.measures.outputs.contributions import conjunction_values as conjunction_values
    from recombine.measures.outputs.contributions import item_values as item_values
    from recombine.measures.outputs.error_parts import ErrorParts as ErrorParts
    from recombine.measures.outputs.error_parts import decompose_error as decompose_error
    from recombine.measures.outputs.images import RegionError as RegionError
    from recombine.measures.outputs.images import error_map as error_map
    from recombine.measures.outputs.images import errors_by_region as errors_by_region
    from recombine.measures.outputs.images import mean_squared_error as mean_squared_error
    from recombine.measures.outputs.images import mean_variance as mean_variance
    from recombine.measures.outputs.images import pixel_errors as pixel_errors
    from recombine.measures.outputs.images import strict_r2 as strict_r2
    from recombine.measures.outputs.images import variance_weighted_r2 as variance_weighted_r2
    from recombine.measures.outputs.scores import fitted_line as fitted_line
    from recombine.measures.outputs.scores import margin as margin
    from recombine.measures.outputs.scores import sign_accuracy as sign_accuracy
    from recombine.measures.outputs.sensitivity import Sensitivity as Sensitivity
    from recombine.measures.outputs.sensitivity import sensitivity as sensitivity
    from recombine.measures.outputs.sensitivity import torch_sensitivity as torch_sensitivity

lazy_package(__name__)
