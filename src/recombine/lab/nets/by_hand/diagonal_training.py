"""The loop around the steps of diagonal networks: looks at the losses, new starts of what diverged, compaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.cells.brief import brief_repr
from recombine.errors import SolverError
from recombine.lab.nets.by_hand.diagonal import DiagonalNetworks, Schedule
from recombine.lab.nets.checkpoints import State, next_checkpoint
from recombine.lab.nets.replay import ReplayedStep

#: Steps between two looks at the losses, as in the paper; the loss at which a run counts as diverged.
STEPS_BETWEEN_LOOKS, DIVERGED_LOSS = 50, 100.0
#: New starts end when the rate is less than this share of the first.
SLOWEST_RATE_SHARE = 1e-8
#: What is known of all networks, and which are still here.
BOOK = ("rate", "begun", "taken", "loss", "test", "best", "beta", "places", "active")
#: Columns are dropped when no more than this share of them is still training.
COMPACT_AT_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class TrainedDiagonal:
    """E networks and how they got there.

    Attributes
    ----------
    beta : ndarray (D, E)
        Coefficients of the main task at the end.
    loss, test : ndarray (E,)
        Training loss and test loss ``|beta - teacher|^2`` at the end.
    best : ndarray (E,)
        Least test loss at any look, the untrained network's included: what stopping at the right time would give.
    steps : ndarray of int (E,)
        Updates since the last start.
    stopped : ndarray of bool (E,)
        Whether the training loss fell below the threshold.
    rate : ndarray (E,)
        The learning rate in the end.
    """

    beta: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    test: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    steps: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]
    rate: npt.NDArray[np.float64]

    __repr__ = brief_repr


def train_diagonal(columns: DiagonalNetworks, schedule: Schedule) -> TrainedDiagonal:
    """Train networks until each has reached its stop or its last step.

    Examples
    --------
    >>> from recombine.lab.nets.by_hand import reduce_weights, single_task
    >>> X, teacher = np.array([[1.0, 2.0, 2.0]]), [[1.0], [1.0], [0.0]]
    >>> start = reduce_weights(*[np.full((3, 1), 3.0)] * 4)
    >>> found = train_diagonal(single_task(X, teacher, start), Schedule(rate=0.001))
    >>> found.beta[:, 0].round(2), bool(found.stopped[0])
    (array([0.33, 0.67, 0.67]), True)
    """
    with torch.no_grad():
        run = _Run(columns, schedule)
        checkpoint = next_checkpoint("diagonal", schedule=schedule, columns=columns.state)
        run.restore(checkpoint.load())
        while run.going():
            checkpoint.offer(run.number, run.saved)
            run.advance()
        checkpoint.finish(run.number, run.saved)
        return run.result()


class _Run:
    """Networks in training and the book of all of them; ``places`` says which columns are still here."""

    def __init__(self, columns: DiagonalNetworks, schedule: Schedule) -> None:
        self.columns, self.schedule, self.number = columns, schedule, 0
        teacher = columns.state["teacher"]
        count, device = teacher.shape[1], teacher.device
        self.first = {name: columns.state[name].clone() for name in columns.weights}
        self.rate = torch.full((count,), schedule.rate, dtype=teacher.dtype, device=device)
        self.begun, self.taken = (torch.zeros(count, dtype=torch.int64, device=device) for _ in range(2))
        self.loss, self.test = (torch.full_like(self.rate, torch.inf) for _ in range(2))
        self.untrained = columns.test()
        self.best = self.untrained.clone()
        self.beta = torch.zeros_like(teacher)
        self.places = torch.arange(count, device=device)
        self.active = torch.ones(count, dtype=torch.bool, device=device)
        self.block = _Block(columns, self.rate.clone())

    def going(self) -> bool:
        return bool(self.active.any())

    def advance(self) -> None:
        """Take some steps, then look: note losses, begin again what diverged, drop what is done."""
        self.block()
        self.number += STEPS_BETWEEN_LOOKS
        wild = self._note()
        if bool(wild.any()):
            self._begin_again(wild)
        done = (self.loss[self.places] < self.schedule.stop) | (self.taken[self.places] >= self.schedule.steps)
        self.active &= wild | ~done
        self.block.pace.copy_(self.rate[self.places] * self.active)
        if 0 < int(self.active.sum()) <= COMPACT_AT_SHARE * len(self.active):
            self.columns = self.columns.select(self.active)
            self.places = self.places[self.active]
            self.active = self.active[self.active]
            self.block = _Block(self.columns, self.rate[self.places])

    def saved(self) -> State:
        """Return where every network stands, and the weights of those still here."""
        state: dict[str, Any] = {"number": self.number, "pace": self.block.pace}
        state |= {name: getattr(self, name) for name in BOOK}
        return state | {f"state/{name}": tensor for name, tensor in self.columns.state.items()}

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Take back what `saved` returned, where there is something."""
        if state is None:
            return
        tensors = {
            name: torch.from_numpy(value).to(self.rate.device) for name, value in state.items() if name != "number"
        }
        present = torch.isin(self.places, tensors["places"])
        self.number = int(state["number"])
        for name in BOOK:
            setattr(self, name, tensors[name])
        self.columns = self.columns.select(present)
        for name, tensor in self.columns.state.items():
            tensor.copy_(tensors[f"state/{name}"])
        self.block = _Block(self.columns, tensors["pace"])

    def _note(self) -> Tensor:
        """Write down where active networks stand; return which have diverged."""
        loss, test = self.columns.loss(), self.columns.test()
        networks = self.places[self.active]
        self.loss[networks], self.test[networks] = loss[self.active], test[self.active]
        seen = torch.nan_to_num(test[self.active], nan=torch.inf)
        self.best[networks] = torch.minimum(self.best[networks], seen)
        self.taken[networks] = self.number - self.begun[networks]
        self.beta[:, networks] = self.columns.beta[:, self.active]
        return self.active & ~(loss <= DIVERGED_LOSS)

    def _begin_again(self, wild: Tensor) -> None:
        again = self.places[wild]
        self.rate[again] /= 10
        slowest = float(self.rate[again].min())
        if slowest < SLOWEST_RATE_SHARE * self.schedule.rate:
            raise SolverError(
                f"{len(again)} of {len(self.rate)} networks still have a loss above {DIVERGED_LOSS:g} at a rate of "
                f"{slowest * 10:.0e}; scale teachers down, and start from weights that are not 0"
            )
        self.begun[again], self.best[again] = self.number, self.untrained[again]
        for name in self.columns.weights:
            self.columns.state[name][..., wild] = self.first[name][..., again]

    def result(self) -> TrainedDiagonal:
        loss, test, best, rate = (item.double().cpu().numpy() for item in (self.loss, self.test, self.best, self.rate))
        stopped = loss < self.schedule.stop
        return TrainedDiagonal(
            self.beta.double().cpu().numpy(), loss, test, best, self.taken.cpu().numpy(), stopped, rate
        )


class _Block:
    """The steps between two looks; on a GPU they are recorded once and replayed as one graph."""

    def __init__(self, columns: DiagonalNetworks, pace: Tensor) -> None:
        self.columns, self.pace = columns, pace
        self.steps = ReplayedStep(self._steps, self._weights) if pace.is_cuda else self._steps

    def __call__(self) -> None:
        self.steps(None)

    def _steps(self, rows: Tensor | None) -> None:
        for _ in range(STEPS_BETWEEN_LOOKS):
            self.columns.step(self.pace)

    def _weights(self) -> list[Tensor]:
        return [self.columns.state[name] for name in self.columns.weights]
