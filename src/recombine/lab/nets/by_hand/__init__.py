"""Networks with slopes worked out by hand: diagonal, gated, and small ones in the plane (NumPy alone)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.by_hand.diagonal import MultiTask as MultiTask
    from recombine.lab.nets.by_hand.diagonal import Schedule as Schedule
    from recombine.lab.nets.by_hand.diagonal import SingleTask as SingleTask
    from recombine.lab.nets.by_hand.diagonal import multi_task as multi_task
    from recombine.lab.nets.by_hand.diagonal import reduce_weights as reduce_weights
    from recombine.lab.nets.by_hand.diagonal import single_task as single_task
    from recombine.lab.nets.by_hand.diagonal_training import TrainedDiagonal as TrainedDiagonal
    from recombine.lab.nets.by_hand.diagonal_training import train_diagonal as train_diagonal
    from recombine.lab.nets.by_hand.gated import GatedNetworks as GatedNetworks
    from recombine.lab.nets.by_hand.gated_training import schedule_of as schedule_of
    from recombine.lab.nets.by_hand.gated_training import train_gated as train_gated
    from recombine.lab.nets.by_hand.playground import Playground as Playground
    from recombine.lab.nets.by_hand.playground import train_playground as train_playground

lazy_package(__name__)
