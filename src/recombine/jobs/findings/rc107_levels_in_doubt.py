"""RC107: levels that may not be read as they were meant."""

from __future__ import annotations

from collections.abc import Iterator

from recombine.design.notes import NoteKind
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.jobs.findings.note_finding import NoteFinding

#: Groups of levels that look alike which are named, of each factor.
MAX_GROUPS_NAMED = 3


class LevelsInDoubt(NoteFinding):
    """Levels that look alike, measurements taken as labels, an encoding that was assumed."""

    code = "RC107"
    title = "levels read in doubt"
    severity = Severity.WARNING
    meaning = (
        "Levels are the values as they were written. Some of them look like two spellings of one level, or a column of "
        "measurements was taken as unordered labels, or the file's encoding had to be assumed. In 23 of 24 columns of "
        "real tables where levels looked alike, they were one."
    )
    action = "Clean the table if that is not what was meant; name measured columns with --numeric."
    note = NoteKind.LEVELS_IN_DOUBT

    def message(self, evidence: FindingEvidence) -> str:
        """Say of each factor what is in doubt."""
        return "; ".join(self._doubts(evidence))

    def _doubts(self, evidence: FindingEvidence) -> Iterator[str]:
        if evidence["encoding"]:
            yield evidence["encoding"]
        for factor in evidence.subjects:
            if groups := evidence["alike"].get(factor):
                shown = "; ".join(" and ".join(map(repr, group[:3])) for group in groups[:MAX_GROUPS_NAMED])
                further = len(groups) - MAX_GROUPS_NAMED
                more = f" (and {further:,} more)" if further > 0 else ""
                yield f"{factor!r}: {shown}{more} look like one level{'' if len(groups) == 1 else ' each'}"
            if span := evidence["measured"].get(factor):
                count, low, high = span
                yield (
                    f"{factor!r}: {count:,} numbers taken as unordered labels ({low:g} to {high:g}): what lies between "
                    "them is no level; if measured, say --numeric"
                )


RC107 = LevelsInDoubt()
