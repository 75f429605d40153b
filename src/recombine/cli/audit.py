"""The commands about tables: audit one, or the one that comes with the package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.compare import read_baseline, read_fail_on, tell_changes
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
from recombine.errors import InputError, near_miss
from recombine.output_files import check_outputs, check_table_name, write_whole
from recombine.report.screen import capture, printable, say, say_json
from recombine.tables.text_files import named
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.tables.table import Table


def audit_command(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or JSON-lines table, one row per measurement.")],
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
    targets: Annotated[Path | None, typer.Option(help="Table of cells to judge instead of the whole product.")] = None,
    new_levels: Annotated[bool, typer.Option("--new-levels", help="Accept target levels the table lacks.")] = False,
    importance: Annotated[
        str | None,
        typer.Option(
            help="How much cells matter: table with factor columns (blanks match all) and 'importance'; or a column."
        ),
    ] = None,
    suggest: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5,
    cost: Annotated[Path | None, typer.Option(help="Table with factor columns and a 'cost' column.")] = None,
    forbidden: Annotated[
        Path | None, typer.Option(help="Table of cells that cannot be collected; blanks match all.")
    ] = None,
    self_pairs: Annotated[
        bool, typer.Option("--self-pairs", help="Also propose to pair a level of symmetric factors with itself.")
    ] = False,
    models: Annotated[bool, typer.Option("--models", help="Also compare scikit-learn models, by verdict.")] = False,
    explain: Annotated[
        str | None, typer.Option(help="Print one cell's verdict and certificate instead: its levels, by commas.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="Write the listed verdicts to this CSV file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="Say what changed since this --json of before; --fail-on counts only that.")
    ] = None,
    markdown: Annotated[
        str | None, typer.Option(help="With --baseline: write a summary for a pull request to this file; - prints it.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 on these findings: RC101,RC301; with --baseline on new ones, or on lost, new-findings."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
) -> None:
    """Say which unseen combinations of a table are determined by its data, why, and what to collect next."""
    fatal = read_fail_on(fail_on, "AUDIT", *(["AUDIT_CHANGES"] if baseline else []))
    read = [file, possible, targets, cost, forbidden, baseline, None if importance is None else Path(importance)]
    check_table_name(verdicts, "--verdicts")
    check_outputs([html, verdicts], read, force)
    known = read_baseline(baseline, "audit", markdown, read, json, force, [html, verdicts])
    if known and explain is not None:
        raise InputError("--explain is about one cell and --baseline about all; ask for one of them")
    with working("reading the table"):
        from recombine import audit

        design = read_design(
            file,
            factors=factors,
            outcome=outcome,
            weight=weight,
            sd=sd,
            counts=counts,
            split=split,
            symmetric=symmetric,
            as_levels=as_levels,
            nested=nested,
            crossed=crossed,
            possible=possible,
            sequence=sequence,
            sets=sets,
            separator=separator,
            control=control,
            ordered=ordered,
            numeric=numeric,
        )
    with working("deciding the unseen cells"):
        found = audit(
            design,
            order,
            structure=structure,
            targets=targets,
            new_levels=new_levels,
            importance=None if importance is None else named_importance(importance, file, targets),
            seed=seed,
        )
        explained = None if explain is None else found.explain(named(explain, "--explain"))
        found.findings  # noqa: B018 - the slow part happens here, under the spinner
    answer = _answer(found, 0 if known and html is None else suggest, cost, forbidden, models, self_pairs)
    if known:
        with working("comparing"):
            from recombine import compare

            changes = compare(known, found)
        try:
            tell_changes(changes, fatal, json, markdown, only_new=True)
        except typer.Exit:  # the answer has been given; files come after it, as without a baseline
            _write(answer, html, verdicts, quiet=json or markdown == "-")
            raise
    if json:
        say_json(_json(answer, explained))
    elif explained is not None:
        say(f"{explained}\n")
    else:
        say(_text(answer), drawn=True)
    _write(answer, html, verdicts, quiet=json)
    raise typer.Exit(1 if fatal.met(found.findings) else 0)


def demo_command(
    html: Annotated[
        Path | None, typer.Option(help="Where to write the report (by default recombine-demo.html).")
    ] = None,
    models: Annotated[bool, typer.Option(help="Train other models beside it, and compare them by verdict.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Audit the bundled table of flight times by carrier, origin and destination."""
    from recombine.data import flights_path

    target = html or Path("recombine-demo.html")
    check_outputs([target], [flights_path()], force or _may_replace(target))
    with working("deciding the unseen cells"):
        from recombine import audit

        found = audit(
            read_design(flights_path(), factors="carrier,origin,dest", outcome="air_time", weight="n", sd="sd")
        )
        found.findings  # noqa: B018 - as above
    answer = _answer(found, models=models)
    say(_text(answer), drawn=True)
    _write(answer, target)


