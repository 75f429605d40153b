"""Packed files that expand beyond all measure."""

from __future__ import annotations

from recombine.errors import InputError

#: A packed file may expand to this many times its size, and to this many bytes in any case.
MAX_EXPANSION_RATIO, EXPANSION_ALLOWED_BYTES = 100, 2**30


def check_expansion(what: str, packed: int, expanded: int) -> None:
    """Raise if packed bytes expand beyond all measure, as files do that were made to fill a memory or a disk.

    Examples
    --------
    >>> check_expansion("table.csv.gz", packed=10**6, expanded=2 * 10**9)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: table.csv.gz expands to 2,000,000,000 bytes or more, over 100 times its size; unpack it
        yourself if that is as it should be
    """
    if expanded > max(EXPANSION_ALLOWED_BYTES, MAX_EXPANSION_RATIO * packed):
        raise InputError(
            f"{what} expands to {expanded:,} bytes or more, over {MAX_EXPANSION_RATIO} times its size; unpack it "
            "yourself if that is as it should be"
        )
