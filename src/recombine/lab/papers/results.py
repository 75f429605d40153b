"""Small committed results: rows as Parquet, and beside them a JSON file that says how they came about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from recombine.errors import InputError, RecombineError
from recombine.lab.runs.collect import load_table, save_table
from recombine.output_files import open_beside
from recombine.tables.table import Table
from recombine.writing import plural

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from recombine.lab.runs.experiment import Experiment

Row = Mapping[str, Any]


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a result came about.

    Attributes
    ----------
    experiment, scale : str
    command : str
        What to type to get it again.
    seed : str
        Where the randomness comes from.
    device : str
    seconds : float
        Wall time of the units that were run.
    settings : list
        One dictionary a unit that was run.
    versions : dict
        Of recombine, Python and the libraries.
    planned : int
        Units of the whole grid, where time allowed only some; 0 when all were run.
    rows : list
        How many rows each unit has, in the order of the settings; empty in files that did not say so yet.
    schema : int
        Of the experiment, when its units were run; 0 in files that did not say so yet.

    Examples
    --------
    >>> Provenance("leak", "quick", "recombine reproduce", "none", "cpu", 0.5, [], {"numpy": "2.4"}).device
    'cpu'
    """

    experiment: str
    scale: str
    command: str
    seed: str
    device: str
    seconds: float
    settings: list[dict[str, Any]]
    versions: dict[str, str]
    planned: int = 0
    rows: list[int] = []
    schema: int = 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows of one experiment at one scale, and how they came about."""

    table: Table
    provenance: Provenance

    @property
    def scale(self) -> str:
        """The scale the rows were made at."""
        return self.provenance.scale

    @property
    def extent(self) -> str:
        """How much of what we planned was run, in words."""
        planned, ran = self.provenance.planned, len(self.provenance.settings)
        whose = "the small grid" if self.scale == "quick" else "our full grid"
        return f"{ran} of {planned} runs of {whose}" if planned else f"all of {whose}"


def default_folder() -> Path:
    """Return where committed results lie: ``results`` here, or in the source tree the package runs from.

    Examples
    --------
    >>> default_folder().name
    'results'
    """
    working, source = Path("results"), Path(__file__).parents[4] / "results"
    return source if source.is_dir() and not working.is_dir() else working


def paths(folder: Path, paper: str, experiment: str, scale: str) -> tuple[Path, Path]:
    """Return the Parquet and JSON paths of one experiment at one scale.

    Examples
    --------
    >>> [str(path) for path in paths(Path("results"), "kernel-theory", "leak", "quick")]
    ['results/kernel-theory/leak-quick.parquet', 'results/kernel-theory/leak-quick.json']
    """
    stem = folder / paper / f"{experiment}-{scale}"
    return stem.with_name(stem.name + ".parquet"), stem.with_name(stem.name + ".json")


def save_evidence(folder: Path, paper: str, evidence: Evidence) -> Path:
    """Write rows and provenance, and return the path of the rows."""
    rows, story = paths(folder, paper, evidence.provenance.experiment, evidence.scale)
    save_table(evidence.table, rows, msgspec.to_builtins(evidence.provenance))
    with open_beside(story) as file:
        file.write(msgspec.json.format(msgspec.json.encode(evidence.provenance), indent=1) + b"\n")
    return rows


def load_evidence(
    folder: Path,
    paper: str,
    experiment: str,
    scales: Sequence[str] = ("full", "quick"),
    connection: DuckDBPyConnection | None = None,
) -> Evidence | None:
    """Return the stored result at the first of ``scales`` that has one, or None."""
    for scale in scales:
        rows, story = paths(folder, paper, experiment, scale)
        if rows.exists() and story.exists():
            return _belonging(Evidence(_read(rows, connection), _story(story)), story)
        if rows.exists() != story.exists():
            missing = story if rows.exists() else rows
            raise RecombineError(f"{missing} is missing; the two files of a result belong together, so run it again")
    return None


def load_all_evidence(
    folder: Path, paper: str, experiments: Iterable[str], scales: Sequence[str]
) -> dict[str, Evidence]:
    """Return the stored results of several experiments, by name; those without one are left out."""
    import duckdb

    with duckdb.connect() as connection:
        results = {name: load_evidence(folder, paper, name, scales, connection) for name in experiments}
    return {name: result for name, result in results.items() if result is not None}


def outdated(evidence: Evidence, experiment: Experiment) -> bool:
    """Say whether a result was made under another schema number of its experiment."""
    return evidence.provenance.schema not in (0, experiment.schema)


def unit_keys(evidence: Evidence, experiment: Experiment) -> list[str]:
    """Return the key of every unit that has rows, in their order; empty text for one the experiment has no place for.

    Examples
    --------
    >>> from recombine.lab.runs import Experiment
    >>> story = Provenance("leak", "quick", "", "", "cpu", 0.5, [{"x": 1}], {})
    >>> experiment = Experiment("demo/leak", len, quick=[{"x": 1}], full=[])
    >>> unit_keys(Evidence(Table({}), story), experiment) == [experiment.units("quick")[0].key]
    True
    """
    return [_key(experiment, setting) for setting in evidence.provenance.settings]


def _key(experiment: Experiment, setting: Mapping[str, Any]) -> str:
    try:
        return experiment.unit(setting).key
    except InputError:
        return ""


def unit_rows(evidence: Evidence, experiment: Experiment) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every unit by its key, in the order of the result."""
    rows, by_unit, start = list(evidence.table.rows()), {}, 0
    for key, count in zip(unit_keys(evidence, experiment), _counts(evidence), strict=True):
        by_unit[key] = rows[start : start + count]
        start += count
    return by_unit


