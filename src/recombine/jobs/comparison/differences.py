"""What two comparisons share: names that are new, gone or stay, and settings that differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from recombine.jobs.outputs import Answered, render
from recombine.jobs.split.leaks import spelling


class Comparison(Answered):
    """What comparisons of audits and of scores show in the same way."""

    before: Any
    after: Any

    @property
    def settings(self) -> dict[str, tuple[str, str]]:
        """What the results are about, assume or were asked, where it differs, before and after."""
        settings = differing(self.before.settings, self.after.settings)
        return settings | read_differently(self.before.table, self.after.table)

    @property
    def markdown(self) -> str:
        """The comparison for a pull request."""
        return render(self, "markdown")

    def _repr_markdown_(self) -> str:
        return self.markdown


@dataclass(frozen=True)
class Difference:
    """Names that only the second list has, only the first one, and both; each sorted, numbers by their size.

    Examples
    --------
    >>> Difference.between(["10", "9", "red"], ["9", "blue"])
    Difference(new=('blue',), gone=('10', 'red'), stay=('9',))
    """

    new: tuple[str, ...]
    gone: tuple[str, ...]
    stay: tuple[str, ...]

    @classmethod
    def between(cls, before: Iterable[str], after: Iterable[str]) -> Difference:
        """Compare two lists."""
        old, now = set(before), set(after)
        return cls(*(tuple(in_order(names)) for names in (now - old, old - now, old & now)))

    @property
    def changed(self) -> bool:
        """Whether anything is new or gone."""
        return bool(self.new or self.gone)


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names: numbers first, by size, then words."""
    return sorted(names, key=_place)


def respelled(gone: Iterable[str], new: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of a name that is gone and a new one that differ in case, blanks, punctuation or digits only.

    Case counts for nothing here, however short the names: that one is gone where the other is new speaks for itself.
    """
    fresh: dict[object, str] = {}
    for name in new:
        fresh.setdefault(_folded(name), name)
    return [(name, fresh[_folded(name)]) for name in gone if _folded(name) in fresh]


def _folded(name: str) -> object:
    spelled = spelling(name)
    return spelled.casefold() if isinstance(spelled, str) else spelled


def _place(name: str) -> tuple[bool, float, str]:
    try:
        number = float(name)
    except ValueError:
        return True, 0.0, name
    return (True, 0.0, name) if number != number else (False, number, name)


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return name -> both values, where they differ."""
    return {name: (value, after[name]) for name, value in before.items() if value != after[name]}


def read_differently(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return how two tables were read where it differs, as one setting; outcome, order and structure have their own.

    Examples
    --------
    >>> read_differently({"factors": ["a", "b"]}, {"factors": ["b", "a"], "crossed": True})
    {'table read with': ('crossed: no', 'crossed: yes')}
    """
    names = [name for name in {**before, **after} if name not in ("outcome", "order", "structure")]
    sides = differing(*({name: _reading(table.get(name)) for name in names} for table in (before, after)))
    texts = ["; ".join(f"{name}: {values[side]}" for name, values in sides.items()) for side in (0, 1)]
    return {"table read with": (texts[0], texts[1])} if sides else {}


def _reading(value: Any) -> str:
    """Return what a field of a spec says: lists in order, files by their names alone, so that a move is no change."""
    if isinstance(value, list):
        return ", ".join(sorted(map(str, value))) or "none"
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no"
    return PurePath(value).name if isinstance(value, str) and PurePath(value).suffix else str(value)
