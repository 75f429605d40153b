"""Stacks of a slot's Jacobians at anchors that share one value of it, drawn until the rank stays the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.checks import reals
from recombine.errors import InputError
from recombine.sample_checks import call
from recombine.theory.compositions.composition import Composition
from recombine.theory.sufficiency.stacked_rank import JacobianStack, require_small
from recombine.theory.supports.latents import SAME_VALUE_WITHIN, as_text
from recombine.theory.supports.sets import DEFAULT_ANCHORS, Support

#: A component: values of a slot (P, D) -> (P, ..., M).
Component = Callable[[FloatArray], npt.ArrayLike]
#: Anchors of one value beyond which no more are drawn.
MAX_ANCHORS = 256
#: Doublings of the anchors without a higher rank after which it counts as saturated.
DOUBLINGS_WITHOUT_RANK = 2


@dataclass(frozen=True, eq=False)
class Anchored:
    """The stack at one value, how many anchors went into it, and the size of what was added up where it is a sum."""

    stacked: JacobianStack
    anchors: int
    scale: float | None = None

    def full(self, precision: float) -> BoolArray:
        """Say which blocks have full column rank, (*blocks,)."""
        return np.asarray(self.stacked.ranks(precision, self.scale) == self.stacked.columns)


@dataclass(frozen=True)
class AnchorStacks:
    """Everything that a rank test needs to know about the problem.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> from recombine.theory.supports import band
    >>> stacks = AnchorStacks(band(0.1), add(), [lambda z: z, lambda z: z**2])
    >>> stacks.at(0, np.array([0.5]), None, np.random.default_rng(0)).anchors
    1
    """

    support: Support
    composition: Composition
    components: Sequence[Component]
    summed: bool = False

    @property
    def precision(self) -> float:
        """Relative error of the Jacobians."""
        return self.composition.precision

    def at(self, slot: int, value: FloatArray, count: int | None, rng: np.random.Generator) -> Anchored:
        """Stack at ``count`` anchors of a value, or at twice as many until the rank stays the same."""
        if self.summed:
            anchors = self.support.conditional(slot, value, count or DEFAULT_ANCHORS, rng)[:count]
            jacobians = self.jacobians(slot, value, anchors)
            # Terms that cancel leave rounding errors of their own size, not of the sum's.
            scale = float(JacobianStack.of(jacobians).singular_values().max())
            return Anchored(JacobianStack.of(jacobians.sum(axis=0, keepdims=True)), len(anchors), scale)
        if count is not None:
            anchors = self.support.conditional(slot, value, count, rng)[:count]
            jacobians = self.jacobians(slot, value, anchors)
            _require(jacobians.shape[-2], jacobians.shape[-1], count, slot, value)
            return Anchored(JacobianStack.of(jacobians), len(anchors))
        return self._grown(slot, value, rng)

    def _grown(self, slot: int, value: FloatArray, rng: np.random.Generator) -> Anchored:
        anchors = self.support.conditional(slot, value, 1, rng)
        stacked = JacobianStack.of(self.jacobians(slot, value, anchors))
        still, rank = 0, stacked.ranks(self.precision)
        while len(anchors) < MAX_ANCHORS and still < DOUBLINGS_WITHOUT_RANK and (rank < stacked.columns).any():
            more = _fresh(self.support.conditional(slot, value, len(anchors), rng), anchors)
            if not len(more):
                break
            stacked = stacked.plus(self.jacobians(slot, value, more))
            anchors, before, rank = np.concatenate([anchors, more]), rank, stacked.ranks(self.precision)
            still = 0 if (rank > before).any() else still + 1
        if self.support.radius(slot, value) > 0:
            # A sample can be asked for more neighbours; planes that are too few are an answer.
            _require(stacked.rows // len(anchors), stacked.columns, len(anchors), slot, value)
        return Anchored(stacked, len(anchors))

    def jacobians(self, slot: int, value: FloatArray, anchors: FloatArray) -> FloatArray:
        """Return dC/dphi_slot at the anchors (P, K, D), shape (P, *blocks, N, M)."""
        components = [self._part(number, slot, value, anchors) for number in range(len(self.components))]
        require_small(components[slot].shape[1:-1], components[slot].shape[-1])
        try:
            return self.composition.jacobian(slot, components)
        except InputError as error:
            raise InputError(f"slot {slot} at {as_text(value)}: {error}") from error

    def outputs(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the components at values (V, D) of each slot, (V, ..., M) each."""
        calls = zip(self.components, values, strict=True)
        return [
            reals(call(component, f"component {slot}", listed), f"outputs of component {slot}")
            for slot, (component, listed) in enumerate(calls)
        ]

    def _part(self, number: int, slot: int, value: FloatArray, anchors: FloatArray) -> FloatArray:
        outputs = call(self.components[number], f"component {number}", anchors[:, number])
        component = reals(outputs, f"outputs of component {number}")
        if component.ndim < 2 or len(component) != len(anchors):
            raise InputError(
                f"component {number} gave shape {component.shape} for {len(anchors)} anchors of slot {slot} at "
                f"{as_text(value)}; return one row per anchor: ({len(anchors)}, ..., M)"
            )
        return component


def _fresh(anchors: FloatArray, listed: FloatArray) -> FloatArray:
    """Those anchors that are not among the known ones."""
    near: BoolArray = np.asarray((np.abs(anchors[:, None] - listed[None]) <= SAME_VALUE_WITHIN).all(axis=(2, 3)))
    return anchors[~near.any(axis=1)]


def _require(rows: int, columns: int, count: int, slot: int, value: FloatArray) -> None:
    """Refuse a number of anchors with which no support could pass."""
    if count * rows < columns:
        few = "1 anchor gives" if count == 1 else f"{count} anchors give"
        raise InputError(
            f"slot {slot} at {as_text(value)}: {few} {count * rows} equations for {columns} unknowns, "
            f"so the rank could never be full; use at least {-(-columns // rows)} anchors"
        )
