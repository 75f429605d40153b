"""The command for assistants: questions about the tables below this folder, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

from recombine.cli.table_options import takes_table
from recombine.errors import missing_package


@takes_table()
def mcp_command() -> None:
    """Answer an assistant's questions about tables below this folder, on standard input and output; Ctrl-C ends it."""
    from recombine.explore.assistant import TableFolder, table_server

    try:
        server = table_server(TableFolder(Path.cwd()))
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    server.run()
