"""Values that follow, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.jobs.audit.additivity import root_mean_square
from recombine.jobs.audit.ranges import Ranges
from recombine.jobs.limits import AUDIT_LIMITS, STRUCTURE_LIMITS
from recombine.jobs.structure.held_out_ranges import HeldOutRanges, NoRange, RangeOf
from recombine.jobs.values.outcome_shares import SIZES, OutcomeShares
from recombine.jobs.values.sources import MAX_ROUNDING_SHARE, PosteriorRanges, RestsOn, ValueSource, rests_on
from recombine.theory.components.scales import COUNTS, LOG, LOG_ODDS, LOG_OF_COUNTS
from recombine.verdicts import Verdict
from recombine.writing import few_digits, join_words, listing, number, plural, printable, whole_percent

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.parts import Values


#: What a value rests on that does not follow from the seen cells.
RESTS = {
    RestsOn.PRIOR: "the seen cells leave part of it open, and for that it rests on how much levels usually differ",
    RestsOn.NEW_LEVEL: "a level was never seen, so it rests on the effects of the other factors",
}
#: Why no value is better than the mean.
CHANCE = "what levels and pairs of them do is not beyond chance"
CHANCE_DESPITE_NOISE = "combinations differ by more than noise, but not in a way that tells of others"
NO_RANGE = "No standard error or range: there are too many levels to work out leverages."
SUMS_ONLY = (
    "Values are what the structure certifies, and only determined cells have one: with so many cells it takes too long "
    "to weigh effects by what they carry."
)

#: What effects do on the scales on which components may add, by the name of the scale.
SCALES_SAID = {
    LOG.name: "effects multiply",
    LOG_OF_COUNTS.name: "effects multiply",
    COUNTS.name: "effects multiply",
    LOG_ODDS.name: "effects add on log odds",
}
#: Factors whose shares are told one by one.
MAX_FACTORS_NAMED = 4
#: A share below this is not told by itself.
MIN_SHARE_TOLD = 0.005


def held_out_sentence(audit: Audit) -> str:
    """Say how values compare with the outcomes of the held-out rows; empty without any."""
    if audit.values.held_out_errors is None:
        return ""
    parts = []
    for row in audit.values.held_out_errors.rows():
        error, mean = row["value error"], row["mean error"]
        scored = "" if np.isnan(error) else f", off by {number(error)} (the plain mean by {number(mean)})"
        parts.append(f"{row['cells']:,} {row['verdict']}{scored}")
    return f"Held-out cells: {'; '.join(parts)}"


def rests_phrase(values: Values, verdict: Verdict) -> str:
    """Say what the value of an unseen cell rests on; empty where it follows from the seen cells."""
    if values.at_mean:
        return "the mean, for no value is better here"
    weighed = values.source in (ValueSource.COMPONENTS, ValueSource.STRUCTURE)
    basis = RestsOn(rests_on(np.array([verdict]))[0])
    if basis is RestsOn.DATA and (scale := values_scale(values)) and values.decided.choice.structure.is_sum:
        return f"so if {scale}"
    described = basis is RestsOn.NEW_LEVEL and values.decided.design.reading.level_features
    features = f" and, if it has any, on features of {listing(described, 4)}" if described else ""
    return RESTS.get(basis, "") + features if weighed else ""


def values_sentence(audit: Audit) -> str:
    """Say how good values are, or that none is better than the mean; empty without an outcome."""
    values, name = audit.values, audit.design.outcome_column.name
    if values.source is None or not len(values.decided.listing.cells):
        return ""
    if values.source is ValueSource.SUMS or values.components is None:
        return SUMS_ONLY
    observed = values.components.y
    if values.at_mean:
        why = CHANCE_DESPITE_NOISE if _interacts(audit) else CHANCE
        which = "the unseen combination" if len(values.decided.codes) == 1 else "every unseen combination"
        mean = f"the mean of the seen combinations, {number(float(observed.mean()))}"
        return f"No value is better than {mean}: {why}, and {which} is given that mean."
    misses = None if values.ranges is None else values.ranges.misses
    if misses is None or not len(misses):
        return ""
    what = f"the {name} of a seen combination" if name else "a seen combination"
    exact = np.abs(misses).max() <= MAX_ROUNDING_SHARE * np.abs(observed).max()
    missed = "is found exactly" if exact else f"is off by {number(root_mean_square(misses))}"
    off = f"predicted so from others, {what} {missed}."
    if values.source is ValueSource.STRUCTURE:
        return f"Values are those that follow if {audit.choice.assumption}: {off}"
    scale = values_scale(values)
    return f"Values weigh all effects by what they carry{scale and f', taking it that {scale}'}: {off}"


def values_scale(values: Values) -> str:
    """Say what effects do where values add them on another scale than the outcome's; else empty."""
    fit = values.components if values.source is ValueSource.COMPONENTS else None
    return "" if fit is None else SCALES_SAID.get(fit.scale.name, "")


