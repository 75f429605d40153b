"""What a reader of tables has to know, and the words that all readers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import narwhals as nw


class Reader(Protocol):
    """What knows a table before it is read: a file through DuckDB, or a dataframe."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the table's order."""

    @property
    def typed(self) -> bool:
        """Whether values come with types; where they do not (CSV), every value is the text that was written."""

    @property
    def note(self) -> str:
        """What had to be assumed about the file, or nothing."""

    def keep(self, keys: dict[str, str]) -> Reader:
        """Return a reader of the columns in ``keys`` that can be asked many times."""

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kind of each named column."""

    def pick(self, keys: dict[str, str]) -> nw.LazyFrame[Any] | nw.DataFrame[Any]:
        """Return a frame of the columns named in ``keys``, each under its key."""

    def reason(self, error: Exception) -> str:
        """Say in one line why reading failed."""


def kind_of_dtype(dtype: Any) -> str:
    """Return the kind of a narwhals data type."""
    import narwhals as nw

    if dtype == nw.Boolean:
        return "flag"
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return "text"
    return "other"


def first_lines(error: Exception) -> str:
    """Say in one line what an engine says in many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]
