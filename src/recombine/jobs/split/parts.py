"""Cells into training and the parts of a test, so that each part is what its name says; every verdict is verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.scaled import FactorShape
from recombine.cells.scales import Scale
from recombine.errors import InputError
from recombine.jobs.split.balance import draw_cells
from recombine.jobs.split.cuts import families, find_cut, levels_seen
from recombine.jobs.split.mix import TRAIN, UNUSED, Mix
from recombine.jobs.split.spanning import spanning_cells
from recombine.theory.identification.identify import Identification, identify
from recombine.verdicts import Verdict
from recombine.writing import plural

#: Where the levels of factors lie, given training cells (N, C); None for labels.
ScalesOf = Callable[[IntArray], tuple[Scale | None, ...]]
#: Plans that are made where something may be wasted, of which the one that misses fewest rows is kept.
MAX_PLANS = 6
#: How many times as many plans are made where none has come off yet.
TIMES_AS_MANY_PLANS = 3
#: Levels of all cells in all plans together, so that large tables get fewer.
MAX_LEVELS_PLANNED = 1_200_000
#: Cuts of one plan.
MAX_CUTS = 40
#: Draws of levels that are tried for each factor.
LEVEL_DRAWS = 8
#: Rounds in which cells that turn out not to be determined go back to training.
MAX_ROUNDS_BACK = 8


class _TooFewError(Exception):
    """How many rows of a part could be had, and why no more; ``exact`` if that is a proof."""

    def __init__(self, verdict: Verdict, had: int, why: str, exact: bool = False) -> None:
        super().__init__(why)
        self.verdict, self.had, self.why, self.exact = verdict, had, why, exact


@dataclass(frozen=True, eq=False)
class CellTable:
    """What is to be split."""

    features: Conjunctions  #: The model under which verdicts hold: levels of each factor, order, symmetric groups.
    cells: IntArray  #: (M, C): Distinct, levels of symmetric factors in order.
    rows: IntArray  #: (M,): rows of each cell.
    counts: FloatArray | None = None  #: (M, B): rows by outcome, which shall be alike in test and training.
    #: Place of the factor whose levels training shall lack, where a part has unseen levels; any by default.
    hidden: int | None = None
    #: Where levels on a line lie, by training cells. Knots change with these, so that no basis is looked for: cells are
    #: tried, and those that do not follow go back.
    scales: ScalesOf | None = None

    @property
    def curved(self) -> set[int]:
        """Places of the factors whose levels lie on a scale."""
        scales = () if self.scales is None else self.scales(self.cells)
        return {position for position, scale in enumerate(scales) if scale is not None}

    def draw(self, pool: IntArray, aim: int, assigned: IntArray, generator: np.random.Generator) -> IntArray:
        """Draw cells of the pool with ``aim`` rows, so that the test so far and they have outcomes as the table has."""
        if self.counts is None:
            return draw_cells(pool, self.rows, aim, generator)
        tested = self.counts[assigned >= 0].sum(axis=0)
        share = self.counts.sum(axis=0) / self.counts.sum()
        goal = np.maximum(share * (tested.sum() + aim) - tested, 0.0)
        return draw_cells(pool, self.rows, aim, generator, self.counts, goal)


def split_cells(table: CellTable, mix: Mix, seed: int = 0) -> IntArray:
    """Return the part of each cell (M,): a verdict of the mix (shares of all rows but `seen`), or TRAIN, or UNUSED.

    Cells of unseen levels go out first, then cuts (`recombine.jobs.split.cuts`), then cells outside a basis of what is
    left: these are determined by it. Taking a basis of the lightest cells, no split has more determined rows.

    Examples
    --------
    >>> table = CellTable(Conjunctions((4, 5)), np.indices((4, 5)).reshape(2, -1).T, np.full(20, 3))
    >>> codes = split_cells(table, {Verdict.DETERMINED: 0.3})
    >>> (codes == Verdict.DETERMINED).sum(), (codes == TRAIN).sum()
    (np.int64(6), np.int64(14))
    """
    rows, total = table.rows, int(table.rows.sum())
    aims = {verdict: max(round(share * total), 1) for verdict, share in mix.items()}
    lossy = bool({Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL} & set(mix))
    best: IntArray | None = None
    failed: list[_TooFewError] = []
    tries = int(np.clip(MAX_LEVELS_PLANNED // table.cells.size, 1, MAX_PLANS)) if lossy else 1
    for attempt in range(TIMES_AS_MANY_PLANS * tries):
        if best is not None and (attempt >= tries or not _missed(best, rows, aims)):
            break
        try:
            assigned = _plan(table, aims, np.random.default_rng([seed, attempt]), at_once=attempt % 2 == 0)
        except _TooFewError as reason:
            failed.append(reason)
            if reason.exact:
                break
            continue
        if best is None or _missed(assigned, rows, aims) < _missed(best, rows, aims):
            best = assigned
    if best is None:
        nearest = max(failed, key=lambda failure: failure.had / aims[failure.verdict])
        aim, beside = aims[nearest.verdict], " beside the other parts" if len(aims) > 1 else ""
        raise InputError(
            f"test part {nearest.verdict.word!r} asks for {plural(aim, 'row')} ({aim / total:.3g} of them), and "
            f"{'at most' if nearest.exact else 'as far as was found'} {nearest.had:,} ({nearest.had / total:.3g}) can "
            f"be had{beside}: {nearest.why}"
        )
    return best


def _missed(assigned: IntArray, rows: IntArray, aims: dict[Verdict, int]) -> int:
    """Rows that a plan leaves unused, and twice those by which its parts miss what was asked for."""
    off = [abs(int(rows[assigned == verdict].sum()) - aim) for verdict, aim in aims.items()]
    return int(rows[assigned == UNUSED].sum()) + 2 * sum(off)


def _plan(table: CellTable, aims: dict[Verdict, int], generator: np.random.Generator, *, at_once: bool) -> IntArray:
    assigned = np.full(len(table.cells), TRAIN)
    if (aim := aims.get(Verdict.UNSEEN_LEVEL)) is not None:
        leaving = _levels_out(table, aim, generator)
        assigned[leaving] = UNUSED
        assigned[_drawn(table, leaving, aim, assigned, Verdict.UNSEEN_LEVEL, generator)] = Verdict.UNSEEN_LEVEL
    if (aim := aims.get(Verdict.DISCONNECTED)) is not None:
        usable, remaining = _cuts_out(table, assigned == TRAIN, aim, generator, at_once)
        assigned[(assigned == TRAIN) & ~remaining] = UNUSED
        assigned[_drawn(table, usable, aim, assigned, Verdict.DISCONNECTED, generator)] = Verdict.DISCONNECTED
    if (aim := aims.get(Verdict.DETERMINED)) is not None:
        _hold_determined(table, assigned, aim, generator, alone=len(aims) == 1)
    return _verified(table, assigned)


def _drawn(
    table: CellTable, pool: IntArray, aim: int, assigned: IntArray, verdict: Verdict, generator: np.random.Generator
) -> IntArray:
    if not len(pool):
        raise _TooFewError(verdict, 0, "no cell can be it; ask for another part")
    chosen = table.draw(pool, aim, assigned, generator)
    had = int(table.rows[chosen].sum())
    if had > 2 * aim:
        raise _TooFewError(
            verdict, 0, f"the smallest cell for it has {plural(had, 'row')}, and cells stay whole; ask for more"
        )
    if len(chosen) == len(pool) and aim - had > table.rows[chosen].max():
        raise _TooFewError(verdict, had, "no more cells can be it at once; ask for less")
    return chosen


def _levels_out(table: CellTable, aim: int, generator: np.random.Generator) -> IntArray:
    """Return the places of the cells that go out with whole levels: as many rows as are asked for, or little more."""
    best, lowest, most_rows = None, np.inf, 0
    features, cells, rows = table.features, table.cells, table.rows
    # A level on a scale follows from those beside it, so none is hidden.
    hideable = [family for family in families(features) if not table.curved & set(family)]
    if table.hidden in table.curved or not hideable:
        raise _TooFewError(
            Verdict.UNSEEN_LEVEL,
            0,
            "levels on a scale follow from those beside them; name a factor of labels",
            exact=True,
        )
    for family in (candidate for candidate in hideable if table.hidden is None or table.hidden in candidate):
        weight = sum(np.bincount(cells[:, factor], rows, minlength=features.sizes[factor]) for factor in family)
        weight = np.asarray(weight, dtype=np.int64)
        levels = np.flatnonzero(weight)
        for _ in range(LEVEL_DRAWS if len(levels) > 2 else 0):
            order = generator.permutation(draw_cells(levels, weight, aim, generator))[: len(levels) - 2]
            others = np.setdiff1d(levels, order)
            more = others[np.argmin(weight[others])]
            for chosen in (order, np.append(order, more) if len(others) > 2 else order):
                leaving = np.isin(cells[:, list(family)], chosen).any(axis=1)
                had = int(rows[leaving].sum())
                most_rows = max(most_rows, had)
                short = had < aim and aim - had >= rows[leaving].min(initial=had + 1)
                cost = np.inf if short or not (~leaving).any() else abs(had - aim)
                if cost < lowest:
                    best, lowest = leaving, cost
    if best is None:
        raise _TooFewError(
            Verdict.UNSEEN_LEVEL,
            most_rows,
            "at least two levels of each factor stay in training; "
            + ("ask for less" if most_rows else "no factor has more here (a member of a set: with it and without)"),
            exact=not most_rows,
        )
    return np.flatnonzero(best)


def _cuts_out(
    table: CellTable, remaining: BoolArray, aim: int, generator: np.random.Generator, at_once: bool
) -> tuple[IntArray, BoolArray]:
    """Return the places of cells that cuts disconnect, all their levels seen, and which cells are left (M,)."""
    start, remaining = remaining.copy(), remaining.copy()
    usable = np.zeros(0, dtype=np.int64)
    for _ in range(MAX_CUTS):
        places = np.flatnonzero(remaining)
        missing = aim - int(table.rows[usable].sum())
        if len(usable) and missing < table.rows[usable].min():
            break
        cut = find_cut(table.features, table.cells[places], table.rows[places], missing, generator, at_once=at_once)
        if cut is None:
            break
        remaining[places[cut.out]] = False
        usable = np.flatnonzero(start & ~remaining & levels_seen(table.features, table.cells, remaining))
    if not len(usable):
        raise _TooFewError(
            Verdict.DISCONNECTED,
            0,
            "taking cells out of training leaves a level unseen before anything is disconnected; ask for 'unseen "
            "level' or 'determined' instead",
        )
    return usable, remaining


def _hold_determined(
    table: CellTable, assigned: IntArray, aim: int, generator: np.random.Generator, *, alone: bool
) -> None:
    """Mark cells that the rest of training determines, in place; ``alone`` if no other part has taken cells."""
    places = np.flatnonzero(assigned == TRAIN)
    cells, rows = table.cells[places], table.rows[places]
    seed = int(generator.integers(2**31))
    basis = None
    if table.scales is None:
        basis = spanning_cells(table.features, cells, generator.permutation(len(cells)), seed)
    if basis is None:
        return _tried(table, assigned, aim, generator)
    if rows.sum() - rows[basis].sum() < aim:
        basis = spanning_cells(table.features, cells, np.argsort(rows, kind="stable"), seed)
        assert basis is not None
    had = int(rows.sum() - rows[basis].sum())
    if aim - had >= rows[basis].min():
        raise _TooFewError(
            Verdict.DETERMINED,
            had,
            f"training has to keep a cell for each of {plural(len(basis), 'independent effect')}; ask for less",
            exact=alone,
        )
    pool = np.delete(places, basis)
    assigned[_drawn(table, pool, aim, assigned, Verdict.DETERMINED, generator)] = Verdict.DETERMINED
    return None


def _tried(table: CellTable, assigned: IntArray, aim: int, generator: np.random.Generator) -> None:
    """Mark cells as `_hold_determined` does where no basis can be found: what is not determined goes back."""
    tested, pool = assigned.copy(), np.flatnonzero(assigned == TRAIN)
    chosen = table.draw(pool, aim, tested, generator)
    for _ in range(MAX_ROUNDS_BACK):
        assigned[chosen] = Verdict.DETERMINED
        verdicts = part_verdicts(table, assigned, chosen)
        wrong = chosen[verdicts != Verdict.DETERMINED]
        assigned[chosen] = TRAIN
        if not len(wrong):
            break
        pool = np.setdiff1d(pool, wrong)
        correct = np.setdiff1d(chosen, wrong)
        lacking = aim - int(table.rows[correct].sum())
        chosen = np.concatenate([correct, draw_cells(np.setdiff1d(pool, correct), table.rows, lacking, generator)])
    else:
        had = int(table.rows[correct].sum())
        raise _TooFewError(Verdict.DETERMINED, had, f"no more was found in {MAX_ROUNDS_BACK} rounds; ask for less")
    if (had := int(table.rows[chosen].sum())) < aim - table.rows.max():
        raise _TooFewError(Verdict.DETERMINED, had, "no other cell follows from the rest; ask for less")
    assigned[chosen] = Verdict.DETERMINED


def part_verdicts(table: CellTable, assigned: IntArray, places: IntArray) -> IntArray:
    """Return the verdict of the cells at ``places`` (P,), given those that are assigned to training."""
    training = table.cells[assigned == TRAIN]
    scales = () if table.scales is None else table.scales(training)
    identified = identify_cells(table.features, training, scales=scales)
    return identified.verdicts_of(table.cells[places]).astype(np.int64)


def identify_cells(
    model: Conjunctions, training: IntArray, route: str | None = None, scales: tuple[Scale | None, ...] = ()
) -> Identification:
    """Return what training cells (N, C) determine under a model."""
    shape = FactorShape(sizes=model.sizes, symmetric=model.symmetric, scales=scales)
    return identify(training, order=model.order, route=route, **shape)


def _verified(table: CellTable, assigned: IntArray) -> IntArray:
    """Return the parts if the verdict of every test cell is its part, by the exact engine; else refuse them."""
    places = np.flatnonzero(assigned >= 0)
    wrong = places[part_verdicts(table, assigned, places) != assigned[places]] if len(places) else places
    if len(wrong):
        verdict = Verdict(int(assigned[wrong[0]]))
        had = int(table.rows[assigned == verdict].sum() - table.rows[wrong].sum())
        raise _TooFewError(
            verdict,
            max(had, 0),
            "arithmetic leaves some cells undecided; lower the order or merge levels"
            if table.scales is None
            else "levels on a scale follow from those beside them; ask for less, or take them as labels",
        )
    return assigned
