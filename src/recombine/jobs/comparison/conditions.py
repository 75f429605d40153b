"""Which changes should stop a build: the words that ``--fail-on`` takes, and whether a comparison has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recombine.errors import InputError, near_miss
from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.scores import ScoreComparison
from recombine.verdicts import FINDINGS, Severity
from recombine.writing import listing, plural

#: Words about audits, besides the numbers of findings, and about scores.
AUDIT_WORDS = ("lost", "gone-levels", "new-findings")
SCORE_WORDS = ("worse", "gone-models")


@dataclass(frozen=True)
class Conditions:
    """Words that name changes: ``lost``, ``gone-levels``, ``new-findings``, ``RC101``...; ``worse``, ``gone-models``.

    Examples
    --------
    >>> Conditions.named(["rc101", "lost"])
    Conditions(words=('RC101', 'lost'))
    >>> Conditions.named(["lots"])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: --fail-on lots is no change; did you mean 'lost'? Changes of audits: lost, \
gone-levels, new-findings, and findings such as RC101; of scores: worse, gone-models
    """

    words: tuple[str, ...] = ()

    @classmethod
    def named(cls, words: Iterable[str]) -> Conditions:
        """Return the conditions of these words, or raise for one that is none."""
        found = [word.upper() if word.upper() in FINDINGS else word.lower() for word in words]
        known = [*AUDIT_WORDS, *SCORE_WORDS, *FINDINGS]
        for word in found:
            if word not in known:
                raise InputError(
                    f"--fail-on {word} is no change;{near_miss(word, known)} Changes of audits: "
                    f"{listing(AUDIT_WORDS)}, and findings such as RC101; of scores: {listing(SCORE_WORDS)}"
                )
        return cls(tuple(dict.fromkeys(found)))

    def met(self, comparison: AuditComparison | ScoreComparison) -> list[str]:
        """Return what of these is there, one phrase each; raise for words about the other kind of document."""
        audits = isinstance(comparison, AuditComparison)
        strange = [word for word in self.words if word in (SCORE_WORDS if audits else (*AUDIT_WORDS, *FINDINGS))]
        if strange:
            kinds = ("scores", "audits") if audits else ("audits", "scores")
            raise InputError(f"--fail-on {strange[0]} is about {kinds[0]}, and these are {kinds[1]}; leave it out")
        return [phrase for word in self.words for phrase in [_met(word, comparison)] if phrase]


def _met(word: str, comparison: AuditComparison | ScoreComparison) -> str:
    if isinstance(comparison, ScoreComparison):
        if word == "worse" and (why := _untold(comparison)):
            raise InputError(f"--fail-on worse cannot be told: {why}")
        names = comparison.worse if word == "worse" else comparison.models.gone
        verb = "worse" if word == "worse" else "gone"
        return f"{word}: {plural(len(names), 'model')} {verb} ({listing(names, 6)})" if names else ""
    if word == "lost":
        if comparison.transitions is None:
            raise InputError(f"--fail-on lost cannot be told: {comparison.obstacle}; leave it out")
        return f"lost: {plural(comparison.lost, 'cell')} no longer seen or determined" if comparison.lost else ""
    if word == "gone-levels":
        return _gone_levels(comparison)
    # Notes come with progress too: a cell that becomes determined may be shaky. They count where they are named.
    grave = [finding for finding in comparison.findings.new if finding.severity != Severity.NOTE.word]
    new = grave if word == "new-findings" else [one for one in comparison.findings.new if one.code == word]
    codes = listing(dict.fromkeys(finding.code for finding in new), 6)
    return f"{word}: {plural(len(new), 'new finding')}{'' if word in codes else f' ({codes})'}" if new else ""


def _untold(comparison: ScoreComparison) -> str:
    """Say why no one can tell whether models are worse, and what to do about it; empty if it can be told."""
    if comparison.obstacle:
        return f"{comparison.obstacle}; leave it out"
    models = comparison.models
    if not models.new:
        return ""
    before = listing(map(repr, (*models.stay, *models.gone)), 6) or "no model"
    new, verb = listing(map(repr, models.new), 6), "is" if len(models.new) == 1 else "are"
    return (
        f"{new} {verb} not in the score before, which has {before}; name models as they are named there, or write that "
        "score anew with them"
    )


def _gone_levels(comparison: AuditComparison) -> str:
    if not comparison.levels and comparison.factors.stay:
        raise InputError(
            "--fail-on gone-levels cannot be told: an audit has too many levels to name them; leave it out"
        )
    gone = [f"factor {name}" for name in comparison.factors.gone]
    gone += [f"{name} {label}" for name, found in comparison.levels.items() for label in found.gone]
    return f"gone-levels: {listing(gone, 6)}" if gone else ""
