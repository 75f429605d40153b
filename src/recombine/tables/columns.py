"""What is known of a column before it is used: its kind, its distinct and its missing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recombine.errors import InputError, near_miss
from recombine.sheets.values import written_number
from recombine.tables.frames import Source, count_of
from recombine.tables.numbers import is_number, kind_of_texts, level_text
from recombine.writing import listing, option_text, plural

#: A numeric column with more distinct values than this is a measurement, not a label, unless the user insists.
MAX_NUMERIC_LEVELS = 1_000
#: Values of an outcome of classes that are looked at before giving up.
MAX_CLASSES = 50


@dataclass(frozen=True)
class Profile:
    """What is known of one column before it is used: its kind, distinct values and missing values."""

    column: str
    kind: str
    distinct: int
    missing: int


def profile(source: Source, columns: Iterable[str]) -> tuple[int, list[Profile]]:
    """Return the number of rows and a profile of each column, from one query in the table's own engine."""
    import narwhals as nw

    names = tuple(columns)
    subset = source.kept(names or source.columns[:1])
    queries: list[Any] = [nw.len().alias("rows")]
    for name, key in subset.keys.items():
        queries.append(subset.col(name).n_unique().alias(f"distinct_{key}"))
        queries.append(subset.col(name).is_null().cast(nw.Int64).sum().alias(f"missing_{key}"))
    result = subset.fetch(subset.frame.select(*queries))
    rows = count_of(result["rows"][0])
    if rows == 0:
        raise InputError(f"{source.name} has a header but no rows; add data")
    kinds = subset.look(names)
    profiles = []
    for name in names:
        key = subset.keys[name]
        missing = count_of(result[f"missing_{key}"][0])
        distinct = count_of(result[f"distinct_{key}"][0]) - (missing > 0)
        profiles.append(Profile(name, kinds[name], distinct, missing))
    return rows, profiles


def check_factor(item: Profile, name: str, insisted: bool) -> None:
    """Raise if a column the user named cannot serve as a factor."""
    if item.distinct == 0:
        raise InputError(f"factor {item.column!r} of {name} has no values in any row; leave it out")
    if item.kind in ("integer", "number") and item.distinct > MAX_NUMERIC_LEVELS and not insisted:
        raise InputError(
            f"factor {item.column!r} of {name} is numeric with {item.distinct:,} distinct values: it looks like "
            f"a measurement; say {option_text('--numeric', item.column)} for a trend, or "
            f"{option_text('--as-levels', item.column)} if it is a label (numeric and as_levels in Python)"
        )


def factor_profile(source: Source, column: str, levels: Sequence[Any]) -> Profile:
    """Return the profile of a factor whose levels are known; texts of a file are of the kind that they all write."""
    kind = source.kind(column) if source.reader.typed else kind_of_texts(levels)
    return Profile(column, kind, len(levels), 0)


def classes_of(source: Source, column: str, role: str = "outcome") -> dict[str, Any]:
    """Return the values of a column as the reader would write them, in order, with what the table holds for each."""
    subset = source.only([source.require(column, role)])
    values_read = subset.fetch(subset.frame.drop_nulls().unique().head(MAX_CLASSES + 1))["c0"].tolist()
    values = {level_text(value): value for value in values_read if value == value}
    if len(values) > MAX_CLASSES:
        rather = "or chances in columns such as net:cat, net:dog" if role == "prediction" else "or a numeric one"
        raise InputError(
            f"{role} {column!r} of {source.name} has more than {MAX_CLASSES} values; name a column of classes, {rather}"
        )
    numeric = source.kind(column) in ("integer", "number")
    return {text: values[text] for text in sorted(values, key=(lambda text: float(text)) if numeric else str)}


def one_class(source: Source, outcome: str, chosen: str, labels: tuple[str, str] | None) -> tuple[Any, Any]:
    """Return what is not of the chosen class (coded 0), and that class (1) as the table holds it."""
    values = classes_of(source, outcome)
    if labels is not None and values:
        if chosen in values:
            return labels[0], values[chosen]
        # Another table has the class; this one may lack it, and then nothing equals any of its values but itself.
        try:
            return labels[0], type(next(iter(values.values())))(chosen)
        except (TypeError, ValueError):
            raise InputError(
                f"outcome {outcome!r} of {source.name} holds {listing(values, 4)}, and {chosen!r} in the other table; "
                "give both tables one kind of outcome"
            ) from None
    if chosen not in values:
        names = list(values)
        raise InputError(
            f"outcome {outcome!r} of {source.name} has no value {chosen!r};"
            f"{near_miss(chosen, names, f'Values: {listing(names, 8)}')}"
        )
    return f"not {chosen}", values[chosen]


