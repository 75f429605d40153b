"""The command line: thin, with one error style and stable exit codes (0 fine, 1 a named finding, 2 bad input)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.errors import InputError, RecombineError, listing, near_miss

app = typer.Typer(
    name="recombine",
    help="Which unseen combinations of factors does your data determine, and what to collect next?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        from recombine import __version__

        print(__version__)
        raise typer.Exit


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
    suggest: Annotated[int, typer.Option(help="How many cells to propose for collection (0: none).")] = 5,
    cost: Annotated[Path | None, typer.Option(help="Table with factor columns and a 'cost' column.")] = None,
    forbidden: Annotated[
        Path | None, typer.Option(help="Table of cells that cannot be collected; blanks match all.")
    ] = None,
    models: Annotated[bool, typer.Option("--models", help="Also compare scikit-learn models, by verdict.")] = False,
    explain: Annotated[str | None, typer.Option(help="Explain one cell: its levels, separated by commas.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="Write the listed verdicts to this CSV file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    fail_on: Annotated[str | None, typer.Option(help="Exit with 1 on these findings: RC101,RC301.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")] = False,
    seed: Annotated[int, typer.Option(help="Fixes every random choice.")] = 0,
) -> None:
    """Say which unseen combinations of a table are determined by its data, why, and what to collect next."""
    import recombine

    codes = _codes(fail_on)
    _check_outputs([html, verdicts], force)
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
        result.findings  # noqa: B018 - the slow part happens here, under the spinner
    if explain is not None:
        print(result.explain(_names(explain) or []))
        raise typer.Exit
    with _working("planning the next cells"):
        plan = _plan(result, suggest, cost, forbidden)
    compared = None
    if models:
        with _working("training other models on parts of the seen cells"):
            compared = result.compare_models()
    _emit(result, plan, compared, html, verdicts, json)
    raise typer.Exit(1 if codes & {finding.code for finding in result.findings} else 0)


@app.command()
def demo(
    html: Annotated[Path, typer.Option(help="Where to write the report.")] = Path("recombine-demo.html"),
    models: Annotated[bool, typer.Option(help="Compare scikit-learn models, by verdict.")] = True,
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
        html=html,
        force=True,
    )


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _codes(text: str | None) -> set[str]:
    from recombine.verdicts import FINDINGS

    codes = {code.upper() for code in _names(text) or []}
    for code in sorted(codes - set(FINDINGS)):
        raise InputError(f"--fail-on {code} is not a finding;{near_miss(code, FINDINGS)} Findings: {listing(FINDINGS)}")
    return codes


def _check_outputs(paths: list[Path | None], force: bool) -> None:
    """Refuse before the work, not after it, to write where nothing may be written."""
    for path in paths:
        if path is None:
            continue
        if path.exists() and not force:
            raise InputError(f"{path} exists; choose another name, or allow overwriting with --force")
        folder = path.parent
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder; create it or write elsewhere")
        if not os.access(folder, os.W_OK):
            raise InputError(f"{folder} cannot be written to; choose a folder you can write to")


def _plan(result: Any, count: int, cost: Path | None, forbidden: Path | None) -> Any:
    if count < 0:
        raise InputError(f"--suggest {count} is negative; ask for 0 or more cells")
    if count == 0:
        return None
    from recombine.audit.constraints import read_costs, read_forbidden

    costs = None if cost is None else read_costs(cost, result.design)
    blocked = () if forbidden is None else read_forbidden(forbidden, result.design)
    return result.suggest(count, cost=costs, forbidden=blocked)


def _emit(result: Any, plan: Any, models: Any, html: Path | None, verdicts: Path | None, json: bool) -> None:
    from rich.console import Console

    from recombine.report.page import page
    from recombine.report.record import as_json
    from recombine.report.terminal import show

    if json:
        print(as_json(result, plan, models))
    else:
        console = Console(highlight=False, emoji=False)
        show(result, console, plan, models)
    notes = []
    if verdicts is not None:
        result.verdicts.to_csv(verdicts)
        notes.append(f"verdicts written to {verdicts} ({result.listing.note})")
    if html is not None:
        with _working("writing the report"):
            html.write_text(page(result, models=models, command=_command()), encoding="utf-8")
        notes.append(f"report written to {html.resolve()}")
    for note in notes:
        print(note, file=sys.stderr if json else sys.stdout)


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


def main() -> None:
    """Run the command line; every error is one line on stderr and exit code 2."""
    try:
        app()
    except RecombineError as error:
        print(f"recombine: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output (head, less) has gone; that is no error of ours.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        print(
            f"recombine: {error.filename or 'a file'}: {error.strerror}; check the path and its rights", file=sys.stderr
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("recombine: stopped", file=sys.stderr)
        sys.exit(130)
