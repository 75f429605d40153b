"""Maps of cells as text: what is written is read again, and what no map can be is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.comparison.cell_maps import LETTERS, CellMap, Unlisted, cells_digest, cells_record, why_unlisted
from recombine.verdicts import Verdict
from recombine.words.comparison import unlisted_text


@given(st.data())
def test_a_map_is_read_as_it_was_written(data):
    sizes = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    every = every_cell(sizes)
    states = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=len(every), max_size=len(every))))
    kept = states >= 0
    text = CellMap(every[kept], states[kept]).runs(sizes)
    back = CellMap.read(text, sizes)
    np.testing.assert_array_equal(back.cells, every[kept])
    np.testing.assert_array_equal(back.codes, states[kept])
    # The oracle: one letter per cell, written out.
    letters = "".join("-" if state < 0 else LETTERS[state] for state in states).rstrip("-")
    spelled, rest = "", text
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        spelled, rest = spelled + rest[digits] * int(rest[:digits]), rest[digits + 1 :]
    assert spelled == letters


def test_every_verdict_has_a_letter():
    assert len(LETTERS) == len(Verdict) == len(set(LETTERS))


@pytest.mark.parametrize(
    "text", ["5s", "1s4d", "s", "2", "-1s", "1z", "1s ", "99999999999999999999s", "9" * 19 + "-", "1s\n", "٣s"]
)
def test_what_is_no_map_is_refused(text):
    with pytest.raises(rc.InputError, match="the runs of its cells"):
        CellMap.read(text, (2, 2))


def test_gaps_of_any_length_cost_nothing():
    sizes = (1_000_000, 1_000_000)
    cells = np.array([[0, 0], [999_999, 999_999]])
    text = CellMap(cells, np.array([0, 2])).runs(sizes)
    assert text == "1s999999999998-1x"
    np.testing.assert_array_equal(CellMap.read(text, sizes).cells, cells)


def test_a_product_too_large_to_list_says_so():
    cells = np.eye(30, dtype=int)
    audit = rc.audit(rc.Design.from_cells(cells))
    assert why_unlisted(audit) is Unlisted.CELLS
    found = cells_record(audit, unlisted_text(audit))
    assert found["of"] == "none"
    assert "too many to list" in found["obstacle"]


def test_digests_tell_sets_of_cells_apart_and_nothing_else():
    frame = {"a": ["x", "y", "x"], "b": ["1", "2", "2"]}
    import pandas as pd

    one = rc.Design.from_frame(pd.DataFrame(frame), factors=["a", "b"])
    turned = rc.Design.from_frame(pd.DataFrame(frame)[::-1], factors=["b", "a"])
    wider = rc.Design.from_frame(pd.DataFrame({"a": [*frame["a"], "0"], "b": [*frame["b"], "9"]}), factors=["a", "b"])
    assert cells_digest(one, one.seen) == cells_digest(turned, turned.seen)
    inside = np.array([cell for cell in wider.seen if wider.factors[0].labels[cell[0]] != "0"])
    assert cells_digest(one, one.seen) == cells_digest(wider, inside)
    assert cells_digest(one, one.seen) != cells_digest(wider, wider.seen)
    assert cells_digest(one, one.seen) != cells_digest(one, one.seen[:2])