def same_rows(rows1: Sequence[Row], rows2: Sequence[Row]) -> bool:
    """Say whether two lists of rows hold the same values; what is missing is NaN in one place and None in another.

    Examples
    --------
    >>> same_rows([{"loss": 0.5, "r2": None}], [{"loss": 0.5, "r2": math.nan}]), same_rows([{"loss": 0.5}], [])
    (True, False)
    """
    return len(rows1) == len(rows2) and all(
        list(a) == list(b) and all(_same(a[name], b[name]) for name in a) for a, b in zip(rows1, rows2, strict=True)
    )


def same_evidence(a: Evidence, b: Evidence) -> bool:
    """Say whether two results have the same rows and the same story."""
    return a.provenance == b.provenance and same_rows(list(a.table.rows()), list(b.table.rows()))


def _same(a: Any, b: Any) -> bool:
    return _missing(b) if _missing(a) else bool(a == b)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def join_evidence(old: Evidence, new: Evidence, experiment: Experiment) -> Evidence:
    """Return the rows of two results of one experiment and scale, in the order of the grid, and both their stories.

    Where both have a unit, the new rows count; units of the old result that the grid does not have are left out.

    Parameters
    ----------
    old, new : Evidence
        The new one says how many rows each unit has.
    experiment : Experiment

    Examples
    --------
    >>> from recombine.lab.runs import Experiment, grid
    >>> experiment = Experiment("demo/leak", len, quick=grid(x=[1, 2, 3]), full=[])
    >>> def result(x, leak):
    ...     story = Provenance("leak", "quick", "recombine", "", "cpu", 0.5, [{"x": x}], {"numpy": "2"}, 3, [1])
    ...     return Evidence(Table({"x": [x], "leak": [leak]}), story)
    >>> both = join_evidence(result(2, 0.7), result(1, 0.9), experiment)
    >>> both.table["leak"], both.extent
    (array([0.9, 0.7]), '2 of 3 runs of the small grid')
    """
    grid = {unit.key: unit for unit in experiment.units(new.scale)}
    by_unit = {**unit_rows(old, experiment), **unit_rows(new, experiment)}
    units = [(unit, by_unit[key]) for key, unit in grid.items() if key in by_unit]
    before, after = old.provenance, new.provenance
    provenance = Provenance(
        experiment=after.experiment,
        scale=after.scale,
        # What to type for all of it: on the GPU, if any unit was run on one.
        command=before.command if "cuda" in before.device else after.command,
        seed=after.seed,
        device=", ".join(sorted({*before.device.split(", "), *after.device.split(", ")})),
        seconds=round(before.seconds + after.seconds, 3),
        settings=[unit.setting for unit, _ in units],
        versions=_every_version(before.versions, after.versions),
        planned=0 if len(units) == len(grid) else len(grid),
        rows=[len(rows) for _, rows in units],
        schema=experiment.schema,
    )
    return Evidence(_stacked([row for _, rows in units for row in rows], after.experiment), provenance)


def replan(evidence: Evidence, experiment: Experiment) -> Evidence:
    """Return a result that says how much of the grid of today it is; itself, if it does.

    Examples
    --------
    >>> from recombine.lab.runs import Experiment, grid
    >>> story = Provenance("leak", "quick", "", "", "cpu", 0.5, [{"x": 1}], {})
    >>> replan(Evidence(Table({"leak": [0.7]}), story), Experiment("leak", len, quick=grid(x=[1, 2]), full=[])).extent
    '1 of 2 runs of the small grid'
    """
    units, ran = len(experiment.units(evidence.scale)), len(evidence.provenance.settings)
    planned = 0 if units == ran else units
    if planned == evidence.provenance.planned:
        return evidence
    return Evidence(evidence.table, msgspec.structs.replace(evidence.provenance, planned=planned))


