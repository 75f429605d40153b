"""Rescale a pretrained torch model, finetune it, and see which of its features it kept: for models of any kind.

Multiplying pretrained weights by a factor below one before finetuning can move a network into the nested regime, where
it selects few of its pretrained features (Lippl & Lindsey 2024). Participation ratio and ENSD of a layer before and
after finetuning tell whether it did.
"""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from recombine.cells.brief import brief_repr
from recombine.errors import InputError, near_miss
from recombine.lab.nets.plain.activations import (
    batch_norms,
    evaluating,
    evaluation_batches,
    layer_activations,
    named_layers,
)
from recombine.lab.nets.plain.samples import LabelledSamples
from recombine.lab.nets.plain.training import Recipe, train
from recombine.measures.activations.dimensionality import Reuse, feature_reuse
from recombine.sample_checks import call, of_kind
from recombine.writing import listing

#: Factors for which running statistics are set anew before finetuning.
STATISTICS = ("all", "rescaled", "none")


def rescale(model: nn.Module, factor: float, *, keep: Sequence[str] = ()) -> nn.Module:
    """Return a copy of a model with every parameter multiplied by ``factor``, gains, readout and frozen ones included.

    Parameters
    ----------
    model : nn.Module
    factor : float
    keep : sequence of str
        Layers whose parameters stay as they are, such as a readout that is new; names as in ``model.named_modules()``.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> bool((rescale(model, 0.5)[1].weight == model[1].weight / 2).all())
    True
    >>> bool((rescale(model, 0.5, keep=["1"])[1].weight == model[1].weight).all())
    True
    """
    if isinstance(factor, str) or not isinstance(factor, numbers.Real) or not 0 < factor < math.inf:
        raise InputError(
            f"factor is {factor!r}; give a number above 0, below 1 to make pretrained features easier to drop"
        )
    scaled = copy.deepcopy(model)
    unscaled = {id(parameter) for layer in named_layers(scaled, keep).values() for parameter in layer.parameters()}
    with torch.no_grad():
        for parameter in scaled.parameters():
            if id(parameter) not in unscaled:
                parameter.mul_(factor)
    return scaled


def reset(model: nn.Module, layers: Sequence[str] | None = None, *, seed: int = 0) -> nn.Module:
    """Return a copy of a model whose layers, or some of them, are drawn anew by their own ``reset_parameters``.

    Parameters
    ----------
    model : nn.Module
    layers : sequence of str, optional
        Names as in ``model.named_modules()``; what is inside of them is drawn anew too. All if not given.
    seed : int

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> again = reset(model, ["1"])
    >>> bool((again[0].weight == model[0].weight).all()), bool((again[1].weight == model[1].weight).any())
    (True, False)
    """
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    # On the CPU, so that a seed means the same weights wherever the model is.
    fresh = copy.deepcopy(model).cpu()
    chosen = [fresh] if layers is None else list(named_layers(fresh, layers).values())
    inside = {id(module) for layer in chosen for module in layer.modules()}
    with torch.random.fork_rng([]), torch.no_grad():
        torch.manual_seed(seed)
        for name, module in fresh.named_modules():
            if id(module) not in inside:
                continue
            draw = getattr(module, "reset_parameters", getattr(module, "_reset_parameters", None))
            if callable(draw):
                draw()
            elif next(module.parameters(recurse=False), None) is not None:
                raise InputError(
                    f"layer {name!r} ({type(module).__name__}) has parameters of its own and no reset_parameters(), so "
                    "that it cannot be drawn anew; give it one, or make an untrained model (fresh=)"
                )
    return fresh.to(device)


