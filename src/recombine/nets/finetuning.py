"""Rescale a pretrained torch model, finetune it, and see which of its features it kept: for models of any kind.

Multiplying pretrained weights by a factor below one before finetuning can move a network into the nested regime, where
it selects few of its pretrained features (Lippl & Lindsey 2024). Participation ratio and ENSD of a layer before and
after finetuning tell whether it did.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recombine.errors import InputError, listing, near_miss
from recombine.measures.dimensionality import Reuse, feature_reuse
from recombine.nets.task_training import EVALUATED, Recipe, Samples, train


def rescaled(model: nn.Module, factor: float) -> nn.Module:
    """Return a copy of a model with every parameter multiplied by ``factor``, gains and readout included.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> bool((rescaled(model, 0.5).weight == model.weight / 2).all())
    True
    """
    if not factor > 0:
        raise InputError(
            f"factor is {factor}; give a number above 0, below 1 to make pretrained features easier to drop"
        )
    scaled = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in scaled.parameters():
            parameter.mul_(factor)
    return scaled


def recalibrate(model: nn.Module, inputs: Tensor) -> None:
    """Set the running statistics of batch normalisation, in place, to those of inputs (N, ...).

    After rescaling they are those of another network: a model that classifies well in training then fails in the test.

    Examples
    --------
    >>> model = nn.Sequential(nn.BatchNorm1d(1))
    >>> recalibrate(model, torch.tensor([[1.0], [3.0]]))
    >>> model[0].running_mean.tolist(), model[0].momentum
    ([2.0], 0.1)
    """
    norms = [module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    training = model.training
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # averages over all batches
    model.train()
    with torch.no_grad():
        for piece in torch.split(inputs, EVALUATED):
            model(piece)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(training)


@contextmanager
def batch_statistics(model: nn.Module) -> Iterator[None]:
    """Let normalisation layers use the statistics of the batch at hand, and forget them afterwards.

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
    training, kept = model.training, copy.deepcopy(dict(model.named_buffers()))
    modes = {module: module.training for module in model.modules()}
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.train()
        elif not list(module.children()):
            module.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        model.training = training
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(kept[name])


def layer_activations(model: nn.Module, inputs: Tensor, layers: Sequence[str]) -> dict[str, Tensor]:
    """Return what named layers of a model put out for inputs (N, ...), each (N, ...) on the CPU.

    Parameters
    ----------
    model : nn.Module
    inputs : Tensor (N, ...)
    layers : sequence of str
        Names as in ``model.named_modules()``; an empty name is the model itself.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> layer_activations(model, torch.randn(5, 2), ["0", ""])["0"].shape
    torch.Size([5, 3])
    """
    named = dict(model.named_modules())
    for name in layers:
        if name not in named:
            raise InputError(f"layer {name!r} is not in the model;{near_miss(name, named)} Layers: {listing(named)}")
    found: dict[str, list[Tensor]] = {name: [] for name in layers}

    def keep(name: str) -> Callable[[nn.Module, object, Tensor], None]:
        return lambda module, arguments, output: found[name].append(output.detach().float().cpu())

    hooks = [named[name].register_forward_hook(keep(name)) for name in layers]
    device = next(model.parameters()).device
    try:
        with torch.no_grad(), batch_statistics(model):
            for start in range(0, len(inputs), EVALUATED):
                model(inputs[start : start + EVALUATED].to(device))
    finally:
        for hook in hooks:
            hook.remove()
    return {name: torch.cat(parts) for name, parts in found.items()}


@dataclass(frozen=True, eq=False)
class Finetuned:
    """A finetuned model, how it got there, and what became of its features.

    Attributes
    ----------
    factor : float
        What the pretrained parameters were multiplied by.
    model : nn.Module
    losses : list of float
        Mean training loss of each epoch.
    accuracies : list of float
        On the test samples after each epoch; empty without any.
    reuse : dict of str to Reuse
        Layer -> its dimensions before and after, and the regime they speak for.
    """

    factor: float
    model: nn.Module
    losses: list[float]
    accuracies: list[float]
    reuse: dict[str, Reuse]


def rescale_and_finetune(
    model: nn.Module,
    samples: Samples,
    *,
    factors: Sequence[float] = (1.0, 0.5, 0.25, 0.125),
    layers: Sequence[str] = (),
    test: Samples | None = None,
    recipe: Recipe | None = None,
    centred: bool = False,
) -> list[Finetuned]:
    """Finetune copies of a pretrained model from rescaled weights, and diagnose each layer.

    Parameters
    ----------
    model : nn.Module
        Pretrained; it is left as it is. Labels are classes, outputs are logits (N, classes).
    samples : pair of Tensor
        Inputs (N, ...) and labels (N,) of the new task, on the model's device.
    factors : sequence of float
        What all parameters are multiplied by; 1 is plain finetuning. Otherwise running statistics of batch
        normalisation, which no longer fit, are first set to those of the samples.
    layers : sequence of str
        Layers to diagnose, on these samples.
    test : pair of Tensor, optional
        Samples to report accuracy on.
    recipe : Recipe, optional
        Optimiser, batch, epochs, stop, outputs and seed.
    centred : bool
        Whether the mean activation is taken away before dimensions are counted.

    Returns
    -------
    list of Finetuned
        One a factor. ``reuse[layer].regime`` is "nested" where finetuning kept few of the pretrained dimensions.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    >>> samples = (torch.randn(20, 4), torch.arange(20) % 2)
    >>> recipe = Recipe(lambda p: torch.optim.Adam(p, lr=0.01), epochs=5)
    >>> found = rescale_and_finetune(model, samples, factors=(1.0, 0.25), layers=["1"], recipe=recipe)
    >>> [(one.factor, one.reuse["1"].regime) for one in found]
    [(1.0, 'lazy'), (0.25, 'lazy')]
    """
    inputs, labels = samples
    if len(inputs) != len(labels) or len(inputs) < 2:
        raise InputError(f"{len(inputs)} inputs and {len(labels)} labels; give as many of both, at least two")
    found = []
    for factor in factors:
        scaled = rescaled(model, factor)
        if factor != 1:
            recalibrate(scaled, inputs)
        before = layer_activations(scaled, inputs, layers)
        losses, accuracies = train(scaled, samples, recipe or Recipe(), test)
        after = layer_activations(scaled, inputs, layers)
        reuse = {name: feature_reuse(before[name], after[name], centred=centred) for name in layers}
        found.append(Finetuned(factor, scaled, losses, accuracies, reuse))
    return found
