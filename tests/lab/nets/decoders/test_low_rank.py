"""The low-rank decoder: its images, its head against torch, and penalties against their closed gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.low_rank import LowRankDecoder, entropies
from recombine.lab.nets.ensemble.ensemble import Ensemble

CODES = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


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
    network = LowRankDecoder(side=8, entropy=0.1, variance=0.01)
    parameters = stack_networks([network.initial(seed, 1.0) for seed in (3, 4)])
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
