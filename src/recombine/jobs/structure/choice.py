"""The structure that an audit assumes: the one that was asked for, or the simplest good one on held-out seen cells."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum, auto
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.checks import known_or_refuse
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification
from recombine.theory.structures.all_structures import STRUCTURES, simplest_first, sum_of
from recombine.theory.structures.ladder import Ladder, ladder
from recombine.theory.structures.structure import Structure, StructureData, StructureFit
from recombine.theory.structures.work import counted_work
from recombine.verdicts import Verdict

#: Cells of a product too large to list that are drawn to estimate how many a structure leaves open.
CELLS_DRAWN = 20_000


class NotCompared(StrEnum):
    """Why structures were not compared."""

    SCALES = auto()
    ORDER = auto()
    FEW_CELLS = auto()


@record
class Choice:
    """The structure that verdicts and values assume; make one with `choose_structure`."""

    structure: Structure
    ladder: Ladder | None = None  #: All structures that were scored on held-out seen cells; None where none was.
    #: The structure fitted to all seen cells, where it is not a sum on the outcome's own scale.
    fit: StructureFit | None = None
    #: Which seen cells were held out to score it, (H,), and their values, each from fits that did not see it.
    places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    predicted: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    asked: bool = False  #: Whether the user named it.
    order_asked: bool = False  #: Whether the user named its order.
    obstacle: str = ""  #: Why nothing was compared: a `NotCompared`, or what the ladder refused.
    untried: tuple[str, ...] = ()  #: Structures that might hold, but cells are too few or they take too long.

    @property
    def name(self) -> str:
        """The structure's name."""
        return self.structure.name

    @property
    def order(self) -> int:
        """Factors in its largest conjunctions: verdicts are decided at this order."""
        return self.structure.order

    @property
    def assumption(self) -> str:
        """What verdicts assume, as a condition.

        Examples
        --------
        >>> Choice(sum_of(1)).assumption, Choice(sum_of(4)).assumption
        ('effects add', 'effects add up to interactions of 4 factors')
        """
        return self.structure.assumption


def choose_structure(
    design: Design,
    structure: str = "auto",
    order: int | None = None,
    *,
    variance: FloatArray | None = None,
    seed: int = 0,
) -> Choice:
    """Choose what an audit of ``design`` assumes.

    Parameters
    ----------
    design : Design
    structure : str
        A name, or ``auto``: the structures that the data can carry are scored on held-out seen cells, and the simplest
        within one standard error of the best is chosen.
    order : int, optional
        Only structures with conjunctions of so many factors.
    variance : float array of shape (N,), optional
        Of the noise of each seen cell's outcome, where it is known.
    seed : int

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> choose_structure(Design.from_cells(cells, outcome=np.tanh(cells.sum(axis=1) / 3 - 2.5))).name
    'link'
    >>> choose_structure(Design.from_cells(cells)).name
    'add'
    """
    known_or_refuse(structure, "structure", ("auto", *STRUCTURES.names))
    asked = structure != "auto"
    assumed = _assumed(design, structure, order)
    if design.outcome is None:
        if asked and assumed.needs_outcome:
            raise InputError(f"structure {structure} needs an outcome; name its column with --outcome")
        return Choice(assumed, asked=asked)
    if any(scale is not None for scale in design.scales):
        if asked and not assumed.is_sum:
            raise InputError(f"structure {structure} takes labels, not ordered or numeric factors; ask for a sum: add")
        return Choice(assumed, asked=asked, obstacle=NotCompared.SCALES)
    tried = [assumed] if asked else [entry for entry in simplest_first() if order in (None, entry.order)]
    if not tried:
        return Choice(assumed, obstacle=NotCompared.ORDER)
    if len(design.seen) < STRUCTURE_LIMITS.min_cells_compared and assumed.is_sum:
        return Choice(assumed, asked=asked, obstacle=NotCompared.FEW_CELLS)
    return _compared(design, tried, assumed, asked, variance, seed)


def _assumed(design: Design, structure: str, order: int | None) -> Structure:
    """Return the structure that was asked for, or the sum that is assumed where nothing can be compared."""
    factors = len(design.factors)
    if order is not None and not isinstance(order, int | np.integer):
        raise InputError(f"order {order!r} is not a whole number; give 1, 2 or 3")
    if structure == "auto":
        depth = 1 if order is None else int(order)
        if not 1 <= depth <= factors:
            raise InputError(f"order {depth} does not fit {factors} factors; choose 1 to {factors}")
        return sum_of(depth)
    entry = STRUCTURES[structure]
    if order not in (None, entry.order):
        raise InputError(f"structure {structure} is of order {entry.order}, not {order}; leave one of the two out")
    if entry.order > factors:
        raise InputError(f"structure {structure} takes {entry.order} factors and there are {factors}")
    return entry


