"""Rescale a pretrained torch model, finetune it, and see which of its features it kept: for models of any kind.

Multiplying pretrained weights by a factor below one before finetuning can move a network into the nested regime, where
it selects few of its pretrained features (Lippl & Lindsey 2024). Participation ratio and ENSD of a layer before and
after finetuning tell whether it did.
"""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from recombine.cells.brief import brief_repr
from recombine.checks import of_kind
from recombine.errors import InputError, listing, near_miss
from recombine.measures.activations.dimensionality import Reuse, feature_reuse
from recombine.nets.plain.activations import batch_norms, evaluating, evaluation_batches, layer_activations
from recombine.nets.plain.samples import LabelledSamples
from recombine.nets.plain.training import Recipe, train

#: Factors for which running statistics are set anew before finetuning.
STATISTICS = ("all", "rescaled", "none")


def rescale(model: nn.Module, factor: float) -> nn.Module:
    """Return a copy of a model with every parameter multiplied by ``factor``, gains, readout and frozen ones included.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> bool((rescale(model, 0.5).weight == model.weight / 2).all())
    True
    """
    if isinstance(factor, str) or not isinstance(factor, numbers.Real) or not 0 < factor < math.inf:
        raise InputError(
            f"factor is {factor!r}; give a number above 0, below 1 to make pretrained features easier to drop"
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
    batches, norms = evaluation_batches(model, inputs), batch_norms(model)
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # averages over all batches
    with torch.no_grad(), evaluating(model, by_batch=True):
        for batch in batches:
            model(batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum


@dataclass(frozen=True, eq=False)
class Finetuned:
    """A finetuned model, how it got there, and what became of its features.

    Regimes mean something only if the loss fell: a model that learned nothing also kept its features and may be called
    lazy, so look at ``losses[-1]`` first.

    Attributes
    ----------
    factor : float
        What the pretrained parameters were multiplied by.
    model : nn.Module
        In evaluation mode, ready to predict.
    losses : list of float
        Mean training loss of each epoch.
    accuracies : list of float
        On the test samples after each epoch; empty without any.
    reuse : dict of str to Reuse
        Layer -> its dimensions before and after finetuning, and the regime they speak for. Before is the rescaled
        network, so it differs by factor; see `rescale_and_finetune` on batch normalisation.
    """

    factor: float
    model: nn.Module
    losses: list[float]
    accuracies: list[float]
    reuse: dict[str, Reuse]

    __repr__ = brief_repr


def rescale_and_finetune(
    model: nn.Module,
    samples: LabelledSamples,
    *,
    factors: Sequence[float] = (1.0, 0.5, 0.25, 0.125),
    layers: Sequence[str] = (),
    test: LabelledSamples | None = None,
    recipe: Recipe | None = None,
    centred: bool = True,
    statistics: str = "all",
) -> list[Finetuned]:
    """Finetune copies of a pretrained model from rescaled weights, and diagnose each layer.

    Parameters
    ----------
    model : nn.Module
        Pretrained; it is left as it is. Labels are classes, outputs are logits (N, classes).
    samples : pair of Tensor
        Inputs (N, ...) and labels (N,) of the new task.
    factors : sequence of float
        What all parameters, also frozen ones, are multiplied by; 1 is plain finetuning.
    layers : sequence of str
        Layers to diagnose, on these samples: their activity after rescaling, before and after finetuning. Batch
        normalisation uses the statistics of the batch there, as in training and whatever ``statistics`` says; a hook on
        a model in evaluation mode sees other numbers.
    test : pair of Tensor, optional
        Samples to report accuracy on.
    recipe : Recipe, optional
        Optimiser, batch, epochs, stop, outputs and seed; the same for every factor.
    centred : bool
        Whether the mean activation is taken away before dimensions are counted. Published numbers are not centred; but
        behind a ReLU all layers share a mean, which then counts as reuse.
    statistics : {"all", "rescaled", "none"}
        Where running statistics of batch normalisation are set to those of the samples before finetuning. After
        rescaling they no longer fit; after few steps they still are those of pretraining, so that factors are only
        compared fairly if all of them start alike ("all"). "rescaled" leaves those of factor 1 as they are.

    Returns
    -------
    list of Finetuned
        One per factor. ``reuse[layer].regime`` is "nested" where finetuning kept few of the pretrained dimensions.

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
    if np.ndim(factors) != 1 or not len(factors):
        raise InputError(f"factors is {factors!r}; give a list of numbers, such as [1.0, 0.25]")
    if statistics not in STATISTICS:
        raise InputError(
            f"statistics is {statistics!r};{near_miss(statistics, STATISTICS)} Choices: {listing(STATISTICS)}"
        )
    recipe = Recipe() if recipe is None else recipe
    of_kind(recipe, "recipe", Recipe)
    inputs, labels = recipe.check_samples(model, samples)
    if len(inputs) < 2:
        raise InputError("there is one sample; give at least two")
    found = []
    for factor in factors:
        scaled = rescale(model, factor)
        if statistics == "all" or (statistics == "rescaled" and factor != 1):
            recalibrate(scaled, inputs)
        before = layer_activations(scaled, inputs, layers)
        losses, accuracies = train(scaled, (inputs, labels), recipe, test)
        after = layer_activations(scaled, inputs, layers)
        reuse = {name: _compared(name, before[name], after[name], centred) for name in layers}
        found.append(Finetuned(factor, scaled, losses, accuracies, reuse))
    return found


def _compared(layer: str, before: Tensor, after: Tensor, centred: bool) -> Reuse:
    try:
        return feature_reuse(before, after, centred=centred)
    except InputError as error:
        raise InputError(f"layer {layer!r}: {error}") from None
