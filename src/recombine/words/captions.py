"""Titles, captions of tables, and what figures show to those who do not see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recombine.verdicts import Verdict
from recombine.writing import number, percent, plural, written_count

if TYPE_CHECKING:
    from recombine.cells.arrays import IntArray
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.pairs import Axis
    from recombine.jobs.values.outcome_shares import OutcomeShares
    from recombine.tables.table import Table
    from recombine.theory.structures.ladder import Ladder

#: Sentences with holes: what fills them has the name of the hole.
TARGETS_TITLE = "{cells}, {condition}:"
UNSEEN_TITLE = "unseen cells, {condition}:"
MORE_IN = '{page}("report.html") writes the whole report; {table} is the table behind it.'
OPEN_CELLS = "Cells that the data alone do not settle: {shown:,} of {listed:,} listed"
RUNGS = "Structures on {cells:,} held-out seen cells, simplest first"
ORDERS = "Root mean squared error of predicting seen cells from the others ({method}), in units of {unit}"
SHADE = "The {quantity} is the {mean} over a square's unseen combinations. "
TOO_LARGE = (
    "The table is too large to carry along: {shown:,} of {listed:,} listed unseen combinations, evenly spread, can be "
    "asked about here; recombine explore, with the name of the table, answers for any."
)
ADDITIVITY_ALTERNATIVE = (
    "Two scatter plots of {tested:,} seen cells at order {order}: observed against predicted from the others, and the "
    "difference; root mean square difference {error:.3g}."
)
PREDICTIONS_ALTERNATIVE = (
    "Predicted against observed means of {cells:,} held-out cells by verdict, for {models}. The line is perfect "
    "agreement."
)
SHARES = "Shares of the variance over the seen combinations, with 90 % ranges"
SHARES_TITLE = "What carries {outcome}"
SIZES_TITLE = "Single factors, pairs, larger sets, noise"
TRAINED_ON = "trained on {share} of the seen cells"
ERROR_AXIS = "root mean squared error, {unit}"

READ_TITLE = "How the table was read"
ADDITIVITY_TITLE = "Does additivity hold here?"
STRUCTURE_TITLE = "Which structure holds here?"
FORECAST_TITLE = "What your model will do"
PLAN_TITLE = "What to collect next"
LEFT_OUT = "Left out to save time"
MODELS = "Error by verdict when trained on part of the seen cells (root mean square)"
SLOPES = "Share of each factor's effect that reaches unseen cells"
BREAKERS = "Seen cells that depart most from additivity"
FURTHEST = "Seen cells that depart most from what the others say of them"
HELD_OUT = "Held-out cells by verdict: root mean squared errors"
DEPTHS = "The same networks by number of hidden layers"
SHORTCUTS = "How far a network follows each factor's own mean outcomes, away from its effect"
PICKS = "Cells to collect, in this order"
PROPOSALS = "Columns of the table and why each was taken or left"
ESTIMATED = "Counts are estimated from a random sample."
SHARE_DETERMINED = "share of unseen determined"
LEVERAGE = "leverage (1: as sure as one measurement)"
CURVE = "The curve, and seen cells"
SQUARED_ERROR = "squared error on determined cells"


def product_title(audit: Audit, targets: bool) -> str:
    """Say how many cells there are, and how many of them were seen."""
    counts, product = audit.decided.counts, "The full product" if targets else "All combinations"
    product = product if audit.design.possible.whole else "All combinations that can exist"
    seen, unseen = counts[Verdict.SEEN], written_count(counts.total - counts[Verdict.SEEN])
    return (
        f"{product}: {written_count(counts.total)} cells, {seen:,} seen ({percent(seen, counts.total)}), {unseen} not"
    )


def example_title(audit: Audit, cell: IntArray) -> str:
    """Name the cell that is shown as an example."""
    which = "" if audit.decided.matters is None else " that matters"
    return f"The shakiest determined cell{which}: {audit.design.label(cell)}"


def counts_caption(audit: Audit) -> str:
    """Say over which cells verdicts are counted."""
    which = "" if audit.design.possible.whole else " that can exist"
    return f"All {written_count(audit.decided.counts.total)} combinations{which} by verdict"


def ways_caption(omitted: int) -> str:
    """Say which combinations of levels were counted."""
    more = f"; {omitted} better covered left out" if omitted else ""
    return f"Combinations of t levels that occur in training{more}"


def sparse_caption(omitted: int) -> str:
    """Say which levels are listed."""
    more = f"; {plural(omitted, 'other')} with as many or more" if omitted > 0 else ""
    return f"Levels seen in the fewest cells{more}"


def levels_caption(complete: bool, omitted: int) -> str:
    """Say of which cells the counts per level are."""
    cells = "possible cells" if complete else "seen and sampled cells"
    more = f"; {plural(omitted, 'level')} left out" if omitted else ""
    return f"The map in numbers: {cells} with each level, by verdict{more}"


def values_caption(audit: Audit, shown: int, listed: int) -> str:
    """Say of how many determined cells values are shown."""
    which = "" if audit.decided.matters is None else " that matter and are"
    return f"Predicted values, the shakiest first: {shown:,} of {plural(listed, 'determined cell')}{which} listed"


def no_map_sentence(quantity: str, middle: float | None, all_seen: bool) -> str:
    """Say why a map would show nothing; ``middle`` is about what all values of ``quantity`` are."""
    if all_seen:
        return "There is nothing to map: every combination was seen."
    alike = "" if middle is None else f", and known about equally well ({quantity}: {number(middle)})"
    return f"There is nothing to map: every unseen combination is determined{alike}."


def map_alternative(titles: Iterable[str], codes: IntArray, shade: str) -> str:
    """Say what the verdict map shows; ``shade`` is the quantity that shades unseen cells, if any."""
    tally = np.bincount(codes, minlength=len(Verdict))
    counts = ", ".join(f"{int(tally[verdict]):,} {verdict.word}" for verdict in Verdict if tally[verdict])
    shaded = f" Unseen cells are shaded by {shade}." if shade else ""
    return (
        f"Verdict map of {'; '.join(titles)}. Cells counted: {counts}.{shaded} The table below gives counts for every "
        "level."
    )


def axis_note(factor: str, axis: Axis) -> str:
    """Say what runs along an axis of the map that names no levels."""
    if axis.binned:
        return f"{factor}, {axis.levels:,} levels in {len(axis.labels)} bins"
    return f"{factor}, {axis.levels:,} levels, {'in order' if axis.in_order else 'often seen first'}"


def structures_alternative(ladder: Ladder, curved: bool) -> str:
    """Say what the figure of structures shows."""
    rungs = ", ".join(f"{rung.name} {rung.r2:.2f}" for rung in ladder.rungs)
    curve = " Beside it, the curve from the hidden sum to the outcome." if curved else ""
    return f"Dot plot of the share of held-out variance that each structure explains: {rungs}.{curve}"


def models_alternative(models: Table) -> str:
    """Say what the figure of models shows."""
    errors = {row["model"]: row[Verdict.DETERMINED.word] for row in models.rows()}
    texts = ", ".join(f"{model} {error:.3g}" for model, error in errors.items() if not np.isnan(error))
    return f"Dot plot of errors by model and verdict; on determined cells: {texts}. The table gives all numbers."


def shares_alternative(shares: OutcomeShares, outcome: str) -> str:
    """Describe the figure of what carries an outcome."""
    rows = list(shares.table.rows())
    carried = ", ".join(f"{row['set']} {row['share']:.0%}" for row in rows[:4])
    return (
        f"Dots with 90 % ranges: the share of the variance of {outcome} that each set of factors carries: {carried}. "
        "Below, bars of shares by size of set, in this table and in wide networks before they are trained."
    )
