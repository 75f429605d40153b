"""The ladder of structures: those that the data can carry, scored on held-out seen cells, and the simplest good one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset, canonical
from recombine.checks import check_bounds, reals, whole
from recombine.errors import InputError, SolverError
from recombine.progress import tell
from recombine.theory.components.held_out import HeldOutComponents
from recombine.theory.components.scales import are_counts
from recombine.theory.identification.identify import identify
from recombine.theory.structures.all_structures import STRUCTURES, simplest_first
from recombine.theory.structures.shrinkage import fit_terms
from recombine.theory.structures.structure import Structure, StructureData, StructureFit
from recombine.theory.structures.terms import as_outcomes
from recombine.theory.structures.work import TooMuchWorkError, counted_work, spend, work_left
from recombine.verdicts import Verdict

#: Held-out cells after which no further fold is fitted.
ENOUGH_HELD_OUT_CELLS = 2_500
#: Cells times conjunctions of each up to which it is decided which held-out cells the others determine.
MAX_CONJUNCTIONS_DECIDED = 10_000
#: Standard errors by which a structure has to beat sums of pairs for sums of triples to be left out.
OUTDONE_STANDARD_ERRORS = 2.0
#: Share of the mean count below which no cell's expected count is taken to be when errors are weighed.
MIN_COUNT_SHARE = 0.05
#: Fewer determined cells than this have no share of their own.
MIN_DETERMINED_CELLS = 10


@dataclass(frozen=True)
class Rung:
    """One structure with its score."""

    structure: Structure
    r2: float  #: Share of the variance of held-out seen cells that is explained.
    error: float  #: Its standard error over cells.
    cells: int  #: Held-out cells that were scored.
    chosen: bool = False
    #: How many of them the other cells determine at the structure's order; None where that was too long to decide.
    determined: int | None = None
    #: Share of their variance that is explained; NaN where there are fewer than ten, or none is known.
    determined_r2: float = float("nan")

    @property
    def name(self) -> str:
        """The structure's name."""
        return self.structure.name


@record
class Ladder:
    """All rungs, and the fit of the chosen structure to all seen cells."""

    rungs: tuple[Rung, ...]  #: Simplest first.
    skipped: dict[str, str]  #: Structures that the data cannot carry, and why.
    ceiling: float | None  #: Share of the variance that is not noise, where noise is known.
    data: StructureData
    #: (N,): Held-out value of each seen cell under the chosen structure; NaN where it was not held out.
    predicted: FloatArray
    too_long: tuple[str, ...] = ()  #: Structures whose fit takes more work than was left.
    nothing_over: tuple[str, ...] = ()  #: Structures that were not scored because components leave nothing to them.

    @property
    def chosen(self) -> Rung:
        """The chosen rung."""
        return next(rung for rung in self.rungs if rung.chosen)

    @cached_property
    def fit(self) -> StructureFit:
        """The chosen structure fitted to all seen cells."""
        return self.chosen.structure.fit(self.data)

    @property
    def of_counts(self) -> bool:
        """Whether outcomes are counts: errors are then weighed by one over the mean."""
        return are_counts(self.data.y)

    def at(self, structure: Structure) -> Rung | None:
        """Return the rung of one structure, or None if it was not scored."""
        return next((rung for rung in self.rungs if rung.structure is structure), None)

    def __str__(self) -> str:
        share, ceiling = self.chosen.r2, ""
        if self.ceiling is not None:  # both are estimates, and the share may come out above the ceiling
            ceiling = f" of a possible {written_share(self.ceiling)}"
            ceiling = ceiling if share < self.ceiling else ", all but noise"
        return f"{self.chosen.structure.explains} {written_share(share)}{ceiling}"


def written_share(share: float) -> str:
    """Write a share of the variance: two digits, more near one, where they tell structures apart.

    Examples
    --------
    >>> written_share(0.873), written_share(0.9871), written_share(-0.2)
    ('0.87', '0.987', 'nothing')
    """
    return "nothing" if share <= 0 else f"{share:.2f}" if share < 0.95 else f"{share:.3f}"


