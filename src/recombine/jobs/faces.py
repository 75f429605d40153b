"""The faces of results: `recombine.report` says here what shows them, because jobs may not look up to it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Class of a result -> kind of face -> the function that makes it, as ``module:name``, so that none is loaded in vain.
FACES: dict[str, dict[str, str]] = {}


def face(result: object, kind: str) -> str:
    """Return a result as ``text``, as HTML for a ``notebook`` or as a whole ``page``.

    Examples
    --------
    >>> import recombine as rc
    >>> face(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])), "notebook").startswith("<div")
    True
    """
    text: str = widget(result, kind)
    return text


def widget(result: object, kind: str = "explorer") -> Any:
    """Return a face that is no text: the page about a result, for a notebook.

    Examples
    --------
    >>> import recombine as rc
    >>> len(widget(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))).seen)
    3
    """
    module, _, name = FACES[type(result).__name__][kind].partition(":")
    return getattr(import_module(module), name)(result)
