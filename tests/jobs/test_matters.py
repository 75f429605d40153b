"""Audits weighted by importance: sums, lists and findings against a loop over every cell."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.cells.conjunctions import contains, every_cell
from recombine.design import Design
from recombine.jobs import Importance
from recombine.jobs.importance import ANY
from recombine.report.audit.record import audit_json
from recombine.verdicts import Verdict
from recombine.words.importance import importance_statement
from recombine.words.plan import plan_sentence
from recombine.words.table import listing_sentence
from recombine.words.verdicts import UNSEEN

ABOUT_CELLS = {"RC101", "RC102", "RC105", "RC106", "RC110"}


@st.composite
def weighted(draw: st.DrawFn, values: tuple[float, ...] = (0.0, 0.0, 1.0, 0.5, 8.0)) -> tuple[Design, Importance]:
    sizes = draw(st.sampled_from([(3, 3), (2, 4), (4, 4), (2, 2, 3)]))
    cells = every_cell(sizes)
    chosen = draw(st.lists(st.integers(0, len(cells) - 1), min_size=2, max_size=9, unique=True))
    outcome = draw(st.lists(st.integers(-5, 5), min_size=len(chosen), max_size=len(chosen)))
    design = Design.from_cells(cells[chosen], np.array(outcome, dtype=float), sizes=sizes)
    weights = draw(st.lists(st.sampled_from(values), min_size=len(cells), max_size=len(cells)))
    return design, Importance(cells, np.array(weights))


@given(weighted())
def test_shares_are_sums_over_every_unseen_cell(case: tuple[Design, Importance]) -> None:
    design, importance = case
    found = rc.audit(design, 1, importance=importance)
    assert found.decided.matters is not None
    sums = dict.fromkeys(Verdict, 0.0)
    counts = dict.fromkeys(Verdict, 0)
    for cell, weight in zip(importance.patterns, importance.values, strict=True):
        verdict = Verdict(int(found.decided.verdicts_of(cell[None])[0]))
        sums[verdict] += weight
        counts[verdict] += weight > 0
    whole = sum(sums[verdict] for verdict in UNSEEN)
    for verdict in UNSEEN:
        assert found.decided.matters.sums[verdict] == pytest.approx(sums[verdict])
        assert found.decided.matters.count(verdict) == counts[verdict]
        assert found.decided.matters.share(verdict) == pytest.approx(sums[verdict] / whole if whole else 0)
    assert found.decided.matters.sums[Verdict.SEEN] == pytest.approx(sums[Verdict.SEEN])


@given(weighted())
def test_the_most_important_cells_are_listed_first_and_none_is_lost(case: tuple[Design, Importance]) -> None:
    design, importance = case
    plain, found = rc.audit(design, 1), rc.audit(design, 1, importance=importance)
    listed = importance.of(found.decided.listing.cells)
    assert all(first >= second for first, second in pairwise(listed.tolist()))
    assert found.decided.listing.typical.tolist() == plain.decided.listing.cells.tolist()
    assert sorted(found.decided.listing.cells.tolist()) == sorted(plain.decided.listing.cells.tolist())
    assert found.verdicts["importance"].tolist() == listed.tolist()
    assert listing_sentence(found.decided.listing) == listing_sentence(plain.decided.listing)


@pytest.mark.slow
@given(weighted(values=(3.0,)))
def test_equal_weights_change_no_share_finding_or_forecast(case: tuple[Design, Importance]) -> None:
    design, importance = case
    plain, found = rc.audit(design, 1), rc.audit(design, 1, importance=importance)
    assert found.decided.matters is not None
    unseen = plain.decided.counts.total - plain.decided.counts[Verdict.SEEN]
    for verdict in UNSEEN:
        assert found.decided.matters.share(verdict) == pytest.approx(
            plain.decided.counts[verdict] / unseen if unseen else 0
        )
    assert [item.code for item in found.findings] == [item.code for item in plain.findings]
    assert found.decided.listing.cells.tolist() == plain.decided.listing.cells.tolist()
    assert found.forecast.error == plain.forecast.error


@given(weighted())
def test_a_finding_about_cells_is_raised_if_and_only_if_one_of_them_matters(case: tuple[Design, Importance]) -> None:
    design, importance = case
    plain, found = rc.audit(design, 1), rc.audit(design, 1, importance=importance)
    weights = importance.of(plain.decided.listing.cells)
    concerned = {
        "RC101": plain.decided.codes == Verdict.DISCONNECTED,
        "RC102": plain.decided.codes == Verdict.UNSEEN_LEVEL,
        "RC106": (plain.decided.codes == Verdict.DETERMINED) & (np.nan_to_num(plain.decided.leverage) > 4),
    }
    expected = {code for code, cells in concerned.items() if (cells & (weights > 0)).any()}
    assert {item.code for item in found.findings} & ABOUT_CELLS == expected
    others = [item for item in plain.findings if item.code not in ABOUT_CELLS]
    assert [item.message for item in found.findings if item.code not in ABOUT_CELLS] == [x.message for x in others]


def test_levels_never_seen_are_named_only_if_they_matter() -> None:
    design = Design.from_cells([[0, 0], [0, 1], [1, 0]], sizes=(4, 3), names=["colour", "shape"])
    table = pd.DataFrame({"colour": [2, 1], "importance": [2.0, 1.0]})
    message = next(item for item in rc.audit(design, importance=table).findings if item.code == "RC102").message
    assert message.startswith("colour '2', shape '2' never occur in training")
    table = pd.DataFrame({"colour": [2, 2, 1], "shape": [0, 1, 1], "importance": [2.0, 1.0, 1.0]})
    message = next(item for item in rc.audit(design, importance=table).findings if item.code == "RC102").message
    assert message == (
        "colour '2' never occurs in training; 2 cells with an unseen level matter, 75.0 % of what matters"
    )


def test_targets_are_weighted_among_themselves() -> None:
    design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["colour", "shape"])
    targets = pd.DataFrame({"colour": [2, 1, 0], "shape": [0, 1, 0], "traffic": [1.0, 3.0, 9.0]})
    found = rc.audit(design, targets=targets, importance=(targets, "traffic"))
    assert found.decided.listing.cells.tolist() == [[0, 0], [1, 1], [2, 0]]
    assert found.decided.matters is not None
    assert found.decided.matters.share(Verdict.DETERMINED) == 0.75
    assert importance_statement(found.decided.matters).startswith(
        "Cells are weighted by the mean of column 'traffic' of the table over their rows; one without rows there has "
        "importance 0. 2 unseen target cells matter (importance over 0)"
    )
    fresh = targets.assign(colour=[3, 1, 0])
    found = rc.audit(design, targets=fresh, new_levels=True, importance=(fresh, "traffic"))
    assert found.decided.matters is not None
    assert found.decided.matters.share(Verdict.UNSEEN_LEVEL) == 0.25


def test_cells_that_matter_in_a_huge_product_are_judged_exactly() -> None:
    generator = np.random.default_rng(1)
    design = Design.from_cells(generator.integers(0, 40, size=(300, 5)), sizes=(40,) * 5)
    cells = generator.integers(0, 40, size=(20, 5))
    importance = Importance(cells, np.arange(1.0, 21.0))
    plain, found = rc.audit(design, 1), rc.audit(design, 1, importance=importance)
    assert found.decided.matters is not None
    assert found.decided.matters.exact
    codes = found.decided.verdicts_of(cells)
    for verdict in UNSEEN:
        assert found.decided.matters.sums[verdict] == importance.values[codes == verdict].sum()
    first = found.decided.listing.cells[: len(cells)]
    assert contains(first, cells[codes != Verdict.SEEN]).all()
    assert found.decided.listing.typical.tolist() == plain.decided.listing.cells.tolist()
    assert listing_sentence(found.decided.listing).startswith(
        "The 20 unseen cells that matter are listed first. 10,000 unseen cells"
    )
    assert found.decided.counts == plain.decided.counts


def test_too_many_cells_that_matter_are_weighed_as_far_as_they_are_listed() -> None:
    generator = np.random.default_rng(1)
    design = Design.from_cells(generator.integers(0, 40, size=(300, 5)), sizes=(40,) * 5)
    rule = np.full((1, 5), ANY)
    rule[0, 0] = 7
    found = rc.audit(design, 1, importance=Importance(rule, np.ones(1)))
    assert found.decided.matters is not None
    assert found.decided.matters.scope == "listed"
    assert "are those of listed ones" in importance_statement(found.decided.matters)
    assert "among the listed" in found.summary
    assert all(cell[0] == 7 for cell in found.decided.listing.cells[: len(found.decided.matters.codes)].tolist())


def test_every_face_says_what_matters() -> None:
    design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["colour", "shape"])
    table = pd.DataFrame({"colour": [1, 2], "shape": [1, 0], "importance": [3, 1]})
    found = rc.audit(design, importance=table)
    record = json.loads(audit_json(found, found.plan(1)))
    assert record["importance"]["shares"]["determined"] == 0.75
    assert record["importance"]["cells"]["disconnected"] == 1
    assert record["verdicts"][0]["importance"] == 3
    assert record["plan"]["cells"][0]["importance"] == 0.25
    for text in (found.summary, rc.jobs.audit.Audit._repr_html_(found)):
        assert "75.0 % of what matters" in " ".join(text.split())
    assert "Of what matters, 75.0 % is determined and 25.0 % is disconnected." in found.summary


def test_nothing_found_speaks_of_what_matters_only() -> None:
    cells = [[i, j] for i in range(4) for j in range(4) if (i, j) != (3, 3)]
    design = Design.from_cells([*cells, [4, 4]], [float(i + j) for i, j in [*cells, [4, 4]]])
    table = pd.DataFrame({"factor 1": [3], "factor 2": [3], "importance": [1]})
    found = rc.audit(design, importance=table)
    assert not {item.code for item in found.findings} & ABOUT_CELLS
    assert "All that matters of the unseen combinations is determined." in found.summary
    assert plan_sentence(found.plan(None)) == "Every unseen cell that matters is determined already."


def test_rows_that_cannot_exist_are_told() -> None:
    cells = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    design = Design.from_cells(cells, names=["plant", "soil", "dose"], nested=["plant/soil"])
    table = pd.DataFrame({"plant": [0, 0], "soil": [1, 0], "dose": [0, 0], "importance": [1, 1]})
    found = rc.audit(design, importance=table)
    assert found.decided.matters is not None
    assert "1 row names a cell that cannot exist." in importance_statement(found.decided.matters)
    assert "No unseen combination matters." in found.summary
