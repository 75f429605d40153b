"""Gradient descent resists compositionality, experiment 1: pairs of digits whose right one is redundant (A) or not (B).

A unit is one setting with a batch of seeds, trained together on the unit's device. A network's seed also decides its
samples. Everything is measured while the networks train, at the steps the setting names. Torch is imported when a unit
runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import Images, load_images
from recombine.measures.dependence.columns import independence_test, invariance_entropy, mutual_information

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Architecture, Tensors
    from recombine.lab.worlds.images.label_pairs import LabelPairs, PairDraws

Setting = Mapping[str, Any]
Rows = list[dict[str, Any]]

#: Digits to train on, of 1,797; the other sets have test images of their own.
DIGITS_TO_TRAIN_ON = 1300
#: The paper's optimiser (Keras's Adam), batch and number of steps, and what a setting may leave out besides.
DEFAULTS: dict[str, Any] = {
    "loss": "categorical-hinge",
    "rate": 1e-3,
    "batch": 64,
    "steps": 200,
    "record": [0, 10, 20, 30, 50, 100, 200],
    "evaluated": 2000,
    "probed": 4000,
    "sloped": 500,
    "grid": [50, 40],
    "permutations": 200,
}
#: Filters of the released code's convolutions, and how often each pixel of enlarged digits is repeated.
CHANNELS, ENLARGED_TIMES = (32, 64), 3
#: The sets a network is evaluated on: what is drawn, and whether from the images that it trains on.
EVALUATED = {"train": True, "test": False, "probe": False, "grid": False}


def pairs(unit: Unit) -> Rows:
    """Accuracy, dependence on the right image and gradient share over training: one row per network and step.

    The unit's setting names "images" ("digits", "mnist", ...) and the "setting" ("A" or "B"), and may change any of
    ``DEFAULTS`` and the "channels" of the convolutions. Columns: "conditional information" is I(prediction; Y_2 | Y_1)
    on independent pairs of test images as estimated, "null information" its mean under shuffles, and "excess
    information" the difference; "gradient share" is that of the right image, 1/2 where both count alike; "errors that
    follow" is the share of errors in the test that are labels which the right image would go with in setting A (2 in 9
    by chance).

    Examples
    --------
    >>> tiny = {"images": "digits", "setting": "A", "seeds": [0], "steps": 2, "record": [0, 2], "evaluated": 20}
    >>> rows = pairs(Unit("pairs", 1, {**tiny, "probed": 50, "sloped": 5, "grid": [2, 5]}))
    >>> [(row["setting"], row["step"]) for row in rows]
    [('A', 0), ('A', 2)]
    """
    from recombine.lab.nets.architectures.pair_net import PairNet
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import Adam
    from recombine.lab.worlds.images.label_pairs import LabelPairs

    setting = {**DEFAULTS, **unit.setting}
    samples = PairSamples.of(setting, unit.seeds)
    stream = LabelPairs(samples.images["train"], samples.draws["stream"].index, device=unit.device)
    shape = (stream.shape[0], stream.shape[1], stream.shape[2])
    architecture = PairNet(shape=shape, channels=tuple(setting.get("channels", CHANNELS)))
    observer = PairObserver.of(samples, architecture, setting["sloped"], unit.device)
    trained = Ensemble(architecture, unit.seeds, device=unit.device, chunk=setting.get("chunk")).train(
        stream,
        samples.draws["stream"].labels[..., 0],
        optimiser=Adam(epsilon=1e-7),
        watch=observer,
        # One epoch over the stream, so every step has samples of its own.
        **{name: setting[name] for name in ("rate", "steps", "batch", "loss", "record")},
    )
    if trained.watched is None:
        raise InputError("record names no step; name those at which to measure, for instance [0, 200]")
    watched = trained.watched.double().cpu().numpy()
    about = {name: setting[name] for name in ("images", "setting", "loss", "steps")}
    return [
        {**about, "seed": seed, "step": step, **samples.columns(index, setting, watched[row, index])}
        for index, seed in enumerate(unit.seeds)
        for row, step in enumerate(trained.recorded)
    ]


@dataclass(frozen=True, eq=False)
class PairSamples:
    """The images to train and test on, and the draws (E, N, 2) of a unit's networks from them."""

    images: Mapping[str, Images]
    draws: Mapping[str, PairDraws]

    @classmethod
    def of(cls, setting: Setting, seeds: Sequence[int]) -> PairSamples:
        """Draw each network's stream of training samples, and what it is evaluated on."""
        from recombine.lab.worlds.images.label_pairs import OFFSETS, draw_grid, draw_pairs, relation, stack_pairs

        kind = setting["setting"]
        if kind not in ("A", "B"):
            raise InputError(f"setting {kind!r} is unknown; give A or B")
        train, test = images_for(setting["images"])
        rules = {name: relation(offsets) for name, offsets in OFFSETS.items()}
        plans = {
            "stream": (train, rules[kind], setting["steps"] * setting["batch"]),
            "train": (train, rules[kind], setting["evaluated"]),
            "test": (test, rules["test"], setting["evaluated"]),
            "probe": (test, rules["probe"], setting["probed"]),
        }
        draws = {
            name: stack_pairs([draw_pairs(*what, seed=seed, purpose=name) for seed in seeds])
            for name, what in plans.items()
        }
        firsts, seconds = setting["grid"]
        draws["grid"] = stack_pairs([draw_grid(test, firsts, seconds, seed) for seed in seeds])
        return cls({"train": train, "test": test}, draws)

    def columns(self, network: int, setting: Setting, watched: FloatArray) -> Setting:
        """Return the columns of one network at one step, from its predictions on all it is evaluated on, and norms."""
        predictions, norms = np.rint(watched[:-2]).astype(np.int64), watched[-2:].tolist()
        counts = [self.draws[name].labels.shape[1] for name in EVALUATED]
        by_set = dict(zip(EVALUATED, np.split(predictions, np.cumsum(counts)[:-1]), strict=True))
        labels = {name: self.draws[name].labels[network].T for name in EVALUATED}
        true_labels, other_labels = labels["probe"]
        test = independence_test(by_set["probe"], other_labels, true_labels, permutations=setting["permutations"])
        return {
            "train accuracy": float(np.mean(by_set["train"] == labels["train"][0])),
            "test accuracy": float(np.mean(by_set["test"] == labels["test"][0])),
            "conditional information": test.estimate,
            "null information": test.null_mean,
            "excess information": test.excess,
            "marginal information": mutual_information(by_set["probe"], other_labels),
            "invariance entropy": float(invariance_entropy(by_set["grid"].reshape(setting["grid"]))),
            "gradient share": norms[1] / sum(norms) if sum(norms) else float("nan"),
            "errors that follow": errors_that_follow(by_set["test"], *labels["test"]),
        }


