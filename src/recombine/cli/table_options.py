"""What commands about tables share: the options that say how a table is read, and where answers go.

`takes_table` makes the options of a command from `recombine.TableSpec`: one field there is one option of every command,
one line of the files of ``--design``, and one keyword of Python.
"""

from __future__ import annotations

import shlex
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from recombine import table_spec
from recombine.errors import InputError
from recombine.interrupts import interrupts_wait
from recombine.report.screen import printable
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.table_spec import Field, TableSpec

#: Fields that make factors of columns, by themselves or beside ``factors``.
MAKE_FACTORS = ("factors", "sequence", "sets", "ordered", "numeric")
#: What to ask where a command needs a field that nobody named.
QUESTIONS = {
    "factors": "which columns are the factors? Name them with --factors, or in a file with --design",
    "outcome": "which column is the outcome? Name it with --outcome, or in a file with --design",
}


class Outputs(msgspec.Struct, frozen=True, kw_only=True):
    """Where the answer of a command goes, and what it ends with."""

    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
    baseline: Annotated[
        Path | None, typer.Option(help="Compare with an earlier --json; --fail-on then looks at what is new only.")
    ] = None
    markdown: Annotated[
        str | None, typer.Option(help="With --baseline: write a summary for a pull request to this file; - prints it.")
    ] = None
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 on these findings, by commas: RC101; with --baseline lost, new-findings, worse; "
            "of a split same, copied; of a probe dependence."
        ),
    ] = None
    save_design: Annotated[
        Path | None, typer.Option(help="Write how the table was read, guesses included, to this TOML file.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")] = False
    #: The command that repeats the run, every option written out.
    command: str = ""

    def save(self, table: TableSpec, design: Design) -> None:
        """Write how the table was read where ``--save-design`` says, and say so."""
        if self.save_design is None:
            return
        from recombine.design import used_spec
        from recombine.output_files import write_whole

        used, guessed = used_spec(design)
        spec = table_spec.make_spec(table, {name: getattr(used, name) for name in guessed})
        write_whole(self.save_design, table_spec.spec_toml(spec, guessed, self.save_design.parent))
        print(printable(f"how the table was read is written to {self.save_design}"), file=sys.stderr)


def files_of(table: TableSpec) -> list[Path]:
    """Return the files that a spec names."""
    named_files = [getattr(table, field.name) for field in table_spec.fields(type(table)) if field.kind == "file"]
    return [Path(name) for name in named_files if name is not None]


def takes_table(
    *, required: Sequence[str] = (), without: Sequence[str] = (), outputs: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace parameters of a command by the options they stand for.

    ``table`` (a `TableSpec`) stands for its fields but those of ``without``, and for ``--design``; ``outputs`` for the
    fields of `Outputs` that are named; any other struct for its fields, each with an option. Fields that are
    ``required`` may stand in the file of ``--design``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = typing.get_type_hints(command, include_extras=True)
        offered = [field for field in table_spec.fields() if field.name not in without]
        packed = {name: kind for name, kind in hints.items() if name != "table" and _is_struct(kind)}
        options: dict[str, Parameter] = {
            "context": Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        }
        for name, parameter in signature(command).parameters.items():
            if name == "table":
                options |= {field.name: _option(field) for field in offered} | {"design": _DESIGN}
            elif name in packed:
                chosen = outputs if name == "outputs" else packed[name].__struct_fields__
                options |= {entry: _packed_option(packed[name], entry) for entry in chosen}
            elif name != "context":
                options[name] = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])

        def run(**given: Any) -> None:
            context = given["context"]
            arguments: dict[str, Any] = {}
            table = None
            if "table" in hints:
                values = {field.name: given.pop(field.name) for field in offered}
                table = arguments["table"] = _merged(offered, values, given.pop("design"), given.get("file", True))
                _check_required(table, required if given.get("file", True) else ())
            for name, kind in packed.items():
                chosen = outputs if name == "outputs" else kind.__struct_fields__
                entries = {entry: given.pop(entry) for entry in chosen}
                if name == "outputs":
                    entries["command"] = _repeated(context, table)
                arguments[name] = kind(**entries)
            if "context" not in hints:
                given.pop("context")
            command(**given, **arguments)

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        # Options without a default come first, as Python wants it of parameters.
        ordered = sorted(options.values(), key=lambda parameter: parameter.default is not Parameter.empty)
        run.__signature__ = Signature(ordered)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
        return run

    return decorate


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


