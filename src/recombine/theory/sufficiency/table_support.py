"""Does a table of seen points determine the others, under a rule that you know? Theorem 1 on the points themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import distinct, every_cell
from recombine.checks import reals, whole
from recombine.errors import InputError
from recombine.sample_checks import call, generator
from recombine.tables.table import Table
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.identification.judgement import Codes
from recombine.theory.sufficiency.component_grid import ComponentGrid, rank_of
from recombine.theory.sufficiency.open_directions import OpenDirections, SecondSolution, enough_cells, second_solution
from recombine.theory.sufficiency.slot_values import SlotValues, seen_rows
from recombine.theory.supports.latents import as_text
from recombine.verdicts import Verdict
from recombine.writing import plural

#: Unknown numbers beyond which the equations are too many: ten seconds of one core each time they are solved.
MAX_UNKNOWNS = 1000
#: Combinations that are asked about when none are given; of more, so many are drawn.
MAX_COMBINATIONS = 100_000
#: How often components are drawn where none are given: what every draw says holds for almost all of them.
COMPONENT_DRAWS = 2
#: Seen points with a value whose Jacobians are stacked.
MAX_STACKED_POINTS = 256
#: Combinations that the printed answer names.
MAX_NAMED_POINTS = 3

#: How many numbers a component has, or the component itself: coordinates (P, D) -> (P, ..., M).
Known = int | Callable[[FloatArray], npt.ArrayLike]


@dataclass(frozen=True, eq=False)
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

    __repr__ = brief_repr

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
        lines.append("compositional: " + (f"no, {self.unseen} never seen" if self.unseen else "every value was seen"))
        lines.append("sufficient: " + self._ranks())
        if self.counterexample and self.second is not None:
            apart = f"{self.second.differences.max():.2g} of the largest" + f" observation off at {self.counterexample}"
            lines.append("counterexample: other components fit" + f" all seen points, {apart}")
        if len(self.enough):
            texts = [", ".join(f"{name} = {_short(row[name])}" for name in row) for row in self.enough.rows()]
            more = f" and {len(texts) - MAX_NAMED_POINTS:,} more" if len(texts) > MAX_NAMED_POINTS else ""
            points = "; ".join(texts[:MAX_NAMED_POINTS])
            lines.append(f"would settle it: {plural(len(texts), 'more point')}: " + points + more)
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _ranks(self) -> str:
        short = self.values.where(self.values["rank"] < self.values["unknowns"])
        if not len(short):
            return f"full rank at {len(self.values)} values"
        row = next(iter(short.rows()))
        return f"no, {row['value']}: rank {row['rank']} of {row['unknowns']}" + (
            f", and {plural(len(short) - 1, 'other')} short of full" if len(short) > 1 else ""
        )


def table_support(
    table: Any,
    slots: Mapping[str, Sequence[str]],
    composition: Composition | Function,
    *,
    seen: npt.ArrayLike | str | None = None,
    components: Known | Mapping[str, Known] = 1,
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
    "Determined" is exact to first order: no components *near* the true ones do otherwise. "Disconnected" is proved by
    a second solution. Where draws of the components disagree, or no second solution was reached, it is "undecided".

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
    rule, givens = as_composition(composition), _givens(components, read)
    cells = distinct(read.cells[marks])[0]
    wanted, notes = _in_question(read, marks, cells, seen is None, rng)
    drawn = any(not callable(given) for given in givens.values())
    grids = [_grid(rule, givens, read, rng) for _ in range(COMPONENT_DRAWS if drawn else 1)]
    _require_defined(grids, np.concatenate([cells, wanted]), drawn)
    unknowns = [OpenDirections.of(grid, cells, rng) for grid in grids]
    second = second_solution(unknowns[0], cells, wanted, rng) if len(wanted) else None
    codes = _codes(unknowns, wanted, second, _absent(cells, wanted, read.sizes))
    picked, directions = enough_cells(unknowns[0], wanted, rng)
    some = second is not None and bool(second.proven.any())
    missing = np.argwhere(_absent(cells, wanted, read.sizes))
    words = np.array([verdict.word for verdict in Verdict])
    return TableSupport(
        _row_codes(read.cells, marks, wanted, codes),
        Table({**read.columns_of(wanted), "verdict": words[codes]}),
        _values(grids, read, cells),
        second if some else None,
        read.text(second.cell) if some and second is not None else "",
        read.value_text(missing[0, 1], wanted[missing[0, 0], missing[0, 1]]) if len(missing) else "",
        Table(read.columns_of(wanted[picked])),
        directions,
        len(cells),
        (*notes, *_caveats(read, cells, reach, drawn)),
    )


def _givens(components: Known | Mapping[str, Known], read: SlotValues) -> dict[str, Known]:
    """Return what was said of each slot's component."""
    givens = components if isinstance(components, Mapping) else dict.fromkeys(read.values, components)
    if set(givens) != set(read.values):
        raise InputError(f"components name {sorted(givens)} and slots {sorted(read.values)}; give one for each slot")
    for slot, given in givens.items():
        if not callable(given):
            whole(given, f"component of slot {slot!r}")
    counts = [given if not callable(given) else 1 for given in givens.values()]
    total = sum(size * count for size, count in zip(read.sizes, counts, strict=True))
    if total > MAX_UNKNOWNS:
        pairs = ", ".join(f"{slot} {size:,}" for slot, size in zip(read.values, read.sizes, strict=True))
        raise InputError(
            f"the slots take too many values ({pairs}), {total:,} unknown numbers where {MAX_UNKNOWNS:,} can be "
            "handled; give a reach, or a longer one, within which values count as one"
        )
    return {slot: givens[slot] for slot in read.values}


