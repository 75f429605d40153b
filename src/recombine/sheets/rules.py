"""The patterns, words and limits by which sheets are read: one file, which the page reads too."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


@cache
def _rules() -> dict[str, dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = msgspec.json.decode(files(__package__).joinpath("rules.json").read_bytes())
    return rules


def rule_section(name: str) -> dict[str, Any]:
    """Return a section of ``rules.json``: patterns, words (lists), limits (numbers) or units.

    Examples
    --------
    >>> sorted(rule_section("units"))
    ['bases', 'others', 'prefixes', 'spellings']
    """
    return _rules()[name]


@cache
def rule_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern that a whole text has to match, whatever its case; ``{name}`` in it stands for another.

    Examples
    --------
    >>> bool(rule_pattern("number").fullmatch("-1.5e3")), bool(rule_pattern("number").fullmatch("1,5"))
    (True, False)
    """
    return re.compile(_expanded(name), re.IGNORECASE)


def _expanded(name: str) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda inner: f"(?:{_expanded(inner.group(1))})", _rules()["patterns"][name])


@cache
def rule_words(name: str) -> frozenset[str]:
    """Return a list of words, in lower case.

    Examples
    --------
    >>> "n/a" in rule_words("nothing")
    True
    """
    return frozenset(word.casefold() for word in _rules()["words"][name])


def rule_limit(name: str) -> float:
    """Return a number that a rule compares with.

    Examples
    --------
    >>> rule_limit("letters of a number")
    48.0
    """
    return float(_rules()["limits"][name])


class RoleRules(msgspec.Struct, frozen=True):
    """By what roles are guessed: patterns and words of names, points for what is true, limits, sentences of doubts."""

    patterns: dict[str, str]
    words: dict[str, frozenset[str]]
    points: dict[str, int]
    limits: dict[str, float]
    doubts: dict[str, str]


@cache
def role_rules() -> RoleRules:
    """Return the rules by which roles of columns are guessed."""
    return msgspec.convert(rule_section("roles"), RoleRules)