def _interacts(audit: Audit) -> bool:
    """Whether replicates show that combinations depart from the assumed sum by more than noise."""
    check = None if audit.structure.additivity is None else audit.structure.additivity.at(audit.order)
    test = None if check is None else check.lack_of_fit
    return test is not None and test.p_value <= AUDIT_LIMITS.p_value_shown


def ranges_sentence(audit: Audit) -> str:
    """Say what the ranges are for and rest on, or why there are none; empty without an outcome."""
    ranges = audit.values.ranges
    if ranges is None:
        return NO_RANGE if audit.values.fit else ""
    if ranges.obstacle:
        return f"No 90 % range: {_why_none(ranges)}."
    middle = float(np.median(np.abs(ranges.misses)))
    assert audit.design.outcome is not None
    exact = middle <= MAX_ROUNDING_SHARE * np.abs(audit.design.outcome).max()
    missed = (
        "half of them are found exactly." if exact else f"half of them are missed by more than {few_digits(middle)}."
    )
    lead = f"A 90 % range is for {range_of(ranges)}"
    cells = f"It rests on {plural(len(ranges.misses), 'seen cell')}"
    if isinstance(ranges, HeldOutRanges):
        return f"{lead}. {cells} that were held out: {missed}"
    noise = "; no rows repeat, so noise is in it" if isinstance(ranges, Ranges) and not ranges.replicated else ""
    return f"{lead}{noise}. {cells}, each predicted from the others: {missed}"


def features_sentence(audit: Audit) -> str:
    """Say which descriptors of levels carry values, and how many do not help; empty without any."""
    if not audit.design.reading.level_features or audit.values.components is None:
        return ""
    from recombine.jobs.values.level_features import described_factors

    sentences = []
    for item in described_factors(audit.design, audit.values.components):
        others = len(item.names) - len(item.carriers)
        if not item.carriers:
            sentences.append(f"{item.factor}: none of its {plural(others, 'descriptor')} helps")
            continue
        remark = f"; {others} {'other does' if others == 1 else 'others do'} not help" if others else ""
        sentences.append(f"{item.factor}: carried by {listing(item.carriers, 8)}{remark}")
    return f"{'. '.join(sentences)}." if sentences else ""


def range_of(ranges: Ranges | HeldOutRanges | PosteriorRanges) -> str:
    """Say what a range is for."""
    if ranges.what is RangeOf.MEAN_OF_ROWS and isinstance(ranges, Ranges):
        return f"one more row of the cell, a mean of about {1 / ranges.own:.3g} measurements"
    return {
        RangeOf.CELL_MEAN: "the cell's mean",
        RangeOf.MEASUREMENT: "one measurement of the cell",
        RangeOf.NEW_CELL: "one more cell measured like the seen ones",
    }[ranges.what]


