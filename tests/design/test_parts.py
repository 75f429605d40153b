"""Sequences and sets as input: the same design as one-hot columns made by hand, and refusals that name the row."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.design.notes import NoteKind
from recombine.design.parts import Parts
from recombine.design.targets import encode_targets
from recombine.errors import InputError

SEQUENCES = pd.DataFrame({"x": ["ACA", "ACT", "GCA", "GCT", "TCA"], "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
SETS = pd.DataFrame(
    {"genes": ["A+B", "B+ctrl", "ctrl+A", "ctrl+ctrl", "C+B+A", "B+A"], "y": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]}
)


def by_hand(frame: pd.DataFrame, length: int) -> rc.Design:
    """The same table with a column per position."""
    columns = {f"x{place + 1}": frame["x"].str[place] for place in range(length)}
    varying = {name: values for name, values in columns.items() if values.nunique() > 1}
    return rc.Design.from_frame(
        pd.DataFrame({**varying, "y": frame["y"]}), factors=list(varying), outcome="y", crossed=True
    )


def test_positions_are_factors_and_constant_ones_are_left_out() -> None:
    design = rc.Design.from_frame(SEQUENCES, outcome="y", sequence="x")
    assert [(factor.name, factor.levels) for factor in design.factors] == [("x1", ("A", "G", "T")), ("x3", ("A", "T"))]
    assert design.space.title == "x (2 positions)"
    assert [note.kind for note in design.reading.notes] == [NoteKind.COLUMN_TAKEN_APART]
    assert "left out as the same in every row: position 2" in design.reading.notes[0].numbers["remarks"]


@pytest.mark.slow
@given(st.lists(st.text("ACGT", min_size=4, max_size=4), min_size=6, max_size=30), st.integers(0, 99))
def test_a_sequence_is_its_positions(texts: list[str], seed: int) -> None:
    frame = pd.DataFrame({"x": texts, "y": np.random.default_rng(seed).normal(size=len(texts))})
    if sum(frame["x"].str[place].nunique() > 1 for place in range(4)) < 2:
        return
    found, expected = rc.Design.from_frame(frame, outcome="y", sequence="x"), by_hand(frame, 4)
    assert found.names == expected.names
    np.testing.assert_array_equal(found.cells, expected.cells)
    np.testing.assert_allclose(found.outcome, expected.outcome)
    ours, theirs = rc.audit(found), rc.audit(expected)
    assert ours.decided.counts == theirs.decided.counts
    np.testing.assert_array_equal(ours.decided.codes, theirs.decided.codes)


def test_members_are_factors_in_any_order_and_number() -> None:
    design = rc.Design.from_frame(SETS, outcome="y", sets="genes")
    assert [(factor.name, factor.levels) for factor in design.factors] == [
        (name, ("absent", "present")) for name in "ABC"
    ]
    counts = dict(zip(map(design.label, design.cells), design.observed.rows.tolist(), strict=True))
    assert counts == {"A+B": 2, "B": 1, "A": 1, "ctrl": 1, "A+B+C": 1}
    means = dict(zip(map(design.label, design.cells), design.outcome.tolist(), strict=True))
    assert means == {"A+B": 4.0, "B": 2.0, "A": 3.0, "ctrl": 4.0, "A+B+C": 5.0}
    assert "read as no member: ctrl" in design.reading.notes[0].numbers["remarks"]


@pytest.mark.parametrize("sign", ["+", ";", ",", "|"])
def test_separators_are_recognised(sign: str) -> None:
    frame = SETS.assign(genes=SETS["genes"].str.replace("+", sign))
    assert rc.Design.from_frame(frame, sets="genes").names == ("A", "B", "C")


def test_another_separator_and_other_controls_can_be_given() -> None:
    frame = SETS.assign(genes=SETS["genes"].str.replace("+", " & "))
    assert rc.Design.from_frame(frame, sets="genes", separator="&").names == ("A", "B", "C")
    assert rc.Design.from_frame(SETS, sets="genes", control=["C"]).names == ("A", "B", "ctrl")
    assert rc.Design.from_frame(SETS, sets="genes", control=[]).names == ("A", "B", "C", "ctrl")


def test_members_that_are_everywhere_are_left_out_and_repeats_count_once() -> None:
    frame = pd.DataFrame({"genes": ["A+B", "A+C", "A+B+C", "A+A", "A"]})
    design = rc.Design.from_frame(frame, sets="genes")
    assert design.names == ("B", "C")
    assert "left out as present in every row: A" in design.reading.notes[0].numbers["remarks"]
    assert (
        "a member that is named twice counts once (1 cell, such as 'A+A')" in design.reading.notes[0].numbers["remarks"]
    )
    assert design.label(design.space.cell("A+C")) == "A+C"
    with pytest.raises(rc.InputError, match="'B' lacks A, which every row of the table has"):
        design.space.cell("B")


def test_other_factors_stand_beside_them_and_engines_agree(tmp_path) -> None:
    frame = SETS.assign(line=["k", "k", "l", "l", "k", "l"], x=["AC", "AG", "TC", "TG", "AC", "AG"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    designs = [
        rc.Design.from_frame(data, factors=["line"], outcome="y", sets="genes", sequence="x")
        for data in (frame, pl.from_pandas(frame), tmp_path / "t.csv")
    ]
    assert designs[0].space.columns == ("line", "x", "genes")
    for design in designs[1:]:
        assert design.names == designs[0].names == ("line", "x1", "x2", "A", "B", "C")
        np.testing.assert_array_equal(design.cells, designs[0].cells)
    cell = designs[0].space.cell(["l", "TG", "B+A"])
    assert designs[0].label(cell) == "l · TG · A+B"
    assert cell.tolist() == designs[0].space.cell({"genes": "A+B", "x": "TG", "line": "l"}).tolist()


def test_cells_are_written_and_asked_for_as_the_column_has_them() -> None:
    audit = rc.audit(rc.Design.from_frame(SEQUENCES, outcome="y", sequence="x"))
    assert list(audit.verdicts.columns)[:2] == ["x", "verdict"]
    assert audit.verdicts["x"].tolist() == ["TCT"]
    assert "certificate: y(TCT) = y(TCA) + y(ACT) - y(ACA)" in audit.explain("TCT")
    asked = rc.audit(audit.design, targets=pd.DataFrame({"x": ["TCT", "ACA"]}))
    assert asked.verdicts["verdict"].tolist() == ["determined", "seen"]
    new = rc.audit(audit.design, targets=pd.DataFrame({"x": ["CCT"]}), new_levels=True)
    assert new.verdicts["verdict"].tolist() == ["unseen level"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["ACA", "ACT", "GC", "GCT"], r"row 3 of 'x' of the table has length 2, and 75 % of its sequences have 3"),
        (["ACA", "ACT", "", "GCT"], r"row 3 of 'x' of the table is empty"),
        (["ACA", "ACA"], "holds the same sequence in every row"),
        (["ACA", "ACT"], "rows of 'x' of the table differ in one position only, x3, which is too little to recombine"),
        ([1, 2], "is of kind integer, not text"),
    ],
)
def test_sequences_that_cannot_be_read(texts: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rc.Design.from_frame(pd.DataFrame({"x": texts}), sequence="x")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["A+B", "A;C"], r"holds '\+' and ';', as in 'A;C'; say which one separates members: --separator '\+'"),
        (["A_B", "A_C"], r"no row of 'g' of the table has two parts with '\+' between them.*--factors g"),
        (["A+B", "A+"], r"row 2 of 'g' of the table, 'A\+', has an empty part"),
        (["A+B", " "], r"row 2 of 'g' of the table is empty"),
        (["A+B", "B+A"], "holds the same members in every row"),
        (["A+B", "B+ctrl"], "rows of 'g' of the table differ in one member only, A, which is too little to recombine"),
    ],
)
def test_sets_that_cannot_be_read(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rc.Design.from_frame(pd.DataFrame({"g": texts}), sets="g")


def test_names_and_roles_are_checked() -> None:
    frame = SEQUENCES.assign(x1=list("abcab"))
    with pytest.raises(InputError, match=r"sequence 'xx' is not a column of the table; did you mean 'x'\?"):
        rc.Design.from_frame(frame, sequence="xx")
    with pytest.raises(InputError, match="column 'x' is both a factor and the sequence"):
        rc.Design.from_frame(frame, factors=["x"], sequence="x")
    with pytest.raises(InputError, match="column 'y' is both the set and the outcome"):
        rc.Design.from_frame(frame, outcome="y", sets="y")
    with pytest.raises(InputError, match="would be called 'x1'; rename a column"):
        rc.Design.from_frame(frame, factors=["x1"], sequence="x")
    with pytest.raises(InputError, match="--separator says how sets are written"):
        rc.Design.from_frame(frame, sequence="x", separator="+")
    with pytest.raises(InputError, match="control is the text 'ctrl'"):
        rc.Design.from_frame(SETS, sets="genes", control="ctrl")


def test_targets_that_do_not_fit_are_named() -> None:
    sequences = rc.Design.from_frame(SEQUENCES, sequence="x")
    with pytest.raises(InputError, match=r"row 2 of 'x' has length 2, and the sequences of the table have 3"):
        encode_targets(sequences, pd.DataFrame({"x": ["ACA", "AC"]}))
    with pytest.raises(InputError, match=r"row 1 has 'G' at position 2 of 'x', where every row of the table has 'C'"):
        encode_targets(sequences, pd.DataFrame({"x": ["AGA"]}))
    sets = rc.Design.from_frame(SETS.assign(genes=SETS["genes"].str.replace("C", "KLF1")), sets="genes")
    with pytest.raises(InputError, match=r"'KLF2' in 'A\+KLF2' is not a member of any 'genes'; did you mean 'KLF1'\?"):
        encode_targets(sets, pd.DataFrame({"genes": ["A+KLF2"]}))
    # Of several the same one is named in every run.
    foreign = [f"{letter}{letter}" for letter in "ZYXWVUTSRQPONM"]
    with pytest.raises(InputError, match="'MM' in "):
        encode_targets(sets, pd.DataFrame({"genes": ["+".join(foreign)]}))


def test_texts_and_levels_are_inverse() -> None:
    parts = Parts("x", "sequence", (0, 1), ("x1", "x3"), ("A", "C", "G"), (0, 2))
    for labels in itertools.product("ACGT", repeat=2):
        levels = parts.levels([parts.text(labels)], "here")
        assert tuple(levels[name][0] for name in parts.names) == labels
