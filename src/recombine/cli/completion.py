"""What a shell may complete: columns of the table on the line, structures, findings, and values that can be listed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

#: A shell that asks for completions sets this variable.
ASKED = "_RECOMBINE_COMPLETE"


def completion_of(metavar: str) -> Callable[..., list[str]] | None:
    """Return what completes a value that help calls so: ``COLUMNS``, ``FINDINGS``, ``median|mean|none``.

    Examples
    --------
    >>> completion_of("median|mean|none")(None, "me")
    ['median', 'mean']
    """
    lists = {"COLUMN": _columns, "COLUMNS": _columns, "STRUCTURE": _structures, "FINDINGS": _findings}
    listed = (lambda _: metavar.split("|")) if "|" in metavar else lists.get(metavar)
    return listed and completion_by(listed, several=metavar.endswith("S"))


def completion_by(listed: Callable[[typer.Context], Iterable[str]], several: bool = False) -> Callable[..., list[str]]:
    """Return what completes one of the names listed, or ``several`` that are separated by commas."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from recombine.tables.text_files import split_names

        before, comma, begun = incomplete.rpartition(",") if several else ("", "", incomplete)
        try:
            names = [name for name in listed(ctx) if name.startswith(begun) and name not in split_names(before)]
        except Exception:  # a table that is not there or no table: whoever presses the key is not done yet
            return []
        return [_as_typed(f"{before}{comma}{name}") for name in names]

    return complete


def _as_typed(text: str) -> str:
    """Escape what bash would take for its own; other shells do that themselves."""
    return re.sub(r"([^\w,.:=/+@%-])", r"\\\1", text) if os.environ.get(ASKED, "").endswith("bash") else text


def _columns(context: typer.Context) -> Iterable[str]:
    """Return the columns of the table on the line; of its rows none is read."""
    from recombine.tables.engine import column_names

    # Where the option still lacks its value, the line is not taken apart to its end.
    file = Path(context.params.get("file") or context.args[0])
    return [f'"{name}"' if "," in name else name for name in column_names(file)]


def _structures(_: typer.Context) -> Iterable[str]:
    from recombine.theory.structures.all_structures import simplest_first

    return ["auto", *(entry.name for entry in simplest_first())]


def _findings(_: typer.Context) -> Iterable[str]:
    from recombine.jobs.findings import FINDINGS

    return [name for kind in FINDINGS for name in (kind.code, *kind.fail_on)]
