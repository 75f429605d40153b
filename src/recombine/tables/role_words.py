"""What a column that is no factor looks like by its name and values: an outcome, a count of measurements, a split."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from recombine.tables.columns import Profile
from recombine.tables.numbers import is_number, level_text


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words for which a column is an outcome, whatever its values.
OUTCOME_WORDS = _words(
    "y outcome target response resp label score rating yield survived survival admit admitted died dead death alive "
    "success correct result dv accuracy reward"
)
COUNT_WORDS = _words("freq frequency count counts n nobs cases replicates reps")
#: Names of numbers that say which one, not how much.
NAMING_WORDS = _words(
    "id ids subject subj person child student pupil school class classnr mom flight number nr index row rownames "
    "code zip plate batch brood household patient"
)
SPREAD_WORDS = _words("sd std stdev stddev")
SPLIT_WORDS = _words("split fold folds partition subset istrain traintest trainval")
_PARTS = _words("train training trn test testing tst valid validation val dev holdout heldout eval")
_TRAINING = _words("train training trn")


def likely_roles(profiles: Iterable[Profile], values: Mapping[str, list[Any]], rows: int) -> dict[str, str]:
    """Return which column looks like the outcome, the weight, the sd and the split; a role may be nobody's.

    Profiles and values are those of the first rows, of ``rows`` in all.
    """
    items = list(profiles)
    columns = {
        "split": _first(item.column for item in items if _is_split(item, values[item.column])),
        "weight": _first(item.column for item in items if _is_count(item, values[item.column])),
        "sd": _first(item.column for item in items if item.kind == "number" and _word(item.column) in SPREAD_WORDS),
    }
    unassigned = [item for item in items if item.column not in columns.values()]
    # Beside x a y is a place, not an outcome.
    words = OUTCOME_WORDS - {"y"} if any(item.column.casefold() == "x" for item in items) else OUTCOME_WORDS
    named = _first(item.column for item in unassigned if _word(item.column) in words and item.distinct > 1)
    columns["outcome"] = named or _measured(unassigned, rows)
    return {role: column for role, column in columns.items() if column}


def _first(columns: Iterable[str]) -> str:
    return next(iter(columns), "")


def _word(column: str) -> str:
    return re.sub(r"[^a-z]", "", column.casefold())


def _names(column: str) -> bool:
    """Whether a column says which one by its name: ``id``, ``childid``, ``subject``."""
    word = _word(column)
    named = word.endswith("id") and len(word) > 4 and not word.endswith(("acid", "solid", "fluid"))
    return named or word in NAMING_WORDS


def _texts(values: Iterable[Any]) -> set[str]:
    return {level_text(value) for value in set(values) if value is not None and value == value}


def _is_split(item: Profile, values: list[Any]) -> bool:
    texts = {re.sub(r"[^a-z]", "", text.casefold()) for text in _texts(values)} if item.distinct <= 10 else set()
    if len(texts) > 1 and texts <= _PARTS and texts & _TRAINING:
        return True
    return 1 < item.distinct <= 20 and _word(item.column) in SPLIT_WORDS


def _is_count(item: Profile, values: list[Any]) -> bool:
    if item.kind != "integer" or _word(item.column) not in COUNT_WORDS:
        return False
    return all(is_number(text) and float(text) >= 0 for text in _texts(values))


def _measured(items: list[Profile], rows: int) -> str:
    """Return the column of numbers with most values (the last of equals), but no row numbers and no flags."""
    numbers = [item for item in items if item.kind in ("integer", "number") and item.distinct > 2]
    numbers = [item for item in numbers if not _names(item.column)]
    there = [item for item in numbers if not (item.kind == "integer" and item.distinct + item.missing >= rows > 3)]
    largest = max((item.distinct for item in there), default=0)
    return _first(item.column for item in reversed(there) if item.distinct == largest)
