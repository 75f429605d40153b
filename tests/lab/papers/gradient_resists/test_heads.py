"""Two outputs: slopes against autograd one network at a time, and what a unit hands back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import select_networks
from recombine.lab.nets.architectures.pair_net import PairHeads
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.papers.gradient_resists.experiments.heads import HeadObserver, heads
from recombine.lab.papers.gradient_resists.experiments.images import DEFAULTS, PairSamples, pairs
from recombine.lab.runs.experiment import Unit
from recombine.measures.outputs.sensitivity import torch_sensitivity

TINY: dict[str, Any] = {"images": "digits", "setting": "A", "seeds": [0, 1], "steps": 4, "record": [0, 4]}
TINY |= {"evaluated": 60, "probed": 200, "sloped": 30, "grid": [5, 6], "permutations": 20}


def unit(**changes: Any) -> Unit:
    return Unit("heads", 1, {**TINY, **changes})


def test_one_row_per_network_step_and_output() -> None:
    rows = heads(unit(heads=2))
    assert [(row["seed"], row["step"], row["output"]) for row in rows[:4]] == [
        (0, 0, 1),
        (0, 0, 2),
        (0, 4, 1),
        (0, 4, 2),
    ]
    assert all(row["slope by left"] > 0 and row["slope by right"] > 0 for row in rows)
    assert rows[0] == heads(unit(heads=2, seeds=[0]))[0]


def test_with_one_output_it_is_the_network_of_the_pairs() -> None:
    for one, other in zip(heads(unit(heads=1)), pairs(unit()), strict=True):
        for name in ("train accuracy", "test accuracy", "excess information"):
            assert one[name] == pytest.approx(other[name], abs=1e-9)
        share = one["slope by right"] / (one["slope by left"] + one["slope by right"])
        assert share == pytest.approx(other["gradient share"], rel=1e-5)


def test_slopes_are_the_matrix_of_torch_sensitivity() -> None:
    samples = PairSamples.of({**DEFAULTS, **TINY}, [0, 1])
    architecture = PairHeads((1, 8, 16), channels=(3, 4), dense=(6,))
    parameters, _ = Ensemble(architecture, [0, 1], dtype="float64").initial()
    observer = HeadObserver.of(samples, architecture, 30, 2, "cpu")
    found = observer(parameters, {}, torch.tensor([0, 1]))[:, -2:]
    alone = select_networks(parameters, slice(1, 2))
    inputs = observer.evaluated[-1].take(torch.tensor([1]), torch.arange(30)[None]).double()
    labels = samples.draws["probe"].labels[1, :30]
    halves = {"left": np.arange(16) < 8, "right": np.arange(16) >= 8}
    parts = {name: np.broadcast_to(mask, (1, 8, 16)) for name, mask in halves.items()}
    for output in range(2):

        class Head(torch.nn.Module):
            def forward(self, rows: torch.Tensor, output: int = output) -> torch.Tensor:
                outputs: torch.Tensor = architecture.forward(alone, {}, rows[None].double(), False)[0, :, output, 1:]
                return outputs

        matrix = torch_sensitivity(Head(), inputs[0], parts, labels=labels[:, output])
        np.testing.assert_allclose(found[1, :, output].numpy(), matrix.norms, rtol=1e-5)


def test_other_numbers_of_outputs_are_refused() -> None:
    with pytest.raises(InputError, match="heads is 3; give 1 or 2"):
        heads(unit(heads=3))
    with pytest.raises(InputError, match="record names no step"):
        heads(unit(heads=2, record=[]))
