"""First principles: checks that need no training, of the targets and of the first weights of decoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.first_principles.experiments.supports import support
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered import sprites
from recombine.measures.outputs.images import mean_squared_error, mean_variance

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Tensors
    from recombine.lab.nets.decoders.composed import ComposedDecoder

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


def collapse(unit: Unit) -> Rows:
    """Opacity of untrained RGBa models and size of their first gradient, clamped or not: one row per seed and kind."""
    import torch

    from recombine.lab.nets.decoders.composed import opaque_at_start, rgba_decoder

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
    from recombine.lab.nets.architecture import stack_networks

    networks = stack_networks([model.initial(seed, 1.0) for seed in seeds])
    return {name: tensor.float() for name, tensor in networks.items()}


def _first_gradient(model: ComposedDecoder, parameters: Tensors, inputs: Tensor, target: Tensor) -> float:
    """Return the norm of the gradient of the squared error before the first step."""
    import torch

    leaves = {name: tensor.requires_grad_() for name, tensor in parameters.items()}
    loss = (model.forward(leaves, {}, inputs.unsqueeze(0), True)[0] - target).square().mean()
    slopes = torch.autograd.grad(loss, list(leaves.values()))
    return float(torch.cat([slope.flatten() for slope in slopes]).norm())
