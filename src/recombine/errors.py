"""One error tree, one template: what is wrong, where, and what to do about it."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable
from pathlib import Path, PurePath

from recombine.writing import listing, printable

#: How alike the names of two files are, without their endings, if the one may be a slip of the other.
MIN_NAME_LIKENESS = 0.75


class RecombineError(Exception):
    """Base of every error the package raises on purpose; its text is one line, whatever the names in it hold."""

    def __str__(self) -> str:
        return printable(" ".join(super().__str__().split()))


class InputError(RecombineError, ValueError):
    """The caller's table, argument or file cannot be used as given.

    The message names the offending column, cell or value and says what to do.
    """


class StoppedError(RecombineError):
    """The user stopped long work; the text says where it goes on."""


class SolverError(RecombineError):
    """A solver stopped short of the accuracy it promises; the text is the advice."""


class UnsupportedRowsWarning(UserWarning):
    """Rows were predicted that training rows say little about: a level is new, or joined to no other."""


#: Packages that come with an extra: who needs each, and which extra.
_EXTRAS = {
    "torch": ("networks need", "nets"),
    "starlette": ("serving a table needs", "explore"),
    "uvicorn": ("serving a table needs", "explore"),
    "mcp": ("answering an assistant needs", "mcp"),
    "python_calamine": ("workbooks need", "excel"),
    "h5py": ("AnnData files need", "anndata"),
}


def install_advice(extra: str) -> str:
    """Return the command that installs an extra: from the clone this package lies in, or by its name.

    Examples
    --------
    >>> install_advice("nets").startswith("pip install '")
    True
    """
    clone = Path(__file__).parents[2]
    if not (clone / "pyproject.toml").is_file():
        return f"pip install 'recombine[{extra}]'"
    with contextlib.suppress(OSError):
        clone = Path(os.path.relpath(clone)) if clone.samefile(".") else clone
    return f"pip install '{clone}[{extra}]'"


def missing_package(error: ModuleNotFoundError) -> InputError:
    """Return what to tell someone who lacks an optional package."""
    name = (error.name or "").partition(".")[0]
    if name in _EXTRAS:
        what, extra = _EXTRAS[name]
        return InputError(f"the package {name!r} is not installed, and {what} it; get it with {install_advice(extra)}")
    return InputError(f"the package {error.name!r} is not installed; get it with pip install {error.name}")


def near_miss(word: object, candidates: Iterable[object], then: str = "") -> str:
    """Return " did you mean 'x'?" for the closest candidate, or an empty string, and what is said ``then``.

    Behind a colon the candidates are listed.

    Examples
    --------
    >>> near_miss("colour", ["color", "site"], "Columns:")
    " did you mean 'color'? Columns: color, site"
    >>> near_miss("mass", ["color", "site"], "Columns:")
    ' columns: color, site'
    """
    texts = [str(candidate) for candidate in candidates]
    if then.endswith(":"):
        then = f"{then} {listing(texts)}"
    close = difflib.get_close_matches(str(word), texts, n=1, cutoff=0.6)
    close = close or [text for text in texts if text.casefold() == str(word).casefold()][-1:]
    if close:
        return f" did you mean {close[0]!r}?{f' {then}' if then else ''}"
    return f" {then[0].lower()}{then[1:]}" if then else ""


def near_file(name: str, candidates: Iterable[str]) -> str:
    """Return " did you mean 'x'?" for the file with the closest name, endings aside, or an empty string."""

    def likeness(of: str, to: str) -> float:
        return difflib.SequenceMatcher(None, of, to).ratio()

    folded = name.casefold()
    ranked = [(likeness(_stem(name), _stem(other)), likeness(folded, other.casefold()), other) for other in candidates]
    by_stem, _, nearest = max(ranked, default=(0.0, 0.0, ""))
    return f" did you mean {nearest!r}?" if by_stem >= MIN_NAME_LIKENESS else ""


def _stem(name: str) -> str:
    path = PurePath(name.casefold())
    return PurePath(path.stem).stem if path.suffix == ".gz" else path.stem
