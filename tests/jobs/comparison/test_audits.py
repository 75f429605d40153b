"""Two audits: cells against brute force, the mirror image, nothing where nothing changed, and what cannot be told."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.jobs.comparison import Transition
from recombine.jobs.comparison.audits import CellsObstacle
from recombine.jobs.comparison.cell_maps import STATES
from recombine.jobs.comparison.differences import respelled
from recombine.jobs.findings.changes import cells_obstacle
from recombine.report.audit.record import audit_json
from recombine.report.comparison import comparison_json

COLOURS, SHAPES = ["red", "10", "9", "b|ue", "@me"], ["cube", "ball", "`x`"]
pairs = st.tuples(st.sampled_from(COLOURS), st.sampled_from(SHAPES))
rows = st.lists(pairs, min_size=2, max_size=10, unique=True).filter(
    lambda cells: all(len(set(column)) > 1 for column in zip(*cells, strict=True))
)


def audit(cells, names=("colour", "shape"), **options) -> rc.Audit:
    frame = pd.DataFrame(cells, columns=list(names))
    return rc.audit(rc.Design.from_frame(frame, factors=list(names), crossed=True, **options))


def verdicts(found: rc.Audit) -> dict[tuple[str, ...], str]:
    """Every listed or seen cell of an audit by the names of its levels, sorted by factor, with its verdict."""
    names = sorted(found.design.names)
    listed = {tuple(str(row[name]) for name in names): str(row["verdict"]) for row in found.verdicts.rows()}
    decoded = found.design.space.decode(found.design.seen)
    return listed | {tuple(map(str, cell)): "seen" for cell in zip(*(decoded[name] for name in names), strict=True)}


def expected(before: rc.Audit, after: rc.Audit) -> Counter[tuple[str, str]]:
    """The transitions by brute force, one cell at a time."""
    old, new = verdicts(before), verdicts(after)
    levels = [{factor.name: set(factor.labels) for factor in one.design.factors} for one in (before, after)]
    names = sorted(before.design.names)

    def state(known, own, cell):
        if cell in known:
            return known[cell]
        there = all(label in own[name] for name, label in zip(names, cell, strict=True))
        return "not listed" if there else "no such level"

    pairs = ((state(old, levels[0], cell), state(new, levels[1], cell)) for cell in {*old, *new})
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def moved(found) -> Counter[tuple[str, str]]:
    return Counter({(row["before"], row["after"]): row["cells"] for row in found.transitions.table.rows()})


@pytest.mark.slow
@given(rows, rows)
def test_transitions_are_those_of_brute_force(one, two):
    before, after = audit(one), audit(two)
    found = rc.compare(before, after)
    want = expected(before, after)
    assert moved(found) == want
    known, open_ = {"seen", "determined"}, {"disconnected", "unseen level", "undecided", "beyond the seen range"}
    assert found.lost == sum(count for (old, new), count in want.items() if old in known and new in open_)
    assert found.gained == sum(count for (old, new), count in want.items() if old in open_ and new in known)
    assert found.vanished == sum(count for (old, new), count in want.items() if old in known and new == "no such level")


def test_a_level_that_is_gone_takes_its_cells_with_it_and_is_named_where_it_was_respelled():
    cells = [("a1", "u"), ("a1", "v"), ("a2", "u"), ("a3", "u")]
    gone = rc.compare(audit(cells), audit(cells[:3]))
    assert (gone.lost, gone.vanished, gone.respelled) == (0, 2, ())
    assert "2 vanished with levels that are gone" in str(gone)
    other = rc.compare(audit(cells), audit([*cells[:3], ("A3", "u")]))
    assert (other.lost, other.vanished, other.respelled) == (0, 2, (("colour", "a3", "A3"),))
    said = " ".join(other.summary.split())
    assert "Likely respelled: colour 'a3' and 'A3'. The first is gone, the second is new" in said
    assert json.loads(comparison_json(other))["respelled"] == [{"factor": "colour", "gone": "a3", "new": "A3"}]
    new = rc.compare(audit(cells), audit([*cells[:3], ("b3", "u")]))
    assert new.vanished == 2
    assert not new.respelled


@given(
    st.sets(st.sampled_from(COLOURS), min_size=1), st.sampled_from([str.upper, str.title, "{} ".format, "{}.".format])
)
def test_names_that_are_written_another_way_are_paired_and_others_are_not(names, written):
    new = [written(name) for name in names]
    pairs = dict(respelled(sorted(names), new))
    # Nothing but how it is written was changed, so that each is paired with its own.
    assert pairs == {name: written(name) for name in names}
    assert respelled(names, ["else", "more"]) == []


@pytest.mark.slow
@given(rows, rows)
def test_the_other_way_round_is_the_mirror_image(one, two):
    before, after = audit(one), audit(two)
    there, back = rc.compare(before, after), rc.compare(after, before)
    assert moved(there) == Counter({(new, old): count for (old, new), count in moved(back).items()})
    assert (there.gained, there.lost) == (back.lost, back.gained)
    np.testing.assert_array_equal(there.transitions.cells, back.transitions.cells)
    np.testing.assert_array_equal(there.transitions.before, back.transitions.after)
    assert {name: (change.new, change.gone) for name, change in there.levels.items()} == {
        name: (change.gone, change.new) for name, change in back.levels.items()
    }
    assert sorted(item.code for item in there.findings.new) == sorted(item.code for item in back.findings.gone)
    assert there.counts == {word: pair[::-1] for word, pair in back.counts.items()}
    assert there.settings == {word: pair[::-1] for word, pair in back.settings.items()}
    assert there.changed == back.changed


@pytest.mark.slow
@given(rows)
def test_nothing_changes_between_an_audit_and_itself(one):
    found = audit(one)
    same = rc.compare(found, audit(one[::-1]))
    assert not same.changed
    assert not same.transitions.changed.any()
    assert not same.findings.new
    assert not same.findings.gone
    assert "Nothing changed." in str(same)
    assert "Nothing changed." in same.markdown


@pytest.mark.slow
@given(rows, rows)
@settings(max_examples=20)
def test_results_files_and_dictionaries_compare_alike(tmp_path_factory, one, two):
    before, after = audit(one), audit(two)
    folder = tmp_path_factory.mktemp("documents")
    for name, result in (("before", before), ("after", after)):
        (folder / f"{name}.json").write_text(audit_json(result), encoding="utf-8")
    texts = {
        str(rc.compare(before, after)),
        str(rc.compare(folder / "before.json", str(folder / "after.json"))),
        str(rc.compare(json.loads(audit_json(before)), after)),
    }
    assert len(texts) == 1


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.sampled_from("pqrs")] * 2), min_size=2, max_size=8), st.data())
def test_symmetric_cells_are_matched_whichever_way_they_are_written(pairs, data):
    """A new level that comes first in order turns the cells around; they are the same cells."""
    if len({name for pair in pairs for name in pair}) < 2:
        return
    more = [*pairs, ("a", data.draw(st.sampled_from("pqrs")))]
    before, after = (audit(some, ("x", "y"), symmetric=["x", "y"]) for some in (pairs, more))
    found = rc.compare(before, after)

    def unordered(one):
        return {tuple(sorted(cell)): word for cell, word in verdicts(one).items()}

    old, new = unordered(before), unordered(after)
    want = Counter((old.get(cell, "no such level"), word) for cell, word in new.items() if old.get(cell) != word)
    assert moved(found) == want


def test_factors_in_another_order_are_the_same_factors():
    before = audit([("red", "cube"), ("red", "ball"), ("blue", "cube")])
    after = audit([("cube", "red"), ("ball", "red"), ("cube", "blue")], ("shape", "colour"))
    assert not rc.compare(before, after).changed


def test_impossible_cells_are_not_lost():
    """A cell that cannot exist after is not listed there; it counts as left, not as lost."""
    frame = pd.DataFrame({"plant": ["a", "b", "c", "d"], "treatment": ["x", "x", "y", "y"]})
    before = rc.audit(rc.Design.from_frame(frame, factors=["plant", "treatment"], crossed=True))
    after = rc.audit(rc.Design.from_frame(frame, factors=["plant", "treatment"], nested=["plant/treatment"]))
    found = rc.compare(before, after)
    assert moved(found) == {("disconnected", "not listed"): 4}
    assert found.lost == 0
    assert "4 cells are listed only before, 0 of them seen or determined" in " ".join(str(found).split())
    assert "4 cells are listed only after" in " ".join(str(rc.compare(after, before)).split())


def test_factors_that_come_and_go_leave_counts_only():
    cells = [("red", "cube", "x"), ("red", "ball", "y"), ("blue", "cube", "x")]
    before = audit([cell[:2] for cell in cells])
    after = audit(cells, ("colour", "shape", "site"))
    found = rc.compare(before, after)
    assert found.transitions is None
    assert found.factors.new == ("site",)
    assert found.counts["total"] == (4, 8)
    assert "counts only: the factors are not the same" in " ".join(str(found).split())
    assert repr(found).startswith("AuditComparison(cells not compared; ")


def test_products_too_large_to_list_leave_counts_only():
    generator = np.random.default_rng(0)
    one, two = (rc.audit(rc.Design.from_cells(generator.integers(9, size=(count, 8)))) for count in (80, 120))
    found = rc.compare(one, two)
    assert found.transitions is None
    assert found.obstacle is CellsObstacle.UNLISTED_BEFORE
    assert "too many to list" in cells_obstacle(found)
    assert found.counts["seen"] == (len(one.design.seen), len(two.design.seen))


def test_targets_are_compared_where_both_list_them():
    cells = [("red", "cube"), ("red", "ball"), ("blue", "cube"), ("green", "cone")]
    targets = pd.DataFrame({"colour": ["green", "blue"], "shape": ["ball", "ball"]})
    one, two = (
        rc.audit(
            rc.Design.from_frame(
                pd.DataFrame(some, columns=["colour", "shape"]), factors=["colour", "shape"], crossed=True
            ),
            targets=targets,
        )
        for some in (cells, [*cells, ("green", "cube")])
    )
    found = rc.compare(one, two)
    assert moved(found) == {("disconnected", "determined"): 1}
    assert found.transitions.listed(found.transitions.gained, 5) == [
        Transition({"colour": "green", "shape": "ball"}, "disconnected", "determined")
    ]


def test_findings_are_known_again_by_their_subject():
    """RC102 names levels: one that is new is a new finding although the code was there before."""
    frame = pd.DataFrame({"a": list("xxyyzw"), "b": list("pqpqpp"), "part": ["train"] * 4 + ["test"] * 2})
    options = {"split": "part", "crossed": True}
    before = rc.audit(rc.Design.from_frame(frame[:5], factors=["a", "b"], **options))
    after = rc.audit(rc.Design.from_frame(frame, factors=["a", "b"], **options))
    found = rc.compare(before, after).findings
    assert [(item.code, item.subjects) for item in found.new] == [("RC102", ("a 'w'",))]
    assert ("RC102", ("a 'z'",)) in [(new.code, new.subjects) for _, new in found.stay]
    back = rc.compare(after, before).findings
    assert [(item.code, item.subjects) for item in back.gone] == [("RC102", ("a 'w'",))]


def test_structures_and_forecasts_are_set_side_by_side():
    generator = np.random.default_rng(1)
    cells = np.indices((8, 7)).reshape(2, -1).T[generator.random(56) < 0.8]
    y = cells @ [1.0, 2.0] + 0.1 * generator.normal(size=len(cells))
    design = rc.Design.from_cells(cells, y)
    one, two = rc.audit(design, structure="add"), rc.audit(design, structure="pairs")
    found = rc.compare(one, two)
    assert found.settings["structure"] == ("add", "pairs")
    assert "The audits assume different structures" in " ".join(str(found).split())
    noisy = rc.audit(rc.Design.from_cells(cells, y + generator.normal(size=len(y))), structure="add")
    old, new = rc.compare(one, noisy).forecast["ntk"]
    assert old == pytest.approx(one.forecast.error.ntk)
    assert new == pytest.approx(noisy.forecast.error.ntk)


def test_a_factor_may_be_called_before():
    cells = [("red", "cube"), ("red", "ball"), ("blue", "cube"), ("green", "cone")]
    one, two = (audit(some, ("before", "after")) for some in (cells, [*cells, ("green", "cube")]))
    found = rc.compare(one, two)
    assert found.gained == 4
    assert "green · ball: disconnected → determined" not in str(found)
    assert "ball · green disconnected determined" in " ".join(found.summary.split())  # factors are sorted by name


def test_states_are_named_once():
    assert len(set(STATES)) == len(STATES)
