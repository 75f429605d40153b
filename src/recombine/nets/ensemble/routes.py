"""Which computation trains a chunk: weights on the chip, the hand-written step, or autograd."""

from __future__ import annotations

from recombine.errors import InputError
from recombine.nets.architecture import select_networks
from recombine.nets.ensemble.ledger import Ledger
from recombine.nets.ensemble.loop import TrainingPlan
from recombine.nets.ensemble.on_chip import OnChipChunk, why_not_on_chip
from recombine.nets.ensemble.one_hidden import OneHiddenChunk, fits_one_hidden
from recombine.nets.ensemble.steps import AutogradChunk, Chunk, ChunkSetting, TrainingState


def chunk_on_route(
    setting: ChunkSetting, progress: TrainingState, ledger: Ledger, plan: TrainingPlan, on_chip: bool | None
) -> Chunk:
    """Return the chunk that trains the networks of ``progress``: on the fastest route that fits, or on the chip."""
    parameters = select_networks(ledger.parameters, progress.networks)
    by_hand = fits_one_hidden(setting, plan.batch is not None, ledger.loss.dtype)
    reason = "it takes one hidden layer, one output, shared inputs and full batches"
    if by_hand:
        reason = "on_chip is off" if on_chip is False else why_not_on_chip(setting, len(progress.networks)) or ""
    if not reason:
        return OnChipChunk(setting, progress, parameters)
    if on_chip:
        raise InputError(f"on_chip does not fit this training: {reason}; leave it out for the next fastest route")
    if by_hand:
        return OneHiddenChunk(setting, progress, parameters)
    return AutogradChunk(setting, progress, parameters, select_networks(ledger.statistics, progress.networks))
