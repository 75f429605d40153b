"""Forced rendering: what the authors' functions return for given inputs, ours return too.

The numbers were recorded from the modules of qiyaoliang/DisentangledCompGen (commit d7436e1 of June 2025), which has no
licence, so that its code is not here. Weights are cosines of their place in a tensor, images are told by one number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from recombine.lab.nets.architecture import Tensors, stack_networks
from recombine.lab.nets.decoders.bumps import CNNDecoder, MLPDecoder
from recombine.lab.nets.decoders.encoder import ImageEncoder
from recombine.lab.nets.decoders.low_rank import LowRankDecoder
from recombine.lab.nets.decoders.pixels import PixelMLP, TransformerDecoder
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations import factorization, metric_tensor, volume_element

#: Trainable numbers of the released networks, by depth.
CNNS = {2: 307_457, 3: 344_385, 4: 381_313, 5: 418_241, 6: 455_169, 7: 492_097, 8: 529_025, 9: 565_953, 10: 602_881}
MLPS = {3: 347_664, 4: 413_456, 5: 479_248, 6: 545_040, 7: 610_832}
TRANSFORMERS = {2: 1_193_473, 3: 1_786_497, 4: 2_379_521, 5: 2_972_545}
PIXEL_MLPS = {2: 146_435, 4: 278_021}


def cnn(depth: int) -> CNNDecoder:
    return CNNDecoder(56, depth=depth)


def mlp(depth: int) -> MLPDecoder:
    return MLPDecoder(56, (256,) * depth, 784)


def transformer(depth: int) -> TransformerDecoder:
    return TransformerDecoder(56, depth=depth)


def pixel_mlp(depth: int) -> PixelMLP:
    return PixelMLP(56, depth=depth)


def told(image: npt.ArrayLike) -> float:
    """One number that changes with every pixel."""
    pixels = np.asarray(image, dtype=float).reshape(-1)
    return float(pixels @ np.cos(0.3 * np.arange(pixels.size)))


def cosines(shape: tuple[int, ...], number: int, size: float) -> torch.Tensor:
    return torch.from_numpy(size * np.cos(0.7 * np.arange(prod(shape)) + number)).reshape(shape)


def filled(network: Any, size: float) -> Tensors:
    """Weights of one network, in the order of its tensors."""
    drawn = network.initial(0, 1.0)
    return stack_networks([{name: cosines(drawn[name].shape, i, size) for i, name in enumerate(drawn)}])


@pytest.mark.parametrize(
    ("build", "sizes"),
    [(cnn, CNNS), (mlp, MLPS), (transformer, TRANSFORMERS), (pixel_mlp, PIXEL_MLPS)],
    ids=["cnn", "mlp", "transformer", "pixel-mlp"],
)
def test_networks_have_as_many_weights_as_the_released_ones(build: Callable[[int], Any], sizes: dict[int, int]) -> None:
    for depth, size in sizes.items():
        assert sum(tensor.numel() for tensor in build(depth).initial(0, 1.0).values()) == size


def test_encoder_and_low_rank_network_have_as_many_weights_as_the_released_ones() -> None:
    for network, size in ((ImageEncoder(), 362_168), (LowRankDecoder(), 133_218)):
        assert sum(tensor.numel() for tensor in network.initial(0, 1.0).values()) == size


@pytest.mark.parametrize(
    ("network", "number"),
    [
        (cnn(2), -0.08128848422192868),
        (cnn(4), 0.4634662578168066),
        (cnn(8), 0.10998128055472993),
        (mlp(3), -0.022720791447341876),
        (mlp(7), 0.03254662914242051),
    ],
    ids=str,
)
def test_decoders_paint_what_the_released_ones_paint(network: Any, number: float) -> None:
    code = np.concatenate([np.exp(-((np.arange(28) - centre) ** 2) / 2) for centre in (9, 20)])
    image = network.forward(filled(network, 0.05), {}, torch.from_numpy(code).reshape(1, 1, -1), False)
    assert told(image) == pytest.approx(number, abs=1e-10)


def test_the_low_rank_network_paints_and_is_penalised_as_the_released_one() -> None:
    weights, code = filled(LowRankDecoder(), 0.5), torch.zeros(1, 1, 64, dtype=torch.float64)
    code[..., 9] = code[..., 32 + 20] = 1
    assert told(LowRankDecoder().forward(weights, {}, code, False)) == pytest.approx(5.2002632142878795, abs=1e-10)
    entropy, variance = LowRankDecoder(entropy=0.1).penalty(weights), LowRankDecoder(variance=0.01).penalty(weights)
    assert entropy is not None
    assert variance is not None
    assert float(entropy) == pytest.approx(20.218218275681195, abs=1e-10)
    assert float(variance) == pytest.approx(5.242935611174471, abs=1e-10)


def test_directions_and_areas_are_the_released_ones() -> None:
    unit, x, y = np.arange(5), *(axis[..., None] for axis in np.indices((28, 28)))
    layer = np.sin((unit + 1) * x / 5 + y**2 / 50) + 0.1 * unit * x * y / 28
    metric = metric_tensor(layer)
    # The released F adds 1e-9 to what it divides by.
    assert factorization(metric) == pytest.approx(0.6054992533021826, abs=1e-8)
    assert told(volume_element(metric)) == pytest.approx(1.3929747636844976, abs=1e-10)


def test_a_released_sample_is_ours_to_the_digits_of_its_short_floats() -> None:
    data = BumpWorld(28, hole=Hole.square(6, 22), encoding="bump", inverted=True).samples(np.array([[12.0, 5.0]]))
    assert told(data.images) == pytest.approx(2.3340027477284635, abs=1e-6)
    assert told(data.codes) == pytest.approx(-4.2797251898161806, abs=1e-6)
