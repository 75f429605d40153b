"""How a table is read: one frozen object that every job, command, file and document takes, keeps and shows.

It holds what is true of the table whoever asks. What is asked now (targets, predictions, outputs) stays with the asker.
A field is written here once: the options of the commands, the files that keep a spec and the keywords of Python follow.
A file is a flat TOML document, in which paths are relative to the folder it lies in.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import tomllib
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin

import msgspec

from recombine.errors import InputError, near_miss
from recombine.output_files import check_file, write_whole
from recombine.writing import listing, option_text, printable

Names = tuple[str, ...]
#: What a field holds, as options and files write it.
Kind = Literal["text", "names", "flag", "number", "file", "tables"]

#: What a value of each kind has to be in a file, in words.
WANTED = {
    "text": 'a text: "{example}"',
    "names": "a list of texts: {example}",
    "flag": "true or false",
    "number": "a whole number: {example}",
    "file": 'the name of a file: "{example}"',
    "tables": "a list of texts: {example}",
}
#: The field with which each group of options begins in help, and what the group is about.
HEADINGS = {
    **{"factors": "Which columns", "symmetric": "Factors", "nested": "Combinations", "order": "Structure"},
    "sheet": "Reading",
}


@dataclass(frozen=True)
class Option:
    """How a field of a spec is offered: its text of help, its flag if not ``--name``, and an example for documents.

    The option may be given several times if ``repeatable``; ``file`` says that the value names another table, and both
    that it names one for each of some factors.
    """

    help: str
    flag: str = ""
    repeatable: bool = False
    example: str = ""
    file: bool = False


class SpecFile(msgspec.Struct, frozen=True):
    """A spec as a TOML file, which ``--design`` reads."""

    def __post_init__(self) -> None:
        spec: Any = self
        for entry in fields(type(spec)):
            value = getattr(self, entry.name)
            if entry.kind == "tables" and value is not None:
                msgspec.structs.force_setattr(self, entry.name, tables_by_factor(value, entry.name))
            if entry.kind != "names" or value is None or isinstance(value, tuple):
                continue
            if isinstance(value, str) or not isinstance(value, Iterable):
                what = f"the text {value!r}" if isinstance(value, str) else f"a {type(value).__name__}"
                raise InputError(f"{entry.name} is {what}; give a list of column names")
            msgspec.structs.force_setattr(self, entry.name, tuple(value))

    @staticmethod
    def read(path: str | Path) -> TableSpec:
        """Return the spec that a TOML file holds, at its top or under ``[tool.recombine]``, as ``--design`` reads it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     written = TableSpec(factors=("colour", "shape"), outcome="mass").write(Path(folder) / "design.toml")
        ...     TableSpec.read(written).factors
        ('colour', 'shape')
        """
        path = Path(path)
        document = _parsed(path)
        if isinstance(tools := document.get("tool"), dict) and "recombine" in tools:
            return spec_of(tools["recombine"], path, "[tool.recombine] of ")
        if not document:
            raise InputError(f'{path} says nothing; write what the columns are, such as factors = ["colour", "shape"]')
        return spec_of(document, path)

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the spec as TOML, which `read` and ``--design`` take; an existing file is kept unless ``force``."""
        target = Path(path)
        check_file(target, force)
        spec: Any = self
        for entry in fields(type(spec)):
            value = getattr(spec, entry.name)
            tables = (value or {}).values() if entry.kind == "tables" else [value] if entry.kind == "file" else []
            for table in tables:
                if not (table is None or isinstance(table, str | Path | tuple)):
                    raise InputError(
                        f"{entry.name} is a {type(table).__name__}; write that table to a file and name it"
                    )
        write_whole(target, spec_toml(spec, {}, target.parent))
        return target


