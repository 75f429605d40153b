"""The error of composed images on a GPU, in one pass, against the composition and autograd.

Elsewhere ``TRITON_INTERPRET=1`` runs the same kernel in Python, where triton is installed.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from recombine.lab.nets.decoders.components import Decoder
from recombine.lab.nets.decoders.composed import ComposedDecoder
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import AdamW

GPU = torch.cuda.is_available()
INTERPRETED = not GPU and os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None
DEVICE = "cuda" if GPU else "cpu"

pytestmark = pytest.mark.skipif(not GPU and not INTERPRETED, reason="needs a GPU")


def _model(rule: str, side: int = 16) -> ComposedDecoder:
    rgba = rule in ("clamp", "sigmoid")
    component = Decoder(channels=4 if rgba else 3, hidden=12, features=8, start=2, doublings=side.bit_length() - 2)
    opacity = rule if rgba else "clamp"
    slots = 1 if rule == "single" else 2
    return ComposedDecoder(component, slots, "rgba" if rgba else "soft", gain=1.7, opacity=opacity)


@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize("rule", ["soft", "clamp", "sigmoid", "single"])
def test_error_and_slopes(rule: str, sets: int) -> None:
    from recombine.lab.nets.decoders.composition_kernels import composed_error

    model = _model(rule)
    generator = torch.Generator().manual_seed(0)
    shape = (2, model.slots, 3, model.component.channels, 16, 16)
    layers = torch.randn(shape, generator=generator).to(DEVICE).requires_grad_()
    targets = torch.rand(sets, 7, 3 * 16 * 16, generator=generator).to(DEVICE)
    networks, rows = torch.tensor([3, 1]).to(DEVICE), torch.tensor([[0, 6, 2], [5, 5, 1]]).to(DEVICE)
    error, slopes = composed_error(layers.detach(), targets, networks, rows, rule, model.gain)
    wanted = targets[0][rows] if sets == 1 else targets[networks[:, None], rows]
    expected = (model.compose(list(layers.unbind(1))).flatten(2) - wanted).square().mean((1, 2))
    torch.testing.assert_close(error, expected)
    (by_autograd,) = torch.autograd.grad(expected.sum(), layers)
    torch.testing.assert_close(slopes, by_autograd, atol=1e-8, rtol=1e-4)


@pytest.mark.skipif(not GPU, reason="needs a GPU")
@pytest.mark.parametrize("rule", ["soft", "sigmoid", "single"])
def test_training_goes_the_same_way(rule: str, monkeypatch) -> None:
    model, generator = _model(rule), np.random.default_rng(0)
    inputs, images = generator.random((24, model.inputs)), generator.random((24, model.outputs))

    def trained() -> torch.Tensor:
        ensemble = Ensemble(model, [0, 7], dtype="float32", device="cuda")
        how = {"rate": 1e-3, "steps": 6, "batch": 8, "optimiser": AdamW(weight_decay=1e-5), "record": [0, 5]}
        return ensemble.train(inputs, images, **how).history

    fast = trained()
    monkeypatch.setattr(ComposedDecoder, "own_error", False)
    torch.testing.assert_close(fast, trained(), rtol=1e-5, atol=0)
