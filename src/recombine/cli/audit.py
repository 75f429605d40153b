"""The commands about tables: audit one, or the one that comes with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from recombine.cli.outputs import Outputs, pandas_left_alone, read_baseline, read_fail_on, tell_changes, working
from recombine.cli.table_options import MeasuredTable, Seed, files_of, named_importance, takes_table
from recombine.errors import InputError
from recombine.output_files import check_outputs, check_table_name, files_together, may_replace
from recombine.report.screen import say
from recombine.table_spec import TableSpec
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.report.layout import Section
    from recombine.tables.table import Table


class AuditQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of an audit."""

    targets: Annotated[Path | None, "Table of cells to judge instead of the whole product."] = None
    new_levels: Annotated[bool, "Accept target levels the table lacks."] = False
    plan: Annotated[int, typer.Option(min=0, help="How many cells to propose for collection (0: none).")] = 5
    self_pairs: Annotated[bool, "Also propose to pair a level of symmetric factors with itself."] = False
    forecast: Annotated[
        str,
        "Who says what models will do: theory; auto, models trained besides where that takes seconds; or trained, all.",
        "WAY",
    ] = "auto"
    models: Annotated[bool, "Also compare scikit-learn models, by verdict."] = False
    explain: Annotated[
        str | None, "Print one cell's verdict and certificate instead: its levels, by commas.", "LEVELS"
    ] = None
    verdicts: Annotated[Path | None, "Write the listed verdicts to this CSV file.", None, Outputs.panel] = None
    seed: Seed = 0


@takes_table(outputs=("full", "html", "json", "baseline", "markdown", "fail_on", "save_design", "safe_csv", "force"))
def audit_command(
    file: MeasuredTable,
    table: TableSpec,
    asked: AuditQuestions,
    outputs: Outputs,
) -> None:
    """Say which unseen combinations of a table are determined by its data, why, and what to collect next."""
    fail_on = read_fail_on(outputs, "AUDIT", *(["AUDIT_CHANGES"] if outputs.baseline else []))
    check_table_name(asked.verdicts, "--verdicts")
    outputs.check([file, asked.targets, outputs.baseline, *files_of(table)], asked.verdicts)
    before = read_baseline(outputs, "audit")
    if before and asked.explain is not None:
        raise InputError("--explain is about one cell and --baseline about all; ask for one of them")
    result = audited(file, table, asked)
    explained = None if asked.explain is None else result.explain(named(asked.explain, "--explain"))
    cells = 0 if before and outputs.html is None else asked.plan
    answer = _Answer.of(result, cells, asked.models, asked.self_pairs)
    code = 1 if fail_on is not None and not before and fail_on.met(result.findings) else 0
    with files_together():
        notes = [*outputs.save(table, result.design, result.choice), *answer.write(outputs, asked.verdicts)]
        if before:
            with working("comparing"):
                from recombine import compare

                changes = compare(before, result)
            code = tell_changes(changes, fail_on, outputs, only_new=True)
        else:
            answer.tell(outputs, explained)
        outputs.note(*notes)
    raise typer.Exit(code)


def audited(file: Path, table: TableSpec, asked: AuditQuestions) -> Audit:
    """Return the audit of a file that is read as its spec says, its findings worked out."""
    with working("reading the table"), pandas_left_alone():
        from recombine import Design, audit

        design = Design.from_frame(file, table)
    with working("deciding the unseen cells"):
        importance = None if table.importance is None else named_importance(table, file, asked.targets)
        result = audit(
            design,
            targets=asked.targets,
            new_levels=asked.new_levels,
            importance=importance,
            seed=asked.seed,
            forecast=asked.forecast,
        )
    if asked.explain is None:
        with working("looking for findings"):
            result.findings  # noqa: B018 - the slow part happens here, under the spinner
        with working("training models"):
            result.forecast.trained  # noqa: B018 - the other slow part
    return result


@takes_table(outputs=("full", "html", "force"))
def demo_command(
    outputs: Outputs,
    models: Annotated[bool, "Train other models beside it, and compare them by verdict."] = False,
) -> None:
    """Audit the bundled screen: 24 drugs on 40 melanoma lines, of which two campaigns measured a part."""
    from recombine.data import screen_path

    target = outputs.html or Path("recombine-demo.html")
    check_outputs([target], [screen_path()], outputs.force or may_replace(target, typer.confirm))
    table = TableSpec(factors=("drug", "cell_line"), outcome="activity", split="split=measured")
    answer = _Answer.of(audited(screen_path(), table, AuditQuestions()), models=models)
    with files_together():
        notes = answer.write(msgspec.structs.replace(outputs, html=target))
        answer.tell(outputs)
        outputs.note(*notes)


@dataclass(frozen=True)
class _Answer:
    """An audit with the plan and the comparison of models that were asked for."""

    audit: Audit
    plan: Plan | None
    models: Table | None

    @classmethod
    def of(cls, audit: Audit, cells: int = 5, models: bool = False, self_pairs: bool = False) -> _Answer:
        plan = scores = None
        if cells:
            with working("planning the next cells"):
                plan = audit.plan(cells, self_pairs=self_pairs)
        if models:
            with working("training other models on parts of the seen cells"):
                scores = audit.compare_models()
        return cls(audit, plan, scores)

    def tell(self, outputs: Outputs, explained: str | None = None) -> None:
        """Print the answer, or what is ``explained`` of one cell."""
        if explained is not None and not outputs.json:
            say(f"{explained}\n")
            return

        # Each loads what it needs: a plain answer reads no earlier documents.
        def as_json(audit: Audit) -> str:
            from recombine.report.audit.record import audit_json

            return audit_json(audit, self.plan, self.models, explained)

        def as_sections(audit: Audit) -> list[Section]:
            from recombine.report.audit.sections import audit_sections

            return audit_sections(audit, self.plan, self.models)

        full = outputs.full or self.models is not None
        msgspec.structs.replace(outputs, full=full).tell(self.audit, as_json, as_sections, self.plan)

    def write(self, outputs: Outputs, verdicts: Path | None = None) -> list[str]:
        """Write the files asked for and return where they are."""
        notes = []
        if verdicts is not None:
            from recombine.words.table import listing_sentence

            self.audit.verdicts.to_csv(verdicts, safe=outputs.safe_csv)
            notes.append(f"verdicts written to {verdicts} ({listing_sentence(self.audit.decided.listing)})")
        return notes + outputs.report(self._page)

    def _page(self, command: str) -> str:
        from recombine.report.audit.page import page

        return page(self.audit, models=self.models, plan=self.plan, command=command)
