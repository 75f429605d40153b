"""Gradient descent resists compositionality, experiment 2: SCAN, where "jump" is only ever seen alone (A) or not (B).

A unit is one reading with a batch of seeds, trained together on the unit's device. Whole sentences count: a sequence
is right when every action and its end are. Accuracy on training rows is also taken over distinct commands, because in
setting A a tenth of the rows are one and the same word. Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.scan import ScanSplit, commands, scan_reading

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Tensors
    from recombine.lab.nets.architectures.seq2seq import Seq2Seq

Rows = list[dict[str, Any]]

#: The released training (Adam, staircase decay, clipped gradients), and what else a setting may leave out.
DEFAULTS: dict[str, Any] = {
    "repeats": True,
    "rate": 0.01,
    "decay": [0.96, 100],
    "clip": 1.0,
    "batch": 256,
    "encoder": 32,
    "steps": 2000,
    "record": [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000],
    "evaluated": 1000,
    "greedy": 200,
}
#: What networks are evaluated on: training rows as drawn, distinct training commands, test commands.
PARTS = ("train", "distinct", "test")


def scan(unit: Unit) -> Rows:
    """Sentence accuracy over training: one row per network and recorded step.

    The unit's setting names the "reading" ("A", "B1", "B2", "B3") and may change any of ``DEFAULTS``; without
    "repeats" the single word "jump" is in A's training set once instead of 1,467 times. "greedy disagreements" counts
    the commands (half of them training rows, half of the test) that are right when the network is given the right
    symbols so far and wrong when it writes by itself, or the reverse.

    Examples
    --------
    >>> tiny = {"reading": "A", "seeds": [0], "steps": 1, "record": [0, 1], "evaluated": 20, "greedy": 4, "batch": 8}
    >>> [(row["reading"], row["step"], row["test accuracy"]) for row in scan(Unit("scan", 1, tiny))]
    [('A', 0, 0.0), ('A', 1, 0.0)]
    """
    from recombine.lab.nets.architectures.seq2seq import Seq2Seq, sequence_rows
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import Adam

    setting = {**DEFAULTS, **unit.setting}
    if not setting["record"]:
        raise InputError("record names no step; name those at which to measure, for instance [0, 50]")
    data = commands()
    network = Seq2Seq.for_symbols(data.words, data.actions, encoder=setting["encoder"])
    splits = [
        scan_reading(setting["reading"], seed=seed, without_repeats=not setting["repeats"]) for seed in unit.seeds
    ]
    observer = ScanObserver.of(network, splits, unit.seeds, setting["evaluated"], setting["greedy"], unit.device)
    trained = Ensemble(network, unit.seeds, device=unit.device, chunk=setting.get("chunk")).train(
        sequence_rows(data.words, data.actions),
        data.actions,
        loss="sequence-cross-entropy",
        optimiser=Adam(),
        draw_from=[split.train for split in splits],
        decay=tuple(setting["decay"]),
        watch=observer,
        **{name: setting[name] for name in ("rate", "steps", "batch", "clip", "record")},
    )
    if trained.watched is None:
        raise InputError("nothing was recorded")
    watched = trained.watched.double().cpu().numpy()
    losses = trained.history.double().cpu().numpy()
    about = {name: setting[name] for name in ("reading", "repeats", "encoder")}
    names = [*(f"{name} accuracy" for name in PARTS), "greedy disagreements"]
    return [
        {**about, "seed": seed, "step": step, "train loss": float(losses[row, index])}
        | dict(zip(names, watched[row, index].tolist(), strict=True))
        for index, seed in enumerate(unit.seeds)
        for row, step in enumerate(trained.recorded)
    ]


@dataclass(frozen=True, eq=False)
class ScanObserver:
    """Looks at networks in training: accuracy on each part, and how often writing by itself decides otherwise (c, 4).

    Of all ``sequences`` (N, longest_in + longest_out), rows are ``shown`` by part (E, evaluated); networks write
    ``greedy`` of these by themselves.
    """

    network: Seq2Seq
    sequences: Tensor
    shown: Mapping[str, Tensor]
    greedy: int

    @classmethod
    def of(
        cls, network: Seq2Seq, splits: Sequence[ScanSplit], seeds: Sequence[int], count: int, greedy: int, device: str
    ) -> ScanObserver:
        """Draw what each network is evaluated on, with replacement; its seed decides."""
        import torch

        from recombine.lab.nets.architectures.seq2seq import sequence_rows

        data = commands()
        draws = []
        for split, seed in zip(splits, seeds, strict=True):
            generator = np.random.default_rng([seed, 1])
            draws.append([generator.choice(rows, count) for rows in (split.train, np.unique(split.train), split.test)])
        stacked = zip(PARTS, np.stack(draws, axis=1), strict=True)
        evaluated = {name: torch.from_numpy(rows).to(device) for name, rows in stacked}
        sequences = torch.from_numpy(sequence_rows(data.words, data.actions)).float().to(device)
        return cls(network, sequences, evaluated, greedy)

    def __call__(self, parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        """Return the four numbers of ``networks`` (c,) with these stacked parameters."""
        import torch

        with torch.no_grad():
            right = {name: self._right(parameters, rows[networks]) for name, rows in self.shown.items()}
        forced = torch.cat([right[name][:, : self.greedy // 2] for name in ("train", "test")], dim=1)
        rows = torch.cat([self.shown[name][networks, : self.greedy // 2] for name in ("train", "test")], dim=1)
        differ = (self._written_right(parameters, rows) != forced).sum(1)
        return torch.stack([*(right[name].double().mean(1) for name in PARTS), differ.double()], dim=1)

    def _right(self, parameters: Tensors, rows: Tensor) -> Tensor:
        """Say whether each sequence is right, given the right symbols so far (c, M); 250 at a time."""
        import torch

        from recombine.lab.nets.architectures.seq2seq import sequences_right

        answers = []
        for some in rows.tensor_split(-(-rows.shape[1] // 250), dim=1):
            inputs = self.sequences[some].to(parameters["memory"].dtype)
            logits = self.network.forward(parameters, {}, inputs, False)
            answers.append(sequences_right(logits, inputs[..., self.network.longest_in :].long()))
        return torch.cat(answers, dim=1)

    def _written_right(self, parameters: Tensors, rows: Tensor) -> Tensor:
        """Say whether networks write each sequence right by themselves (c, M)."""
        inputs = self.sequences[rows].long()
        read, written = inputs[..., : self.network.longest_in], inputs[..., self.network.longest_in :]
        return (self.network.greedy(parameters, read) == written).all(-1)
