"""Drawn outcomes under structures beyond adding, and what all models of a structure that give them agree on.

Every oracle is derived from what docs/structures.md says that effects do. Models of a structure are written out, so
that an open cell is shown by two of them that agree on all seen cells, and a determined one by many that agree there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from exact import Echelon, Reduced, in_cone
from oracles import Judged, add_up, two_models
from worlds import Cell, World

import recombine as rc
from recombine.errors import InputError, SolverError
from recombine.jobs.structure import Choice, verdicts_under
from recombine.theory.structures import STRUCTURES, StructureData, StructureFit, monotone_bounds
from recombine.verdicts import Verdict

#: Levels by factor and number: what a model has a number for.
Numbers = dict[object, Fraction]


@dataclass(frozen=True)
class Outcomes:
    """Seen cells in the order drawn, their outcomes, and the world of all cells; labels are digits."""

    world: World
    cells: tuple[Cell, ...]
    y: tuple[Fraction, ...]

    @property
    def codes(self) -> np.ndarray:
        return np.array([[int(label) for label in cell] for cell in self.cells])

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.world.levels.values()))


def draw_cells(draw: Random, order: int = 1, largest: int = 4) -> tuple[World, tuple[Cell, ...]]:
    """Seen cells of a product: one, few, half, most or all of them; levels may lack, factors may have one level."""
    factors = max(order, draw.choice([2, 3, 3, 3, 4]))
    sizes = [draw.choice([1, *range(2, largest + 1), *range(2, largest + 1)]) for _ in range(factors)]
    while np.prod(sizes) > 130:
        sizes[draw.randrange(factors)] = 2
    cells = list(itertools.product(*(map(str, range(size)) for size in sizes)))
    share = draw.choice([0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0])
    seen = [cell for cell in cells if draw.random() < share] or [draw.choice(cells)]
    draw.shuffle(seen)
    levels = {str(factor): list(map(str, range(size))) for factor, size in enumerate(sizes)}
    return World(levels, frozenset(seen), tuple(cells), order), tuple(seen)


def judge_verdicts(
    judged: Judged, drawn: Outcomes, structure: str, wanted: Mapping[Cell, str], audited: bool
) -> StructureFit | None:
    """Compare the verdicts of all cells under a structure, from its own fit or by a whole audit; return the fit."""
    every = np.array([[int(label) for label in cell] for cell in drawn.world.possible])
    y = np.array([float(value) for value in drawn.y])
    try:
        if audited:
            design = rc.Design.from_cells(drawn.codes, outcome=y, sizes=drawn.sizes)
            decided = rc.audit(design, structure=structure).decided
            choice, codes = decided.choice, decided.verdicts_of(every)
            counts = {verdict.word: count for verdict, count in decided.counts.by_verdict.items() if count}
            judged.checks["whole audits"] += 1
        else:
            entry, data = STRUCTURES[structure], StructureData(drawn.codes, y, sizes=drawn.sizes)
            choice = Choice(entry, fit=None if entry.is_sum else entry.fit(data))
            engine = rc.identify(drawn.codes, order=entry.order, sizes=drawn.sizes)
            codes, counts = verdicts_under(choice, engine, every), {}
    except (InputError, SolverError):  # too few cells or outcomes to fit or to hold out: no verdict is given
        judged.checks["refused"] += 1
        return None
    words = [Verdict(code).word for code in codes]
    judged.compare_verdicts(dict(zip(drawn.world.possible, words, strict=True)), wanted)
    if audited:
        judged.compare("counts", counts, {word: words.count(word) for word in counts})
    return choice.fit


def judge_sums(kind: str, draw: Random) -> Judged:
    """Pairs and triples: conjunctions of two and three factors, with certificates and second models."""
    structure = draw.choice(["pairs", "pairs", "triples"]) if kind == "pairs" else "add"
    order, judged = {"add": 1, "pairs": 2, "triples": 3}[structure], Judged(kind)
    world, cells = draw_cells(draw, order)
    drawn = Outcomes(world, cells, tuple(Fraction(draw.randint(-9, 9)) for _ in cells))
    wanted = world.verdicts()
    judge_verdicts(judged, drawn, structure, wanted, audited=draw.random() < 0.3)
    two_models(judged, world, [cell for cell in wanted if wanted[cell] in ("disconnected", "unseen level")])
    _certify(judged, drawn, wanted)
    return judged


def _certify(judged: Judged, drawn: Outcomes, wanted: Mapping[Cell, str], limit: int = 2) -> None:
    """Add up the certificates of a few determined cells."""
    engine = rc.identify(drawn.codes, order=drawn.world.order, sizes=drawn.sizes)
    for cell in [cell for cell in wanted if wanted[cell] == "determined"][:limit]:
        certificate = engine.certificate_of(tuple(map(int, cell)))
        seen = [tuple(map(str, row)) for row in certificate.cells.tolist()]
        add_up(judged, drawn.world, cell, dict(zip(seen, certificate.weights, strict=True)))


def judge_log(kind: str, draw: Random) -> Judged:
    """Positive outcomes, effects that add on their logarithm: a level's number is positive, and numbers multiply."""
    judged = Judged(kind)
    world, cells = draw_cells(draw)
    numbers = {entry: Fraction(draw.choice([1, 2, 3, 5]), draw.choice([1, 2, 3])) for entry in _levels(world)}
    drawn = Outcomes(world, cells, tuple(_value(numbers, cell) for cell in cells))
    wanted = world.verdicts()
    judge_verdicts(judged, drawn, "log", wanted, audited=draw.random() < 0.2)
    span = Echelon(map(world.features, cells))
    for cell in list(wanted)[:: max(1, len(wanted) // 4)]:
        rescaled = _rescaled(draw, numbers, span, world.features(cell))
        _agree(judged, cells, numbers, rescaled)
        same = _value(rescaled, cell) == _value(numbers, cell)
        judged.compare(f"{cell}, another model", same, wanted[cell] in ("seen", "determined"))
    _certify(judged, drawn, wanted)
    return judged


def _levels(world: World) -> list[object]:
    """The columns of a world of order 1, named as its features are."""
    factors = enumerate(world.levels.values())
    return [((factor, label),) for factor, labels in factors for label in labels]


def _value(numbers: Mapping[object, Fraction], cell: Cell) -> Fraction:
    value = Fraction(1)
    for entry in enumerate(cell):
        value *= numbers[entry,]
    return value


def _agree(judged: Judged, cells: Sequence[Cell], model: Numbers, rival: Numbers) -> None:
    judged.checks["two models"] += 1
    same = all(_value(model, cell) == _value(rival, cell) for cell in cells)
    judged.compare("models at seen cells agree", same, True)


def _rescaled(draw: Random, numbers: Numbers, span: Echelon, row: Mapping[object, int]) -> Numbers:
    """Another model with the same products at seen cells: one that shows the row to be open, if any does."""
    residual = span.residual(row)
    free = list(residual) or [column for column in numbers if column not in span.pivots]
    vector = span.null_vector(draw.choice(free)) if free else {}
    exponents = {column: int(value * _denominator(vector)) for column, value in vector.items()}
    return {column: number * Fraction(2) ** exponents.get(column, 0) for column, number in numbers.items()}


def _denominator(vector: Reduced) -> int:
    return int(np.lcm.reduce([Fraction(value).denominator for value in vector.values()] or [1]))


def judge_products(kind: str, draw: Random) -> Judged:
    """One number of either sign per level, which may be zero, and products: signs and zeros leave cells open."""
    judged = Judged(kind)
    world, cells = draw_cells(draw)
    if kind == "signs":
        world, cells = _of_even_signs(draw)
    choices = [Fraction(number) for number in draw.choice([(1, 2, 3), (1, -1, 2, -3), (1, -2, 0), (0, 1, -1, 2, 3)])]
    numbers = {entry: draw.choice(choices) for entry in _levels(world)}
    y = [_value(numbers, cell) for cell in cells]
    noisy = draw.random() < 0.1  # zeros that no numbers need give
    if noisy:
        y = [Fraction(0) if draw.random() < 0.2 else value for value in y]
    drawn = Outcomes(world, cells, tuple(y))
    oracle = ProductOracle(world, dict(zip(cells, y, strict=True)))
    wanted = {cell: oracle.verdict(cell, verdict) for cell, verdict in world.verdicts().items()}
    judge_verdicts(judged, drawn, "multiplicative", wanted, audited=draw.random() < 0.25)
    if oracle.consistent and not noisy:
        for cell in wanted:
            _show_products(judged, draw, oracle, numbers, cell, wanted[cell])
    return judged


def _of_even_signs(draw: Random) -> tuple[World, tuple[Cell, ...]]:
    """Seen cells with an even number of marked levels: changing the sign of all marked ones changes no seen product."""
    factors = draw.choice([3, 3, 4])
    sizes = [draw.randint(2, 4 if factors == 3 else 3) for _ in range(factors)]
    levels = {str(factor): list(map(str, range(size))) for factor, size in enumerate(sizes)}
    marked = {(int(factor), label) for factor in levels for label in levels[factor] if draw.random() < 0.5}
    cells = list(itertools.product(*levels.values()))
    even = [cell for cell in cells if len(marked.intersection(enumerate(cell))) % 2 == 0] or cells
    share = draw.choice([0.5, 0.7, 0.9, 1.0])
    seen = [cell for cell in even if draw.random() < share] or even[:1]
    draw.shuffle(seen)
    return World(levels, frozenset(seen), tuple(cells), 1), tuple(seen)


class ProductOracle:
    """What numbers of either sign, or zero, can do at cells without changing the products of seen ones.

    A level of a seen product that is not zero is not zero. Every seen zero has a level, among those that may be zero,
    that is; otherwise any of these may be. Levels that may not be zero change by factors that seen products hide:
    sizes by directions in which logarithms move, signs by the same modulo 2.
    """

    def __init__(self, world: World, seen: Mapping[Cell, Fraction]) -> None:
        self.world, self.seen = world, seen
        alive = [cell for cell in seen if seen[cell]]
        self.nonzero = {entry for cell in alive for entry in enumerate(cell)}
        self.suspects = [set(enumerate(cell)) - self.nonzero for cell in seen if not seen[cell]]
        self.consistent = all(self.suspects)
        if not self.consistent:  # no numbers give these zeros: they are small, not zero
            alive, self.suspects = list(seen), []
            self.nonzero = {entry for cell in alive for entry in enumerate(cell)}
        self.sizes = Echelon(map(world.features, alive))
        self.signs = Echelon(map(world.features, alive), modulus=2)

    def vanishes(self, cell: Cell) -> bool:
        return any(levels <= set(enumerate(cell)) for levels in self.suspects)

    def follows(self, cell: Cell) -> bool:
        """Say whether all models that give the seen products give the same one here."""
        if self.vanishes(cell):
            return True
        features = self.world.features(cell)
        return self.nonzero.issuperset(enumerate(cell)) and features in self.sizes and features in self.signs

    def verdict(self, cell: Cell, linear: str) -> str:
        """The verdict: a cell has to follow as sums do, too, so that a zero alone determines none."""
        return "disconnected" if linear == "determined" and not self.follows(cell) else linear

    def model(self, draw: Random, numbers: Numbers, cell: Cell, alive: bool) -> Numbers:
        """Another model of the seen products, by drawn changes; where ``alive``, the cell is not zero if it can be."""
        changed, inside = dict(numbers), set(enumerate(cell))
        unsure = {entry for (entry,) in changed if entry not in self.nonzero}  # type: ignore[misc]
        zeros = {entry for entry in sorted(unsure) if (entry not in inside if alive else draw.random() < 0.5)}
        for levels in self.suspects:
            if not levels & zeros:
                zeros.add(draw.choice(sorted(levels)))
        for entry in sorted(unsure):
            changed[entry,] = Fraction(0) if entry in zeros else Fraction(draw.choice([1, -2, 3]))
        for span, base in ((self.sizes, Fraction(2)), (self.signs, Fraction(-1))):
            residual = span.residual(self.world.features(cell))
            free = list(residual) or [column for column in changed if column not in span.pivots]
            vector = span.null_vector(draw.choice(free)) if free else {}
            scale = 1 if span.modulus else _denominator(vector)
            for column, value in vector.items():
                changed[column] *= base ** int(value * scale)
        return changed


def _show_products(
    judged: Judged, draw: Random, oracle: ProductOracle, numbers: Numbers, cell: Cell, verdict: str
) -> None:
    """Make models of the seen products: all agree on a cell that is determined, and two differ on one that is open."""
    models = [numbers, *(oracle.model(draw, numbers, cell, alive) for alive in (True, False, True))]
    for model in models[1:]:
        _agree(judged, list(oracle.seen), numbers, model)
    values = {_value(model, cell) for model in models}
    if verdict in ("seen", "determined"):
        judged.compare(f"{cell}, values of models", len(values), 1)
    else:  # a zero that is sure to be one is open by its sum alone
        judged.compare(f"{cell}, models differ", len(values) > 1, not oracle.vanishes(cell))


def judge_likelihood(kind: str, draw: Random) -> Judged:
    """Counts with zeros (log) and chances at their ends (logit): where sums go as the likelihood tends to its supremum.

    A direction of effects loses no likelihood if it moves no outcome between the ends, and none at an end away from
    it. Cells that no such direction moves are the face; sums of the others go to the end. A sum follows if it is one
    of the face, and goes to an end if it is that plus a sum of moving ones with weights that are not negative.
    """
    judged, structure = Judged(kind), "log" if kind == "counts" else "logit"
    world, cells = draw_cells(draw, largest=3)
    values = (0, 0, 1, 3) if kind == "counts" else draw.choice([(0, 1), (0, Fraction(1, 2), 1)])
    y = [Fraction(draw.choice(values)) for _ in cells]
    if kind == "counts" and all(y):
        y[0] = Fraction(0)
    drawn = Outcomes(world, cells, tuple(y))
    limits = LimitOracle(world, drawn, ends=(0,) if kind == "counts" else (0, 1))
    wanted, ends = {}, {}
    for cell, verdict in world.verdicts().items():
        ends[cell] = limits.limit(cell)
        wanted[cell] = "disconnected" if verdict == "determined" and ends[cell] == "open" else verdict
    fit = judge_verdicts(judged, drawn, structure, wanted, audited=draw.random() < 0.1)
    if fit is not None:
        names = {"finite": "", "down": "determined at zero", "up": "determined at one", "open": "not determined"}
        names |= {"up": "determined at infinity"} if kind == "counts" else {}
        for cell in [cell for cell in wanted if wanted[cell] == "determined"]:
            judged.checks["limits"] += 1
            judged.compare(f"limit of {cell}", fit.limit_of(np.array(list(map(int, cell)))), names[ends[cell]])
    return judged


class LimitOracle:
    """Where sums of effects go, by cones of fractions; see `judge_likelihood`."""

    def __init__(self, world: World, drawn: Outcomes, ends: tuple[int, ...]) -> None:
        self.world = world
        inner = [world.features(cell) for cell, y in zip(drawn.cells, drawn.y, strict=True) if y not in ends]
        # Rows of outcomes at an end, turned so that they may go down and not up.
        edge = [
            {column: (-1 if y == 1 and 1 in ends else 1) * count for column, count in world.features(cell).items()}
            for cell, y in zip(drawn.cells, drawn.y, strict=True)
            if y in ends
        ]
        tied = Echelon(inner)
        reduced = [tied.residual(row) for row in edge]
        stays = [in_cone(reduced, {column: -value for column, value in row.items()}) for row in reduced]
        self.face = Echelon([*inner, *(row for row, still in zip(edge, stays, strict=True) if still)])
        self.moving = [self.face.residual(row) for row, still in zip(edge, stays, strict=True) if not still]

    def limit(self, cell: Cell) -> str:
        residual = self.face.residual(self.world.features(cell))
        if not residual:
            return "finite"
        if in_cone(self.moving, residual):
            return "down"
        return "up" if in_cone(self.moving, {column: -value for column, value in residual.items()}) else "open"


#: Share of the range of seen sums within which a sum is too near its end to be called inside or beyond.
NEAR_END = 1e-7


def judge_link(kind: str, draw: Random) -> Judged:
    """Sums under a curve: determined as sums are, and beyond the seen range where the fitted sum lies outside it.

    Hidden sums of seen cells are the fit's; those of other cells follow from them by least squares on columns of our
    own, exactly where they are determined.
    """
    judged, order = Judged(kind), 2 if kind == "link-pairs" else 1
    world, cells = draw_cells(draw, order, largest=5)
    effects = {entry: draw.gauss(0, 1) for entry in {e for cell in world.possible for e in world.features(cell)}}
    bend: Callable[[float], float] = draw.choice([np.tanh, np.exp, lambda value: value**3, lambda value: value])
    y = [Fraction(float(bend(sum(effects[entry] for entry in world.features(cell))))) for cell in cells]
    drawn, wanted = Outcomes(world, cells, tuple(y)), world.verdicts()
    try:
        fit = STRUCTURES[kind].fit(StructureData(drawn.codes, np.array([float(v) for v in y]), sizes=drawn.sizes))
    except (InputError, SolverError):  # outcomes that differ too little, or by too much, for a curve
        judged.checks["refused"] += 1
        return judged
    sums = np.asarray(fit.latent(drawn.codes))
    hidden, (low, high) = _hidden(world, cells, sums, wanted), (float(sums.min()), float(sums.max()))
    every = np.array([list(map(int, cell)) for cell in world.possible])
    codes = verdicts_under(
        Choice(STRUCTURES[kind], fit=fit), rc.identify(drawn.codes, order=order, sizes=drawn.sizes), every
    )
    given = {cell: Verdict(code).word for cell, code in zip(world.possible, codes, strict=True)}
    for cell, total in hidden.items():
        outside = max(low - total, total - high)
        if abs(outside) <= NEAR_END * (high - low):
            judged.checks["too near the end"] += 1
            wanted[cell] = given[cell] if given[cell] in ("determined", "beyond the seen range") else wanted[cell]
        elif outside > 0:
            wanted[cell] = "beyond the seen range"
    judged.compare_verdicts(given, wanted)
    rising = np.asarray(fit.predict(drawn.codes))[np.argsort(sums)]
    judged.compare("curve rises", bool((np.diff(rising) >= -1e-9 * (np.ptp(rising) or 1)).all()), True)
    return judged


def _hidden(world: World, cells: Sequence[Cell], sums: np.ndarray, wanted: Mapping[Cell, str]) -> dict[Cell, float]:
    """The hidden sums of determined cells that are additive with those of seen cells."""
    columns = {entry: index for index, entry in enumerate({e for cell in cells for e in world.features(cell)})}
    determined = [cell for cell in wanted if wanted[cell] == "determined"]
    matrices = []
    for group in (cells, determined):
        matrix = np.zeros((len(group), len(columns)))
        for row, cell in zip(matrix, group, strict=True):
            row[[columns[entry] for entry in world.features(cell)]] = 1.0
        matrices.append(matrix)
    effects = np.linalg.lstsq(matrices[0], sums, rcond=None)[0]
    return dict(zip(determined, (matrices[1] @ effects).tolist(), strict=True))


def judge_bounds(kind: str, draw: Random) -> Judged:
    """Bounds whatever the increasing curve, against cones of fractions: none is wrong, and none could be closer.

    Equal outcomes are not ordered, so that a bound may then be wider than the closest; it still has to hold.
    """
    judged = Judged(kind)
    world, cells = draw_cells(draw, largest=3)
    cells, distinct = cells[:8], draw.random() < 0.7
    y = draw.sample(range(20), len(cells)) if distinct else [draw.randint(0, 6) for _ in cells]
    seen = sorted(zip(y, cells, strict=True))
    targets = [cell for cell in world.possible if cell not in cells][:12]
    if not targets:
        return judged
    rows = {cell: world.features(cell) for cell in world.possible}
    pairs = itertools.combinations(seen, 2)
    rising = [_difference(rows[above], rows[below]) for (low, below), (high, above) in pairs if low < high]
    sizes = [len(labels) for labels in world.levels.values()]
    bounds = monotone_bounds(
        [list(map(int, cell)) for cell in cells], y, [list(map(int, t)) for t in targets], sizes=sizes
    )
    # Differences that add up to nothing, one of them counted, say that the seen order cannot be.
    impossible = bool(rising) and in_cone([{**row, "weight": 1} for row in rising], {"weight": Fraction(1)})
    for cell, bound in zip(targets, bounds, strict=True):
        judged.cells += 1
        judged.compare(f"{cell}, contradiction", bound.contradiction is not None, impossible)
        if not impossible:
            above = [(value, _difference(rows[name], rows[cell])) for value, name in seen]
            below = [(-value, _difference(rows[cell], rows[name])) for value, name in reversed(seen)]
            _check_end(judged, f"{cell}, high", bound.high, above, rising, distinct)
            _check_end(judged, f"{cell}, low", -bound.low, below, rising, distinct)
    return judged


def _check_end(
    judged: Judged,
    what: str,
    given: float,
    ends: Sequence[tuple[int, Mapping[object, int]]],
    rising: Sequence[Mapping[object, int]],
    distinct: bool,
) -> None:
    """Check that a cell lies at or below an end, and not below the next lower one; ends rise."""
    if given < np.inf:
        judged.compare(what, any(in_cone(rising, row) for value, row in ends if value == given), True)
    lower = [row for value, row in ends if value < given]
    if distinct and lower:
        judged.compare(f"{what}, closest", in_cone(rising, lower[-1]), False)


def _difference(row: Mapping[object, int], less: Mapping[object, int]) -> dict[object, int]:
    return {column: row.get(column, 0) - less.get(column, 0) for column in {*row, *less}}


#: Every kind of structure that is judged here, by name.
STRUCTURE_KINDS: dict[str, Callable[[str, Random], Judged]] = {
    "pairs": judge_sums,
    "log": judge_log,
    "counts": judge_likelihood,
    "logit": judge_likelihood,
    "multiplicative": judge_products,
    "signs": judge_products,
    "link": judge_link,
    "link-pairs": judge_link,
    "bounds": judge_bounds,
}