@dataclass(frozen=True, eq=False)
class PairObserver:
    """Looks at networks in training: their predictions on all evaluated samples, and two gradient norms (c, M + 2)."""

    architecture: Architecture
    evaluated: Sequence[LabelPairs]
    probe: LabelPairs
    labels: Tensor

    @classmethod
    def of(cls, samples: PairSamples, architecture: Architecture, sloped: int, device: str) -> PairObserver:
        """Put the evaluated samples on the device; gradients are taken at the first ``sloped`` of the probe."""
        import torch

        from recombine.lab.worlds.images.label_pairs import LabelPairs

        pairs = {
            name: LabelPairs(samples.images["train" if seen else "test"], samples.draws[name].index, device=device)
            for name, seen in EVALUATED.items()
        }
        labels = torch.from_numpy(samples.draws["probe"].labels[:, :sloped, 0].copy()).to(device)
        return cls(architecture, list(pairs.values()), pairs["probe"], labels)

    def __call__(self, parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        """Return predictions and norms of ``networks`` (c,) with these stacked parameters."""
        import torch

        from recombine.lab.nets.ensemble.loop import evaluate

        dtype = next(iter(parameters.values())).dtype
        outputs = [
            evaluate(self.architecture, parameters, statistics, samples, networks, dtype).argmax(-1)
            for samples in self.evaluated
        ]
        return torch.cat([*outputs, self._norms(parameters, statistics, networks)], dim=1)

    def _norms(self, parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        """Return E|dY/dX_j| of the left and the right half (c, 2), Y the output of the true class."""
        import torch

        labels = self.labels[networks]
        totals = torch.zeros(len(networks), 2, device=labels.device, dtype=next(iter(parameters.values())).dtype)
        # A hundred at a time, so that a backward pass stays small.
        for start in range(0, labels.shape[1], 100):
            rows = torch.arange(start, min(start + 100, labels.shape[1]), device=labels.device)
            inputs = self.probe.take(networks, rows.expand(len(networks), -1)).to(totals.dtype)
            with torch.enable_grad():
                outputs = self.architecture.forward(parameters, statistics, inputs.requires_grad_(), False)
                chosen = outputs.gather(-1, labels[:, rows].unsqueeze(-1))
                (slopes,) = torch.autograd.grad(chosen.sum(), inputs)
            halves = slopes.chunk(2, dim=-1)
            totals += torch.stack([half.flatten(2).norm(dim=-1).sum(1) for half in halves], dim=-1)
        return totals / labels.shape[1]


def images_for(name: str) -> tuple[Images, Images]:
    """Return the images of a set to train on, and those to test on.

    Examples
    --------
    >>> [len(images) for images in images_for("digits")]
    [1300, 497]
    """
    from recombine.lab.worlds.images.label_pairs import split_images

    if name == "digits":
        return split_images(load_images(name), DIGITS_TO_TRAIN_ON)
    if name == "enlarged digits":
        images = load_images("digits")
        pixels = images.pixels.repeat(ENLARGED_TIMES, axis=-1).repeat(ENLARGED_TIMES, axis=-2)
        return split_images(replace(images, pixels=pixels), DIGITS_TO_TRAIN_ON)
    return load_images(name, split="train"), load_images(name, split="test")


def errors_that_follow(predictions: IntArray, labels: IntArray, other_labels: IntArray) -> float:
    """Return the share of errors that are labels with which ``other_labels`` go in training: Y_2 or Y_2 - 1 (mod 10).

    Examples
    --------
    >>> predictions, labels, others = np.array([3, 5, 4, 9]), np.array([3, 1, 1, 1]), np.array([8, 5, 5, 5])
    >>> round(errors_that_follow(predictions, labels, others), 3)
    0.667
    """
    wrong = predictions != labels
    follow = np.isin((other_labels - predictions) % 10, (0, 1))
    return float(follow[wrong].mean()) if wrong.any() else float("nan")
