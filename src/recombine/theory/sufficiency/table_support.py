"""Does a table of seen points determine the others, under a rule that you know? Theorem 1 on the points themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, IntArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import distinct, every_cell
from recombine.checks import whole
from recombine.sample_checks import generator
from recombine.tables.table import Table
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.identification.judgement import Codes
from recombine.theory.sufficiency.component_grid import ComponentGrid
from recombine.theory.sufficiency.open_directions import (
    OpenDirections,
    SecondSolution,
    enough_cells,
    far_solutions,
    second_solution,
)
from recombine.theory.sufficiency.slot_values import Given, SlotValues, component_grids, seen_rows
from recombine.verdicts import Verdict
from recombine.writing import plural

#: Combinations that are asked about when none are given; of more, so many are drawn.
MAX_COMBINATIONS = 100_000
#: Combinations that the printed answer names.
MAX_NAMED_POINTS = 3


@record
class TableSupport:
    """Whether seen points determine others; see `table_support`.

    Attributes
    ----------
    rows : uint8 array, (N,)
        A `Verdict` for each row of the table.
    asked : Table
        The distinct points in question: coordinates, and the verdict in words.
    values : Table
        Every value of each slot: seen points with it, the rank of their Jacobians of this slot stacked, and how many
        unknown numbers it has. The paper's sufficient support asks for full rank at every value.
    second : SecondSolution or None
        Two sets of components that agree at all seen points and differ elsewhere: the proof of "disconnected".
    counterexample, unseen : str
        Where those two differ most, and the first value never seen, in words; empty where there is none.
    enough : Table
        Points in question that suffice, once seen, for all to follow.
    directions : int
        Directions of the components that seen points leave open and some point shows.
    """

    rows: Codes
    asked: Table
    values: Table
    second: SecondSolution | None
    counterexample: str
    unseen: str
    enough: Table
    directions: int
    seen: int
    notes: tuple[str, ...]

    @property
    def compositional(self) -> bool:
        """True if every value of the points in question was seen."""
        return not self.unseen

    @property
    def sufficient(self) -> bool:
        """True if the stacked Jacobians have full rank at every value: the paper's condition, without its paths."""
        return bool((self.values["rank"] == self.values["unknowns"]).all())

    @property
    def verdict(self) -> Verdict:
        """The worst that is said of a point in question: determined if all of them follow."""
        words = set(self.asked["verdict"].tolist())
        worst = (Verdict.UNSEEN_LEVEL, Verdict.DISCONNECTED, Verdict.UNDECIDED)
        return next((verdict for verdict in worst if verdict.word in words), Verdict.DETERMINED)

    @property
    def holds(self) -> bool:
        """True if all points in question follow from the seen ones."""
        return self.verdict is Verdict.DETERMINED

    def __str__(self) -> str:
        words = self.asked["verdict"]
        follow = int((words == Verdict.DETERMINED.word).sum())
        points = f"{follow:,} of {plural(len(words), 'point')}" if len(words) else "no point"
        verb = "follows" if follow == 1 and len(words) else "follow"
        lines = [
            f"{self.verdict.word}: {points} in question" + (f" {verb} from {self.seen:,} seen" if len(words) else "")
        ]
        lines.append("compositional: " + (f"no: {self.unseen} never seen" if self.unseen else "every value was seen"))
        lines.append("sufficient: " + self._ranks())
        if self.counterexample and self.second is not None:
            apart = f"{self.second.differences.max():.2g}" + " of the largest observation"
            lines.append("counterexample: other components fit" + f" all seen points, {apart}")
            lines[-1] += f" off at {self.counterexample}"
        if len(self.enough):
            texts = [", ".join(f"{name} = {_short(row[name])}" for name in row) for row in self.enough.rows()]
            more = f" and {len(texts) - MAX_NAMED_POINTS:,} more" if len(texts) > MAX_NAMED_POINTS else ""
            points = "; ".join(texts[:MAX_NAMED_POINTS])
            lines.append(f"would settle it: {plural(len(texts), 'more point')}: " + points + more)
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _ranks(self) -> str:
        short = self.values.where(self.values["rank"] < self.values["unknowns"])
        texts = [f"{row['value']}, rank {row['rank']}" + f" of {row['unknowns']}" for row in short.rows()]
        more = f"; {plural(len(texts) - 1, 'other value')}" + " short of rank" if len(texts) > 1 else ""
        return f"no: {texts[0]}{more}" if texts else "full rank" + f" at {len(self.values)} values"


