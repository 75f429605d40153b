"""What is new, gone or stays between two lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from recombine.jobs.split.leaks import spelling


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
    """Sort names: numbers first, by size, then words.

    Examples
    --------
    >>> in_order(["b", "10", "9.5", "a", "nan"])
    ['9.5', '10', 'a', 'b', 'nan']
    """
    return sorted(names, key=_place)


def respelled(gone: Iterable[str], new: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of a name that is gone and a new one that differ in case, blanks, punctuation or digits only.

    Case counts for nothing here, however short the names: that one is gone where the other is new speaks for itself.

    Examples
    --------
    >>> respelled(["a3", "1.50", "red"], ["A3", "1.5", "blue"])
    [('a3', 'A3'), ('1.50', '1.5')]
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


def read_differently(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return how two tables were read where it differs, as one setting; outcome, order and structure have their own.

    Examples
    --------
    >>> read_differently({"factors": ["a", "b"]}, {"factors": ["b", "a"], "crossed": True})
    {'table read with': ('crossed: no', 'crossed: yes')}
    """
    names = [name for name in {**before, **after} if name not in ("outcome", "order", "structure")]
    sides = [{name: _reading(table.get(name)) for name in names} for table in (before, after)]
    differing = [name for name in names if sides[0][name] != sides[1][name]]
    old, new = ("; ".join(f"{name}: {side[name]}" for name in differing) for side in sides)
    return {"table read with": (old, new)} if differing else {}


def _reading(value: Any) -> str:
    """Return what a field of a spec says: lists in order, files by their names alone, so that a move is no change."""
    if isinstance(value, list):
        return ", ".join(sorted(map(str, value))) or "none"
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no"
    return PurePath(value).name if isinstance(value, str) and PurePath(value).suffix else str(value)
