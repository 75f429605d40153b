"""Which columns of a table may be factors, and which is its outcome, weight, spread or split: a guess by points.

Words, points and limits are those of ``sheets/rules.json``, by which the page guesses too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from recombine.sheets.rules import role_rules
from recombine.tables.columns import Profile
from recombine.tables.numbers import level_text


@dataclass(frozen=True)
class Roles:
    """The column of each role, and what else may be the outcome, the likeliest first; an unclear one is nobody's."""

    columns: Mapping[str, str]
    candidates: tuple[str, ...] = ()


class _Column:
    """A column by its name, profile and values, of which those that are missing are None."""

    def __init__(self, item: Profile, values: Sequence[Any], rows: int) -> None:
        self.name, self.kind, self.distinct, self.missing = item.column, item.kind, item.distinct, item.missing
        self.values, self.rows, self.numeric = values, rows, item.kind in ("integer", "number")
        #: Words of the name in small letters: ``seizure.rate2`` and ``seizureRate`` have two.
        hump, word = role_rules().patterns["hump"], role_rules().patterns["word"]
        self.words = re.findall(word, re.sub(hump, r"\1 \2", item.column).lower())
        self.counts = {level_text(value): count for value, count in Counter(values).items() if value is not None}
        self.doubt = self._doubt()
        self.measured = self.numeric and bool(self.doubt)

    def _doubt(self) -> str:
        limits = role_rules().limits
        if self.distinct < 2:
            return "constant"
        if not role_rules().words["notes"].isdisjoint(self.words):
            return "notes"
        if self.missing > limits["missing share of a factor"] * self.rows:
            return "sparse"
        if self.kind in ("date", "other"):
            return "date"
        if self.numeric:
            designed = self.balanced or (self.kind == "integer" and self.called("design"))
            most = limits["numbers of a design" if designed else "numbers of a factor"]
            return "" if self.distinct <= min(most, max(2, self.rows / 2)) else "measurement"
        if self.distinct > min(max(2, self.rows / 2), max(1_000, self.rows / 10), limits["levels of a factor"]):
            return "identifier"
        word = role_rules().patterns["remark word"]
        long = sum(len(re.findall(word, text)) >= limits["words of a remark"] for text in self.counts)
        return "notes" if 2 * long > len(self.counts) > limits["remarks"] else ""

    @cached_property
    def balanced(self) -> bool:
        """Whether all values stand in about as many rows, two or more, as a design has them."""
        rows = self.counts.values()
        return 1 < min(rows, default=0) >= max(rows) / role_rules().limits["rows of a value, most by least"]

    @cached_property
    def least(self) -> float:
        return min(map(float, self.counts), default=-1.0)

    @cached_property
    def names(self) -> bool:
        """Whether it says which one, not how much: an ``id``, a ``subject``, a running number."""
        ends = re.fullmatch(role_rules().patterns["names"], "".join(self.words)) is not None
        running = self.kind == "integer" and self.distinct + self.missing >= self.rows > 3
        return ends or self.called("names") or (running and max(map(float, self.counts)) - self.least < self.distinct)

    @cached_property
    def rises(self) -> bool:
        """Whether it only rises or only falls from row to row, as times and ranks do."""
        steps = [float(b) - float(a) for a, b in pairwise(value for value in self.values if value is not None)]
        return min(steps, default=0) >= 0 or max(steps) <= 0

    def called(self, kind: str) -> bool:
        """Whether the name is one word of a kind; ``n1`` is none of ``n``."""
        return re.sub(role_rules().patterns["no letter"], "", self.name.lower()) in role_rules().words[kind]

    def says(self, kind: str) -> bool:
        """Whether a word of the name is of a kind, singular or plural, or ends with a long one: ``weightgain``."""
        known = role_rules().words[kind]
        parts = tuple(word for word in known if len(word) >= role_rules().limits["letters of a part"])
        forms = [form for word in self.words for form in (word, word.removesuffix("s"))]
        return any(form in known or form.endswith(parts) for form in forms)


def factor_doubt(item: Profile, values: Sequence[Any], rows: int) -> str:
    """Return why a column is no factor, ``""`` if it may be one; ``values`` may be those of the first rows only.

    Examples
    --------
    >>> factor_doubt(Profile("dose", "integer", 3, 0), [1, 2, 5] * 4, 12)
    ''
    >>> factor_doubt(Profile("remark", "text", 3, 0), ["a", "b", "c"] * 4, 12)
    'notes'
    """
    return _Column(item, values, rows).doubt


