"""RC201, RC202: what networks will do on unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.writing import whole_percent

if TYPE_CHECKING:
    from recombine.jobs.audit.forecast import Forecast


class LeakRisk(FindingKind["Forecast"]):
    code = "RC201"
    title = "memorization-leak risk"
    severity = Severity.WARNING
    meaning = (
        "A network stores part of what it learns with whole combinations, and unseen combinations lose that part: the "
        "effect shrinks towards the mean by the stated share. Read from the kernels of wide networks fitted to the "
        "outcome."
    )
    action = "Use a model that adds effects, or correct the network's predictions by the stated share."
    reads = "forecast"
    hit_rate = "leak"

    def check(self, forecast: Forecast) -> FindingEvidence | None:
        if forecast.weakest is None or forecast.weakest[1] >= AUDIT_LIMITS.min_slope:
            return None
        name, slope = forecast.weakest
        row = next(row for row in forecast.slopes.rows() if row["factor"] == name)
        kernels, scored_as = (row["ntk"], row["nngp"]), forecast.scored_as(self.hit_rate)
        return FindingEvidence({"slope": slope, "by kernel": kernels, "scored as": scored_as}, (name,))

    def message(self, evidence: FindingEvidence) -> str:
        low, high = sorted(evidence["by kernel"])
        return (
            f"a network trained to convergence carries about {whole_percent(evidence['slope'])} of the effect of "
            f"{evidence.subjects[0]!r} over to unseen cells (its kernels say {whole_percent(low)} to "
            f"{whole_percent(high)}){_trust(evidence)}"
        )


class ShortcutFactor(FindingKind["Forecast"]):
    code = "RC202"
    title = "shortcut factor"
    severity = Severity.WARNING
    meaning = (
        "Seen combinations tie a factor to others, so that its mean outcomes differ from its effect; a network follows "
        "them on unseen combinations, against what the data determine."
    )
    action = "Collect combinations that break the tie, or use a model that adds effects."
    reads = "forecast"
    hit_rate = "shortcut"

    def check(self, forecast: Forecast) -> FindingEvidence | None:
        shortcuts = [item for item in forecast.shortcuts if item.misleads]
        if not shortcuts:
            return None
        pulls = [(item.pull, item.share) for item in shortcuts]
        numbers = {"pulls": pulls, "scored as": forecast.scored_as(self.hit_rate)}
        return FindingEvidence(numbers, tuple(item.factor for item in shortcuts))

    def message(self, evidence: FindingEvidence) -> str:
        texts = [
            f"a network follows the mean outcome of {factor!r} {whole_percent(pull)} of the way against what the data "
            f"determine, {whole_percent(share)} of its squared error on unseen cells"
            for factor, (pull, share) in zip(evidence.subjects, evidence["pulls"], strict=True)
        ]
        return f"{'; '.join(texts)}{_trust(evidence)}"


def _trust(evidence: FindingEvidence) -> str:
    """Say how often such findings were right; nothing of cells that no trial was about."""
    scored_as = evidence["scored as"]
    return "" if scored_as is None else f"; such findings were right in {hit_rate(scored_as)}"
