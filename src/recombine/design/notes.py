"""What was noticed while a table was read, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recombine.design.parts import Parts
from recombine.tables.frames import Source
from recombine.tables.guesses import MAX_GUESSED_FACTORS, Proposal
from recombine.tables.spellings import doubts
from recombine.verdicts import FINDINGS, Finding
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.design.design import Design


def reading_notes(
    left_out: Mapping[str, int], proposals: Sequence[Proposal], parts: Sequence[Parts]
) -> Iterator[Finding]:
    """Yield what to say about rows left out (RC103), factors guessed (RC104) and columns taken apart (RC109)."""
    if any(left_out.values()):
        reasons = "; ".join(f"{plural(count, 'row')} with {reason}" for reason, count in left_out.items() if count)
        yield Finding(FINDINGS["RC103"], reasons, tuple(reason for reason, count in left_out.items() if count))
    if proposals:
        taken = ", ".join(f"{item.column} ({item.reason})" for item in proposals if item.taken)
        likely = "".join(
            f"; {item.column!r} looks like the {item.role} (--{item.role} {item.column})"
            for item in proposals
            if item.reason.startswith("looks like the")
        )
        passed = [item.column for item in proposals if "but it comes after" in item.reason]
        more = (
            f"; passed over, because at most {MAX_GUESSED_FACTORS} are guessed: {listing(passed, 6)}" if passed else ""
        )
        yield Finding(
            FINDINGS["RC104"],
            f"taken as factors: {taken}; name them with --factors to be sure{more}{likely}",
            tuple(item.column for item in proposals if item.taken),
        )
    if parts:
        remarks = "; ".join(remark for part in parts for remark in part.remarks)
        yield Finding(FINDINGS["RC109"], remarks, tuple(part.column for part in parts))


def level_doubts(source: Source, design: Design) -> list[Finding]:
    """RC107: levels that look alike, measurements taken as labels, and an encoding that had to be assumed."""
    inside = {name for part in design.parts for name in part.names}
    leaders = [design.factors[group[0]] for group in design.groups]
    plain = [factor for factor in leaders if factor.name not in inside and factor.scale == "labels"]
    about = [("the encoding", [source.reader.note] if source.reader.note else [])]
    about += [(factor.name, doubts({factor.name: factor.labels})) for factor in plain]
    subjects = tuple(name for name, words in about if words)
    found = [sentence for _, words in about for sentence in words]
    return [Finding(FINDINGS["RC107"], "; ".join(found), subjects)] if found else []
