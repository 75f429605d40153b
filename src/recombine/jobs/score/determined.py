"""What the seen cells say about the scored ones, factor by factor, and the noise on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.possible import follows
from recombine.cells.threads import one_thread
from recombine.design.design import Design
from recombine.design.nesting import FIRST_CELLS_LOOKED_AT
from recombine.errors import InputError, SolverError
from recombine.jobs.audit.additivity import fit_order
from recombine.jobs.audit.audit import Audit
from recombine.jobs.audit.fitted_networks import fitted_cells, obstacle, predict_networks
from recombine.jobs.audit.forecast import level_values
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import beyond_largest
from recombine.jobs.score.attribution import design_matrix
from recombine.jobs.score.regression import HeldOutNoise, Regressors
from recombine.theory.identification.additive_fit import AdditiveFit

#: Seen cells up to which a wide network is fitted to them.
MAX_CELLS_FITTED = 5_000
#: Factors up to which pairs of them are looked at for memory.
MAX_FACTORS_PAIRED = 6
#: How often noise is added to the seen cells for the ranges of slopes, and the cells from which on less often.
NOISE_DRAWS, NOISE_DRAWS_OF_MANY, MAX_CELLS_DRAWN_OFTEN = 24, 4, 4_000
#: How often the parents of a factor with several are fitted in turn.
SWEEPS_OVER_PARENTS = 50


def additive_fit(audit: Audit) -> AdditiveFit:
    """Return the fit of order 1 to the seen cells of an audit with an outcome."""
    return audit.values.fit if audit.order == 1 and audit.values.fit is not None else fit_order(audit.design, 1)


def regressors_of(audits: Sequence[Audit], cells: IntArray, counts: FloatArray | None = None) -> Regressors:
    """Return what predictions at determined ``cells`` (T, C) are compared with, each of which ``counts`` (T,)."""
    design = audits[0].design
    determined, effects, misleading, beyond = _by_class(
        zip(*(_of_audit(audit, cells) for audit in audits), strict=True)
    )
    remembered = network = None
    if _pairs_matter(audits[0]):
        (remembered,) = _by_class([[_remembered(audit, cells) for audit in audits]])
    networks = [_network(audit.design, cells, MAX_CELLS_FITTED // len(audits)) for audit in audits]
    if (fitted := [values for values in networks if values is not None]) and len(fitted) == len(networks):
        (network,) = _by_class([fitted])
    names = tuple(" and ".join(design.names[position] for position in group) for group in design.space.groups)
    rng = np.random.default_rng(0)
    draws = NOISE_DRAWS if len(design.seen) * len(audits) <= MAX_CELLS_DRAWN_OFTEN else NOISE_DRAWS_OF_MANY
    noisy = [_by_class(zip(*(_with_noise(audit, cells, rng) for audit in audits), strict=True)) for _ in range(draws)]
    return Regressors(
        determined,
        effects,
        misleading,
        beyond,
        names,
        network,
        remembered,
        len(audits),
        None if counts is None else np.repeat(counts / counts.mean(), len(audits)),
        tuple((sums + beyond, redrawn, misled) for sums, redrawn, misled in noisy),
        tuple((names[child], names[parent]) for child, parent in nested_groups(design)),
    )


def _by_class(kinds: Iterable[Sequence[FloatArray]]) -> list[FloatArray]:
    """Return arrays (T, ...) of each class as one of the values of the first cell in all classes, of the second, ..."""
    return [np.stack(arrays, axis=1).reshape(-1, *arrays[0].shape[1:]) for arrays in kinds]


def _with_noise(audit: Audit, cells: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sums of effects (T,), effects and misleading parts (T, F) once noise was added to the seen cells."""
    design, train = audit.design, audit.design.train
    weight = design.precision[train]
    if (design.observed.replicates[1] > 0).any():
        variance = _pooled(design)[0]
    else:
        # Without replicates what effects leave is taken for noise: more than it is, if they interact.
        fit = additive_fit(audit)
        degrees_of_freedom = max(len(weight) - (fit.rank or int(sum(design.sizes))), 1)
        variance = float(np.sum(weight * (design.observed.seen_outcome - fit.fitted) ** 2) / degrees_of_freedom)
    outcome = design.observed.measured.copy()
    outcome[train] += np.sqrt(variance / weight) * rng.normal(size=len(weight))
    noisy = replace(design, observed=replace(design.observed, outcome=outcome))
    mean, effects, marginals = _levels_apart(noisy, fit_order(noisy, 1), cells)
    return mean + effects.sum(axis=1), effects, marginals - effects


