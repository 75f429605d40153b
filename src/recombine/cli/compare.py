"""The command about two results: what changed between them, and does the build go on?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from recombine.errors import InputError
from recombine.output_files import check_outputs, write_whole
from recombine.report.screen import capture, printable, say, say_json
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.cli.table_options import Outputs
    from recombine.jobs.comparison.audits import AuditComparison
    from recombine.jobs.comparison.documents import AuditDocument, ScoreDocument
    from recombine.jobs.comparison.scores import ScoreComparison
    from recombine.jobs.findings import FailOn, Finding


def compare_command(
    before: Annotated[Path, typer.Argument(help="What recombine audit --json (or score --json) printed before.")],
    after: Annotated[Path, typer.Argument(help="What it printed after.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    markdown: Annotated[
        str | None, typer.Option(help="Write a summary for a pull request to this file; - prints it instead of text.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 on these changes: lost, gone-levels, new-findings, RC101; of scores worse, gone-models."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing output file.")] = False,
) -> None:
    """Say what changed between two audits or two scores: cells, levels, findings; models, errors and causes."""
    from recombine import compare

    named_findings = read_fail_on(fail_on)
    check_summary(markdown, [None, before, after], json, force)
    tell_changes(compare(before, after), named_findings, json, markdown)


def read_baseline(
    outputs: Outputs, kind: str, inputs: Sequence[Path | None], written: Sequence[Path | None] = ()
) -> AuditDocument | ScoreDocument | None:
    """Return the document of before that ``--baseline`` names, refused before the work if it is of another kind."""
    path = outputs.baseline
    if path is None:
        if outputs.markdown is not None:
            raise InputError(f"--markdown sums up what changed; name what to compare with: --baseline {kind}.json")
        return None
    from recombine.jobs.comparison.documents import AuditDocument, read_document

    check_summary(outputs.markdown, [*inputs, path], outputs.json, outputs.force, written)
    before = read_document(path, path.name)
    given = "audit" if isinstance(before, AuditDocument) else "score"
    if given != kind:
        raise InputError(f"--baseline {path.name} is of recombine {given}; give one of recombine {kind} ... --json")
    return before


def read_fail_on(text: str | None, *results: str) -> FailOn:
    """Return what ``--fail-on`` names, refused before the work unless it is about one of these kinds of results."""
    from recombine.jobs.findings import FailOn, ResultKind

    fail_on = FailOn.named(named(text, "--fail-on"))
    return fail_on.about(*(ResultKind[name] for name in results)) if results else fail_on


def end_on(fail_on: FailOn, findings: Iterable[Finding]) -> NoReturn:
    """Leave with 1 if one of the findings is named, and say on stderr which; else with 0."""
    met = fail_on.met(findings)
    for finding in met:
        print(printable(f"--fail-on {finding}"), file=sys.stderr)
    raise typer.Exit(1 if met else 0)


def check_summary(
    markdown: str | None, inputs: Sequence[Path | None], json: bool, force: bool, others: Sequence[Path | None] = ()
) -> None:
    """Refuse before the work to write the summary where nothing may be written."""
    if markdown == "-" and json:
        raise InputError("--markdown - and --json both want standard output; name a file for one of them")
    if markdown is not None and markdown != "-":
        check_outputs([Path(markdown), *others], inputs, force)


def tell_changes(
    found: AuditComparison | ScoreComparison,
    fail_on: FailOn,
    json: bool,
    markdown: str | None,
    *,
    only_new: bool = False,
) -> None:
    """Print what changed, write the summary, and leave with 1 if a condition is met."""
    from recombine.report.comparison.markdown import comparison_markdown
    from recombine.report.comparison.record import comparison_json
    from recombine.report.comparison.terminal import show_comparison

    met = fail_on.changes(found)
    if json:
        say_json(comparison_json(found, met))
    elif markdown == "-":
        say(comparison_markdown(found, met))
    else:
        say(capture(lambda console: show_comparison(found, console, met, only_new=only_new)), drawn=True)
    if markdown is not None and markdown != "-":
        write_whole(markdown, comparison_markdown(found, met))
        note = f"summary written to {Path(markdown).resolve()}"
        print(printable(note), file=sys.stderr) if json else say(note + "\n")
    raise typer.Exit(1 if met else 0)