def guess_roles(profiles: Iterable[Profile], values: Mapping[str, Sequence[Any]], rows: int) -> Roles:
    """Guess the split, weight, sd and outcome of a table of ``rows``, all that ``values`` holds, None where missing.

    Examples
    --------
    >>> items = [Profile("plot", "text", 2, 0), Profile("age", "integer", 4, 0), Profile("yield", "number", 4, 0)]
    >>> table = {"plot": list("aabb"), "age": [31, 52, 44, 47], "yield": [1.5, 2.5, 1.25, 4.0]}
    >>> guess_roles(items, table, 4)
    Roles(columns={'outcome': 'yield'}, candidates=('age',))
    """
    columns = [_Column(item, values[item.column], rows) for item in profiles]
    found = {
        "split": next(filter(_is_split, columns), None),
        "weight": next(
            (item for item in columns if item.kind == "integer" and item.called("weight") and item.least >= 0), None
        ),
        "sd": next((item for item in columns if item.kind == "number" and item.called("sd")), None),
    }
    left = [item for item in columns if item not in found.values()]
    open_ones = [item for item in left if _may_be_outcome(item)]
    facts, worth = _facts(open_ones, left), role_rules().points
    points = {item: sum(worth[fact] for fact, held in facts.items() if item in held) for item in open_ones}
    ranked = sorted(points, key=lambda item: -points[item])
    near = [item for item in ranked if points[item] > points[ranked[0]] - role_rules().limits["points ahead"]]
    if len(near) == 1 and _is_likely(near[0]):
        found["outcome"] = near[0]
        near = [item for item in ranked[1:] if item.measured]
    named = {role: item.name for role, item in found.items() if item is not None}
    return Roles(named, tuple(item.name for item in near))


def _is_split(item: _Column) -> bool:
    words, limits = role_rules().words, role_rules().limits
    if 1 < item.distinct <= limits["values of a split"] and item.called("split"):
        return True
    texts = {"".join(re.findall(role_rules().patterns["word"], text.lower())) for text in item.counts}
    known = len(texts) > 1 and texts <= words["parts"] and not texts.isdisjoint(words["training"])
    return known and item.distinct <= limits["texts of a split"]


def _may_be_outcome(item: _Column) -> bool:
    classes = item.kind in ("text", "flag") and item.distinct <= role_rules().limits["classes"]
    other = item.names or item.doubt in ("constant", "notes", "date") or item.says("survey weight")
    return (item.numeric or classes) and not other


def _is_likely(item: _Column) -> bool:
    """Whether a column is like an outcome by itself: by a word, or measured and not called after something else."""
    return item.says("outcome") or (item.measured and not item.says("covariate") and not item.says("group"))


def _facts(items: Sequence[_Column], columns: Sequence[_Column]) -> dict[str, Sequence[_Column]]:
    """Return of which of the columns that may be the outcome each fact is true that the rules give points for."""
    measured = [item for item in items if item.measured]
    several = [item for item in items if item.numeric and item.distinct > 2]
    place = any(item.name.lower() == "x" for item in columns)  # beside x a y is a place
    named = [item for item in items if item.says("outcome") and not (place and item.words == ["y"])]
    ended = any(item.says("status") and item.distinct <= role_rules().limits["ends"] for item in items)
    first = next((item for item in columns if not item.names and item.doubt not in ("constant", "date")), None)
    yes_or_no = first and {text.lower() for text in first.counts} <= role_rules().words["yes or no"]
    return {
        "a word of outcomes": named,
        "the only such word": named if len(named) == 1 else (),
        "a word of covariates": [item for item in items if item.says("covariate")],
        "a word of groups": [item for item in items if item.says("group")],
        "the first column": [first] if first and (first.numeric or yes_or_no or first in named) else (),
        "the first measured": measured[:1],
        "the last measured": measured[-1:],
        "told by another": [item for item in items if _told(item, columns)],
        "decimals": [item for item in items if item.kind == "number"],
        "many values": [item for item in items if 2 * item.distinct >= item.rows],
        "a time beside a status": [item for item in measured if ended and item.says("time")],
        "a designed number": [item for item in several if not item.doubt and item.balanced],
        "counts from zero": [item for item in several if item.kind == "integer" and item.least == 0],
        "only rises or falls": [item for item in measured if item.rises],
    }


def _told(item: _Column, columns: Sequence[_Column]) -> bool:
    """Whether another column tells it, label or renaming: a baseline by subject, a logarithm by its number."""
    before = columns[: columns.index(item)]
    for teller in columns[: int(role_rules().limits["columns that tell"])]:
        renames = teller.distinct == item.distinct and teller in before
        if teller is item or not max(3, item.distinct) <= teller.distinct <= item.rows / 2:
            continue
        told: dict[Any, Any] = {}
        both = ((a, b) for a, b in zip(teller.values, item.values, strict=True) if a is not None and b is not None)
        if (renames or teller.kind != "number") and all(told.setdefault(a, b) == b for a, b in both):
            return True
    return False
