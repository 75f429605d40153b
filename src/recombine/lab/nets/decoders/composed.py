"""Decoders of images from latents that compose one layer per slot, as the generator does, or see all latents at once.

Models of Wiedemer et al. 2023. A compositional model has a component for each slot and the true way to compose; an
RGBa model shares one component among slots; a monolithic model is the same with a single slot that holds all latents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.cells.arrays import as_numbers
from recombine.errors import InputError, near_miss
from recombine.lab.nets.architecture import Architecture, Tensors, stack_networks
from recombine.lab.nets.decoders.components import Component, Decoder, FourierNet
from recombine.writing import listing

#: How layers become an image: soft addition, "over" with opacity, or plain addition.
RULES = ("soft", "rgba", "add")
#: How a linear output becomes an opacity from 0 to 1.
OPACITIES = ("clamp", "sigmoid")


@dataclass(frozen=True)
class ComposedDecoder(Architecture):
    """One component per slot, composed into an image; the first slot is in front.

    Parameters
    ----------
    component : Component
    slots : int
        Each gets its share of the inputs, in order. With one slot nothing is composed.
    rule : {"soft", "rgba", "add"}
    shared : bool
        Whether all slots use the same component.
    gain : float
        Of the sigmoid of soft addition.
    opacity : {"clamp", "sigmoid"}
        Of the fourth channel, for "rgba".
    floor : float
        Share of the front that soft addition shows at least, so that a gradient reaches it however far the gate shuts.

    Examples
    --------
    >>> model = compositional_decoder()
    >>> model.inputs, model.outputs, model.size
    (10, 12288, 554950)
    """

    component: Component
    slots: int = 2
    rule: str = "soft"
    shared: bool = False
    gain: float = 1.0
    opacity: str = "clamp"
    floor: float = 0.0

    exact_inputs = True

    def __post_init__(self) -> None:
        for word, choices, name in ((self.rule, RULES, "rule"), (self.opacity, OPACITIES, "opacity")):
            if word not in choices:
                raise InputError(f"{name} {word!r} is unknown;{near_miss(word, choices, f'Known: {listing(choices)}')}")
        if not 0 <= self.floor < 1 or (self.floor and self.rule != "soft"):
            raise InputError(
                f"floor {self.floor} with the rule {self.rule!r}: give one from 0 to below 1, to 'soft' only"
            )
        needed = 4 if self.rule == "rgba" else 3
        if self.slots < 1 or self.component.channels != needed:
            raise InputError(
                f"{self.slots} slots of {self.component.channels} channels do not fit the rule {self.rule!r}; "
                f"give at least one slot and {needed} channels"
            )

    @property
    def inputs(self) -> int:
        """Latents of all slots."""
        return self.slots * self.component.inputs

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Numbers of an image, channels first."""
        return 3 * self.component.side**2

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(tensor.numel() for tensor in self.initial(0, 1.0).values())

    @property
    def _owned(self) -> int:
        return 1 if self.shared else self.slots

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one component after the other from torch's CPU generator, as building the modules after seeding does."""
        generator = torch.Generator().manual_seed(seed)
        drawn = stack_networks([self.component.draw(generator) for _ in range(self._owned)])
        return {name: scale * tensor for name, tensor in drawn.items()}

    def layers(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Return each slot's layer (c, slots, B, channels, side, side) for inputs (c, B, latents of all slots)."""
        networks, batch = inputs.shape[:2]
        latents = inputs.view(networks, batch, self.slots, -1).transpose(1, 2)
        flat = {name: tensor.flatten(0, 1) for name, tensor in parameters.items()}
        # A shared component sees all slots in one batch.
        drawn = self.component.layer(flat, latents.reshape(networks * self._owned, -1, self.component.inputs))
        return drawn.reshape(networks, self.slots, batch, *drawn.shape[2:])

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map latents (c, B, inputs) to images (c, B, 3 * side * side)."""
        layers = self.layers(parameters, inputs)
        # What is compared with targets is never in short floats.
        layers = layers if layers.dtype is torch.float64 else layers.float()
        return self.compose(list(layers.unbind(1))).flatten(2)

    @property
    def own_error(self) -> bool:  # type: ignore[override]
        """Whether there is a kernel for this composition."""
        return self.slots == 1 or (self.slots == 2 and self.rule != "add" and not self.floor)

    def squared_error(
        self, parameters: Tensors, inputs: Tensor, targets: Tensor, networks: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the errors (c,), the layers, and the slope with respect to them."""
        from recombine.lab.nets.decoders.composition_kernels import composed_error

        rule = "single" if self.slots == 1 else self.opacity if self.rule == "rgba" else self.rule
        layers = self.layers(parameters, inputs)
        error, slope = composed_error(layers.detach(), targets, networks, rows, rule, self.gain)
        return error, layers, slope

    def compose(self, layers: Sequence[Tensor]) -> Tensor:
        """Compose layers (c, B, channels, side, side), the first in front."""
        if self.rule == "rgba":
            return self._over(layers)
        image = layers[0]
        for behind in layers[1:]:
            if self.rule == "add":
                image = image + behind
            else:
                share = self.gate(image)
                image = torch.lerp(behind, image, share.expand_as(image))
        return image

    def gate(self, front: Tensor) -> Tensor:
        """Return the share (..., 1, side, side) of a front (..., channels, side, side) that soft addition shows."""
        share = torch.sigmoid(self.gain * front.sum(-3, keepdim=True))
        return self.floor + (1 - self.floor) * share if self.floor else share

    def _over(self, layers: Sequence[Tensor]) -> Tensor:
        image = torch.zeros_like(layers[0][:, :, :3])
        for layer in reversed(layers):
            image = torch.lerp(image, layer[:, :, :3], self.opacities(layer[:, :, 3:4]).expand_as(image))
        return image

    def opacities(self, values: Tensor) -> Tensor:
        """Return opacities from 0 to 1 of a layer's fourth channel."""
        return values.clamp(0, 1) if self.opacity == "clamp" else torch.sigmoid(values)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers of all slots' passes and of their composition."""
        return self.slots * (self.component.held() + 2 * self.component.channels * self.component.side**2)


def compositional_decoder(component: Component | None = None, slots: int = 2) -> ComposedDecoder:
    """Return a decoder for each slot and soft addition.

    Examples
    --------
    >>> compositional_decoder().rule
    'soft'
    """
    return ComposedDecoder(component or Decoder(), slots)


def rgba_decoder(component: Component | None = None, slots: int = 2, opacity: str = "clamp") -> ComposedDecoder:
    """Return one shared decoder of colours and opacity, composed by "over" on black.

    Examples
    --------
    >>> rgba_decoder().size
    277604
    """
    return ComposedDecoder(component or Decoder(channels=4), slots, "rgba", shared=True, opacity=opacity)


def monolithic_decoder(component: Component | None = None) -> ComposedDecoder:
    """Return one decoder that sees the latents of all slots.

    Examples
    --------
    >>> monolithic_decoder().size
    587779
    """
    return ComposedDecoder(component or Decoder(inputs=10, hidden=320, features=64), slots=1)


def opaque_at_start(model: ComposedDecoder, seed: int, latents: npt.ArrayLike) -> float:
    """Return the share of opacities above 0 in an untrained RGBa model.

    Clamping passes no gradient below 0, so a model that starts with none stays black for good: whether a seed will
    collapse is known before training.

    Parameters
    ----------
    model : ComposedDecoder
        With the rule "rgba".
    seed : int
    latents : array, shape (N, inputs)
        What the model is fed, as in training.

    Examples
    --------
    >>> from recombine.lab.worlds.rendered import sprite_latents
    >>> units = np.random.default_rng(0).random((50, 2, 5))
    >>> [round(opaque_at_start(rgba_decoder(), seed, sprite_latents(units).reshape(50, 10)), 1) for seed in (1, 2)]
    [0.0, 1.0]
    """
    if model.rule != "rgba":
        raise InputError(f"a model with the rule {model.rule!r} has no opacity; give one with the rule 'rgba'")
    numbers = as_numbers(latents, "latents")
    if numbers.ndim != 2 or numbers.shape[1] != model.inputs or not len(numbers):
        raise InputError(f"latents have shape {numbers.shape}; give rows of {model.inputs}")
    if not np.isfinite(numbers).all():
        row, column = np.argwhere(~np.isfinite(numbers))[0]
        raise InputError(f"latents[{row}, {column}] is {numbers[row, column]}; give finite numbers")
    inputs = torch.tensor(numbers, dtype=torch.float32).unsqueeze(0)
    parameters = {name: tensor.float() for name, tensor in stack_networks([model.initial(seed, 1.0)]).items()}
    with torch.no_grad():
        opacity = model.opacities(model.layers(parameters, inputs)[:, :, :, 3])
    return float((opacity > 0).float().mean())


def small_decoder(model: str, side: int = 12) -> ComposedDecoder:
    """Return a small model for images of 12 x 12 pixels and three latents per slot, to be trained on a CPU.

    Parameters
    ----------
    model : {"compositional", "monolithic", "rgba", "additive"}
    side : int

    Examples
    --------
    >>> small_decoder("compositional").size, small_decoder("monolithic").size
    (125280, 127952)
    """
    component = FourierNet(side=side)
    models = {
        "compositional": ComposedDecoder(component, gain=3.0),
        "additive": ComposedDecoder(component, rule="add"),
        "monolithic": ComposedDecoder(replace(component, inputs=6, hidden=160), slots=1),
        "rgba": ComposedDecoder(replace(component, channels=4), rule="rgba", opacity="sigmoid"),
    }
    if model not in models:
        raise InputError(f"model {model!r} is unknown;{near_miss(model, models, f'Models: {listing(models)}')}")
    return models[model]
