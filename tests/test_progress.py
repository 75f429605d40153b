"""Progress: told to whoever listens, to nobody else, and never after."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import recombine as rc
from recombine.jobs.findings import FINDINGS, ResultKind
from recombine.progress import each, listening, tell, told_in_lines


def test_nobody_listens_and_nothing_happens():
    tell("anything", 0.5)
    assert list(each("counting", range(3))) == [0, 1, 2]


def test_the_innermost_listener_hears_and_the_outer_one_hears_again():
    outer: list[float] = []
    inner: list[float] = []
    with listening(lambda _, share: outer.append(share)):
        tell("one", 0.1)
        with listening(lambda _, share: inner.append(share)):
            tell("two", 0.2)
        tell("three", 0.3)
    tell("four", 0.4)
    assert (outer, inner) == ([0.1, 0.3], [0.2])


def test_a_listener_is_forgotten_when_its_work_fails():
    heard: list[float] = []

    def fail() -> None:
        with listening(lambda _, share: heard.append(share)):
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    tell("later", 1.0)
    assert heard == []


def test_an_audit_says_how_many_checks_are_done():
    heard: list[tuple[str, float]] = []
    design = rc.Design.from_cells(np.indices((4, 4)).reshape(2, -1).T, outcome=np.arange(16.0))
    with listening(lambda what, share: heard.append((what, share))):
        rc.audit(design).findings  # noqa: B018 - what is told is the point
    titles = {kind.title for kind in FINDINGS if kind.of is ResultKind.AUDIT}
    shares = [share for what, share in heard if what in titles]
    assert len(shares) == len(titles)
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert all(0 <= share < 1 for _, share in heard)


def test_each_tells_the_share_that_is_done_before_every_item():
    heard = []
    with listening(lambda what, share: heard.append((what, share))):
        assert list(each("adding", [1, 2])) == [1, 2]
    assert heard == [("adding", 0.0), ("adding", 0.5)]


def test_lines_name_the_latest_step_and_end_with_the_work():
    lines: list[str] = []
    heard = threading.Event()

    def write(line: str) -> None:
        lines.append(line)
        heard.set()

    with told_in_lines("deciding", write, 0.01):
        tell("structure pairs, fold 3 of 5", 0.5)
        assert heard.wait(10)
    count = len(lines)
    assert lines[-1].startswith("still deciding: structure pairs, fold 3 of 5 (")
    assert not heard.wait(0) or len(lines) == count


def test_work_that_is_quick_writes_no_line():
    lines: list[str] = []
    with told_in_lines("deciding", lines.append):
        tell("anything", 0.5)
    assert lines == []


def test_a_stream_that_is_closed_does_not_end_the_work():
    def write(line: str) -> None:
        raise ValueError(line)

    with told_in_lines("deciding", write, 0.001):
        threading.Event().wait(0.05)


def test_a_search_says_which_structure_it_is_at():
    cells = np.indices((6, 6)).reshape(2, -1).T
    heard: list[str] = []
    with listening(lambda what, _: heard.append(what)):
        rc.audit(rc.Design.from_cells(cells, outcome=np.exp(cells.sum(axis=1) / 3)))
    assert "structure add" in heard
    assert any(what.startswith("structure link") for what in heard)
