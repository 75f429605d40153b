"""Jacobians of a composition that is a plain function: by finite differences (NumPy) or autodiff (torch)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.errors import InputError

#: Step of the five-point difference, as a share of the largest entry: its error is below 1e-11 for smooth functions.
FIVE_POINT_STEP_SHARE = 3e-4
#: Offsets and weights of the five-point rule.
FIVE_POINT_STENCIL = ((-2.0, 1 / 12), (-1.0, -2 / 3), (1.0, 2 / 3), (2.0, -1 / 12))
#: Differences of so many rounding errors of the outputs count as none.
FIVE_POINT_ROUNDING_EPSILONS, EPSILON = 4.0, float(np.finfo(float).eps)

Function = Callable[..., Any]


def by_differences(function: Function, slot: int, components: Sequence[FloatArray]) -> FloatArray:
    """Return the Jacobian of ``function(*components)`` with respect to one component, by five-point differences.

    Parameters
    ----------
    function : callable
        K arrays (..., M_k) -> array (..., N), acting on the last axis.
    components : sequence of K arrays (..., M_k)

    Returns
    -------
    float array, (..., N, M_slot)

    Examples
    --------
    >>> x, y = np.array([[2.0, 3.0]]), np.array([[5.0, 7.0]])
    >>> bool(np.allclose(by_differences(np.multiply, 0, [x, y])[0], [[5, 0], [0, 7]], atol=1e-11))
    True
    """
    component = np.asarray(components[slot], dtype=float)
    step = FIVE_POINT_STEP_SHARE * max(float(np.abs(component).max(initial=0.0)), 1.0)
    columns = []
    for entry in range(component.shape[-1]):
        total: Any = 0.0
        largest: Any = 0.0
        for offset, weight in FIVE_POINT_STENCIL:
            moved = component.copy()
            moved[..., entry] += offset * step
            inputs = [moved if number == slot else unmoved for number, unmoved in enumerate(components)]
            outputs = as_numbers(function(*inputs), "outputs of the composition")
            total, largest = total + weight * outputs, np.maximum(largest, np.abs(outputs))
        # A number that does not move has a difference of a few rounding errors, which no rank should count.
        columns.append(np.where(np.abs(total) <= FIVE_POINT_ROUNDING_EPSILONS * EPSILON * largest, 0.0, total / step))
    return np.stack(columns, axis=-1)


def by_autodiff(function: Function, slot: int, components: Sequence[FloatArray]) -> FloatArray:
    """Return the same Jacobian of a function of torch tensors, exactly.

    Parameters
    ----------
    function : callable
        K float64 tensors (..., M_k) -> tensor (..., N), acting on the last axis.
    components : sequence of K arrays (..., M_k)

    Returns
    -------
    float array, (..., N, M_slot)

    Notes
    -----
    One backward pass per output channel serves all points and blocks, since none depends on another's part.
    """
    torch = _torch()
    tensors = [torch.as_tensor(np.array(component, dtype=float)) for component in components]
    tensors[slot].requires_grad_()
    with torch.enable_grad():
        outputs = function(*tensors)
        if not hasattr(outputs, "detach"):
            raise InputError("the composition returned no tensor; return one, or leave out backend='torch'")
        sums = outputs.reshape(-1, outputs.shape[-1]).sum(dim=0)
        rows = [_gradient(torch, sums[entry], tensors[slot]) for entry in range(len(sums))]
    return np.stack(rows, axis=-2)


def call_with_tensors(function: Function, components: Sequence[FloatArray]) -> FloatArray:
    """Return the function's value on arrays, handing it float64 tensors."""
    torch = _torch()
    with torch.no_grad():
        return np.asarray(
            as_numbers(function(*[torch.as_tensor(np.array(component, dtype=float)) for component in components]), "f")
        )


def _gradient(torch: Any, output: Any, component: Any) -> FloatArray:
    # A part that an output does not depend on has no path back to it.
    unused = (None,)
    gradients = (
        torch.autograd.grad(output, component, retain_graph=True, allow_unused=True) if output.requires_grad else unused
    )
    return np.zeros(tuple(component.shape)) if gradients[0] is None else np.asarray(gradients[0].detach().cpu().numpy())


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise InputError("backend='torch' needs torch; install recombine[nets], or pass a NumPy function") from None
    return torch
