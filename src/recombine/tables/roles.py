"""Which columns of a table may be factors, and which is its outcome, weight, spread or split: a guess by points.

Words, points and limits are those of ``sheets/rules.json``, by which the page guesses too.
"""

from __future__ import annotations

import math
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


class GuessedColumn:
    """A column by its name, profile and values, of which those that are missing are None.

    ``doubt`` says why it is no factor: constant, notes, sparse, date, measurement or identifier; ``""`` if it may be.

    Examples
    --------
    >>> GuessedColumn(Profile("dose", "integer", 3, 0), [1, 2, 5] * 4, 12).doubt
    ''
    >>> GuessedColumn(Profile("remark", "text", 3, 0), ["a", "b", "c"] * 4, 12).doubt
    'notes'
    """

    def __init__(self, item: Profile, values: Sequence[Any], rows: int) -> None:
        patterns = role_rules().patterns
        self.name, self.kind, self.distinct, self.missing = item.column, item.kind, item.distinct, item.missing
        self.values, self.rows, self.numeric = values, rows, item.kind in ("integer", "number")
        #: Words of the name in small letters: ``seizure.rate2`` and ``seizureRate`` have two.
        self.words = re.findall(patterns["word"], re.sub(patterns["hump"], r"\1 \2", item.column).lower())
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
            summary = not role_rules().words["summary"].isdisjoint(self.words)  # of what was measured
            designed = (self.balanced and not summary) or (self.kind == "integer" and self.called("design"))
            allowed = limits["numbers of a design" if designed else "numbers of a factor"]
            return "" if self.distinct <= min(allowed, max(2, self.rows / 2)) else "measurement"
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
    def names(self) -> bool:
        """Whether it says which one, not how much: an ``id``, a ``subject``, a running number."""
        running = self.kind == "integer" and self.distinct + self.missing >= self.rows > 3
        if running and max(map(float, self.counts)) - min(map(float, self.counts)) < self.distinct:
            return True
        return self.called("names") or re.fullmatch(role_rules().patterns["names"], "".join(self.words)) is not None

    def called(self, kind: str) -> bool:
        """Whether the name is one word of a kind; ``n1`` is none of ``n``."""
        return re.sub(role_rules().patterns["no letter"], "", self.name.lower()) in role_rules().words[kind]

    def says(self, *kinds: str) -> bool:
        """Whether a word of the name is of a kind, singular or plural, or ends with a long one: ``weightgain``.

        A column of answers says that it is an outcome, whatever its name.
        """
        answers = (re.fullmatch(role_rules().patterns["answer"], text.lower()) for text in self.counts)
        if kinds == ("outcome",) and len(self.counts) > 2 and all(answers):
            return True
        vocabulary = frozenset[str]().union(*(role_rules().words[kind] for kind in kinds))
        parts = tuple(word for word in vocabulary if len(word) >= role_rules().limits["letters of a part"])
        forms = [form for word in self.words for form in (word, word.removesuffix("s"))]
        return any(form in vocabulary or form.endswith(parts) for form in forms)


def guess_roles(profiles: Iterable[Profile], values: Mapping[str, Sequence[Any]], rows: int) -> Roles:
    """Guess the split, weight, sd and outcome of a table of ``rows``, all that ``values`` holds, None where missing.

    Examples
    --------
    >>> items = [Profile("plot", "text", 2, 0), Profile("age", "integer", 4, 0), Profile("yield", "number", 4, 0)]
    >>> table = {"plot": list("aabb"), "age": [31, 52, 44, 47], "yield": [1.5, 2.5, 1.25, 4.0]}
    >>> guess_roles(items, table, 4)
    Roles(columns={'outcome': 'yield'}, candidates=('age',))
    """
    columns = [GuessedColumn(item, values[item.column], rows) for item in profiles]
    whole = [column for column in columns if column.kind == "integer" and "-" not in "".join(column.counts)]
    chosen = {
        "split": next(filter(_is_split, columns), None),
        "weight": next((column for column in whole if column.called("weight")), None),
        "sd": next((column for column in columns if column.kind == "number" and column.called("sd")), None),
    }
    others = [column for column in columns if column not in chosen.values()]
    open_ones = [column for column in others if _may_be_outcome(column)]
    facts, worth = _facts(open_ones, others), role_rules().points
    points = {column: sum(worth[fact] for fact, holders in facts.items() if column in holders) for column in open_ones}
    ranked = sorted(points, key=lambda column: -points[column])
    near = [column for column in ranked if points[column] > points[ranked[0]] - role_rules().limits["points ahead"]]
    if len(near) == 1 and (near[0].says("outcome") or (near[0].measured and not near[0].says("covariate", "group"))):
        chosen["outcome"] = near[0]
        near = [column for column in ranked[1:] if column.measured]
    elif not any(column.measured for column in open_ones) and (last := _beside_a_design(columns)) in open_ones:
        chosen["outcome"] = last
    near = [column for column in near if column.measured or column.says("outcome")]
    named = {role: column.name for role, column in chosen.items() if column is not None}
    return Roles(named, tuple(column.name for column in near))


