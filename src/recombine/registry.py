"""Registries: what the package knows of one kind of thing (structures, causes, findings), in order, each under a name.

An entry is any object with a name. A module that needs one asks the registry; nothing compares names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Generic, TypeVar

from recombine.checks import known_or_refuse

Entry = TypeVar("Entry")


def help_address(what: str, name: str) -> str:
    """Return the address of the page about an entry of a registry; empty where no documentation is named.

    ``what`` is the registry's noun. The documentation is the one that `RECOMBINE_DOCS` names, else the one that the
    package was built with.

    Examples
    --------
    >>> help_address("cause", "seen noise").endswith("causes/seen-noise.html") or not documentation()
    True
    """
    base = os.environ.get("RECOMBINE_DOCS", "").rstrip("/") or documentation()
    return f"{base}/{what}s/{name.replace(' ', '-')}.html" if base else ""


@cache
def documentation() -> str:
    """Return the address of the documentation that the package's metadata name; empty without one."""
    try:
        urls = [url.partition(", ") for url in metadata("recombine").get_all("Project-URL", ())]
    except PackageNotFoundError:
        return ""
    return next((address.rstrip("/") for label, _, address in urls if label == "Documentation"), "")


class Registry(Generic[Entry]):
    """Entries in the order in which they were added; a name is taken once.

    ``what`` is the noun of an entry, for errors: "structure". ``key`` gives an entry's name, else its attribute does.

    Examples
    --------
    >>> import fractions
    >>> halves = Registry("share", [fractions.Fraction(1, 2)], key=str)
    >>> halves.names, halves["1/2"], "1/3" in halves
    (('1/2',), Fraction(1, 2), False)
    >>> with halves.registered(fractions.Fraction(1, 3)):
    ...     halves.names
    ('1/2', '1/3')
    >>> halves["1/3"]
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: share '1/3' is unknown; did you mean '1/2'? Shares: 1/2
    """

    def __init__(
        self,
        what: str,
        entries: Iterable[Entry] = (),
        *,
        key: Callable[[Entry], str] = lambda entry: entry.name,  # type: ignore[attr-defined]
    ) -> None:
        self.what, self._key = what, key
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> Entry:
        """Add ``entry`` at the end and return it; a name that is taken is refused."""
        name = self._key(entry)
        if name in self._entries:
            raise ValueError(f"two {self.what}s are named {name!r}: {self._entries[name]!r} and {entry!r}; rename one")
        self._entries[name] = entry
        return entry

    @contextmanager
    def registered(self, entry: Entry) -> Iterator[Entry]:
        """Add ``entry`` for the length of a ``with`` block: for tests."""
        self.add(entry)
        try:
            yield entry
        finally:
            del self._entries[self._key(entry)]

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._entries)

    def __getitem__(self, name: str) -> Entry:
        """Return the entry called ``name``; an unknown name is refused with its near miss."""
        known_or_refuse(name, self.what, self.names)
        return self._entries[name]

    def get(self, name: str) -> Entry | None:
        """Return the entry called ``name``, or None."""
        return self._entries.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)