def ladder(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    variance: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    symmetric: Sequence[Subset] = (),
    structures: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Ladder:
    """Score structures on held-out seen cells and choose the simplest within one standard error of the best.

    Parameters
    ----------
    cells, y : arrays of shape (N, C) and (N,)
        Seen cells and their outcomes; a cell that occurs several times is held out with all its rows.
    variance : float array of shape (N,), optional
        Variance of the noise of each outcome; from repeated cells, unless given.
    counts : float array of shape (N,), optional
        Measurements behind each outcome, for structures of chances.
    structures : sequence of str, optional
        Names to try, all unless given; log odds only where all outcomes lie between 0 and 1.
    folds : int
        How many times cells are held out, until enough were scored.

    Notes
    -----
    Sums and logarithms are read from variance components, whose variances are learned once from all cells; others are
    fitted to the cells outside each fold. Inside `counted_work` structures that take too much are left out, or held out
    of fewer folds, but for the simplest.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> y = 1 / (1 + np.exp(5 - cells.sum(axis=1))) + 0.05 * rng.normal(size=216)
    >>> rungs = ladder(cells, y, variance=np.full(216, 0.0025))
    >>> rungs.chosen.name, str(rungs)[:34]
    ('link', 'effects add on a curved scale; the')
    """
    entries = simplest_first(structures)
    data, noise = _checked(cells, y, variance, counts, symmetric)
    cell_of = _numbered(data.cells, seed)
    with counted_work():  # what has to be known first is never too much
        data = replace(data, weights=_weights(data, noise))
        skipped = {name: STRUCTURES[name].obstacle(data) for name in structures or [entry.name for entry in entries]}
    carried = [entry for entry in entries if not skipped[entry.name]]
    if not carried:
        raise InputError("; ".join(skipped.values()))
    fold = np.random.default_rng(seed).permutation(int(cell_of.max()) + 1)[cell_of] % whole(folds, "folds", 2)
    held_out = _HeldOut(data, _enough(fold))
    for entry in carried:
        held_out.add(entry)
    reasons = {name: why for name, why in (skipped | held_out.failed).items() if why}
    if not held_out.values:
        raise InputError(f"{'; '.join(reasons.values())}, so that nothing can be compared")
    predicted = np.array([*held_out.values.values()])
    scored = np.asarray(np.isfinite(predicted).all(axis=0))
    if scored.sum() < 3 or np.ptp(data.y[scored]) == 0:
        raise InputError("too few seen cells of different outcomes can be held out; collect more of the same levels")
    rungs = _rungs([*held_out.values], data, predicted, fold, scored)
    values = np.where(scored, predicted[[rung.chosen for rung in rungs].index(True)], np.nan)
    ceiling, too_long, nothing_over = _ceiling(data.y, noise, cell_of), held_out.too_long, held_out.nothing_over
    return Ladder(rungs, reasons, ceiling, data, values, tuple(too_long), tuple(nothing_over))


def _checked(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    variance: npt.ArrayLike | None,
    counts: npt.ArrayLike | None,
    symmetric: Sequence[Subset],
) -> tuple[StructureData, FloatArray | None]:
    """Return the seen cells, and the variance of the noise (N,) where it is known."""
    codes = canonical(as_cells(cells), symmetric)
    values, _ = as_outcomes(y, None, len(codes))
    noise = None if variance is None else check_bounds(reals(variance, "variance"), "variance", at_least=0)
    if noise is not None and noise.shape != values.shape:
        raise InputError(f"variance has shape {noise.shape} but there are {len(codes)} cells; give one per cell")
    if np.ptp(values) == 0:
        raise InputError("all outcomes are equal, so that there is nothing to explain; check the outcome column")
    measured = np.ones(len(codes)) if counts is None else check_bounds(reals(counts, "counts"), "counts", at_least=0)
    return StructureData(codes, values, counts=measured, symmetric=symmetric), noise


def _numbered(codes: IntArray, seed: int) -> IntArray:
    """Give each distinct cell a number, by a random hash of 64 bits: wide tables are not sorted."""
    signs = np.random.default_rng(seed).integers(1, 2**62, codes.shape[1]) * 2 + 1
    with np.errstate(over="ignore"):
        return np.asarray(np.unique(codes @ signs, return_inverse=True)[1].reshape(-1))


def _weights(data: StructureData, noise: FloatArray | None) -> FloatArray | None:
    """One over the variance about the fit: noise, and what addition leaves beyond it."""
    if noise is None or np.ptp(noise) == 0:
        return None
    residual = fit_terms(data.cells, data.y, symmetric=data.symmetric).noise
    return np.asarray(1 / (noise + max(residual - float(noise.mean()), 0.01 * residual)))


def _enough(fold: IntArray) -> IntArray:
    """Return the fold of each cell (N,), -1 for those that need not be held out: some thousands say enough."""
    folds = int(fold.max()) + 1
    needed = min(folds, math.ceil(ENOUGH_HELD_OUT_CELLS * folds / len(fold)))
    return np.where(fold < needed, fold, -1)


class _HeldOut:
    """Values of seen cells from those outside their fold, by one structure after another, as long as work is left."""

    def __init__(self, data: StructureData, fold: IntArray) -> None:
        self.data, self.fold, self.max_work = data, fold, work_left()
        weights = np.ones(len(data.y)) if data.weights is None else data.weights
        self.components = None if data.symmetric else HeldOutComponents(data.cells, data.y, weights, fold, spend)
        self.values: dict[Structure, FloatArray] = {}
        self.too_long: list[str] = []
        self.failed: dict[str, str] = {}
        self.nothing_over: list[str] = []

    def add(self, structure: Structure) -> None:
        """Hold cells out of one more structure, unless simpler ones leave nothing to it."""
        tell(f"structure {structure.name}", 0.1 * len(self.values))
        # Half of all work, so that something is left for the next; the simplest is fitted in any case.
        limit = min(self.max_work / 2, work_left()) if self.values else float("inf")
        try:
            with counted_work(limit):
                values = self._read(structure)
                values = self._fitted(structure) if values is None else values
            if np.isfinite(values).any():
                self.values[structure] = values
            elif structure.name not in self.nothing_over:
                self.failed[structure.name] = f"{structure.name} cannot be fitted"
        except SolverError:
            self.failed[structure.name] = f"{structure.name} cannot be fitted"
        except TooMuchWorkError:
            self.too_long.append(structure.name)

    def _read(self, structure: Structure) -> FloatArray | None:
        """Return what components say of held-out cells, NaN where levels are new to the others; None if nothing."""
        if self.components is None:
            return None
        if self.values and (structure.nothing_over(self.components) or self._outdone(structure)):
            self.nothing_over.append(structure.name)
            return np.full(len(self.data.y), np.nan)
        values = structure.reading(self.components)
        if values is None:
            return None
        told = np.full(len(values), np.nan)
        for number in range(int(self.fold.max()) + 1):
            tested = _fold(self.data, self.fold, number)[1]
            told[tested] = values[tested]
        return told

    def _outdone(self, structure: Structure) -> bool:
        """Say whether a simpler structure explains more than sums of pairs: those of triples are then not tried."""
        below = None if structure.order < 3 or self.components is None else self.components.values(structure.order - 1)
        if below is None:
            return False
        errors = [(values - self.data.y) ** 2 for values in self.values.values()]
        gain = (below - self.data.y) ** 2 - min(errors, key=lambda squares: float(np.nanmean(squares)))
        gain = gain[np.isfinite(gain)]
        return bool(gain.mean() > OUTDONE_STANDARD_ERRORS * gain.std() / np.sqrt(max(len(gain), 1)))

    def _fitted(self, structure: Structure) -> FloatArray:
        """Fit it to the cells outside each fold, or outside some where the others would take too much work."""
        values = np.full(len(self.data.y), np.nan)
        for number in range(int(self.fold.max()) + 1):
            training, tested = _fold(self.data, self.fold, number)
            if not len(tested) or not len(training.y) or np.ptp(training.y) == 0:
                continue
            try:
                values[tested] = structure.fit(training).predict(self.data.cells[tested])
            except TooMuchWorkError:
                if not np.isfinite(values).any():
                    raise
                break
        return values


def _fold(data: StructureData, fold: IntArray, number: int) -> tuple[StructureData, IntArray]:
    """Return the cells outside a fold, and which of the fold's (n,) have levels that these have."""
    training, tested = data.rows(np.flatnonzero(fold != number)), np.flatnonzero(fold == number)
    if not len(tested) or not len(training.y):
        return training, tested
    return training, tested[_levels_seen(training.cells, data.cells[tested], data.symmetric)]


def _levels_seen(seen: IntArray, tested: IntArray, symmetric: Sequence[Subset]) -> BoolArray:
    """Say for each of ``tested`` (M, C) whether all its levels occur in ``seen``."""
    all_seen = np.ones(len(tested), dtype=bool)
    alone = [(factor,) for factor in range(seen.shape[1]) if not any(factor in group for group in symmetric)]
    for group in [*symmetric, *alone]:
        all_seen &= np.isin(tested[:, list(group)], seen[:, list(group)]).all(axis=1)
    return all_seen


def _rungs(
    structures: Sequence[Structure], data: StructureData, predicted: FloatArray, fold: IntArray, scored: BoolArray
) -> tuple[Rung, ...]:
    """Score each structure's held-out values (S, N) and mark the simplest within one standard error of the best."""
    determined = _determined({structure.order for structure in structures}, data, fold, scored)
    weights = _weights_of_counts(data.y, predicted)[scored] if are_counts(data.y) else np.ones(int(scored.sum()))
    rungs = [
        _score(structure, data.y[scored], (data.y - values)[scored], determined.get(structure.order), weights)
        for structure, values in zip(structures, predicted, strict=True)
    ]
    best = max(rungs, key=lambda rung: rung.r2)
    chosen = next(rung for rung in rungs if rung.r2 >= best.r2 - best.error)
    return tuple(replace(rung, chosen=rung is chosen) for rung in rungs)


def _determined(orders: set[int], data: StructureData, fold: IntArray, scored: BoolArray) -> dict[int, BoolArray]:
    """Say for each order which scored cells (H,) the other folds determine; of large tables nothing."""
    determined: dict[int, BoolArray] = {}
    codes, symmetric = data.cells, data.symmetric
    for order in orders:
        terms = sum(math.comb(data.factors, depth) for depth in range(1, order + 1))
        if len(codes) * terms > MAX_CONJUNCTIONS_DECIDED:
            continue
        verdicts = np.zeros(len(codes), dtype=bool)
        for number in np.unique(fold[scored]):
            tested = np.flatnonzero(scored & (fold == number))
            engine = identify(codes[fold != number], codes[tested], order, symmetric=symmetric)
            verdicts[tested] = engine.verdicts <= Verdict.DETERMINED
        determined[order] = verdicts[scored]
    return determined


def _weights_of_counts(y: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return what errors of counts (N,) count: one over their mean, which is their variance.

    The mean is that of all structures' values (S, N), so that none is favoured.
    """
    return np.asarray(1 / np.maximum(predicted.mean(axis=0), MIN_COUNT_SHARE * y.mean()))


def _score(
    structure: Structure, y: FloatArray, errors: FloatArray, determined: BoolArray | None, weights: FloatArray
) -> Rung:
    """Return R2 and its standard error over cells, by each cell's influence on the ratio; and of determined cells."""
    deviations = weights * (y - np.average(y, weights=weights)) ** 2
    squares = weights * errors**2
    lost = float(np.sum(squares) / deviations.sum())
    influence = (squares - lost * deviations) / deviations.mean()
    rung = Rung(structure, 1 - lost, float(influence.std(ddof=1) / np.sqrt(len(y))), len(y))
    if determined is None:
        return rung
    r2 = float("nan")
    if determined.sum() >= MIN_DETERMINED_CELLS and np.ptp(y[determined]) > 0:
        r2 = float(1 - np.mean(errors[determined] ** 2) / np.var(y[determined]))
    return replace(rung, determined=int(determined.sum()), determined_r2=r2)


def _ceiling(y: FloatArray, noise: FloatArray | None, cell_of: IntArray) -> float | None:
    """Return the share of the outcomes' variance that is not noise; None where noise is unknown."""
    if noise is not None:
        return float(max(0.0, 1 - noise.mean() / y.var()))
    count = np.bincount(cell_of)
    spare = len(y) - len(count)
    if not spare:
        return None
    means = np.bincount(cell_of, y) / count
    return float(max(0.0, 1 - np.sum((y - means[cell_of]) ** 2) / spare / y.var()))
