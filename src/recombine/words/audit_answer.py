"""The answer of an audit: what its twelve lines say, and the numbers in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.design.notes import NoteKind
from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.fitted_networks import ForecastSource
from recombine.jobs.expected_miss import expected_miss, explains_little
from recombine.jobs.findings.additivity import why_unchecked
from recombine.jobs.values.sources import ValueSource
from recombine.theory.structures.ladder import written_share
from recombine.verdicts import Verdict
from recombine.words.answer import CAREFUL, LOOK, MORE_NAME, NEW, OPEN, PREDICTABLE, SEEN, Answer, AnswerLine
from recombine.words.importance import importance_sentence
from recombine.words.plan import gain_text, plan_sentence
from recombine.words.reading import MAX_READING_ROWS, reading_lines, repeat_line
from recombine.words.verdicts import Tally
from recombine.writing import number, percent, plural, whole_percent, written_count

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.expected_miss import ExpectedMiss

#: Cells to measure that are named.
MAX_CELLS_NAMED = 3
#: Notes on how the table was read that an answer tells in lines of their own.
_TOLD = (NoteKind.ROWS_LEFT_OUT, NoteKind.FACTORS_GUESSED, NoteKind.LEVELS_IN_DOUBT)
#: Names of the lines for verdicts of unseen cells, and what each count means.
_UNSEEN = {
    Verdict.DISCONNECTED: (OPEN, ": the seen ones do not settle {them}"),
    Verdict.UNSEEN_LEVEL: (NEW, " {have} a level that was never seen"),
    Verdict.BEYOND: ("Beyond", " {lie} beyond the seen range"),
    Verdict.UNDECIDED: ("Undecided", " {are} too close to call"),
}
#: Whether an assumption holds, after it.
_HOLDS = {
    AdditivityState.HOLDS: "which holds here",
    AdditivityState.HOLDS_ROUGHLY: "which roughly holds here",
    AdditivityState.FAILS: "which does not hold here",
    AdditivityState.NOT_SHOWN: "which is not shown to hold here",
}
#: On which combinations misses were counted.
_ON = {
    ForecastSource.HELD_OUT_ROWS: "held-out combinations",
    ForecastSource.SEEN_CELLS: "seen combinations, each predicted from the others",
    ForecastSource.HELD_OUT_CELLS: "seen combinations, a tenth held out at random",
}
MORE = "--full (audit.summary) prints all of it, --html (audit.to_html) writes the report"


def audit_answer(audit: Audit, plan: Plan | None = None) -> Answer:
    """Return the answer of ``audit``, with what to measure next where a plan is given.

    Examples
    --------
    >>> import recombine as rc
    >>> print(audit_answer(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"]))))
    Recombine audit of the table
    Read          3 training rows: colour (2) × shape (2), no outcome
    Seen          3 of 4 combinations (75.0 %)
    Predictable   1 of 1 unseen, if effects add, which nothing checks without an outcome
    Look at       RC302 additivity not checked: no outcome column was named, so verdicts rest on
                    additivity unchecked
    More          --full (audit.summary) prints all of it, --html (audit.to_html) writes the report
    """
    miss = expected_miss(audit)
    reading, repeat = reading_lines(audit.design, audit.coverage), repeat_line(audit.design, Tally.of(audit).targets)
    lines = (
        *reading,
        _caution(audit, miss),
        _seen(audit),
        *_verdicts(audit),
        _values(audit, miss),
        _network(audit, miss),
        _next(plan),
        _finding(audit),
        AnswerLine(MORE_NAME, MORE),
        repeat,
    )
    more_lines = min(sum(len(line.rows) for line in reading[1:]), MAX_READING_ROWS) + bool(repeat.text)
    title = f"Recombine audit of {audit.design.reading.source}"
    return Answer(title, lines, _numbers(audit, miss), _large(audit, miss), more_lines)


def _numbers(audit: Audit, miss: ExpectedMiss | None) -> dict[str, float]:
    """Return the numbers that the answer says, by the names under which documents have them."""
    tally = Tally.of(audit)
    numbers: dict[str, float] = {verdict.word: tally.counts[verdict] for verdict in Verdict if tally.counts[verdict]}
    if miss is not None:
        told = {
            "values": miss.values,
            "mean": miss.mean,
            "noise": miss.noise,
            "network": miss.network if audit.forecast.adding or audit.forecast.trained else None,
        }
        numbers |= {f"miss of {name}": value for name, value in told.items() if value is not None}
    return numbers


def _large(audit: Audit, miss: ExpectedMiss | None) -> tuple[tuple[str, str], ...]:
    """Return how many combinations are predictable, how many are not, and what values miss by."""
    tally = Tally.of(audit)
    predictable, open_cells = tally.counts[Verdict.DETERMINED], tally.unseen - tally.counts[Verdict.DETERMINED]
    about = "" if tally.exact else "about "
    large = [
        (tally.number(Verdict.DETERMINED), "predictable"),
        (
            f"{about * (open_cells > 0)}{written_count(open_cells)}",
            "open or new" if tally.counts[Verdict.UNSEEN_LEVEL] else "open",
        ),
    ]
    if miss is not None:
        name = audit.design.outcome_column.name
        large.append((number(miss.values), f"expected miss{f' in {name}' if name else ''}"))
    return tuple(large) if predictable or open_cells else tuple(large[2:])


def _seen(audit: Audit) -> AnswerLine:
    seen, tally = len(audit.design.seen), Tally.of(audit)
    total = audit.design.possible.count
    asked = tally.counts[Verdict.SEEN]
    targets = f"; {plural(tally.total, 'target')} asked about" if tally.targets else ""
    targets += f", {asked:,} of them seen" if tally.targets and asked else ""
    which = "" if audit.design.possible.whole else " that can exist"
    return AnswerLine(SEEN, f"{seen:,} of {written_count(total)} combinations{which} ({percent(seen, total)}){targets}")


def _caution(audit: Audit, miss: ExpectedMiss | None) -> AnswerLine:
    """Say first where values are no good, or where no structure explains much."""
    values, ladder = audit.values, audit.choice.ladder
    if values.at_mean and values.components is not None:
        mean = number(float(values.components.y.mean()))
        return AnswerLine(CAREFUL, f"no value is better than the mean: every combination is given the mean, {mean}")
    if miss is not None and miss.is_useless:
        return AnswerLine(CAREFUL, "values are worse than the plain mean here: do not use them")
    if ladder is not None and explains_little(ladder):
        explained, possible = written_share(max(ladder.chosen.r2, 0.0)), ladder.ceiling
        beside = "" if possible is None else f" of a possible {written_share(possible)}"
        told = f"no structure fits well here: the best explains {explained}{beside} of what differs between cells"
        return AnswerLine(CAREFUL, told, f"no structure fits well here: the best explains {explained}{beside}")
    return AnswerLine(CAREFUL, "")


def _verdicts(audit: Audit) -> list[AnswerLine]:
    tally = Tally.of(audit)
    noun = ("target" if tally.unseen == 1 else "targets") if tally.targets else "unseen"
    if not tally.unseen:
        every = "every target was seen" if tally.targets else "nothing is left to predict: every combination was seen"
        return [AnswerLine(PREDICTABLE, every), AnswerLine("What matters", importance_sentence(audit))]
    lines = [
        AnswerLine(
            PREDICTABLE,
            f"{tally.number(Verdict.DETERMINED)} of {written_count(tally.unseen)} {noun}, if "
            f"{audit.choice.assumption}, {_holds(audit)}",
            f"{tally.number(Verdict.DETERMINED)} of {written_count(tally.unseen)} {noun}",
        )
    ]
    valued = audit.values.source in (ValueSource.COMPONENTS, ValueSource.STRUCTURE)
    for verdict, (name, meaning) in _UNSEEN.items():
        count = tally.counts[verdict]
        if count:
            forms = {"them": "it", "have": "has", "lie": "lies", "are": "is"}
            words = forms if count == 1 else {form: form for form in forms}
            told = "its value rests" if count == 1 else "their values rest"
            rest = f"; {told} on what is usual" if valued and verdict is Verdict.DISCONNECTED else ""
            lines.append(AnswerLine(name, f"{tally.number(verdict)}{meaning.format(**words)}{rest}"))
    return [*lines, AnswerLine("What matters", importance_sentence(audit))]


def _holds(audit: Audit) -> str:
    """Say after the assumption whether it holds."""
    if audit.design.outcome is None:
        return "which nothing checks without an outcome"
    if audit.values.at_mean:
        return _HOLDS[AdditivityState.NOT_SHOWN]
    if not audit.choice.structure.is_sum:
        ladder = audit.choice.ladder
        return "as asked" if ladder is None else f"which explains {written_share(ladder.chosen.r2)} of held-out ones"
    check = audit.structure.additivity
    state = AdditivityState.UNCHECKED if check is None else check.state_at(audit.order)
    if state in _HOLDS:
        return _HOLDS[state]
    return f"not checked: {why_unchecked(check, audit.order)}" if check is not None else "not checked"


def _values(audit: Audit, miss: ExpectedMiss | None) -> AnswerLine:
    """Say what values miss by, beside noise and the plain mean."""
    if audit.design.outcome is None:
        return AnswerLine("Values", "")
    if miss is None:
        return AnswerLine("Values", "how good they are is not known: too few outcomes check them")
    name = audit.design.outcome_column.name
    noise = "" if miss.noise is None else f", noise alone by {number(miss.noise)}"
    unit = f" in {name}" if name else ""
    on = f"root mean square on {miss.cells:,} {_ON[miss.source]}"
    beside = f", the plain mean by {number(miss.mean)}{noise}"
    missed = f"miss by {number(miss.values)}"
    return AnswerLine("Values", f"{missed}{unit}{beside}: {on}", f"{missed}{beside}")


def _network(audit: Audit, miss: ExpectedMiss | None) -> AnswerLine:
    """Say what a network will be off by: one that was trained and how near the next is, or by theory."""
    forecast = audit.forecast
    expected = forecast.range_of()
    if miss is None or miss.network is None or (expected is None and forecast.trained is None):
        return AnswerLine("A network", "")  # of theory alone, no rate of trials is known
    labels = " with every level a label" if audit.design.scales else ""
    by = "by theory" if forecast.trained is None else "one trained"
    if expected is None:  # on cells that no trial was about
        accuracy = None if forecast.trained is None else forecast.trained.network.accuracy
        answers = "" if accuracy is None else f", and is right on {whole_percent(accuracy)} of them"
        return AnswerLine("A network", f"misses them by {number(miss.network)}{labels}{answers}: {by}")
    ends = f"{number(expected.low)} to {number(expected.high)}"
    trials_held = f"{expected.held} of {expected.trials}"
    told, right = f"{by}: {number(miss.network)}", forecast.accuracy_range
    text = f"will miss them by {ends}{labels} ({told}; such ranges held in {trials_held})"
    if right is not None:
        text = f"will be right on {whole_percent(right.low)} to {whole_percent(right.high)} of them and {text[5:]}"
    return AnswerLine("A network", text, f"will miss them by {ends} ({told}; held in {trials_held})")


def _next(plan: Plan | None) -> AnswerLine:
    """Say which cells to measure next, and what the first of them brings."""
    if plan is None:
        return AnswerLine("Measure next", "")
    if not plan.picks:
        return AnswerLine("Measure next", plan_sentence(plan) or "nothing: no further combination would help much")
    settles = plan.needed is not None and plan.needed > 0 and not plan.beyond
    connecting = [pick for pick in plan.picks if pick.reason == "connect"] if settles else []
    names = [plan.design.label(pick.cell) for pick in connecting or plan.picks]
    more, first = len(names) - MAX_CELLS_NAMED, "; the first: " if len(names) > 1 else ": "
    named = ", ".join(names[:MAX_CELLS_NAMED]) + (f" and {more} more" if more > 0 else "")
    whole = f"{first}{gain_text(plan, plan.picks[0])}"
    if settles:
        # As the sentence of the plan has it: what does not matter or lies beyond the seen range is not planned for.
        everything = f"everything{' that matters' * plan.weighted}{' inside the seen range' * plan.ranged}"
        which = "it" if plan.needed == 1 else "these"
        whole = (
            f"; {which if plan.needed == len(names) else f'{plan.needed} in all'} would make {everything} predictable"
        )
    short = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
    ruled_out = plan.blocked if plan.design.spec.forbidden is not None and not plan.sampled else 0
    barred = f"; {ruled_out:,} of the unseen counted above {'is' if ruled_out == 1 else 'are'} not to be measured"
    return AnswerLine("Measure next", f"{named}{whole}{barred * (ruled_out > 0)}", f"{short}{whole if settles else ''}")


def _finding(audit: Audit) -> AnswerLine:
    """Tell the finding that matters most, but for what was told of reading."""
    findings = [finding for finding in audit.findings if getattr(finding.kind, "note", None) not in _TOLD]
    if not findings:
        return AnswerLine(LOOK, "")
    worst, others = findings[0], len(findings) - 1
    more = f"; {plural(others, 'more finding')}" if others else ""
    short = f"{worst.code} {worst.kind.title}"
    return AnswerLine(LOOK, f"{short}: {worst.message}{more}", f"{short}{more}")
