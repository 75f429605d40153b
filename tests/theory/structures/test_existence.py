"""Existence of maximum-likelihood fits: closed forms, proofs checked anew, linear programmes of another kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from recombine.cells import every_cell
from recombine.errors import InputError
from recombine.theory.identification import identify
from recombine.theory.structures import Existence, Limit, effect_limits, existence
from recombine.theory.structures.separation import recession
from recombine.theory.structures.separation.effects import effect_rows
from recombine.verdicts import Verdict


def random_table(seed: int, family: str) -> tuple[np.ndarray, np.ndarray, dict]:
    rng = np.random.default_rng([seed, len(family)])
    sizes = tuple(int(size) for size in rng.integers(2, 4, size=rng.integers(2, 4)))
    grid = every_cell(sizes)
    seen = grid[rng.random(len(grid)) < rng.choice([0.5, 0.8])]
    seen = seen if len(seen) else grid[:2]
    if family == "log":
        y = rng.poisson(rng.choice([0.5, 1.5]), len(seen))
    else:
        seen = np.repeat(seen, rng.integers(1, 4, len(seen)), axis=0)
        y = rng.integers(0, 2 if family == "logit" else 3, len(seen))
    extra = {"classes": 3} if family == "softmax" else {}
    return seen, y, {"family": family, "sizes": sizes, **extra}


def dense_constraints(found) -> tuple[np.ndarray, np.ndarray]:
    """Loose and tied rows, written out again from the definitions."""
    outcomes = found.outcomes
    rows = found.features.incidence(outcomes.cells).toarray()
    loose, tied = [], []
    for row, totals in zip(rows, outcomes.totals, strict=True):
        if outcomes.family.name == "softmax":
            for one, other in itertools.permutations(range(len(totals)), 2):
                if totals[one] > 0:
                    difference = np.outer(row, np.eye(len(totals))[one] - np.eye(len(totals))[other]).reshape(-1)
                    (tied if totals[other] > 0 else loose).append(difference)
        elif outcomes.family.name == "log":
            (tied if totals[0] > 0 else loose).append(-row)
        else:
            both = totals[0] > 0 and totals[1] > 0
            (tied if both else loose).append(row if totals[1] > 0 else -row)
    width = rows.shape[1] * (outcomes.classes if outcomes.family.per_class else 1)
    return np.array(loose).reshape(-1, width), np.array(tied).reshape(-1, width)


def span_of(function: np.ndarray, loose: np.ndarray, tied: np.ndarray) -> tuple[float, float]:
    """Least and largest product of a function with the directions of recession in a box."""
    width = len(function)
    limits = {"A_ub": -loose if len(loose) else None, "b_ub": np.zeros(len(loose)) if len(loose) else None}
    limits |= {"A_eq": tied if len(tied) else None, "b_eq": np.zeros(len(tied)) if len(tied) else None}
    ends = [linprog(sign * function, bounds=[(-1, 1)] * width, method="highs", **limits).fun for sign in (1, -1)]
    return ends[0], -ends[1]


def by_box(function: np.ndarray, loose: np.ndarray, tied: np.ndarray) -> str:
    low, high = span_of(function, loose, tied)
    return {(False, False): "finite", (False, True): "up", (True, False): "down", (True, True): "open"}[
        (low < -1e-7, high > 1e-7)
    ]


NAMES = {
    "logit": {Limit.FINITE: "finite", Limit.ONE: "up", Limit.ZERO: "down", Limit.OPEN: "open"},
    "log": {Limit.FINITE: "finite", Limit.INFINITE: "up", Limit.ZERO: "down", Limit.OPEN: "open"},
}
EFFECTS = {Limit.FINITE: "finite", Limit.INFINITE: "up", Limit.MINUS_INFINITE: "down", Limit.OPEN: "open"}


@pytest.mark.parametrize("family", ["logit", "log"])
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))])
def test_cells_agree_with_the_range_over_all_directions(family: str, seed: int) -> None:
    cells, y, options = random_table(seed, family)
    found = existence(cells, y, **options)
    loose, tied = dense_constraints(found)
    grid = every_cell(options["sizes"])
    rows = found.features.incidence(grid).toarray()
    ours = [NAMES[family][Limit(code)] for code in found.limits_of(grid)]
    assert ours == [by_box(row, loose, tied) for row in rows]
    names, matrix, unseen = effect_rows(found)
    wide = np.zeros((len(names), found.features.columns))
    wide[:, found.columns] = matrix.toarray()
    known = np.flatnonzero(~unseen)
    effects = effect_limits(found)
    assert [EFFECTS[effects[place].limit] for place in known] == [by_box(wide[place], loose, tied) for place in known]


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 10))])
def test_classes_agree_with_programmes_over_all_directions(seed: int) -> None:
    cells, y, options = random_table(seed, "softmax")
    found = existence(cells, y, **options)
    loose, tied = dense_constraints(found)
    strict = np.array([span_of(row, loose, tied)[1] > 1e-7 for row in loose], dtype=bool)
    level = np.vstack([tied, loose[~strict]])
    for cell, limits in zip(*(lambda g: (g, found.limits_of(g)))(every_cell(options["sizes"])), strict=True):
        row = found.features.incidence(cell[None]).toarray()[0]
        classes = [np.outer(row, np.eye(3)[one]).reshape(-1) for one in range(3)]
        zero = []
        for one in range(3):
            others = np.array([classes[other] - classes[one] for other in range(3) if other != one])
            free = linprog(
                np.zeros(loose.shape[1]),
                A_ub=np.vstack([-loose[strict], others]),
                b_ub=np.concatenate([-np.ones(strict.sum()), np.zeros(2)]),
                A_eq=level if len(level) else None,
                b_eq=np.zeros(len(level)) if len(level) else None,
                bounds=(None, None),
                method="highs",
            )
            zero.append(free.status == 2)
        left = [one for one in range(3) if not zero[one]]
        settled = all(by_box(classes[one] - classes[left[0]], loose, tied) == "finite" for one in left)
        rest = (Limit.ONE if len(left) == 1 else Limit.FINITE) if settled else Limit.OPEN
        assert [Limit(code) for code in limits] == [Limit.ZERO if gone else rest for gone in zero], cell


@pytest.mark.parametrize("family", ["logit", "softmax", "log"])
@pytest.mark.parametrize("seed", range(8))
def test_both_proofs_hold(family: str, seed: int) -> None:
    """Whole numbers: the direction rises on the strict rows alone; positive weights rule the others out."""
    cells, y, options = random_table(seed, family)
    found = existence(cells, y, **options)
    outcomes = found.outcomes
    loose, tied, _, _ = outcomes.family.constraints(found.rows(outcomes.cells), outcomes.totals > 0)
    proof = found.recession
    products = loose.toarray().astype(object) @ proof.direction
    assert (products[proof.strict] > 0).all()
    assert not products[~proof.strict].any()
    assert not (tied.toarray().astype(object) @ proof.direction).any()
    weights = proof.weights
    assert all(weight > 0 for weight in weights[: len(products)][~proof.strict])
    assert not any(weights[: len(products)][proof.strict])
    assert not (np.vstack([loose.toarray(), tied.toarray()]).T.astype(object) @ weights).any()


@pytest.mark.parametrize("seed", range(10))
def test_two_classes_are_logit(seed: int) -> None:
    cells, y, options = random_table(seed, "logit")
    one = existence(cells, y, **options)
    two = existence(cells, y, "softmax", sizes=options["sizes"], classes=2)
    assert one.separation == two.separation
    assert (one.support == two.support).all()
    grid = every_cell(options["sizes"])
    assert one.limits_of(grid).tolist() == two.limits_of(grid)[:, 1].tolist()
    assert [effect.limit for effect in effect_limits(one)] == [effect.limit for effect in effect_limits(two)]


def limits_on_grid(found: Existence) -> np.ndarray:
    limits = found.limits_of(every_cell(found.features.sizes))
    return limits.reshape(*found.features.sizes, *limits.shape[1:])


@pytest.mark.parametrize("family", ["logit", "softmax", "log"])
def test_where_the_fit_exists_cells_follow_as_sums_do(family: str) -> None:
    cells = np.array([[0, 0], [0, 1], [1, 0], [2, 2]]).repeat(3, axis=0)
    y = np.tile([0, 1, 2] if family != "logit" else [0, 1, 1], 4)
    found = existence(cells, y, family)
    assert found.exists
    assert found.separation == "overlap"
    linear = identify(cells).verdicts_on_grid() <= Verdict.DETERMINED
    limits = limits_on_grid(found)
    assert ((limits == Limit.FINITE) == (linear if family != "softmax" else linear[..., None])).all()
    assert ((limits == Limit.OPEN) | (limits == Limit.FINITE)).all()


def test_an_empty_level_in_a_table_of_counts() -> None:
    found = existence([[0, 0], [0, 1], [1, 0], [1, 1]], [3, 5, 0, 0], "log")
    assert found.support[:, 0].tolist() == [True, True, False, False]
    assert limits_on_grid(found).tolist() == [[Limit.FINITE] * 2, [Limit.ZERO] * 2]
    assert [effect.limit.name for effect in effect_limits(found)] == ["FINITE", "MINUS_INFINITE", "FINITE"]


def test_haberman_s_table_has_positive_margins_and_no_fit() -> None:
    """2 x 2 x 2 with all pairs and zeros in opposite corners: Haberman (1974); all two-way margins are positive."""
    table = np.array([[[0, 1], [2, 3]], [[4, 5], [6, 0]]])
    found = existence(every_cell((2, 2, 2)), table.reshape(-1), "log", order=2)
    assert all(table.sum(axis=axis).all() for axis in range(3))
    assert not found.exists
    assert found.support[:, 0].tolist() == [False, *[True] * 6, False]
    filled = table.copy()
    filled[0, 0, 0], filled[1, 1, 1], filled[0, 0, 1] = 1, 1, 0
    assert existence(every_cell((2, 2, 2)), filled.reshape(-1), "log", order=2).exists


def test_a_mean_can_be_determined_at_infinity() -> None:
    """log m(1,1) = log m(1,0) + log m(0,1) - log m(0,0), and m(0,0) is zero."""
    found = existence([[0, 0], [0, 1], [1, 0]], [0, 4, 7], "log")
    assert found.limits_of([[1, 1], [0, 0], [0, 1]]).tolist() == [Limit.INFINITE, Limit.ZERO, Limit.FINITE]


def test_opposite_limits_leave_a_cell_open() -> None:
    """Both levels are separated, one up and one down: their cell may go anywhere."""
    cells, y = [[0, 0], [0, 0], [1, 0], [0, 1]], [0, 1, 1, 0]
    found = existence(cells, y)
    assert limits_on_grid(found).tolist() == [[Limit.FINITE, Limit.ZERO], [Limit.ONE, Limit.OPEN]]
    assert found.linear.verdicts_of([[1, 1]])[0] == Verdict.DETERMINED


def test_complete_separation_by_one_factor() -> None:
    found = existence(every_cell((2, 3)), [0, 0, 0, 1, 1, 1])
    assert (found.exists, found.separation) == (False, "complete")
    assert limits_on_grid(found).tolist() == [[Limit.ZERO] * 3, [Limit.ONE] * 3]


def test_classes_of_an_unseen_cell() -> None:
    """Class 2 never met level 1 of the first factor, so the unseen cell has a chance of the others alone."""
    cells, y = [], []
    for cell, seen in (((0, 0), (0, 1, 2)), ((0, 1), (0, 1, 2)), ((1, 0), (0, 1))):
        cells += [cell] * len(seen)
        y += list(seen)
    found = existence(cells, y, "softmax", sizes=(2, 2))
    assert found.limits_of([[1, 1]]).tolist() == [[Limit.FINITE, Limit.FINITE, Limit.ZERO]]


def test_weights_of_zero_were_not_seen() -> None:
    cells, y = [[0], [0], [1], [1]], [0, 1, 0, 1]
    assert existence(cells, y).exists
    found = existence(cells, y, weights=[1, 1, 0, 2])
    assert found.limits_of([[0], [1]]).tolist() == [Limit.FINITE, Limit.ONE]


def test_separation_is_decided_where_floating_point_sees_none() -> None:
    """A chain of levels in which each effect has to be twice the last: 1 against 2 ** 45 along the only direction."""
    steps = 45
    rows = np.zeros((steps, steps + 1), dtype=np.int64)
    for step in range(steps):
        rows[step, step], rows[step, step + 1] = -2, 1
    loose, tied = np.eye(steps + 1, dtype=np.int64)[:1], rows
    found = recession(_sparse(loose), _sparse(tied))
    assert found.strict.tolist() == [True]
    assert found.direction.tolist() == [2**step for step in range(steps + 1)]


def _sparse(matrix: np.ndarray):
    from scipy.sparse import csr_array

    return csr_array(matrix)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0], [1]], [0, 2]), r"y\[1\] is 2; for logit give 0 or 1"),
        (([[0], [1]], [0, 3], "softmax"), None),
        (([[0], [1]], [0, -1], "log"), r"y\[1\] is -1; give numbers of at least 0"),
        (([[0], [1]], [0, 1], "probit"), r"family 'probit' is unknown"),
        (([[0], [1]], [0]), r"y has shape \(1,\) but there are 2 cells"),
    ],
)
def test_errors_name_the_value(arguments: tuple, words: str | None) -> None:
    if words is None:
        assert existence(*arguments).outcomes.classes == 4
        return
    with pytest.raises(InputError, match=words):
        existence(*arguments)


def test_errors_name_sizes_and_cells() -> None:
    with pytest.raises(InputError, match=r"sizes \[1, 1\] do not hold all cells"):
        existence([[0, 1]], [1], sizes=(1, 1))
    with pytest.raises(InputError, match=r"cells\[0, 1\] is level 5 but factor 1 has 2 levels"):
        existence([[0, 1]], [1]).limits_of([[0, 5]])
    with pytest.raises(InputError, match="no row has a positive weight"):
        existence([[0, 1]], [1], weights=[0])
