"""Plain torch modules: training, rescaling, finetuning, and activations of single networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.plain.activations import batch_statistics as batch_statistics
    from recombine.lab.nets.plain.activations import layer_activations as layer_activations
    from recombine.lab.nets.plain.finetuning import Finetuned as Finetuned
    from recombine.lab.nets.plain.finetuning import recalibrate as recalibrate
    from recombine.lab.nets.plain.finetuning import rescale as rescale
    from recombine.lab.nets.plain.finetuning import rescale_and_finetune as rescale_and_finetune
    from recombine.lab.nets.plain.finetuning import reset as reset
    from recombine.lab.nets.plain.image_models import ResNet18 as ResNet18
    from recombine.lab.nets.plain.image_models import SmallViT as SmallViT
    from recombine.lab.nets.plain.training import Recipe as Recipe
    from recombine.lab.nets.plain.training import Training as Training
    from recombine.lab.nets.plain.training import train as train
    from recombine.lab.nets.plain.training import train_in_turns as train_in_turns

lazy_package(__name__)
