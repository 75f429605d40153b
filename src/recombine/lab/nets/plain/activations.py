"""What layers of a plain torch model put out, looked at without leaving a trace in the model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recombine.errors import InputError, near_miss
from recombine.sample_checks import of_kind
from recombine.writing import listing

#: Samples of one pass when nothing is learned.
PASS_SAMPLES = 500


def batch_norms(model: nn.Module) -> list[_BatchNorm]:
    """Return the modules of a model that normalise by the statistics of a batch.

    Examples
    --------
    >>> len(batch_norms(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.LayerNorm(3))))
    1
    """
    return [module for module in model.modules() if isinstance(module, _BatchNorm)]


@contextmanager
def evaluating(model: nn.Module, *, by_batch: bool = False) -> Iterator[None]:
    """Switch a model to evaluation, so that dropout is off, and every module back to its own mode afterwards.

    Parameters
    ----------
    model : nn.Module
    by_batch : bool
        Whether batch normalisation stays in training: it uses the batch at hand, and its running statistics move.

    Examples
    --------
    >>> model = nn.Dropout()
    >>> with evaluating(model):
    ...     model.training
    False
    >>> model.training
    True
    """
    modes = {module: module.training for module in model.modules()}
    model.eval()
    for norm in batch_norms(model) if by_batch else ():
        norm.train()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


@contextmanager
def batch_statistics(model: nn.Module) -> Iterator[None]:
    """Let batch normalisation use the statistics of the batch at hand, and forget them afterwards; dropout is off.

    Running statistics of a rescaled model are those of the model before, so they would be wrong.

    Examples
    --------
    >>> model = nn.BatchNorm1d(2).eval()
    >>> with batch_statistics(model):
    ...     model(torch.randn(8, 2)).mean().abs() < 1e-6
    tensor(True)
    >>> model.training, model.running_mean.tolist()
    (False, [0.0, 0.0])
    """
    buffers = copy.deepcopy(dict(model.named_buffers()))
    try:
        with evaluating(model, by_batch=True):
            yield
    finally:
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(buffers[name])


def evaluation_batches(model: nn.Module, inputs: Tensor) -> list[Tensor]:
    """Split inputs (N, ...) for passes of a model; where it normalises by batch, none of them is a single input.

    Examples
    --------
    >>> [len(piece) for piece in evaluation_batches(nn.BatchNorm1d(2), torch.zeros(1001, 2))]
    [500, 501]
    """
    of_kind(inputs, "inputs", Tensor)
    alone = len(inputs) % PASS_SAMPLES == 1 and bool(batch_norms(model))
    if not len(inputs) or (alone and len(inputs) == 1):
        raise InputError(
            f"there are {len(inputs)} inputs; give some, and at least two where a model normalises batches"
        )
    split = list(torch.split(inputs, PASS_SAMPLES))
    return [*split[:-2], torch.cat(split[-2:])] if alone else split


def layer_activations(model: nn.Module, inputs: Tensor, layers: Sequence[str]) -> dict[str, Tensor]:
    """Return what named layers of a model put out for inputs (N, ...), each (N, ...) on the CPU.

    Dropout is off, and batch normalisation uses the statistics of these inputs.

    Parameters
    ----------
    model : nn.Module
    inputs : Tensor (N, ...)
    layers : sequence of str
        Names as in ``model.named_modules()``; an empty name is the model itself. Each layer must be called once in a
        pass and put out one tensor.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> layer_activations(model, torch.randn(5, 2), ["0", ""])["0"].shape
    torch.Size([5, 3])
    """
    named = named_layers(model, layers)
    outputs_by_layer: dict[str, list[Tensor]] = {name: [] for name in named}
    hooks = [module.register_forward_hook(_keeper(name, outputs_by_layer[name])) for name, module in named.items()]
    device = next((parameter.device for parameter in model.parameters()), inputs.device)
    try:
        with torch.no_grad(), batch_statistics(model):
            for passes, piece in enumerate(evaluation_batches(model, inputs), start=1):
                model(piece.to(device))
                for name, outputs in outputs_by_layer.items():
                    _check_pass(name, outputs, len(outputs) - passes + 1, len(piece))
    finally:
        for hook in hooks:
            hook.remove()
    return {name: torch.cat(batches) for name, batches in outputs_by_layer.items()}


def named_layers(model: nn.Module, layers: Sequence[str]) -> dict[str, nn.Module]:
    """Return layers of a model by name, or say which it does not have.

    Examples
    --------
    >>> list(named_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), ["0"]))
    ['0']
    """
    if isinstance(layers, str):
        raise InputError(f"layers is the text {layers!r}; give a list of names, [{layers!r}]")
    named = dict(model.named_modules())
    for name in layers:
        if name not in named:
            names = [layer for layer in named if layer]
            raise InputError(
                f"layer {name!r} is not in the model;{near_miss(name, names, f'Layers: {listing(names)}')}"
            )
    return {name: named[name] for name in layers}


def _keeper(name: str, outputs: list[Tensor]) -> Callable[[nn.Module, object, object], None]:
    """Return a hook that copies outputs, because a later layer may overwrite them in place."""

    def keep(module: nn.Module, arguments: object, output: object) -> None:
        if not isinstance(output, Tensor):
            raise InputError(
                f"layer {name!r} puts out a {type(output).__name__}; name a layer that puts out one tensor"
            )
        outputs.append(output.detach().to("cpu", torch.float32, copy=True))

    return keep


def _check_pass(name: str, outputs: list[Tensor], calls: int, samples: int) -> None:
    if calls != 1:
        raise InputError(f"layer {name!r} is called {calls} times in one pass; name a layer that is called once")
    if outputs[-1].shape[:1] != (samples,):
        raise InputError(
            f"layer {name!r} puts out {tuple(outputs[-1].shape)} for {samples} inputs; name one with samples first"
        )
