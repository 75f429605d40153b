"""What carries an outcome, by names of factors: the table, its sums by size, and the words for both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray, IntArray
from recombine.jobs.values.outcome_shares import SIZES, OutcomeShares, outcome_shares
from recombine.theory.components import fit_components
from recombine.theory.components.shares import VarianceShares
from recombine.words.values import network_shares_sentence, noise_phrase, shares_sentence


def _grid(*sizes: int) -> IntArray:
    return np.indices(sizes).reshape(len(sizes), -1).T


def _shares(cells: IntArray, outcome: FloatArray, *names: str) -> OutcomeShares:
    shares = rc.audit(rc.Design.from_cells(cells, outcome, names=names)).values.shares
    assert shares is not None
    return shares


@pytest.fixture
def paired() -> OutcomeShares:
    """An outcome of three factors that the pair of the first two carries, with little noise."""
    rng, cells = np.random.default_rng(0), _grid(7, 6, 4)
    pair = rng.normal(size=(7, 6))[cells[:, 0], cells[:, 1]]
    return _shares(cells, 3.0 * pair + 0.1 * rng.normal(size=len(cells)), "drug", "line", "dose")


def test_the_set_that_carries_the_outcome_comes_first(paired: OutcomeShares) -> None:
    rows = list(paired.table.rows())
    assert rows[0]["set"] == "drug × line"
    assert rows[0]["share"] > 0.5
    assert rows[-1]["set"] == "noise"
    assert sum(row["share"] for row in rows) == pytest.approx(1)


def test_shares_by_size_are_sums_of_those_of_sets(paired: OutcomeShares) -> None:
    own = next(paired.by_size.rows())
    for size, name in enumerate(SIZES[:2], start=1):
        expected = sum(row["share"] for row in paired.table.rows() if row["size"] == size)
        assert own[name] == pytest.approx(expected)
    for row in paired.by_size.rows():
        assert sum(row[name] for name in (*SIZES, "noise")) == pytest.approx(1)


def test_deeper_networks_begin_with_less_on_single_factors(paired: OutcomeShares) -> None:
    _, shallow, deep = paired.by_size.rows()
    assert (shallow["layers"], deep["layers"]) == (1, 3)
    assert shallow["single factors"] > deep["single factors"]
    assert "1 hidden layer puts" in network_shares_sentence(paired)


@pytest.mark.slow
def test_without_rows_that_repeat_pairs_and_noise_have_one_name() -> None:
    rng, cells = np.random.default_rng(1), _grid(8, 6)
    outcome = 2.0 * cells[:, 0] + rng.normal(size=len(cells))
    once = _shares(cells, outcome, "drug", "dose")
    assert noise_phrase(once) == "pairs or noise"
    rows = np.repeat(cells, 3, axis=0)
    thrice = _shares(rows, np.repeat(outcome, 3) + rng.normal(size=len(rows)), "drug", "dose")
    assert noise_phrase(thrice) == "noise"
    sentence = shares_sentence(once, "yield")
    assert sentence.startswith("Most of yield is carried by drug: ")
    assert "pairs or noise" in sentence


def test_names_of_factors_cannot_forge_lines() -> None:
    cells = _grid(8, 6)
    shares = _shares(cells, (2 * cells[:, 0] + cells[:, 1]).astype(float), "a\n::error::b", "dose")
    assert "\n" not in shares_sentence(shares, "y\nz")


def test_an_outcome_of_noise_alone_has_no_shares() -> None:
    cells = _grid(6, 5)
    outcome = np.random.default_rng(5).normal(size=len(cells))
    audit = rc.audit(rc.Design.from_cells(cells, outcome))
    assert audit.values.components is not None
    assert (audit.values.shares is None) == (not audit.values.components.terms)
    assert rc.audit(rc.Design.from_cells(cells)).values.shares is None


def test_factors_that_are_one_are_named_together() -> None:
    rng = np.random.default_rng(0)
    cells = np.array([[left, right] for left in range(9) for right in range(left, 9) if rng.random() < 0.8])
    outcome = rng.normal(size=9)[cells].sum(axis=1) + 0.1 * rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, outcome, names=["left", "right"], symmetric=[(0, 1)])
    shares = rc.audit(design).values.shares
    assert shares is not None
    assert shares.table["set"].tolist()[0] == "left/right"


@pytest.mark.parametrize(("count", "networks"), [(1, 0), (2, 2), (20, 2), (21, 0)])
def test_networks_are_set_beside_tables_of_some_factors(count: int, networks: int) -> None:
    sets = ((0,), (), *([(0, 1)] if count > 1 else []), *([(0, 1, 2), (0, 1, 2, 3)] if count > 3 else []))
    share = np.arange(1.0, len(sets) + 1)
    cells = np.random.default_rng(0).integers(0, 2, (20, count))
    shares = OutcomeShares(VarianceShares(sets, share, share, share, True), tuple(map(str, range(count))), cells)
    own, *begun = shares.by_size.rows()
    assert [own[name] for name in (*SIZES, "noise")] == [1, 3 if count > 1 else 0, 9 if count > 3 else 0, 2]
    assert [row["layers"] for row in begun] == [1, 3][:networks]
    assert all(row["noise"] == 0 for row in begun)


def test_shares_need_components_and_an_outcome_that_varies() -> None:
    cells = _grid(5, 4)
    fit = fit_components(cells, (2.0 * cells[:, 0] + cells[:, 1]))
    assert outcome_shares(fit, "ab", cells) is not None
    assert outcome_shares(replace(fit, terms=()), "ab", cells) is None
    assert outcome_shares(replace(fit, y=np.ones(20)), "ab", cells) is None
