"""Options of commands, made from what they stand for: how a table is read, what is asked, where answers go.

`takes_table` makes the options of a command from `recombine.TableSpec`: one field there is one option of every command,
one line of the files of ``--design``, and one keyword of Python.
"""

from __future__ import annotations

import os
import shlex
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from recombine import table_spec
from recombine.cli.completion import ASKED, completion_of
from recombine.cli.outputs import Outputs
from recombine.cli.stdin import from_pipe
from recombine.errors import InputError, near_miss
from recombine.report.screen import say_aside
from recombine.tables.text_files import named

if TYPE_CHECKING:
    from recombine.table_spec import Field, TableSpec

#: Fields that make factors of columns, by themselves or beside ``factors``.
MAKE_FACTORS = ("factors", "sequence", "sets", "ordered", "numeric")
#: What help calls the value of an option, by its type; a switch has none.
METAVARS = {bool: "", int: "N", float: "X", str: "TEXT", Path: "FILE"}
#: The same of what is said about a table, by the field or its kind.
TABLE_METAVARS = {
    **{"names": "COLUMNS", "text": "COLUMN", "file": "FILE", "tables": "FACTOR=FILE"},
    **{"separator": "SIGN", "control": "WORDS", "nested": "INNER/OUTER", "structure": "STRUCTURE", "sheet": "NAME"},
}

#: The table of a command about measurements, and the seed of every command that draws at random.
MeasuredTable = Annotated[
    Path,
    typer.Argument(help="Table (CSV, Excel, Parquet, JSON, SQLite, AnnData), one row per measurement; - for a pipe."),
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes every random choice.")]


def files_of(table: TableSpec) -> list[Path]:
    """Return the files that a spec names."""
    offered = table_spec.fields(type(table))
    named_files = [getattr(table, field.name) for field in offered if field.kind == "file"]
    for field in offered:
        if field.kind == "tables":
            tables = (getattr(table, field.name) or {}).values()
            named_files += [each[0] if isinstance(each, tuple) else each for each in tables]
    return [Path(name) for name in named_files if name is not None]


def named_importance(table: TableSpec, file: Path, targets: Path | None) -> Path | tuple[Path, str]:
    """Return what --importance names: a column of the targets or of the table, else a file."""
    from recombine.tables.frames import open_table

    text, columns = str(table.importance), dict[str, Path]()
    for path in (file, *([] if targets is None else [targets])):
        columns |= dict.fromkeys(open_table(path, table if path is file else None).columns, path)
    if text in columns:
        return columns[text], text
    if Path(text).exists():
        return Path(text)
    tables = file.name if targets is None else f"{file.name} or {targets.name}"
    raise InputError(
        f"--importance {text} is neither a column of {tables} nor a file;{near_miss(text, columns, 'Columns:')}"
    )


def takes_table(
    *,
    required: Sequence[str] = (),
    without: Sequence[str] = (),
    outputs: Sequence[str] = (),
    called: Mapping[str, str] | None = None,
    panel: str = "Question",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace parameters of a command by the options they stand for.

    ``table`` (a `TableSpec`) stands for its fields but those of ``without``, and for ``--design``; ``outputs`` for the
    fields of `Outputs` that are named; any other struct for its fields, each with an option. Fields that are
    ``required`` may stand in the file of ``--design``. An option of another struct sets the field it is ``called`` for.
    In help an option stands in the ``panel`` that it names itself, or its struct, or else this one.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = typing.get_type_hints(command, include_extras=True)
        offered = [field for field in table_spec.fields() if field.name not in without]
        packed = {name: kind for name, kind in hints.items() if name != "table" and hasattr(kind, "__struct_fields__")}
        entries = {name: outputs if kind is Outputs else _asked(kind) for name, kind in packed.items()}
        options = [_parameter("context", typer.Context, msgspec.NODEFAULT, panel)]
        for name, parameter in signature(command).parameters.items():
            if name == "table":
                options += [*map(_option, offered), _parameter("design", _DESIGN, None, offered[0].heading)]
            elif name in packed:
                heading = getattr(packed[name], "panel", panel)
                fields = [entry for entry in msgspec.structs.fields(packed[name]) if entry.name in entries[name]]
                options += [_parameter(entry.name, entry.type, entry.default, heading) for entry in fields]
            else:
                options.append(_parameter(name, hints[name], parameter.default, panel))

        def run(**given: Any) -> None:
            context, table = given.pop("context"), None
            given |= from_pipe(given, context)
            if "table" in hints:
                values = {field: given.pop(field.name) for field in offered}
                for option, name in (called or {}).items():
                    field = next(field for field in table_spec.fields() if field.name == name)
                    values[replace(field, option=replace(field.option, flag=f"--{option}"))] = given[option]
                table = given["table"] = _merged(values, given.pop("design"), given.get("file", True), required)
            for name, kind in packed.items():
                repeated = {"command": _repeated(context, table)} if "command" in kind.__struct_fields__ else {}
                given[name] = kind(**{entry: given.pop(entry) for entry in entries[name]}, **repeated)
            command(**given)

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        # Options without a default come first, as Python wants it of parameters.
        options.sort(key=lambda parameter: parameter.default is not Parameter.empty)
        run.__signature__ = Signature(options)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in options}
        return run

    return decorate


def _asked(kind: Any) -> list[str]:
    """Return the fields of a struct that are options: the command that repeats the run is none."""
    return [name for name in kind.__struct_fields__ if name != "command"]


def _parameter(name: str, annotation: Any, default: Any, panel: str) -> Parameter:
    default = Parameter.empty if default is msgspec.NODEFAULT else default
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=_dressed(name, annotation, panel), default=default)


