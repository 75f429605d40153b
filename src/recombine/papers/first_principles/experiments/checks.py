"""First principles: checks that need no training, of the renderer, the targets, the decoder and its first weights."""

from __future__ import annotations

import colorsys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.measures.outputs.images import mean_squared_error, mean_variance
from recombine.papers.first_principles.experiments.supports import support
from recombine.runs.experiment import Unit
from recombine.worlds.rendered import sprites

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.nets.architecture import Tensors
    from recombine.nets.decoders.composed import ComposedDecoder

Rows = list[dict[str, Any]]


def targets(unit: Unit) -> Rows:
    """Mean variance of images of a support by either rule, and the score of a black image: one row per rule."""
    name, rows = unit.setting["support"], []
    units = support(name).sample(unit.setting["images"], 0)
    for rule in ("hard", "soft"):
        images = sprites.render_sprites(units, rule).astype(np.float32) / (255 if rule == "hard" else 1)
        scores = {"variance": mean_variance(images), "black mse": mean_squared_error(0 * images, images)}
        rows.append({"support": name, "targets": rule, **scores})
    return rows


def renderer(unit: Unit) -> Rows:
    """Count the images that differ from Pillow's polygons, drawn one by one as the authors' renderer does."""
    units = np.random.default_rng(unit.seeds[0]).random((unit.setting["images"], 2, 5))
    start = time.perf_counter()
    ours = sprites.render_sprites(units)
    middle = time.perf_counter()
    theirs = np.stack([_polygons(unit) for unit in units])
    end = time.perf_counter()
    differ = int((ours != theirs).any((1, 2, 3)).sum())
    return [{"images": len(units), "differ": differ, "seconds": middle - start, "one by one": end - middle}]


def _polygons(units: FloatArray) -> npt.NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    canvas = Image.new("RGB", (sprites.SIDE, sprites.SIDE))
    for x, y, shape, scale, hue in sprites.sprite_latents(units)[::-1]:
        corners, start = list(sprites.SHAPES.values())[int(shape)]
        angles = np.deg2rad(start) + 2 * np.pi * np.arange(corners) / corners
        outline = scale * sprites.polygon_radius(corners) * np.stack([np.cos(angles), np.sin(angles)], 1)
        points = [(float(across), float(up)) for across, up in sprites.SIDE * (outline + np.array([x, y]))]
        red, green, blue = (int(255 * part) for part in colorsys.hsv_to_rgb(hue, 1, 1))
        ImageDraw.Draw(canvas).polygon(points, fill=(red, green, blue))
    return np.flipud(np.array(canvas)).transpose(2, 0, 1)


def collapse(unit: Unit) -> Rows:
    """Opacity of untrained RGBa models and size of their first gradient, clamped or not: one row per seed and kind."""
    import torch

    from recombine.nets.decoders.composed import opaque_at_start, rgba_decoder

    units = support("orthogonal").sample(unit.setting["images"], 0)
    inputs = sprites.sprite_latents(units).reshape(len(units), -1)
    target = torch.tensor(sprites.render_sprites(units), dtype=torch.float32).flatten(1) / 255
    rows = []
    for seed in unit.seeds:
        for opacity in ("clamp", "sigmoid"):
            model = rgba_decoder(opacity=opacity)
            slope = _first_gradient(model, _stacked(model, [seed]), torch.tensor(inputs, dtype=torch.float32), target)
            start = opaque_at_start(model, seed, inputs)
            rows.append({"seed": seed, "opacity": opacity, "gradient": slope, "opaque": start})
    return rows


def _stacked(model: ComposedDecoder, seeds: Sequence[int]) -> Tensors:
    """Return first weights of some seeds in float32."""
    from recombine.nets.architecture import stack_networks

    networks = stack_networks([model.initial(seed, 1.0) for seed in seeds])
    return {name: tensor.float() for name, tensor in networks.items()}


def _first_gradient(model: ComposedDecoder, parameters: Tensors, inputs: Tensor, target: Tensor) -> float:
    """Return the norm of the gradient of the squared error before the first step."""
    import torch

    leaves = {name: tensor.requires_grad_() for name, tensor in parameters.items()}
    loss = (model.forward(leaves, {}, inputs.unsqueeze(0), True)[0] - target).square().mean()
    slopes = torch.autograd.grad(loss, list(leaves.values()))
    return float(torch.cat([slope.flatten() for slope in slopes]).norm())


def outputs(unit: Unit) -> Rows:
    """Return the largest difference between outputs of our decoder and of torch's layers, one row per seed.

    The compositional model with the same weights in float32; the published layers upsample with a built-in function.
    """
    import torch

    model, built_in = _decoders()
    images, rows = unit.setting["images"], []
    inputs = torch.rand(1, images, model.inputs, generator=torch.Generator().manual_seed(0))
    for seed in unit.seeds:
        one = _stacked(model, [seed])
        with torch.no_grad():
            ours, theirs = (kind.forward(one, {}, inputs, True) for kind in (model, built_in))
        difference, size = float((ours - theirs).abs().max()), float(theirs.abs().max())
        rows.append({"seed": seed, "images": images, "difference": difference, "largest": size})
    return rows


def _decoders() -> tuple[ComposedDecoder, ComposedDecoder]:
    """Return the compositional model with our layers, and with torch's."""
    from recombine.nets.decoders.components import InterpolatedDecoder
    from recombine.nets.decoders.composed import compositional_decoder

    return compositional_decoder(), compositional_decoder(InterpolatedDecoder())


def upsampling(unit: Unit) -> Rows:
    """Time a forward and backward pass of our decoder and of torch's layers, on the unit's device.

    The compositional model of one seed with either, and ours with all seeds of the unit at once.
    """
    import torch

    from recombine.nets.architecture import select_networks

    (model, built_in), setting, count = _decoders(), unit.setting, len(unit.seeds)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(1, setting["batch"], model.inputs, generator=generator).to(unit.device)
    dtype = getattr(torch, setting["dtype"])
    every = {name: tensor.to(unit.device, dtype) for name, tensor in _stacked(model, unit.seeds).items()}
    alone = select_networks(every, slice(0, 1))

    def seconds(kind: ComposedDecoder, parameters: Tensors, inputs: Tensor) -> float:
        """Time a pass: the mean of the second round of two."""
        leaves = [tensor.requires_grad_() for tensor in parameters.values()]
        for _ in range(2):
            start = _now(unit.device)
            for _ in range(setting["repeats"]):
                torch.autograd.grad(kind.forward(parameters, {}, inputs, True).square().mean(), leaves)
            end = _now(unit.device)
        return (end - start) / float(setting["repeats"])

    ours, theirs = seconds(model, alone, inputs), seconds(built_in, alone, inputs)
    together = seconds(model, every, inputs.expand(count, -1, -1))
    return [
        {"device": unit.device.partition(":")[0], "batch": setting["batch"], "ours": ours, "built in": theirs}
        | {"batched": together, "ratio": theirs / ours, "networks": count, "batched ratio": count * ours / together}
    ]


def _now(device: str) -> float:
    """Return the time when all work on the device is done."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()
