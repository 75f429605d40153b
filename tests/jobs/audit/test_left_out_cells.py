"""Cells left out: what is affordable is decided by counts, and what is left out is said everywhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

import recombine as rc
from recombine.jobs.audit import additivity
from recombine.jobs.audit.additivity import AdditivityState, check_additivity
from recombine.report.audit.page import page
from recombine.report.audit.record import audit_json
from recombine.words.additivity import additivity_statement
from recombine.words.verdicts import left_out_sentences


@pytest.fixture
def design():
    generator = np.random.default_rng(0)
    cells = np.unique(generator.integers(0, (5, 4, 4, 3), size=(130, 4)), axis=0)
    return rc.Design.from_cells(cells, cells.sum(axis=1) + generator.standard_normal(len(cells)))


@pytest.mark.slow
def test_an_order_beyond_the_budget_is_left_out_and_said_in_every_medium(design, monkeypatch):
    whole = rc.audit(design)
    assert [check.order for check in whole.structure.additivity.orders] == [1, 2]
    assert left_out_sentences(whole) == []
    assert "Left out to save time" not in whole.summary
    monkeypatch.setattr(additivity, "MAX_OPERATIONS", 0.0)
    short = rc.audit(design)
    assert [check.order for check in short.structure.additivity.orders] == [1]
    assert short.structure.additivity.orders[0].error == whole.structure.additivity.orders[0].error
    (sentence,) = left_out_sentences(short)
    assert "interactions of 2 factors" in sentence
    assert "--order 2" in sentence
    assert json.loads(audit_json(short))["left_out"] == [sentence]
    assert sentence in " ".join(short.summary.split())
    assert sentence in page(short)


@pytest.mark.slow
def test_an_order_that_was_asked_for_is_checked_whatever_it_takes(design, monkeypatch):
    monkeypatch.setattr(additivity, "MAX_OPERATIONS", 0.0)
    assert [check.order for check in rc.audit(design, order=2).structure.additivity.orders] == [1, 2]


def test_fits_that_there_are_already_change_nothing(design):
    fits = {order: additivity.fit_order(design, order) for order in (1, 2)}
    given, made = check_additivity(design, fits=fits), check_additivity(design)
    for one, other in zip(given.orders, made.orders, strict=True):
        assert (one.tested, one.error, one.baseline) == (other.tested, other.error, other.baseline)


def test_one_fold_of_many_cells_speaks_for_the_rest(design, monkeypatch):
    """Held out are a fifth of the cells; that the others were not tried is no sign that nothing determines them."""
    monkeypatch.setattr("recombine.theory.identification.additive_fit.MAX_DENSE_SVD_ENTRIES", 0)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", -1)
    monkeypatch.setattr(additivity, "MAX_CELLS_ALL_FOLDS", 0)
    check = check_additivity(design, (1,))
    (first,) = check.orders
    assert first.tested == first.tried < 0.3 * first.seen
    assert check.state != AdditivityState.UNCHECKED
    assert "held out at random" in additivity_statement(check)
