"""What ``--fail-on`` names: findings by code or word, and whether a result has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError, near_miss
from recombine.jobs.findings.finding import Finding, FindingKind, ResultKind
from recombine.jobs.findings.registry import FINDINGS
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison
    from recombine.jobs.comparison.scores import ScoreComparison

#: Results that take a second one to compare with, and the option that names it.
BASELINES = {
    ResultKind.AUDIT_CHANGES: "--baseline audit.json",
    ResultKind.SCORE_CHANGES: "--baseline score.json",
}


@dataclass(frozen=True)
class FailOn:
    """Findings that end a command with exit code 1, each under the word that named it.

    Examples
    --------
    >>> FailOn.named(["rc101", "lost"]).kinds
    {'RC101': FindingKind(RC101 cells not determined), 'lost': FindingKind(RC501 cells lost)}
    >>> FailOn.named(["lots"])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: --fail-on lots names no finding; did you mean 'lost'? Give codes such as RC101, or \
words: same, permuted, respelled, copied, lost, gone-levels, new-findings, worse, gone-models, worse-than-adding, \
model-cause, dependence
    """

    kinds: dict[str, FindingKind[Any]]

    @classmethod
    def named(cls, words: Iterable[str]) -> FailOn:
        """Return the findings of these codes and words, or raise for one that names none."""
        by_word = {word: kind for kind in FINDINGS for word in kind.fail_on}
        by_name = {kind.code: kind for kind in FINDINGS} | by_word
        kinds = {}
        for text in words:
            word = text.upper() if text.upper() in FINDINGS else text.lower()
            if word not in by_name:
                raise InputError(
                    f"--fail-on {text} names no finding;{near_miss(word, by_name)} Give codes such as RC101, or words: "
                    f"{listing(by_word)}"
                )
            kinds[word] = by_name[word]
        return cls(kinds)

    def about(self, *results: ResultKind) -> FailOn:
        """Return the same, or raise for findings about other results than these."""
        for word, kind in self.kinds.items():
            if kind.of not in results:
                baseline = BASELINES.get(kind.of)
                cure = "leave it out" if baseline is None else f"name what to compare with: {baseline}"
                cure = "leave it out" if set(results) & set(BASELINES) else cure
                raise InputError(f"--fail-on {word} is about {kind.of.value}, not about {results[0].value}; {cure}")
        return self

    def met(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of ``findings`` that are named here."""
        codes = {kind.code for kind in self.kinds.values()}
        return [finding for finding in findings if finding.code in codes]

    def changes(self, comparison: AuditComparison | ScoreComparison) -> list[str]:
        """Return what of these changed, one phrase each; of an audit's findings count those that are new."""
        from recombine.jobs.comparison.audits import AuditComparison

        if isinstance(comparison, AuditComparison):
            self.about(ResultKind.AUDIT_CHANGES, ResultKind.AUDIT)
            new = Counter(item.code for item in comparison.findings.new)
        else:
            self.about(ResultKind.SCORE_CHANGES)
        phrases = []
        for word, kind in self.kinds.items():
            if kind.of is ResultKind.AUDIT:
                phrases += [f"{word}: {plural(new[kind.code], 'new finding')}"] if new[kind.code] else []
                continue
            if obstacle := kind.obstacle(comparison):
                raise InputError(f"--fail-on {word} cannot be told: {obstacle}")
            finding = kind.find(comparison)
            phrases += [] if finding is None else [f"{word}: {finding.message}"]
        return phrases
