"""Looking at layers: one place each, without dropout, and without a trace in the model."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets.plain.activations import PASS_SAMPLES, batch_statistics, evaluating, layer_activations
from recombine.lab.nets.plain.image_models import ResNet18


@pytest.fixture
def model() -> ResNet18:
    torch.manual_seed(0)
    return ResNet18(channels=1, classes=4, widths=(4, 8), large_stem=False)


@pytest.fixture
def images() -> torch.Tensor:
    return torch.randn(24, 1, 8, 8, generator=torch.Generator().manual_seed(1))


class Odd(nn.Module):
    """Layers that cannot be diagnosed: one called twice, one never, one with two outputs, one with samples second."""

    def __init__(self) -> None:
        super().__init__()
        self.twice, self.never = nn.ReLU(), nn.Linear(4, 4)
        self.pair, self.turned = nn.LSTM(4, 4), nn.Linear(4, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.turned(self.twice(self.pair(self.twice(inputs)[None])[0]))[0]


def test_looking_leaves_a_model_as_it_was(model: ResNet18, images: torch.Tensor) -> None:
    model.stage1.eval()
    before, modes = copy.deepcopy(model.state_dict()), [module.training for module in model.modules()]
    found = layer_activations(model, images, ["stage1", "stage2", "readout"])
    assert {name: tuple(values.shape[:2]) for name, values in found.items()} == {
        "stage1": (24, 4),
        "stage2": (24, 8),
        "readout": (24, 4),
    }
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert [module.training for module in model.modules()] == modes
    assert not any(module._forward_hooks for module in model.modules())


def test_batch_statistics_make_activations_blind_to_the_scale_of_a_convolution(
    model: ResNet18, images: torch.Tensor
) -> None:
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.stem[0].weight.mul_(8)
    one, two = (layer_activations(net, images, ["stem"])["stem"] for net in (model, other))
    assert torch.allclose(one, two, atol=1e-3)


def test_dropout_is_off_wherever_it_is() -> None:
    class Functional(nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(super().forward(inputs), 0.5, self.training)

    torch.manual_seed(0)
    for net in (
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True),
        nn.Sequential(Functional(8, 3)),
        nn.Sequential(nn.Sequential(nn.Dropout(0.5), nn.Linear(8, 3))),
    ):
        tokens = torch.randn(6, 5, 8)
        one, two = (layer_activations(net.train(), tokens, [""])[""] for _ in range(2))
        assert torch.equal(one, two)
        assert all(module.training for module in net.modules())


def test_a_layer_that_works_in_place_does_not_change_what_was_seen_before_it() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True))
    inputs = torch.randn(9, 3)
    found = layer_activations(net, inputs, ["0", "1", "0"])
    assert torch.allclose(found["0"], net[0](inputs).detach())
    assert torch.equal(found["1"], found["0"].relu())


def test_a_single_input_left_over_joins_the_piece_before() -> None:
    net, inputs = nn.Sequential(nn.BatchNorm1d(2)), torch.randn(PASS_SAMPLES + 1, 2)
    with torch.no_grad(), batch_statistics(net):
        whole = net(inputs)
    assert torch.allclose(layer_activations(net, inputs, ["0"])["0"], whole)
    with pytest.raises(InputError, match="at least two"):
        layer_activations(net, inputs[:1], ["0"])


def test_a_model_without_parameters_can_be_looked_at() -> None:
    assert torch.equal(layer_activations(nn.ReLU(), torch.ones(3, 2), [""])[""], torch.ones(3, 2))


def test_modes_come_back_after_an_error() -> None:
    net = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(2).eval())
    with evaluating(net, by_batch=True):
        assert [module.training for module in net] == [False, True]
    with pytest.raises(ZeroDivisionError), evaluating(net, by_batch=True):
        _ = 1 / 0
    assert [module.training for module in net] == [True, False]


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["twice"], "'twice' is called 2 times"),
        (["never"], "'never' is called 0 times"),
        (["pair"], "'pair' puts out a tuple"),
        (["turned"], r"'turned' puts out \(1, 5, 2\) for 5 inputs"),
        (["turnd"], "did you mean 'turned'"),
        ("pair", r"give a list of names, \['pair'\]"),
    ],
)
def test_a_layer_that_is_not_one_place_is_refused(layers: object, message: str) -> None:
    net = Odd()
    with pytest.raises(InputError, match=message):
        layer_activations(net, torch.randn(5, 4), layers)
    assert not any(module._forward_hooks for module in net.modules())
