"""The audit in words: every number and sentence that terminal, page and notebook say is written here, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.conjunctions import contains
from recombine.cells.possible import Possible
from recombine.data.hit_rates import hit_rate
from recombine.design.nesting import nesting_phrase
from recombine.jobs.audit.additivity import FEWEST_CELLS
from recombine.jobs.structure.choice import Choice
from recombine.verdicts import Verdict
from recombine.writing import amount, join_words, number, percent, plural, round_estimate, share, written_count

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.coverage import Coverage
    from recombine.jobs.audit.forecast import Forecast
    from recombine.theory.identification.counts import Counts
    from recombine.theory.identification.identify import Identification

UNSEEN = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL, Verdict.UNDECIDED, Verdict.BEYOND)
#: Verdicts that are not mentioned where no cell has them.
RARE = (Verdict.UNDECIDED, Verdict.BEYOND)

GUESS = "The factors are a guess; name them with --factors to be sure."
MODELS = "Error by verdict when trained on part of the seen cells (root mean square)"
NOTHING_TO_COLLECT = "Nothing: there is no further cell to collect that would help much."
LEFT_OUT = "Left out to save time"
NO_FINDINGS = "None: every unseen combination is determined, and no risk was found."

#: How the check of the assumption reads where the verdicts are counted, so that no count looks stronger than it is.
_CHECKED = {
    "holds": "they do, see below",
    "holds roughly": "they do roughly, see below",
    "does not hold": "they do not, see below",
    "is not shown to hold": "that is not shown, see below",
    "cannot be checked": "not checked",
}
#: By which arithmetic verdicts are decided, and how sure that is.
_ROUTES = {
    "graph": ("decided exactly, by connectivity", " of levels, which cannot err"),
    "exact": (
        "decided exactly, by rank in modular arithmetic",
        ": modulo the prime 2⁶¹ − 1 the chance that any one is wrong is about 4 in 10¹⁹",
    ),
}


@dataclass(frozen=True)
class Tally:
    """Verdict counts that a sentence speaks of: over the full product, or over the reader's targets."""

    counts: dict[Verdict, int]
    exact: bool
    targets: bool = False

    @classmethod
    def of(cls, audit: Audit) -> Tally:
        """Return the counts that answer the reader's question: of the targets if there are any, else of the product."""
        if audit.listing.kind == "targets":
            counts = np.bincount(audit.codes, minlength=len(Verdict))
            return cls({verdict: int(counts[verdict]) for verdict in Verdict}, True, True)
        return cls(dict(audit.counts.by_verdict), audit.counts.exact)

    @property
    def total(self) -> int:
        """All cells counted."""
        return sum(self.counts.values())

    @property
    def unseen(self) -> int:
        """Those that were not seen."""
        return sum(self.counts.get(verdict, 0) for verdict in UNSEEN)

    def number(self, verdict: Verdict) -> str:
        """Write the count of a verdict; one that is known by sampling only is rounded.

        Examples
        --------
        >>> sampled = Tally({Verdict.DETERMINED: 12_345, Verdict.UNSEEN_LEVEL: 678}, exact=False)
        >>> sampled.number(Verdict.DETERMINED), sampled.number(Verdict.UNSEEN_LEVEL)
        ('about 12,000', '678')
        """
        known = self.exact or verdict in (Verdict.SEEN, Verdict.UNSEEN_LEVEL, Verdict.BEYOND)
        count = self.counts[verdict]
        return written_count(count) if known else f"about {written_count(round_estimate(count))}"


def rows_phrase(coverage: Coverage) -> str:
    """Write how much the training data hold."""
    behind = "" if coverage.measurements == coverage.rows else f" ({amount(coverage.measurements)} measurements)"
    return f"{plural(coverage.rows, 'training row')}{behind}"


def weight_sentence(design: Design) -> str:
    """Say how a column of weights was read; empty without one.

    Examples
    --------
    >>> from recombine.design import Design
    >>> weight_sentence(Design.from_cells([[0, 1], [1, 2]]))
    ''
    """
    if design.rows_are == "measurements":
        return ""
    if design.rows_are == "counts":
        return "A row with weight n is read as n equal measurements; if rows are means of n, say --means."
    lead = "A row with weight n is read as the mean of n measurements"
    if design.outcome is None or design.within_rows:
        return f"{lead}."
    return f"{lead}; how much those differ is not known: name their standard deviations with --sd to have it counted."