def require_joinable(old: Evidence, experiment: Experiment, by_unit: Mapping[str, Sequence[Row]]) -> None:
    """Raise unless rows by unit can be put beside a result without changing or dropping any of its rows.

    Parameters
    ----------
    old : Evidence
    experiment : Experiment
    by_unit : mapping
        Rows by the key of their unit.

    Examples
    --------
    >>> from recombine.lab.runs import Experiment, grid
    >>> experiment = Experiment("demo/leak", len, quick=grid(x=[1, 2]), full=[])
    >>> story = Provenance("leak", "quick", "recombine", "", "cpu", 0.5, [{"x": 2}], {}, 2, [1], 1)
    >>> old, unit = Evidence(Table({"leak": [0.7]}), story), experiment.units("quick")[1]
    >>> require_joinable(old, experiment, {unit.key: [{"leak": 0.7}]})
    >>> require_joinable(old, experiment, {unit.key: [{"leak": 0.6}]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: the quick result of leak has other rows of {'x': 2} (unit ...) than the store; ...
    """
    story, keys = old.provenance, unit_keys(old, experiment)
    what = f"the {old.scale} result of {story.experiment}"
    if outdated(old, experiment):
        raise InputError(
            f"{what} is of schema {story.schema} and the experiment of {experiment.schema}, so that their rows do not "
            "mean the same; let --force put new rows in place of all old ones"
        )
    grid = {unit.key for unit in experiment.units(old.scale)}
    stray = [setting for key, setting in zip(keys, story.settings, strict=True) if key not in grid]
    if stray:
        raise InputError(
            f"{what} has {plural(len(stray), 'unit')} that the grid does not have ({stray[0]}); "
            "let --force leave them out"
        )
    twice = [key for key in keys if key in by_unit]
    rows = unit_rows(old, experiment) if twice else {}
    clash = next((key for key in twice if not same_rows(rows[key], by_unit[key])), None)
    if clash is not None:
        raise InputError(
            f"{what} has other rows of {story.settings[keys.index(clash)]} (unit {clash}) than the store; leave this "
            "store out, or let --force put the store's rows in their place"
        )


def _every_version(*stories: Mapping[str, str]) -> dict[str, str]:
    names = dict.fromkeys(name for story in stories for name in story)
    by_name = {name: {v for story in stories if name in story for v in story[name].split(", ")} for name in names}
    return {name: ", ".join(sorted(versions)) for name, versions in by_name.items()}


def _stacked(rows: list[dict[str, Any]], experiment: str) -> Table:
    names = list(rows[0]) if rows else []
    odd = next((row for row in rows if list(row) != names), None)
    if odd is not None:
        raise InputError(
            f"rows of {experiment} have the columns {names} in one unit and {list(odd)} in another; "
            "the experiment has changed, so run it as a whole, or let --force replace the older rows"
        )
    return Table({name: _column([row[name] for row in rows]) for name in names})


def _column(values: list[Any]) -> list[Any]:
    # A missing number is None in a store and NaN in a table that was read back.
    numbers = any(isinstance(value, float) for value in values)
    return [math.nan if value is None else value for value in values] if numbers else values


def _counts(evidence: Evidence) -> Sequence[int]:
    """How many rows each unit has."""
    story = evidence.provenance
    if story.rows or not story.settings:
        return story.rows
    if len(story.settings) == 1:
        return [len(evidence.table)]
    raise InputError(
        f"the {story.scale} result of {story.experiment} does not say which of its "
        f"{plural(len(evidence.table), 'row')} belong to which of its {plural(len(story.settings), 'unit')}, so that "
        "none can be added to it; run all of it and replace it with --save --force"
    )


def _belonging(evidence: Evidence, story: Path) -> Evidence:
    """Return a result whose two files are of one mind; a kill between the two writings leaves others."""
    rows = evidence.provenance.rows
    if rows and (sum(rows) != len(evidence.table) or len(rows) != len(evidence.provenance.settings)):
        raise RecombineError(
            f"{story} tells of {sum(rows):,} rows and the table beside it has {len(evidence.table):,}; "
            "they are not of one run, so save the result again"
        )
    return evidence


def _story(path: Path) -> Provenance:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Provenance)
    except msgspec.DecodeError as error:
        raise RecombineError(f"{path} is not a provenance file ({error}); run the experiment again") from error


def _read(path: Path, connection: DuckDBPyConnection | None = None) -> Table:
    import duckdb

    try:
        return load_table(path, connection)
    except duckdb.Error as error:
        reason = str(error).split("\n", 1)[0]  # what follows is the query
        raise RecombineError(f"{path} cannot be read ({reason}); run the experiment again") from error
