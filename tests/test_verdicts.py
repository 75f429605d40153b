from __future__ import annotations

import itertools
import re

import pytest

from recombine.verdicts import Verdict


def luminance(colour: str) -> float:
    """Relative luminance of a hex colour (WCAG 2)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_are_those_of_the_vocabulary() -> None:
    assert [verdict.word for verdict in Verdict] == [
        "seen",
        "determined",
        "disconnected",
        "unseen level",
        "undecided",
        "beyond the seen range",
    ]


def test_verdicts_can_be_told_apart_without_colour() -> None:
    symbols = [verdict.symbol for verdict in Verdict]
    assert len(set(symbols)) == len(Verdict)
    assert all(len(symbol) == 1 for symbol in symbols)


def test_verdicts_can_be_told_apart_in_grey() -> None:
    for first, second in itertools.combinations(Verdict, 2):
        light, dark = sorted([luminance(first.colour), luminance(second.colour)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 1.35, (first, second)


@pytest.mark.parametrize("verdict", Verdict)
def test_meaning_and_action_are_sentences(verdict: Verdict) -> None:
    assert re.fullmatch(r"[A-Z].*\.", verdict.meaning)
    assert re.fullmatch(r"[A-Z].*\.", verdict.action)
    assert re.fullmatch(r"#[0-9a-f]{6}", verdict.colour)


def test_determined_carries_its_assumption() -> None:
    assert "if {assumption}," in Verdict.DETERMINED.meaning