def _beside_a_design(columns: Sequence[GuessedColumn]) -> GuessedColumn | None:
    """Return the last of the columns of levels where all others are a design, each combination in as many rows.

    It has numbers or two values, and no name of a group. A design that stays one without another of its columns, as
    fractions and squares do, does not tell.
    """
    levels = [column for column in columns if not column.doubt]
    spare = [column for column in levels if _is_design([item for item in levels if item is not column])]
    if len(levels) < 3 or spare != levels[-1:] or spare[0].says("covariate", "group"):
        return None
    return spare[0] if spare[0].numeric or spare[0].distinct == 2 else None


def _is_design(columns: Sequence[GuessedColumn]) -> bool:
    """Whether most combinations of columns are there, all in about as many rows."""
    limits = role_rules().limits
    cells = zip(*(column.values for column in columns), strict=True)
    rows = Counter(cell for cell in cells if None not in cell).values()
    full = len(rows) >= limits["share of a design"] * math.prod(column.distinct for column in columns)
    return full and min(rows) >= max(rows) / limits["rows of a value, most by least"]


def _is_split(column: GuessedColumn) -> bool:
    words, limits = role_rules().words, role_rules().limits
    if 1 < column.distinct <= limits["values of a split"] and column.called("split"):
        return True
    texts = {"".join(re.findall(role_rules().patterns["word"], text.lower())) for text in column.counts}
    parts = len(texts) > 1 and texts <= words["parts"] and not texts.isdisjoint(words["training"])
    return parts and column.distinct <= limits["texts of a split"]


def _may_be_outcome(column: GuessedColumn) -> bool:
    classes = column.kind in ("text", "flag") and column.distinct <= role_rules().limits["classes"]
    unlike = column.names or column.doubt in ("constant", "notes", "date") or column.says("survey weight")
    return (column.numeric or classes) and not unlike


def _facts(open_ones: Sequence[GuessedColumn], columns: Sequence[GuessedColumn]) -> dict[str, Sequence[GuessedColumn]]:
    """Return of which of the columns that may be the outcome each fact is true that the rules give points for."""
    measured = [column for column in open_ones if column.measured]
    several = [column for column in open_ones if column.numeric and column.distinct > 2]
    beside_x = any(column.name.lower() == "x" for column in columns)  # there y is a place
    named = [column for column in open_ones if column.says("outcome") and not (beside_x and column.words == ["y"])]
    ended = any(column.says("status") and column.distinct <= role_rules().limits["ends"] for column in open_ones)
    opening = next(
        (column for column in columns if not column.names and column.doubt not in ("constant", "date")), None
    )
    yes_or_no = opening and {text.lower() for text in opening.counts} <= role_rules().words["yes or no"]
    return {
        "a word of outcomes": named,
        "the only such word": named if len(named) == 1 else (),
        "a word of covariates": [column for column in open_ones if column.says("covariate")],
        "a word of groups": [column for column in open_ones if column.says("group")],
        "the first column": [opening] if opening and (opening.numeric or yes_or_no or opening in named) else (),
        "the first measured": measured[:1],
        "the last measured": measured[-1:],
        "told by another": [column for column in open_ones if _told(column, columns)],
        "decimals": [column for column in open_ones if column.kind == "number"],
        "many values": [column for column in open_ones if 2 * column.distinct >= column.rows],
        "a time beside a status": [column for column in measured if ended and column.says("time")],
        "a designed number": [column for column in several if not column.doubt and column.balanced],
        "counts from zero": [
            column for column in several if column.kind == "integer" and min(map(float, column.counts)) == 0
        ],
        "only rises or falls": [column for column in measured if _rises(column)],
    }


def _rises(column: GuessedColumn) -> bool:
    """Whether a column only rises or only falls from row to row, as times and ranks do."""
    steps = [float(b) - float(a) for a, b in pairwise(value for value in column.values if value is not None)]
    return min(steps, default=0) >= 0 or max(steps) <= 0


def _told(column: GuessedColumn, columns: Sequence[GuessedColumn]) -> bool:
    """Whether another column tells it, label or renaming: a baseline by subject, a logarithm by its number."""
    for position, teller in enumerate(columns[: int(role_rules().limits["columns that tell"])]):
        renames = teller.distinct == column.distinct and position < columns.index(column)
        if teller is column or not max(3, column.distinct) <= teller.distinct <= column.rows / 2:
            continue
        told: dict[Any, Any] = {}
        both = ((a, b) for a, b in zip(teller.values, column.values, strict=True) if a is not None and b is not None)
        if (renames or teller.kind != "number") and all(told.setdefault(a, b) == b for a, b in both):
            return True
    return False