_DESIGN = Parameter(
    "design",
    Parameter.KEYWORD_ONLY,
    annotation=Annotated[
        Path | None, typer.Option(help="Read what the columns are from this TOML file; options given beside it win.")
    ],
    default=None,
)


def _packed_option(kind: type[msgspec.Struct], name: str) -> Parameter:
    entry = next(field for field in msgspec.structs.fields(kind) if field.name == name)
    default = Parameter.empty if entry.required else entry.default
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=entry.type, default=default)


def _option(field: Field) -> Parameter:
    """Return the option of one field; None stands for what was not given."""
    values: dict[str, Any] = {"names": str, "text": str, "file": str, "flag": bool, "number": int}
    kind: Any = list[str] if field.option.repeatable else values[field.kind]
    metavar = "PATH" if field.kind == "file" else None
    annotation: Any = Annotated[kind | None, typer.Option(field.flag, help=_help(field), metavar=metavar)]
    return Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=annotation, default=None)


def _help(field: Field) -> str:
    """Return the help of an option; where it names structures, that of their registry."""
    if field.name not in ("structure", "order"):
        return field.option.help
    from recombine.words.structure import listed_orders, listed_structures

    if field.name == "order":
        return f"How many factors may interact ({listed_orders()}); by default as the data show."
    return f"What effects do: {listed_structures()}; auto chooses."


def _merged(offered: Sequence[Field], values: dict[str, Any], design: Path | None, file: object) -> TableSpec:
    """Return the spec of what was given, over that of ``--design`` or of the project; what it took is said."""
    given = {field.name: _value(field, values[field.name]) for field in offered if values[field.name] not in (None, [])}
    if not file:
        if design is not None:
            raise InputError("--design is about a table; name it: recombine explore table.csv --design ...")
        return table_spec.make_spec(None, given)
    kept, where = None, ""
    if design is not None:
        kept, where = table_spec.read_spec(design), str(design)
    elif (project := table_spec.project_spec(Path())) is not None:
        kept, where = project[0], "[tool.recombine] of pyproject.toml"
    if kept is None:
        return table_spec.make_spec(None, given)
    names = {field.name for field in offered}
    defaults = {field.name: field.default for field in table_spec.fields() if field.name not in names}
    kept = table_spec.make_spec(kept, defaults)
    replaced = [
        field.flag
        for field in offered
        if field.name in given and getattr(kept, field.name) not in (field.default, given[field.name])
    ]
    notes = [] if design is not None else [f"the table is read as {where} says"]
    if replaced:
        notes.append(f"{', '.join(replaced)} as given here, not as in {where}")
    if notes:
        print(printable(f"recombine: {'; '.join(notes)}"), file=sys.stderr)
    return table_spec.make_spec(kept, given)


def _value(field: Field, value: Any) -> Any:
    if field.kind != "names":
        return value
    texts = value if isinstance(value, list) else [value]
    return tuple(name for text in texts for name in named(text, field.flag))


def _check_required(table: TableSpec, required: Sequence[str]) -> None:
    for name in required:
        enough = MAKE_FACTORS if name == "factors" else (name,)
        if not any(getattr(table, entry) for entry in enough):
            raise InputError(QUESTIONS[name])


def _repeated(context: typer.Context, table: TableSpec | None) -> str:
    """Return the command that repeats a run: its table and other options as given, and how the table was read."""
    words, options = [context.command_path], []
    about_table = {field.name for field in table_spec.fields()} | {"design", "save_design"}
    for entry in context.command.params:
        source = context.get_parameter_source(str(entry.name))
        if source is None or source.name != "COMMANDLINE" or (table is not None and entry.name in about_table):
            continue
        value = context.params[str(entry.name)]
        if entry.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            options.append((entry.opts if value else entry.secondary_opts)[0])
        else:
            options += [entry.opts[0], str(value)]
    return shlex.join([*words, *([] if table is None else table_spec.spec_options(table)), *options])


@contextmanager
def pandas_left_alone() -> Iterator[None]:
    """Keep DuckDB from loading pandas only to see that no constant of a query is one of its missing values.

    That would take a sixth of the time of a command on a small table. What wants pandas afterwards finds it.
    """
    _load_engine()
    if "pandas" in sys.modules:
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop("pandas", None)


def _load_engine() -> None:
    """Load DuckDB with Ctrl-C held back: in the middle of it the process would end in a segmentation fault."""
    with interrupts_wait(True) as interrupted:
        import duckdb  # noqa: F401
    if interrupted():
        raise KeyboardInterrupt
