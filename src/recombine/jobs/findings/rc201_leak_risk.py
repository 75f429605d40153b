"""RC201: networks will shrink a factor's effect on unseen cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity

if TYPE_CHECKING:
    from recombine.jobs.audit.forecast import Forecast


class LeakRisk(FindingKind["Forecast"]):
    """Effects that a network stores with whole combinations."""

    code = "RC201"
    title = "memorization-leak risk"
    severity = Severity.WARNING
    meaning = (
        "A network stores part of what it learns with whole combinations, and unseen combinations lose that part: the "
        "effect shrinks towards the mean by the stated share. Read from the kernels of wide networks fitted to the "
        "outcome."
    )
    action = "Use a model that adds effects, or correct the network's predictions by the stated share."
    part = "forecast"
    hit_rate = "leak"

    def check(self, forecast: Forecast) -> FindingEvidence | None:
        """Take the factor with the smallest slope, if it is small enough."""
        if forecast.weakest is None or forecast.weakest[1] >= AUDIT_LIMITS.min_slope:
            return None
        name, slope = forecast.weakest
        row = next(row for row in forecast.slopes.rows() if row["factor"] == name)
        numbers = {
            "slope": slope,
            "by kernel": (row["ntk"], row["nngp"]),
            "scored as": forecast.scored_as(self.hit_rate),
        }
        return FindingEvidence(numbers, (name,))

    def message(self, evidence: FindingEvidence) -> str:
        """Say what share of the effect is carried over, and how often that was right."""
        low, high = sorted(evidence["by kernel"])
        return (
            f"a network trained to convergence carries about {evidence['slope']:.0%} of the effect of "
            f"{evidence.subjects[0]!r} over to unseen cells (its kernels say {low:.0%} to {high:.0%}); such findings "
            f"were right in {hit_rate(evidence['scored as'])}"
        )


RC201 = LeakRisk()
