"""First principles, small: how often decoders lose a slot, by support, gate, precision and learning rate.

Convolutional decoders of blobs of 12 pixels with hard targets, as the paper's decoders of sprites have. Unlike the
dense ones of the other small experiments they lose slots, at the learning rates used here. A slot is judged by the
error on its pixels over that of the true image without it: 1 where it is not painted at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from recombine.lab.papers.first_principles.experiments.decoders import ALL_SEED, ID_SEED, Condition, Rows
from recombine.lab.papers.first_principles.experiments.supports import support
from recombine.lab.papers.first_principles.experiments.worlds import WORLDS
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.blobs import blob_layers
from recombine.measures.outputs.images import mean_variance

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Tensors
    from recombine.lab.nets.decoders.composed import ComposedDecoder
    from recombine.lab.nets.ensemble.ensemble import Trained

#: Share of the front that a gate with a floor shows at least.
FLOOR_SHARE = 0.01
#: What is recorded of each network at each recorded step, in this order.
LOOKS = ("front", "back", "mse all", "mse id", "gate on front", "gate elsewhere")


def gated_decoder(gate: str) -> ComposedDecoder:
    """Return a small convolutional decoder with a component for each slot.

    Parameters
    ----------
    gate : {"soft", "soft with a floor", "opacity"}
        The paper's; one that never shows less than a hundredth of the front; or a fourth channel through a sigmoid.

    Examples
    --------
    >>> gated_decoder("soft").outputs, gated_decoder("soft with a floor").floor
    (432, 0.01)
    """
    from recombine.lab.nets.decoders.components import Decoder
    from recombine.lab.nets.decoders.composed import ComposedDecoder

    channels = 4 if gate == "opacity" else 3
    component = Decoder(inputs=3, channels=channels, hidden=32, features=16, start=3, doublings=2)
    if gate == "opacity":
        return ComposedDecoder(component, rule="rgba", opacity="sigmoid")
    return ComposedDecoder(component, floor=FLOOR_SHARE if gate == "soft with a floor" else 0.0)


def lost_slots(unit: Unit) -> Rows:
    """Train the unit's decoders and return what each slot gets wrong: one row per seed and recorded step."""
    setting = {"model": unit.setting["gate"], "targets": "rgba", **unit.setting}
    world = replace(WORLDS["blobs"], model=gated_decoder)
    condition = Condition(world, support(setting["support"], world.latents), setting, unit.device)
    # One thread, so that a unit's networks are trained as one chunk wherever it runs.
    trained = condition.train(unit.seeds, record=setting["recorded"], watch=_look(condition), threads=1)
    return _rows(condition, trained, unit.seeds)


def _rows(condition: Condition, trained: Trained, seeds: tuple[int, ...]) -> Rows:
    assert trained.watched is not None
    variances = {which: mean_variance(condition.draw(which)[1]) for which in (ALL_SEED, ID_SEED)}
    about = {name: condition.setting[name] for name in ("scale", "support", "gate", "dtype", "rate", "steps")}
    rows: Rows = []
    for index, seed in enumerate(seeds):
        for number, step in enumerate(condition.setting["recorded"]):
            looks = dict(zip(LOOKS, trained.watched[number, index].tolist(), strict=True))
            scores = {"r2 all": 1 - looks["mse all"] / variances[ALL_SEED]}
            scores |= {"r2 id": 1 - looks["mse id"] / variances[ID_SEED]}
            rows.append({**about, "seed": seed, "step": step, **looks, **scores})
    return rows


def _look(condition: Condition) -> Callable[[Tensors, Tensors, Tensor], Tensor]:
    """Return what says of networks (c,) how each slot stands: (c, numbers of ``LOOKS``)."""
    import torch

    world, model = condition.world, condition.model
    (units, target), (seen_units, seen_target) = condition.draw(ALL_SEED), condition.draw(ID_SEED)
    regions = {name: torch.tensor(mask, device=target.device) for name, mask in world.regions(units).items()}
    inputs, seen_inputs = (torch.tensor(world.inputs(drawn), device=target.device) for drawn in (units, seen_units))
    without = _errors_without(condition)

    def layers(parameters: Tensors, values: Tensor) -> list[Tensor]:
        dtype = next(iter(parameters.values())).dtype
        count = len(next(iter(parameters.values())))
        return list(model.layers(parameters, values.to(dtype).expand(count, -1, -1)).unbind(1))

    @torch.no_grad()
    def look(parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        painted = layers(parameters, inputs)
        errors = (model.compose(painted) - target).square().mean(2)
        seen_errors = (model.compose(layers(parameters, seen_inputs)) - seen_target).square().mean((1, 2, 3, 4))
        slots = [errors[:, regions[name]].mean(1) / without[name] for name in ("front", "back")]
        shown = _shown(model, painted[0])
        gates = [shown[:, mask].mean(1) for mask in (regions["front"], ~regions["front"])]
        return torch.stack([*slots, errors.mean((1, 2, 3)), seen_errors, *gates], 1)

    return look


def _shown(model: ComposedDecoder, front: Tensor) -> Tensor:
    """Return how much of the front (c, B, channels, side, side) is seen at each pixel, (c, B, side, side)."""
    if model.rule == "rgba":
        return model.opacities(front[:, :, 3])
    return model.gate(front)[:, :, 0]


def _errors_without(condition: Condition) -> dict[str, float]:
    """Return the error on each slot's pixels of the true image without that slot.

    On its own pixels only the front is seen, so that without it the back shows; where the back is seen nothing is.
    """
    import torch

    units, target = condition.draw(ALL_SEED)
    alone = torch.tensor(blob_layers(units)[:, 1], dtype=target.dtype, device=target.device)
    errors = {"front": (alone - target).square().mean(1), "back": target.square().mean(1)}
    regions = condition.world.regions(units)
    return {name: float(error[torch.tensor(regions[name])].mean()) for name, error in errors.items()}
