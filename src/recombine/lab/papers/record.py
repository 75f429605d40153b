"""Where every claim stands, on record beside the results, so that listing papers judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recombine.errors import RecombineError
from recombine.lab.papers.paper import Paper
from recombine.lab.papers.standing import Standing
from recombine.output_files import write_whole

if TYPE_CHECKING:
    from recombine.lab.papers.reproduce import Reproduction

FILE = "verdicts.json"


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a claim stands.

    Attributes
    ----------
    verdict : str
        By the largest scale at hand.
    says : str
        Whose statement it is.
    scale : str
        Scale and extent of the results that decide it; empty where there are none.
    quick : str
        By results of scale quick alone.
    measured : str
        The numbers behind the verdict.
    units : list of int
        How many units of the experiment's grid were run, and how many it has.
    asked : str
        The bounds that judged, at the scale that was run.
    of_paper : str
        How much of what the paper ran that is, in words, where it is known.
    exploratory : bool
        Whether the claim was written after seeing the data.
    moved : bool
        Whether one of its bounds is no longer the first one.
    """

    verdict: str
    says: str
    scale: str
    quick: str
    measured: str
    units: list[int]
    asked: str = ""
    of_paper: str = ""
    exploratory: bool = False
    moved: bool = False

    @property
    def standing(self) -> Standing:
        """The verdict by the largest scale at hand."""
        return Standing(self.verdict)


Record = dict[str, Recorded]


def record_of(paper: Paper, folder: Path) -> Record:
    """Judge every claim of a paper against the results in a folder."""
    from recombine.lab.papers.results import load_all_evidence

    names = sorted({claim.reads for claim in paper.claims})
    best = load_all_evidence(folder, paper.name, names, ("full", "quick"))
    large = [name for name, evidence in best.items() if evidence.scale != "quick"]
    quick = load_all_evidence(folder, paper.name, large, ("quick",))
    recorded = {}
    for claim in paper.claims:
        outcome = claim.judge(best)
        evidence = best.get(claim.reads)
        ran = len(evidence.provenance.settings) if evidence else 0
        planned = (evidence.provenance.planned or ran) if evidence else len(paper.by_name[claim.reads].units("full"))
        small = outcome if outcome.scale == "quick" else claim.judge(quick)
        bounds = "; ".join(
            f"{number.name} {number.bound if number.asks else f'contradicts if {number.bound}'}"
            for number in outcome.parts
            if number.bound
        )
        of_paper = claim.size.said(evidence.table) if claim.size and evidence and evidence.scale != "quick" else ""
        recorded[claim.id] = Recorded(
            *(outcome.verdict.value, claim.says, outcome.scale, small.verdict.value, outcome.value, [ran, planned]),
            *(bounds, of_paper, claim.exploratory, bool(claim.moved)),
        )
    return recorded


def changed_verdicts(state: Reproduction, record: Mapping[str, Recorded], *, stored: bool = False) -> dict[str, str]:
    """Return the claims whose verdict is not the recorded one, each with both in words.

    Claims that have no record are left out, and those that this run did not decide; of ``stored`` results a verdict
    that vanished, or that rests on a smaller scale than the recorded one, counts as well.

    Examples
    --------
    >>> from recombine.lab.papers import Reproduction, find
    >>> changed_verdicts(Reproduction(find("kernel-theory"), find("kernel-theory").claims, {}), {})
    {}
    """
    changes = {}
    for claim in state.claims:
        outcome, entry = state.outcomes[claim.id], record.get(claim.id)
        if entry is None:
            continue
        if stored and entry.scale and outcome.scale not in (entry.scale, "full"):
            changes[claim.id] = f"{entry.verdict} on record by results of scale {entry.scale}, which are not there now"
            continue
        if outcome.verdict is Standing.NOT_RUN and not stored:
            continue
        before = entry.quick if outcome.scale == "quick" != entry.scale else entry.verdict
        if before != outcome.verdict.value:
            changes[claim.id] = f"{before} on record, {outcome.verdict.value} now"
    return changes


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
    others_record = {name: entry for name, entry in load_record(folder).items() if name.partition("/")[0] not in papers}
    every = dict(sorted({**others_record, **record}.items(), key=lambda item: item[0].partition("/")[0]))
    lines = (f'  "{name}": {msgspec.json.encode(entry).decode()}' for name, entry in every.items())
    write_whole(folder / FILE, "{\n" + ",\n".join(lines) + "\n}\n")
