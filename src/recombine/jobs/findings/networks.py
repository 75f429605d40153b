"""RC201, RC202: what networks will do on unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.jobs.limits import AUDIT_LIMITS
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
        "outcome, and from a network that was trained where that takes seconds."
    )
    action = "Use a model that adds effects, or correct the network's predictions by the stated share."
    reads = "forecast"
    hit_rate = "leak"

    def check(self, forecast: Forecast) -> FindingEvidence | None:
        line = AUDIT_LIMITS.min_slope
        # What the network that was trained contradicts is not raised.
        lost = [row for row in forecast.arrives if row["arrives"] < line and not row["trained"] >= line]
        if not lost:
            return None
        row = min(lost, key=lambda row: float(row["arrives"]))
        scored_as = forecast.scored_as(self.hit_rate)
        numbers = {"slope": row["arrives"], "by kernel": (row["ntk"], row["nngp"]), "trained": row["trained"]}
        return FindingEvidence({**numbers, "scored as": scored_as}, (str(row["factor"]),))

    def message(self, evidence: FindingEvidence) -> str:
        low, high = sorted(evidence["by kernel"])
        trained = evidence["trained"]
        own = "" if trained != trained else f"one that was trained {whole_percent(trained)}, "
        return (
            f"a network carries about {whole_percent(evidence['slope'])} of the effect of {evidence.subjects[0]!r} "
            f"over to unseen cells ({own}its kernels {whole_percent(low)} to {whole_percent(high)}){_trust(evidence)}"
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
        shortcuts = [item for item in forecast.expected_shortcuts if item.misleads]
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
