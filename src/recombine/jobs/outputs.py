"""How results are shown: `recombine.report` registers its functions here, because jobs may not import it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from recombine.output_files import check_file, write_whole

#: Class of a result -> kind of output -> the function that writes it, as ``module:name``, imported when it is called.
OUTPUTS: dict[str, dict[str, str]] = {}


def render(result: object, kind: str, *about: object) -> str:
    """Return a result as ``text``, as HTML for a ``notebook`` or as a whole ``page``; or what it says ``about`` a cell.

    Examples
    --------
    >>> import recombine as rc
    >>> render(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])), "notebook").startswith("<div")
    True
    """
    text: str = widget(result, kind, *about)
    return text


def widget(result: object, kind: str = "explorer", *about: object) -> Any:
    """Return an output that is no text: the page about a result, for a notebook.

    Examples
    --------
    >>> import recombine as rc
    >>> len(widget(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))).seen)
    3
    """
    module, _, name = OUTPUTS[type(result).__name__][kind].partition(":")
    return getattr(import_module(module), name)(result, *about)


class Answered:
    """A result with an answer, which it prints as."""

    @property
    def answer(self) -> Any:
        """The answer in at most twelve lines: print it, or take its ``lines`` and ``numbers``."""
        return widget(self, "answer")

    @property
    def summary(self) -> str:
        """All of it as plain text."""
        return render(self, "text")

    def __str__(self) -> str:
        return str(self.answer)


class Reported(Answered):
    """A result that is also written as a page and shown in notebooks."""

    def to_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write one self-contained HTML file and return its path; an existing file is kept unless ``force``."""
        target = Path(path)
        check_file(target, force)
        write_whole(target, render(self, "page"))
        return target

    def _repr_html_(self) -> str:
        return render(self, "notebook")
