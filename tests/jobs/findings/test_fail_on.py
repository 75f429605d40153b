"""What stops a build: each word by its own change, and no word about the other kind of document."""

from __future__ import annotations

import pytest

import recombine as rc
from recombine.jobs.findings import FINDINGS, FailOn, ResultKind

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
    assert FailOn.named([words]).changes(rc.compare(before, after)) == met


def test_what_cannot_be_told_is_not_passed_over():
    other = rc.audit(rc.Design.from_cells([[0, 0], [1, 1]], names=["colour", "site"]))
    found = rc.compare(LESS, other)
    with pytest.raises(rc.InputError, match="--fail-on lost cannot be told: the factors are not the same; leave it"):
        FailOn.named(["lost"]).changes(found)
    assert FailOn.named(["gone-levels"]).changes(found) == ["gone-levels: factor shape, colour 2"]


def test_notes_count_where_they_are_named():
    """A chain that becomes determined is shaky, which is no reason to stop a build unless one says so."""
    cells = [[0, 0], [0, 1], [1, 0], [2, 2]]
    found = rc.compare(audit(cells), audit([*cells, [2, 1]]))
    assert [item.code for item in found.findings.new] == ["RC106"]
    assert FailOn.named(["new-findings"]).changes(found) == []
    assert FailOn.named(["RC106"]).changes(found) == ["RC106: 1 new finding"]


def test_words_about_scores_are_refused_for_audits():
    with pytest.raises(
        rc.InputError, match=r"worse is about changes between scores, and this is about .*; choose among RC"
    ):
        FailOn.named(["lost", "worse"]).changes(rc.compare(LESS, MORE))


def test_unknown_words_are_refused_with_the_nearest_one():
    with pytest.raises(rc.InputError, match=r"--fail-on RC999 names no finding; .* RC101,.* lost,"):
        FailOn.named(["RC999"])
    with pytest.raises(rc.InputError, match="did you mean 'new-findings'"):
        FailOn.named(["new-finding"])


def test_a_change_without_something_to_compare_with_is_refused_with_the_cure():
    with pytest.raises(rc.InputError, match=r"lost is about changes between audits; .*: --baseline audit\.json"):
        FailOn.named(["lost"]).about(ResultKind.AUDIT)


@pytest.mark.parametrize("result", [ResultKind.SPLIT, ResultKind.PROBE])
@pytest.mark.parametrize("word", ["lost", "nothing-like-it"])
def test_no_cure_that_the_command_lacks(result, word):
    with pytest.raises(rc.InputError) as raised:
        FailOn.named([word], result)
    message = str(raised.value)
    assert "--baseline" not in message
    for kind in FINDINGS:
        assert (kind.code in message) == (kind.of is result)


def test_every_finding_is_named_by_its_code_and_by_each_of_its_words():
    for kind in FINDINGS:
        for word in (kind.code, kind.code.lower(), *kind.fail_on):
            assert [*FailOn.named([word]).kinds.values()] == [kind]
    words = [word for kind in FINDINGS for word in kind.fail_on]
    assert len(set(words)) == len(words)