def _grid(rule: Composition, givens: Mapping[str, Known], read: SlotValues, rng: np.random.Generator) -> ComponentGrid:
    parts = []
    for slot, size in zip(givens, read.sizes, strict=True):
        given = givens[slot]
        if callable(given):
            part = reals(
                call(given, f"the component of slot {slot!r}", read.coordinates(slot)), f"component of {slot!r}"
            )
            if part.ndim < 2 or len(part) != size:
                raise InputError(
                    f"the component of slot {slot!r} gave shape {part.shape} for {size} values; return one row for "
                    f"each: ({size}, M)"
                )
            parts.append(part)
        else:
            parts.append(rng.standard_normal((size, given)))
    return ComponentGrid.of(rule, parts)


def _require_defined(grids: Sequence[ComponentGrid], cells: IntArray, drawn: bool) -> None:
    """Refuse components at which the composition has no value."""
    for grid in grids:
        with np.errstate(all="ignore"):
            outputs = grid.outputs(cells).reshape(len(cells), -1)
        (beyond,) = np.nonzero(~np.isfinite(outputs).all(axis=1))
        if len(beyond):
            parts = ", ".join(as_text(part.reshape(-1)[:MAX_NAMED_POINTS]) for part in grid.parts(cells[beyond[:1]]))
            cure = (
                "; give components as functions whose values it takes, for random ones are of either sign"
                if drawn
                else ""
            )
            raise InputError(f"{grid.composition.name} gave no finite number for components {parts}{cure}")


def _in_question(
    read: SlotValues, marks: BoolArray, cells: IntArray, recombined: bool, rng: np.random.Generator
) -> tuple[IntArray, tuple[str, ...]]:
    """Return the distinct unseen points, (Q, K): of the table, or all recombinations, or a draw of those."""
    note: tuple[str, ...] = ()
    if not recombined:
        points = read.cells[~marks]
    elif product_size(read.sizes) <= MAX_COMBINATIONS:
        points = every_cell(read.sizes)
    else:
        points = np.stack([rng.integers(size, size=MAX_COMBINATIONS) for size in read.sizes], axis=1)
        note = (f"{MAX_COMBINATIONS:,} combinations were drawn" + f" of {product_size(read.sizes):,}",)
    if not len(points):
        return points, note
    points = distinct(points)[0]
    _, inverse = distinct(np.concatenate([cells, points]))
    return points[~np.isin(inverse[len(cells) :], inverse[: len(cells)])], note