def nested_groups(design: Design) -> list[tuple[int, int]]:
    """Return child and parent of every group of factors that lies inside another in all cells, innermost ones first.

    Grandparents are left out; of two factors that go together the second is the child. What a table says nothing of
    counts as well: that only a sum is known does not depend on the reason.
    """
    single = [group for group, members in enumerate(design.space.groups) if len(members) == 1]
    cells, above = design.cells[:, [group[0] for group in design.space.groups]], dict[int, set[int]]()
    varied = [group for group in single if np.ptp(cells[:, group])]
    for child, parent in permutations(varied, 2):
        inside = follows(cells[:FIRST_CELLS_LOOKED_AT], child, parent) and follows(cells, child, parent)
        if inside and (parent < child or not follows(cells, parent, child)):
            above.setdefault(child, set()).add(parent)
    direct = {
        child: parents.difference(*(above.get(parent, ()) for parent in parents)) for child, parents in above.items()
    }
    return [
        (child, parent)
        for child in sorted(direct, key=lambda child: -len(above[child]))
        for parent in sorted(direct[child])
    ]


def _levels_apart(design: Design, fit: AdditiveFit, cells: IntArray) -> tuple[float, FloatArray, FloatArray]:
    """Return mean outcome, effects and marginals (T, F) at ``cells`` (T, C), of nested factors each by itself.

    The data know only the sum of a parent's effect and a child's. By convention the parent's is the mean over its
    children, and the child's by how much it differs from that; so with marginals, but that each row counts there.
    """
    pairs = nested_groups(design)
    if not pairs:
        return level_values(design, fit, cells)
    weight, outcome, seen = design.precision[design.train], design.observed.seen_outcome, len(design.seen)
    everywhere = np.concatenate([design.seen, cells])
    mean, effects, marginals = level_values(design, fit, everywhere)
    codes = everywhere[:, [members[0] for members in design.space.groups]]
    for parent in {parent for _, parent in pairs}:
        (means,) = _means_of_parents(outcome - mean, codes[:seen, [parent]], weight)
        marginals[:, parent] = _looked_up(means, codes[:, parent])
    for child in dict.fromkeys(child for child, _ in pairs):
        parents = [parent for kin, parent in pairs if kin == child]
        _, firsts, inverse = np.unique(codes[:seen, child], return_index=True, return_inverse=True)
        around = codes[firsts][:, parents]
        of_rows = _means_of_parents(
            marginals[firsts, child], around, np.asarray(np.bincount(inverse, weight), dtype=float)
        )
        of_children = _means_of_parents(effects[firsts, child], around, np.ones(len(firsts)))
        for parent, by_row, by_child in zip(parents, of_rows, of_children, strict=True):
            marginals[:, child] -= _looked_up(by_row, codes[:, parent])
            effects[:, parent] += _looked_up(by_child, codes[:, parent])
            effects[:, child] -= _looked_up(by_child, codes[:, parent])
    effects, marginals = (table - np.average(table[:seen], axis=0, weights=weight) for table in (effects, marginals))
    return mean, effects[seen:], marginals[seen:]


