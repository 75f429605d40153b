"""What changed between two audits: cells, levels, findings, the structure that is assumed, and the forecast."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import msgspec

from recombine.errors import InputError
from recombine.jobs.comparison.cell_maps import CellMap, Transitions
from recombine.jobs.comparison.differences import Comparison, Difference, respelled
from recombine.jobs.comparison.documents import AuditDocument, FindingRecord, read_count
from recombine.jobs.comparison.outcomes_kept import NoiseRise, noise_rise, renamed_levels
from recombine.verdicts import Verdict
from recombine.writing import plural

#: Models that documents have a forecast of.
FORECASTS = ("ntk", "nngp", "additive", "mean", "noise")


class CellsObstacle(Enum):
    """Why cells of two audits cannot be compared one by one: a document does not list them, or they are of others."""

    UNLISTED_BEFORE = "before"
    UNLISTED_AFTER = "after"
    FACTORS = "factors"
    SYMMETRIC = "symmetric"


@dataclass(frozen=True)
class FindingChanges:
    """Findings by code and subject: new, gone, and those that stay, as they are now and as they were.

    A finding about several factors or levels counts once for each of them.
    """

    new: tuple[FindingRecord, ...]
    gone: tuple[FindingRecord, ...]
    stay: tuple[tuple[FindingRecord, FindingRecord], ...]

    @classmethod
    def between(cls, before: AuditDocument, after: AuditDocument) -> FindingChanges:
        """Compare the findings of two audits."""
        old, now = _by_subject(before), _by_subject(after)
        return cls(
            tuple(finding for key, finding in now.items() if key not in old),
            tuple(finding for key, finding in old.items() if key not in now),
            tuple((old[key], finding) for key, finding in now.items() if key in old),
        )


def _by_subject(document: AuditDocument) -> dict[tuple[str, str], FindingRecord]:
    records = {}
    for item in document.findings:
        for subject in item.subjects or ("",):
            alone = (subject,) if subject else ()
            records[item.code, subject] = FindingRecord(item.code, item.title, item.severity, item.message, alone)
    return records


@dataclass(frozen=True)
class RenamedLevel:
    """A level whose ``cells`` have the outcomes of one that is gone."""

    factor: str
    old: str
    new: str
    cells: int


@dataclass(frozen=True, eq=False)
class AuditComparison(Comparison):
    """What changed between two audits. Make one with `recombine.compare`."""

    before: AuditDocument
    after: AuditDocument
    counts: dict[str, tuple[int, int]]  #: Verdict -> cells that can exist, before and after; ``total`` is their sum.
    factors: Difference  #: Names of factors.
    levels: dict[str, Difference]  #: Of each factor that stays; empty where a document does not name them.
    transitions: Transitions | None  #: None where the documents do not list the same kind of cells.
    obstacle: CellsObstacle | None  #: Why cells were not compared one by one.
    findings: FindingChanges
    renamed: tuple[RenamedLevel, ...] = ()  #: Levels that are called otherwise; they count as those of before.

    @property
    def noisier(self) -> NoiseRise | None:
        """By how much the noise rose, if it did beyond chance."""
        return noise_rise(self.before.noise, self.after.noise)

    @property
    def gained(self) -> int:
        """Cells that were neither seen nor determined and now are; 0 where cells were not compared one by one."""
        return 0 if self.transitions is None else int(self.transitions.gained.sum())

    @property
    def lost(self) -> int:
        """Cells that were seen or determined and now are neither; 0 likewise."""
        return 0 if self.transitions is None else int(self.transitions.lost.sum())

    @property
    def vanished(self) -> int:
        """Cells that were seen or determined and have a level that is gone; 0 likewise."""
        return 0 if self.transitions is None else int(self.transitions.vanished.sum())

    @property
    def respelled(self) -> tuple[tuple[str, str, str], ...]:
        """(Factor, level that is gone, level that is new) where only the way they are written differs."""
        return tuple(
            (name, old, new) for name, change in self.levels.items() for old, new in respelled(change.gone, change.new)
        )

    @property
    def estimated(self) -> bool:
        """Whether some counts are estimates from samples."""
        return not (self.before.counts.get("exact", True) and self.after.counts.get("exact", True))

    @property
    def forecast(self) -> dict[str, tuple[float | None, float | None]]:
        """Field of `ForecastErrors` -> the error that is forecast, before and after; only where either is known."""
        sides = [document.forecast.error for document in (self.before, self.after)]
        errors = {}
        for name in FORECASTS:
            old, new = (None if error is None else getattr(error, name) for error in sides)
            if not old == new is None:
                errors[name] = old, new
        return errors

    @property
    def changed(self) -> bool:
        """Whether anything that is compared differs."""
        cells = self.transitions is not None and bool(self.transitions.changed.any())
        levels = self.factors.changed or any(difference.changed for difference in self.levels.values())
        numbers = any(old != new for old, new in [*self.counts.values(), *self.forecast.values()])
        reworded = any(old.message != new.message for old, new in self.findings.stay)
        named = self.settings or self.findings.new or self.findings.gone or self.renamed or self.noisier
        return bool(cells or levels or numbers or reworded or named)

    def __repr__(self) -> str:
        new, gone = len(self.findings.new), len(self.findings.gone)
        cells = "cells not compared" if self.transitions is None else f"{self.gained:,} gained, {self.lost:,} lost"
        return f"AuditComparison({cells}; {plural(new, 'finding')} new, {gone:,} gone)"


def compare_audits(before: AuditDocument, after: AuditDocument) -> AuditComparison:
    """Compare two audits that were read."""
    renamed = _renamed(before, after)
    after = _named_as_before(after, renamed)
    factors = Difference.between(*([factor.name for factor in document.factors] for document in (before, after)))
    levels = {}
    if before.levels is not None and after.levels is not None:
        for name in factors.stay:
            if name not in before.levels or name not in after.levels:
                raise InputError(f"a document names no levels of its factor {name!r}; write it anew")
            levels[name] = Difference.between(before.levels[name], after.levels[name])
    counts = [
        {word: read_count(document.counts.get(word, 0), word) for word in (*(item.word for item in Verdict), "total")}
        for document in (before, after)
    ]
    obstacle = _obstacle(before, after)
    return AuditComparison(
        before,
        after,
        {word: (count, counts[1][word]) for word, count in counts[0].items()},
        factors,
        levels,
        _transitions(before, after) if obstacle is None else None,
        obstacle,
        FindingChanges.between(before, after),
        tuple(renamed),
    )


def _renamed(before: AuditDocument, after: AuditDocument) -> list[RenamedLevel]:
    """Return levels that are called otherwise; a spelling that nobody meant is no new name."""
    renamed = []
    for name in (before.levels or {}).keys() & (after.levels or {}).keys() & (before.digests or {}).keys():
        earlier, later = (
            dict(zip((document.levels or {})[name], (document.digests or {}).get(name, ()), strict=False))
            for document in (before, after)
        )
        gone, new = earlier.keys() - later.keys(), later.keys() - earlier.keys()
        slips = set(respelled(gone, new))
        pairs = [pair for pair in renamed_levels(earlier, later, sorted(gone), sorted(new)) if pair not in slips]
        renamed += [RenamedLevel(name, old, label, _seen_cells(after, name, label)) for old, label in pairs]
    return sorted(renamed, key=lambda item: (item.factor, item.old))


def _seen_cells(document: AuditDocument, factor: str, label: str) -> int:
    """Return how many cells of a level a document lists as seen; 0 where it lists none."""
    if document.cells.of == "none" or document.levels is None:
        return 0
    levels, cell_map = _listed_cells(document, "after")
    mine = cell_map.cells[:, list(levels).index(factor)] == levels[factor].index(label)
    return int((mine & (cell_map.codes == Verdict.SEEN)).sum())


def _named_as_before(document: AuditDocument, renamed: list[RenamedLevel]) -> AuditDocument:
    old = {(item.factor, item.new): item.old for item in renamed}
    levels = {
        name: tuple(old.get((name, label), label) for label in labels)
        for name, labels in (document.levels or {}).items()
    }
    return msgspec.structs.replace(document, levels=levels) if renamed else document


def _obstacle(before: AuditDocument, after: AuditDocument) -> CellsObstacle | None:
    """Say why cells cannot be compared one by one, if they cannot."""
    sides = ((before, CellsObstacle.UNLISTED_BEFORE), (after, CellsObstacle.UNLISTED_AFTER))
    for document, unlisted in sides:
        if document.cells.of not in ("all cells", "targets") or document.levels is None:
            return unlisted
    if {factor.name for factor in before.factors} != {factor.name for factor in after.factors}:
        return CellsObstacle.FACTORS
    groups, groups_after = ({frozenset(group) for group in document.symmetric} for document in (before, after))
    return None if groups == groups_after else CellsObstacle.SYMMETRIC


def _transitions(before: AuditDocument, after: AuditDocument) -> Transitions:
    (old, old_map), (new, new_map) = _listed_cells(before, "before"), _listed_cells(after, "after")
    names = list(old)
    if any(name not in names for group in before.symmetric for name in group):
        raise InputError("the audit before names a symmetric factor that it does not have; write it anew")
    symmetric = [tuple(names.index(name) for name in group) for group in before.symmetric]
    return Transitions.between(old_map, new_map, old, new, symmetric)


def _listed_cells(document: AuditDocument, word: str) -> tuple[dict[str, tuple[str, ...]], CellMap]:
    """Return the levels of each factor, and the verdicts of all listed cells."""
    assert document.levels is not None
    levels = {factor.name: document.levels[factor.name] for factor in document.factors}
    for name, labels in levels.items():
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"the audit {word} names a level of factor {name!r} twice, or none; write it anew")
    try:
        return levels, CellMap.read(document.cells.runs, tuple(map(len, levels.values())))
    except InputError as error:
        raise InputError(f"the audit {word} is damaged: {error}; write it anew") from None
