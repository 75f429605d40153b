"""What a composition C(x_1, ..., x_K) is: a call, a Jacobian for each slot, and checks of shapes; and your own.

A composition acts on the last axis of its parts and treats all axes before it alike: parts (P, M) are P points with
one block of M numbers, and parts (P, 4096, 3) are P points with 4096 pixels of three channels each, whose Jacobian is
4096 small blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.sample_checks import call, callable_or_refuse
from recombine.theory.compositions.jacobians import Function, by_autodiff, by_differences, call_with_tensors
from recombine.writing import listing

#: Relative error of Jacobians that are formulas or autodiff, and of those by finite differences.
EXACT, DIFFERENCE_PRECISION = float(np.finfo(float).eps), 1e-11
Parts = Sequence[npt.ArrayLike]


class Composition(ABC):
    """A known rule that makes an observation out of the slots' components.

    Call it with K arrays (..., M_k) to get an array (..., N); ``precision`` is the relative error of ``jacobian``.
    """

    name: str
    precision: float = EXACT
    #: Whether an observation shows every part as it is, so that a seen value's component is known without any path.
    shows_parts: bool = False

    def __call__(self, *components: npt.ArrayLike) -> FloatArray:
        """Compose components (..., M_k) into (..., N)."""
        arrays = self._checked(components)
        return self._shaped(self._compose(arrays), arrays)

    def jacobian(self, slot: int, components: Parts) -> FloatArray:
        """Return dC/dx_slot, shape (..., N, M_slot)."""
        arrays = self._checked(components)
        if whole(slot, "slot", 0) >= len(arrays):
            raise InputError(f"slot {slot} does not exist; {self.name} was given {len(arrays)} parts")
        blocks = self._jacobian(slot, arrays)
        if not np.isfinite(blocks).all():
            raise InputError(
                f"the Jacobian of {self.name} for slot {slot} is not finite everywhere; "
                "look for components or a composition that return NaN or infinity"
            )
        return blocks

    @abstractmethod
    def _compose(self, components: list[FloatArray]) -> FloatArray: ...

    @abstractmethod
    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray: ...

    def _checked(self, components: Parts) -> list[FloatArray]:
        if not components:
            raise InputError(f"{self.name} was given no parts; pass one array per slot")
        arrays = [
            np.asarray(as_numbers(component, f"part {slot}"), dtype=float) for slot, component in enumerate(components)
        ]
        for slot, array in enumerate(arrays):
            if array.ndim == 0 or not self._fits(array, arrays[0]):
                raise InputError(
                    f"slot {slot} of {self.name} has a part of shape {array.shape} beside {arrays[0].shape} of slot 0; "
                    f"give parts {self._wants}"
                )
        return arrays

    _wants = "of equal shape (..., M)"

    def _fits(self, array: FloatArray, first: FloatArray) -> bool:
        return array.shape == first.shape

    def _shaped(self, output: FloatArray, components: list[FloatArray]) -> FloatArray:
        if output.ndim == 0 or output.shape[:-1] != components[0].shape[:-1]:
            shapes = listing(component.shape for component in components)
            raise InputError(
                f"{self.name} gave an output of shape {output.shape} for parts of shape {shapes}; "
                f"it must keep all axes but the last: ({', '.join(map(str, components[0].shape[:-1]))}, N)"
            )
        return output


@dataclass(frozen=True)
class Own(Composition):
    """A function of your own; see `own`."""

    function: Function
    name: str
    given: Function | None
    torch: bool
    _wants = "alike up to (..., M_k)"

    @property
    def precision(self) -> float:  # type: ignore[override]
        """Relative error of the Jacobian."""
        return EXACT if self.torch or self.given is not None else DIFFERENCE_PRECISION

    def _fits(self, array: FloatArray, first: FloatArray) -> bool:
        return array.shape[:-1] == first.shape[:-1]

    def _guarded(self, *components: Any) -> Any:
        return call(self.function, self.name, *components)

    def _call(self, *components: FloatArray) -> FloatArray:
        if self.torch:
            return call_with_tensors(self._guarded, components)
        try:
            output = self._guarded(*components)
        except InputError as error:
            if not isinstance(error.__cause__, (TypeError, AttributeError)):
                raise
            if not _takes(self.function, len(components)):
                raise InputError(
                    f"{self.name} is given the components of {len(components)} slots, one argument each, and does not "
                    f"take {len(components)} ({error.__cause__})"
                ) from error
            raise InputError(
                f"{self.name} cannot take NumPy arrays ({error.__cause__}); pass backend='torch' to "
                "recombine.theory.compositions.own if it is made for tensors"
            ) from error
        return np.asarray(as_numbers(output, f"outputs of {self.name}"), dtype=float)

    def _compose(self, components: list[FloatArray]) -> FloatArray:
        return self._call(*components)

    def _jacobian(self, slot: int, components: list[FloatArray]) -> FloatArray:
        output = self(*components)
        if self.given is not None:
            derivative = call(self.given, f"the Jacobian of {self.name}", slot, components)
            blocks = np.asarray(as_numbers(derivative, f"Jacobian of {self.name}"), dtype=float)
        elif self.torch:
            blocks = by_autodiff(self._guarded, slot, components)
        else:
            blocks = by_differences(self._call, slot, components)
        shape = (*output.shape, components[slot].shape[-1])
        if blocks.shape != shape:
            raise InputError(f"the Jacobian of {self.name} for slot {slot} has shape {blocks.shape}; give {shape}")
        return blocks


def _takes(function: Function, count: int) -> bool:
    """Whether a function can be called with so many arguments, as far as one can know."""
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def own(
    function: Function, *, jacobian: Function | None = None, backend: str = "numpy", name: str | None = None
) -> Own:
    """Return your own composition.

    Parameters
    ----------
    function : callable
        K arrays (..., M_k) -> array (..., N), acting on the last axis.
    jacobian : callable, optional
        (slot, parts) -> (..., N, M_slot). Without it: five-point differences, or autodiff for torch.
    backend : {"numpy", "torch"}
        What the function computes with; torch functions get float64 tensors.
    name : str, optional
        What messages call it.

    Examples
    --------
    >>> blend = own(lambda a, b: a * (1 + b))
    >>> blend.jacobian(1, [[[2.0, 3.0]], [[5.0, 7.0]]]).round(6).tolist()
    [[[2.0, 0.0], [0.0, 3.0]]]
    """
    if backend not in ("numpy", "torch"):
        raise InputError(
            f"backend {backend!r} is unknown;{near_miss(backend, ['numpy', 'torch'], 'Choose numpy or torch')}"
        )
    callable_or_refuse(function, "the composition")
    if jacobian is not None:
        callable_or_refuse(jacobian, "the Jacobian")
    words = str(name or getattr(function, "__name__", type(function).__name__))
    return Own(function, "your composition" if words == "<lambda>" else words, jacobian, backend == "torch")


def as_composition(composition: Composition | Function) -> Composition:
    """Return a composition; a plain function becomes `own` with NumPy.

    Examples
    --------
    >>> as_composition(np.maximum).name
    'maximum'
    """
    return composition if isinstance(composition, Composition) else own(composition)
