"""What a finding is: its kind is an entry of the registry, and evidence makes it a sentence with numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, ClassVar, Generic, TypeVar

from recombine.registry import help_address
from recombine.writing import listing, plural, printable

Result = TypeVar("Result")


class Severity(IntEnum):
    """How much a finding should worry the reader."""

    NOTE = 0
    WARNING = 1
    PROBLEM = 2

    @property
    def word(self) -> str:
        """The severity in lower case."""
        return self.name.lower()


class ResultKind(Enum):
    """Which result a finding is about; the value is the plural by which errors name such results."""

    AUDIT = "audits"
    SPLIT = "checks of splits"
    AUDIT_CHANGES = "changes between audits"
    SCORE_CHANGES = "changes between scores"
    SCORE = "scores"
    PROBE = "probes"


@dataclass(frozen=True)
class FindingEvidence:
    """The numbers on which a finding rests, by name, and what it is about.

    ``subjects`` are the factors, levels or columns by which a finding is known again in another result; one about the
    table as a whole has none.

    Examples
    --------
    >>> FindingEvidence({"cells": 3}, ("colour",))["cells"]
    3
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)
    subjects: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]


class FindingKind(Generic[Result]):
    """One numbered finding: what it is called, when it is raised, and its sentence."""

    code: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[Severity]
    meaning: ClassVar[str]  #: Why it matters, and
    action: ClassVar[str]  #: what to do about it: full sentences, which the documentation lists.
    of: ClassVar[ResultKind] = ResultKind.AUDIT  #: What it is about, and
    reads: ClassVar[str] = ""  #: the attribute of that result which `check` takes; empty for the result itself.
    hit_rate: ClassVar[str | None] = None  #: Key of `recombine.data.hit_rates`: how often such a forecast was right.
    fail_on: ClassVar[tuple[str, ...]] = ()  #: Words by which ``--fail-on`` names it, beside the code.

    def check(self, result: Result) -> FindingEvidence | None:
        """Return the evidence where there is any."""
        raise NotImplementedError

    def message(self, evidence: FindingEvidence) -> str:
        """Return the sentence with its numbers, without a capital and a full stop."""
        raise NotImplementedError

    def obstacle(self, result: Result) -> str:
        """Say why it cannot be told of this result, and what to do; empty where it can."""
        return ""

    def find(self, result: Result) -> Finding | None:
        """Return the finding, or None."""
        evidence = self.check(result)
        return None if evidence is None else Finding(self, evidence)

    def __repr__(self) -> str:
        return f"FindingKind({self.code} {self.title})"


class SubjectsFinding(FindingKind[Result]):
    """A finding that rests on its subjects alone: raised where there are any, said by naming them."""

    says: ClassVar[
        str
    ]  #: The sentence: ``{names}`` are the subjects, ``{models}`` is their number, ``{misses}`` a verb.

    def subjects(self, result: Result) -> Sequence[str]:
        """Return what it is about."""
        raise NotImplementedError

    def check(self, result: Result) -> FindingEvidence | None:
        subjects = tuple(self.subjects(result))
        return FindingEvidence(subjects=subjects) if subjects else None

    def message(self, evidence: FindingEvidence) -> str:
        count, names = len(evidence.subjects), listing(evidence.subjects, 6)
        return self.says.format(names=names, models=plural(count, "model"), misses="misses" if count == 1 else "miss")


@dataclass(frozen=True, repr=False)
class Finding:
    """One finding on one result.

    Examples
    --------
    >>> from recombine.jobs.findings import FINDINGS
    >>> print(Finding(FINDINGS["RC102"], FindingEvidence(subjects=("carrier 'OO'",))))
    RC102 level never seen (problem): carrier 'OO' never occurs in training
    """

    kind: FindingKind[Any]
    evidence: FindingEvidence

    @property
    def code(self) -> str:
        """The number by which ``--fail-on`` names it."""
        return self.kind.code

    @property
    def severity(self) -> Severity:
        """How much it should worry the reader."""
        return self.kind.severity

    @property
    def message(self) -> str:
        """The sentence with its numbers."""
        return printable(self.kind.message(self.evidence))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The factors, levels, columns or models that it is about."""
        return self.evidence.subjects

    @property
    def address(self) -> str:
        """The address of the page about such findings; empty where no documentation is named."""
        return help_address("finding", self.code)

    @property
    def record(self) -> dict[str, Any]:
        """What JSON documents hold of it."""
        named = {"code": self.code, "title": self.kind.title, "severity": self.severity.word}
        return {**named, "message": self.message, "subjects": self.subjects, "help": self.address or None}

    def __repr__(self) -> str:
        return f"Finding({self.code} {self.kind.title}, {self.severity.word})"

    def __str__(self) -> str:
        return f"{self.code} {self.kind.title} ({self.severity.word}): {self.message}"
