"""How a table was read and what it holds, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.cells.conjunctions import contains
from recombine.cells.possible import Possible
from recombine.cells.scales import FactorScale
from recombine.design.nesting import nesting_phrase
from recombine.jobs.limits import LISTING_LIMITS
from recombine.jobs.listing import Listing, ListingKind
from recombine.tables.grouping import RowsAre
from recombine.writing import amount, join_words, plural, share, written_count

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.audit.coverage import Coverage

#: Where there is room for a few words only.
GUESSED = "; the factors are a guess (--factors)"
GUESS = "The factors are a guess; name them with --factors to be sure."


def rows_phrase(coverage: Coverage) -> str:
    """Write how much the training data hold."""
    behind = "" if coverage.measurements == coverage.rows else f" ({amount(coverage.measurements)} measurements)"
    return f"{plural(coverage.rows, 'training row')}{behind}"


def weight_sentence(design: Design) -> str:
    """Say how a column of weights was read; empty without one."""
    if design.observed.rows_are is RowsAre.MEASUREMENTS:
        return ""
    if design.observed.rows_are is RowsAre.COUNTS:
        return "A row with weight n is read as n equal measurements; if rows are means of n, say --means."
    lead = "A row with weight n is read as the mean of n measurements"
    if design.outcome is None or design.observed.within_rows:
        return f"{lead}."
    return f"{lead}; how much those differ is not known: name their standard deviations with --sd to have it counted."


def twin_phrases(design: Design) -> list[str]:
    """Say which factors are interchangeable."""
    groups = [[design.names[member] for member in group] for group in design.symmetric]
    times = {2: "twice"}
    return [f"one factor used {times.get(len(names), 'several times')}: {join_words(names)}" for names in groups]


def scale_sentences(design: Design) -> list[str]:
    """Say which factors are ordered or numeric, and what that assumes."""
    sentences = []
    for factor, scale in zip(design.factors, design.scales, strict=False):
        if scale is None:
            continue
        low, high = (factor.labels[end] for end in scale.ends)
        if scale.kind is FactorScale.ORDERED:
            how = "its effect runs straight from one seen value to the next"
        elif len(scale.knots) <= 2:
            how = "its effect is a straight line"
        else:
            how = f"its effect is a smooth curve (natural cubic spline, {len(scale.knots)} knots)"
        sentences.append(f"{factor.name} is {scale.kind}: {how}, {low} to {high}.")
    return sentences


def impossible_sentence(design: Design) -> str:
    """Say which combinations cannot exist, why, and how to say otherwise; empty if all can."""
    if design.possible.whole:
        return ""
    full = Possible.product(design.sizes, design.symmetric).count
    impossible = written_count(full - design.possible.count)
    lead = f"{impossible} of the {written_count(full)} combinations of levels cannot exist"
    if design.space.listed is not None:
        fresh = int((~contains(design.space.listed, design.cells)).sum())
        extra = (
            f"; {plural(fresh, 'cell')} of the table that it lacks {'counts' if fresh == 1 else 'count'} as possible"
            if fresh
            else ""
        )
        return f"{lead}: they are not in {design.space.listed_in}{extra}."
    inferred = [item for item in design.space.nesting if item.inferred]
    said = [item for item in design.space.nesting if not item.inferred]
    reasons = [f"{nesting_phrase(said)} (as was said)"] if said else []
    if inferred:
        reasons.append(f"{nesting_phrase(inferred)} (inferred from the rows; --crossed if they can)")
    return f"{lead}: {'; '.join(reasons)}."


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


def listing_sentence(listing: Listing) -> str:
    """Say which unseen cells are listed."""
    count = f"{len(listing.typical):,}"
    if listing.matter is not None:
        return f"{_listed_first(listing.matter)} {_drawn(listing, count)}"
    if listing.kind is ListingKind.TARGETS:
        return f"{plural(len(listing.typical), 'target cell is', 'target cells are')} listed."
    if listing.kind is ListingKind.ALL_UNSEEN:
        which = {0: "There is no unseen cell to list.", 1: "The one unseen cell is listed."}
        return which.get(len(listing.typical), f"All {count} unseen cells are listed.")
    return _drawn(listing, count)


def _drawn(listing: Listing, count: str) -> str:
    """Say how the ``count`` cells of a sample were drawn."""
    if listing.departures is not None:
        count = f"{count} unseen cells with at most {listing.departures} departures from the commonest levels"
        return f"{count}, drawn at random for each number of them, are listed; the product is too large to list."
    product = f"the product of {written_count(listing.product)} is too large to list"
    return f"{count} unseen cells, drawn at random, are listed; {product}."


def _listed_first(matter: int) -> str:
    """Say which of the ``matter`` unseen cells that matter are listed before a sample."""
    if matter > LISTING_LIMITS.max_sample:
        return (
            f"The {LISTING_LIMITS.max_sample:,} most important of {matter:,} unseen cells that matter are listed first."
        )
    several = f"The {matter:,} unseen cells that matter are listed first."
    return {0: "No unseen cell matters.", 1: "The one unseen cell that matters is listed first."}.get(matter, several)
