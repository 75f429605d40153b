"""Networks that are trained: many at once, by hand where that is faster, or plain torch modules. Most need torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets import architectures as architectures
    from recombine.lab.nets import by_hand as by_hand
    from recombine.lab.nets import decoders as decoders
    from recombine.lab.nets import ensemble as ensemble
    from recombine.lab.nets import layers as layers
    from recombine.lab.nets import plain as plain
    from recombine.lab.nets.architecture import Architecture as Architecture
    from recombine.lab.nets.architecture import select_networks as select_networks
    from recombine.lab.nets.architecture import stack_networks as stack_networks
    from recombine.lab.nets.checkpoints import TrainingPausedError as TrainingPausedError
    from recombine.lab.nets.checkpoints import keep_checkpoints as keep_checkpoints
    from recombine.lab.nets.checkpoints import next_checkpoint as next_checkpoint
    from recombine.lab.nets.losses import Loss as Loss
    from recombine.lab.nets.losses import loss_named as loss_named

lazy_package(__name__)
