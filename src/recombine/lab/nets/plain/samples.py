"""Samples of a classification task, and whether a model can be trained on them: checked once, before training."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from recombine.errors import InputError
from recombine.lab.nets.plain.activations import evaluating

#: Inputs (N, ...) and labels (N,).
LabelledSamples = tuple[Tensor, Tensor]


def trainable_parameters(model: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of a model that are not frozen, at least one.

    Examples
    --------
    >>> len(trainable_parameters(nn.Linear(2, 1)))
    2
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"the model is a {type(model).__name__}; give a torch.nn.Module")
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise InputError("no parameter of the model requires a gradient; let some of them be trained")
    return parameters


def check_samples(
    model: nn.Module, samples: Any, name: str = "samples", *, outputs: tuple[int, int] | None = None, half: bool = False
) -> LabelledSamples:
    """Return samples as tensors of the model's device and precision, or say why the model cannot be trained on them.

    Two of the inputs pass through the model, which stays as it is.

    Parameters
    ----------
    model : nn.Module
    samples : pair of Tensor or array, DataLoader or Dataset
        Inputs (N, ...) and labels (N,): the number of each input's class. Loaders and datasets are read once.
    name : str
        What messages call the samples.
    outputs : tuple of int, optional
        First and one past the last of the model's outputs that belong to the task.
    half : bool
        Whether the model computes in bfloat16.

    Examples
    --------
    >>> check_samples(nn.Linear(2, 3), ([[1, 0], [0.5, 1]], [2, 0]))[1]
    tensor([2, 0])
    >>> check_samples(nn.Linear(2, 3), ([[1, 0], [0.5, 1]], [2, 3]))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: labels of samples go from 2 to 3; the task has 3 outputs, so number classes from 0 to 2
    """
    inputs, labels = _as_samples(samples, name, trainable_parameters(model)[0])
    first, last = outputs or (0, None)
    classes = _logits(model, inputs, half).shape[1]
    if last is not None and last > classes:
        raise InputError(f"outputs {outputs} are asked for, but the model has {classes}; give numbers up to that")
    count = (classes if last is None else last) - first
    if count < 2:
        raise InputError(f"the task has {count} output; a choice between classes needs two or more")
    low, high = (int(end) for end in labels.aminmax())
    if low < 0 or high >= count:
        raise InputError(
            f"labels of {name} go from {low} to {high}; the task has {count} outputs, so number classes from 0 to "
            f"{count - 1}"
        )
    return inputs, labels


def _as_samples(samples: Any, name: str, parameter: Tensor) -> LabelledSamples:
    """Return a pair of tensors where a parameter is; inputs that are whole numbers stay so."""
    if isinstance(samples, DataLoader | Dataset):
        samples = _gathered(samples, name)
    try:
        inputs, labels = (torch.as_tensor(values, device=parameter.device) for values in samples)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} are not a pair of tensors ({error}); give inputs (N, ...) and labels (N,)") from None
    if labels.ndim != 1 or labels.is_floating_point() or labels.is_complex():
        raise InputError(
            f"labels of {name} are {labels.dtype} of shape {tuple(labels.shape)}; give the number of each input's class"
        )
    if inputs.shape[:1] != labels.shape or not inputs.numel():
        shapes = f"inputs {tuple(inputs.shape)} and labels {tuple(labels.shape)}"
        raise InputError(f"{name} have {shapes}; give as many of both, at least one")
    if inputs.is_floating_point():
        inputs = inputs.to(parameter.dtype)
        # The ends carry a NaN along, and need no copy of the inputs.
        if not all(bool(end.isfinite()) for end in inputs.aminmax()):
            raise InputError(f"inputs of {name} hold a number that is not finite; fill it or leave the input out")
    return inputs, labels.long()


def _gathered(samples: DataLoader[Any] | Dataset[Any], name: str) -> LabelledSamples:
    """Return all samples of a loader or a map-style dataset; what is drawn when they are read is drawn once."""
    loader = samples if isinstance(samples, DataLoader) else DataLoader(samples, batch_size=1024)
    try:
        batches = [(inputs, labels) for inputs, labels in loader]
        return torch.cat([inputs for inputs, _ in batches]), torch.cat([labels for _, labels in batches])
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        first = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{name} do not come as pairs of input and label ({first}); give two tensors") from None


def _logits(model: nn.Module, inputs: Tensor, half: bool) -> Tensor:
    """Return what the model says of two inputs."""
    try:
        with torch.no_grad(), evaluating(model), torch.autocast(inputs.device.type, torch.bfloat16, enabled=half):
            logits = model(inputs[:2])
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        first, about = str(error).partition("\n")[0], f"{inputs.dtype} of shape {tuple(inputs.shape)}"
        raise InputError(f"the model cannot take inputs that are {about}: {first}") from error
    if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(inputs[:2]):
        what = tuple(logits.shape) if isinstance(logits, Tensor) else f"a {type(logits).__name__}"
        raise InputError(f"the model puts out {what} for {len(inputs[:2])} inputs; give one with logits (N, classes)")
    return logits
