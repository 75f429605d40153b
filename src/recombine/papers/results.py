"""Small committed results: rows as Parquet, and beside them a JSON file that says how they came about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from recombine.errors import RecombineError
from recombine.runs.collect import load_table, save_table
from recombine.tables.table import Table


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
        """The scale, and how much of the grid was run where it was not all."""
        planned, ran = self.provenance.planned, len(self.provenance.settings)
        return f"{self.scale} ({ran} of {planned} units)" if planned else self.scale


def default_folder() -> Path:
    """Return where committed results lie: ``results`` here, or in the source tree the package runs from.

    Examples
    --------
    >>> default_folder().name
    'results'
    """
    here, source = Path("results"), Path(__file__).parents[3] / "results"
    return source if source.is_dir() and not here.is_dir() else here


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
    story.write_bytes(msgspec.json.format(msgspec.json.encode(evidence.provenance), indent=1) + b"\n")
    return rows


def load_evidence(
    folder: Path, paper: str, experiment: str, scales: Sequence[str] = ("full", "quick")
) -> Evidence | None:
    """Return the stored result at the first of ``scales`` that has one, or None."""
    for scale in scales:
        rows, story = paths(folder, paper, experiment, scale)
        if rows.exists() and story.exists():
            return Evidence(_read(rows), _story(story))
        if rows.exists() != story.exists():
            missing = story if rows.exists() else rows
            raise RecombineError(f"{missing} is missing; the two files of a result belong together, so run it again")
    return None


def load_all_evidence(
    folder: Path, paper: str, experiments: Iterable[str], scales: Sequence[str]
) -> dict[str, Evidence]:
    """Return the stored results of several experiments, by name; those without one are left out."""
    found = {name: load_evidence(folder, paper, name, scales) for name in experiments}
    return {name: result for name, result in found.items() if result is not None}


def _story(path: Path) -> Provenance:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Provenance)
    except msgspec.DecodeError as error:
        raise RecombineError(f"{path} is not a provenance file ({error}); run the experiment again") from error


def _read(path: Path) -> Table:
    import duckdb

    try:
        return load_table(path)
    except duckdb.Error as error:
        raise RecombineError(f"{path} cannot be read ({error}); run the experiment again") from error
