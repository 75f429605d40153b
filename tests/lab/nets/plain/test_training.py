"""Training a torch model on a task: replayed steps change nothing, tasks can take turns, leftovers are handled."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable

import pytest
import torch
from torch import nn

from recombine.errors import InputError, SolverError
from recombine.lab.nets.plain.image_models import ResNet18, SmallViT
from recombine.lab.nets.plain.samples import LabelledSamples
from recombine.lab.nets.plain.training import Optimisers, Recipe, Training, sgd, train


def adam(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Adam whose steps a GPU can record; torch refuses this for parameters that lie elsewhere, GPU or not."""
    weights = list(parameters)
    return torch.optim.Adam(weights, lr=1e-3, weight_decay=5e-5, capturable=weights[0].is_cuda)


def fast(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


CASES: dict[str, tuple[Callable[[], nn.Module], Optimisers]] = {
    "resnet": (lambda: ResNet18(1, 4, (4, 8), large_stem=False), fast),
    "vit": (lambda: SmallViT(1, 4, 8, width=8, depth=1, heads=2, hidden=8), adam),
}


def drawn(count: int, device: str = "cpu") -> LabelledSamples:
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


def still(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.0)


def test_a_single_sample_left_over_is_not_trained_on_where_batches_are_normalised() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Linear(64, 2))
    losses, _ = train(model, drawn(9), Recipe(still, batch=4, epochs=1))
    assert int(model[1].num_batches_tracked) == 2
    # The mean is over the eight samples of the two batches.
    inputs, labels = drawn(9)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    model.train()
    parts = [nn.functional.cross_entropy(model(inputs[rows]), labels[rows]) for rows in order[:8].split(4)]
    assert losses[0] == pytest.approx(sum(part.item() for part in parts) / 2, rel=1e-6)


@pytest.mark.parametrize("batch", [1, 3, 8, 16])
def test_other_models_see_every_sample(batch: int) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    inputs, labels = drawn(16)
    losses, _ = train(model, (inputs, labels), Recipe(still, batch=batch, epochs=1))
    assert losses[0] == pytest.approx(nn.functional.cross_entropy(model(inputs), labels).item(), rel=1e-5)


def test_batches_of_one_learn() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    losses, _ = train(model, drawn(8), Recipe(fast, batch=1, epochs=30, stop=0.05))
    assert losses[-1] < 0.05 < losses[0]


@pytest.mark.usefixtures("stand_in")
def test_a_replayed_batch_of_one_is_a_batch() -> None:
    found = []
    for replay in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
        recipe = Recipe(fast, batch=4, epochs=3, stop=0.0, replay=replay)
        found.append(train(model, drawn(9), recipe, drawn(6)))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("test", [None, drawn(6)])
def test_a_trained_model_is_ready_to_predict(test: LabelledSamples | None) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 2))
    train(model, drawn(8), Recipe(epochs=1), test)
    assert not any(module.training for module in model.modules())


def test_judging_does_not_change_the_mode() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    task = Training(model, sgd(model.parameters()), drawn(8), Recipe(), torch.Generator(), test=drawn(6))
    task.accuracy()
    assert model.training
    model.eval()
    task.accuracy()
    assert not model.training


def test_the_seed_is_of_dropout_too() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 2))
    one, two, other = (
        train(copy.deepcopy(model), drawn(8), Recipe(fast, batch=8, epochs=3, seed=seed))[0] for seed in (0, 0, 1)
    )
    assert one == two != other


def test_training_that_diverges_says_so() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 2))
    with pytest.raises(SolverError, match="lower the optimiser's learning rate"):
        train(model, drawn(8), Recipe(lambda parameters: torch.optim.SGD(parameters, lr=1e30)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"batch": 0}, "batch is 0"),
        ({"batch": 2.5}, "batch is 2.5"),
        ({"epochs": 0}, "epochs 0"),
        ({"stop": float("nan")}, "stop is nan"),
        ({"outputs": (2, 2)}, r"outputs are \(2, 2\)"),
        ({"outputs": (-1, 2)}, "from 0 up"),
    ],
)
def test_recipes_that_cannot_be_followed_are_named(bad: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Recipe(**bad)


@pytest.mark.parametrize(("samples", "batch"), [(8, 1), (1, 8)])
def test_batches_of_one_cannot_be_normalised(samples: int, batch: int) -> None:
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Linear(64, 2))
    with pytest.raises(InputError, match="one sample at a time"):
        train(model, drawn(samples), Recipe(batch=batch))


def test_tasks_take_turns_with_one_optimiser_and_a_weight_of_zero_teaches_nothing() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
    before = [parameter.clone() for parameter in model.parameters()]
    optimiser, order = torch.optim.SGD(model.parameters(), lr=0.1), torch.Generator().manual_seed(0)
    one = Training(model, optimiser, drawn(16), Recipe(outputs=(0, 2)), order, weight=0.0)
    two = Training(model, optimiser, drawn(16), Recipe(outputs=(2, 4)), order, test=drawn(16))
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