def twin_phrases(design: Design) -> list[str]:
    """Say which factors are interchangeable.

    Examples
    --------
    >>> from recombine.design import Design
    >>> twin_phrases(Design.from_cells([[0, 1], [1, 2]], names=["gene_a", "gene_b"], symmetric=[(0, 1)]))
    ['one factor used twice: gene_a and gene_b']
    """
    groups = [[design.names[member] for member in group] for group in design.symmetric]
    times = {2: "twice"}
    return [f"one factor used {times.get(len(names), 'several times')}: {join_words(names)}" for names in groups]


def scale_sentences(design: Design) -> list[str]:
    """Say which factors are ordered or numeric, and what that assumes.

    Examples
    --------
    >>> from recombine.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 5], [1, 8]], names=["plant", "dose"]).on_scales(["dose"])
    >>> scale_sentences(design)
    ['dose is ordered: its effect runs straight from one seen value to the next, 0 to 8.']
    """
    found = []
    for factor, scale in zip(design.factors, design.scales, strict=False):
        if scale is None:
            continue
        low, high = (factor.labels[end] for end in scale.ends)
        if scale.kind == "ordered":
            how = "its effect runs straight from one seen value to the next"
        elif len(scale.knots) <= 2:
            how = "its effect is a straight line"
        else:
            how = f"its effect is a smooth curve (natural cubic spline, {len(scale.knots)} knots)"
        found.append(f"{factor.name} is {scale.kind}: {how}, {low} to {high}.")
    return found


def impossible_sentence(design: Design) -> str:
    """Say which combinations cannot exist, why, and how to say otherwise; empty if all can.

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> impossible_sentence(Design.from_cells(cells, names=["plant", "soil", "dose"], nested=["plant/soil"]))
    '4 of the 8 combinations of levels cannot exist: plant lies inside soil (as was said).'
    """
    if design.possible.whole:
        return ""
    full = Possible.product(design.sizes, design.symmetric).count
    lead = f"{written_count(full - design.product)} of the {written_count(full)} combinations of levels cannot exist"
    if design.listed is not None:
        fresh = int((~contains(design.listed, design.cells)).sum())
        extra = f"; {plural(fresh, 'cell')} of the table that it lacks count as possible" if fresh else ""
        return f"{lead}: they are not in {design.listed_in}{extra}."
    inferred = [item for item in design.nesting if item.inferred]
    said = [item for item in design.nesting if not item.inferred]
    reasons = [f"{nesting_phrase(said)} (as was said)"] if said else []
    if inferred:
        reasons.append(f"{nesting_phrase(inferred)} (inferred from the rows; --crossed if they can)")
    return f"{lead}: {'; '.join(reasons)}."


def assumption(order: int) -> str:
    """Say what the verdicts assume.

    Examples
    --------
    >>> assumption(1), assumption(2)
    ('effects add', 'effects add up to interactions of 2 factors')
    """
    return Choice("", order).assumption


def condition(audit: Audit, order: int) -> str:
    """Say what the verdicts at ``order`` assume, and in a word whether that holds."""
    if audit.choice.curved and order == audit.order:
        return f"if {audit.choice.assumption} (see below)"
    word = "cannot be checked" if audit.additivity is None else audit.additivity.word_at(order)
    return f"if {assumption(order)} ({_CHECKED[word]})"


def caution_sentence(order: int) -> str:
    """Say that the assumption was not checked."""
    return f"Not checked: no outcome was named. Every verdict holds only if {assumption(order)}."


def verdict_sentence(audit: Audit) -> str:
    """Return how many unseen cells carry each verdict, in a sentence.

    Examples
    --------
    >>> import recombine as rc
    >>> verdict_sentence(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    'If effects add, the seen combinations determine the one unseen combination.'
    """
    found = Tally.of(audit)
    noun = "target combination" if found.targets else "unseen combination"
    if not found.unseen:
        which = "" if audit.design.possible.whole else " that can exist"
        every = f"Every combination{which} was seen; nothing is left to predict."
        return "Every target was seen." if found.targets else every
    lead = f"If {audit.choice.assumption}, the seen combinations determine"
    known = found.counts[Verdict.DETERMINED]
    if known == found.unseen:
        which = f"the one {noun}" if known == 1 else f"all {plural(known, noun)}"
        return f"{lead} {which}{_already_seen(found)}."
    rest = [_rest(verdict, found) for verdict in UNSEEN[1:] if found.counts[verdict]]
    these = found.number(Verdict.DETERMINED) if known else "none"
    return f"{lead} {these} of the {plural(found.unseen, noun)}{_already_seen(found)}; {join_words(rest)}."


