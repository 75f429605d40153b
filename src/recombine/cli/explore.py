"""The command about the page: paint what was seen, watch what follows; or look into a table of any size."""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.audit import audited, working
from recombine.cli.table_options import Outputs, files_of, takes_table
from recombine.errors import InputError, missing_package
from recombine.output_files import check_outputs
from recombine.report.screen import say
from recombine.table_spec import TableSpec

if TYPE_CHECKING:
    from recombine.explore.answers import TableAnswers


@takes_table(outputs=("save_design", "force"))
def explore_command(
    context: typer.Context,
    table: TableSpec,
    outputs: Outputs,
    file: Annotated[
        Path | None, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table to look into, of any size.")
    ] = None,
    plan: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine at which a table is served (0: any free one).")
    ] = 0,
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in the browser, or only say where it is.")
    ] = True,
) -> None:
    """Open the page on which seen cells are painted; with a table, serve the page with its audit behind it."""
    if file is None:
        _refuse_options(context)
        _open_page(open_it)
        return
    try:
        from recombine.explore.server import loopback_socket, serve, table_app
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    check_outputs([outputs.save_design], [file, *files_of(table)], outputs.force)
    with loopback_socket(port) as listener:
        answers = _answers(file, table, outputs, plan, seed)
        token, free = token_urlsafe(32), listener.getsockname()[1]
        app, link = table_app(answers, token, free), f"http://127.0.0.1:{free}/?token={token}"
        listener.listen()
        say(f"{link}\nCtrl-C ends it.\n")
        if open_it:
            _show_beside(link)
        serve(app, listener)


def _refuse_options(context: typer.Context) -> None:
    """Refuse options about a table where none was named: they would do nothing."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name != "open_it" and source is not None and source.name == "COMMANDLINE":
            option = next(one.opts[0] for one in context.command.params if one.name == name)
            raise InputError(f"{option} is about a table; name it: recombine explore table.csv {option} ...")


def _answers(file: Path, table: TableSpec, outputs: Outputs, cells: int, seed: int) -> TableAnswers:
    """Audit the table as `recombine audit` does, and work out all that the page can ask for."""
    result = audited(file, table, None, False, seed)
    outputs.save(table, result.design)
    plan = None
    if cells:
        with working("planning the next cells"):
            plan = result.plan(cells)
    with working("drawing the map"):
        from recombine.explore.answers import TableAnswers

        return TableAnswers(result, plan, outputs.command)


def _open_page(open_it: bool) -> None:
    from recombine.explore import page_path

    path = page_path()
    say(f"{path}\n")
    if open_it and not _shown(path.as_uri()):
        say("no browser could be started; open this file in one\n")


def _show_beside(link: str) -> None:
    """Start the browser while the page is already being served: some browsers return when they are closed."""
    from threading import Thread

    def show() -> None:
        if not _shown(link):
            say("no browser could be started; open the link in one\n")

    Thread(target=show, daemon=True).start()


def _shown(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