def _compared(
    design: Design, tried: list[Structure], assumed: Structure, asked: bool, variance: FloatArray | None, seed: int
) -> Choice:
    """Score the structures, on part of the cells where there are very many, and fit the chosen one to all."""
    # Structures are compared on chances where an outcome has two values, else on the outcome as it is.
    low, high = design.outcome_column.two_values or (0.0, 1.0)
    width, outcome = high - low, design.observed.seen_outcome
    data = StructureData(
        design.seen,
        (outcome - low) / width,
        counts=design.precision[design.train],
        symmetric=design.symmetric,
        sizes=tuple(design.sizes),
        two_values=design.outcome_column.two_values,
    )
    places, limit = np.arange(len(outcome)), STRUCTURE_LIMITS.max_cells_compared
    if len(places) > limit:
        places = np.sort(np.random.default_rng(seed).permutation(places)[:limit])
    noise = None if variance is None else variance[places] / width**2
    with counted_work() as looking:
        names = [entry.name for entry in tried if asked or entry.affordable(data)]
    seconds = float("inf") if asked else STRUCTURE_LIMITS.max_seconds_compared
    try:
        with counted_work(1e9 * seconds - looking.spent):
            rungs = _scored(data.rows(places), names, noise, seed)
        chosen, fit = rungs.chosen.structure, None
        if not chosen.is_sum:
            fit = rungs.fit if len(places) == len(outcome) else chosen.fit(data)
    except InputError as error:
        if asked and not assumed.is_sum:
            raise _misfit(assumed, error) from None
        return Choice(assumed, asked=asked, obstacle=str(error).partition(";")[0])
    if fit is not None and (low, width) != (0.0, 1.0):
        fit = chosen.rescaled(fit, data, low, width)
    scored = np.flatnonzero(np.isfinite(rungs.predicted))
    predicted = low + width * rungs.predicted[scored]
    costly = [] if asked else [entry for entry in tried if entry.costly and entry.order < len(design.factors)]
    told = {*rungs.too_long, *rungs.nothing_over}
    untried = tuple(entry.name for entry in costly if rungs.at(entry) is None and entry.name not in told)
    return Choice(chosen, rungs, fit, places[scored], predicted, asked, untried=untried)


def _misfit(asked: Structure, error: InputError) -> InputError:
    """Return the error of a structure that was asked for and does not fit, with a cure where it names none."""
    return InputError(
        f"structure {asked.name} does not fit this table: {error}"
        f"{'' if ';' in str(error) else '; name another --structure, such as add, or leave it out'}"
    )


def _scored(data: StructureData, names: list[str], noise: FloatArray | None, seed: int) -> Ladder:
    """Score the structures of these names on held-out cells."""
    settings: dict[str, Any] = {"counts": data.counts, "symmetric": data.symmetric, "structures": names, "seed": seed}
    return ladder(data.cells, data.y, variance=noise, **settings)


def verdicts_under(choice: Choice, engine: Identification, cells: IntArray) -> IntArray:
    """Return the verdict codes of ``cells`` (N, C) under the chosen structure, (N,).

    Examples
    --------
    >>> from recombine.theory.identification.identify import identify
    >>> seen = np.array([[0, 0], [0, 1], [1, 0]])
    >>> verdicts_under(Choice(sum_of(1)), identify(seen), np.array([[1, 1]])).tolist()
    [1]
    """
    codes = engine.verdicts_of(cells).astype(np.int64)
    return codes if choice.fit is None else choice.fit.judge(cells, codes)


def counts_under(
    choice: Choice, engine: Identification, design: Design, listed: IntArray, complete: bool, seed: int
) -> Counts:
    """Return verdict counts over all cells that can exist; ``listed`` (T, C) are unseen ones, all if ``complete``.

    Where they are not all, how many determined cells the structure's scale leaves open is estimated from cells drawn at
    random; if none of these is determined, from the listed ones.
    """
    counts = engine.count_verdicts(seed)
    if choice.fit is None or not choice.fit.leaves_open or not counts[Verdict.DETERMINED]:
        return counts
    if complete:
        codes = verdicts_under(choice, engine, listed)
        unseen = {verdict: int((codes == verdict).sum()) for verdict in Verdict if verdict is not Verdict.SEEN}
        by_verdict = counts.by_verdict | unseen
        return Counts(by_verdict, counts.total, True, 0, by_verdict, by_verdict)
    for cells in (design.possible.draw(CELLS_DRAWN, np.random.default_rng(seed)), listed):
        determined = cells[engine.verdicts_of(cells) == Verdict.DETERMINED]
        if len(determined):
            return _shared_out(counts, verdicts_under(choice, engine, determined))
    return counts


def _shared_out(counts: Counts, codes: IntArray) -> Counts:
    """Split the determined cells by the verdicts of those drawn (n,) under the structure, with its 95 % interval."""
    drawn, determined = len(codes), counts[Verdict.DETERMINED]
    opened = Verdict.BEYOND if (codes == Verdict.BEYOND).any() else Verdict.DISCONNECTED
    share = float((codes != Verdict.DETERMINED).mean())
    # Agresti and Coull's interval, which is not empty where none or all were drawn.
    near = (share * drawn + 2) / (drawn + 4)
    reach = 1.96 * float(np.sqrt(near * (1 - near) / (drawn + 4)))
    ends = (share, max(near - reach, 0.0), min(near + reach, 1.0))
    estimates = [
        counts.by_verdict
        | {
            opened: counts[opened] + round(determined * gained),
            Verdict.DETERMINED: determined - round(determined * lost),
        }
        for gained, lost in zip(ends, (share, ends[2], ends[1]), strict=True)
    ]
    return Counts(estimates[0], counts.total, False, drawn, estimates[1], estimates[2])
