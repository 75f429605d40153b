"""First principles: decoders trained alone against the same decoders trained in a batch, step by step and at the end.

A network that loses a slot does so by chance: rounding decides, once training has amplified it. Whether the batch has a
part in it is asked twice. Step by step, a training in a batch may drift from the one alone no further than one whose
first weights are rounded otherwise. And at the end as many networks must be lost alone as in batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.lab.papers.first_principles.experiments.decoders import Condition, Rows, decoder_scores
from recombine.lab.runs.experiment import Unit

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Tensors

#: First weights times this are rounded otherwise: one unit in the last place of float32 above 1.
SCALE_ABOVE_ONE = 1 + 2.0**-23


def route_scores(unit: Unit) -> Rows:
    """Train a unit's networks, one alone or several in a batch, and return what became of each: one row per seed.

    Networks of a unit that has one seed were trained alone; ``networks`` says how many shared the batch.
    """
    return [{"networks": len(unit.seeds), **row} for row in decoder_scores(unit)]


def route_steps(unit: Unit) -> Rows:
    """Train one seed alone, rounded otherwise, and in three places of a batch; return how far these are from alone.

    One row for each of the recorded steps and each other training: the difference of all weights as a share of the way
    from the first weights, the tensor that differs most and by how much of its own way, and the difference of losses.
    """
    import torch

    condition, (seed, mate, other_mate) = Condition.of(unit), unit.seeds
    steps = [0, *unit.setting["recorded"]]
    orders = {
        "rounded otherwise": [seed],
        **{"first of three": [seed, mate, other_mate], "middle of three": [mate, seed, other_mate]},
        **{"last of three": [mate, other_mate, seed]},
    }

    def course(seeds: list[int], scale: float) -> tuple[Tensor, Tensor]:
        """Return the weights (steps, P) of the network, and its losses (steps,)."""

        def look(parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
            return torch.cat([values.flatten(1) for values in parameters.values()], dim=1)

        # One thread: a CPU with several would train the networks of a batch apart.
        trained, position = condition.train(tuple(seeds), scale, record=steps, watch=look, threads=1), seeds.index(seed)
        assert trained.watched is not None
        return trained.watched[:, position].double(), trained.history[:, position].double()

    alone, losses = course([seed], 1.0)
    sizes = {name: values.numel() for name, values in condition.model.initial(seed, 1.0).items()}
    rows: Rows = []
    for name, seeds in orders.items():
        weights, others = course(seeds, SCALE_ABOVE_ONE if len(seeds) == 1 else 1.0)
        for number, step in enumerate(steps[1:], start=1):
            way, apart = alone[number] - alone[0], weights[number] - alone[number]
            rows.append(
                {name: unit.setting[name] for name in ("scale", "support", "dtype")}
                | {"seed": seed, "step": step, "training": name, "weights apart": float(apart.norm() / way.norm())}
                | _widest(way, apart, sizes)
                | {"loss apart": float((others[number] - losses[number]).abs() / losses[number])}
            )
    return rows


def _widest(way: Tensor, apart: Tensor, sizes: dict[str, int]) -> dict[str, Any]:
    """Name the tensor that is furthest away relative to its own way."""
    import torch

    parts = zip(sizes, *(torch.split(values, list(sizes.values())) for values in (way, apart)), strict=True)
    shares = {name: float(far.norm() / gone.norm()) for name, gone, far in parts if float(gone.norm()) > 0}
    name = max(shares, key=lambda each: shares[each])
    return {"widest tensor": name, "widest apart": shares[name]}
