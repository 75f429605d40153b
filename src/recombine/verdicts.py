"""The one vocabulary: verdicts on cells and numbered findings. Terminal, report and notebook all read it from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


@dataclass(frozen=True)
class VerdictText:
    """How one verdict is shown and what it asks of the reader."""

    word: str
    symbol: str
    colour: str
    meaning: str
    action: str


class Verdict(IntEnum):
    """What the seen cells say about a cell, if effects add at the stated order.

    Examples
    --------
    >>> Verdict.DISCONNECTED.word
    'disconnected'
    """

    SEEN = 0
    DETERMINED = 1
    DISCONNECTED = 2
    UNSEEN_LEVEL = 3
    UNDECIDED = 4
    BEYOND = 5

    @property
    def text(self) -> VerdictText:
        """Word, symbol, colour, meaning and next action."""
        return _TEXTS[self]

    @property
    def word(self) -> str:
        """The verdict as every output writes it."""
        return self.text.word

    @property
    def symbol(self) -> str:
        """One character that tells the verdicts apart without colour."""
        return self.text.symbol

    @property
    def colour(self) -> str:
        """Hex colour, safe for colour-blind readers and ordered in grey."""
        return self.text.colour


_TEXTS = {
    Verdict.SEEN: VerdictText(
        "seen",
        "·",
        "#c9ced6",
        "There is training data for this combination.",
        "Nothing to do.",
    ),
    Verdict.DETERMINED: VerdictText(
        "determined",
        "●",
        "#0072b2",
        "Never seen, but if effects add, the seen combinations fix its value: the certificate shows the sum.",
        "Check that additivity holds and that your model is one that adds; then you need not collect it.",
    ),
    Verdict.DISCONNECTED: VerdictText(
        "disconnected",
        "✕",
        "#e69f00",
        "Every level is known, but no sum of seen combinations reaches this one: any value fits the data equally well.",
        "Collect a bridging combination (see the suggestions); no model choice can replace it.",
    ),
    Verdict.UNSEEN_LEVEL: VerdictText(
        "unseen level",
        "■",
        "#2b2b2b",
        "One of its levels never occurs in the training data, so nothing is known about that level's effect.",
        "Collect at least one combination with that level.",
    ),
    Verdict.UNDECIDED: VerdictText(
        "undecided",
        "?",
        "#cc79a7",
        "Floating-point arithmetic could not separate determined from not determined here.",
        "Install the exact arithmetic (pip install 'recombine[exact]') or lower the order; the cell is never guessed.",
    ),
    Verdict.BEYOND: VerdictText(
        "beyond the seen range",
        "▲",
        "#8c2d04",
        "It lies outside the range that was seen, of an ordered or numeric factor or of a curve: nothing says how the "
        "trend goes on there.",
        "Collect a combination at that value or beyond it; then it lies between seen ones.",
    ),
}


class Severity(IntEnum):
    """How much a finding should worry the reader."""

    NOTE = 0
    WARNING = 1
    PROBLEM = 2

    @property
    def word(self) -> str:
        """The severity in lower case."""
        return self.name.lower()


@dataclass(frozen=True)
class FindingKind:
    """A numbered finding: what it is called and why it matters."""

    code: str
    title: str
    severity: Severity
    explanation: str


@dataclass(frozen=True)
class Finding:
    """One finding on one table, with the numbers in its ``message``.

    ``subjects`` are the factors, levels or columns it is about, by which it is known again in another audit; a finding
    about the table as a whole has none.

    Examples
    --------
    >>> print(Finding(FINDINGS["RC102"], "carrier: 'OO'"))
    RC102 level never seen (problem): carrier: 'OO'
    """

    kind: FindingKind
    message: str
    subjects: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The number by which ``--fail-on`` names it."""
        return self.kind.code

    @property
    def severity(self) -> Severity:
        """How much it should worry the reader."""
        return self.kind.severity

    def __repr__(self) -> str:
        return f"Finding({self.code} {self.kind.title}, {self.severity.word})"

    def __str__(self) -> str:
        return f"{self.code} {self.kind.title} ({self.severity.word}): {self.message}"


