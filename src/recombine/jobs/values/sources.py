"""Which value a cell gets: the posterior of the variance components, or what the assumed structure says."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum, auto
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.brief import record
from recombine.cells.conjunctions import canonical
from recombine.jobs.listing import level_columns
from recombine.jobs.structure.held_out_ranges import NoRange, RangeOf, chances_unseen
from recombine.tables.table import Table
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.structure.choice import Choice
    from recombine.jobs.values.outcome_shares import OutcomeShares
    from recombine.theory.components.fit import ComponentsFit
    from recombine.theory.identification.additive_fit import AdditiveFit
    from recombine.theory.identification.identify import Identification

#: Cells whose values are computed at once.
BLOCK_CELLS = 4_096
#: Misses up to this share of the largest outcome are left by rounding.
MAX_ROUNDING_SHARE = 1e-8
#: Fewer degrees of freedom than this may be fitted exactly by chance: numbers have few digits.
MIN_EXACT_DEGREES = 3


class ValueSource(StrEnum):
    """Where the value of a cell comes from."""

    COMPONENTS = auto()  #: The posterior of the variance components, whatever the verdict.
    MEAN = auto()  #: The same where no component is beyond chance: the mean.
    STRUCTURE = auto()  #: What the structure says where that determines a cell, else the posterior.
    SUMS = auto()  #: What the structure says, and nothing elsewhere: too many cells to fit components to.


class RestsOn(StrEnum):
    """What a value rests on."""

    DATA = "data"  #: It follows from the seen cells under the structure.
    PRIOR = "prior"  #: For what the seen cells leave open, on how much levels usually differ.
    NEW_LEVEL = "new level"  #: A level was never seen: on the effects of the other factors.
    MEAN = "mean"  #: No component is beyond chance: on the mean of the seen cells.


def rests_on(codes: IntArray, features: Sequence[str] = ()) -> list[str]:
    """Return what values of cells with verdict ``codes`` (N,) rest on: of a new level, on its ``features`` if any.

    Examples
    --------
    >>> rests_on(np.array([Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL]))
    ['data', 'prior', 'new level']
    """
    bases = dict.fromkeys(Verdict, RestsOn.PRIOR) | {Verdict.UNSEEN_LEVEL: RestsOn.NEW_LEVEL}
    bases |= dict.fromkeys((Verdict.SEEN, Verdict.DETERMINED), RestsOn.DATA)
    texts = features or [""] * len(codes)
    return [text or bases[Verdict(code)].value for code, text in zip(codes.tolist(), texts, strict=True)]


def features_of(design: Design, cells: IntArray) -> list[str]:
    """Name the factors by whose descriptors the new levels of ``cells`` (N, C) are known; empty where there are none.

    A cell with a further new level that nothing describes has none either.
    """
    tables = design.reading.level_features
    if not tables:
        return []
    new, by_features = np.zeros((2, len(cells), len(design.names)), dtype=bool)
    for factor in range(len(design.names)):
        twins = list(design.space.twins(factor))
        new[:, factor] = ~np.isin(cells[:, factor], design.seen[:, twins])
        table = next((tables[design.names[twin]] for twin in twins if design.names[twin] in tables), None)
        if table is not None:
            described = np.asarray(np.isfinite(table.of(design.factors[factor].levels)).all(axis=1))
            by_features[:, factor] = new[:, factor] & described[cells[:, factor]]
    texts = []
    for row in by_features & (new == by_features).all(axis=1, keepdims=True):
        names = [design.names[factor] for factor in np.flatnonzero(row)]
        texts.append(f"features of {' and '.join(names)}" if names else "")
    return texts


@record
class PosteriorRanges:
    """What the ranges of the components rest on: misses (n,) of seen cells, each predicted from the others.

    Only cells that the others determine count: what is left open without them is missed by more.
    """

    misses: FloatArray = field(repr=False)
    chances: bool = False  #: Whether the outcome has two values and no cell is measured twice.
    #: Degrees of freedom about the sum of effects, where these are few and fitted exactly, so that noise does not show.
    freedom: int | None = None
    what = RangeOf.NEW_CELL

    @property
    def obstacle(self) -> NoRange | None:
        """Why no range can be given; None if one can."""
        few = None if self.freedom is None else NoRange.FEW_DEGREES
        return NoRange.CHANCES_UNSEEN if self.chances else few


def affordable_components(design: Design, listed: int) -> ComponentsFit | None:
    """Fit components to a design of whose cells ``listed`` are to get a value; None where that takes too long."""
    # What is behind it takes longer to import than to look at a small table.
    from recombine.jobs.values.cell_values import fit_affordable

    return fit_affordable(design, listed)


def carried_shares(components: ComponentsFit, design: Design) -> OutcomeShares | None:
    """Return what carries the outcome of a design; None where nothing is beyond chance."""
    from recombine.jobs.values.outcome_shares import outcome_shares

    return outcome_shares(components, design.names, design.seen, design.symmetric)


def choose_source(
    components: ComponentsFit | None,
    choice: Choice,
    design: Design,
    first: Identification,
    fit: AdditiveFit | None = None,
) -> ValueSource:
    """Choose where values come from; one rule for audits and estimators.

    Values are the posterior of the components, which hold every sum of effects of single factors and pairs. What the
    assumed structure says of the cells that it determines counts instead

    - where it is not a sum (a curve, a product, a link) and was named;
    - where it is not a sum, or a sum of larger interactions than the components have, was chosen, and the components
      miss more of the seen cells that were held out for that choice than it does;
    - where there are as many effects as seen cells, by what adding them determines (``first``): no cell checks another,
      so that nothing speaks for noise, nor for its size;
    - where levels lie on a scale, and the components miss more of the seen cells than the sum ``fit`` along the scale
      does, each predicted from the others. Levels between seen ones always have their value along the scale.

    Without components (there are too many cells) there is only the structure.
    """
    if components is None:
        return ValueSource.SUMS
    structure = choice.structure
    if (choice.asked and not structure.is_sum) or first.rank == len(design.seen):
        return ValueSource.STRUCTURE
    if misses_more(components, choice, design) or _misses_scales(components, design, fit):
        return ValueSource.STRUCTURE
    return ValueSource.COMPONENTS if components.terms else ValueSource.MEAN


def misses_more(components: ComponentsFit, choice: Choice, design: Design) -> bool:
    """Say whether components miss seen cells that are held out by more than a structure which they do not hold."""
    largest = max((len(term.factors) for term in components.terms), default=0)
    if (choice.structure.is_sum and choice.order <= max(largest, 1)) or not len(choice.places):
        return False
    observed = design.observed.seen_outcome[choice.places]
    alone = components.leave_one_out().mean[choice.places]
    return _gains((alone - observed) ** 2 - (choice.predicted - observed) ** 2)


def _misses_scales(components: ComponentsFit, design: Design, fit: AdditiveFit | None) -> bool:
    if fit is None or fit.leverage is None or not any(scale is not None for scale in design.scales):
        return False
    from recombine.theory.identification.additive_fit import leave_one_out

    observed = components.y
    predicted, determined = leave_one_out(fit, observed)
    gain = (components.leave_one_out().mean - observed) ** 2 - (predicted - observed) ** 2
    return bool(determined.any()) and _gains(gain[determined])


def between_seen(design: Design, cells: IntArray) -> BoolArray:
    """Say which of ``cells`` (N, C) have a level on a scale that was not seen itself, (N,)."""
    between = np.zeros(len(cells), dtype=bool)
    for factor, scale in enumerate(design.scales):
        if scale is not None:
            seen = design.seen[:, list(design.space.twins(factor))]
            between |= ~np.isin(cells[:, factor], seen)
    return between


def _gains(gain: FloatArray) -> bool:
    """Whether squared errors fall (n,), by more than the standard error of their mean."""
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def posterior_columns(
    components: ComponentsFit, design: Design, cells: IntArray, fit: AdditiveFit | None = None
) -> FloatArray:
    """Return value, its standard error and the ends of its 90 % range for ``cells`` (N, C) as rows (4, N).

    The range is for one more cell measured like the seen ones; the standard error is without their noise. Values of a
    two-valued outcome lie between its values; where its chances are not seen there is no range, and where few cells are
    fitted exactly no standard error either.
    """
    bounded, count = design.outcome_column.bounded, design.observed.typical_precision
    columns, cells = np.empty((4, len(cells))), canonical(cells, design.symmetric)
    for start in range(0, len(cells), BLOCK_CELLS):
        block = slice(start, start + BLOCK_CELLS)
        values = components.predict(cells[block], count)
        columns[:, block] = bounded(values.mean), values.error, bounded(values.low), bounded(values.high)
    if chances_unseen(design):
        columns[2:] = np.nan
    if exact_freedom(components, design, fit) is not None:
        columns[1:] = np.nan
    return columns


def posterior_ranges(components: ComponentsFit, design: Design, fit: AdditiveFit | None) -> PosteriorRanges:
    """Return what ranges rest on: misses of the seen cells that the others determine, as the sum ``fit`` has it."""
    misses = components.y - components.leave_one_out().mean
    if fit is not None and fit.leverage is not None and (others := fit.leverage < 1.0 - fit.alone).any():
        misses = misses[others]
    return PosteriorRanges(misses, chances_unseen(design), exact_freedom(components, design, fit))


def furthest_cells(components: ComponentsFit, design: Design, count: int) -> Table | None:
    """Return the seen cells that are furthest from what the others say, None where effects add on outcomes' scale."""
    from recombine.theory.components.fit import left_out_deviations
    from recombine.theory.components.scales import IDENTITY

    if components.scale is IDENTITY:
        return None
    deviations = left_out_deviations(components)
    furthest = np.argsort(-np.abs(np.round(deviations, 9)), kind="stable")[:count]
    predicted, observed = components.leave_one_out().mean[furthest], components.y[furthest]
    columns = {
        "rows": design.observed.rows[design.train][furthest],
        "observed": observed,
        "predicted": predicted,
        "difference": observed - predicted,
        "standard deviations": deviations[furthest],
    }
    return Table({**level_columns(design, design.seen[furthest], columns), **columns})


def exact_freedom(components: ComponentsFit, design: Design, fit: AdditiveFit | None) -> int | None:
    """Return the degrees of freedom of a fit that is exact but for rounding, where they are too few to trust it."""
    if fit is None or fit.rank is None or design.observed.replicates[1].any():
        return None
    freedom = len(design.seen) - fit.rank
    residual = float(np.abs(components.y - fit.fitted).max())
    exact = residual <= MAX_ROUNDING_SHARE * float(np.abs(components.y).max())
    return freedom if exact and 0 < freedom < MIN_EXACT_DEGREES else None