def _already_seen(found: Tally) -> str:
    seen = found.counts[Verdict.SEEN]
    return f" ({seen:,} more {'was' if seen == 1 else 'were'} seen)" if found.targets and seen else ""


def _rest(verdict: Verdict, found: Tally) -> str:
    one = found.counts[verdict] == 1
    if verdict is Verdict.UNSEEN_LEVEL:
        return f"{found.number(verdict)} {'has' if one else 'have'} an unseen level"
    if verdict is Verdict.BEYOND:
        return f"{found.number(verdict)} {'lies' if one else 'lie'} beyond the seen range"
    return f"{found.number(verdict)} {'is' if one else 'are'} {verdict.word}"


def additivity_sentence(audit: Audit) -> str:
    """Return whether the assumption holds, in a sentence.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = [[i, j] for i in range(4) for j in range(4)]
    >>> additivity_sentence(rc.audit(rc.Design.from_cells(cells)))
    'Whether adding effects is right was not checked: no outcome was named.'
    """
    if audit.choice.curved:
        return structure_sentence(audit)
    adding = "adding effects" if audit.order == 1 else f"adding interactions of up to {audit.order} factors"
    if audit.additivity is None:
        return f"Whether {adding} is right was not checked: no outcome was named."
    word, check = audit.additivity.word_at(audit.order), audit.additivity.at(audit.order)
    if check is None or word == "cannot be checked":
        return f"Whether {adding} is right could not be checked: {audit.additivity.obstacle(audit.order)}."
    judged = {
        "holds": "is right here",
        "holds roughly": "is roughly right here",
        "does not hold": "is not right here, its values are off by more than noise",
        "is not shown to hold": "is not shown to be right here, its values are estimates at best",
    }[word]
    lead = f"{adding[0].upper()}{adding[1:]} {judged}"
    if check.tested < FEWEST_CELLS and check.lack_of_fit is not None:
        return f"{lead}. {check.lack_of_fit.sentence}"
    name = audit.design.outcome_name
    what = f"the {name} of a seen combination" if name else "a seen combination"
    most = "up to " * check.at_most
    noise = f" and noise alone would make it {most}{number(check.expected)}" if check.expected is not None else ""
    return (
        f"{lead}: predicted from the others, {what} is off by {number(check.error)}, where the plain mean is off by "
        f"{number(check.baseline)}{noise}."
    )


def structure_sentence(audit: Audit) -> str:
    """Say what the chosen structure explains of held-out seen combinations, and what adding explains of them."""
    if (found := audit.choice.ladder) is None:
        return audit.choice.statement
    text, plain = str(found), found.at("add")
    rest = "" if plain is None else f", adding effects {plain.r2:.2f}"
    right = "" if audit.choice.asked else f"; such a choice had less error than adding in {hit_rate('structure')}"
    return f"{text[0].upper()}{text[1:]} of what differs between held-out seen combinations{rest}{right}."


def beyond_sentence(audit: Audit) -> str:
    """Say how many sums of effects no two-valued outcome can have; empty where there are none."""
    count, known = int(audit.beyond.sum()), int((audit.codes <= Verdict.DETERMINED).sum())
    if not count or audit.design.two_values is None:
        return ""
    low, high = (f"{value:g}" for value in audit.design.two_values)
    return (
        f"{count:,} of {known:,} values that follow would lie outside {low} to {high}, where this outcome cannot be; "
        "they are given as the nearer end, and there effects cannot simply add."
    )