def _may_replace(target: Path) -> bool:
    """Ask whoever sits at the terminal, where somebody does, before the report of an earlier demo is replaced."""
    if not target.is_file() or not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    return typer.confirm(f"{target} exists; write over it?")


@dataclass(frozen=True)
class _Answer:
    """An audit with the suggestions and the comparison of models that were asked for."""

    audit: Audit
    plan: Plan | None
    models: Table | None


def _answer(
    found: Audit,
    suggest: int = 5,
    cost: Path | None = None,
    forbidden: Path | None = None,
    models: bool = False,
    self_pairs: bool = False,
) -> _Answer:
    plan = scores = None
    if suggest:
        with working("planning the next cells"):
            limits = {} if cost is None and forbidden is None else _constraints(found, cost, forbidden)
            plan = found.suggest(suggest, self_pairs=self_pairs, **limits)
    if models:
        with working("training other models on parts of the seen cells"):
            scores = found.compare_models()
    return _Answer(found, plan, scores)


def _constraints(audit: Audit, cost: Path | None, forbidden: Path | None) -> dict[str, Any]:
    from recombine.jobs.advice.constraints import read_costs, read_forbidden

    return {
        "cost": None if cost is None else read_costs(cost, audit.design),
        "forbidden": () if forbidden is None else read_forbidden(forbidden, audit.design),
    }


def named_importance(text: str, table: Path, targets: Path | None) -> Path | tuple[Path, str]:
    """Return what --importance names: a column of the targets or of the table, else a file."""
    from recombine.tables.frames import open_table

    columns: dict[str, Path] = {}
    for path in (table, *([] if targets is None else [targets])):
        columns |= dict.fromkeys(open_table(path).columns, path)
    if text in columns:
        return columns[text], text
    if Path(text).exists():
        return Path(text)
    tables = table.name if targets is None else f"{table.name} or {targets.name}"
    raise InputError(
        f"--importance {text} is neither a column of {tables} nor a file;{near_miss(text, columns)} "
        f"Columns: {listing(columns)}"
    )


def _json(answer: _Answer, explained: str | None) -> str:
    from recombine.report.audit.record import audit_json

    with working("writing the answer"):
        return audit_json(answer.audit, answer.plan, answer.models, explained)


def _text(answer: _Answer) -> str:
    from recombine.report.audit.terminal import show_audit

    with working("writing the answer"):
        return capture(lambda console: show_audit(answer.audit, console, answer.plan, answer.models))


def _write(answer: _Answer, html: Path | None, verdicts: Path | None = None, quiet: bool = False) -> None:
    """Write the files asked for and say where they are; on standard error when standard output is for machines."""
    notes = []
    if verdicts is not None:
        answer.audit.verdicts.to_csv(verdicts)
        notes.append(f"verdicts written to {verdicts} ({answer.audit.listing.note})")
    if html is not None:
        from recombine.report.audit.page import page

        with working("writing the report"):
            command = " ".join(["recombine", *sys.argv[1:]])
            text = page(answer.audit, models=answer.models, plan=answer.plan, command=command)
            write_whole(html, text)
        notes.append(f"report written to {html.resolve()}")
    for note in notes:
        if quiet:
            print(printable(note), file=sys.stderr)
        else:
            say(note + "\n")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr what is being done and the share that is done, when a person is watching."""
    from rich.console import Console

    from recombine.progress import listening

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with (
        console.status(f"{what} ...") as status,
        listening(lambda part, share: status.update(f"{what}: {part}, {share:.0%} done ...")),
    ):
        yield
