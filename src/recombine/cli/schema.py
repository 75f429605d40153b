"""The command about documents: what ``--json`` prints, as a JSON Schema."""

from __future__ import annotations

from importlib.resources import files

from recombine.cli.table_options import takes_table
from recombine.report.screen import say_json


@takes_table()
def schema_command() -> None:
    """Print the JSON Schema of the documents that commands print with --json, of every kind."""
    say_json((files("recombine.report") / "schema.json").read_text(encoding="utf-8").rstrip())
