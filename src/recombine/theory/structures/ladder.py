"""The ladder of structures: those that the data can carry, scored on held-out seen cells, and the simplest good one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import Subset, canonical
from recombine.checks import check_bounds, known_or_refuse, reals, whole
from recombine.errors import InputError, SolverError
from recombine.theory.identification.identify import identify
from recombine.theory.structures.chances import fit_log_odds, fit_mean_counts
from recombine.theory.structures.link import LinkFit, fit_link
from recombine.theory.structures.products import fit_log, fit_products
from recombine.theory.structures.shrinkage import DENSE_COLUMNS, fit_terms
from recombine.theory.structures.terms import as_outcomes, terms_of
from recombine.verdicts import Verdict

#: What effects may do, simplest first, in words.
WORDS = {
    "add": "effects add",
    "logit": "effects add on log odds",
    "log": "effects add on the logarithm of the outcome",
    "multiplicative": "effects multiply",
    "link": "effects add on a curved scale; the curve explains",
    "pairs": "effects of pairs of factors add",
    "link-pairs": "effects add on a curved scale; the curve and pairs of factors explain",
    "triples": "effects of triples of factors add",
}
STRUCTURES = tuple(WORDS)
#: Conjunctions of how many factors each structure has.
ORDERS = {"pairs": 2, "link-pairs": 2, "triples": 3}
#: Held-out cells after which no further fold is fitted.
ENOUGH = 10_000
#: Most factors of a product fitted level by level.
MOST_FACTORS = 12
#: Terms cubed, times parts, that structures under a curve may take: beyond, fewer parts are held out.
MOST_WORK = 1.5e9
#: Cells times conjunctions of each up to which it is decided which held-out cells the others determine.
MOST_DECIDED = 30_000
#: Fewer determined cells than this have no share of their own.
FEWEST_DETERMINED = 10
#: Cells and levels up to which chances and counts are fitted by likelihood, whose existence is decided first.
MOST_CELLS, MOST_LEVELS = 20_000, 400


class Fitted(Protocol):
    """What every structure's fit can do."""

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C)."""
        ...


@dataclass(frozen=True)
class Structure:
    """One rung.

    Attributes
    ----------
    name : str
    r2 : float
        Share of the variance of held-out seen cells that is explained.
    error : float
        Its standard error over cells.
    cells : int
        Held-out cells that were scored.
    chosen : bool
    determined : int or None
        How many of them the other cells determine at the structure's order; None where that was too long to decide.
    determined_r2 : float
        Share of their variance that is explained; NaN where there are fewer than ten, or none is known.
    """

    name: str
    r2: float
    error: float
    cells: int
    chosen: bool = False
    determined: int | None = None
    determined_r2: float = float("nan")


@dataclass(frozen=True, eq=False)
class Ladder:
    """All rungs, and the fit of the chosen structure to all seen cells.

    Attributes
    ----------
    structures : tuple of Structure
        Simplest first.
    skipped : dict of str to str
        Structures that the data cannot carry, and why.
    ceiling : float or None
        Share of the variance that is not noise, where noise is known.
    fit : TermsFit, LinkFit, LogFit, ProductFit or LikelihoodFit
    predicted : float array of shape (N,)
        Held-out value of each seen cell under the chosen structure; NaN where it was not held out.
    """

    structures: tuple[Structure, ...]
    skipped: dict[str, str]
    ceiling: float | None
    fit: Fitted
    predicted: FloatArray

    __repr__ = brief_repr

    @property
    def chosen(self) -> Structure:
        """The chosen rung."""
        return next(rung for rung in self.structures if rung.chosen)

    def at(self, name: str) -> Structure | None:
        """Return the rung of one structure, or None if it was not scored."""
        return next((rung for rung in self.structures if rung.name == name), None)

    def __str__(self) -> str:
        words, share = WORDS[self.chosen.name], written_share(self.chosen.r2)
        of = "" if self.ceiling is None else f" of a possible {written_share(self.ceiling)}"
        return f"{words} {share}{of}" if "explain" in words else f"{words}; they explain {share}{of}"


def written_share(share: float) -> str:
    """Write a share of the variance: two digits, more near one, where they tell structures apart.

    Examples
    --------
    >>> written_share(0.873), written_share(0.9871), written_share(-0.2)
    ('0.87', '0.987', 'nothing')
    """
    return "nothing" if share <= 0 else f"{share:.2f}" if share < 0.95 else f"{share:.3f}"


def fit_structure(
    name: str,
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    symmetric: Sequence[Subset] = (),
) -> Fitted:
    """Fit one structure, by name, to the seen cells (N, C) and outcomes (N,).

    ``weights`` (N,) is one over the variance of each outcome; ``counts`` (N,) says for log odds of how many
    measurements each outcome is the share (one each, unless given). Outcomes with zeros have no logarithm: there, log
    is the likelihood of counts.

    Examples
    --------
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> fit_structure("log", cells[:-1], 2.0 ** cells[:-1].sum(axis=1)).predict(cells[-1:]).round(3)
    array([16.])
    """
    known_or_refuse(name, "structure", STRUCTURES)
    if name == "logit":
        return fit_log_odds(as_cells(cells), reals(y, "y"), counts)
    if name == "log" and reals(y, "y").min(initial=1.0) == 0:
        return fit_mean_counts(as_cells(cells), reals(y, "y"), counts)
    if name == "log":
        return fit_log(cells, y, weights=weights, symmetric=symmetric)
    if name == "multiplicative":
        return fit_products(cells, y, weights=weights)
    fit = fit_link if name.startswith("link") else fit_terms
    return fit(cells, y, ORDERS.get(name, 1), weights=weights, symmetric=symmetric)


def ladder(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    variance: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    symmetric: Sequence[Subset] = (),
    structures: Sequence[str] = STRUCTURES,
    folds: int = 5,
    seed: int = 0,
    all_cells: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Ladder:
    """Score structures on held-out seen cells and choose the simplest within one standard error of the best.

    Parameters
    ----------
    cells : int array of shape (N, C)
        Seen cells; one that occurs several times is held out as a whole.
    y : float array of shape (N,)
    variance : float array of shape (N,), optional
        Variance of the noise of each outcome; from repeated cells, unless given.
    symmetric : sequence of tuples of int
    counts : float array of shape (N,), optional
        Measurements behind each outcome, for structures of chances.
    structures : sequence of str
        Names to try; log odds only where all outcomes lie between 0 and 1.
    folds : int
        Parts that are held out in turn, until enough cells were scored.
    seed : int
    all_cells : cells (M, C), y (M,) and counts (M,), optional
        What the chosen structure is fitted to, where ``cells`` are only part of it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cells = np.indices((6, 6, 6)).reshape(3, -1).T
    >>> y = 1 / (1 + np.exp(5 - cells.sum(axis=1))) + 0.05 * rng.normal(size=216)
    >>> found = ladder(cells, y, variance=np.full(216, 0.0025))
    >>> found.chosen.name, str(found)[:34]
    ('link', 'effects add on a curved scale; the')
    """
    for name in structures:
        known_or_refuse(name, "structure", STRUCTURES)
    codes = canonical(as_cells(cells), symmetric)
    values, _ = as_outcomes(y, None, len(codes))
    noise = None if variance is None else check_bounds(reals(variance, "variance"), "variance", at_least=0)
    if noise is not None and noise.shape != values.shape:
        raise InputError(f"variance has shape {noise.shape} but there are {len(codes)} cells; give one per cell")
    if np.ptp(values) == 0:
        raise InputError("all outcomes are equal, so that there is nothing to explain; check the outcome column")
    many = np.ones(len(codes)) if counts is None else check_bounds(reals(counts, "counts"), "counts", at_least=0)
    which = _numbered(codes, seed)
    weights = _weights(codes, values, noise, symmetric)
    skipped = {name: _obstacle(name, codes, values, symmetric) for name in structures}
    tried = [name for name in STRUCTURES if name in structures and not skipped[name]]
    if not tried:
        raise InputError("; ".join(skipped.values()))
    part = np.random.default_rng(seed).permutation(int(which.max()) + 1)[which] % whole(folds, "folds", 2)
    predicted = _held_out(tried, codes, values, weights, many, symmetric, part)
    failed = np.asarray(np.isnan(predicted).all(axis=1))
    skipped |= {name: f"{name} could not be fitted" for name, one in zip(tried, failed, strict=True) if one}
    tried, predicted = [name for name in tried if not skipped[name]], predicted[~failed]
    if not tried:
        raise InputError(f"{'; '.join(filter(None, skipped.values()))}, so that nothing can be compared")
    held = np.asarray(np.isfinite(predicted).all(axis=0))
    if held.sum() < 3 or np.ptp(values[held]) == 0:
        raise InputError("too few seen cells of different outcomes can be held out; collect more of the same levels")
    known = _determined({ORDERS.get(name, 1) for name in tried}, codes, symmetric, part, held)
    rungs = [
        _score(name, values[held], (values - one)[held], known.get(ORDERS.get(name, 1)))
        for name, one in zip(tried, predicted, strict=True)
    ]
    best = max(rungs, key=lambda rung: rung.r2)
    chosen = next(rung for rung in rungs if rung.r2 >= best.r2 - best.error)
    if all_cells is None:
        fit = fit_structure(chosen.name, codes, values, weights=weights, counts=many, symmetric=symmetric)
    else:
        every, outcomes, measured = all_cells
        fit = fit_structure(chosen.name, every, outcomes, counts=measured, symmetric=symmetric)
    marked = tuple(replace(rung, chosen=rung is chosen) for rung in rungs)
    left = {name: why for name, why in skipped.items() if why}
    out = np.where(held, predicted[tried.index(chosen.name)], np.nan)
    return Ladder(marked, left, _ceiling(values, noise, which), fit, out)


def _numbered(codes: IntArray, seed: int) -> IntArray:
    """Give each distinct cell a number, by a random hash of 64 bits: wide tables are not sorted."""
    signs = np.random.default_rng(seed).integers(1, 2**62, codes.shape[1]) * 2 + 1
    with np.errstate(over="ignore"):
        return np.asarray(np.unique(codes @ signs, return_inverse=True)[1].reshape(-1))


def _weights(
    codes: IntArray, y: FloatArray, noise: FloatArray | None, symmetric: Sequence[Subset]
) -> FloatArray | None:
    """One over the variance about the fit: noise, and what addition leaves beyond it."""
    if noise is None or np.ptp(noise) == 0:
        return None
    left = fit_terms(codes, y, symmetric=symmetric).noise
    return np.asarray(1 / (noise + max(left - float(noise.mean()), 0.01 * left)))


def _obstacle(name: str, codes: IntArray, y: FloatArray, symmetric: Sequence[Subset]) -> str:
    """Say why the data cannot carry a structure; empty if they can."""
    order, factors = ORDERS.get(name, 1), codes.shape[1]
    if order > factors:
        return f"{name} need {order} factors and there are {factors}"
    if name == "logit" and (y.min() < 0 or y.max() > 1):
        return f"logit needs outcomes from 0 to 1 and they are {y.min():g} to {y.max():g}"
    if name == "log" and y.min() < 0:
        return f"log needs outcomes that are not negative and the smallest is {y.min():g}"
    if name == "logit" or (name == "log" and y.min() == 0):
        levels = int((codes.max(axis=0) + 1).sum())
        if symmetric or len(codes) > MOST_CELLS or levels > MOST_LEVELS:
            most = f"at most {MOST_CELLS:,} cells and {MOST_LEVELS} levels"
            return f"{name} is fitted by likelihood, which takes {most} and no symmetric factors"
        return ""
    if name == "multiplicative" and (symmetric or factors > MOST_FACTORS):
        return "products of symmetric factors, or of more than 12, are not fitted; see log"
    if name != "link" and order == 1:
        return ""
    try:
        columns = terms_of(codes, order, symmetric=symmetric).columns
    except InputError as error:
        return str(error)
    if name.startswith("link") and columns > DENSE_COLUMNS:
        return f"{name} has {columns:,} terms and at most {DENSE_COLUMNS:,} are fitted under a curve"
    if order > 1 and columns > len(codes):
        return f"{name} have {columns:,} terms, more than the {len(codes):,} cells"
    return ""


def _held_out(
    names: Sequence[str],
    codes: IntArray,
    y: FloatArray,
    weights: FloatArray | None,
    counts: FloatArray,
    symmetric: Sequence[Subset],
    part: IntArray,
) -> FloatArray:
    """Return each structure's values (S, N) of cells that were held out and whose levels the others have, else NaN.

    All values of a structure that cannot be fitted to some part are NaN.
    """
    predicted, failed, work = np.full((len(names), len(y)), np.nan), set[int](), 0.0
    for fold in range(int(part.max()) + 1):
        kept, out = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if not len(kept) or not len(out) or np.ptp(y[kept]) == 0:
            continue
        out = out[_levels_seen(codes[kept], codes[out], symmetric)]
        counted = None if weights is None else weights[kept]
        for place, name in enumerate(names):
            try:
                fit = fit_structure(
                    name, codes[kept], y[kept], weights=counted, counts=counts[kept], symmetric=symmetric
                )
                predicted[place, out] = fit.predict(codes[out])
                work = max(work, float(fit.terms.columns) ** 3 if isinstance(fit, LinkFit) else 0.0)
            except SolverError:
                failed.add(place)
        if np.isfinite(predicted).any(axis=0).sum() >= ENOUGH or (fold + 1) * work > MOST_WORK:
            break
    predicted[list(failed)] = np.nan
    return predicted


def _determined(
    orders: set[int], codes: IntArray, symmetric: Sequence[Subset], part: IntArray, held: BoolArray
) -> dict[int, BoolArray]:
    """Say for each order which held-out cells (H,) the other parts determine; of large tables nothing."""
    found = {}
    for order in orders:
        terms = sum(math.comb(codes.shape[1], depth) for depth in range(1, order + 1))
        if len(codes) * terms > MOST_DECIDED:
            continue
        verdicts = np.zeros(len(codes), dtype=bool)
        sizes = tuple((codes.max(axis=0) + 1).tolist())
        for group in symmetric:
            top = max(sizes[place] for place in group)
            sizes = tuple(top if place in group else size for place, size in enumerate(sizes))
        for fold in np.unique(part[held]):
            out = np.flatnonzero(held & (part == fold))
            engine = identify(codes[part != fold], codes[out], order, sizes=sizes, symmetric=symmetric)
            verdicts[out] = engine.verdicts <= Verdict.DETERMINED
        found[order] = verdicts[held]
    return found


def _levels_seen(kept: IntArray, out: IntArray, symmetric: Sequence[Subset]) -> BoolArray:
    """Say for each of ``out`` (M, C) whether all its levels occur in ``kept``."""
    known = np.ones(len(out), dtype=bool)
    groups = [*symmetric, *((one,) for one in range(kept.shape[1]) if not any(one in group for group in symmetric))]
    for group in groups:
        columns = list(group)
        there = np.zeros(int(max(kept[:, columns].max(), out[:, columns].max(initial=0))) + 1, dtype=bool)
        there[kept[:, columns].ravel()] = True
        known &= there[out[:, columns]].all(axis=1)
    return known


def _score(name: str, y: FloatArray, errors: FloatArray, known: BoolArray | None) -> Structure:
    """Return R2 and its standard error over cells, by the influence of each cell on the ratio; and where ``known``."""
    away = (y - y.mean()) ** 2
    lost = float(np.sum(errors**2) / away.sum())
    influence = (errors**2 - lost * away) / away.mean()
    found = Structure(name, 1 - lost, float(influence.std(ddof=1) / np.sqrt(len(y))), len(y))
    if known is None:
        return found
    some = float("nan")
    if known.sum() >= FEWEST_DETERMINED and np.ptp(y[known]) > 0:
        some = float(1 - np.mean(errors[known] ** 2) / np.var(y[known]))
    return replace(found, determined=int(known.sum()), determined_r2=some)


def _ceiling(y: FloatArray, noise: FloatArray | None, which: IntArray) -> float | None:
    """Return the share of the outcomes' variance that is not noise; None where noise is unknown."""
    if noise is not None:
        return float(max(0.0, 1 - noise.mean() / y.var()))
    count = np.bincount(which)
    spare = len(y) - len(count)
    if not spare:
        return None
    means = np.bincount(which, y) / count
    return float(max(0.0, 1 - np.sum((y - means[which]) ** 2) / spare / y.var()))
