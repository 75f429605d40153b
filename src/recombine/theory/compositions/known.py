"""Known compositions with their Jacobians; parts go front to back.

Formulas and what each needs of its anchors: Wiedemer et al. 2023. For a function of your own use `own`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import real, reals
from recombine.errors import InputError, near_miss
from recombine.theory.compositions.composition import Composition
from recombine.writing import listing


def _diagonal(values: FloatArray) -> FloatArray:
    """Blocks (..., M, M) with ``values`` (..., M) on the diagonal."""
    return np.asarray(values[..., None] * np.eye(values.shape[-1]))


@dataclass(frozen=True)
class Add(Composition):
    """The sum of the parts; see `add`."""

    name: str = "add"

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        return np.asarray(np.sum(components, axis=0))

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        return _diagonal(np.ones_like(components[slot]))


@dataclass(frozen=True)
class Product(Composition):
    """The product of the parts, entry by entry; see `product`."""

    name: str = "product"

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        return np.asarray(np.prod(components, axis=0))

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        remaining = [component for number, component in enumerate(components) if number != slot]
        return _diagonal(np.prod(remaining, axis=0) if remaining else np.ones_like(components[slot]))


@dataclass(frozen=True)
class Stack(Composition):
    """The parts one after the other; see `stack`."""

    name: str = "stack"
    shows_parts = True
    _wants = "alike up to (..., M_k)"

    def _fits(self, array: FloatArray, first: FloatArray) -> bool:
        return array.shape[:-1] == first.shape[:-1]

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        return np.concatenate(components, axis=-1)

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        ends = np.cumsum([0, *(component.shape[-1] for component in components)])
        chosen = np.eye(ends[-1])[:, ends[slot] : ends[slot + 1]]
        return np.broadcast_to(chosen, (*components[0].shape[:-1], *chosen.shape)).copy()


@dataclass(frozen=True)
class Occlude(Composition):
    """A front part hides what is behind it where it is not transparent; see `occlude`."""

    soft: bool
    gain: float

    @property
    def name(self) -> str:  # type: ignore[override]
        """What messages call it."""
        return f"occlude({'soft' if self.soft else 'hard'})"

    def _gate(self, front: FloatArray) -> FloatArray:
        """How much of the front is shown, (..., 1)."""
        total = front.sum(axis=-1, keepdims=True)
        if not self.soft:
            return np.asarray((total > 0).astype(float))
        # tanh neither overflows nor loses digits where exp would.
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * self.gain * total))

    def _pair(self, front: FloatArray, behind: FloatArray) -> FloatArray:
        gate = self._gate(front)
        return np.asarray(front * gate + behind * (1 - gate))

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        return np.asarray(reduce(self._pair, components))

    def _front(self, front: FloatArray, behind: FloatArray) -> FloatArray:
        """J_a = s I + g s (1 - s) (a - b) 1^T; hard gates have no slope."""
        gate = self._gate(front)
        blocks = _diagonal(gate * np.ones_like(front))
        if not self.soft:
            return blocks
        slope = self.gain * gate * (1 - gate) * (front - behind)
        return np.asarray(blocks + slope[..., None] * np.ones(front.shape[-1]))

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        """Fold from the front: each later part acts on what the earlier ones made."""
        composed = reduce(self._pair, components[:slot]) if slot else components[0]
        blocks = (
            _diagonal((1 - self._gate(composed)) * np.ones_like(composed))
            if slot
            else _diagonal(np.ones_like(composed))
        )
        composed = self._pair(composed, components[slot]) if slot else composed
        for component in components[slot + 1 :]:
            blocks = self._front(composed, component) @ blocks
            composed = self._pair(composed, component)
        return blocks


@dataclass(frozen=True)
class Rgba(Composition):
    """Alpha compositing on an opaque black canvas; see `rgba`."""

    name: str = "rgba"
    _wants = "(..., colours + 1), opacity last"

    def _fits(self, array: FloatArray, first: FloatArray) -> bool:
        return array.shape == first.shape and array.shape[-1] >= 2

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        canvas = np.zeros_like(components[0][..., :-1])
        for component in reversed(components):
            colour, alpha = component[..., :-1], component[..., -1:]
            canvas = alpha * colour + (1 - alpha) * canvas
        return canvas

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        """[alpha I, colour - what is behind], times how much the slots in front let through."""
        colour, alpha = components[slot][..., :-1], components[slot][..., -1:]
        behind = self._compose(components[slot + 1 :]) if components[slot + 1 :] else np.zeros_like(colour)
        let_through = [1 - component[..., -1] for component in components[:slot]]
        through = np.prod(let_through, axis=0) * np.ones(colour.shape[:-1])
        blocks = np.concatenate([_diagonal(alpha * np.ones_like(colour)), (colour - behind)[..., None]], axis=-1)
        return np.asarray(through[..., None, None] * blocks)


@dataclass(frozen=True, eq=False)
class Bilinear(Composition):
    """A sum of what each of two parts and their products give; see `bilinear`."""

    first: FloatArray
    second: FloatArray
    both: FloatArray
    name: str = "bilinear"
    _wants = "(..., M_1) and (..., M_2)"

    def _fits(self, array: FloatArray, first: FloatArray) -> bool:
        return array.shape[:-1] == first.shape[:-1] and array.shape[-1] in self.both.shape[1:]

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        left_input, right_input = self._two(components)
        mixed = np.einsum("nml,...m,...l->...n", self.both, left_input, right_input)
        return np.asarray(left_input @ self.first.T + right_input @ self.second.T + mixed)

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        left_input, right_input = self._two(components)
        if slot == 0:
            return np.asarray(self.first + np.einsum("nml,...l->...nm", self.both, right_input))
        return np.asarray(self.second + np.einsum("nml,...m->...nl", self.both, left_input))

    def _two(self, components: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        if tuple(component.shape[-1] for component in components) != self.both.shape[1:]:
            raise InputError(
                f"{self.name} has weights for parts of {self.both.shape[1]} and {self.both.shape[2]} numbers but was "
                f"given {listing(component.shape for component in components)}"
            )
        return components[0], components[1]


def add() -> Add:
    """Return the sum of the parts: every anchor has Jacobian I, and only shifts that cancel stay open.

    Examples
    --------
    >>> add()([1.0, 2.0], [10.0, 20.0]).tolist()
    [11.0, 22.0]
    """
    return Add()


def product() -> Product:
    """Return the entrywise product: J_1 = diag(x_2), so zeros of one part hide the other.

    Examples
    --------
    >>> product().jacobian(0, [[1.0, 2.0], [10.0, 0.0]]).tolist()
    [[10.0, 0.0], [0.0, 0.0]]
    """
    return Product()


def stack() -> Stack:
    """Return the parts one after the other: components are read off directly.

    Examples
    --------
    >>> stack()([1.0], [10.0, 20.0]).tolist()
    [1.0, 10.0, 20.0]
    """
    return Stack()


def occlude(kind: str = "hard", *, gain: float = 1.0) -> Occlude:
    """Return occlusion: the front part where it is not transparent (channel sum > 0), else what is behind.

    Parameters
    ----------
    kind : {"hard", "soft"}
        Soft: a s(q) + b s(-q) with q the channel sum of the front and s the logistic function of ``gain`` times it.

    Examples
    --------
    >>> front, behind = [0.2, 0.1, 0.0], [0.0, 0.6, 0.9]
    >>> occlude()(front, behind).tolist()
    [0.2, 0.1, 0.0]
    >>> round(float(np.linalg.det(occlude("soft").jacobian(0, [front, behind]))), 7)
    0.0927561
    """
    if kind not in ("hard", "soft"):
        raise InputError(f"{kind!r} is no way to occlude;{near_miss(kind, ['hard', 'soft'], 'Ways: hard, soft')}")
    if not real(gain, "gain") > 0:
        raise InputError(f"gain {gain} must be above 0; 1 is the paper's")
    return Occlude(kind == "soft", float(gain))


def rgba() -> Rgba:
    """Return alpha compositing ("over") on black; parts are colours and an opacity, so one number more than comes out.

    Examples
    --------
    >>> rgba()([1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 1.0]).tolist()
    [0.5, 0.5, 0.0]
    """
    return Rgba()


def bilinear(first: npt.ArrayLike, second: npt.ArrayLike, both: npt.ArrayLike) -> Bilinear:
    """Return C_n = A_n a + B_n b + a^T W_n b, the simplest composition whose anchors matter.

    Parameters
    ----------
    first, second : array (N, M_1), (N, M_2)
        A and B.
    both : array (N, M_1, M_2)
        W.

    Examples
    --------
    >>> bilinear([[1.0]], [[1.0]], [[[2.0]]])([3.0], [5.0]).tolist()
    [38.0]
    """
    a, b, w = (reals(weights, "weights") for weights in (first, second, both))
    if w.ndim != 3 or a.shape != w.shape[:2] or b.shape != (w.shape[0], w.shape[2]):
        raise InputError(f"weights have shapes {a.shape}, {b.shape}, {w.shape}; give (N, M1), (N, M2), (N, M1, M2)")
    return Bilinear(a, b, w)
