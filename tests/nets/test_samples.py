"""Inputs that are gathered when asked for: training says how far each network is, evaluation does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from recombine.nets.ensemble import Ensemble, Trained
from recombine.nets.mlp import MLP

RNG = np.random.default_rng(3)
VALUES = torch.from_numpy(RNG.standard_normal((5, 12, 4)))
TARGETS = RNG.standard_normal((5, 12))


class Drifting:
    """Each network's own inputs, which in training drift with the number of updates it has taken."""

    shape = (4,)

    def __init__(self, places: list[int], drift: float) -> None:
        self.values, self.drift = VALUES[places], drift
        self.asked: list[list[int] | None] = []

    def __len__(self) -> int:
        return self.values.shape[1]

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        self.asked.append(None if steps is None else steps.tolist())
        values = self.values[networks.unsqueeze(1), rows]
        return values if steps is None else values + self.drift * steps.view(-1, 1, 1)


def train(places: list[int], drift: float = 0.01, **options: object) -> tuple[Trained, Drifting]:
    inputs = Drifting(places, drift)
    ensemble = Ensemble(MLP(4, (10,)), places, dtype="float64", chunk=len(places))
    settings: dict = {"rate": 0.05, "steps": 40, "batch": 5, **options}
    return ensemble.train(inputs, TARGETS[places], threads=1, **settings), inputs


@pytest.mark.parametrize("batch", [5, None])
def test_a_network_meets_the_same_inputs_alone_and_in_a_batch(batch: int | None) -> None:
    """Networks stop at different steps and the chunk shrinks on the way."""
    together, _ = train([0, 1, 2, 3, 4], batch=batch, stop=0.4)
    assert len(set(together.steps.tolist())) > 2
    still, _ = train([0, 1, 2, 3, 4], drift=0.0, batch=batch, stop=0.4)
    assert (still.loss != together.loss).any()
    for place in range(5):
        alone, _ = train([place], batch=batch, stop=0.4)
        assert alone.steps.item() == together.steps[place].item()
        for name, tensor in alone.parameters.items():
            torch.testing.assert_close(tensor[0], together.parameters[name][place], rtol=0, atol=1e-12)


def test_training_counts_updates_and_evaluation_does_not() -> None:
    trained, inputs = train([0, 1], steps=3)
    assert inputs.asked == [[0, 0], [1, 1], [2, 2]]
    inputs.asked.clear()
    outputs = trained.outputs(inputs)
    assert inputs.asked
    assert all(steps is None for steps in inputs.asked)
    torch.testing.assert_close(outputs, trained.outputs(VALUES[:2]))
