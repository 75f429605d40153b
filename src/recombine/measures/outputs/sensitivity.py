"""How much of a model's response to its input goes to each component of the input?

The gradient share of component j is s_j = E|dY/dX_j| / sum_k E|dY/dX_k|, with Y the output that should depend on one
component only (Li et al. 2020, propositions 3 to 5, as a quantity one can compute). A gradient of zero almost
everywhere does not mean independence (a step function has one), so read it next to `independence`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Step of the central difference, as a share of the input's spread: rounding and curvature weigh about the same.
DIFFERENCE_STEP_SHARE = 1e-5
#: Numbers that one call of the model is given at most, beyond one copy of the inputs.
MAX_MODEL_ENTRIES = 4_000_000

#: Which entries of one input belong to a component: an index, a list of them, a slice, or a mask of the input's shape.
Part = int | slice | Sequence[int] | npt.NDArray[Any]
Components = Mapping[str, Part] | Sequence[Part]


@record
class Sensitivity:
    """Mean gradient norm of each component of the input.

    Attributes
    ----------
    components : tuple of str
        Names, C of them.
    norms : float array of shape (C,) or (K, C)
        E|dY/dX_j|; one row per output where there are several (the matrix M_ij of proposition 5).
    layers : dict of str to Sensitivity
        The same of the inner layers that were asked for.

    Examples
    --------
    >>> Sensitivity(("left", "right"), np.array([3.0, 1.0])).share.tolist()
    [0.75, 0.25]
    """

    components: tuple[str, ...]
    norms: FloatArray
    layers: dict[str, Sensitivity] = field(default_factory=dict)

    @property
    def share(self) -> FloatArray:
        """Gradient share, the same shape; NaN where every gradient is zero."""
        total = self.norms.sum(axis=-1, keepdims=True)
        return np.where(total > 0, self.norms / np.where(total > 0, total, 1.0), np.nan)


def sensitivity(
    model: Callable[[FloatArray], npt.ArrayLike],
    inputs: npt.ArrayLike,
    components: Components,
    *,
    labels: npt.ArrayLike | None = None,
    step: float = DIFFERENCE_STEP_SHARE,
) -> Sensitivity:
    """Measure the mean gradient norm of each component of the input, for any function of arrays.

    Derivatives are central differences, two calls for each entry of an input (batched). For torch modules use
    `torch_sensitivity`, which is exact and needs one pass.

    Parameters
    ----------
    model : callable
        Maps inputs (N, ...) to outputs (N,) or (N, K).
    inputs : array of float, shape (N, ...)
    components : mapping of name to part, or sequence of parts
        Which entries of an input belong to each component: index, list of indices or slice of the first axis of an
        input, or a mask of an input's whole shape.
    labels : array of int, shape (N,), optional
        The output to follow in each row, say the true class. Without it all outputs are followed.
    step : float
        Length of the step, as a share of the standard deviation of the inputs. Larger for models in single precision
        (1e-2).

    Examples
    --------
    >>> weights = np.array([2.0, 0.0, -1.0])
    >>> found = sensitivity(lambda x: x @ weights, np.eye(3), {"own": [0, 1], "other": 2})
    >>> found.norms.round(6).tolist(), found.share.round(6).tolist()
    ([2.0, 1.0], [0.666667, 0.333333])
    """
    rows = np.asarray(inputs, dtype=np.float64)
    names, masks = _parts(components, rows)
    chosen = _labels(labels, len(rows))
    flat = rows.reshape(len(rows), -1)
    length = step * (float(flat.std()) or 1.0)
    entries = np.flatnonzero(np.any(masks, axis=0))
    batch = max(1, MAX_MODEL_ENTRIES // (2 * flat.size))
    slopes = [
        _differences(model, rows.shape, flat, entries[start : start + batch], length, chosen)
        for start in range(0, len(entries), batch)
    ]
    gradients = np.zeros((flat.shape[1], *slopes[0].shape[1:]))
    gradients[entries] = np.concatenate(slopes)
    norms = [np.sqrt((gradients[mask] ** 2).sum(axis=0)).mean(axis=0) for mask in masks]
    return Sensitivity(names, np.stack(norms, axis=-1))


def _differences(
    model: Callable[[FloatArray], npt.ArrayLike],
    shape: tuple[int, ...],
    flat: FloatArray,
    entries: IntArray,
    length: float,
    labels: IntArray | None,
) -> FloatArray:
    """Derivatives of the outputs by some entries of the input: (entries, N) or (entries, N, K)."""
    moved = np.broadcast_to(flat, (len(entries), 2, *flat.shape)).copy()
    for index, entry in enumerate(entries):
        moved[index, :, :, entry] += np.array([[length], [-length]])
    outputs = np.asarray(model(moved.reshape(-1, *shape[1:])), dtype=np.float64)
    if outputs.ndim not in (1, 2) or len(outputs) != 2 * len(entries) * len(flat):
        raise InputError(f"the model returned shape {outputs.shape} for {moved.size // flat.shape[1]} rows; one each")
    values = outputs.reshape(len(entries), 2, len(flat), *outputs.shape[1:])
    slopes: FloatArray = (values[:, 0] - values[:, 1]) / (2 * length)
    if labels is None:
        return slopes
    _refuse_single(slopes.ndim == 3)
    return slopes[:, np.arange(len(flat)), labels]


def torch_sensitivity(
    module: Any,
    inputs: Any,
    components: Components,
    *,
    labels: npt.ArrayLike | None = None,
    layers: Sequence[str] = (),
    projections: int = 8,
    seed: int = 0,
) -> Sensitivity:
    """Measure the mean gradient norm of each component of the input of a torch module, layer by layer if asked.

    Parameters
    ----------
    module : torch.nn.Module
        Rows must not see each other: put batch normalisation into evaluation mode.
    inputs : tensor or array, shape (N, ...)
    components, labels
        As in `sensitivity`.
    layers : sequence of str
        Names of inner modules (``module.named_modules()``) whose outputs are followed too. Their norm is that of the
        whole Jacobian, sqrt(sum over units), estimated from random projections.
    projections : int
        More of them make the norms of inner layers more precise; the error falls as one over the square root.

    Examples
    --------
    >>> import torch
    >>> found = torch_sensitivity(torch.nn.Linear(4, 3), torch.ones(2, 4), [[0, 1], [2, 3]])
    >>> found.norms.shape
    (3, 2)
    """
    import torch

    parameter = next(iter(module.parameters()), torch.zeros(()))
    rows = torch.as_tensor(inputs).to(parameter).detach().requires_grad_()
    names, masks = _parts(components, rows.detach().cpu().numpy())
    chosen = _labels(labels, len(rows))
    activations: dict[str, Any] = {}
    hooks = [_inner(module, name).register_forward_hook(_keeper(activations, name)) for name in layers]
    try:
        output = module(rows)
    finally:
        for hook in hooks:
            hook.remove()

    def norms(scalars: Any) -> FloatArray:
        """Gradient norm of each row's scalar by component, (N, C)."""
        (slopes,) = torch.autograd.grad(scalars.sum(), rows, retain_graph=True, allow_unused=True)
        flat = np.zeros((len(rows), masks[0].size)) if slopes is None else slopes.reshape(len(rows), -1).cpu().numpy()
        return np.stack([np.linalg.norm(flat[:, mask].astype(np.float64), axis=1) for mask in masks], axis=-1)

    generator = torch.Generator().manual_seed(seed)
    by_layer = {}
    for name in layers:
        drawn = [
            torch.randn(activations[name].shape, generator=generator).to(activations[name]) for _ in range(projections)
        ]
        squares = [norms(activations[name] * direction) ** 2 for direction in drawn]
        by_layer[name] = Sensitivity(names, np.sqrt(np.mean(squares, axis=0)).mean(axis=0))
    if chosen is not None:
        _refuse_single(output.ndim == 2)
        output = output.gather(1, torch.as_tensor(chosen, device=output.device)[:, None])[:, 0]
    scalars = [output] if output.ndim == 1 else list(output.reshape(len(rows), -1).T)
    matrix = np.stack([norms(scalar).mean(axis=0) for scalar in scalars])
    return Sensitivity(names, matrix[0] if output.ndim == 1 else matrix, by_layer)


