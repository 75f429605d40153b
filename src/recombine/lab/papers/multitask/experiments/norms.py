"""Multi-task learning and pretraining: running statistics of batch normalisation in networks finetuned when rescaled.

Rescaled convolutions feed batch normalisation with smaller values, so that running statistics of pretraining no longer
fit. Training normalises by the batch and never reads them: whatever becomes of them, the weights are the same. So each
network is trained once and tested by three rules. Networks with group normalisation have no running statistics.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.multitask.experiments.images import MAIN_CLASSES, TwoTasks
from recombine.lab.papers.multitask.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit

if TYPE_CHECKING:
    from torch import Tensor, nn

    from recombine.lab.nets.plain.image_models import ResNet18
    from recombine.lab.nets.plain.training import Recipe

#: How a network normalises.
BATCH, GROUP = "batch", "group"
#: Running statistics at the test: those of pretraining, as finetuning moved them (as released); those that were set to
#: the samples' before finetuning; those set to the samples' after it. With group normalisation there are none.
KEPT, BEFORE, AFTER, NO_STATISTICS = "kept", "set before", "set after", "none"
#: Groups of channels that are normalised together.
GROUPS_PER_LAYER = 2
#: Weight of a batch in running statistics: torch's default, and that of the released code.
SHARE_PER_STEP = 0.1


def variance_ratio(factor: float, steps: FloatArray | float) -> FloatArray:
    """Return running variances over those of the samples after finetuning from weights times ``factor``.

    Behind the stem inputs and weights of a convolution are both multiplied, and variances by the fourth power. Each
    step replaces a tenth of the old ones. Means follow the same; that weights change in finetuning is left out.

    Parameters
    ----------
    factor : float
    steps : float or array (N,)

    Returns
    -------
    array (N,)
        1 where running statistics fit.

    Examples
    --------
    >>> variance_ratio(0.5, np.array([0.0, 28, 48])).round(2)
    array([16.  ,  1.79,  1.1 ])
    >>> variance_ratio(1.0, 3.0)
    1.0
    """
    return 1 + (1 - SHARE_PER_STEP) ** steps * (factor**-4 - 1)


def rescaling_norms(unit: Unit) -> Rows:
    """Accuracy by samples, factor and rule of running statistics: one row per network and rule."""
    import torch

    from recombine.lab.nets.plain.image_models import ResNet18
    from recombine.lab.nets.plain.training import train

    setting = unit.setting
    norm: Any = torch.nn.BatchNorm2d if setting["norm"] == BATCH else partial(torch.nn.GroupNorm, GROUPS_PER_LAYER)
    rows: Rows = []
    for seed in unit.seeds:
        tasks = TwoTasks.of(setting["images"], seed, unit.device)
        torch.manual_seed(seed)
        model = ResNet18(1, tasks.classes, tuple(setting["widths"]), large_stem=False, norm=norm).to(unit.device)
        recipe = _recipe(setting, seed, len(tasks.auxiliary[0]), (MAIN_CLASSES, tasks.classes))
        losses, _ = train(model, tasks.auxiliary, recipe)
        about = {"images": setting["images"], "norm": setting["norm"], "seed": seed, "auxiliary loss": losses[-1]}
        for n in setting["n"]:
            recipe = _recipe(setting, seed, n, (0, MAIN_CLASSES))
            for factor in setting["factors"]:
                tests = _tested(model, factor, tasks, tasks.some(n, seed), recipe)
                rows += [{**about, "n": n, "factor": factor, **row} for row in tests]
    return rows


def _recipe(setting: Any, seed: int, samples: int, outputs: tuple[int, int]) -> Recipe:
    import torch

    from recombine.lab.nets.plain.training import Recipe

    kind = "" if outputs[0] == 0 else "pretraining "
    rate, epochs = setting[f"{kind}rate"], setting[f"{kind}epochs"]
    optimiser = partial(torch.optim.SGD, lr=rate, momentum=0.9)
    return Recipe(optimiser, min(samples, 128), epochs, setting["stop"], outputs, seed)


def _tested(
    model: ResNet18, factor: float, tasks: TwoTasks, samples: tuple[Tensor, Tensor], recipe: Recipe
) -> list[dict[str, Any]]:
    """Finetune once from rescaled weights; test with running statistics by each rule."""
    from recombine.lab.nets.plain.finetuning import rescale
    from recombine.lab.nets.plain.training import train

    start = rescale(model, factor)
    tuned = copy.deepcopy(start)
    losses, _ = train(tuned, samples, recipe)
    steps = len(losses) * -(-len(samples[0]) // recipe.batch)
    by_rule = with_statistics(start, tuned, samples[0], steps)
    about = {"steps": steps, "train loss": losses[-1]}
    return [
        {
            **about,
            "statistics": rule,
            "accuracy": _accuracy(network, tasks.test),
            "variance ratio": _running_over(network, by_rule[AFTER]) if AFTER in by_rule else np.nan,
        }
        for rule, network in by_rule.items()
    ]


def with_statistics(start: nn.Module, tuned: nn.Module, inputs: Tensor, steps: int) -> dict[str, nn.Module]:
    """Return a finetuned network with the running statistics that it has by each rule.

    Running statistics are moving averages. So those that were set anew before finetuning differ from those that were
    kept by what the steps left of the difference at the start.

    Parameters
    ----------
    start, tuned : nn.Module
        The rescaled network before and after finetuning, with the statistics of pretraining and as these became.
    inputs : Tensor (N, ...)
        The samples of the main task.
    steps : int
        Of finetuning.
    """
    import torch

    from recombine.lab.nets.plain.activations import batch_norms
    from recombine.lab.nets.plain.finetuning import recalibrate

    if not batch_norms(tuned):
        return {NO_STATISTICS: tuned}
    anew, before, after = (copy.deepcopy(network) for network in (start, tuned, tuned))
    recalibrate(anew, inputs)
    recalibrate(after, inputs)
    remains = (1 - SHARE_PER_STEP) ** steps
    with torch.no_grad():
        for old, new, running in zip(*(batch_norms(network) for network in (start, anew, before)), strict=True):
            for name in ("running_mean", "running_var"):
                getattr(running, name).add_(remains * (getattr(new, name) - getattr(old, name)))
    return {KEPT: tuned, BEFORE: before, AFTER: after}


def _accuracy(network: nn.Module, test: tuple[Tensor, Tensor]) -> float:
    import torch

    from recombine.lab.nets.plain.activations import evaluating

    inputs, labels = test
    with torch.no_grad(), evaluating(network):
        return float((network(inputs)[:, :MAIN_CLASSES].argmax(1) == labels).float().mean())


def _running_over(network: nn.Module, fitting: nn.Module) -> float:
    """Return running variances over those that fit the samples: the geometric mean over channels, then layers."""
    from recombine.lab.nets.plain.activations import batch_norms

    pairs = zip(batch_norms(network), batch_norms(fitting), strict=True)
    logs = [(_variances(running) / _variances(own)).log().mean().item() for running, own in pairs]
    return float(np.exp(np.mean(logs)))


def _variances(norm: Any) -> Tensor:
    """Return running variances with what normalisation adds to them."""
    variances: Tensor = norm.running_var + norm.eps
    return variances
