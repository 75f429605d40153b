"""The documents that are compared: what ``recombine audit --json`` and ``recombine score --json`` wrote, checked."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from recombine._version import SCHEMA
from recombine.cells.scales import FactorScale
from recombine.errors import InputError
from recombine.jobs.audit.audit import Audit
from recombine.jobs.comparison.outcomes_kept import NoiseRecord
from recombine.jobs.outputs import render
from recombine.jobs.score.score import Score

#: How keys of a model end under which a score lists the amounts or coefficients of factors.
BY_FACTOR = " by factor"
#: Digits of a count; Python reads no more at once.
MAX_DIGITS = 4_300
#: A count; beyond what most readers of JSON hold it is written as text.
Count = int | str


class StructureRecord(msgspec.Struct, frozen=True):
    """The structure that verdicts and values assume."""

    name: str
    assumes: str
    asked: bool | str | None = None


class FactorRecord(msgspec.Struct, frozen=True):
    """A factor, how many levels it has, and whether they are labels."""

    name: str
    levels: int
    scale: str = "labels"


class FindingRecord(msgspec.Struct, frozen=True):
    """A finding as it was written."""

    code: str
    title: str
    severity: str
    message: str
    subjects: tuple[str, ...] = ()


class CellsRecord(msgspec.Struct, frozen=True):
    """Verdicts of all listed cells as runs, or why they are not there."""

    of: str
    runs: str = ""
    obstacle: str = ""


class ForecastErrors(msgspec.Struct, frozen=True):
    """What models will be off by on determined cells."""

    ntk: float | None = None
    nngp: float | None = None
    additive: float | None = None
    mean: float | None = None
    noise: float | None = None
    cells: Count = 0
    source: str = ""


class ForecastRecord(msgspec.Struct, frozen=True):
    """The forecast, or why there is none."""

    error: ForecastErrors | None = None
    obstacle: str | None = None


class RowsRecord(msgspec.Struct, frozen=True):
    """How many rows a table has, and how many of them are used."""

    table: int = 0
    used: int = 0


class ReadingRecord(msgspec.Struct, frozen=True):
    """What a comparison reads of how a table was read."""

    rows: RowsRecord = RowsRecord()


class AuditDocument(msgspec.Struct, frozen=True):
    """What a comparison reads of an audit."""

    recombine: str
    source: str
    order: int
    structure: StructureRecord
    factors: tuple[FactorRecord, ...]
    outcome: str | None
    rows: Count | float
    counts: dict[str, Any]
    findings: tuple[FindingRecord, ...]
    cells: CellsRecord
    forecast: ForecastRecord
    levels: dict[str, tuple[str, ...]] | None
    symmetric: tuple[tuple[str, ...], ...]
    table: dict[str, Any]
    seed: int = 0
    reading: ReadingRecord = ReadingRecord()
    noise: NoiseRecord | None = None
    digests: dict[str, tuple[str, ...]] | None = None  #: Of the levels of each factor.

    @property
    def settings(self) -> dict[str, str]:
        """What it assumes or was asked, by name, as text."""
        scales = [f"{factor.name} {factor.scale}" for factor in self.factors if factor.scale != FactorScale.LABELS]
        return {
            "outcome": self.outcome or "none",
            "structure": self.structure.name,
            "order": str(self.order),
            "assumption": self.structure.assumes,
            "rows": f"{self.rows:,}" if isinstance(self.rows, int | float) else self.rows,
            "symmetric factors": "; ".join(", ".join(group) for group in self.symmetric) or "none",
            "cells listed": self.cells.of,
            "scales": ", ".join(scales) or "none",
        }


def _key(name: str) -> str:
    """Return the key of a field in the document of a score."""
    return name.replace("held_out", "held-out").replace("_", " ")


class AmountRecord(msgspec.Struct, frozen=True):
    """A number with its range; null where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


class VerdictErrors(msgspec.Struct, frozen=True, rename=_key):
    """The error of one model on the held-out cells of one verdict."""

    verdict: str
    cells: int
    squared_error: float | None
    low: float | None = None
    high: float | None = None


class ModelRecord(msgspec.Struct, frozen=True, rename=_key):
    """What one model did on the held-out cells."""

    name: str
    error_on_unseen_cells: AmountRecord
    by_verdict: tuple[VerdictErrors, ...]
    error_on_determined_cells: AmountRecord | None = None
    causes: dict[str, AmountRecord] = {}
    by_factor: dict[str, dict[str, AmountRecord]] = {}
    gain_over_adding: AmountRecord | None = None


class CellErrors(msgspec.Struct, frozen=True):
    """Verdicts of the held-out cells as runs, and each model's squared errors on them as float32 in base64."""

    verdicts: str
    errors: dict[str, str]
    cells: str = ""  #: Six bytes per cell by which it is known again, in base64.


