"""A comparison in words, for terminal, JSON and Markdown alike; each sentence counts what the two documents say."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recombine.jobs.audit.audit import Audit
from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.cell_maps import MOST_LABELS, Transitions, Unlisted, why_unlisted
from recombine.jobs.comparison.documents import AmountRecord, AuditDocument, FindingRecord, ScoreDocument
from recombine.jobs.comparison.scores import ERRORS, AmountChange, ScoreComparison
from recombine.jobs.findings.changes import cells_obstacle, errors_obstacle
from recombine.jobs.score.causes import CAUSES
from recombine.verdicts import Verdict
from recombine.words.answer import CAREFUL, FAILS, MORE_NAME, NEW, OPEN, PREDICTABLE, SEEN, Answer, AnswerLine
from recombine.writing import few_digits, listing, plural, written_count

#: Decimals of a number beside its range.
MAX_DECIMALS = 6
#: Pairs of levels that are named.
MAX_PAIRS_NAMED = 6
#: By which rule a change lies outside the ranges.
OUTSIDE_RULE = (
    "A change is outside the ranges if the 95 % ranges before and after do not overlap; of errors that both documents "
    "have of the same single cells, if the 95 % range of the mean rise per cell leaves out 0."
)
#: Models of a forecast, by field of the document.
FORECAST_NAMES = {
    "ntk": "a wide network",
    "nngp": "a wide network, readout only",
    "additive": "adding effects",
    "mean": "the plain mean",
    "noise": "noise alone",
}
#: What is said when nothing is different.
NOTHING = "Nothing changed."
LOST_TITLE, GAINED_TITLE = "{cells} no longer seen or determined", "{cells} became seen or determined"
CAUSES_TITLE = "Errors and causes of {model}"
OMITTED = "{parts} left out: too long for a summary."
ERRORS_TITLE = "What models will be off by on determined cells"


def forecast_rows(comparison: AuditComparison) -> dict[str, tuple[float | None, float | None]]:
    """Return what models are forecast to be off by, before and after, by their names in words."""
    return {FORECAST_NAMES[name]: pair for name, pair in comparison.forecast.items()}


def unlisted_text(audit: Audit) -> str:
    """Say why a document of an audit does not list the verdicts of its cells; empty if it does.

    Examples
    --------
    >>> import recombine as rc
    >>> unlisted_text(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    ''
    """
    reason, design = why_unlisted(audit), audit.design
    if reason is Unlisted.ALIKE:
        name = next(factor.name for factor in design.factors if len(set(factor.labels)) < len(factor.labels))
        return f"two levels of factor {name!r} are written alike"
    if reason is Unlisted.LEVELS:
        return f"there are more than {MOST_LABELS:,} levels"
    return "" if reason is None else f"{written_count(design.possible.count)} cells are too many to list"


def comparison_title(comparison: AuditComparison | ScoreComparison) -> str:
    """Say what was compared."""
    return f"Recombine comparison of two {'audits' if isinstance(comparison, AuditComparison) else 'scores'}"


def side_text(document: AuditDocument | ScoreDocument, limit: int) -> str:
    """Say what a document is about, naming at most ``limit`` factors."""
    if isinstance(document, ScoreDocument):
        cells, models = plural(document.held_out_cells, "held-out cell"), plural(len(document.models), "model")
        return f"{document.source}, {cells}, {models}"
    factors = " × ".join(f"{factor.name} ({factor.levels:,})" for factor in document.factors[:limit])
    more = f" and {plural(len(document.factors) - limit, 'other')}" if len(document.factors) > limit else ""
    rows = document.reading.rows
    used = f", {rows.used:,} of {rows.table:,} rows used" if rows.used < rows.table else ""
    return f"{document.source}{used}, {factors}{more}; structure {document.structure.name}"


def stay_sentence(count: int) -> str:
    """Say how many findings were there before."""
    return f"{plural(count, 'finding')} of before {'stays' if count == 1 else 'stay'}."


def coefficient_meanings() -> str:
    """Say what the coefficients of the causes mean."""
    coefficients = [cause.coefficient for cause in CAUSES if cause.coefficient is not None]
    return " ".join(f"{item.name.capitalize()}: {item.meaning}." for item in coefficients)


def comparison_answer(comparison: AuditComparison | ScoreComparison, met: Sequence[str] = ()) -> Answer:
    """Return what changed in a screen, and ``met``, what of ``--fail-on`` is there."""
    limit = 3
    lines = [
        AnswerLine("Before", side_text(comparison.before, limit)),
        AnswerLine("After", side_text(comparison.after, limit)),
        AnswerLine("Changed", comparison_headline(comparison)),
    ]
    if isinstance(comparison, AuditComparison):
        names = {
            Verdict.SEEN: SEEN,
            Verdict.DETERMINED: PREDICTABLE,
            Verdict.DISCONNECTED: OPEN,
            Verdict.UNSEEN_LEVEL: NEW,
        }
        for verdict, name in names.items():
            old, new, step = count_text(comparison, verdict.word) if verdict.word in comparison.counts else ("", "", "")
            lines.append(AnswerLine(name, f"{old} before, {new} after ({step})" if step else ""))
        lines += [
            AnswerLine("New finding", f"{item.code} {item.title}: {item.message}", f"{item.code} {item.title}")
            for item in findings_by_code(comparison.findings.new)[:1]
        ]
    else:
        for name, change in ((name, moved) for name, moved in comparison.changes.items() if name in comparison.worse):
            errors = next(item for item in change if item.what == ERRORS[0])
            text = f"{name}: {amount_text(errors.before)} before, {amount_text(errors.after)} after"
            lines.append(AnswerLine("Worse", text))
    notes, settings = comparison_notes(comparison), comparison.settings.items()
    lines += [
        AnswerLine("Besides", "; ".join(f"{name}: {old} before, {new} after" for name, (old, new) in settings)),
        AnswerLine(CAREFUL, notes[0] if notes else ""),
        AnswerLine(FAILS, "; ".join(met)),
        AnswerLine(MORE_NAME, "--full (comparison.summary) prints all of it, --markdown writes it for a pull request"),
    ]
    return Answer(comparison_title(comparison), tuple(lines))


def comparison_headline(comparison: AuditComparison | ScoreComparison) -> str:
    """Say in one or two sentences what changed."""
    if not comparison.changed:
        return NOTHING
    if isinstance(comparison, ScoreComparison):
        return _score_headline(comparison)
    return f"{_cells_sentence(comparison)} {_findings_sentence(comparison)}"


def _cells_sentence(comparison: AuditComparison) -> str:
    if comparison.transitions is not None:
        gone = f", {comparison.vanished:,} vanished with levels that are gone" if comparison.vanished else ""
        lost = plural(comparison.lost, "cell")
        return f"{lost} lost (no longer seen or determined){gone}, {comparison.gained:,} gained."
    settled = [
        sum(comparison.counts[verdict.word][side] for verdict in (Verdict.SEEN, Verdict.DETERMINED)) for side in (0, 1)
    ]
    totals = comparison.counts["total"]
    about = "about " if comparison.estimated else ""
    return (
        f"Seen or determined: {about}{written_count(settled[0])} of {written_count(totals[0])} cells before, "
        f"{about}{written_count(settled[1])} of {written_count(totals[1])} after (counts only: "
        f"{cells_obstacle(comparison)})."
    )


def _findings_sentence(comparison: AuditComparison) -> str:
    new, gone, stay = (
        len(findings_of)
        for findings_of in (comparison.findings.new, comparison.findings.gone, comparison.findings.stay)
    )
    return f"Findings: {new:,} new, {gone:,} gone, {stay:,} stay{'s' if stay == 1 else ''}."


def _score_headline(comparison: ScoreComparison) -> str:
    stay, new, gone = (len(names) for names in (comparison.models.stay, comparison.models.new, comparison.models.gone))
    models = f" Models: {new:,} new, {gone:,} gone." if comparison.models.changed else ""
    if not stay:
        return f"No model is in both.{models}"
    moved = f"{len(comparison.better):,} lower, {len(comparison.worse):,} higher"
    return f"Errors outside the ranges: {moved}, of {plural(stay, 'model')} in both.{models}"


def comparison_notes(comparison: AuditComparison | ScoreComparison) -> list[str]:
    """Say what limits the comparison."""
    if isinstance(comparison, AuditComparison):
        sentences = []
        if comparison.transitions is None:
            sentences.append(f"Cells were not compared one by one: {cells_obstacle(comparison)}.")
        else:
            sentences += _one_sided(comparison.transitions)
        sentences += _respellings(comparison)
        sentences += _renames(comparison)
        if comparison.estimated:
            sentences.append("Counts that are estimates from samples are marked with 'about'.")
        if not comparison.levels and comparison.factors.stay:
            sentences.append("Levels were not compared: there are too many to name in a document.")
        if "outcome" in comparison.settings and comparison.forecast:
            sentences.append("The outcomes are not the same column, so that forecasts are of different things.")
        if "structure" in comparison.settings or "order" in comparison.settings:
            sentences.append("The audits assume different structures, so that verdicts change for that reason too.")
        return sentences
    obstacle = errors_obstacle(comparison)
    score_notes = [f"Numbers before and after are of different things: {obstacle}."] if obstacle else []
    if not comparison.same_cells:
        score_notes.append("Not the same cells were held out: errors before and after are about different cells.")
        if len(comparison.untold) < len(comparison.changes):
            score_notes[-1] += f" Models are compared on the {plural(comparison.common, 'cell')} held out both times."
    return score_notes


def _one_sided(moved: Transitions) -> list[str]:
    """Say how many cells only one side lists, and how many of these are seen or determined there."""
    sentences = []
    for word, which, states, why in (
        ("before", moved.only_before, moved.before, "gone"),
        ("after", moved.only_after, moved.after, "new"),
    ):
        count, settled = int(which.sum()), int((which & (states <= Verdict.DETERMINED)).sum())
        if count:
            verb = "is" if count == 1 else "are"
            sentences.append(
                f"{plural(count, 'cell')} {verb} listed only {word}, {settled:,} of them seen or determined: a level "
                f"is {why}, or the other audit takes the cell to be impossible or was not asked for it."
            )
    return sentences


def _respellings(comparison: AuditComparison) -> list[str]:
    """Say which levels are gone while a new one differs from them only by the way it is written."""
    pairs = [f"{name} {old!r} and {new!r}" for name, old, new in comparison.respelled]
    if not pairs:
        return []
    return [
        f"Likely respelled: {listing(pairs, MAX_PAIRS_NAMED)}. The first is gone, the second is new, and only the way "
        "they are written differs (case, blanks, punctuation, the digits of a number); if they are one level, write it "
        "as before."
    ]


def _renames(comparison: AuditComparison) -> list[str]:
    """Say which levels are called otherwise, and what proves it."""
    names = [
        f"{item.factor} {item.old!r} was renamed {item.new!r}"
        + (f": its {plural(item.cells, 'measured cell')} agree{'' if item.cells != 1 else 's'}" if item.cells else "")
        for item in comparison.renamed
    ]
    return (
        [f"{listing(names, MAX_PAIRS_NAMED)}. Outcomes are the same, so that it counts as one level."] if names else []
    )


def count_text(comparison: AuditComparison, word: str) -> tuple[str, str, str]:
    """Return a verdict's count before, after, and the change with its sign."""
    old, new = comparison.counts[word]
    exact = [
        document.counts.get("exact", True) or word in ("seen", "total")
        for document in (comparison.before, comparison.after)
    ]
    texts = [f"{'' if sure else 'about '}{written_count(count)}" for sure, count in zip(exact, (old, new), strict=True)]
    step = new - old
    return texts[0], texts[1], "" if not step else f"{'+' if step > 0 else '−'}{written_count(abs(step))}"


def shown_counts(comparison: AuditComparison) -> list[str]:
    """Return the verdicts that either audit has, and the total."""
    return [word for word, pair in comparison.counts.items() if any(pair) or word in ("seen", "determined", "total")]


def amount_text(amount: AmountRecord | None) -> str:
    """Write a number with its range, in as many digits as the range leaves a meaning."""
    if amount is None or amount.value is None:
        return "–"
    if amount.low is None or amount.high is None:
        return few_digits(amount.value)
    half = (amount.high - amount.low) / 2
    places = 1 - math.floor(math.log10(half)) if 0 < half < math.inf else MAX_DECIMALS + 1
    if places > MAX_DECIMALS or max(map(abs, (amount.value, amount.low, amount.high))) >= 1e9:
        value, low, high = map(few_digits, (amount.value, amount.low, amount.high))
    else:
        value, low, high = (f"{end:,.{max(places, 0)}f}" for end in (amount.value, amount.low, amount.high))
    return f"{value} [{low}, {high}]".replace("-", "−")


def outside_text(change: AmountChange) -> str:
    """Write whether a change lies outside the ranges, and where cells are paired the mean rise per cell."""
    word = "no range" if change.outside is None else "yes" if change.outside else "no"
    return word if change.rise is None or not change.changed else f"{word}: per cell {amount_text(change.rise)}"


def findings_by_code(findings: Sequence[FindingRecord]) -> list[FindingRecord]:
    """Put findings of one code and message together again, all their subjects in one."""
    grouped: dict[tuple[str, str], FindingRecord] = {}
    for item in findings:
        earlier = grouped.get((item.code, item.message))
        subjects = (*earlier.subjects, *item.subjects) if earlier else item.subjects
        grouped[item.code, item.message] = FindingRecord(item.code, item.title, item.severity, item.message, subjects)
    return list(grouped.values())
