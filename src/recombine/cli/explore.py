"""The command about the page: paint what was seen, watch what follows; or look into a table of any size."""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.audit import working
from recombine.cli.table_options import (
    AsLevelsOption,
    ControlOption,
    CountsOption,
    CrossedOption,
    FactorsOption,
    NestedOption,
    NumericOption,
    OrderedOption,
    OrderOption,
    OutcomeOption,
    PossibleOption,
    SdOption,
    SeparatorOption,
    SequenceOption,
    SetsOption,
    SplitOption,
    StructureOption,
    SymmetricOption,
    WeightOption,
    read_design,
)
from recombine.errors import InputError, missing_package
from recombine.report.screen import say

if TYPE_CHECKING:
    from recombine.explore.answers import TableAnswers


def explore_command(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table to look into, of any size.")
    ] = None,
    factors: FactorsOption = None,
    outcome: OutcomeOption = None,
    split: SplitOption = None,
    weight: WeightOption = None,
    sd: SdOption = None,
    counts: CountsOption = None,
    order: OrderOption = None,
    structure: StructureOption = "auto",
    symmetric: SymmetricOption = None,
    as_levels: AsLevelsOption = None,
    sequence: SequenceOption = None,
    sets: SetsOption = None,
    separator: SeparatorOption = None,
    control: ControlOption = None,
    ordered: OrderedOption = None,
    numeric: NumericOption = None,
    nested: NestedOption = None,
    crossed: CrossedOption = False,
    possible: PossibleOption = None,
    suggest: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5,
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
    with loopback_socket(port) as listener:
        columns = {name: value for name, value in context.params.items() if name not in _NOT_ABOUT_COLUMNS}
        answers = _answers(file, columns, order, structure, suggest, seed)
        token, free = token_urlsafe(32), listener.getsockname()[1]
        app, link = table_app(answers, token, free), f"http://127.0.0.1:{free}/?token={token}"
        listener.listen()
        say(f"{link}\nCtrl-C ends it.\n")
        if open_it:
            _show_beside(link)
        serve(app, listener)


#: Options that are not about what the table's columns are.
_NOT_ABOUT_COLUMNS = {"file", "order", "structure", "suggest", "seed", "port", "open_it"}


def _refuse_options(context: typer.Context) -> None:
    """Refuse options about a table where none was named: they would do nothing."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name != "open_it" and source is not None and source.name == "COMMANDLINE":
            option = next(one.opts[0] for one in context.command.params if one.name == name)
            raise InputError(f"{option} is about a table; name it: recombine explore table.csv {option} ...")


def _answers(
    file: Path, columns: dict[str, Any], order: int | None, structure: str, suggest: int, seed: int
) -> TableAnswers:
    """Audit the table as `recombine audit` does, and work out all that the page can ask for."""
    with working("reading the table"):
        from recombine import audit

        design = read_design(file, **columns)
    with working("deciding the unseen cells"):
        found = audit(design, order, structure=structure, seed=seed)
        found.findings  # noqa: B018 - the slow part happens here, under the spinner
    plan = None
    if suggest:
        with working("planning the next cells"):
            plan = found.suggest(suggest)
    with working("drawing the map"):
        from recombine.explore.answers import TableAnswers

        return TableAnswers(found, plan)


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
