"""RC202: a factor whose mean outcomes networks follow against what the data determine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity

if TYPE_CHECKING:
    from recombine.jobs.audit.forecast import Forecast


class ShortcutFactor(FindingKind["Forecast"]):
    """Factors that seen combinations tie to others."""

    code = "RC202"
    title = "shortcut factor"
    severity = Severity.WARNING
    meaning = (
        "Seen combinations tie a factor to others, so that its mean outcomes differ from its effect; a network follows "
        "them on unseen combinations, against what the data determine."
    )
    action = "Collect combinations that break the tie, or use a model that adds effects."
    part = "forecast"
    hit_rate = "shortcut"

    def check(self, forecast: Forecast) -> FindingEvidence | None:
        """Take the shortcuts that mislead."""
        shortcuts = [item for item in forecast.shortcuts if item.misleads]
        if not shortcuts:
            return None
        numbers = {
            "pulls": [(item.pull, item.share) for item in shortcuts],
            "scored as": forecast.scored_as(self.hit_rate),
        }
        return FindingEvidence(numbers, tuple(item.factor for item in shortcuts))

    def message(self, evidence: FindingEvidence) -> str:
        """Say how far each is followed, and how often that was right."""
        texts = [
            f"a network follows the mean outcome of {factor!r} {pull:.0%} of the way against what the data determine, "
            f"{share:.0%} of its squared error on unseen cells"
            for factor, (pull, share) in zip(evidence.subjects, evidence["pulls"], strict=True)
        ]
        return f"{'; '.join(texts)}; such findings were right in {hit_rate(evidence['scored as'])}"


RC202 = ShortcutFactor()
