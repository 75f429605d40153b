"""Verdicts on cells: the one vocabulary that every output reads from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


@dataclass(frozen=True)
class VerdictText:
    """How one verdict is shown and what it asks of the reader; its meaning may hold ``{assumption}``, a condition."""

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
    Verdict.SEEN: VerdictText("seen", "·", "#c9ced6", "There is training data for this combination.", "Nothing to do."),
    Verdict.DETERMINED: VerdictText(
        "determined",
        "●",
        "#0072b2",
        "Never seen, but if {assumption}, the seen combinations fix its value: the certificate shows the sum.",
        "Check that additivity holds and that your model is one that adds; then you need not collect it.",
    ),
    Verdict.DISCONNECTED: VerdictText(
        "disconnected",
        "✕",
        "#e69f00",
        "Every level is known, but no sum of seen combinations reaches this one: the data alone do not settle it, and "
        "a value rests on how much levels usually differ.",
        "Collect a bridging combination (see the suggestions); no model replaces it.",
    ),
    Verdict.UNSEEN_LEVEL: VerdictText(
        "unseen level",
        "■",
        "#2b2b2b",
        "One of its levels never occurs in the training data: the data alone do not settle its effect, and a value "
        "rests on the other factors.",
        "Collect at least one combination with that level.",
    ),
    Verdict.UNDECIDED: VerdictText(
        "undecided",
        "?",
        "#cc79a7",
        "Floating-point arithmetic could not separate determined from not determined here.",
        "Install the exact arithmetic (the extra [exact]) or lower the order; a verdict is never guessed.",
    ),
    Verdict.BEYOND: VerdictText(
        "beyond the seen range",
        "▲",
        "#8c2d04",
        "It lies outside the range that was seen, of an ordered or numeric factor or of a curve: the data alone "
        "do not settle how the trend goes on there.",
        "Collect a combination at that value or beyond it; then it lies between seen ones.",
    ),
}
