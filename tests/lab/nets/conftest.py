"""What tests of networks share: a stand-in for CUDA graphs, so that the bookkeeping around them runs on any machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


class StandIn:
    """A graph that replays a step by calling it."""

    step: Any
    place: Any

    def replay(self) -> None:
        self.step(self.place)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `ReplayedStep` record and replay without a GPU."""
    import torch

    from recombine.lab.nets import replay as graphs

    class Stream:
        def wait_stream(self, other: Any) -> None:
            pass

    @contextlib.contextmanager
    def nothing(_: Any) -> Iterator[None]:
        yield

    record = graphs.ReplayedStep._record

    def recorded(self: graphs.ReplayedStep, rows: torch.Tensor | None) -> Any:
        graph, place = record(self, rows)
        graph.step, graph.place = self.step, place
        return graph, place

    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", nothing)
    monkeypatch.setattr(torch.cuda, "graph", nothing)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", StandIn)
    monkeypatch.setattr(torch.cuda, "get_rng_state", torch.get_rng_state)
    monkeypatch.setattr(torch.cuda, "set_rng_state", torch.set_rng_state)
    monkeypatch.setattr(graphs.ReplayedStep, "_record", recorded)