def two_classes(source: Source, outcome: str | None, labels: tuple[str, str] | None) -> tuple[Any, Any] | None:
    """Return the two values of a text outcome (coded 0 and 1), or None for a numeric one."""
    if outcome is None or source.kind(outcome) in ("integer", "number", "flag"):
        return None
    name = f"outcome {outcome!r} of {source.name}"
    if source.kind(outcome) not in ("text", "date") or (source.reader.typed and source.kind(outcome) == "date"):
        raise InputError(f"{name} is of kind {source.kind(outcome)}, which cannot be averaged; give a numeric column")
    subset = source.only([outcome])
    values = subset.fetch(subset.frame.drop_nulls().unique().head(MAX_CLASSES))["c0"].tolist()
    if not all(isinstance(value, str | bool) for value in values):
        raise InputError(f"{name} holds {type(values[0]).__name__} objects; convert it to a numeric column")
    if not values:
        return None  # there are no rows, or none has a value: said where rows are counted
    if labels is not None and set(map(str, values)) <= set(labels):
        return labels
    if len(values) != 2:
        count = f"{len(values)}{' or more' if len(values) == MAX_CLASSES else ''}"
        if odd := no_number(source, outcome):
            raise InputError(f"{name} is text{odd}; correct these cells, or leave them empty")
        if ways := ways_of_writing(list(map(str, values))):
            raise InputError(f"{name} is text, because {ways}; write every number in one way")
        raise InputError(
            f"{name} is text with {count} values ({listing(sorted(map(str, values)), 4)}); "
            f"give a numeric column, name one class ({outcome}={sorted(map(str, values))[0]}), or fit "
            "rc.CompositionalClassifier"
        )
    low, high = sorted(values, key=str)
    return low, high


def ways_of_writing(values: Sequence[str]) -> str:
    """Say why texts that look like numbers are not read as such, or nothing where they do not.

    Examples
    --------
    >>> ways_of_writing(["$3.50", "€4.20"])
    'its numbers are in several currencies ($, €)'
    >>> ways_of_writing(["28.6 (n=3)", "30.1 (n=4)"]), ways_of_writing(["red", "blue"])
    ("its cells hold more than a number each ('28.6 (n=3)')", '')
    """
    numbers = [number for value in values if (number := written_number(value.strip())) is not None]
    currencies = sorted({number.currency for number in numbers if number.currency})
    units = sorted({number.unit for number in numbers if number.unit})
    if 2 * len(numbers) > len(values) and len(currencies) > 1:
        return f"its numbers are in several currencies ({', '.join(currencies)})"
    if 2 * len(numbers) > len(values) and units and not all(number.unit == units[0] for number in numbers):
        bare = [repr(number.digits) for number in numbers if not number.unit][:1]
        return f"its numbers have several units, or some have none ({', '.join([*map(repr, units[:3]), *bare])})"
    begins = [value for value in values if value.strip()[:1].isdigit() and written_number(value.strip()) is None]
    if 2 * len(begins) > len(values):
        return f"its cells hold more than a number each ({begins[0]!r})"
    return ""


def no_number(source: Source, column: str) -> str:
    """Name values, with lines where known, that keep a column of a text file from numbers, which most of it is."""
    if source.reader.typed:
        return ""
    values = [value for value in source.read([column])[column].tolist() if value is not None]
    odd = [value for value in values if not is_number(value)]
    if not odd or 2 * len(odd) > len(values):
        return ""
    lines = [
        line for note in source.reader.notes if (note.kind, note.column) == ("misfit", column) for line in note.lines
    ]
    cells = sorted(set(odd))
    if len(lines) == len(odd):
        cells = [f"{value} (line {line:,})" for value, line in zip(odd, lines, strict=True)]
    rows, hold = plural(len(odd), "row"), "holds" if len(odd) == 1 else "hold"
    return f", because {rows} of {len(values):,} {hold} no number but {listing(cells, 3)}"
