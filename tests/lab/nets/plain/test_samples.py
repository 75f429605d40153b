"""Samples that a model can be trained on, and what is said of those it cannot."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from recombine.errors import InputError
from recombine.lab.nets.plain.samples import check_samples, trainable_parameters

X, LABELS = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.arange(6) % 2


class Twofold(nn.Linear):
    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return super().forward(inputs), inputs


def test_arrays_and_other_precisions_become_the_models() -> None:
    model = nn.Linear(4, 2)
    for inputs, labels in (
        (X, LABELS),
        (X.double(), LABELS.int()),
        (X.numpy(), LABELS.numpy().astype(np.uint8)),
        (X.tolist(), LABELS.bool()),
    ):
        found, numbers = check_samples(model, (inputs, labels))
        assert torch.allclose(found, X)
        assert found.dtype == torch.float32
        assert torch.equal(numbers, LABELS)


def test_samples_that_fit_are_handed_through_untouched_and_so_is_the_model() -> None:
    model = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2), nn.Dropout())
    state = torch.get_rng_state()
    found = check_samples(model, (X, LABELS))
    assert found[0] is X
    assert found[1] is LABELS
    assert int(model[1].num_batches_tracked) == 0
    assert all(module.training for module in model.modules())
    assert torch.equal(state, torch.get_rng_state())


def test_whole_numbers_stay_whole_for_models_that_look_them_up() -> None:
    model = nn.Sequential(nn.Embedding(9, 5), nn.Flatten(), nn.Linear(15, 2))
    tokens = torch.arange(18).reshape(6, 3) % 9
    assert check_samples(model, (tokens, LABELS))[0].dtype == torch.int64


def test_frozen_parameters_are_left_out() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    model[0].requires_grad_(False)
    assert [parameter.shape for parameter in trainable_parameters(model)] == [(2, 3), (2,)]
    with pytest.raises(InputError, match="requires a gradient"):
        trainable_parameters(model.requires_grad_(False))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ((X, LABELS + 5), "labels of data go from 5 to 6; the task has 2 outputs"),
        ((X, LABELS - 1), "labels of data go from -1 to 0"),
        ((X, LABELS.float()), "give the number of each input's class"),
        ((X, nn.functional.one_hot(LABELS)), r"of shape \(6, 2\)"),
        ((X, LABELS[:4]), "as many of both"),
        ((X[:0], LABELS[:0]), "at least one"),
        ((X, LABELS, LABELS), "not a pair"),
        ((["a"], LABELS), "not a pair"),
        (DataLoader(TensorDataset(X)), "data do not come as pairs of input and label"),
        (TensorDataset(X, LABELS, LABELS), "data do not come as pairs of input and label"),
        ((X.log(), LABELS), "not finite"),
        ((X[:, :3], LABELS), r"cannot take inputs that are torch.float32 of shape \(6, 3\)"),
        ((X.long(), LABELS), "cannot take inputs that are torch.int64"),
    ],
)
def test_samples_that_do_not_fit_are_named(samples: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_samples(nn.Linear(4, 2), samples, "data")


@pytest.mark.parametrize(
    ("model", "outputs", "message"),
    [
        (Twofold(4, 2), None, "puts out a tuple"),
        (nn.Sequential(nn.Linear(4, 2), nn.Flatten(0)), None, r"puts out \(4,\)"),
        (nn.Sequential(nn.Linear(4, 4), nn.Unflatten(1, (2, 2))), None, r"puts out \(2, 2, 2\)"),
        (nn.Linear(4, 1), None, "has 1 output"),
        (nn.Linear(4, 2), (0, 5), "the model has 2"),
        (nn.Linear(4, 5), (4, 5), "has 1 output"),
        (nn.ReLU(), None, "requires a gradient"),
        (torch.relu, None, "give a torch.nn.Module"),
    ],
)
def test_models_that_are_no_classifiers_are_named(model: nn.Module, outputs: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_samples(model, (X, LABELS), outputs=outputs)


def test_loaders_and_datasets_are_read_whole_and_in_order() -> None:
    plain = check_samples(nn.Linear(4, 2), (X, LABELS))
    for given in (TensorDataset(X, LABELS), DataLoader(TensorDataset(X, LABELS), batch_size=2)):
        inputs, labels = check_samples(nn.Linear(4, 2), given)
        assert torch.equal(inputs, plain[0])
        assert torch.equal(labels, plain[1])
