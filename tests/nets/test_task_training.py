"""Training a torch model on a task: replayed steps change nothing, tasks can take turns, leftovers are handled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.nets.image_models import ResNet18, SmallViT
from recombine.nets.task_training import Optimisers, Recipe, Samples, Task, sgd, train


def adam(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=1e-3, weight_decay=5e-5, capturable=torch.cuda.is_available())


def fast(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


CASES: dict[str, tuple[Callable[[], nn.Module], Optimisers]] = {
    "resnet": (lambda: ResNet18(1, 4, (4, 8), large_stem=False), fast),
    "vit": (lambda: SmallViT(1, 4, 8, width=8, depth=1, heads=2, hidden=8), adam),
}


def drawn(count: int, device: str = "cpu") -> Samples:
    generator = torch.Generator().manual_seed(1)
    labels = torch.arange(count) % 2
    inputs = torch.randn(count, 1, 8, 8, generator=generator) + labels.view(-1, 1, 1, 1)
    return inputs.to(device), labels.to(device)


def outcome(case: str, replay: bool, device: str = "cpu") -> tuple[list[float], list[float], list[torch.Tensor]]:
    make, optimiser = CASES[case]
    torch.manual_seed(0)
    model = make().to(device)
    # 20 samples in batches of 8 leave a batch of 4: two graphs.
    recipe = Recipe(optimiser, batch=8, epochs=4, stop=0.0, outputs=(0, 2), replay=replay)
    samples, test = drawn(20, device), drawn(12, device)
    losses, accuracies = train(model, samples, recipe, test)
    return losses, accuracies, [*model.parameters(), *model.buffers()]


def agree(case: str, device: str, tolerance: float) -> None:
    (losses, accuracies, tensors), (others, shares, copies) = (
        outcome(case, replay, device) for replay in (False, True)
    )
    assert losses == pytest.approx(others, abs=tolerance)
    assert accuracies == pytest.approx(shares)
    for one, two in zip(tensors, copies, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=tolerance)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("case", CASES)
def test_recording_leaves_no_trace(case: str) -> None:
    agree(case, "cpu", 1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_replays_what_it_computes(case: str) -> None:
    agree(case, "cuda", 1e-3)


def test_a_single_sample_left_over_is_not_trained_on() -> None:
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Linear(64, 2))
    losses, _ = train(model, drawn(9), Recipe(fast, batch=4, epochs=1))
    assert len(losses) == 1
    assert int(model[1].num_batches_tracked) == 2


def test_tasks_take_turns_with_one_optimiser_and_a_weight_of_zero_teaches_nothing() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
    before = [parameter.clone() for parameter in model.parameters()]
    optimiser, order = torch.optim.SGD(model.parameters(), lr=0.1), torch.Generator().manual_seed(0)
    one = Task(model, optimiser, drawn(16), Recipe(outputs=(0, 2)), order, weight=0.0)
    two = Task(model, optimiser, drawn(16), Recipe(outputs=(2, 4)), order, test=drawn(16))
    one.epoch()
    for old, new in zip(before, model.parameters(), strict=True):
        assert torch.equal(old, new)
    first = [two.epoch() for _ in range(40)]
    assert first[-1] < first[0]
    assert torch.equal(model[1].weight[:2], before[0][:2])
    assert two.accuracy() > 0.8
    with pytest.raises(InputError, match="no test samples"):
        one.accuracy()


def test_bfloat16_computes_close_by_and_keeps_weights_in_full() -> None:
    found = []
    for half in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
        losses, _ = train(model, drawn(16), dataclasses.replace(Recipe(sgd, epochs=3), half=half))
        assert model[1].weight.dtype == torch.float32
        found.append(losses)
    assert found[0] == pytest.approx(found[1], rel=0.02)
    assert found[0] != found[1]
