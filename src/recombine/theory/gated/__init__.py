"""Gated linear networks: the largest margin under the norm that the architecture decides, and the flow towards it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.gated.conic import largest_margin_by_cones as largest_margin_by_cones
    from recombine.theory.gated.conic import least_effective_squares as least_effective_squares
    from recombine.theory.gated.contexts import HalfSpaces as HalfSpaces
    from recombine.theory.gated.contexts import joint_contexts as joint_contexts
    from recombine.theory.gated.contexts import relu_gates as relu_gates
    from recombine.theory.gated.estimator import GatedLinearSVC as GatedLinearSVC
    from recombine.theory.gated.features import Gating as Gating
    from recombine.theory.gated.features import gating_for as gating_for
    from recombine.theory.gated.flow import Flow as Flow
    from recombine.theory.gated.flow import FlowEndedWarning as FlowEndedWarning
    from recombine.theory.gated.flow import NotSeparableWarning as NotSeparableWarning
    from recombine.theory.gated.flow import flow as flow
    from recombine.theory.gated.gates import FrozenGates as FrozenGates
    from recombine.theory.gated.gates import Inconsistency as Inconsistency
    from recombine.theory.gated.gates import freeze_relu as freeze_relu
    from recombine.theory.gated.gates import inconsistency as inconsistency
    from recombine.theory.gated.machine import NotSeparableError as NotSeparableError
    from recombine.theory.gated.machine import UndecidedError as UndecidedError
    from recombine.theory.gated.margin import GatedMargin as GatedMargin
    from recombine.theory.gated.margin import largest_margin as largest_margin
    from recombine.theory.gated.norms import chain_cost as chain_cost
    from recombine.theory.gated.norms import convolution_cost as convolution_cost
    from recombine.theory.gated.norms import frozen_relu_cost as frozen_relu_cost
    from recombine.theory.gated.norms import gated_readout_cost as gated_readout_cost
    from recombine.theory.gated.norms import group_cost as group_cost
    from recombine.theory.gated.norms import least_group_cost as least_group_cost
    from recombine.theory.gated.norms import one_layer_cost as one_layer_cost
    from recombine.theory.gated.norms import shared_contexts_cost as shared_contexts_cost
    from recombine.theory.gated.polynomial import OwnMargin as OwnMargin
    from recombine.theory.gated.polynomial import own_margin as own_margin
    from recombine.theory.gated.polynomial import representation_cost as representation_cost
    from recombine.theory.gated.preferences import compare_norms as compare_norms
    from recombine.theory.gated.preferences import gate_preferences as gate_preferences

lazy_package(__name__)