def table_support(
    table: Any,
    slots: Mapping[str, Sequence[str]],
    composition: Composition | Function,
    *,
    seen: npt.ArrayLike | str | None = None,
    components: Given | Mapping[str, Given] = 1,
    reach: float | Mapping[str, float] | None = None,
    seed: int = 0,
) -> TableSupport:
    """Say whether the seen points of a table determine the others, where you know how slots compose.

    Parameters
    ----------
    table : dataframe or path
        A row for each point.
    slots : mapping of name to columns
        The columns that hold each slot's coordinates, in the order in which the composition takes the slots.
    composition : Composition or callable
        K arrays (..., M_k) -> (..., N); see `recombine.theory.compositions`.
    seen : bool array (N,) or name of a column, optional
        Which rows a model is trained on; the others are in question. By default all rows are seen, and every other
        combination of their values is in question.
    components : int, callable, or mapping of slot to these
        How many numbers each value contributes to the composition (M_k), or the function that gives them from the
        slot's coordinates, (P, D) -> (P, M_k). Of numbers alone the answer is for almost all components.
    reach : float or mapping of column to float, optional
        How far what is learned at a number holds, in units of its column: a column is cut into steps as long as it,
        each of which counts as one value. By default only equal values are the same.
    seed : int
        Of the components that are drawn.

    Returns
    -------
    TableSupport
        Print it; or see ``.verdict``, ``.asked``, ``.values``, ``.second`` and ``.enough``.

    Notes
    -----
    Nothing is assumed of components but that they are functions of their slot's value, so that no smoothness joins
    values that never meet; for smooth components, and for paths, ask `sufficient_support` of `supports.around`.
    "Disconnected" is proved by a second solution. "Determined" is exact to first order: no components *near* the true
    ones do otherwise. Of up to 60 unknown numbers a few fits from elsewhere also look for other branches, such as
    signs, and may miss some. Where draws of the components disagree, or no second solution was reached, it is
    "undecided".

    Examples
    --------
    Two lamps light a wall, at three settings each. Does the sum of what they do follow from four photographs?

    >>> import pandas as pd
    >>> from recombine.theory.compositions import add
    >>> photographs = pd.DataFrame({"left": [0, 0, 1, 2], "right": [0, 1, 1, 2]})
    >>> answer = table_support(photographs, {"left lamp": ["left"], "right lamp": ["right"]}, add())
    >>> answer.verdict.word, answer.compositional, answer.sufficient, answer.directions
    ('disconnected', True, True, 1)
    >>> answer.asked.only(verdict="determined")
    left  right  verdict
    1     0      determined
    >>> len(answer.enough), answer.second.agreement < 1e-12, answer.second.differences.max() > 0.01
    (1, True, np.True_)
    """
    rng = generator(whole(seed, "seed", 0))
    read = SlotValues.of(table, slots, reach)
    marks = seen_rows(table, seen, len(read.cells))
    cells = distinct(read.cells[marks])[0]
    wanted = _in_question(read, marks, cells, seen is None, rng)
    grids = component_grids(as_composition(composition), components, read, np.concatenate([cells, wanted]), rng)
    unknowns = [OpenDirections.of(grid, cells, rng) for grid in grids]
    others = _solutions(unknowns[0], cells, wanted, rng) if len(wanted) else []
    second = max(others, key=lambda pair: int(pair.proven.sum()), default=None)
    absent = _absent(cells, wanted, read.sizes)
    codes = _codes(unknowns, wanted, others, absent)
    picked, directions = enough_cells(unknowns[0], wanted, rng)
    picked = _telling(picked, others)
    words = np.array([verdict.word for verdict in Verdict])
    return TableSupport(
        _row_codes(read.cells, marks, wanted, codes),
        Table({**read.columns_of(wanted), "verdict": words[codes]}),
        _values(grids, read, cells),
        second,
        read.text(second.cell) if second is not None else "",
        next((read.value_text(slot, wanted[row, slot]) for row, slot in np.argwhere(absent)), ""),
        Table(read.columns_of(wanted[picked])),
        directions,
        len(cells),
        tuple(_notes(read, cells, seen is None, reach, len(grids) > 1)),
    )