def held_out_sentence(audit: Audit) -> str:
    """Say how the values that follow compare with the outcomes of the held-out rows; empty without any."""
    if audit.held_out_errors is None:
        return ""
    parts = []
    for row in audit.held_out_errors.rows():
        error, mean = row["additive error"], row["mean error"]
        scored = "" if np.isnan(error) else f", off by {number(error)} (the plain mean by {number(mean)})"
        parts.append(f"{row['cells']:,} {row['verdict']}{scored}")
    return f"Held-out cells: {'; '.join(parts)}"


def breakers_sentence(audit: Audit, count: int = 3) -> str:
    """Name the cells that depart most from additivity; empty where that cannot be checked."""
    if audit.additivity is None or audit.additivity.word == "cannot be checked" or not audit.additivity.orders[0].error:
        return ""
    factors = len(audit.design.columns)
    cells = []
    for row in audit.additivity.breakers(count).rows():
        label = " · ".join(str(level) for level in list(row.values())[:factors])
        cells.append(f"{label} ({'+' * (row['difference'] > 0)}{number(row['difference'])})")
    return f"Cells that depart most: {'; '.join(cells)}" if cells else ""


def coverage_sentence(coverage: Coverage) -> str:
    """Say how many of the t-way combinations of levels were seen, and how often a seen cell was."""
    strengths = sorted({int(t) for t in coverage.ways["t"]})
    ways = ", ".join(f"{t}-way {share(coverage.share(t))}" for t in strengths)
    return f"{ways}; {per_cell_phrase(coverage)}"


def per_cell_phrase(coverage: Coverage) -> str:
    """Write how often a seen cell was seen."""
    low, middle, high = (amount(value) for value in coverage.per_cell)
    spread = low if low == high else f"{low} to {high} (median {middle})"
    unit = "rows" if coverage.measurements == coverage.rows else "measurements"
    return f"{unit} per seen cell: {spread}"


def thin_levels(coverage: Coverage, most: int = 6) -> str:
    """Name the levels that one cell at most holds; empty without any."""
    thin = [f"{row['factor']}={row['level']}" for row in coverage.levels.rows() if row["cells"] <= 1]
    more = f" and {len(thin) - most:,} more" if len(thin) > most else ""
    return f"levels seen in one cell at most: {', '.join(thin[:most])}{more}" if thin else ""


def accuracy_sentences(forecast: Forecast) -> list[str]:
    """Say with which accuracy networks classify held-out cells; empty where that is not known."""
    if forecast.accuracy is None:
        return []
    lines = []
    for loss in ("cross-entropy", "squared"):
        found = forecast.accuracy["accuracy"][forecast.accuracy["loss"] == loss]
        text = f"{found[0]:.0%}" if np.ptp(found) < 0.005 else f"{found.min():.0%} to {found.max():.0%}"
        lines.append(f"Accuracy on held-out unseen cells with {loss} loss, depth 1 to 4: {text}")
    return lines


def decision(engine: Identification) -> str:
    """Say in a line by which arithmetic verdicts were decided."""
    if engine.route in _ROUTES:
        return _ROUTES[engine.route][0]
    gap = engine.gap
    width = "gap not measured" if gap is None else f"zeros below {gap.zero:.0e}, others above {gap.nonzero:.0e}"
    return f"decided by floating-point projection ({width})"


def decision_sentence(engine: Identification) -> str:
    """Say by which arithmetic verdicts were decided, and how sure that is."""
    sure = _ROUTES[engine.route][1] if engine.route in _ROUTES else ""
    if not sure and engine.gap is not None:
        sure = f"; its error is about {engine.gap.error:.1e}, and cells in between are undecided"
    return f"Verdicts were {decision(engine)}{sure}."


def estimate_sentence(counts: Counts) -> str:
    """Say in a line how counts were estimated."""
    low, high = (percent(side[Verdict.DETERMINED], counts.total) for side in (counts.low, counts.high))
    return (
        f"estimated from {counts.sampled:,} random cells (determined: {low} to {high} of all cells, with 95 % "
        "confidence); total, seen and unseen level are exact"
    )


def count_sentence(counts: Counts, whole: bool = True) -> str:
    """Say how the counts were found and how sure they are; ``whole`` if every combination can exist."""
    what = (
        f"the full product of {written_count(counts.total)} cells"
        if whole
        else f"the {written_count(counts.total)} cells that can exist"
    )
    how = f"over {what} and exact" if counts.exact else estimate_sentence(counts)
    return f"Counts are {how}."
