"""A training step as a CUDA graph: recorded once, then replayed without the cost of launching its kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

#: Steps taken before recording, so that libraries have chosen their algorithms and allocated their workspaces.
WARM_UP_STEPS = 3


class ReplayedStep:
    """Calls ``step(rows)`` from a recorded graph; one graph for each number of rows.

    Parameters
    ----------
    step : callable
        Works on tensors that stay where they are, and makes the host wait for nothing.
    state : callable
        () -> every tensor that a step changes and that outlives it. Those that the first step creates come last; they
        begin as zeros, as optimisers' memories do.
    """

    def __init__(self, step: Callable[[Tensor | None], None], state: Callable[[], Sequence[Tensor]]) -> None:
        self.step, self.state = step, state
        self.graphs: dict[int, tuple[Any, Tensor | None]] = {}

    def __call__(self, rows: Tensor | None = None) -> None:
        """Do one step, recording it first if this number of rows is new."""
        size = 0 if rows is None else rows.shape[-1]
        if size not in self.graphs:
            self.graphs[size] = self._record(rows)
        graph, buffer = self.graphs[size]
        if buffer is not None and rows is not None:
            buffer.copy_(rows)
        graph.replay()

    def _record(self, rows: Tensor | None) -> tuple[Any, Tensor | None]:
        buffer = None if rows is None else rows.clone()
        before = [tensor.detach().clone() for tensor in self.state()]
        chance = torch.cuda.get_rng_state()  # dropout of the warming up draws from it
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                self.step(buffer)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step(buffer)
        self._go_back(before)
        torch.cuda.set_rng_state(chance)
        return graph, buffer

    @torch.no_grad()
    def _go_back(self, before: Sequence[Tensor]) -> None:
        """Undo the warming up, which trained the networks a little."""
        after = self.state()
        for tensor, old in zip(after, before, strict=False):
            tensor.copy_(old)
        for tensor in after[len(before) :]:
            tensor.zero_()
