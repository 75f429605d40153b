"""Where every claim stands, on record beside the results, so that listing papers judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from recombine.errors import RecombineError
from recombine.papers.paper import Paper
from recombine.papers.standing import Standing

FILE = "verdicts.json"


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a claim stands.

    Attributes
    ----------
    verdict : str
        By the largest scale at hand.
    scale : str
        Scale and extent of the results that decide it; empty where there are none.
    quick : str
        By results of scale quick alone.
    """

    verdict: str
    scale: str
    quick: str

    @property
    def standing(self) -> Standing:
        """The verdict by the largest scale at hand."""
        return Standing(self.verdict)


Record = dict[str, Recorded]


def record_of(paper: Paper, folder: Path) -> Record:
    """Judge every claim of a paper against the results in a folder."""
    from recombine.papers.results import load_all_evidence

    names = sorted({claim.reads for claim in paper.claims})
    best = load_all_evidence(folder, paper.name, names, ("full", "quick"))
    quick = load_all_evidence(folder, paper.name, names, ("quick",))
    found = {}
    for claim in paper.claims:
        outcome = claim.judge(best)
        found[claim.id] = Recorded(outcome.verdict.value, outcome.scale, claim.judge(quick).verdict.value)
    return found


def load_record(folder: Path) -> Record:
    """Return the verdicts on record in a folder of results, by claim; none where there is no record."""
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except msgspec.DecodeError as error:
        raise RecombineError(f"{path} is not a record of verdicts ({error}); run recombine reproduce --save") from error


def save_record(folder: Path, record: Mapping[str, Recorded]) -> None:
    """Write verdicts over those of the same papers, one line per claim."""
    papers = {name.partition("/")[0] for name in record}
    kept = {name: one for name, one in load_record(folder).items() if name.partition("/")[0] not in papers}
    every = dict(sorted({**kept, **record}.items(), key=lambda item: item[0].partition("/")[0]))
    lines = (f'  "{name}": {msgspec.json.encode(one).decode()}' for name, one in every.items())
    (folder / FILE).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
