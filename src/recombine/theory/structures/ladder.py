"""The ladder of structures: those that the data can carry, scored on held-out seen cells, and the simplest good one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import Subset, canonical
from recombine.checks import check_bounds, reals, whole
from recombine.errors import InputError, SolverError
from recombine.progress import tell
from recombine.theory.identification.identify import identify
from recombine.theory.structures.all_structures import STRUCTURES, simplest_first
from recombine.theory.structures.shrinkage import fit_terms
from recombine.theory.structures.structure import Structure, StructureData, StructureFit
from recombine.theory.structures.terms import as_outcomes
from recombine.theory.structures.work import TooMuchWorkError, counted_work, work_left
from recombine.verdicts import Verdict

#: Held-out cells after which no further fold is fitted.
ENOUGH_HELD_OUT_CELLS = 10_000
#: Work of a fit times folds that structures may take: beyond, fewer folds are held out.
MAX_WORK = 1.5e9
#: Cells times conjunctions of each up to which it is decided which held-out cells the others determine.
MAX_CONJUNCTIONS_DECIDED = 30_000
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


@dataclass(frozen=True, eq=False)
class Ladder:
    """All rungs, and the fit of the chosen structure to all seen cells."""

    rungs: tuple[Rung, ...]  #: Simplest first.
    skipped: dict[str, str]  #: Structures that the data cannot carry, and why.
    ceiling: float | None  #: Share of the variance that is not noise, where noise is known.
    data: StructureData
    #: (N,): Held-out value of each seen cell under the chosen structure; NaN where it was not held out.
    predicted: FloatArray
    too_long: tuple[str, ...] = ()  #: Structures whose fit takes more work than was left.
    #: Folds that were held out, and whether more would have been, had there been no limit of work.
    folds: int = 0
    shortened: bool = False

    __repr__ = brief_repr

    @property
    def chosen(self) -> Rung:
        """The chosen rung."""
        return next(rung for rung in self.rungs if rung.chosen)

    @cached_property
    def fit(self) -> StructureFit:
        """The chosen structure fitted to all seen cells."""
        return self.chosen.structure.fit(self.data)

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
    Inside `counted_work`, structures that take too much are left out and fewer folds are held out; the simplest is
    fitted to one fold in any case.

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
    held_out = _HeldOut(carried, data, fold)
    predicted, too_long = held_out.predicted[held_out.fitted], np.array(carried)[~held_out.fitted]
    carried = [entry for entry, tried in zip(carried, held_out.fitted, strict=True) if tried]
    failed = np.asarray(np.isnan(predicted).all(axis=1))
    skipped |= {entry.name: f"{entry.name} cannot be fitted" for entry, no in zip(carried, failed, strict=True) if no}
    carried, predicted = [entry for entry in carried if not skipped[entry.name]], predicted[~failed]
    reasons = {name: why for name, why in skipped.items() if why}
    if not carried:
        raise InputError(f"{'; '.join(reasons.values())}, so that nothing can be compared")
    scored = np.asarray(np.isfinite(predicted).all(axis=0))
    if scored.sum() < 3 or np.ptp(data.y[scored]) == 0:
        raise InputError("too few seen cells of different outcomes can be held out; collect more of the same levels")
    rungs = _rungs(carried, data, predicted, fold, scored)
    values = np.where(scored, predicted[[rung.chosen for rung in rungs].index(True)], np.nan)
    ceiling, names = _ceiling(data.y, noise, cell_of), tuple(entry.name for entry in too_long)
    return Ladder(rungs, reasons, ceiling, data, values, names, held_out.folds, held_out.shortened)


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


class _HeldOut:
    """Structures fitted to the cells outside one fold after another, as long as work is left.

    A structure that takes too much work is left out at the first fold; later folds are given up where too little work
    is left for them. All values of a structure that cannot be fitted to some fold are NaN.
    """

    def __init__(self, structures: Sequence[Structure], data: StructureData, fold: IntArray) -> None:
        self.structures, self.data, self.fold, self.max_work = structures, data, fold, work_left()
        self.predicted = np.full((len(structures), len(data.y)), np.nan)
        self.fitted, self.failed = np.ones(len(structures), dtype=bool), np.zeros(len(structures), dtype=bool)
        self.count, self.folds, self.shortened = int(fold.max()) + 1, 0, False
        self.spent, self.useful, self.largest_fit = 0.0, 0.0, 0.0
        for number in range(self.count):
            expected = self.useful / max(self.folds, 1)
            self.shortened = self.spent + expected > self.max_work or self._given_up(number)
            if self.shortened or self._enough(number):
                break
        self.predicted[self.failed] = np.nan

    def _enough(self, number: int) -> bool:
        """Say whether no further fold is needed, or worth its time."""
        scored = int(np.isfinite(self.predicted).any(axis=0).sum())
        return scored >= ENOUGH_HELD_OUT_CELLS or (number + 1) * self.largest_fit > MAX_WORK

    def _given_up(self, number: int) -> bool:
        """Hold out a fold; say whether it had to be given up."""
        training, tested = _fold(self.data, self.fold, number)
        if not len(tested) or not len(training.y) or np.ptp(training.y) == 0:
            return False
        values = np.full((len(self.structures), len(tested)), np.nan)
        for row in np.flatnonzero(self.fitted).tolist():
            name, share = self.structures[row].name, (number + row / len(self.structures)) / self.count
            tell(f"structure {name}, fold {number + 1}/{self.count}", share)
            with counted_work(self._allowed(row)) as count:
                try:
                    fit = self.structures[row].fit(training)
                    values[row] = fit.predict(self.data.cells[tested])
                    self.largest_fit, self.useful = max(self.largest_fit, fit.work), self.useful + count.spent
                except SolverError:
                    self.failed[row] = True
                except TooMuchWorkError:
                    self.fitted[row] = self.folds > 0
                    if self.folds:
                        return True
                finally:
                    self.spent += count.spent
        self.predicted[:, tested] = values
        self.folds += 1
        return False

    def _allowed(self, row: int) -> float:
        """Return the work that the next fit may take: half of all, so that a second fold can follow where it has to."""
        if row == self.folds == 0:
            return float("inf")
        one_fold = len(self.data.y) >= self.count * ENOUGH_HELD_OUT_CELLS
        return min(self.max_work / (1 if one_fold else 2), self.max_work - self.spent)


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
        columns = list(group)
        occurs = np.zeros(int(max(seen[:, columns].max(), tested[:, columns].max(initial=0))) + 1, dtype=bool)
        occurs[seen[:, columns].ravel()] = True
        all_seen &= occurs[tested[:, columns]].all(axis=1)
    return all_seen


def _rungs(
    structures: Sequence[Structure], data: StructureData, predicted: FloatArray, fold: IntArray, scored: BoolArray
) -> tuple[Rung, ...]:
    """Score each structure's held-out values (S, N) and mark the simplest within one standard error of the best."""
    determined = _determined({structure.order for structure in structures}, data, fold, scored)
    rungs = [
        _score(structure, data.y[scored], (data.y - values)[scored], determined.get(structure.order))
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
        sizes = tuple((codes.max(axis=0) + 1).tolist())
        for group in symmetric:
            top = max(sizes[factor] for factor in group)
            sizes = tuple(top if factor in group else size for factor, size in enumerate(sizes))
        for number in np.unique(fold[scored]):
            tested = np.flatnonzero(scored & (fold == number))
            engine = identify(codes[fold != number], codes[tested], order, sizes=sizes, symmetric=symmetric)
            verdicts[tested] = engine.verdicts <= Verdict.DETERMINED
        determined[order] = verdicts[scored]
    return determined


def _score(structure: Structure, y: FloatArray, errors: FloatArray, determined: BoolArray | None) -> Rung:
    """Return R2 and its standard error over cells, by each cell's influence on the ratio; and of determined cells."""
    deviations = (y - y.mean()) ** 2
    lost = float(np.sum(errors**2) / deviations.sum())
    influence = (errors**2 - lost * deviations) / deviations.mean()
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
