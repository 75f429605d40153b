"""What networks train on: inputs and targets that stay on the device and are gathered by index, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture
from recombine.lab.nets.losses import Loss


@runtime_checkable
class Gather(Protocol):
    """Inputs that are put together on the device when asked for (image pairs from a pool, for one).

    One that holds its own inputs for each network says for how many in ``networks``, so that a mismatch is noticed.
    """

    shape: tuple[int, ...]  #: of one input

    def __len__(self) -> int:
        """Return the number of samples N of each network."""

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        """Return the inputs of ``rows`` (c, B) of ``networks`` (c,), shape ``(c, B, *shape)``.

        In training ``steps`` (c,) are the updates each network has taken, so that inputs may vary from one to the next.
        """


#: Losses whose targets are signs, and those whose targets lie between them.
SIGNED, BETWEEN_SIGNS = ("logistic", "hinge"), ("soft-logistic",)

Inputs = npt.ArrayLike | Tensor | Gather


@dataclass(frozen=True, eq=False)
class Samples:
    """Inputs, targets and weights of E networks.

    Attributes
    ----------
    inputs : Tensor or Gather
        (1, N, ...) when all networks share them, else (E, N, ...).
    targets : Tensor
        (1 or E, N, K), or integer labels (1 or E, N), or sequences of labels (1 or E, N, T).
    weights : Tensor or None
        (1 or E, N), adding up to 1 for each network; None weighs all samples alike.
    """

    inputs: Tensor | Gather
    targets: Tensor
    weights: Tensor | None

    def __len__(self) -> int:
        return inputs_count(self.inputs)

    @property
    def shared(self) -> bool:
        """Whether all networks see the same inputs."""
        return isinstance(self.inputs, Tensor) and len(self.inputs) == 1

    def take(self, networks: Tensor, rows: Tensor | None, steps: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return inputs (c, B, ...), targets (c, B, ...) and weights (c, B) of some rows (c, B), or of all."""
        inputs = take_inputs(self.inputs, networks, rows, steps)
        targets = _rows_of(self.targets, networks, rows)
        if self.weights is None:
            size = inputs.shape[1]
            weights = torch.full((1, 1), 1 / size, dtype=inputs.dtype, device=inputs.device).expand(len(networks), size)
        else:
            weights = _rows_of(self.weights, networks, rows)
        return inputs, targets, weights


def inputs_count(inputs: Tensor | Gather) -> int:
    """Return the number of samples of each network.

    Examples
    --------
    >>> inputs_count(torch.zeros(1, 60, 20))
    60
    """
    return inputs.shape[1] if isinstance(inputs, Tensor) else len(inputs)


def take_inputs(inputs: Tensor | Gather, networks: Tensor, rows: Tensor | None, steps: Tensor | None = None) -> Tensor:
    """Return inputs of some networks and rows (c, B), or of all rows, shape (c, B, ...); ``steps`` as in ``Gather``.

    Examples
    --------
    >>> take_inputs(torch.arange(6.0).reshape(1, 3, 2), torch.tensor([0, 1]), torch.tensor([[0], [2]])).tolist()
    [[[0.0, 1.0]], [[4.0, 5.0]]]
    """
    if isinstance(inputs, Tensor):
        return _rows_of(inputs, networks, rows)
    if rows is None:
        rows = torch.arange(len(inputs), device=networks.device).expand(len(networks), -1)
    return inputs.take(networks, rows, steps)


def _rows_of(values: Tensor, networks: Tensor, rows: Tensor | None) -> Tensor:
    """Gather from (1 or E, N, ...); a shared array is viewed, not copied, when all rows are wanted."""
    if len(values) == 1:
        return values.expand(len(networks), *values.shape[1:]) if rows is None else values[0][rows]
    return values[networks] if rows is None else values[networks.unsqueeze(1), rows]


def prepare_inputs(
    inputs: Inputs, architecture: Architecture, networks: int, dtype: torch.dtype, device: torch.device
) -> Tensor | Gather:
    """Put inputs on the device with a leading network axis (of length 1 when shared), or say why they do not fit.

    Examples
    --------
    >>> from recombine.lab.nets.architectures import MLP
    >>> prepare_inputs(np.eye(3), MLP(3), 5, torch.float32, torch.device("cpu")).shape
    torch.Size([1, 3, 3])
    """
    if isinstance(inputs, Gather) and not isinstance(inputs, Tensor | np.ndarray):
        _check_shape(inputs.shape, architecture)
        gathered = getattr(inputs, "networks", networks)
        if gathered != networks:
            raise InputError(f"inputs of {gathered} networks do not fit an ensemble of {networks}; gather them for all")
        return inputs
    values = _as_tensor(inputs).to(device, dtype)
    extra = values.ndim - architecture.input_axes
    if extra not in (1, 2) or (extra == 2 and len(values) != networks):
        raise InputError(
            f"inputs of shape {tuple(values.shape)} do not fit {networks} networks whose inputs have "
            f"{architecture.input_axes} axes; give (samples, ...) for all or (networks, samples, ...) one by one"
        )
    _check_shape(values.shape[extra:], architecture)
    return values.unsqueeze(0) if extra == 1 else values


