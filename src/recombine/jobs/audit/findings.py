"""The numbered findings of an audit: one function a number, each returning the finding or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.errors import listing
from recombine.verdicts import FINDINGS, Finding, Verdict, rounded

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Leverage above which a determined cell is called shaky: its error is over twice that of one measured cell.
SHAKY = 4.0
#: Words of the additivity check that take the weight off the verdicts.
FAILING = ("does not hold", "is not shown to hold")
#: A slope below this is worth a warning.
LEAKY = 0.9


def find(audit: Audit) -> tuple[Finding, ...]:
    """Return the findings of ``audit``, worst first, then by number."""
    checks = (
        cells_not_determined,
        level_never_seen,
        cells_undecided,
        shaky_cells,
        leak_risk,
        shortcut_factor,
        additivity_fails,
        additivity_unchecked,
    )
    found = [*audit.design.notes, *(finding for check in checks if (finding := check(audit)) is not None)]
    return tuple(sorted(found, key=lambda finding: (-finding.severity, finding.code)))


def cells_not_determined(audit: Audit) -> Finding | None:
    """RC101: unseen cells of known levels that no sum of seen cells reaches."""
    count = audit.counts[Verdict.DISCONNECTED]
    if audit.listing.kind == "targets":
        count = int((audit.codes == Verdict.DISCONNECTED).sum())
    if not count:
        return None
    return Finding(
        FINDINGS["RC101"],
        f"{_number(audit, count)} {'target' if audit.listing.kind == 'targets' else 'unseen'} "
        f"cell{'s' if count != 1 else ''} cannot be told from the data at order {audit.order}{_needed(audit)}",
    )


def _needed(audit: Audit) -> str:
    deficit = audit.identification.deficit
    if not deficit:
        return ""
    whom = "every cell of known levels" if audit.listing.kind == "targets" else "them all"
    return f"; {deficit:,} well-chosen cell{'s' if deficit != 1 else ''} would determine {whom}"


def _number(audit: Audit, count: int) -> str:
    exact = audit.counts.exact or audit.listing.kind == "targets"
    return f"{count:,}" if exact else f"about {rounded(count):,}"


def level_never_seen(audit: Audit) -> Finding | None:
    """RC102: levels that occur held out or in the targets but never in training."""
    missing = []
    for place, factor in enumerate(audit.design.factors):
        members = next((group for group in audit.design.symmetric if place in group), (place,))
        if place == members[0]:
            present = np.unique(audit.design.seen[:, list(members)])
            absent = np.setdiff1d(np.arange(len(factor.levels)), present)
            missing += [f"{factor.name} {factor.labels[code]!r}" for code in absent]
    if not missing:
        return None
    return Finding(
        FINDINGS["RC102"], f"{listing(missing, 6)} never occur{'s' if len(missing) == 1 else ''} in training"
    )


def cells_undecided(audit: Audit) -> Finding | None:
    """RC105: cells that floating-point arithmetic could not decide."""
    count = max(audit.counts[Verdict.UNDECIDED], int((audit.codes == Verdict.UNDECIDED).sum()))
    if not count:
        return None
    return Finding(
        FINDINGS["RC105"], f"{_number(audit, count)} cells could not be decided; {Verdict.UNDECIDED.text.action}"
    )


def shaky_cells(audit: Audit) -> Finding | None:
    """RC106: determined cells with a high leverage."""
    leverage = audit.leverage[audit.codes == Verdict.DETERMINED]
    leverage = leverage[~np.isnan(leverage)]
    count = int((leverage > SHAKY).sum())
    if not count:
        return None
    return Finding(
        FINDINGS["RC106"],
        f"{count:,} of {len(leverage):,} determined cells looked at {'have' if count != 1 else 'has'} leverage above "
        f"{SHAKY:g} (largest {leverage.max():.1f}: {_shakiest(audit)})",
    )


def _shakiest(audit: Audit) -> str:
    known = np.where(audit.codes == Verdict.DETERMINED, audit.leverage, np.nan)
    return audit.design.label(audit.listing.cells[int(np.nanargmax(known))])


def leak_risk(audit: Audit) -> Finding | None:
    """RC201: networks will shrink some factor's effect on unseen cells."""
    weakest = audit.forecast.weakest
    if weakest is None or weakest[1] >= LEAKY:
        return None
    name, slope = weakest
    deepest = audit.forecast.slopes.columns[-1]
    place = list(audit.forecast.slopes["factor"]).index(name)
    deep = float(audit.forecast.slopes[deepest][place])
    return Finding(
        FINDINGS["RC201"],
        f"a ReLU network carries about {slope:.0%} of the effect of {name!r} over to unseen cells with one hidden "
        f"layer, {deep:.0%} with four",
    )


def shortcut_factor(audit: Audit) -> Finding | None:
    """RC202: a factor that predicts seen outcomes and misleads on unseen ones."""
    misleading = [shortcut for shortcut in audit.forecast.shortcuts if shortcut.misleads]
    if not misleading:
        return None
    texts = [
        f"{item.factor!r} alone explains {item.seen:.0%} of the outcome on seen cells but is worse than the mean on "
        f"unseen ones (R² {item.unseen:.2f}, {audit.forecast.shortcut_truth})"
        for item in misleading
    ]
    return Finding(FINDINGS["RC202"], "; ".join(texts))


def additivity_fails(audit: Audit) -> Finding | None:
    """RC301: held-out cells are not predicted by adding effects at the asked order."""
    check = audit.additivity.at(audit.order) if audit.additivity is not None else None
    if audit.additivity is None or check is None or audit.additivity.word_at(audit.order) not in FAILING:
        return None
    caveat = "" if check.noise is not None else "; no rows repeat, so this may be noise rather than interaction"
    return Finding(
        FINDINGS["RC301"],
        f"at order {audit.order} held-out cells are off by {check.error:.3g} against {check.baseline:.3g} for the "
        f"plain mean ({max(check.share, 0):.0%} of the explainable variance){caveat}",
    )


def additivity_unchecked(audit: Audit) -> Finding | None:
    """RC302: the assumption behind the verdicts was not checked."""
    if audit.additivity is None:
        return Finding(FINDINGS["RC302"], "no outcome column was named, so verdicts rest on additivity unchecked")
    if audit.additivity.word_at(audit.order) != "cannot be checked":
        return None
    return Finding(FINDINGS["RC302"], f"at order {audit.order} {audit.additivity.obstacle(audit.order)}")
