"""What matters in words: sentences and columns that outputs add where cells are weighted by importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.verdicts import Verdict
from recombine.words.verdicts import NO_FINDINGS, UNSEEN, state_phrase
from recombine.writing import join_words, plural, share

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.matters import WhatMatters


def importance_sentence(audit: Audit) -> str:
    """Say how much of what matters carries each verdict; empty where all cells matter alike."""
    matters = audit.decided.matters
    if matters is None:
        return ""
    whose = "targets" if matters.scope == "targets" else "combinations"
    if not matters.unseen:
        return f"No unseen combination {'that is listed ' * (not matters.exact)}matters."
    if matters.share(Verdict.DETERMINED) == 1:
        return f"All that matters of the unseen {whose} is determined{_listed(audit)}."
    parts = [f"{share(value)} {state_phrase(verdict)}" for verdict, value in importance_shares(audit)]
    none = "" if matters.share(Verdict.DETERMINED) else "none is determined, "
    return f"Of what matters, {none}{join_words(parts)}{_listed(audit)}."


def _listed(audit: Audit) -> str:
    return "" if audit.decided.matters is None or audit.decided.matters.exact else ", among the listed combinations"


def importance_column(audit: Audit, verdict: Verdict) -> str:
    """Write the share of what matters that carries ``verdict``, to stand beside its count; empty without importance."""
    matters = audit.decided.matters
    if matters is None or verdict is Verdict.SEEN or not matters.unseen:
        return ""
    return f"{share(matters.share(verdict))} of what matters"


def importance_shares(audit: Audit) -> list[tuple[Verdict, float]]:
    """Return the verdicts that something that matters has, each with its share; empty without importance."""
    matters = audit.decided.matters
    return (
        [] if matters is None else [(verdict, matters.share(verdict)) for verdict in UNSEEN if matters.share(verdict)]
    )


def no_findings(audit: Audit) -> str:
    """Say that nothing was found, and of which cells that holds."""
    if audit.decided.matters is None or not audit.decided.matters.exact:
        return NO_FINDINGS.format(which="")
    return NO_FINDINGS.format(which=" that matters")


def importance_statement(matters: WhatMatters | None) -> str:
    """Say how importance was read and what it leaves, in a few sentences; empty without importance."""
    if matters is None:
        return ""
    name, column = matters.importance.name, matters.importance.averaged
    lead = f"Cells are weighted by the mean of {name} over their rows" if column else f"Cells are weighted by {name}"
    rest = "one without rows there" if column else "one that none of its rows matches"
    parts = [f"{lead}{'' if matters.importance.everywhere else f'; {rest} has importance 0'}."]
    if matters.scope == "listed":
        parts.append("The cells that matter are too many to list: shares of what matters are those of listed ones.")
    else:
        count = len(matters.codes) - matters.count(Verdict.SEEN)
        cells = plural(count, f"unseen {'target cell' if matters.scope == 'targets' else 'cell'}")
        shares = "; shares of what matters are shares of their importance" if count else ""
        parts.append(f"{cells} matter{'s' if count == 1 else ''} (importance over 0){shares}.")
    if matters.sums[Verdict.SEEN] and matters.scope == "unseen":
        seen = matters.sums[Verdict.SEEN] / sum(matters.sums.values())
        parts.append(f"Seen cells hold {share(seen) if matters.unseen else 'all'} of the importance.")
    if matters.stray:
        names = "row names a cell" if matters.stray == 1 else "rows name cells"
        parts.append(f"{matters.stray:,} {names} that cannot exist.")
    if matters.exact:
        parts.append("Findings that concern only cells of importance 0 are not raised.")
    return " ".join(parts)