def _in_question(
    read: SlotValues, marks: BoolArray, cells: IntArray, recombined: bool, rng: np.random.Generator
) -> IntArray:
    """Return the distinct unseen points, (Q, K): of the table, or all recombinations, or a draw of those."""
    if not recombined:
        points = read.cells[~marks]
    elif product_size(read.sizes) <= MAX_COMBINATIONS:
        points = every_cell(read.sizes)
    else:
        points = np.stack([rng.integers(size, size=MAX_COMBINATIONS) for size in read.sizes], axis=1)
    together, inverse = distinct(np.concatenate([cells, points]))
    return np.delete(together, inverse[: len(cells)], axis=0)


def _absent(cells: IntArray, wanted: IntArray, sizes: tuple[int, ...]) -> BoolArray:
    """Return which values of the points in question no seen point has, (Q, K)."""
    present = [np.bincount(cells[:, slot], minlength=size) > 0 for slot, size in enumerate(sizes)]
    return np.stack([~there[wanted[:, slot]] for slot, there in enumerate(present)], axis=1)


def _solutions(
    unknown: OpenDirections, cells: IntArray, wanted: IntArray, rng: np.random.Generator
) -> list[SecondSolution]:
    """Return other components that fit the seen points and change some that are in question."""
    near = second_solution(unknown, cells, wanted, rng)
    pairs = [] if near is None else [near]
    if (unknown.shown(wanted) <= unknown.zero).any():
        pairs += far_solutions(unknown, cells, wanted, rng)
    return [pair for pair in pairs if pair.proven.any()]


def _telling(picked: IntArray, others: Sequence[SecondSolution]) -> IntArray:
    """Return points that settle what small moves leave open, and one more for each solution that those do not tell."""
    for pair in others:
        if not pair.proven[picked].any():
            picked = np.append(picked, pair.differences.argmax())
    return picked


def _codes(
    unknowns: Sequence[OpenDirections], wanted: IntArray, others: Sequence[SecondSolution], absent: BoolArray
) -> Codes:
    closed = np.stack([unknown.shown(wanted) <= unknown.zero for unknown in unknowns])
    codes = np.full(len(wanted), Verdict.UNDECIDED, dtype=np.uint8)
    codes[closed.all(axis=0)] = Verdict.DETERMINED
    # What two solutions tell apart does not follow, were it closed to first order; draws have to agree.
    agree = closed.all(axis=0) | ~closed.any(axis=0)
    for pair in others:
        codes[pair.proven & agree] = Verdict.DISCONNECTED
    codes[absent.any(axis=1)] = Verdict.UNSEEN_LEVEL
    return codes


def _row_codes(cells: IntArray, marks: BoolArray, wanted: IntArray, codes: Codes) -> Codes:
    """Return the verdict of each row: that of its point; a row that repeats a seen point is seen."""
    together, inverse = distinct(np.concatenate([wanted, cells]))
    by_point = np.full(len(together), Verdict.SEEN, dtype=np.uint8)
    if not marks.all():
        by_point[inverse[: len(wanted)]] = codes
    return np.asarray(by_point[inverse[len(wanted) :]])


def _values(grids: Sequence[ComponentGrid], read: SlotValues, cells: IntArray) -> Table:
    """Return rank and anchors of every value: the least over draws and blocks."""
    rows = []
    for slot, size in enumerate(read.sizes):
        points = np.bincount(cells[:, slot], minlength=size).tolist()
        ranks = np.min([grid.stacked_ranks(slot, cells) for grid in grids], axis=0).tolist()
        unknowns = grids[0].components[slot].shape[-1]
        rows += [
            {"value": read.value_text(slot, value), "points": points[value], "rank": rank, "unknowns": unknowns}
            for value, rank in enumerate(ranks)
        ]
    return Table.from_rows(rows)


def _notes(read: SlotValues, cells: IntArray, recombined: bool, reach: object, drawn: bool) -> Iterator[str]:
    if recombined and product_size(read.sizes) > MAX_COMBINATIONS:
        yield f"{MAX_COMBINATIONS:,} combinations were drawn" + f" of {product_size(read.sizes):,}"
    if (
        reach is None
        and read.cells.shape[1] > 1
        and any(len(np.unique(column)) == len(column) > 1 for column in cells.T)
    ):
        yield "hardly any value repeats" + "; a reach joins some"
    if drawn:
        yield "for almost all components" + ", as none were given"


def _short(entry: Any) -> str:
    return f"{entry:.4g}" if isinstance(entry, float) else str(entry)