class ColumnSpec(SpecFile, frozen=True, kw_only=True):
    """What the columns of a table are: the fields of `TableSpec` but those about how its texts are read."""

    factors: Annotated[
        Names | None, Option("Factor columns, separated by commas. Guessed if left out.", example="colour,shape")
    ] = None
    outcome: Annotated[
        str | None,
        Option(
            "Outcome column: numbers, or two values; column=class for the chance of one class, "
            "conversions/visitors for successes of trials. Guessed where factors are; none for no outcome.",
            example="mass",
        ),
    ] = None
    classes: Annotated[bool, Option("The outcome's numbers are classes (text with three values or more is).")] = False
    split: Annotated[
        str | None, Option("Split column, or column=value naming the training value.", example="part=train")
    ] = None
    weight: Annotated[str | None, Option("Column of counts, for a table already aggregated.", example="n")] = None
    sd: Annotated[str | None, Option("Column of standard deviations, likewise.", example="sd")] = None
    counts: Annotated[
        bool | None,
        Option("Is a row with weight n that many equal measurements, or their mean?", flag="--counts/--means"),
    ] = None
    symmetric: Annotated[
        Names, Option("Factors that are one factor used twice: gene_a,gene_b.", example="gene_a,gene_b")
    ] = ()
    as_levels: Annotated[
        Names, Option("Numeric columns with very many values that are labels.", example="barcode")
    ] = ()
    sequence: Annotated[
        str | None, Option("Column of texts of one length: each position is a factor.", example="variant")
    ] = None
    sets: Annotated[
        str | None, Option("Column of sets such as A+B+ctrl: each member is a factor.", flag="--set", example="genes")
    ] = None
    separator: Annotated[str | None, Option("What separates members; + ; , | are recognised.", example="+")] = None
    control: Annotated[
        Names | None, Option("Words for no member of a set, by commas: ctrl,control by default.", example="ctrl")
    ] = None
    ordered: Annotated[
        Names,
        Option(
            "Factors whose levels are ordered, by commas: dose, or grade=low<mid<high. May be repeated.",
            repeatable=True,
            example="dose",
        ),
    ] = ()
    numeric: Annotated[
        Names,
        Option("Factors whose effect is a smooth curve, by commas. May be repeated.", repeatable=True, example="age"),
    ] = ()
    features: Annotated[
        Any,
        Option(
            "Descriptors of a factor's levels, a row each: drug=file, or drug=file:column of levels. May be repeated.",
            repeatable=True,
            file=True,
            example="drug=descriptors.csv",
        ),
    ] = None
    nested: Annotated[
        Names,
        Option(
            "A factor inside another: plant/treatment. May be repeated.", repeatable=True, example="plant/treatment"
        ),
    ] = ()
    crossed: Annotated[bool, Option("Infer no nesting: every combination can exist.")] = False
    possible: Annotated[
        Any, Option("Table of cells that can exist; blanks match all.", file=True, example="cells.csv")
    ] = None
    forbidden: Annotated[
        Any, Option("Table of cells that cannot be collected; blanks match all.", file=True, example="never.csv")
    ] = None
    cost: Annotated[Any, Option("Table with factor columns and a 'cost' column.", file=True, example="costs.csv")] = (
        None
    )
    importance: Annotated[
        Any,
        Option(
            "How much cells matter: table with factor columns (blanks match all) and 'importance'; or a column.",
            file=True,
            example="use.csv",
        ),
    ] = None
    order: Annotated[
        int | None, Option("How many factors may interact (1: effects add); by default as the data show.", example="2")
    ] = None
    structure: Annotated[str | None, Option("What effects do; auto chooses.", example="pairs")] = None