def _dressed(name: str, annotation: Any, panel: str) -> Any:
    """Return an option in its panel of the help; its value is called there, and completed, for what it is.

    Its text of help declares it, followed if need be by what its value is called and by a panel of its own.
    """
    kind, *marks = typing.get_args(annotation) or (annotation,)
    if not marks:
        return annotation
    plain = kind
    while typing.get_args(plain):  # Path of list[Path] | None
        plain = typing.get_args(plain)[0]
    info: Any = copy(marks[0])
    if isinstance(info, str):
        _, metavar, own_panel = (*marks, None, None)[:3]
        flags = [f"--{name.replace('_', '-')}"] if plain is bool else []
        info = typer.Option(*flags, help=marks[0], metavar=metavar, rich_help_panel=own_panel)
    info.metavar = METAVARS[plain] if info.metavar is None else info.metavar
    info.autocompletion = info.autocompletion or completion_of(info.metavar)
    if isinstance(info, typer.models.OptionInfo):
        info.rich_help_panel = info.rich_help_panel or panel
    return Annotated[kind, info]


_DESIGN = Annotated[
    Path | None,
    "Read what the columns are from this TOML file, by default from tool.recombine of pyproject.toml; options given "
    "beside it win.",
]


def _option(field: Field) -> Parameter:
    """Return the option of one field; None stands for what was not given."""
    values: dict[str, Any] = {"flag": bool, "number": int}
    kind: Any = list[str] if field.option.repeatable else values.get(field.kind, str)
    metavar = TABLE_METAVARS.get(field.name) or TABLE_METAVARS.get(field.kind)
    option = typer.Option(field.flag, help=_help(field), metavar=metavar)
    return _parameter(field.name, Annotated[kind | None, option], None, field.heading)


def _help(field: Field) -> str:
    """Return the help of an option; where it names structures, that of their registry, which no shell waits for."""
    if field.name not in ("structure", "order") or ASKED in os.environ:
        return field.option.help
    from recombine.words.structure import listed_orders, listed_structures

    if field.name == "order":
        return f"How many factors may interact ({listed_orders()}); by default as the data show, in split --test 1."
    return f"What effects do: {listed_structures()}; auto, the default, chooses; split --test wants one that adds."


