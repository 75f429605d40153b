"""All ways of solving normal equations agree with plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.structures import normal_equations as ways
from recombine.theory.structures.terms import design_of, scaled_rows


def drawn(sizes, cells, order, seed, symmetric=()):
    """Draw a design with its outcomes and weights."""
    rng = np.random.default_rng(seed)
    codes = np.unique(np.stack([rng.integers(0, size, cells) for size in sizes], axis=1), axis=0)
    if symmetric:
        codes = np.unique(np.sort(codes, axis=1), axis=0)
    terms, design = design_of(codes, order, symmetric)
    weights = rng.uniform(0.5, 2, len(codes))
    y = rng.normal(size=len(codes))
    return terms, design, y - weights @ y / weights.sum(), weights


DRAWN = {
    "pairs": ((9, 8, 4), 250, 2),
    "main effects": ((40, 12), 200, 1),
    "triples": ((5, 4, 3, 3), 170, 3),
    "one large factor": ((60, 3, 2), 250, 2),
    "two departures at random": ((2,) * 9, 90, 2),
    "symmetric": ((11, 11), 100, 2, 0, ((0, 1),)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_way_solves_the_normal_equations_and_has_the_traces(name):
    shape = DRAWN[name]
    terms, design, y, weights = drawn(*shape[:3], 7, *shape[4:])
    gram = (design.T @ scaled_rows(design, weights)).tocsr()
    dense = design.toarray()
    centred = dense - weights @ dense / weights.sum()
    systems = [
        ways._Factored(design, y, weights, gram),
        ways._Tridiagonal(design, y, weights, gram, terms.size),
        ways._Eliminated(design, y, weights, gram, terms.size),
    ]
    for shrinkage in ([0.3, 2.0, 0.1], [5.0, 1e-3, 40.0], [1e-2, 1e3, 1e3]):
        ridge = np.array(shrinkage)[terms.size - 1]
        inverse = np.linalg.inv(centred.T @ (weights[:, None] * centred) + np.diag(ridge))
        effects = inverse @ centred.T @ (weights * y)
        misfit = weights @ (y - centred @ effects) ** 2
        traces = np.bincount(terms.size, inverse.diagonal())
        for system in systems:
            solution, spread = system.solve(ridge)
            assert np.allclose(solution, effects, rtol=1e-8, atol=1e-9 * np.abs(effects).max())
            assert np.allclose(np.bincount(terms.size, spread), traces, rtol=1e-9)
            assert np.isclose(system.misfit(solution), misfit, rtol=1e-9)
            assert np.allclose(system.diagonal, (weights @ centred**2), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", DRAWN)
def test_columns_apart_never_occur_together_and_no_further_one_is_apart_from_them(name):
    shape = DRAWN[name]
    terms, design, _, weights = drawn(*shape[:3], 3, *shape[4:])
    apart = ways.columns_apart((design.T @ scaled_rows(design, weights)).tocsr())
    together = (design.T @ design).toarray() > 0
    assert not (together[np.ix_(apart, apart)] & ~np.eye(len(apart), dtype=bool)).any()
    assert together[:, apart].any(axis=1).all()
    assert 1 <= len(apart) == len(np.unique(apart)) <= terms.columns


def test_a_large_factor_is_eliminated_and_many_alike_ones_are_made_tridiagonal():
    large, alike = drawn((400, 5), 1_500, 1, 0), drawn((6,) * 5, 3_000, 2, 0)
    assert isinstance(ways.normal_equations(*large), ways._Eliminated)
    assert isinstance(ways.normal_equations(*alike), ways._Tridiagonal)
