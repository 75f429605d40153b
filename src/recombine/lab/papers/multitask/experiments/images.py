"""Multi-task learning and pretraining, images: what rescaling pretrained weights does to accuracy and to features.

Two random classes are the main task, the others the auxiliary one; a network has one readout for all of them, of which
each task uses its own part. Every parameter is multiplied by a factor between pretraining and finetuning. Torch is
imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.checks import known_or_refuse
from recombine.errors import InputError
from recombine.lab.papers.multitask.experiments.theory import Rows
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.plain.image_models import ResNet18, SmallViT
    from recombine.lab.nets.plain.training import Recipe

    Samples = tuple[Tensor, Tensor]

#: Losses and accuracies of a training, by epoch.
Course = tuple[Sequence[float], Sequence[float]]
#: Classes of the main task.
MAIN_CLASSES = 2
#: Of the bundled digits, those kept for the test.
DIGITS_TO_TEST_ON = 500
#: Where each kind of finetuning sets statistics of batch normalisation anew.
STATISTICS = {"pt+ft": "rescaled", "pt+ft recalibrated": "all", "pt+ft released": "none"}
#: What a row says about a layer where none was looked at.
NO_LAYER = {"layer": "", "PR before": np.nan, "PR after": np.nan, "ENSD": np.nan, "chance": np.nan, "regime": ""}


#: Who drew the classes of the main task: this study, or the authors, so that each network has a published twin.
OWN_PAIRS, RELEASED_PAIRS = "drawn here", "as released"


def class_numbers(seed: int, classes: int, pairs: str = OWN_PAIRS) -> IntArray:
    """Return the number that each class gets in a seed; those numbered 0 and 1 are the main task.

    The released script numbers classes by ``numpy.random.permutation`` after ``numpy.random.seed``.

    Examples
    --------
    >>> np.flatnonzero(class_numbers(0, 100, RELEASED_PAIRS) < 2), np.flatnonzero(class_numbers(0, 100) < 2)
    (array([40, 52]), array([36, 82]))
    """
    known_or_refuse(pairs, "class pairs", (OWN_PAIRS, RELEASED_PAIRS))
    if pairs == RELEASED_PAIRS:
        return np.random.RandomState(seed).permutation(classes)
    return np.argsort(np.random.default_rng([seed, 0]).permutation(classes))


@dataclass(frozen=True, eq=False)
class TwoTasks:
    """Images of a main task of two classes and of an auxiliary task of the others, on a device."""

    main: Samples
    auxiliary: Samples
    test: Samples
    classes: int

    @classmethod
    def of(cls, name: str, seed: int, device: str, pairs: str = OWN_PAIRS) -> TwoTasks:
        """Load a set and choose the main classes; they are numbered 0 and 1, the others from 2."""
        import torch

        number = class_numbers(seed, 100 if name == "cifar100" else 10, pairs)
        (images, labels), (unseen, answers) = (
            (
                torch.tensor(pixels, device=device).float().div_(127.5).sub_(1),
                torch.tensor(number[codes], device=device),
            )
            for pixels, codes in _splits(name)
        )
        is_main, tested = labels < MAIN_CLASSES, answers < MAIN_CLASSES
        auxiliary = (images[~is_main], labels[~is_main] - MAIN_CLASSES)
        return cls((images[is_main], labels[is_main]), auxiliary, (unseen[tested], answers[tested]), len(number))

    def some(self, n: int, seed: int) -> Samples:
        """Return ``n`` random main samples."""
        import torch

        images, labels = self.main
        if n > len(images):
            raise InputError(f"there are {len(images)} main samples; {n} were asked for")
        rows = torch.tensor(np.random.default_rng([seed, 1]).permutation(len(images))[:n], device=images.device)
        return images[rows], labels[rows]


def _splits(name: str) -> list[tuple[Any, IntArray]]:
    """Return pixels and labels to train and to test on."""
    if name != "digits":
        sets = [load_images(name, split=split) for split in ("train", "test")]
        return [(images.pixels, images.labels) for images in sets]
    digits = load_images("digits")
    order = np.random.default_rng(0).permutation(len(digits))
    cuts = order[DIGITS_TO_TEST_ON:], order[:DIGITS_TO_TEST_ON]
    return [(digits.pixels[rows], digits.labels[rows]) for rows in cuts]


def needs_images(units: Sequence[Unit]) -> None:
    """Raise, with the command that gets it, if a set of images is missing."""
    for name in {unit.setting["images"] for unit in units} - {"digits"}:
        load_images(name, split="test")


def rescaling(unit: Unit) -> Rows:
    """Accuracy by method, samples and factor, and dimensions of each layer: one row per network and layer.

    Layers are looked at for PT+FT with the most samples; other networks have one row, without a layer. For "pt+ft",
    as published, plain finetuning starts from the batch-norm statistics of pretraining, and activations are not
    centred. For "pt+ft recalibrated" statistics are set anew whatever the factor, and activations are centred; for
    "pt+ft released" they never are set anew, as in the released code.
    """
    rows: Rows = []
    for seed in unit.seeds:
        pairs = unit.setting.get("class pairs", OWN_PAIRS)
        tasks = TwoTasks.of(unit.setting["images"], seed, unit.device, pairs)
        for method in STATISTICS:
            if method in unit.setting["methods"]:
                rows += _finetuned(unit, seed, tasks, method)
        if "stl" in unit.setting["methods"]:
            rows += [_alone(unit, seed, tasks, n) for n in unit.setting["n"]]
        if "mtl" in unit.setting["methods"]:
            rows += [_together(unit, seed, tasks, n) for n in unit.setting["mtl n"]]
    return rows


def _model(setting: Any, seed: int, tasks: TwoTasks) -> ResNet18 | SmallViT:
    import torch

    from recombine.lab.nets.plain.image_models import ResNet18, SmallViT

    _, channels, side, _ = tasks.main[0].shape
    torch.manual_seed(seed)
    if setting["network"] == "vit":
        return SmallViT(channels, tasks.classes, side).to(tasks.main[0].device)
    small: Any = {"widths": (8, 16), "large_stem": False} if setting["network"] == "small resnet" else {}
    return ResNet18(channels, tasks.classes, **small).to(tasks.main[0].device)


def _compiled(model: ResNet18 | SmallViT) -> ResNet18 | SmallViT:
    """Compile a transformer for a long training on a GPU: half a minute, then steps take two thirds of the time.

    Its blocks are alike and share what is compiled. Copies of the model, which finetuning makes, are plain again.
    """
    from recombine.lab.nets.plain.image_models import SmallViT

    if isinstance(model, SmallViT) and next(model.parameters()).is_cuda:
        for block in model.blocks:
            block.compile()
    return model


def _recipe(setting: Any, seed: int, tasks: TwoTasks, *, main: bool, n: int = 128) -> Recipe:
    import torch

    from recombine.lab.nets.plain.training import Recipe, sgd

    replay = tasks.test[0].is_cuda
    optimiser: Any = sgd
    if "rate" in setting:
        optimiser = partial(torch.optim.SGD, lr=setting["rate"], momentum=0.9)
    elif setting["network"] == "vit":
        optimiser = partial(torch.optim.Adam, lr=1e-3, weight_decay=5e-5, capturable=replay, fused=replay)
    outputs = (0, MAIN_CLASSES) if main else (MAIN_CLASSES, tasks.classes)
    epochs = setting["epochs"] if main else setting["pretraining epochs"]
    half = setting.get("half", False)
    return Recipe(optimiser, min(n, 128), epochs, setting["stop"], outputs, seed, replay, half)


def _finetuned(unit: Unit, seed: int, tasks: TwoTasks, method: str) -> Rows:
    from recombine.lab.nets.plain.finetuning import rescale_and_finetune
    from recombine.lab.nets.plain.training import train

    setting = unit.setting
    model = _compiled(_model(setting, seed, tasks))
    before, _ = train(model, tasks.auxiliary, _recipe(setting, seed, tasks, main=False))
    rows: Rows = []
    for n in setting["n"]:
        layers = model.layers if n == max(setting["n"]) else ()
        recipe = _recipe(setting, seed, tasks, main=True, n=n)
        tuned = rescale_and_finetune(
            model,
            tasks.some(n, seed),
            factors=setting["factors"],
            layers=layers,
            test=tasks.test,
            recipe=recipe,
            centred=method == "pt+ft recalibrated",
            statistics=STATISTICS[method],
            controls=False,
        )
        for network in tuned:
            about = _about(setting, method, n, seed, (network.losses, network.accuracies), before[-1], network.factor)
            looked = [
                {"layer": name, "PR before": reuse.before, "PR after": reuse.after, "ENSD": reuse.shared}
                | {"chance": reuse.chance, "regime": reuse.regime}
                for name, reuse in network.reuse.items()
            ]
            rows += [{**about, **layer} for layer in (looked or [NO_LAYER])]
    return rows


def _about(
    setting: Any, method: str, n: int, seed: int, run: Course, auxiliary: float = np.nan, factor: float = 1.0
) -> dict[str, Any]:
    losses, accuracies = run
    about = {"images": setting["images"], "network": setting["network"], "method": method, "n": n, "factor": factor}
    about |= {"stop rule": setting["stop rule"] if method == "mtl" else "", "seed": seed}
    about |= {"train loss": losses[-1], "auxiliary loss": auxiliary, "epochs": len(losses)}
    return {**about, "accuracy": accuracies[-1], "best accuracy": max(accuracies)}


def _alone(unit: Unit, seed: int, tasks: TwoTasks, n: int) -> dict[str, Any]:
    from recombine.lab.nets.plain.training import train

    recipe = _recipe(unit.setting, seed, tasks, main=True, n=n)
    run = train(_model(unit.setting, seed, tasks), tasks.some(n, seed), recipe, tasks.test)
    return {**_about(unit.setting, "stl", n, seed, run), **NO_LAYER}


def _together(unit: Unit, seed: int, tasks: TwoTasks, n: int) -> dict[str, Any]:
    """Train on both tasks in turn, an epoch of each, until both are learned (or, as published, the main one is)."""
    import torch

    from recombine.lab.nets.plain.training import Training, train_in_turns

    setting = unit.setting
    model, samples = _compiled(_model(setting, seed, tasks)), tasks.some(n, seed)
    recipe, second = (_recipe(setting, seed, tasks, main=main, n=n if main else 128) for main in (True, False))
    optimiser, generator = recipe.optimiser(model.parameters()), torch.Generator().manual_seed(seed)
    published = (n / recipe.batch) / (len(tasks.auxiliary[0]) / second.batch)
    weight = setting.get("auxiliary weight", published)
    main = Training(model, optimiser, samples, recipe, generator, test=tasks.test)
    auxiliary = Training(model, optimiser, tasks.auxiliary, second, generator, weight=weight)

    def learned(losses: Sequence[float]) -> bool:
        return losses[0] < recipe.stop and (setting["stop rule"] == "main" or losses[1] < second.stop)

    rounds, accuracies = train_in_turns([main, auxiliary], second.epochs, learned)
    losses = [main_loss for main_loss, _ in rounds]
    return {**_about(setting, "mtl", n, seed, (losses, accuracies), rounds[-1][1]), **NO_LAYER}