def _means_of_parents(values: FloatArray, codes: IntArray, weights: FloatArray) -> list[FloatArray]:
    """Return what the levels of each parent (N, P) add up to ``values`` (N,), one table of levels for each parent."""
    tables = [np.zeros(int(column.max()) + 1) for column in codes.T]
    fitted = np.zeros(len(values))
    for _ in range(SWEEPS_OVER_PARENTS if len(tables) > 1 else 1):
        for position, column in enumerate(codes.T):
            sums = np.bincount(column, weights * (values - fitted), len(tables[position]))
            step = sums / np.maximum(np.bincount(column, weights, len(sums)), 1e-300)
            tables[position], fitted = tables[position] + step, fitted + step[column]
    return tables


def _looked_up(table: FloatArray, codes: IntArray) -> FloatArray:
    """Return the entries of a table of levels, 0 for levels beyond it."""
    return np.where(codes < len(table), table[np.minimum(codes, len(table) - 1)], 0.0)


def _pairs_matter(audit: Audit) -> bool:
    """Say whether departures of pairs of levels are worth a look: of two factors no unseen cell's pair was seen."""
    count = audit.design.cells.shape[1]
    return 3 <= count <= MAX_FACTORS_PAIRED and not audit.design.symmetric and audit.order == 1


def _remembered(audit: Audit, cells: IntArray) -> FloatArray:
    """Return the mean departure of the seen cells that share each pair of levels with ``cells`` (T, C), (T, P)."""
    design = audit.design
    departures = design.observed.seen_outcome - design.outcome_column.bounded(audit.values.certified_of(design.seen))
    departures_of_pairs = []
    for first, second in combinations(range(design.cells.shape[1]), 2):
        span = design.sizes[second]
        keys, scored_keys = (rows[:, first] * span + rows[:, second] for rows in (design.seen, cells))
        size = design.sizes[first] * span
        counts = np.bincount(keys, minlength=size)
        departures_of_pairs.append((np.bincount(keys, departures, minlength=size) / np.maximum(counts, 1))[scored_keys])
    return np.stack(departures_of_pairs, axis=1)


