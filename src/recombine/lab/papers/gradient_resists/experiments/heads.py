"""Gradient descent resists compositionality, propositions 4 and 5: how much each output moves with each image.

The same pairs of digits as in ``images``, with one output to learn (the left label, the paper's network) or with both.
Measured while networks train: M_ij, the mean size of the derivative of output i by image j, and the information that
prediction i has about the other label beyond its own. Torch is imported when a unit runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.papers.gradient_resists.experiments.images import DEFAULTS, PairSamples, Rows, Setting
from recombine.lab.runs.experiment import Unit
from recombine.measures.dependence.columns import independence_test

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Architecture, Tensors
    from recombine.lab.worlds.images.label_pairs import LabelPairs

#: What networks are evaluated on, and whether these are images that they train on.
EVALUATED = {"train": True, "test": False, "probe": False}
SIDES = ("left", "right")


def heads(unit: Unit) -> Rows:
    """Slopes by both images, information about the other label, accuracy: one row per network, step and output.

    The unit's setting names "images", the "setting" ("A" or "B") and "heads" (1 or 2), and may change what ``images``
    lets it change. With two heads the loss is the sum of both cross-entropies. "slope by left" is E|dY_i/dX_1| of the
    true class, "excess information" is I(prediction i; other label | own label) beyond the mean of its null.

    Examples
    --------
    >>> tiny = {"images": "digits", "setting": "A", "heads": 2, "seeds": [0], "steps": 1, "record": [1]}
    >>> rows = heads(Unit("heads", 1, {**tiny, "evaluated": 20, "probed": 50, "sloped": 5, "grid": [2, 2]}))
    >>> [(row["output"], row["step"]) for row in rows]
    [(1, 1), (2, 1)]
    """
    from recombine.lab.nets.architectures.pair_net import PairHeads, PairNet
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import Adam
    from recombine.lab.worlds.images.label_pairs import LabelPairs

    setting = {**DEFAULTS, **unit.setting}
    if setting["heads"] not in (1, 2):
        raise InputError(f"heads is {setting['heads']!r}; give 1 or 2")
    both = setting["heads"] == 2
    samples = PairSamples.of(setting, unit.seeds)
    draws = samples.draws["stream"]
    stream = LabelPairs(samples.images["train"], draws.index, device=unit.device)
    shape = (stream.shape[0], stream.shape[1], stream.shape[2])
    architecture: Architecture = PairHeads(shape) if both else PairNet(shape)
    observer = HeadObserver.of(samples, architecture, setting["sloped"], setting["heads"], unit.device)
    trained = Ensemble(architecture, unit.seeds, device=unit.device, chunk=setting.get("chunk")).train(
        stream,
        # In a sequence of labels 0 is the end.
        draws.labels + 1 if both else draws.labels[..., 0],
        optimiser=Adam(epsilon=1e-7),
        watch=observer,
        loss="sequence-cross-entropy" if both else setting["loss"],
        **{name: setting[name] for name in ("rate", "steps", "batch", "record")},
    )
    if trained.watched is None:
        raise InputError("record names no step; name those at which to measure, for instance [0, 200]")
    watched = trained.watched.double().cpu().numpy()
    about = {name: setting[name] for name in ("images", "setting", "heads")}
    return [
        {**about, "seed": seed, "step": step, "output": output + 1}
        | dict(_columns(samples, index, output, setting, watched[row, index, :, output]))
        for index, seed in enumerate(unit.seeds)
        for row, step in enumerate(trained.recorded)
        for output in range(setting["heads"])
    ]


def _columns(samples: PairSamples, network: int, output: int, setting: Setting, watched: FloatArray) -> Setting:
    """Return the columns of one output, from its predictions on all it is evaluated on and its two slopes."""
    predictions = np.rint(watched[:-2]).astype(np.int64)
    counts = [samples.draws[name].labels.shape[1] for name in EVALUATED]
    by_set = dict(zip(EVALUATED, np.split(predictions, np.cumsum(counts)[:-1]), strict=True))
    labels = {name: samples.draws[name].labels[network].T for name in EVALUATED}
    true_labels, other_labels = labels["probe"][output], labels["probe"][1 - output]
    test = independence_test(by_set["probe"], other_labels, true_labels, permutations=setting["permutations"])
    return {
        "train accuracy": float(np.mean(by_set["train"] == labels["train"][output])),
        "test accuracy": float(np.mean(by_set["test"] == labels["test"][output])),
        "conditional information": test.estimate,
        "excess information": test.excess,
        **{f"slope by {side}": float(size) for side, size in zip(SIDES, watched[-2:], strict=True)},
    }


@dataclass(frozen=True, eq=False)
class HeadObserver:
    """Looks at networks in training: predictions of each output on all evaluated samples, then slopes (c, M + 2, H)."""

    architecture: Architecture
    evaluated: tuple[LabelPairs, ...]
    labels: Tensor
    heads: int

    @classmethod
    def of(cls, samples: PairSamples, architecture: Architecture, sloped: int, heads: int, device: str) -> HeadObserver:
        """Put the evaluated samples on the device; slopes are taken at the first ``sloped`` of the probe."""
        import torch

        from recombine.lab.worlds.images.label_pairs import LabelPairs

        pairs = tuple(
            LabelPairs(samples.images["train" if seen else "test"], samples.draws[name].index, device=device)
            for name, seen in EVALUATED.items()
        )
        labels = torch.from_numpy(samples.draws["probe"].labels[:, :sloped].copy()).to(device)
        return cls(architecture, pairs, labels, heads)

    def __call__(self, parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        """Return predictions and slopes of ``networks`` (c,) with these stacked parameters."""
        import torch

        from recombine.lab.nets.ensemble.loop import evaluate

        dtype = next(iter(parameters.values())).dtype
        outputs = [
            self._by_head(evaluate(self.architecture, parameters, statistics, samples, networks, dtype)).argmax(-1)
            for samples in self.evaluated
        ]
        return torch.cat([*outputs, self._slopes(parameters, statistics, networks)], dim=1)

    def _by_head(self, outputs: Tensor) -> Tensor:
        """Outputs by head and class (c, B, H, 10); what is left out is the end of a sequence."""
        return outputs.unsqueeze(2) if self.heads == 1 else outputs[..., 1:]

    def _slopes(self, parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        """Return E|dY_i/dX_j| by image j and output i (c, 2, H), Y_i the output of the true class."""
        import torch

        labels = self.labels[networks]
        probe = self.evaluated[-1]
        dtype = next(iter(parameters.values())).dtype
        totals = torch.zeros(len(networks), 2, self.heads, device=labels.device, dtype=dtype)
        # A hundred at a time, so that a backward pass stays small.
        for start in range(0, labels.shape[1], 100):
            rows = torch.arange(start, min(start + 100, labels.shape[1]), device=labels.device)
            inputs = probe.take(networks, rows.expand(len(networks), -1)).to(dtype).requires_grad_()
            with torch.enable_grad():
                outputs = self._by_head(self.architecture.forward(parameters, statistics, inputs, False))
                chosen = outputs.gather(-1, labels[:, rows, : self.heads].unsqueeze(-1)).squeeze(-1)
                for head in range(self.heads):
                    (slopes,) = torch.autograd.grad(chosen[..., head].sum(), inputs, retain_graph=True)
                    sizes: list[Any] = [half.flatten(2).norm(dim=-1).sum(1) for half in slopes.chunk(2, dim=-1)]
                    totals[..., head] += torch.stack(sizes, dim=-1)
        return totals / labels.shape[1]
