"""What stops a build: each word by its own change, and no word about the other kind of document."""

from __future__ import annotations

import pytest

import recombine as rc
from recombine.jobs.comparison import Conditions

CELLS = [[0, 0], [0, 1], [1, 0], [2, 2]]


def audit(cells, **options) -> rc.Audit:
    return rc.audit(rc.Design.from_cells(cells, names=["colour", "shape"], **options))


LESS, MORE = audit(CELLS), audit([*CELLS, [2, 0]])


@pytest.mark.parametrize(
    ("words", "before", "after", "met"),
    [
        ("lost", LESS, MORE, []),
        ("lost", MORE, LESS, ["lost: 4 cells no longer seen or determined"]),
        ("new-findings", MORE, LESS, ["new-findings: 1 new finding (RC101)"]),
        ("RC101", MORE, LESS, ["RC101: 1 new finding"]),
        ("rc101", LESS, LESS, []),
        ("RC102", MORE, LESS, []),
        ("gone-levels", MORE, audit([[0, 0], [0, 1], [1, 0]]), ["gone-levels: colour 2, shape 2"]),
        ("gone-levels", LESS, MORE, []),
    ],
)
def test_a_word_is_met_by_its_own_change(words, before, after, met):
    assert Conditions.named([words]).met(rc.compare(before, after)) == met


def test_what_cannot_be_told_is_not_passed_over():
    other = rc.audit(rc.Design.from_cells([[0, 0], [1, 1]], names=["colour", "site"]))
    found = rc.compare(LESS, other)
    with pytest.raises(rc.InputError, match="--fail-on lost cannot be told: the factors are not the same; leave it"):
        Conditions.named(["lost"]).met(found)
    assert Conditions.named(["gone-levels"]).met(found) == ["gone-levels: factor shape, colour 2"]


def test_notes_count_where_they_are_named():
    """A chain that becomes determined is shaky, which is no reason to stop a build unless one says so."""
    cells = [[0, 0], [0, 1], [1, 0], [2, 2]]
    found = rc.compare(audit(cells), audit([*cells, [2, 1]]))
    assert [item.code for item in found.findings.new] == ["RC106"]
    assert Conditions.named(["new-findings"]).met(found) == []
    assert Conditions.named(["RC106"]).met(found) == ["RC106: 1 new finding"]


def test_words_about_scores_are_refused_for_audits():
    with pytest.raises(rc.InputError, match="--fail-on worse is about scores, and these are audits; leave it out"):
        Conditions.named(["lost", "worse"]).met(rc.compare(LESS, MORE))


def test_unknown_words_are_refused_with_the_nearest_one():
    with pytest.raises(rc.InputError, match="--fail-on rc999 is no change"):
        Conditions.named(["RC999"])
    with pytest.raises(rc.InputError, match="did you mean 'new-findings'"):
        Conditions.named(["new-finding"])
