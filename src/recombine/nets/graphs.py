"""A training step as a CUDA graph: recorded once, then replayed without the cost of launching its kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from recombine.nets.steps import Chunk

#: Steps taken before recording, so that libraries have chosen their algorithms and allocated their workspaces.
WARM_UP = 3


class ReplayedStep:
    """Calls ``chunk.step``, from a recorded graph; one graph for each batch size."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.graphs: dict[int, tuple[Any, Tensor | None]] = {}

    def __call__(self, rows: Tensor | None) -> None:
        """Do one step, recording it first if this batch size is new."""
        size = 0 if rows is None else rows.shape[1]
        if size not in self.graphs:
            self.graphs[size] = self._record(rows)
        graph, place = self.graphs[size]
        if place is not None and rows is not None:
            place.copy_(rows)
        graph.replay()

    def _record(self, rows: Tensor | None) -> tuple[Any, Tensor | None]:
        place = None if rows is None else rows.clone()
        before = [tensor.clone() for tensor in self.chunk.state()]
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.chunk.step(place)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.chunk.step(place)
        # Warming up trained the networks a little; they start again from where they were.
        for tensor, old in zip(self.chunk.state(), before, strict=True):
            tensor.copy_(old)
        return graph, place
