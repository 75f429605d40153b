"""Kernel theory: the architectures of image networks by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.errors import InputError, near_miss
from recombine.lab.papers.kernel_theory.experiments.kernels import Setting
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.lab.nets.architecture import Architecture

#: Sizes of each architecture that a setting may change; the paper's are the defaults.
SIZES = {
    "convnet": ("channels", "kernel", "dense", "pools"),
    "resnet": ("widths", "blocks", "pool size"),
    "vit": ("patch", "depth", "heads", "head", "width", "hidden", "dropout"),
}


def architecture_of(setting: Setting, shape: tuple[int, ...]) -> Architecture:
    """Return the setting's architecture for images of ``shape``, with the paper's sizes where none are given."""
    from recombine.lab.nets.architectures.convnet import ConvNet
    from recombine.lab.nets.architectures.resnet import ResNet
    from recombine.lab.nets.architectures.vit import ViT

    name = setting["architecture"]
    kinds_of: dict[str, Any] = {"convnet": ConvNet, "resnet": ResNet, "vit": ViT}
    if name not in kinds_of:
        raise InputError(f"architecture {name!r} is unknown;{near_miss(name, kinds_of, f'Known: {listing(kinds_of)}')}")
    settings_given = {size: setting[size] for size in SIZES[name] if size in setting}
    sizes = {
        size.removesuffix(" size"): tuple(value) if isinstance(value, list) else value
        for size, value in settings_given.items()
    }
    architecture: Architecture = kinds_of[name](shape=shape, **sizes)
    return architecture
