"""Diagonal linear networks: where training on one task, on two, or on one after the other ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.diagonal.flow import Weights as Weights
    from recombine.theory.diagonal.flow import decayed_limit as decayed_limit
    from recombine.theory.diagonal.flow import gradient_descent as gradient_descent
    from recombine.theory.diagonal.flow import gradient_flow as gradient_flow
    from recombine.theory.diagonal.generalization import Prediction as Prediction
    from recombine.theory.diagonal.generalization import predict as predict
    from recombine.theory.diagonal.generalization import predict_curve as predict_curve
    from recombine.theory.diagonal.group_interpolators import least_group_norm as least_group_norm
    from recombine.theory.diagonal.group_interpolators import least_multitask as least_multitask
    from recombine.theory.diagonal.interpolators import Interpolator as Interpolator
    from recombine.theory.diagonal.interpolators import least_l1 as least_l1
    from recombine.theory.diagonal.interpolators import least_potential as least_potential
    from recombine.theory.diagonal.interpolators import least_squares_from as least_squares_from
    from recombine.theory.diagonal.kept import KeptFeatures as KeptFeatures
    from recombine.theory.diagonal.kept import kept_features as kept_features
    from recombine.theory.diagonal.penalties import Potential as Potential
    from recombine.theory.diagonal.penalties import group_norm as group_norm
    from recombine.theory.diagonal.penalties import pretrained_weights as pretrained_weights
    from recombine.theory.diagonal.regimes import Regime as Regime
    from recombine.theory.diagonal.regimes import finetune_penalty as finetune_penalty
    from recombine.theory.diagonal.regimes import multitask_penalty as multitask_penalty
    from recombine.theory.diagonal.regimes import regime as regime
    from recombine.theory.diagonal.regimes import scaling_of_order as scaling_of_order
    from recombine.theory.diagonal.relu_penalties import rotation_cost as rotation_cost
    from recombine.theory.diagonal.scales import FinetuningScale as FinetuningScale
    from recombine.theory.diagonal.scales import scale_for as scale_for
    from recombine.theory.diagonal.stiff_flow import FlowEnd as FlowEnd
    from recombine.theory.diagonal.stiff_flow import stiff_flow as stiff_flow

lazy_package(__name__)