_KINDS = [
    FindingKind(
        "RC101",
        "cells not determined",
        Severity.PROBLEM,
        "Some unseen combinations of known levels cannot be reached by any sum of seen ones. A model will "
        "still print a number for them; the data do not support it.",
    ),
    FindingKind(
        "RC102",
        "level never seen",
        Severity.PROBLEM,
        "A level that the targets or the held-out rows use never occurs in training, so every combination "
        "with it is open.",
    ),
    FindingKind(
        "RC103",
        "rows left out",
        Severity.WARNING,
        "Rows with a missing factor, outcome or weight were not used, so their combinations do not count as seen.",
    ),
    FindingKind(
        "RC104",
        "factors were guessed",
        Severity.WARNING,
        "No factor columns were named. The guess goes by the number of distinct values; name the columns to be sure.",
    ),
    FindingKind(
        "RC105",
        "cells undecided",
        Severity.WARNING,
        "Arithmetic could not tell whether some cells are determined. They are listed as undecided, never guessed.",
    ),
    FindingKind(
        "RC106",
        "determined but shaky",
        Severity.NOTE,
        "Some determined cells rest on long chains of seen cells; noise adds up along the chain (leverage "
        "above 4 means the error of the prediction is more than twice that of one measurement).",
    ),
    FindingKind(
        "RC108",
        "a factor lies inside another",
        Severity.WARNING,
        "Each level of a factor goes with one level of another only, as plants go with treatments, and chance does not "
        "explain it. Combinations that would take a level elsewhere are taken to be impossible: they are not counted, "
        "mapped or proposed. Only you know whether that is so.",
    ),
    FindingKind(
        "RC107",
        "levels read in doubt",
        Severity.WARNING,
        "Levels are the values as they were written. Some of them look like two spellings of one level, or a column of "
        "measurements was taken as unordered labels, or the file's encoding had to be assumed; clean the table if that "
        "is not what was meant. In 23 of 24 columns of real tables where levels looked alike, they were one.",
    ),
    FindingKind(
        "RC109",
        "a column taken apart",
        Severity.NOTE,
        "A sequence stands for one factor per position, a set for one factor per member. Positions and members that "
        "are the same in every row are left out, for nothing can be said about changing them.",
    ),
    FindingKind(
        "RC110",
        "beyond the seen range",
        Severity.PROBLEM,
        "Combinations hold a value of an ordered or numeric factor outside the range seen in training, or lie further "
        "out on a curved scale than all seen ones. A trend is followed between seen values only; a model will still "
        "print a number.",
    ),
    FindingKind(
        "RC201",
        "memorization-leak risk",
        Severity.WARNING,
        "A network stores part of what it learns with whole combinations, and unseen combinations lose that "
        "part: the effect shrinks towards the mean by the stated share. Read from the kernels of wide networks "
        "fitted to the outcome.",
    ),
    FindingKind(
        "RC202",
        "shortcut factor",
        Severity.WARNING,
        "Seen combinations tie a factor to others, so that its mean outcomes differ from its effect; a network "
        "follows them on unseen combinations, against what the data determine.",
    ),
    FindingKind(
        "RC301",
        "additivity does not hold",
        Severity.PROBLEM,
        "Repeated rows show that effects interact, and held-out combinations are not predicted well by adding "
        "effects: at this order the values that follow are off by more than noise.",
    ),
    FindingKind(
        "RC302",
        "additivity not checked",
        Severity.NOTE,
        "Verdicts hold if effects add. Without an outcome, or with too few cells to hold some out, that was "
        "not checked.",
    ),
    FindingKind(
        "RC303",
        "additivity not shown to hold",
        Severity.WARNING,
        "Held-out combinations are not predicted well by adding effects, but that may be noise: too few rows "
        "repeat to tell. On published tables adding still beat the plain mean in 81 of 100 such trials, and a "
        "network or a forest beat adding in 81.",
    ),
]

#: All finding kinds by code.
FINDINGS = {kind.code: kind for kind in _KINDS}
