"""What a paper says, as something that can fail: a claim reads one experiment and hands back an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from string import ascii_lowercase
from typing import TYPE_CHECKING

from recombine.errors import InputError, RecombineError
from recombine.tables.table import Table

if TYPE_CHECKING:
    from recombine.papers.results import Evidence

Check = Callable[[Table], "Outcome"]


class Standing(StrEnum):
    """Where a claim stands after its check.

    Examples
    --------
    >>> Standing.HOLDS, Standing("not run").symbol
    (<Standing.HOLDS: 'holds'>, '○')
    """

    HOLDS = "holds"
    FAILS = "fails"
    CONTRADICTS = "contradicts"
    NOT_RUN = "not run"

    @property
    def symbol(self) -> str:
        """A mark that reads without colour."""
        return {"holds": "✓", "fails": "✗", "contradicts": "≠", "not run": "○"}[self.value]

    @property
    def meaning(self) -> str:
        """The word in a sentence."""
        return {
            "holds": "what we measured agrees with the statement, within the tolerance it names",
            "fails": "what we measured misses the claim's tolerance, and we cannot say that the statement is wrong",
            "contradicts": "our measurement is solid and differs from the published statement; the text says how",
            "not run": "nothing that was run decides it",
        }[self.value]


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Parameters
    ----------
    value : str
        The measured number or numbers, in the words of the claim's ``expected``.
    verdict : Standing
    detail : str
        How it was measured and what stands out; for a contradiction, the numbers on both sides and how sure we are.
    scale : str
        Scale of the experiment that was read, and how much of its grid was run if not all; empty when none was.

    Examples
    --------
    >>> Outcome.of("0.743", 0.743 > 0.7, "one kernel").verdict
    <Standing.HOLDS: 'holds'>
    """

    value: str
    verdict: Standing
    detail: str = ""
    scale: str = ""

    @classmethod
    def of(cls, value: str, holds: bool, detail: str = "") -> Outcome:
        """Return ``holds`` or ``fails``."""
        return cls(value, Standing.HOLDS if holds else Standing.FAILS, detail)

    @classmethod
    def contradicting(cls, value: str, detail: str) -> Outcome:
        """Return a solid measurement that differs from what was published."""
        return cls(value, Standing.CONTRADICTS, detail)

    @classmethod
    def not_run(cls, detail: str) -> Outcome:
        """Return the outcome of a claim whose experiment has no results."""
        return cls("-", Standing.NOT_RUN, detail)


@dataclass(frozen=True)
class Claim:
    """One falsifiable statement.

    Parameters
    ----------
    id : str
        Paper and number: ``"kernel-theory/4"``.
    statement : str
        What is claimed, in one sentence a newcomer understands.
    source : str
        Where it is said: theorem, figure, or "ours".
    expected : str
        What the measurement should give.
    tolerance : str
        How far off it may be.
    experiment : str
        Name of the experiment whose rows the check reads.
    check : callable
        Takes the rows as a `Table` and returns an `Outcome`.

    Examples
    --------
    >>> def positive(rows):
    ...     return Outcome.of(f"{rows['margin'].min():.2f}", bool(rows["margin"].min() > 0))
    >>> claim = Claim("demo/1", "margins are positive", "ours", "> 0", "none", "margins", positive)
    >>> claim.read(Table({"margin": [0.2, 0.5]})).value
    '0.20'
    >>> claim.judge({}).verdict
    <Standing.NOT_RUN: 'not run'>
    """

    id: str
    statement: str
    source: str
    expected: str
    tolerance: str
    experiment: str
    check: Check

    @property
    def number(self) -> str:
        """The part of the id after the paper's name."""
        return self.id.rpartition("/")[2]

    @property
    def place(self) -> tuple[int, str]:
        """What to sort by: 2a before 2b before 10."""
        digits = self.number.rstrip(ascii_lowercase)
        return int(digits), self.number.removeprefix(digits)

    def read(self, rows: Table) -> Outcome:
        """Check the rows of one experiment."""
        try:
            return self.check(rows)
        except InputError as error:
            raise RecombineError(
                f"the results of {self.experiment!r} do not fit claim {self.id}: {error}; run the experiment again"
            ) from error

    def judge(self, results: Mapping[str, Evidence]) -> Outcome:
        """Check against the results at hand; ``not run`` where the experiment has none."""
        if self.experiment not in results:
            return Outcome.not_run(f"no results of {self.experiment!r}")
        evidence = results[self.experiment]
        return replace(self.read(evidence.table), scale=evidence.extent)


def claims_of(paper: str) -> Callable[[str, str, str, str, str, str, Check], Claim]:
    """Return what makes the claims of a paper: number, statement, source, expected, tolerance, experiment and check.

    Examples
    --------
    >>> claim = claims_of("demo")
    >>> claim("4b", "margins are positive", "ours", "> 0", "none", "margins", lambda rows: Outcome.not_run("")).id
    'demo/4b'
    """

    def claim(
        number: str, statement: str, source: str, expected: str, tolerance: str, experiment: str, check: Check
    ) -> Claim:
        return Claim(f"{paper}/{number}", statement, source, expected, tolerance, experiment, check)

    return claim
