"""What all decoders of square images keep to: stacked or alone, looped or not, and layers that end with the image."""

from __future__ import annotations

import pytest
import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, stack_networks
from recombine.lab.nets.decoders.bumps import CNNDecoder, MLPDecoder
from recombine.lab.nets.decoders.encoder import ImageEncoder
from recombine.lab.nets.decoders.low_rank import LowRankDecoder
from recombine.lab.nets.decoders.pixels import PixelMLP, TransformerDecoder, place_code
from recombine.lab.nets.decoders.rotation import RotationDecoder
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import AdamW

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


def test_features_end_with_the_image() -> None:
    for name in ("cnn", "mlp", "pixel", "transformer", "low-rank"):
        network = SMALL[name]
        parameters, _ = drawn(network)
        last = network.features(parameters, CODES)[-1].flatten(2)
        torch.testing.assert_close(last, network.forward(parameters, {}, CODES, False))


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