class TableSpec(ColumnSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a table is read: which columns are factors, what the others are, and which cells can exist.

    In Python, tables may be paths or dataframes, and ``importance`` a (table, column), too. Unless ``counts`` is given,
    rows are counts where weights are whole and the outcome has two values, or few that come again and again; else
    means. Without ``structure`` an audit chooses, and a split is made for effects that add.

    Attributes
    ----------
    {fields}

    Examples
    --------
    >>> spec = TableSpec(factors=["colour", "shape"], outcome="mass")
    >>> spec.factors, plain_spec(spec)
    (('colour', 'shape'), {'factors': ['colour', 'shape'], 'outcome': 'mass'})
    """

    sheet: Annotated[
        str | None,
        Option("Sheet of a workbook (name, or number from 1), table of a database, or file of a zip.", example="Data"),
    ] = None
    wide: Annotated[
        str | None,
        Option("Name of the factor whose levels are columns, and of the outcome in them.", example="line=viability"),
    ] = None
    header: Annotated[int | None, Option("Line that names the columns, where it is not found.", example="3")] = None
    merge_alike: Annotated[
        bool, Option("Take levels that look alike (5 uM and 5uM, Yes and yes) for one, as most rows write it.")
    ] = False
    allow_missing: Annotated[
        bool, Option("Go on where more than half of the rows lack a level of a factor, with the others.")
    ] = False


class ReadingFields(TypedDict, total=False):
    """The fields of `TableSpec` about how cells are read, as keywords."""

    sheet: str | None
    wide: str | None
    header: int | None
    merge_alike: bool
    allow_missing: bool


class ColumnFields(ReadingFields, total=False):
    """The fields of `TableSpec` as keywords, without what jobs take by name: split, structure, order, importance."""

    factors: Sequence[str] | None
    outcome: str | None
    classes: bool
    weight: str | None
    sd: str | None
    counts: bool | None
    symmetric: Sequence[str]
    as_levels: Sequence[str]
    sequence: str | None
    sets: str | None
    separator: str | None
    control: Sequence[str] | None
    ordered: Sequence[str]
    numeric: Sequence[str]
    features: Mapping[str, Any] | None
    nested: Sequence[str]
    crossed: bool
    possible: Any
    forbidden: Any
    cost: Any


class TableFields(ColumnFields, total=False):
    """The fields of `TableSpec` as keywords."""

    split: str | None
    importance: Any
    order: int | None
    structure: str | None


@dataclass(frozen=True)
class Field:
    """One field of a spec: its name, what it holds, its value if nothing is said, and how and where it is offered."""

    name: str
    kind: Kind
    default: Any
    option: Option
    heading: str

    @property
    def flag(self) -> str:
        """The option of the command line that sets it: ``--as-levels``, ``--counts/--means``."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"


def fields(kind: type[TableSpec] | None = None) -> tuple[Field, ...]:
    """Return the fields of a spec in the order in which they are offered."""
    return _fields(kind or TableSpec)


@cache  # looking them up takes longer than making a spec
def _fields(kind: type[TableSpec]) -> tuple[Field, ...]:
    entries = msgspec.structs.fields(kind)
    headings = itertools.accumulate(entries, lambda before, entry: HEADINGS.get(entry.name, before), initial="")
    return tuple(
        Field(entry.name, _kind(entry.type), entry.default, entry.type.__metadata__[0], heading)
        for entry, heading in zip(entries, list(headings)[1:], strict=True)
    )


def _kind(annotation: Any) -> Kind:
    declared, option = get_args(annotation)[:2]
    if option.file:
        return "tables" if option.repeatable else "file"
    variants = get_args(declared) if get_origin(declared) in (Union, types.UnionType) else (declared,)
    plain = next(variant for variant in variants if variant is not types.NoneType)
    kinds: dict[Any, Kind] = {bool: "flag", int: "number", str: "text", Names: "names"}
    return kinds[plain]


# What a field means is written once, as the help of its option.
TableSpec.__doc__ = (TableSpec.__doc__ or "").replace(
    "{fields}", "\n    ".join(f"{field.name} : {field.kind}\n        {field.option.help}" for field in fields())
)


def make_spec(spec: TableSpec | None, given: TableFields | dict[str, Any]) -> TableSpec:
    """Return the spec with the fields that are ``given`` beside it, which win."""
    names = [field.name for field in fields(type(spec) if isinstance(spec, TableSpec) else TableSpec)]
    if wrong := [name for name in given if name not in names]:
        raise InputError(f"nothing of a table is called {wrong[0]!r};{near_miss(wrong[0], names, listing(names, 40))}")
    if spec is None:
        return TableSpec(**given)
    if not isinstance(spec, msgspec.Struct):
        raise InputError(
            f"a {type(spec).__name__} is no TableSpec; name what the columns are: factors=[...], outcome='y'"
        )
    return msgspec.structs.replace(spec, **replaced_fields(spec, given), **given) if given else spec


def contradictions(said: Mapping[str, Any], orders: Mapping[str, int] | None = None) -> list[tuple[str, str]]:
    """Return the pairs of fields that cannot both hold; ``orders`` are those of structures, where they are known."""
    scaled = {_scaled_column(text) for text in said.get("ordered") or ()}
    structure, order = said.get("structure"), said.get("order")
    pairs = {
        ("nested", "crossed"): said.get("nested") and said.get("crossed"),
        ("ordered", "numeric"): scaled & set(said.get("numeric") or ()),
        ("structure", "order"): order is not None and (orders or {}).get(str(structure), order) != order,
    }
    return [pair for pair, contradict in pairs.items() if contradict]


def replaced_fields(
    spec: TableSpec, given: Mapping[str, Any], orders: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Return the fields of a spec that contradict what is ``given`` beside it, as they are then."""
    stored = {field.name: field for field in fields(type(spec)) if field.name not in given}
    changes: dict[str, Any] = {}
    for pair in contradictions({name: getattr(spec, name) for name in stored} | dict(given), orders):
        for name in {*pair} & {*stored} if {*pair} & {*given} else ():
            changes[name] = stored[name].default
            if name in ("ordered", "numeric"):  # what is said of further columns stays
                scaled = {_scaled_column(text) for text in (*given.get("ordered", ()), *given.get("numeric", ()))}
                changes[name] = tuple(text for text in getattr(spec, name) if _scaled_column(text) not in scaled)
    return changes


def _scaled_column(text: str) -> str:
    """The column of ``grade=low<mid<high``."""
    return text.partition("=")[0] if "<" in text else text


def asked_structure(
    spec: TableSpec, structure: str | None, order: int | None, default: str = "auto"
) -> tuple[str, int | None]:
    """Return structure and order as they are asked for, or as the spec has them where neither is."""
    if structure is None and order is None:
        structure, order = spec.structure, spec.order
    return structure or default, order


def plain_spec(spec: TableSpec) -> dict[str, Any]:
    """Return the fields that say something as a document holds them: texts, lists, numbers and flags.

    Tables that are no files are named as such, and a column of importances by its name.
    """
    record = {}
    for field in fields(type(spec)):
        value = getattr(spec, field.name)
        if value is None or (field.kind not in ("file", "tables") and value == field.default):
            continue
        if field.kind == "file":
            value = _file_text(value)
        if field.kind == "tables":
            value = [f"{factor}={_table_text(table)}" for factor, table in value.items()]
        record[field.name] = list(value) if field.kind == "names" else value
    return record


def _file_text(value: Any) -> str:
    if isinstance(value, tuple):  # a column of the table itself
        return str(value[1])
    return str(value) if isinstance(value, str | Path) else f"a {type(value).__name__}"


def _table_text(value: Any) -> str:
    """Name a table, or a table and its column as ``table:column``."""
    table, column = value if isinstance(value, tuple) else (value, "")
    return f"{_file_text(table)}:{column}" if column else _file_text(table)


def tables_by_factor(value: Any, name: str, folder: Path = Path()) -> dict[str, Any]:
    """Return tables by factor of a mapping, or of texts ``factor=file`` or ``factor=file:column``; files of a folder.

    Examples
    --------
    >>> tables_by_factor(["drug=descriptors.csv"], "features")
    {'drug': 'descriptors.csv'}
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{name} are a {type(value).__name__}; give tables by factor: {name}={{'drug': table}}")
    tables: dict[str, Any] = {}
    for text in value:
        factor, _, path = str(text).partition("=")
        factor, path = factor.strip(), path.strip()
        if not factor or not path:
            raise InputError(f"{name} {text!r} names no factor and file; write them as drug=descriptors.csv")
        if factor in tables:
            raise InputError(f"{name} of {factor!r} are given twice; name one file for each factor")
        before, _, column = path.rpartition(":")
        with_column = before and column and not _exists(folder / path) and _exists(folder / before)
        tables[factor] = (before, column) if with_column else path
    return tables


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def project_spec(folder: Path) -> tuple[TableSpec, Path] | None:
    """Return what ``[tool.recombine]`` of a folder's pyproject.toml says, and that file; None if it says nothing."""
    path = folder / "pyproject.toml"
    try:
        if b"tool.recombine" not in path.read_bytes():
            return None
    except OSError:
        return None
    return TableSpec.read(path), path


def _parsed(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"{path} does not exist; write one with --save-design, or correct its name")
    if not path.is_file():
        raise InputError(f"{path} is a folder or device; name a TOML file that says how the table is read")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}; check its permissions") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f'{path} is not TOML ({reason}); write lines such as outcome = "mass"') from None


def spec_of(record: object, path: Path, section: str = "") -> TableSpec:
    """Return the spec of a record that was read from ``path``, every value of the kind it has to be."""
    # A key is the name of a field, or the option that sets it.
    where, offered = f"{section}{path}", {name: field for field in fields() for name in (field.flag[2:], field.name)}
    if not isinstance(record, Mapping):
        raise InputError(f'{where} is no table of settings; write lines such as outcome = "mass" under it')
    given = {}
    for name, value in record.items():
        if name not in offered:
            raise InputError(
                f"{where}: {name!r} says nothing about a table;"
                f"{near_miss(name, offered, f'Settings: {listing([field.name for field in fields()], 30)}')}"
            )
        field = offered[name]
        if field.name in given:
            raise InputError(f"{where}: {field.name} is said twice, once as {name!r}; leave one out")
        given[field.name] = _checked(field, value, where)
        if field.kind == "file":
            given[field.name] = _beside(path.parent, field, value)
        if field.kind == "tables":
            tables = tables_by_factor(value, field.name, path.parent)
            given[field.name] = {factor: _beside(path.parent, field, table) for factor, table in tables.items()}
    for pair in contradictions(given):
        raise InputError(contradiction_text(*pair, f"stand in {where}"))
    return make_spec(None, given)


def contradiction_text(name: str, rival: str, stand: str) -> str:
    """Say that two settings contradict each other, and where both stand."""
    return f"{name} and {rival} contradict each other, and both {stand}; leave one out"


def _checked(field: Field, value: Any, where: str) -> Any:
    """Return a value if it is of the field's kind, or say of which it is to be."""
    listed = field.kind in ("names", "tables")
    texts = value if isinstance(value, list) else [value]
    written = isinstance(value, list) is listed and all(isinstance(text, str) and text.strip() for text in texts)
    flag = isinstance(value, bool)
    if {"flag": flag, "number": isinstance(value, int) and not flag}.get(field.kind, written):
        return value
    example = json.dumps(field.option.example.split(",")) if listed else field.option.example
    wanted = WANTED[field.kind].format(example=example)
    raise InputError(f"{where}: {field.name} is {_brief(value)}; give {wanted}")


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _beside(folder: Path, field: Field, text: Any) -> Any:
    """Return a file's name as seen from here; what may also be a column stays as it is unless there is such a file."""
    if isinstance(text, tuple):  # a file and its column
        return _beside(folder, field, text[0]), text[1]
    path = folder / text
    plain = Path(os.path.normpath(path))
    # A folder that is a link may have another parent than its name says.
    path = plain if not path.exists() or (plain.exists() and plain.samefile(path)) else path
    return text if field.name == "importance" and not path.exists() else str(path)


def spec_toml(
    spec: TableSpec, guessed: Mapping[str, str], folder: Path, remarks: Mapping[str, Any] | None = None
) -> str:
    """Return a spec as a TOML document to lie in ``folder``; ``guessed`` says of fields how they came about.

    Values that other rows may refute, such as nesting that was inferred, are ``remarks``: said, they would be errors.
    """
    lines = ["# How recombine reads a table: name this file with --design."]
    kinds = {field.name: field.kind for field in fields(type(spec))}
    for name, value in plain_spec(spec).items():
        if kinds[name] == "file" and Path(value).exists():
            value = _relative(Path(value), folder)
        if kinds[name] == "tables":
            value = [_relative_table(text, folder) for text in value]
        lines.append(f"{name} = {_toml(value)}" + (f"  # {guessed[name]}" if name in guessed else ""))
    lines += [f"# {name} = {_toml(value)}  # {guessed[name]}" for name, value in (remarks or {}).items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """JSON writes texts, lists and flags as TOML does, but for signs beyond the first 65,536."""
    text = json.dumps(value, ensure_ascii=False)
    return printable(re.sub("[\U000e0000-\U000e007f]", lambda sign: f"\\U{ord(sign.group()):08x}", text))


def _relative_table(text: str, folder: Path) -> str:
    """Write ``factor=file`` as seen from a folder."""
    ((factor, table),) = tables_by_factor([text], "features").items()
    file, column = table if isinstance(table, tuple) else (table, "")
    name = _relative(Path(file), folder) if _exists(Path(file)) else file
    return f"{factor}={name}{':' if column else ''}{column}"


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()


def spec_options(spec: TableSpec) -> list[str]:
    """Return the options of the command line that say what a spec says."""
    words = []
    said = plain_spec(spec)
    for field in fields(type(spec)):
        if field.name not in said:
            continue
        value = said[field.name]
        if field.kind == "flag":
            words.append(field.flag.split("/")[0 if value else -1])
        elif field.kind == "tables":
            words += [word for text in value for word in (field.flag, text)]
        else:
            words += shlex.split(option_text(field.flag, *value)) if field.kind == "names" else [field.flag, str(value)]
    return words


def spec_command(job: str, source: str, spec: TableSpec) -> str:
    """Return the command that reads a file of this name as a spec says; empty for a table in memory."""
    return shlex.join(["recombine", job, source, *spec_options(spec)]) if Path(source).suffix or source == "-" else ""
