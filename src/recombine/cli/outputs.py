"""Where the answers of commands go, and what they end with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

import msgspec
import typer

from recombine import table_spec
from recombine.errors import InputError
from recombine.interrupts import interrupts_wait
from recombine.output_files import check_outputs, files_together, write_whole
from recombine.report.screen import capture, capture_answer, say, say_aside, say_json
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.comparison.audits import AuditComparison
    from recombine.jobs.comparison.documents import AuditDocument, ScoreDocument
    from recombine.jobs.comparison.scores import ScoreComparison
    from recombine.jobs.findings import FailOn, Finding
    from recombine.jobs.structure import Choice
    from recombine.report.layout import Section


class Outputs(msgspec.Struct, frozen=True, kw_only=True):
    """Where the answer of a command goes, and what it ends with."""

    panel: ClassVar[str] = "Output"
    full: Annotated[bool, "Print everything, not only the answer of a screen."] = False
    html: Annotated[Path | None, "Write the report to this file."] = None
    json: Annotated[bool, "Print JSON instead of text."] = False
    baseline: Annotated[
        Path | None, "Compare with an earlier --json; --fail-on then looks at what is new only.", None, "In a build"
    ] = None
    markdown: Annotated[
        str | None, "Write what changed, for a pull request, to this file; - prints it instead.", "FILE", "In a build"
    ] = None
    fail_on: Annotated[
        str | None,
        "Exit with 1 on these findings, by commas, each by its number or word; a wrong one lists all.",
        "FINDINGS",
        "In a build",
    ] = None
    save_design: Annotated[Path | None, "Write how the table was read, guesses included, to this TOML file."] = None
    safe_csv: Annotated[bool, "In CSV files, an apostrophe before text that a spreadsheet would run."] = False
    force: Annotated[bool, "Overwrite existing output files."] = False
    #: The command that repeats the run, every option written out.
    command: str = ""

    def check(self, inputs: Sequence[Path | None], *files: Path | None) -> None:
        """Refuse before the work what cannot be written: the outputs here, and ``files`` beside them."""
        if self.markdown == "-" and self.json:
            raise InputError("--markdown - and --json both want standard output; name a file for one of them")
        summary = None if self.markdown in (None, "-") else Path(str(self.markdown))
        check_outputs([summary, self.html, *files, self.save_design], inputs, self.force)

    def tell(
        self,
        result: Any,
        as_json: Callable[[Any], str],
        sections: Callable[[Any], Iterable[Section]],
        *about: object,
    ) -> None:
        """Print a result: as JSON, all of it, or its answer with what that is ``about`` besides."""
        if self.json or self.full:
            self.answer(result, as_json, sections)
            return
        with working("writing the answer"):
            text = capture_answer(result, *about)
        say(text, drawn=True)

    def answer(self, result: Any, as_json: Callable[[Any], str], sections: Callable[[Any], Iterable[Section]]) -> None:
        """Print a result, as JSON or drawn for the terminal."""
        with working("writing the answer"):
            text = as_json(result) if self.json else capture(sections(result))
        say_json(text) if self.json else say(text, drawn=True)

    def note(self, *texts: str) -> None:
        """Say what was written beside the answer; on standard error where standard output is for machines."""
        for text in texts:
            say_aside(text, aside=self.json or self.markdown == "-")

    def report(self, page: Callable[[str], str]) -> list[str]:
        """Write the page about a result, drawn with the command that made it, and return where it is."""
        if self.html is None:
            return []
        with working("writing the report"):
            write_whole(self.html, page(self.command))
        return [f"report written to {self.html.resolve()}"]

    def save(self, table: table_spec.TableSpec, design: Design, choice: Choice | None = None) -> list[str]:
        """Write how the table was read where ``--save-design`` says, and return what to say of it."""
        if self.save_design is None:
            return []
        from recombine.design import used_spec
        from recombine.words.structure import choice_origin

        used, guessed = used_spec(design)
        remarks: dict[str, Any] = {}
        if inferred := used.nested[len(design.spec.nested) :]:
            remarks["nested"] = inferred
        if choice is not None and not (choice.asked or table.order):
            remarks["structure"], guessed["structure"] = choice.name, choice_origin(choice)
        spec = table_spec.make_spec(table, {name: getattr(used, name) for name in guessed if name not in remarks})
        write_whole(self.save_design, table_spec.spec_toml(spec, guessed, self.save_design.parent, remarks))
        return [f"how the table was read is written to {self.save_design}"]


def read_baseline(outputs: Outputs, kind: str) -> AuditDocument | ScoreDocument | None:
    """Return the document of before that ``--baseline`` names, refused before the work if it is of another kind."""
    path = outputs.baseline
    if path is None:
        if outputs.markdown is not None:
            raise InputError(f"--markdown sums up what changed; name what to compare with: --baseline {kind}.json")
        return None
    from recombine.jobs.comparison.documents import AuditDocument, read_document

    before = read_document(path, path.name)
    given = "audit" if isinstance(before, AuditDocument) else "score"
    if given != kind:
        raise InputError(f"--baseline {path.name} is of recombine {given}; give one of recombine {kind} ... --json")
    return before


def tell_changes(
    comparison: AuditComparison | ScoreComparison, fail_on: FailOn | None, outputs: Outputs, *, only_new: bool = False
) -> int:
    """Print what changed, write the summary, and return the exit code: 1 if a change is named by ``--fail-on``."""
    from recombine.report.comparison.markdown import comparison_markdown
    from recombine.report.comparison.record import comparison_json
    from recombine.report.comparison.sections import comparison_sections

    met = [] if fail_on is None else fail_on.changes(comparison)
    if outputs.markdown == "-":
        say(comparison_markdown(comparison, met))
        return 1 if met else 0
    with files_together():
        if outputs.markdown is not None:
            write_whole(outputs.markdown, comparison_markdown(comparison, met))
        outputs.tell(
            comparison,
            lambda result: comparison_json(result, met),
            lambda result: comparison_sections(result, met, only_new=only_new),
            met,
        )
        if outputs.markdown is not None:
            outputs.note(f"summary written to {Path(outputs.markdown).resolve()}")
    return 1 if met else 0


def read_fail_on(outputs: Outputs, *results: str) -> FailOn | None:
    """Return what ``--fail-on`` names, refused before the work unless it is about one of these kinds of results."""
    if outputs.fail_on is None:
        return None
    from recombine.jobs.findings import FailOn, ResultKind

    return FailOn.named(named(outputs.fail_on, "--fail-on"), *(ResultKind[name] for name in results))


def end_on(fail_on: FailOn | None, findings: Iterable[Finding]) -> NoReturn:
    """Leave with 1 if one of the findings is named, and say on stderr which; else with 0."""
    met = [] if fail_on is None else fail_on.met(findings)
    for finding in met:
        say_aside(f"--fail-on {finding}")
    raise typer.Exit(1 if met else 0)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr what is being done and the share that is done; where no person is watching, a line every 10 s."""
    from rich.console import Console

    from recombine.progress import listening, told_in_lines

    console = Console(stderr=True)
    if not console.is_terminal:
        with told_in_lines(what, say_aside):
            yield
        return
    with (
        console.status(f"{what} ...") as status,
        listening(lambda step, share: status.update(f"{what}: {step}, {100 * share:.0f} % done ...")),
    ):
        yield


@contextmanager
def pandas_left_alone() -> Iterator[None]:
    """Keep DuckDB from loading pandas only to see that no constant of a query is one of its missing values.

    That would take a sixth of the time of a command on a small table. What wants pandas afterwards finds it. DuckDB
    itself is loaded with Ctrl-C held back: in the middle of it the process would end in a segmentation fault.
    """
    with interrupts_wait(True) as interrupted:
        import duckdb  # noqa: F401
    if interrupted():
        raise KeyboardInterrupt
    if "pandas" in sys.modules:
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop("pandas", None)