def _merged(values: dict[Field, Any], design: Path | None, file: object, required: Sequence[str]) -> TableSpec:
    """Return the spec of what was given, over that of ``--design`` or of the project; what it took is said."""
    given = {field.name: _value(field, value) for field, value in values.items() if value not in (None, [])}
    if not file and design is not None:
        raise InputError("--design is about a table; name it: recombine explore table.csv --design ...")
    stored, notes = None, []
    if design is not None:
        stored, where = table_spec.TableSpec.read(design), str(design)
    elif file and (project := table_spec.project_spec(Path())) is not None:
        stored, where = project[0], "[tool.recombine] of pyproject.toml"
        notes.append(f"the table is read as {where} says")
    if stored is not None:
        offered = {field.name for field in values}
        unoffered = {field.name: field.default for field in table_spec.fields() if field.name not in offered}
        stored = table_spec.make_spec(stored, {name: unoffered[name] for name in unoffered if name not in MAKE_FACTORS})
    table, replaced = _over(stored, given, values, where if stored is not None else "")
    if notes := notes + replaced:
        say_aside(f"recombine: {'; '.join(notes)}")
    for name in required if file else ():
        if not any(getattr(table, entry) for entry in (MAKE_FACTORS if name == "factors" else (name,))):
            which = "columns are the factors? Name them" if name == "factors" else f"column is the {name}? Name it"
            raise InputError(f"which {which} with --{name}, or in a file with --design")
    return table


def _over(
    stored: TableSpec | None, given: dict[str, Any], offered: Iterable[Field], where: str
) -> tuple[TableSpec, list[str]]:
    """Return the spec of what was ``given`` over what is ``stored``, and what it replaced, in words."""
    flags, orders = {field.name: field.flag for field in offered}, _orders(stored, given)
    for pair in table_spec.contradictions(given, orders):
        raise InputError(table_spec.contradiction_text(flags[pair[0]], flags[pair[1]], "are given here"))
    if stored is None:
        return table_spec.make_spec(None, given), []
    for pair in table_spec.contradictions(table_spec.plain_spec(stored), orders):
        raise InputError(table_spec.contradiction_text(*pair, f"stand in {where}"))
    defaults = {field.name: field.default for field in table_spec.fields()}
    same = [flags[name] for name in given if getattr(stored, name) not in (defaults[name], given[name])]
    notes = [f"{', '.join(same)} as given here, not as in {where}"] if same else []
    cleared = table_spec.replaced_fields(stored, given, orders)
    for pair in table_spec.contradictions(table_spec.plain_spec(stored) | given, orders):
        for name in {*pair} & {*cleared}:
            (winner,) = {*pair} - {name}
            notes.append(f"{flags[winner]} as given here, not {name} as in {where}")
    return table_spec.make_spec(stored, cleared | given), notes


def _orders(stored: TableSpec | None, given: dict[str, Any]) -> dict[str, int]:
    """Return the order of each structure, where one is named."""
    if given.get("structure") is None and (stored is None or stored.structure is None):
        return {}
    from recombine.theory.structures.all_structures import simplest_first

    return {entry.name: entry.order for entry in simplest_first()}


def _value(field: Field, value: Any) -> Any:
    if field.kind == "tables":
        return table_spec.tables_by_factor(value, field.flag)
    if field.kind != "names":
        return value
    texts = value if isinstance(value, list) else [value]
    return tuple(name for text in texts for name in named(text, field.flag))


def _repeated(context: typer.Context, table: TableSpec | None) -> str:
    """Return the command that repeats a run: its table and other options as given, and how the table was read."""
    words, options = context.command_path.split(), []
    about_table = {field.name for field in table_spec.fields()} | {"design", "save_design"}
    for entry in context.command.params:
        source = context.get_parameter_source(str(entry.name))
        if source is None or source.name != "COMMANDLINE" or (table is not None and entry.name in about_table):
            continue
        value = context.params[str(entry.name)]
        if entry.param_type_name == "argument":  # ./-5.csv is a file, -5.csv would be an option
            words.append(f"./{value}" if str(value).startswith("-") and value != Path("-") else str(value))
        elif isinstance(value, bool):
            options.append((entry.opts if value else entry.secondary_opts)[0])
        else:
            values = value if isinstance(value, list | tuple) else [value]
            options += [word for each in values for word in (entry.opts[0], str(each))]
    return shlex.join([*words, *([] if table is None else table_spec.spec_options(table)), *options])
