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

#: Results of a command that can be compared with earlier ones: the kind of their changes, and the option that asks so.
BASELINES = {
    ResultKind.AUDIT: (ResultKind.AUDIT_CHANGES, "--baseline audit.json"),
    ResultKind.SCORE: (ResultKind.SCORE_CHANGES, "--baseline score.json"),
}


@dataclass(frozen=True)
class FailOn:
    """Findings that end a command with exit code 1, each under the word that named it.

    Examples
    --------
    >>> FailOn.named(["rc101", "lost"]).kinds
    {'RC101': FindingKind(RC101 cells not determined), 'lost': FindingKind(RC501 cells lost)}
    >>> FailOn.named(["some"], ResultKind.SPLIT)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: --fail-on some names no finding; did you mean 'same'? Choose among RC401, RC402, \
RC403, RC404, same, permuted, respelled, copied
    """

    kinds: dict[str, FindingKind[Any]]

    @classmethod
    def named(cls, words: Iterable[str], *results: ResultKind) -> FailOn:
        """Return the findings of these codes and words, or raise for one that names none.

        Where ``results`` are named, findings about others are refused, and only theirs are offered.
        """
        by_word = {word: kind for kind in FINDINGS for word in kind.fail_on}
        by_name = {kind.code: kind for kind in FINDINGS} | by_word
        offered = _offered(results or tuple(ResultKind))
        kinds = {}
        for text in words:
            word = text.upper() if text.upper() in FINDINGS else text.lower()
            if word not in by_name:
                hint = near_miss(word, offered, f"Choose among {listing(offered, limit=len(offered))}")
                raise InputError(f"--fail-on {text} names no finding;{hint}")
            kinds[word] = by_name[word]
        return cls(kinds).about(*results) if results else cls(kinds)

    def about(self, *results: ResultKind) -> FailOn:
        """Return the same, or raise for findings about other results than these."""
        for word, kind in self.kinds.items():
            if kind.of in results:
                continue
            changes, baseline = BASELINES.get(results[0], (None, ""))
            if kind.of is changes:
                raise InputError(f"--fail-on {word} is about {kind.of.value}; name the earlier one: {baseline}")
            offered = _offered(results)
            raise InputError(
                f"--fail-on {word} is about {kind.of.value}, and this is about {results[0].value}; choose among "
                f"{listing(offered, limit=len(offered))}"
            )
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


def _offered(results: tuple[ResultKind, ...]) -> list[str]:
    """Return the codes of findings about these results, and their words."""
    kinds = [kind for kind in FINDINGS if kind.of in results]
    return [kind.code for kind in kinds] + [word for kind in kinds for word in kind.fail_on]
