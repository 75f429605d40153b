"""What a sweep did: how many units ran, were found, failed or are left."""

from __future__ import annotations

from dataclasses import dataclass, field

from recombine.lab.runs.experiment import Unit
from recombine.lab.runs.progress import duration


@dataclass(frozen=True)
class Failure:
    """A unit that was given up.

    Parameters
    ----------
    unit : Unit
    error : str
        One line.
    details : str
        The traceback, where there is one.
    attempts : int
    """

    unit: Unit
    error: str
    details: str = field(repr=False)
    attempts: int

    def __str__(self) -> str:
        return f"{self.unit.setting}: {self.error} (attempts: {self.attempts})"


@dataclass(frozen=True)
class Sweep:
    """What a call of `run` did.

    Parameters
    ----------
    experiment : str
    scale : str
    total : int
        Units of the scale.
    ran : int
        Units finished by this call.
    found : int
        Units that were finished before, or by another driver meanwhile.
    failures : tuple of Failure
    seconds : float
    paused : int
        Units that were in training when the time was up; another call goes on with them.
    """

    experiment: str
    scale: str
    total: int
    ran: int
    found: int
    failures: tuple[Failure, ...]
    seconds: float
    paused: int = 0

    @property
    def left(self) -> int:
        """Units that are not finished because the time was up."""
        return self.total - self.ran - self.found - len(self.failures)

    @property
    def complete(self) -> bool:
        """Whether every unit is finished."""
        return self.ran + self.found == self.total

    def __repr__(self) -> str:
        counts = f"{self.ran} run, {self.found} found, {len(self.failures)} failed, {self.left} left"
        return f"Sweep({self.experiment!r}, {self.scale}: {counts})"

    def __str__(self) -> str:
        head = f"{self.experiment} ({self.scale}): {self.ran} of {self.total} units run in {duration(self.seconds)}"
        head += f", {self.found} found" if self.found else ""
        head += f", {self.paused} part way" if self.paused else ""
        return "\n".join([head, *(f"failed: {failure}" for failure in self.failures)])
