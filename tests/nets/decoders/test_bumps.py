"""Decoders of bumps: each stacked pass against plain torch modules, and penalties against their closed gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from recombine.errors import InputError
from recombine.nets.architecture import Architecture, Tensors, stack_networks
from recombine.nets.decoders.bumps import CNNDecoder, MLPDecoder
from recombine.nets.decoders.encoder import ImageEncoder
from recombine.nets.decoders.low_rank import LowRankDecoder, entropies
from recombine.nets.decoders.pixels import PixelMLP, TransformerDecoder, place_code
from recombine.nets.decoders.rotation import RotationDecoder
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.optimisers import AdamW
from recombine.nets.losses import loss_named

SEEDS = [3, 4]
CODES = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
SMALL: dict[str, Architecture] = {
    "cnn": CNNDecoder(16, side=8, hidden=6, depth=3),
    "mlp": MLPDecoder(16, (7, 9), 64),
    "pixel": PixelMLP(16, side=8, width=12, depth=2),
    "transformer": TransformerDecoder(16, side=8, width=8, heads=2, hidden=10, depth=2),
    "low-rank": LowRankDecoder(side=8, entropy=0.1, variance=0.01),
    "rotation": RotationDecoder(inputs=16, side=8, channels=(4, 6, 5)),
}


def drawn(network: Architecture) -> tuple[Tensors, Tensors]:
    return stack_networks([network.initial(seed, 1.0) for seed in SEEDS]), stack_networks(
        [network.statistics(seed) for seed in SEEDS]
    )


def load(module: nn.Module, tensors: Tensors) -> nn.Module:
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), tensors.values(), strict=True):
            parameter.copy_(value.reshape(parameter.shape))
    return module


@pytest.mark.parametrize("name", SMALL)
def test_a_stack_computes_what_each_network_computes_alone(name: str) -> None:
    network = SMALL[name]
    parameters, statistics = drawn(network)
    together = network.forward(parameters, {k: v.clone() for k, v in statistics.items()}, CODES, True)
    for place in range(2):
        one = slice(place, place + 1)
        alone = network.forward(
            {k: v[one] for k, v in parameters.items()},
            {k: v[one].clone() for k, v in statistics.items()},
            CODES[one],
            True,
        )
        torch.testing.assert_close(together[one], alone)
    assert together.shape == (2, 5, 64)


@pytest.mark.parametrize("name", SMALL)
def test_looped_and_stacked_training_agree(name: str) -> None:
    network = SMALL[name]
    images = torch.rand(20, 64, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    codes = torch.eye(20, 16, dtype=torch.float64)
    settings = {"rate": 1e-3, "steps": 4, "batch": 8, "optimiser": AdamW()}
    one, other = (
        Ensemble(network, SEEDS, dtype="float64", chunk=2, stacked=stacked).train(codes, images, **settings)
        for stacked in (True, False)
    )
    for key, value in one.parameters.items():
        torch.testing.assert_close(value, other.parameters[key])


def test_cnn_is_a_sequence_of_transposed_convolutions() -> None:
    network = SMALL["cnn"]
    parameters, _ = drawn(network)
    for place in range(2):
        plain = nn.Sequential(
            nn.ConvTranspose2d(16, 6, 2), nn.ReLU(), nn.ConvTranspose2d(6, 6, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(6, 6, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(6, 6, 3, 1, 1), nn.ReLU(),
            nn.ConvTranspose2d(6, 1, 3, 1, 1),
        ).double()  # fmt: skip
        load(plain, {name: tensor[place] for name, tensor in parameters.items()})
        expected = plain(CODES[place].reshape(5, 16, 1, 1)).flatten(1)
        torch.testing.assert_close(network.forward(parameters, {}, CODES, False)[place], expected)


def test_first_weights_have_the_spread_of_torch_layers() -> None:
    ours = CNNDecoder(56).initial(seed=0, scale=1.0)
    for name, layer in {
        "first": nn.ConvTranspose2d(56, 64, 7),
        "block0": nn.ConvTranspose2d(64, 64, 4),
        "last": nn.ConvTranspose2d(64, 1, 3),
    }.items():
        assert ours[f"{name}.weight"].abs().max().item() == pytest.approx(layer.weight.abs().max().item(), rel=0.02)


def test_transformer_is_torch_encoder_layers() -> None:
    network = TransformerDecoder(16, side=8, width=8, heads=2, hidden=10, depth=1)
    parameters = network.initial(0, 1.0)
    layer = nn.TransformerEncoderLayer(8, 2, 10, dropout=0.0, batch_first=True).double()
    names = {
        "self_attn.in_proj_weight": "attend.weight", "self_attn.in_proj_bias": "attend.bias",
        "self_attn.out_proj.weight": "mix.weight", "self_attn.out_proj.bias": "mix.bias",
        "linear1.weight": "up.weight", "linear1.bias": "up.bias", "linear2.weight": "down.weight",
        "linear2.bias": "down.bias", "norm1.weight": "first.gain", "norm1.bias": "first.shift",
        "norm2.weight": "second.gain", "norm2.bias": "second.shift",
    }  # fmt: skip
    layer.load_state_dict({theirs: parameters[f"layer0.{ours}"] for theirs, ours in names.items()})
    tokens = functional.linear(CODES[0], parameters["context.weight"], parameters["context.bias"])
    attended = layer(tokens.unsqueeze(1) + place_code(8, 8))
    expected = functional.linear(attended, parameters["last.weight"], parameters["last.bias"]).squeeze(-1)
    found = network.forward(stack_networks([parameters]), {}, CODES[:1], False)[0]
    torch.testing.assert_close(found, expected)


def test_pixel_mlp_is_a_function_of_place_and_code() -> None:
    network = SMALL["pixel"]
    parameters = network.initial(3, 1.0)
    context = functional.linear(CODES[0], parameters["context.weight"], parameters["context.bias"])
    values = context.unsqueeze(1) + place_code(8, 12)
    for layer in range(2):
        values = functional.linear(values, parameters[f"layer{layer}.weight"], parameters[f"layer{layer}.bias"])
        values = functional.prelu(values, parameters[f"layer{layer}.slope"])
    expected = functional.linear(values, parameters["last.weight"], parameters["last.bias"]).squeeze(-1)
    torch.testing.assert_close(network.forward(stack_networks([parameters]), {}, CODES[:1], False)[0], expected)


def test_low_rank_images_are_sums_of_outer_products() -> None:
    network = LowRankDecoder(side=8)
    parameters = network.initial(0, 1.0)
    images = network.embedding(stack_networks([parameters]), "x")[0].reshape(8, 8, 8)
    columns, rows = (functional.normalize(parameters[f"x.{part}"], dim=-1) for part in ("columns", "rows"))
    expected = torch.einsum("vj,vjr,vjc->vrc", parameters["x.weights"], columns, rows)
    torch.testing.assert_close(images, expected)
    ranks = torch.linalg.matrix_rank(images)
    assert ranks.tolist() == [8] * 8


def test_a_stripe_has_rank_one_however_many_components_it_is_made_of() -> None:
    network = LowRankDecoder(side=8)
    parameters = network.initial(0, 1.0)
    parameters |= {f"{factor}.columns": torch.ones(8, 8, 8, dtype=torch.float64) for factor in "xy"}
    parameters |= {f"{factor}.weights": torch.ones(8, 8, dtype=torch.float64) for factor in "xy"}
    assert float(network.components(stack_networks([parameters]))[0]) == pytest.approx(8)
    images = network.embedding(stack_networks([parameters]), "x")[0].reshape(8, 8, 8)
    assert torch.linalg.matrix_rank(images).tolist() == [1] * 8


def test_low_rank_head_is_torch_transposed_convolutions() -> None:
    network = SMALL["low-rank"]
    parameters, _ = drawn(network)
    one = {name: tensor[0] for name, tensor in parameters.items()}
    halves = CODES[:1].split(8, dim=2)
    images = torch.stack(
        [(half @ network.embedding(parameters, factor)[:1])[0] for half, factor in zip(halves, "xy", strict=True)],
        dim=1,
    ).view(5, 2, 8, 8)
    for layer in range(3):
        images = functional.prelu(images, one[f"slope{layer}"])
        images = functional.conv_transpose2d(images, one[f"paint{layer}.weight"], one[f"paint{layer}.bias"], padding=1)
    torch.testing.assert_close(network.forward(parameters, {}, CODES, False)[0], images.flatten(1))


def test_penalties_are_the_released_ones() -> None:
    network = LowRankDecoder(side=6, entropy=0.1, variance=0.01)
    parameters = network.initial(1, 1.0)
    total = 0.0
    for factor in "xy":
        shares = parameters[f"{factor}.weights"].numpy() ** 2
        shares /= shares.sum(axis=1, keepdims=True)
        total += -0.1 * float((shares * np.log(shares)).sum())
        total += 0.01 * sum(
            float(parameters[f"{factor}.{part}"].numpy().var(axis=-1, ddof=1).sum()) for part in ("columns", "rows")
        )
    assert float(network.penalty(stack_networks([parameters]))[0]) == pytest.approx(total)
    assert LowRankDecoder(side=6).penalty(stack_networks([parameters])) is None


def test_training_descends_the_penalty_where_the_loss_is_silent() -> None:
    """With no image to paint differently, one step moves weights along minus the gradient of the penalty alone."""
    network = LowRankDecoder(side=6, variance=1.0)
    before = network.initial(0, 1.0)
    codes = torch.zeros(4, 12, dtype=torch.float64)
    blank = network.forward(stack_networks([before]), {}, codes[None], False)[0]
    trained = Ensemble(network, [0], dtype="float64").train(codes, blank, rate=0.1, steps=1)
    vectors = before["x.columns"]
    # The slope of an unbiased variance of n numbers is 2 (u - mean) / (n - 1).
    slope = 2 * (vectors - vectors.mean(-1, keepdim=True)) / 5
    torch.testing.assert_close(trained.parameters["x.columns"][0], vectors - 0.1 * slope)
    torch.testing.assert_close(trained.parameters["x.weights"][0], before["x.weights"])


def test_entropy_counts_equal_parts() -> None:
    assert entropies(torch.ones(3, 7)).exp().tolist() == pytest.approx([7.0] * 3)


def test_rotation_decoder_has_the_published_number_of_parameters_and_paints_between_zero_and_one() -> None:
    assert sum(tensor.numel() for tensor in RotationDecoder(inputs=1).initial(0, 1.0).values()) == 406_913
    network = SMALL["rotation"]
    parameters, statistics = drawn(network)
    images = network.forward(parameters, statistics, CODES, True)
    assert 0 < images.min() < images.max() < 1


def test_encoder_is_torch_convolutions() -> None:
    network = ImageEncoder(side=9, outputs=4, channels=(3, 5), hidden=6)
    parameters = network.initial(0, 1.0)
    plain = nn.Sequential(
        nn.Conv2d(1, 3, 3, 2, 1), nn.ReLU(), nn.Conv2d(3, 5, 3, 2, 1), nn.ReLU(), nn.Flatten(),
        nn.Linear(45, 6), nn.ReLU(), nn.Linear(6, 4),
    ).double()  # fmt: skip
    load(plain, parameters)
    images = torch.rand(7, 81, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = network.forward(stack_networks([parameters]), {}, images[None], False)[0]
    torch.testing.assert_close(found, plain(images.view(7, 1, 9, 9)))


def test_features_end_with_the_image() -> None:
    for name in ("cnn", "mlp", "pixel", "transformer", "low-rank"):
        network = SMALL[name]
        parameters, _ = drawn(network)
        last = network.features(parameters, CODES)[-1].flatten(2)
        torch.testing.assert_close(last, network.forward(parameters, {}, CODES, False))


def test_place_codes_tell_all_pixels_apart() -> None:
    code = place_code(28, 128)
    assert torch.unique(code.round(decimals=6), dim=0).shape == (784, 128)


def test_squared_absolute_loss_adds_a_tenth_of_the_absolute_error() -> None:
    outputs, targets = torch.tensor([[[1.0, 3.0]]]), torch.tensor([[[0.0, 1.0]]])
    assert float(loss_named("squared-absolute").value(outputs, targets)) == pytest.approx(2.5 + 0.1 * 1.5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: CNNDecoder(4, side=10),
        lambda: CNNDecoder(4, depth=1),
        lambda: PixelMLP(4, width=6),
        lambda: TransformerDecoder(4, width=12, heads=5),
        lambda: LowRankDecoder(side=1),
        lambda: RotationDecoder(side=10),
        lambda: ImageEncoder(channels=()),
        lambda: place_code(4, 6),
    ],
)
def test_sizes_that_do_not_fit_are_refused(build) -> None:
    with pytest.raises(InputError, match=r"give|need"):
        build()


def test_activation_counts_are_the_right_order() -> None:
    assert CNNDecoder(56).activations((56,)) > 64 * 28 * 28 * 3
    assert math.isclose(MLPDecoder(56, (256,), 784).side, 28)