def _check_shape(shape: Sequence[int], architecture: Architecture) -> None:
    """Compare the shape of one input with what the architecture was built for, where it says so."""
    expected = getattr(architecture, "shape", None)
    if expected is None and hasattr(architecture, "inputs"):
        expected = (architecture.inputs,)
    if expected is not None and tuple(shape) != tuple(expected):
        raise InputError(
            f"one input has shape {tuple(shape)} but the {type(architecture).__name__} was built for "
            f"{tuple(expected)}; give inputs of that shape, or build it for theirs"
        )


def prepare_samples(
    inputs: Inputs,
    targets: npt.ArrayLike | Tensor,
    weights: npt.ArrayLike | Tensor | None,
    architecture: Architecture,
    losses: list[Loss],
    dtype: torch.dtype,
    device: torch.device,
) -> Samples:
    """Check and move everything ``len(losses)`` networks train on.

    Examples
    --------
    >>> from recombine.lab.nets import loss_named
    >>> from recombine.lab.nets.architectures import MLP
    >>> losses, cpu = [loss_named("mse")] * 4, torch.device("cpu")
    >>> prepare_samples(np.eye(3), np.ones(3), None, MLP(3), losses, torch.float32, cpu).targets.shape
    torch.Size([1, 3, 1])
    """
    networks = len(losses)
    ready = prepare_inputs(inputs, architecture, networks, dtype, device)
    if isinstance(ready, Tensor):
        _check_finite(ready, "inputs")
    if len({(loss.labels, loss.sequences) for loss in losses}) > 1:
        raise InputError(
            "cross-entropy and categorical-hinge take labels, sequence-cross-entropy sequences of them and the other "
            "losses take numbers; train them in two calls"
        )
    labels, sequences = losses[0].labels, losses[0].sequences
    goal = _as_tensor(targets)
    _check_finite(goal, "targets")
    goal = goal.to(device, torch.int64 if labels else dtype)
    if not labels and architecture.outputs == 1 and (goal.ndim == 1 or goal.shape[-1] == inputs_count(ready)):
        goal = goal.unsqueeze(-1)
    goal = _per_network(goal, 1 if labels and not sequences else 2, networks, "targets")
    tail = tuple(goal.shape[2:]) if sequences else () if labels else (architecture.outputs,)
    if tuple(goal.shape[1:]) != (inputs_count(ready), *tail):
        raise InputError(
            f"targets of shape {tuple(_as_tensor(targets).shape)} do not fit {inputs_count(ready)} samples and "
            f"{architecture.outputs} outputs; give one row per sample"
        )
    if labels and not sequences and not 0 <= int(goal.min()) <= int(goal.max()) < architecture.outputs:
        raise InputError(
            f"labels go from {int(goal.min())} to {int(goal.max())} but there are {architecture.outputs} outputs; "
            "number classes from 0, and give the architecture an output for each"
        )
    counts = _normalised(weights, ready, networks, dtype, device)
    _check_signs(goal, counts, losses)
    return Samples(ready, goal, counts)


def _check_finite(values: Tensor, name: str) -> None:
    if not bool(torch.isfinite(values).all()):
        raise InputError(f"{name} hold values that are not finite; leave those samples out")


def _check_signs(targets: Tensor, weights: Tensor | None, losses: list[Loss]) -> None:
    """Refuse targets (1 or E, N, K) other than -1 and 1 for a loss on signs, and beyond them for one between."""
    for names, refused, words in (
        (SIGNED, targets.abs() != 1, f"{' and '.join(SIGNED)} losses take -1 and 1, so code the targets so"),
        (BETWEEN_SIGNS, targets.abs() > 1, "the soft-logistic loss takes -1 to 1, so scale the targets so"),
    ):
        asked_of = torch.tensor([loss.name in names for loss in losses], device=targets.device)
        if not bool(asked_of.any()):
            continue
        wrong = refused & asked_of.view(-1, 1, 1)
        if weights is not None:
            # A sample that does not count may have any target.
            wrong &= (weights > 0).unsqueeze(-1)
        if bool(wrong.any()):
            value = float(targets.expand_as(wrong)[wrong][0])
            raise InputError(f"a target is {value:g}; {words}")


def _normalised(
    weights: npt.ArrayLike | Tensor | None,
    inputs: Tensor | Gather,
    networks: int,
    dtype: torch.dtype,
    device: torch.device,
) -> Tensor | None:
    if weights is None:
        return None
    values = _per_network(_as_tensor(weights).to(device, dtype), 1, networks, "weights")
    if values.shape[1] != inputs_count(inputs) or bool((values < 0).any()) or not bool((values.sum(1) > 0).all()):
        raise InputError("weights must be one number from 0 up per sample, and every network needs a positive one")
    return values / values.sum(1, keepdim=True)


def _per_network(values: Tensor, axes: int, networks: int, name: str) -> Tensor:
    """Return (1, ...) for shared values of ``axes`` axes, or (E, ...) checked against the number of networks."""
    if values.ndim == axes:
        return values.unsqueeze(0)
    if values.ndim == axes + 1 and len(values) in (1, networks):
        return values
    raise InputError(f"{name} of shape {tuple(values.shape)} do not fit {networks} networks; give one row per network")


def _as_tensor(values: Any) -> Tensor:
    """Return a tensor, or an array-like as one.

    Examples
    --------
    >>> _as_tensor([1.0, 2.0])
    tensor([1., 2.], dtype=torch.float64)
    """
    # A copy, since torch takes no read-only arrays.
    return values if isinstance(values, Tensor) else torch.from_numpy(np.array(values))
