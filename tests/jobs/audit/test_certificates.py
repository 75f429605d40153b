"""The certificates worth reading: each gives the value it promises, short ones are found, held-out cells come first."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_audits import flights
from recombine.jobs.audit.certificates import (
    MAX_CELLS_SEARCHED_ALL,
    SLOW_CERTIFICATES_SHOWN,
    cells_to_show,
    certificates_to_show,
)
from recombine.verdicts import Verdict


def disconnected() -> rc.Audit:
    rows = [
        (f"plate {i}", f"batch {j}", i - j + 0.1 * k)
        for i in range(9)
        for j in range(9)
        if i // 3 == j // 3
        for k in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["plate", "batch", "diameter"])
    return rc.audit(rc.Design.from_frame(frame, factors=["plate", "batch"], outcome="diameter"))


def unseen_levels() -> rc.Audit:
    rows = [
        (f"d{i}", f"l{j}", float(i * j), "test" if i == 5 or (i + j) % 3 == 0 else "train")
        for i in range(6)
        for j in range(6)
    ]
    frame = pd.DataFrame(rows, columns=["drug", "line", "response", "fold"])
    return rc.audit(rc.Design.from_frame(frame, factors=["drug", "line"], outcome="response", split="fold=train"))


def test_certificates_give_the_value_they_promise() -> None:
    audit = flights()
    shown = certificates_to_show(audit.values)
    assert len(shown) == 10
    assert len({item.label for item in shown}) == 10
    for item in shown:
        signs = [-1.0 if term.sign == "−" else 1.0 for term in item.terms]
        sizes = [float(Fraction(term.weight or 1)) for term in item.terms]
        total = sum(s * w * (term.observed or 0) for s, w, term in zip(signs, sizes, item.terms, strict=True))
        assert total == pytest.approx(item.by_sum)


@pytest.mark.slow
def test_short_certificates_are_found_in_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    cells = np.unique((generator.random((3_000, 3)) ** 2 * [120, 60, 40]).astype(int), axis=0)
    audit = rc.audit(rc.Design.from_cells(cells, cells @ [1.0, 2.0, 3.0], sizes=(120, 60, 40)))
    assert len(audit.decided.identification.seen) > MAX_CELLS_SEARCHED_ALL
    shown = certificates_to_show(audit.values)
    assert len(shown) == 10
    assert min(len(item.terms) for item in shown) == 3
    assert {item.reason for item in shown} == {"highest leverage", "lowest leverage"}
    for item in shown:
        assert item.certificate.verified
        assert not item.further
        assert item.by_sum == pytest.approx(item.certified)
    # Where only so many terms are written, sums of exactly so many are.
    longest = max(len(item.terms) for item in shown)
    assert longest > 3
    monkeypatch.setattr(sys.modules["recombine.jobs.audit.certificates"], "MAX_TERMS_WRITTEN", longest)
    assert longest in {len(item.terms) for item in certificates_to_show(audit.values)}


def test_held_out_cells_are_shown_first() -> None:
    audit = unseen_levels()
    rows = cells_to_show(audit.decided)
    assert certificates_to_show(audit.values)[0].reason == "held out"
    held = {tuple(cell) for cell in audit.design.held_out.tolist()}
    assert rows[0][1] == "held out"
    assert all(tuple(audit.decided.listing.cells[row].tolist()) in held for row, why in rows if why == "held out")
    assert all(audit.decided.codes[row] == Verdict.DETERMINED for row, _ in rows)


def test_what_was_measured_of_a_held_out_cell_stands_beside_its_sum() -> None:
    audit = unseen_levels()
    design = audit.design
    outcomes = {
        design.label(cell): value
        for cell, value in zip(design.held_out, design.outcome[~design.train].tolist(), strict=True)
    }
    shown = certificates_to_show(audit.values)
    assert [item.measured for item in shown] == [outcomes.get(item.label) for item in shown]
    assert any(item.measured is not None for item in shown)
    # Members of a pair have no order: (c, a) was held out, and is what is shown as (a, c).
    cells = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [2, 0]])
    pairs = rc.Design.from_cells(cells, 1.0 * cells.sum(axis=1) + 5, train=np.arange(6) < 5, symmetric=[(0, 1)])
    assert [item.measured for item in certificates_to_show(rc.audit(pairs).values)] == [7.0]


@pytest.mark.slow
def test_fewer_are_looked_for_where_each_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.indices((6, 5, 4)).reshape(3, -1).T
    seen = cells[np.random.default_rng(0).random(len(cells)) < 0.4]
    values = rc.audit(rc.Design.from_cells(seen, 1.0 * seen.sum(axis=1), sizes=(6, 5, 4))).values
    module = "recombine.jobs.audit.certificates"
    count, conjunctions = len(seen), len(values.decided.identification.null.columns)
    for cells_over, conjunctions_over, shown in ((0, 0, 10), (1, 0, 10), (0, 1, 10), (1, 1, SLOW_CERTIFICATES_SHOWN)):
        monkeypatch.setattr(sys.modules[module], "SLOW_CELLS", count - cells_over)
        monkeypatch.setattr(sys.modules[module], "SLOW_CONJUNCTIONS", conjunctions - conjunctions_over)
        assert len(certificates_to_show(values)) == shown
    assert len(certificates_to_show(values, 2)) == 2


def test_sums_that_are_no_cubes_are_not_looked_for_among_very_many_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    # A hexagon of seen cells: its last corner is a sum of five, and no three cells give it.
    seen = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [2, 2, 0], [0, 0, 1]])
    values = rc.audit(rc.Design.from_cells(seen, 1.0 * seen.sum(axis=1), sizes=(3, 3, 2))).values
    module = sys.modules["recombine.jobs.audit.certificates"]
    monkeypatch.setattr(module, "MAX_CELLS_SEARCHED_ALL", 0)
    monkeypatch.setattr(module, "MAX_CONJUNCTIONS_SEARCHED_ALL", 0)
    searched = {item.label: len(item.terms) for item in certificates_to_show(values, 40)}
    monkeypatch.setattr(module, "MAX_FACTORS_SEARCHED", 2)
    cubes = {item.label: len(item.terms) for item in certificates_to_show(values, 40)}
    assert max(searched.values()) > 3
    assert cubes == {label: terms for label, terms in searched.items() if terms == 3}
