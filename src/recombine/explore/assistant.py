"""What an assistant may ask about the tables below one folder, over the Model Context Protocol: it reads, never writes.

Every answer is short, whatever the size of the table, and what cannot be answered is one line, as on a command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recombine import words
from recombine._version import __version__
from recombine.design.design import Design
from recombine.design.targets import place_cell
from recombine.errors import InputError, RecombineError
from recombine.explore.answers import TableAnswers
from recombine.jobs.audit.audit import audit
from recombine.jobs.score.predictions import read_designs
from recombine.jobs.score.score import score
from recombine.table_spec import TableSpec, fields, spec_of
from recombine.writing import printable

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

#: Cells that a plan proposes at most, and letters of a text: names of a table may be long.
MAX_CELLS_PLANNED, MAX_ANSWER_LETTERS = 50, 6_000
#: Audits that are kept for the next question.
MAX_AUDITS_KEPT = 4
#: What an assistant names, from the words that say what they mean.
Columns = dict[str, Any]
Levels = dict[str, str | float]


class TableFolder:
    """The questions that may be asked about the tables below ``root``; each is a tool of that name.

    Examples
    --------
    >>> from recombine.data import screen_path
    >>> folder = TableFolder(screen_path().parent)
    >>> columns = {"factors": ["drug", "cell_line"], "outcome": "activity", "split": "split=measured"}
    >>> folder.predict("screen.csv", {"drug": "Nilotinib", "cell_line": "A2058"}, columns)["verdict"]
    'determined'
    >>> folder.audit("../answers.py")
    Traceback (most recent call last):
    recombine.errors.InputError: '../answers.py' is not below the folder this was started in; name a table that is
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._one_at_a_time = Lock()
        self._kept = lru_cache(MAX_AUDITS_KEPT)(_answers)

    @property
    def tools(self) -> tuple[Callable[..., Any], ...]:
        """What may be asked."""
        return self.audit, self.explain, self.predict, self.plan, self.score

    def audit(self, table: str, columns: Columns | None = None) -> str:
        """Which unseen combinations of the table's factors do its rows determine, and what should be measured next?

        ``table``: a file below the folder (CSV, Excel, Parquet, JSON, SQLite). ``columns`` says what its columns are:
        {"factors": ["drug", "dose"], "outcome": "y", "split": "part=train"}; guessed where left out.
        """
        return _short(str(self._asked(table, columns).audit.answer))

    def explain(self, table: str, cell: Levels, columns: Columns | None = None) -> str:
        """Explain one combination in words: its verdict, value and range, and the measured ones that prove it.

        ``cell`` names a level of every factor: {"drug": "A", "dose": 5}.
        """
        return _short(self._asked(table, columns).audit.explain(cell))

    def predict(self, table: str, cell: Levels, columns: Columns | None = None) -> dict[str, Any]:
        """Return the value of one combination with its 90 % range, or its measured mean, and how far to trust it.

        ``value`` has predicted, error (standard), low and high; whoever quotes it should quote ``verdict`` too.
        """
        cells = self._asked(table, columns)
        design, codes = place_cell(cells.audit.design, cell)
        if design is not cells.audit.design:
            raise InputError("the table has no such value of a numeric factor; ask explain, which reads between values")
        answer = cells.cell(codes.tolist())
        return {"verdict": answer.pop("word"), **{name: answer[name] for name in answer if name != "code"}}

    def plan(self, table: str, cells: int = 5, columns: Columns | None = None) -> dict[str, Any]:
        """Return the combinations to measure next, best first, each with what it would settle or sharpen."""
        if not 1 <= cells <= MAX_CELLS_PLANNED:
            raise InputError(f"{cells} cells cannot be planned; ask for 1 to {MAX_CELLS_PLANNED}")
        wanted = self._asked(table, columns).audit
        plan = wanted.plan(cells)
        gains = {printable(wanted.design.label(pick.cell)): words.plan.gain_text(plan, pick) for pick in plan.picks}
        return {"cells": gains, "sentence": _short(printable(words.plan.plan_sentence(plan)))}

    def score(self, table: str, predictions: list[str], columns: Columns) -> str:
        """Say why models missed: error on held-out rows by verdict and cause.

        ``predictions`` are columns of the table, one per model; ``columns`` has to say what was trained on ("split").
        """
        path, spec = self._path(table), _spec(columns)
        with self._one_at_a_time:
            return _short(str(score(read_designs(path, spec), path, predictions, spec.split).answer))

    def _asked(self, table: str, columns: Columns | None) -> TableAnswers:
        path, spec = self._path(table), _spec(columns or {})
        with self._one_at_a_time:
            return self._kept(path, path.stat().st_mtime_ns, spec)

    def _path(self, table: str) -> Path:
        """Return the file, links followed, or refuse it."""
        try:
            path = (self.root / table).resolve()
            inside = path.relative_to(self.root)
        except (OSError, ValueError):
            raise InputError(f"{table!r} is not below the folder this was started in; name a table that is") from None
        if any(component.startswith(".") for component in inside.parts):
            raise InputError(f"{table!r} is hidden; name a table that is not")
        if not path.is_file():
            raise InputError(f"{table!r} is no file below the folder this was started in; check its name")
        return path


def _spec(columns: Mapping[str, Any]) -> TableSpec:
    for field in fields():
        if field.kind in ("file", "tables") and not {field.name, field.flag[2:]}.isdisjoint(columns):
            raise InputError(f"{field.name} names another table; ask for it on the command line: {field.flag}")
    return spec_of(columns, Path("columns"))


def _answers(path: Path, changed: int, spec: TableSpec) -> TableAnswers:
    """Return the audit of a table as it was when it was last ``changed``."""
    return TableAnswers(audit(Design.from_frame(path, spec)))


def _short(text: str) -> str:
    return text if len(text) <= MAX_ANSWER_LETTERS else f"{text[:MAX_ANSWER_LETTERS]} …"


def table_server(folder: TableFolder) -> MCPServer:
    """Return the server whose tools are the questions to ``folder``; ``run()`` serves standard input and output."""
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    server = MCPServer("recombine", instructions=words.page.FOR_ASSISTANTS, version=__version__, log_level="ERROR")
    harmless = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for question in folder.tools:
        server.add_tool(_told(question), annotations=harmless)
    return server


def _told(question: Callable[..., Any]) -> Callable[..., Any]:
    """Return a question whose refusals reach the assistant as the one line they are."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(question)
    def asked(**given: Any) -> Any:
        try:
            return question(**given)
        except RecombineError as error:
            raise ToolError(str(error)) from error

    return asked