class ScoreDocument(msgspec.Struct, frozen=True, rename=_key):
    """What a comparison reads of a score."""

    recombine: str
    source: str
    outcome: str | None
    factors: tuple[str, ...]
    structure: str
    assumption: str
    seen_cells: int
    held_out_cells: int
    determined_cells: int
    held_out_digest: str
    models: tuple[ModelRecord, ...]
    table: dict[str, Any]
    measure: str = "squared error"
    seed: int = 0
    cell_errors: CellErrors | None = None

    @property
    def settings(self) -> dict[str, str]:
        """What it is about or assumes, by name, as text."""
        return {
            "outcome": self.outcome or "none",
            "measure of error": self.measure,
            "factors": ", ".join(sorted(self.factors)),
            "structure": self.structure,
            "assumption": self.assumption,
            "seen cells": f"{self.seen_cells:,}",
            "held-out cells": f"{self.held_out_cells:,}",
            "determined cells": f"{self.determined_cells:,}",
        }


def read_document(source: object, name: str) -> AuditDocument | ScoreDocument:
    """Return an audit or a score as the document that is compared; ``name`` is what errors call it.

    Parameters
    ----------
    source : Audit, Score, path or mapping
        A result, the file that its ``--json`` was written to, or that file read.

    Examples
    --------
    >>> read_document({"kind": "comparison"}, "before")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: before is of kind 'comparison'; give what recombine audit ... --json or recombine \
score ... --json prints, kept in a file of its own
    """
    if isinstance(source, AuditDocument | ScoreDocument):
        return source
    if isinstance(source, Audit | Score):
        return _checked(msgspec.json.decode(render(source, "json")), name)
    if isinstance(source, str | Path):
        path = Path(source)
        return _checked(_parsed(path), path.name)
    if not isinstance(source, Mapping):
        raise InputError(
            f"{name} is a {type(source).__name__}; give an Audit, a Score, or the file or dictionary of their JSON"
        )
    return _checked(dict(source), name)


def _no_document(reason: str) -> InputError:
    """Refuse what is no document; the file that was named may be a table, which no redirection may overwrite."""
    return InputError(
        f"{reason}; give what recombine audit ... --json or recombine score ... --json prints, kept in a file of its "
        "own"
    )


def _parsed(path: Path) -> Any:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the JSON file in it")
    if not path.is_file():
        raise _no_document(f"{path} {'is a pipe or device, not a file' if path.exists() else 'does not exist'}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened: {error.strerror}; check its permissions") from None
    if not content.strip():
        raise _no_document(f"{path.name} is empty")
    try:
        # Some shells write UTF-16 when output goes to a file.
        wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return msgspec.json.decode(content.decode("utf-16" if wide else "utf-8-sig"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _no_document(f"{path.name} is not JSON ({' '.join(str(error).split())})") from None


def _checked(document: Any, name: str) -> AuditDocument | ScoreDocument:
    """Return a document of a kind and schema that are known, every field of the right type."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or (kind is None and "recombine" not in document):
        raise _no_document(f"{name} is JSON of something else")
    if kind is None:
        raise InputError(f"{name} was written by a recombine that did not say of what kind it is; write it anew")
    if kind not in ("audit", "score"):
        raise _no_document(f"{name} is of kind {kind!r:.40}")
    schema = document.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise InputError(
            f"{name} is of schema {schema!r:.40}, written by recombine {document.get('recombine')!s:.40}, and this "
            f"version compares schema {SCHEMA}; write it anew with recombine {kind} ... --json of this version"
        )
    try:
        if kind == "audit":
            return msgspec.convert(document, AuditDocument)
        return msgspec.convert(_with_factors(document), ScoreDocument)
    except (msgspec.ValidationError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{name} is no {kind} as recombine writes it: {reason}; write it anew with recombine {kind} ... --json"
        ) from None


def _with_factors(document: dict[str, Any]) -> dict[str, Any]:
    """Gather what a score says of factors, whatever its causes: ``slope by factor`` goes into ``by factor``."""
    models = document.get("models")
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        return document  # refused by the check of types, with its reason
    gathered = []
    for model in models:
        by_factor = {key.removesuffix(BY_FACTOR): model[key] for key in map(str, model) if key.endswith(BY_FACTOR)}
        gathered.append(model | {"by factor": by_factor})
    return document | {"models": gathered}


def read_count(value: object, name: str) -> int:
    """Return a count that may be written as text.

    Examples
    --------
    >>> read_count("1000000000000000000000", "total") == 10**21
    True
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise InputError(f"{name} of the counts is {str(value)[:40]!r}, which is no count; write the document anew")