def _inner(module: Any, name: str) -> Any:
    inner = dict(module.named_modules())
    if name not in inner or not name:
        layer_names = [key for key in inner if key]
        raise InputError(
            f"layer {name!r} is not a part of the module;"
            f"{near_miss(name, layer_names, f'Parts: {listing(layer_names)}')}"
        )
    return inner[name]


def _keeper(activations: dict[str, Any], name: str) -> Callable[[Any, Any, Any], None]:
    def keep(_: Any, __: Any, output: Any) -> None:
        activations[name] = output

    return keep


def _parts(components: Components, rows: npt.NDArray[Any]) -> tuple[tuple[str, ...], list[npt.NDArray[np.bool_]]]:
    """Names of the components and, for each, a mask over the entries of a flattened input."""
    if rows.ndim < 2 or not rows.size:
        raise InputError(f"inputs have shape {rows.shape}; give at least one row and one entry per row")
    if not isinstance(components, Mapping):
        components = {str(index): entries for index, entries in enumerate(components)}
    if not components:
        raise InputError("no components were given; say which entries of the input belong to each")
    masks = []
    for name, entries in components.items():
        mask = np.zeros(rows.shape[1:], dtype=bool)
        try:
            if not isinstance(entries, Sequence):
                mask[entries] = True
            elif len(entries):
                mask[np.asarray(entries)] = True
        except IndexError:
            raise InputError(
                f"component {name} = {entries!r} does not fit inputs of shape {rows.shape[1:]}; give indices into the "
                "first axis, or a mask of that shape"
            ) from None
        if not mask.any():
            raise InputError(f"component {name} has no entry; give at least one")
        masks.append(mask.reshape(-1))
    return tuple(components), masks


def _labels(labels: npt.ArrayLike | None, rows: int) -> IntArray | None:
    if labels is None:
        return None
    chosen = np.asarray(labels)
    if chosen.shape != (rows,) or chosen.dtype.kind not in "iu":
        raise InputError(f"labels must be {rows} integers, one per row; got {chosen.dtype} {chosen.shape}")
    return chosen.astype(np.int64)


def _refuse_single(several: bool) -> None:
    if not several:
        raise InputError("labels choose among outputs, but the model has one output per row; leave labels out")
