"""The command line: thin, with one error style and stable exit codes (0 fine, 1 a named finding, 2 bad input)."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.cli import inspect as inspect_cli
from recombine.cli import papers as papers_cli
from recombine.cli import probe as probe_cli
from recombine.errors import InputError, RecombineError, listing, near_miss
from recombine.jobs.output_files import check_file
from recombine.report.screen import say

app = typer.Typer(
    name="recombine",
    help="Which unseen combinations of factors does your data determine, and what to collect next?",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

papers_cli.register(app)
probe_cli.register(app)
inspect_cli.register(app)

#: The base of every complaint about the command itself; typer carries it under different addresses by version.
_UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from recombine import __version__

        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def audit(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table, one row a measurement.")],
    factors: Annotated[
        str | None, typer.Option(help="Factor columns, separated by commas. Guessed if left out.")
    ] = None,
    outcome: Annotated[str | None, typer.Option(help="Numeric (or two-valued) outcome column.")] = None,
    split: Annotated[str | None, typer.Option(help="Split column, or column=value naming the training value.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of counts, for a table already aggregated.")] = None,
    sd: Annotated[str | None, typer.Option(help="Column of standard deviations, likewise.")] = None,
    order: Annotated[int, typer.Option(help="How many factors may interact (1: effects add).")] = 1,
    symmetric: Annotated[
        str | None, typer.Option(help="Factors that are one factor used twice: gene_a,gene_b.")
    ] = None,
    as_levels: Annotated[
        str | None, typer.Option(help="Numeric columns with very many values that are labels.")
    ] = None,
    targets: Annotated[Path | None, typer.Option(help="Table of cells to judge instead of the whole product.")] = None,
    new_levels: Annotated[bool, typer.Option("--new-levels", help="Accept target levels the table lacks.")] = False,
    suggest: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5,
    cost: Annotated[Path | None, typer.Option(help="Table with factor columns and a 'cost' column.")] = None,
    forbidden: Annotated[
        Path | None, typer.Option(help="Table of cells that cannot be collected; blanks match all.")
    ] = None,
    models: Annotated[bool, typer.Option("--models", help="Also compare scikit-learn models, by verdict.")] = False,
    explain: Annotated[
        str | None, typer.Option(help="Print one cell's verdict and certificate instead: its levels, by commas.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="Write the listed verdicts to this CSV file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    fail_on: Annotated[str | None, typer.Option(help="Exit with 1 on these findings: RC101,RC301.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Say which unseen combinations of a table are determined by its data, why, and what to collect next."""
    import recombine

    codes = _codes(fail_on)
    _check_outputs([html, verdicts], file, force)
    with _working("reading the table"):
        design = recombine.Design.from_frame(
            file,
            _names(factors),
            outcome,
            weight=weight,
            sd=sd,
            split=split,
            symmetric=_names(symmetric) or (),
            as_levels=_names(as_levels) or (),
        )
    with _working("deciding the unseen cells"):
        result = recombine.audit(design, order, targets=targets, new_levels=new_levels, seed=seed)
        explained = None if explain is None else result.explain(_names(explain) or [])
        result.findings  # noqa: B018 - the slow part happens here, under the spinner
    with _working("planning the next cells"):
        plan = _plan(result, suggest, cost, forbidden)
    compared = None
    if models:
        with _working("training other models on parts of the seen cells"):
            compared = result.compare_models()
    say(_text(result, plan, compared, explained, json))
    _write(result, plan, compared, html, verdicts, quiet=json)
    raise typer.Exit(1 if codes & {finding.code for finding in result.findings} else 0)


@app.command()
def demo(
    html: Annotated[
        Path | None, typer.Option(help="Where to write the report (by default recombine-demo.html).")
    ] = None,
    models: Annotated[bool, typer.Option(help="Compare scikit-learn models, by verdict.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Audit the bundled table of flight times by carrier, origin and destination."""
    from recombine.data import flights_path

    audit(
        flights_path(),
        factors="carrier,origin,dest",
        outcome="air_time",
        weight="n",
        sd="sd",
        models=models,
        html=html or Path("recombine-demo.html"),
        # The default file is the demo's own; only a name of the user's choosing could be the user's file.
        force=force or html is None,
    )


def _names(text: str | None) -> list[str] | None:
    """Split a list of names as a line of CSV, so that a name with a comma in it can be quoted."""
    if text is None:
        return None
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in fields if name.strip()]


def _codes(text: str | None) -> set[str]:
    from recombine.verdicts import FINDINGS

    codes = {code.upper() for code in _names(text) or []}
    for code in sorted(codes - set(FINDINGS)):
        raise InputError(f"--fail-on {code} is not a finding;{near_miss(code, FINDINGS)} Findings: {listing(FINDINGS)}")
    return codes


def _check_outputs(paths: Sequence[Path | None], table: Path, force: bool) -> None:
    """Refuse before the work, not after it, to write where nothing may be written."""
    named = [path for path in paths if path is not None]
    for path in named:
        if path.exists() and path.resolve() == table.resolve():
            raise InputError(f"{path} is the table itself; choose another name for the output")
        check_file(path, force)
    if len({path.resolve() for path in named}) < len(named):
        raise InputError(f"{named[0]} is named for two outputs; give each its own file")


def _plan(result: Any, count: int, cost: Path | None, forbidden: Path | None) -> Any:
    if count == 0:
        return None
    from recombine.jobs.advice.constraints import read_costs, read_forbidden

    costs = None if cost is None else read_costs(cost, result.design)
    blocked = () if forbidden is None else read_forbidden(forbidden, result.design)
    return result.suggest(count, cost=costs, forbidden=blocked)


def _text(result: Any, plan: Any, models: Any, explained: str | None, json: bool) -> str:
    """Return what goes to standard output: JSON, one cell's explanation, or the summary."""
    if json:
        from recombine.report.audit.record import audit_json

        return audit_json(result, plan, models, explained) + "\n"
    if explained is not None:
        return explained + "\n"
    from recombine.report.audit.terminal import show_audit
    from recombine.report.screen import capture

    return capture(lambda console: show_audit(result, console, plan, models))


def _write(result: Any, plan: Any, models: Any, html: Path | None, verdicts: Path | None, quiet: bool) -> None:
    """Write the files asked for and say where they are; on standard error when standard output is for machines."""
    notes = []
    if verdicts is not None:
        result.verdicts.to_csv(verdicts)
        notes.append(f"verdicts written to {verdicts} ({result.listing.note})")
    if html is not None:
        from recombine.report.audit.page import page

        with _working("writing the report"):
            html.write_text(page(result, models=models, plan=plan, command=_command()), encoding="utf-8")
        notes.append(f"report written to {html.resolve()}")
    for note in notes:
        if quiet:
            print(note, file=sys.stderr)
        else:
            say(note + "\n")


def _command() -> str:
    return " ".join(["recombine", *sys.argv[1:]])


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Show progress on stderr when a person is watching."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} ..."):
        yield


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error is one line on stderr and exit code 2."""
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=given, prog_name="recombine", standalone_mode=False)
    except RecombineError as error:
        _stop(str(error))
    except _UsageProblem as error:
        _stop(_usage(error))
    except OSError as error:
        _stop(f"{error.filename or 'a file'}: {error.strerror or error}; check the path and its rights")
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any) -> str:
    """Say in one line what is wrong with the command itself."""
    context = getattr(error, "ctx", None)
    message = str(error.format_message()).rstrip(".")
    if context is None:
        return message
    return f"{message}{' See' if message.endswith('?') else '; see'} {context.command_path} --help"


def _stop(message: str, code: int = 2) -> None:
    print(f"recombine: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
