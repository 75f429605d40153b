"""Verdicts on cells: the one vocabulary that every output reads from here."""

from __future__ import annotations

from enum import IntEnum


class Verdict(IntEnum):
    """What the seen cells say about a cell, if effects add at the stated order.

    Examples
    --------
    >>> Verdict.DISCONNECTED.word
    'disconnected'
    """

    word: str  #: The verdict as every output writes it.
    symbol: str  #: One character that tells the verdicts apart without colour.
    colour: str  #: Hex colour, safe for colour-blind readers and ordered in grey.
    meaning: str  #: A sentence, which may hold ``{assumption}``, a condition.
    action: str  #: What it asks of the reader.

    SEEN = 0, "seen", "·", "#c9ced6", "There is training data for this combination.", "Nothing to do."
    DETERMINED = (
        1,
        "determined",
        "●",
        "#0072b2",
        "Never seen, but if {assumption}, the seen combinations fix its value: the certificate shows the sum.",
        "Check that additivity holds and that your model is one that adds; then you need not collect it.",
    )
    DISCONNECTED = (
        2,
        "disconnected",
        "✕",
        "#e69f00",
        "Every level is known, but no sum of seen combinations reaches this one: the data alone do not settle it, and "
        "a value rests on how much levels usually differ.",
        "Collect a bridging combination (see the suggestions); no model replaces it.",
    )
    UNSEEN_LEVEL = (
        3,
        "unseen level",
        "■",
        "#2b2b2b",
        "One of its levels never occurs in the training data: the data alone do not settle its effect, and a value "
        "rests on the other factors.",
        "Collect at least one combination with that level.",
    )
    UNDECIDED = (
        4,
        "undecided",
        "?",
        "#cc79a7",
        "Floating-point arithmetic could not separate determined from not determined here.",
        "Install the exact arithmetic (the extra [exact]) or lower the order; a verdict is never guessed.",
    )
    BEYOND = (
        5,
        "beyond the seen range",
        "▲",
        "#8c2d04",
        "It lies outside the range that was seen, of an ordered or numeric factor or of a curve: the data alone "
        "do not settle how the trend goes on there.",
        "Collect a combination at that value or beyond it; then it lies between seen ones.",
    )

    def __new__(cls, code: int, *texts: str) -> Verdict:
        """Make a member whose value is its code."""
        verdict = int.__new__(cls, code)
        verdict._value_ = code
        verdict.word, verdict.symbol, verdict.colour, verdict.meaning, verdict.action = texts
        return verdict
