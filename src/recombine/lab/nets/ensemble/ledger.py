"""What a training leaves behind: the book that is kept while networks train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.checkpoints import State
from recombine.lab.nets.ensemble.steps import Chunk

#: What is counted for each network.
COUNTS = ("loss", "steps", "stopped", "diverged")


@dataclass(eq=False)
class Ledger:
    """What training leaves behind, for all E networks; chunks write their own columns."""

    history: Tensor
    loss: Tensor
    steps: Tensor
    stopped: Tensor
    diverged: Tensor
    parameters: Tensors
    statistics: Tensors
    watched: list[list[tuple[Tensor, Tensor]]] = field(default_factory=list)

    @classmethod
    def empty(cls, parameters: Tensors, statistics: Tensors, records: int, dtype: torch.dtype) -> Ledger:
        """Return a ledger for networks that start from these stacked parameters."""
        stacked = next(iter(parameters.values()))
        networks, device = len(stacked), stacked.device
        no = torch.zeros(networks, dtype=torch.bool, device=device)
        unknown = torch.full((records + 1, networks), torch.nan, dtype=dtype, device=device)
        counts = torch.zeros(networks, dtype=torch.int64, device=device)
        watched: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(records)]
        return cls(unknown[:-1], unknown[-1].clone(), counts, no, no.clone(), parameters, statistics, watched)

    def collect(self, chunk: Chunk) -> None:
        """Copy a chunk's present state into the ledger."""
        progress = chunk.progress
        networks = progress.networks
        self.loss[networks] = progress.latest
        self.steps[networks] = progress.taken
        self.stopped[networks] = progress.stopped
        self.diverged[networks] = progress.diverged
        for mine, theirs in ((self.parameters, chunk.parameters()), (self.statistics, chunk.statistics())):
            for name, tensor in theirs.items():
                mine[name][networks] = tensor.to(mine[name].dtype)

    def saved(self, group: Tensor, training: Tensor) -> State:
        """Return what is known of the networks ``group``; those still in ``training`` keep parameters elsewhere."""
        ended = group[~torch.isin(group, training)]
        state: dict[str, Any] = {"history": self.history[:, group], "ended": ended}
        state |= {name: getattr(self, name)[group] for name in COUNTS}
        state |= {f"parameters/{name}": tensor[ended] for name, tensor in self.parameters.items()}
        state |= {f"statistics/{name}": tensor[ended] for name, tensor in self.statistics.items()}
        for row, pieces in enumerate(self.watched):
            mine = [piece for piece in pieces if bool(torch.isin(piece[0], group).all())]
            for number, (networks, outputs) in enumerate(mine):
                state |= {f"watched/{row}/{number}/networks": networks, f"watched/{row}/{number}/outputs": outputs}
        return state

    def restore(self, group: Tensor, state: Mapping[str, Any]) -> None:
        """Take back what `saved` returned for the same networks."""
        device = group.device
        tensors = {name: torch.from_numpy(value).to(device) for name, value in state.items() if hasattr(value, "dtype")}
        self.history[:, group] = tensors["history"]
        for name in COUNTS:
            getattr(self, name)[group] = tensors[name]
        for kind, mine in (("parameters", self.parameters), ("statistics", self.statistics)):
            for name, tensor in mine.items():
                tensor[tensors["ended"]] = tensors[f"{kind}/{name}"]
        for name, networks in tensors.items():
            kind, _, path = name.partition("/")
            if kind == "watched" and path.endswith("/networks"):
                row = int(path.partition("/")[0])
                self.watched[row].append((networks, tensors[name.removesuffix("networks") + "outputs"]))
