"""Sentences of one audit agree with each other: on open cells, where nothing is beyond chance, and in their numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import recombine as rc
from recombine.cells import every_cell
from recombine.report.audit import page
from recombine.words import vocabulary

#: What denies that an open cell has a value.
DENIALS = re.compile(r"any value fits|there is no value|cannot be told(?! apart)|data cannot tell|no model can know")


def told(audit: rc.Audit) -> str:
    """Return all that a terminal and the HTML report say of an audit, on one line and without marks."""
    html = re.sub(r"<(style|script)\b.*?</\1>", " ", page(audit), flags=re.DOTALL)
    return re.sub(r"\s+", " ", f"{audit.summary} {re.sub('<[^>]+>', ' ', html)}")


@pytest.fixture(scope="module")
def open_cells() -> rc.Audit:
    """Two blocks that never meet, and a third level of the first factor that was held out."""
    cells = every_cell((5, 6))
    blocks = (cells[:, 0] < 2) == (cells[:, 1] < 3)
    outcome = 3.0 * cells[:, 0] + cells[:, 1] + np.random.default_rng(0).normal(size=len(cells)) / 10
    kept = blocks | (cells[:, 0] == 4)
    return rc.audit(rc.Design.from_cells(cells[kept], outcome[kept], train=cells[kept, 0] < 4))


@pytest.mark.slow
def test_cells_that_the_data_leave_open_are_not_denied_their_value(open_cells: rc.Audit) -> None:
    verdicts, rests = open_cells.verdicts, open_cells.verdicts["rests on"].tolist()
    assert {"prior", "new level"} <= set(rests)
    assert np.isfinite(verdicts["predicted"]).all()
    text = told(open_cells)
    assert "are not settled by the data" in text
    assert not DENIALS.search(text)
    assert not DENIALS.search(
        str({name: vocabulary()[name] for name in ("verdicts", "actions", "findings", "phrases")})
    )


#: What claims effects, their shares, or that something carries them over.
CLAIMS = re.compile(
    r"RC20\d|reaches unseen cells|Such a share|carried by|What carries|will be off by about|With early stopping"
    r"|explains? \d|(is|is roughly) right here|depart most|a shortcut|effect is too small|estimates at best"
)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_where_nothing_is_beyond_chance_no_sentence_claims_that_something_is(repeats: int) -> None:
    cells = np.repeat(every_cell((6, 8))[np.random.default_rng(1).random(48) < 0.6], repeats, axis=0)
    audit = rc.audit(rc.Design.from_cells(cells, outcome=np.random.default_rng(2).normal(size=len(cells))))
    text = told(audit) if repeats == 1 else " ".join(audit.summary.split())
    assert "No value is better than the mean" in text
    assert [finding.code for finding in audit.findings if finding.code != "RC302"] == ["RC304"]
    assert not CLAIMS.search(text)


def test_combinations_that_differ_by_more_than_noise_are_not_said_to_do_so_by_chance() -> None:
    """A sum of two levels, odd or even, is an interaction through and through: no level says anything by itself."""
    cells = np.repeat(np.delete(every_cell((4, 4)), [3, 9], axis=0), 3, axis=0)
    outcome = 2.0 * (cells.sum(axis=1) % 2) + np.random.default_rng(0).normal(size=len(cells)) / 5
    text = " ".join(rc.audit(rc.Design.from_cells(cells, outcome=outcome), order=1).summary.split())
    assert "Interaction is real" in text
    assert "not beyond chance, and every" not in text


#: A count of one with a noun of many; "factor 1 levels" is a name, and "0 of 1 cells" counts others.
ONE_OF_MANY = re.compile(
    r"(?<!factor )(?<!order )(?<! of )\b1 ((un)?seen |target |listed |held-out |determined |training |test |more )*"
    r"(cells|rows|combinations|levels|terms)\b|All 1 "
)


@pytest.fixture(scope="module")
def products() -> rc.Audit:
    """Levels multiply without noise, and one cell is missing."""
    cells = every_cell((3, 3))
    outcome = np.array([1.0, 2.0, 5.0])[cells[:, 0]] * np.array([1.0, 3.0, 7.0])[cells[:, 1]]
    return rc.audit(rc.Design.from_cells(cells[:-1], outcome[:-1]))


def test_values_of_effects_that_multiply_are_said_to_be_such(products: rc.Audit) -> None:
    assert products.verdicts["predicted"].tolist() == pytest.approx([35.0])
    text = " ".join(products.summary.split())
    assert "Values weigh all effects by what they carry, taking it that effects multiply: " in text
    assert "the outcome of a seen combination is found exactly." in text
    assert "predicted 35, standard error 0; so if effects multiply" in text
    assert "estimates at best" not in text


@pytest.mark.slow
def test_one_cell_is_not_counted_as_many(products: rc.Audit) -> None:
    text = told(products)
    assert "The one unseen cell is listed." in text
    assert [match.group() for match in ONE_OF_MANY.finditer(text)] == []


def test_a_check_by_replicates_names_no_cells_that_depart_and_no_reason_against_it() -> None:
    """Two values, three factors of two levels, one cell missing, many rows of each other."""
    cells = np.repeat(every_cell((2, 2, 2))[:-1], 400, axis=0)
    bought = np.random.default_rng(0).random(len(cells)) < 0.1 + cells @ [0.25, 0.12, 0.06]
    text = " ".join(rc.audit(rc.Design.from_cells(cells, bought.astype(float))).summary.split())
    assert "Additivity holds: the replicates show no interaction" in text
    assert "Additivity holds: only" not in text
    assert "depart most" not in text
