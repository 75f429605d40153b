"""Decoders against the same network built from torch's layers, and what is known before training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders import composed as decoders
from recombine.lab.nets.decoders.components import Decoder, FourierNet
from recombine.lab.nets.decoders.upsampling import upsampled_convolution, upsampling_matrix
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import AdamW
from recombine.lab.nets.ensemble.schedules import Cosine
from recombine.lab.worlds.rendered import canvas, sprites

#: A decoder small enough for a test: 16 pixels per side.
SMALL = Decoder(hidden=12, features=8, start=2, doublings=3)


def by_modules(inputs: int = 5, hidden: int = 256, features: int = 32, out: int = 3) -> nn.Sequential:
    """The published layers, built in their order so that torch draws their weights in that order."""
    layers: list[nn.Module] = [nn.Linear(inputs, hidden), nn.ELU()]
    for _ in range(2):
        layers += [nn.Linear(hidden, hidden), nn.ELU()]
    layers += [nn.Linear(hidden, 16 * features), nn.Unflatten(1, (features, 4, 4))]
    for number in range(4):
        upsample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        # "same" padding of even filters pads at the right and bottom.
        convolve = nn.Conv2d(features, out if number == 3 else features, 2)
        layers += [nn.ELU(), upsample, nn.ZeroPad2d((0, 1, 0, 1)), convolve]
    return nn.Sequential(*layers)


def single(model: decoders.ComposedDecoder, seed: int) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in stack_networks([model.initial(seed, 1.0)]).items()}


def test_compositional_model_equals_torch_modules():
    torch.manual_seed(3)
    front, back = by_modules(), by_modules()
    model, inputs = decoders.compositional_decoder(), torch.rand(3, 10)
    layers = model.layers(single(model, 3), inputs[None])[0]
    torch.testing.assert_close(layers[0], front(inputs[:, :5]), atol=1e-6, rtol=0)
    torch.testing.assert_close(layers[1], back(inputs[:, 5:]), atol=1e-6, rtol=0)
    a, b = layers
    share = torch.sigmoid(a.sum(1, keepdim=True))
    image = model.forward(single(model, 3), {}, inputs[None], False)[0]
    torch.testing.assert_close(image, (a * share + b * (1 - share)).flatten(1), atol=1e-6, rtol=0)


def test_rgba_model_shares_its_decoder_and_composes_over_black():
    torch.manual_seed(2)
    decoder = by_modules(out=4)
    model, inputs = decoders.rgba_decoder(), torch.rand(2, 10)
    a, b = (decoder(part) for part in inputs.split(5, 1))
    cover = [part[:, 3:].clamp(0, 1) for part in (a, b)]
    expected = cover[0] * a[:, :3] + (1 - cover[0]) * cover[1] * b[:, :3]
    image = model.forward(single(model, 2), {}, inputs[None], False)[0]
    torch.testing.assert_close(image, expected.flatten(1), atol=1e-6, rtol=0)
    layers = [torch.cat([part[:, :3], own], 1) for part, own in zip((a, b), cover, strict=True)]
    rendered = canvas.compose_layers(torch.stack(layers, 1), "rgba")
    torch.testing.assert_close(image, rendered.flatten(1), atol=1e-6, rtol=0)


def test_monolithic_model_sees_all_latents():
    torch.manual_seed(0)
    decoder = by_modules(10, 320, 64)
    model, inputs = decoders.monolithic_decoder(), torch.rand(2, 10)
    image = model.forward(single(model, 0), {}, inputs[None], False)[0]
    torch.testing.assert_close(image, decoder(inputs).flatten(1), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("out", "batch", "shape"), [(3, 2, (4, 4)), (8, 3, (2, 4)), (5, 8, (3, 2))])
def test_folded_convolution_and_its_gradient(out, batch, shape):
    generator = torch.Generator().manual_seed(0)
    draw = lambda *size: torch.randn(*size, generator=generator, dtype=torch.float64)  # noqa: E731
    maps, weight, bias = draw(2, batch, *shape, 6), draw(2, out, 6, 2, 2), draw(2, out)
    for tensor in (maps, weight, bias):
        tensor.requires_grad_()
    ours = upsampled_convolution(maps, weight, bias)
    larger = [
        nn.functional.interpolate(one.permute(0, 3, 1, 2), scale_factor=2, mode="bilinear", align_corners=True)
        for one in maps
    ]
    padded = [nn.functional.pad(one, (0, 1, 0, 1)) for one in larger]
    theirs = torch.stack([nn.functional.conv2d(*part) for part in zip(padded, weight, bias, strict=True)])
    theirs = theirs.permute(0, 1, 3, 4, 2)
    torch.testing.assert_close(ours, theirs)
    slope = draw(*ours.shape)
    gradients = [torch.autograd.grad(one, (maps, weight, bias), slope) for one in (ours, theirs)]
    for mine, other in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, other)


def test_rows_of_the_upsampling_matrix_add_up_to_one():
    for side in (2, 5, 32):
        torch.testing.assert_close(upsampling_matrix(side).sum(1), torch.ones(2 * side, dtype=torch.float64))


def test_sizes_are_the_published_ones():
    assert decoders.compositional_decoder().size == 554_950
    assert decoders.rgba_decoder().size == 277_604
    assert decoders.monolithic_decoder().size == 587_779


@pytest.mark.slow
def test_first_weights_foretell_which_seeds_stay_black():
    units = np.random.default_rng(0).random((40, 2, 5))
    latents = sprites.sprite_latents(units).reshape(40, 10)
    shares = [decoders.opaque_at_start(decoders.rgba_decoder(), seed, latents) for seed in range(5)]
    np.testing.assert_allclose(shares, [0.04, 0, 1, 1, 0], atol=0.005)
    model = decoders.rgba_decoder()
    for seed in (1, 2):
        leaves = {name: tensor.requires_grad_() for name, tensor in single(model, seed).items()}
        image = model.forward(leaves, {}, torch.tensor(latents[None, :4], dtype=torch.float32), True)
        slopes = torch.autograd.grad((image - 0.5).square().sum(), list(leaves.values()))
        assert (max(float(slope.abs().max()) for slope in slopes) == 0) == (seed == 1)


def test_seeds_batched_or_alone_learn_the_same():
    units = np.random.default_rng(0).random((24, 2, 5))
    inputs, images = sprites.sprite_latents(units).reshape(24, 10), np.random.default_rng(1).random((24, 3 * 16 * 16))
    model = decoders.compositional_decoder(SMALL)
    train = {"rate": 1e-3, "steps": 4, "batch": 8, "optimiser": AdamW(weight_decay=1e-5), "decay": Cosine(4)}
    # Left to itself, a CPU would train each in a chunk of its own.
    both = Ensemble(model, [0, 7], dtype="float64", chunk=2).train(inputs, images, threads=1, **train)
    alone = Ensemble(model, [7], dtype="float64").train(inputs, images, **train)
    for name, tensor in alone.parameters.items():
        torch.testing.assert_close(both.parameters[name][1:], tensor)


@pytest.mark.parametrize(
    "name",
    ["rgba", *(pytest.param(name, marks=pytest.mark.slow) for name in ("compositional", "monolithic", "additive"))],
)
def test_small_models_learn_blobs(name):
    units = np.random.default_rng(0).random((64, 2, 3))
    from recombine.lab.worlds.rendered import blobs

    images = blobs.render_blobs(units, {"rgba": "rgba", "additive": "add"}.get(name, "soft")).reshape(64, -1)
    trained = Ensemble(decoders.small_decoder(name), [0]).train(
        units.reshape(64, 6), images, rate=4e-3, steps=60, optimiser=AdamW(), record=[0]
    )
    assert trained.loss[0] < 0.35 * trained.history[0, 0]


def test_cosine_equals_torch_and_ends_at_its_floor():
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=10, eta_min=0.01)
    expected = []
    for _ in range(10):
        expected += [scheduler.get_last_lr()[0]] * 3
        optimiser.step()
        scheduler.step()
    found = Cosine(periods=10, every=3, floor=0.01).share(torch.arange(30))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_annealed_steps_shrink_as_the_schedule_says():
    inputs, targets = np.eye(2), np.array([1.0, -1.0])
    from recombine.lab.nets.architectures.mlp import MLP

    ensemble = Ensemble(MLP(2, (8,)), [0], dtype="float64")
    first = ensemble.initial()[0]["weight1"]
    one, two, three = (
        ensemble.train(inputs, targets, rate=0.1, steps=steps, decay=Cosine(2)).parameters["weight1"]
        for steps in (1, 2, 3)
    )
    assert not torch.equal(first, one)
    assert not torch.equal(one, two)
    # After two periods the rate is 0.
    torch.testing.assert_close(two, three, rtol=0, atol=0)


def test_a_floor_under_the_gate_passes_a_gradient_however_far_it_shuts() -> None:
    plain, floored = decoders.ComposedDecoder(SMALL), decoders.ComposedDecoder(SMALL, floor=0.01)
    # Sums of -300: the sigmoid is exactly 0 in float32.
    front, behind = torch.full((1, 2, 3, 4, 4), -100.0), torch.rand(1, 2, 3, 4, 4)
    for model, share in ((plain, 0.0), (floored, 0.01)):
        layer = front.clone().requires_grad_()
        image = model.compose([layer, behind])
        torch.testing.assert_close(image, share * front + (1 - share) * behind)
        image.sum().backward()
        assert layer.grad is not None
        torch.testing.assert_close(layer.grad, torch.full_like(front, share))
    assert plain.own_error
    assert not floored.own_error, "the kernel of this composition knows no floor"
    open_gate = floored.compose([torch.full_like(front, 100.0), behind])
    torch.testing.assert_close(open_gate, torch.full_like(front, 100.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decoders.ComposedDecoder(Decoder(), rule="rgba"), "give at least one slot and 4 channels"),
        (lambda: decoders.ComposedDecoder(Decoder(), rule="sof"), "did you mean 'soft'"),
        (lambda: decoders.ComposedDecoder(Decoder(), floor=1.0), "give one from 0 to below 1"),
        (lambda: decoders.ComposedDecoder(Decoder(), rule="add", floor=0.1), "to 'soft' only"),
        (lambda: decoders.small_decoder("composed"), "models: compositional"),
        (lambda: Decoder(hidden=0), "sizes from 1 up"),
        (lambda: decoders.opaque_at_start(decoders.compositional_decoder(), 0, np.zeros((2, 10))), "has no opacity"),
        (lambda: decoders.opaque_at_start(decoders.rgba_decoder(), 0, np.zeros((2, 9))), "give rows of 10"),
        (lambda: decoders.opaque_at_start(decoders.rgba_decoder(), 0, np.zeros((0, 10))), "give rows of 10"),
        (
            lambda: decoders.opaque_at_start(decoders.rgba_decoder(), 0, [[0.5] * 9 + [np.nan]]),
            r"latents\[0, 9\] is nan",
        ),
        (lambda: decoders.opaque_at_start(decoders.rgba_decoder(), 0, [["a"] * 10]), "latents are not real numbers"),
        (lambda: Cosine(0), "periods and every from 1 up"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_fourier_net_features():
    part = FourierNet(inputs=1, side=2, hidden=4)
    parameters = {name: tensor[None] for name, tensor in part.draw(torch.Generator().manual_seed(0)).items()}
    z = torch.tensor([[[0.3]]], dtype=torch.float64)
    angles = [wave * np.pi * 0.3 for wave in (1, 2, 3)]
    values = torch.tensor([-0.4, *(f(a) for a in angles for f in (np.sin, np.cos))], dtype=torch.float64)
    for number in range(4):
        values = nn.functional.elu(values) if number else values
        values = parameters[f"dense{number}.weight"][0] @ values + parameters[f"dense{number}.bias"][0]
    torch.testing.assert_close(part.layer(parameters, z).flatten(), values)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_replayed_steps_on_a_gpu_learn_what_a_cpu_learns():
    units = np.random.default_rng(0).random((20, 2, 5))
    inputs, images = sprites.sprite_latents(units).reshape(20, 10), np.random.default_rng(1).random((20, 3 * 16 * 16))
    train = {"rate": 1e-3, "steps": 6, "batch": 8, "optimiser": AdamW(weight_decay=1e-5), "decay": Cosine(6)}
    found = [
        Ensemble(decoders.compositional_decoder(SMALL), [0, 7], dtype="float64", device=device).train(
            inputs, images, **train
        )
        for device in ("cpu", "cuda")
    ]
    for name, tensor in found[0].parameters.items():
        torch.testing.assert_close(found[1].parameters[name].cpu(), tensor, rtol=1e-6, atol=1e-8)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_draws_the_same_sprites():
    units = np.random.default_rng(0).random((300, 2, 5))
    drawn = sprites.render_sprites(torch.tensor(units, device="cuda"))
    np.testing.assert_array_equal(drawn.cpu().numpy(), sprites.render_sprites(units))