def _absent(cells: IntArray, wanted: IntArray, sizes: tuple[int, ...]) -> BoolArray:
    """Return which values of the points in question no seen point has, (Q, K)."""
    present = [np.bincount(cells[:, slot], minlength=size) > 0 for slot, size in enumerate(sizes)]
    return np.stack([~there[wanted[:, slot]] for slot, there in enumerate(present)], axis=1)


def _codes(
    unknowns: Sequence[OpenDirections], wanted: IntArray, second: SecondSolution | None, absent: BoolArray
) -> Codes:
    codes = np.full(len(wanted), Verdict.UNDECIDED, dtype=np.uint8)
    far = [(unknown.shown(wanted), unknown) for unknown in unknowns]
    codes[np.all([shown <= unknown.zero for shown, unknown in far], axis=0)] = Verdict.DETERMINED
    if second is not None:
        # What two solutions tell apart does not follow, were it a branch that no small move reaches.
        varies = np.all([shown > unknown.zero for shown, unknown in far], axis=0) | (codes == Verdict.DETERMINED)
        codes[second.proven & varies] = Verdict.DISCONNECTED
    codes[absent.any(axis=1)] = Verdict.UNSEEN_LEVEL
    return codes


def _row_codes(cells: IntArray, marks: BoolArray, wanted: IntArray, codes: Codes) -> Codes:
    """Return the verdict of each row: that of its point; a row that repeats a seen point is seen."""
    rows = np.full(len(cells), Verdict.SEEN, dtype=np.uint8)
    if len(wanted) and not marks.all():
        _, inverse = distinct(np.concatenate([wanted, cells]))
        by_point = np.full(int(inverse.max()) + 1, Verdict.SEEN, dtype=np.uint8)
        by_point[inverse[: len(wanted)]] = codes
        rows = by_point[inverse[len(wanted) :]]
    return rows


def _values(grids: Sequence[ComponentGrid], read: SlotValues, cells: IntArray) -> Table:
    """Return rank and anchors of every value: the least over draws and blocks."""
    rows = []
    for slot, size in enumerate(read.sizes):
        order = np.argsort(cells[:, slot], kind="stable")
        groups = np.split(order, np.searchsorted(cells[order, slot], np.arange(1, size)))
        for value, group in enumerate(groups):
            anchors = cells[group[:: -(-len(group) // MAX_STACKED_POINTS) or 1]]
            ranks = [_stacked_rank(grid, slot, anchors) if len(anchors) else 0 for grid in grids]
            unknowns = grids[0].components[slot].shape[-1]
            text = read.value_text(slot, value)
            rows.append({"value": text, "points": len(group), "rank": min(ranks), "unknowns": unknowns})
    return Table.from_rows(rows)


def _stacked_rank(grid: ComponentGrid, slot: int, anchors: IntArray) -> int:
    jacobian = grid.composition.jacobian(slot, grid.parts(anchors))
    blocks = np.moveaxis(jacobian.reshape(len(anchors), -1, *jacobian.shape[-2:]), 1, 0)
    return min(rank_of(block.reshape(-1, block.shape[-1])) for block in blocks)


def _caveats(read: SlotValues, cells: IntArray, reach: object, drawn: bool) -> tuple[str, ...]:
    alone = any(len(np.unique(column)) == len(column) > 1 for column in cells.T)
    hint = "hardly any value repeats" + "; give a reach to join close ones"
    return ((hint,) if alone and reach is None else ()) + (
        ("for almost all components" + "; none were given",) if drawn else ()
    )


def _short(entry: Any) -> str:
    return f"{entry:.4g}" if isinstance(entry, float) else str(entry)