def _why_none(ranges: Ranges | HeldOutRanges | PosteriorRanges) -> str:
    """Say why no range can be given."""
    if ranges.obstacle is NoRange.CHANCES_UNSEEN:
        return "the outcome has two values and no rows repeat, so chances are not seen"
    if isinstance(ranges, PosteriorRanges):
        degrees = f"{plural(ranges.freedom or 0, 'degree')} of freedom"
        return f"how large noise is is not known, since effects fit exactly with {degrees} left"
    if not isinstance(ranges, Ranges):
        told = f"{plural(len(ranges.misses), 'seen cell')} held out"
    elif ranges.obstacle is NoRange.FEW_DEGREES:
        told = f"the seen cells leave {plural(ranges.freedom, 'degree')} of freedom about the additive fit"
    else:
        count = ranges.independent
        told = f"only {count} seen cell{'s are' if count != 1 else ' is'}" if count else "no seen cell is"
        told += " determined by the others"
    return f"{told}, and it takes {STRUCTURE_LIMITS.min_misses}"


def noise_phrase(shares: OutcomeShares) -> str:
    """Name what is left to noise, with what cannot be told from it where no rows repeat."""
    if shares.shares.noise_is_alone:
        return "noise"
    return "pairs or noise" if len(shares.factors) <= 2 else "whole combinations or noise"


def shares_sentence(shares: OutcomeShares, outcome: str) -> str:
    """Say what shares of the variance of an outcome over the seen cells factors carry, with 90 % ranges.

    Examples
    --------
    >>> from recombine.jobs.values.outcome_shares import outcome_shares
    >>> from recombine.theory.components import fit_components
    >>> cells = np.indices((8, 6)).reshape(2, -1).T
    >>> fit = fit_components(cells, 3.0 * cells[:, 0] + cells[:, 1] + np.random.default_rng(0).normal(size=48))
    >>> print(shares_sentence(outcome_shares(fit, ["drug", "dose"], cells), "yield"))
    Most of yield is carried by drug: 93 % (81 % to 98 %), dose 6 % (2 % to 17 %), pairs or noise 1 % (0 % to 2 %).
    """
    *sets, noise = shares.table.rows()
    told = [row for row in sets if row["size"] == 1 and row["share"] >= MIN_SHARE_TOLD][:MAX_FACTORS_NAMED]
    parts = [f"{printable(row['set'])} {_share_range(row)}" for row in told]
    pairs = sum(row["share"] for row in sets if row["size"] == 2)
    parts += [f"pairs {whole_percent(pairs)}"] if pairs >= MIN_SHARE_TOLD else []
    parts += [f"{noise_phrase(shares)} {_share_range(noise)}"] if noise["share"] >= MIN_SHARE_TOLD else []
    shown = [*(row["share"] for row in told), *(share for share in (pairs, noise["share"]) if share >= MIN_SHARE_TOLD)]
    others = 1 - sum(shown)
    parts += [f"all else {whole_percent(others)}"] if others >= MIN_SHARE_TOLD else []
    most = told[0]["set"] if told and told[0]["share"] > 0.5 else None
    if most is None:
        return f"What carries {printable(outcome)}: {', '.join(parts)}."
    parts[0] = _share_range(told[0])
    return f"Most of {printable(outcome)} is carried by {printable(most)}: {', '.join(parts)}."


def network_shares_sentence(shares: OutcomeShares) -> str:
    """Say what wide networks begin with on the same axis; empty for more factors than can be weighed."""
    networks = [row for row in shares.by_size.rows() if row["layers"]]
    if not networks:
        return ""
    parts = []
    for row in networks:
        weighed = join_words([f"{whole_percent(row[size])} on {size}" for size in SIZES if row[size] > 0])
        parts.append(f"one with {plural(row['layers'], 'hidden layer')} puts {weighed}")
    return f"Where a wide network begins, before training: {'; '.join(parts)}."


def _share_range(row: dict[str, Any]) -> str:
    return f"{whole_percent(row['share'])} ({whole_percent(row['low'])} to {whole_percent(row['high'])})"
