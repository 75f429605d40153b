"""The command about the page: paint what was seen, watch what follows."""

from __future__ import annotations

from typing import Annotated

import typer

from recombine.report.screen import say


def explore_command(
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in the browser, or only say where it is.")
    ] = True,
) -> None:
    """Open the page on which seen cells are painted; it is one file, and nothing leaves it."""
    from recombine.explore import page_path

    path = page_path()
    say(f"{path}\n")
    if open_it and not _shown(path.as_uri()):
        say("no browser could be started; open this file in one\n")


def _shown(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
