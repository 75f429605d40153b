"""The command about the page: paint what was seen, watch what follows; or look into a table of any size."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.audit import AuditQuestions, audited
from recombine.cli.outputs import Outputs, working
from recombine.cli.table_options import Seed, files_of, takes_table
from recombine.errors import InputError, missing_package
from recombine.report.screen import say
from recombine.table_spec import TableSpec
from recombine.writing import printable

if TYPE_CHECKING:
    from recombine.explore.answers import TableAnswers

NO_BROWSER = "no browser could be started; open {what} in one\n"


@takes_table(outputs=("save_design", "force"), panel="Page")
def explore_command(
    table: TableSpec,
    outputs: Outputs,
    file: Annotated[
        Path | None,
        typer.Argument(help="Table (CSV, Excel, Parquet, JSON, SQLite, AnnData) of any size; - for a pipe."),
    ] = None,
    plan: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5,
    seed: Seed = 0,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine at which a table is served (0: any free one).")
    ] = 0,
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in the browser, or only say where it is.")
    ] = True,
) -> None:
    """Open the page on which seen cells are painted; with a table, serve the page with its audit behind it."""
    if file is None:
        _refuse_options(outputs)
        _open_page(open_it)
        return
    try:
        from recombine.explore.server import loopback_socket, serve, table_app
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    outputs.check([file, *files_of(table)])
    with loopback_socket(port) as listener:
        answers = _answers(file, table, outputs, plan, seed)
        token, free = token_urlsafe(32), listener.getsockname()[1]
        app, address = table_app(answers, token, free), f"http://127.0.0.1:{free}/?token="
        say(f"{address}{token}\nCtrl-C ends it.\n")
        with _shown(f"{address}{app.ticket()}") if open_it else nullcontext():
            serve(app, listener)


@contextmanager
def _shown(link: str) -> Iterator[None]:
    """Open a private file that leads to ``link`` in the browser, and remove it at the end.

    Everybody on the machine can read the arguments with which a browser is started, so they must not hold the link.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(TemporaryDirectory(prefix="recombine-", ignore_cleanup_errors=True))
            path = Path(folder, "open.html")
            path.touch(mode=0o600)
            refresh = f'<meta http-equiv="refresh" content="0; url={link}">'
            path.write_text(f'<!doctype html>\n<title>Recombine</title>\n{refresh}\n<a href="{link}">Recombine</a>\n')
        except OSError:
            say(NO_BROWSER.format(what="the link"))
        else:  # beside the server: some browsers return when they are closed
            Thread(target=_show, args=(path.as_uri(), "the link"), daemon=True).start()
        yield


def _refuse_options(outputs: Outputs) -> None:
    """Refuse options about a table where none was named: they would do nothing."""
    given = ["--save-design"] if outputs.save_design else []
    given += [word for word in shlex.split(outputs.command) if word.startswith("--")]
    for option in given:
        if option not in ("--open", "--no-open"):
            raise InputError(f"{option} is about a table; name it: recombine explore table.csv {option} ...")


def _answers(file: Path, table: TableSpec, outputs: Outputs, cells: int, seed: int) -> TableAnswers:
    """Audit the table as `recombine audit` does, and work out all that the page can ask for."""
    result = audited(file, table, AuditQuestions(seed=seed))
    outputs.save(table, result.design, result.choice)
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
    say(f"{printable(str(path))}\n")
    if open_it:
        _show(path.as_uri(), "this file")


def _show(address: str, what: str) -> None:
    import webbrowser

    shown = False
    with suppress(webbrowser.Error):
        shown = webbrowser.open(address)
    if not shown:
        say(NO_BROWSER.format(what=what))