def last_layer(model: nn.Module) -> str:
    """Return the name of the last layer that has parameters of its own: the readout, in most models.

    Examples
    --------
    >>> last_layer(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)))
    '2'
    """
    names: list[str] = [
        name for name, module in model.named_modules() if next(module.parameters(recurse=False), None) is not None
    ]
    if not names:
        raise InputError("the model has no parameters; give one that can be trained")
    return names[-1]


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
    start : {"rescaled", "head reset", "from scratch"}
        What training began with: the pretrained model times the factor, or one of the two controls.
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
    start: str = "rescaled"

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
    controls: bool = True,
    head: str | None = None,
    scale_head: bool = True,
    fresh: Callable[[], nn.Module] | None = None,
) -> list[Finetuned]:
    """Finetune copies of a pretrained model from rescaled weights, diagnose each layer, and train two controls.

    Smaller weights also forget. So the same samples are learned by the pretrained model with a new readout ("head
    reset"), and by one that was never pretrained ("from scratch"): where rescaling gains no more than these, it was not
    the choice of pretrained features that helped.

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
    controls : bool
        Whether to train the two controls.
    head : str, optional
        Name of the readout; the last layer with parameters if not given.
    scale_head : bool
        Whether the readout is rescaled too, as published.
    fresh : callable, optional
        Makes an untrained model, for the control from scratch. If not given, all layers of a copy are drawn anew.

    Returns
    -------
    list of Finetuned
        One per factor, then the controls; their ``start`` says which is which. ``reuse[layer].regime`` is "nested"
        where finetuning kept few of the pretrained dimensions.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    >>> samples = (torch.randn(20, 4), torch.arange(20) % 2)
    >>> recipe = Recipe(lambda p: torch.optim.Adam(p, lr=0.01), epochs=5)
    >>> found = rescale_and_finetune(model, samples, factors=(1.0, 0.25), layers=["1"], recipe=recipe)
    >>> [(one.factor, one.start, one.reuse["1"].regime) for one in found]
    [(1.0, 'rescaled', 'lazy'), (0.25, 'rescaled', 'lazy'), (1.0, 'head reset', 'lazy'), (1.0, 'from scratch', 'lazy')]
    """
    if np.ndim(factors) != 1 or not len(factors):
        raise InputError(f"factors is {factors!r}; give a list of numbers, such as [1.0, 0.25]")
    if statistics not in STATISTICS:
        raise InputError(
            f"statistics is {statistics!r};{near_miss(statistics, STATISTICS, f'Choices: {listing(STATISTICS)}')}"
        )
    recipe = Recipe() if recipe is None else recipe
    of_kind(recipe, "recipe", Recipe)
    inputs, labels = recipe.check_samples(model, samples)
    if len(inputs) < 2:
        raise InputError("there is one sample; give at least two")
    readout = last_layer(model) if head is None else head
    starts = [(factor, "rescaled", rescale(model, factor, keep=() if scale_head else [readout])) for factor in factors]
    if controls:
        starts.append((1.0, "head reset", reset(model, [readout], seed=recipe.seed)))
        starts.append((1.0, "from scratch", _untrained(model, fresh, recipe.seed)))
    runs = []
    for factor, start, scaled in starts:
        if statistics == "all" or (statistics == "rescaled" and factor != 1):
            recalibrate(scaled, inputs)
        before = layer_activations(scaled, inputs, layers)
        losses, accuracies = train(scaled, (inputs, labels), recipe, test)
        after = layer_activations(scaled, inputs, layers)
        reuse = {name: _compared(name, before[name], after[name], centred) for name in layers}
        runs.append(Finetuned(factor, scaled, losses, accuracies, reuse, start))
    return runs


def _untrained(model: nn.Module, fresh: Callable[[], nn.Module] | None, seed: int) -> nn.Module:
    if fresh is None:
        return reset(model, seed=seed)
    made = call(fresh, "fresh")
    of_kind(made, "what fresh makes", nn.Module)
    shapes, expected = ({name: tuple(p.shape) for name, p in network.named_parameters()} for network in (made, model))
    if shapes != expected:
        odd = next(name for name in (*shapes, *expected) if shapes.get(name) != expected.get(name))
        raise InputError(
            f"fresh makes a model whose {odd!r} has shape {shapes.get(odd)}; the pretrained one has {expected.get(odd)}"
        )
    # The model may be on another device, and what made it may hand out the same one again.
    parameter = next(model.parameters())
    moved: nn.Module = copy.deepcopy(made).to(parameter.device, parameter.dtype)
    return moved


def _compared(layer: str, before: Tensor, after: Tensor, centred: bool) -> Reuse:
    try:
        return feature_reuse(before, after, centred=centred)
    except InputError as error:
        raise InputError(f"layer {layer!r}: {error}") from None