def _of_audit(audit: Audit, cells: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return determined values (T,), effects and misleading parts (T, F), and what is beyond adding (T,)."""
    design = audit.design
    mean, effects, marginals = _levels_apart(design, additive_fit(audit), cells)
    determined = design.outcome_column.bounded(audit.values.certified_of(cells))
    beyond = determined - mean - effects.sum(axis=1)
    if audit.choice.structure.adds:
        beyond[:] = 0.0  # chances that adding would put outside 0 and 1 are no interaction
    scale = max(float(np.abs(determined).max(initial=0.0)), 1e-300)
    return determined, effects, marginals - effects, np.where(np.abs(beyond) > 1e-9 * scale, beyond, 0.0)


def _network(design: Design, cells: IntArray, max_cells: int) -> FloatArray | None:
    """Return what a wide network of one hidden layer fitted to the seen cells predicts at ``cells`` (T, C), if any."""
    if obstacle(design) or fitted_cells(design) > max_cells:
        return None
    design = replace(design, space=design.space.labelled)  # every level is an input of its own
    with one_thread():
        return predict_networks(design, design.train, cells, (1,)).get(("ntk", 1))


def held_out_noise(audits: Sequence[Audit], rows: IntArray) -> HeldOutNoise | None:
    """Return the noise of the design's ``rows`` (T,), all determined; None where no row repeats.

    Of several classes it is that of their sum: measurements of one class say something of the others, so that errors
    add up rather than their squares.

    The variance of one measurement is pooled over all cells. A two-valued outcome varies by its chance: there a cell's
    own rows tell its noise, and all cells together that of cells with one row.
    """
    by_class = [noise for audit in audits if (noise := _noise_of(audit, rows)) is not None]
    if len(by_class) < len(audits):
        return None
    if len(audits) == 1:
        return by_class[0]
    variances, carried = _by_class(zip(*((noise.variances, noise.carried) for noise in by_class), strict=True))
    error, count = float(sum(noise.error for noise in by_class)), len(audits)
    skewness = float(np.mean([noise.skewness for noise in by_class]))
    return HeldOutNoise(count * variances, error, count * carried, (count - 1) * by_class[0].freedom, skewness)


def _noise_of(audit: Audit, rows: IntArray) -> HeldOutNoise | None:
    design = audit.design
    if not (design.observed.replicates[1] > 0).any():
        return None
    variance, error, skewness = _pooled(design)
    count = design.precision[rows]
    variances, error = variance / count, error * float(np.mean(1 / count))
    if design.outcome_column.two_values is not None:
        variances, error = _own_chances(design, rows, variance, error)
    carried, freedom, rank = np.zeros(len(rows)), 1.0, audit.decided.identification.rank
    if audit.choice.structure.is_sum and rank is not None:
        # Where leverages would take too long, the noise of the seen cells stays with the structure.
        with suppress(SolverError, InputError):
            carried, freedom = variance * audit.decided.leverage_of(design.cells[rows]), float(rank)
    return HeldOutNoise(variances, error, carried, freedom, skewness)


def _own_chances(design: Design, rows: IntArray, single: float, error: float) -> tuple[FloatArray, float]:
    """Return the variances (T,) of the mean of two-valued measurements, and the standard error of their mean."""
    (own_spread, own_freedom), count = (values[rows] for values in design.observed.replicates), design.precision[rows]
    variances = np.where(own_freedom > 0, own_spread / np.maximum(own_freedom, 1.0), single) / count
    error_of_single = error * float(np.sum((own_freedom == 0) / count) / np.sum(1 / count))
    # What all cells say leans on the same replicates: the two errors add up rather than their squares.
    over_cells = float(variances.std() / np.sqrt(len(variances)))
    return variances, float(np.sqrt(2 * over_cells * error_of_single + error_of_single**2))


def _pooled(design: Design) -> tuple[float, float, float]:
    """Return the variance of one measurement pooled over all cells, its standard error and skewness."""
    repeated = design.observed.replicates[1] > 0
    spread, freedom = (values[repeated] for values in design.observed.replicates)
    single = float(spread.sum() / freedom.sum())
    deviations, by_freedom = spread - single * freedom, float(np.sqrt(2 / freedom.sum()))
    beyond = beyond_largest(spread)
    by_cells = float(np.sqrt(np.sum(deviations**2) + beyond**2)) / max(single * freedom.sum(), 1e-300)
    if by_cells < by_freedom:  # a normal's sum of squares
        return single, single * by_freedom, 2 * by_freedom
    return (
        single,
        single * by_cells,
        float((np.sum(deviations**3) + beyond**3) / (np.sum(deviations**2) + beyond**2) ** 1.5),
    )


def confounded_columns(regressors: Regressors) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return groups of columns, each as cause and factor, that the cells do not tell apart: only their sum is known.

    Near a zero eigenvalue of the correlations some combination of columns hardly varies over the cells: the columns
    with much weight in its eigenvector are confounded. Groups that share a column are one.
    """
    matrix = design_matrix(regressors)
    varied = np.flatnonzero(matrix.varied())
    if len(varied) < 2:
        return ()
    eigenvalues, eigenvectors = np.linalg.eigh(np.corrcoef(matrix.columns[:, varied], rowvar=False))
    groups: list[set[int]] = []
    for vector in eigenvectors.T[eigenvalues <= SCORE_LIMITS.max_eigenvalue_confounded]:
        members = set(varied[np.abs(vector) >= SCORE_LIMITS.min_weight_confounded].tolist())
        joined = [group for group in groups if group & members]
        groups = [group for group in groups if not group & members] + [members.union(*joined)]
    return tuple(
        tuple((matrix.causes[column], matrix.factors[column]) for column in sorted(group))
        for group in groups
        if len(group) > 1
    )
