"""Clean tables stay what they are, one soil is undone whatever the table, and no sheet takes long."""

from __future__ import annotations

import csv
import io
import sys
import time
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Design, InputError, TableSpec
from recombine.sheets import Grid, tidy
from recombine.words.reading import reading_sentence

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
soiler = import_module("soiler")
sys.path.pop(0)

WORDS = st.sampled_from(["wheat", "barley", "oats", "north field", "A549", "HeLa", "none", "high", "Caithness", "k-12"])
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: f"{value:.4f}")


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Return every combination of two factors of words, in any order, with a number each."""
    levels = [draw(st.lists(WORDS, min_size=3, max_size=5, unique_by=str.casefold)) for _ in range(2)]
    cells = draw(st.permutations(list(product(*levels))))
    numbers = draw(st.lists(st.integers(2_000, 90_000), min_size=len(cells), max_size=len(cells), unique=True))
    return pd.DataFrame(cells, columns=["field", "crop"]).assign(gain=[number / 16 for number in numbers])


@given(tables(), st.sampled_from([",", ";", "\t", ""]))
@settings(max_examples=60)
def test_a_clean_table_stays_what_it_is(frame: pd.DataFrame, delimiter: str) -> None:
    rows = [list(frame.columns), *frame.astype(str).to_numpy().tolist()]
    table = tidy(Grid(rows, delimiter=delimiter))
    assert [list(table.columns), *table.rows] == rows
    assert not table.changed


@pytest.mark.parametrize("soil", [name for name in soiler.SOILS if name not in ("wide", "notes")])
@given(frame=tables(), seed=st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_one_soil_is_undone(soil: str, frame: pd.DataFrame, seed: int) -> None:
    soiled = soiler.soil(frame, ["field", "crop"], "gain", [soil], seed)
    delimiter = ";" if soil == "decimal" else ","
    table = tidy(Grid(list(csv.reader(io.StringIO(soiled.data.decode()), delimiter=delimiter)), delimiter=delimiter))
    assert table.columns == ("field", "crop", "gain")
    read = [float(row[2]) if row[2] else None for row in table.rows]
    assert read == list(soiled.truth.values)
    levels = [tuple(text.casefold() for text in row[:2]) for row in table.rows]
    assert levels == [tuple(text.casefold() for text in row) for row in soiled.truth.rows]


@given(tables(), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_a_wide_table_is_undone_where_it_is_said(frame: pd.DataFrame, seed: int) -> None:
    soiled = soiler.soil(frame, ["field", "crop"], "gain", ["wide"], seed)
    table = tidy(Grid(list(csv.reader(io.StringIO(soiled.data.decode()))), delimiter=","), wide="spread=gain")
    assert table.factors[1:] == ("spread",)
    assert table.outcome == "gain"
    assert sorted(float(row[2]) for row in table.rows) == sorted(soiled.truth.values)


def test_merged_ranges_of_a_workbook_are_filled() -> None:
    grid = Grid([["", "dose", ""], ["drug", "1", "2"], ["a", "5", "6"], ["b", "7", "8"]], merged=((0, 1, 0, 2),))
    assert tidy(grid).columns == ("drug", "dose", "value")


def test_the_line_of_the_header_can_be_said() -> None:
    rows = [["a", "b"], ["c", "d"], ["drug", "gain"], ["x", "1"], ["y", "2"]]
    assert tidy(Grid(rows), header=3).rows == [["x", "1"], ["y", "2"]]
    with pytest.raises(InputError, match="the sheet has no line 9; name the line of the header"):
        tidy(Grid(rows), header=9)


HOSTILE = {
    "digits": [["a", "b"], *[["x", "1" * 100_000 + "x"]] * 3],
    "signs": [["a", "b"], *[["x", "<" * 50_000 + "," * 50_000]] * 3],
    "totals": [["a", "b", "c"], *[[word, "", "1"] for word in ("Total", "Sum", "Mean") * 20_000]],
    "names": [["column0" + "_" * index for index in range(3_000)] + [""], *[["1"] * 3_001] * 3],
    "levels": [["a", *map(str, range(30_000))], *[["x", *["1"] * 30_000]] * 3],
    "words": [[f"w{index}" for index in range(20_000)], *[["5"] * 20_000] * 4],
    "blanks": [["a", "b"], *[[f" {index}", f"{index} "] for index in range(60_000)]],
    "long footnotes": [["a", "b"], ["x", "1"], *[["a " * 3_000, ""]] * 2_000],
    "nothing": [[""] * 50] * 5_000,
    "no rows": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_no_sheet_takes_long(name: str) -> None:
    start = time.process_time()
    try:
        table = tidy(Grid(HOSTILE[name], delimiter=","))
    except InputError:
        pass
    else:
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert time.process_time() - start < 12


def test_melting_is_bounded() -> None:
    rows = [[*(f"label {index}" for index in range(4_000)), *map(str, range(6_000))]]
    rows += [[*["x"] * 4_000, *["1"] * 6_000]] * 2
    with pytest.raises(InputError, match="too many; leave some out"):
        tidy(Grid(rows, delimiter=","))


DIRTY = "Table 1: gain by drug and dose\n\ndrug;dose;gain\na;1 mg;1,5\n;2 mg;<LOD\nb;1mg;3,5\n;2 mg;4,5\nTotal;;9,5\n"


def test_a_dirty_text_file_is_read_with_notes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(DIRTY, encoding="utf-8")
    design = Design.from_frame(path, TableSpec(factors=("drug", "dose"), outcome="gain"))
    assert [factor.levels for factor in design.factors] == [("a", "b"), ("1 mg", "2 mg")]
    assert design.observed.rows.sum() == 3


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_a_dirty_text_file_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DIRTY.replace("drug", "dr\u00fcg").replace("\n", "\r\n").encode(encoding))
    design = Design.from_frame(path, TableSpec(factors=("dr\u00fcg", "dose")))
    assert [factor.levels for factor in design.factors] == [("a", "b"), ("1 mg", "2 mg")]


@pytest.mark.slow
def test_the_tail_of_a_large_file_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    body = "".join(f"{'ab'[row % 2]},{row % 3},{row}.5\n" for row in range(120_000))
    path.write_text(f"drug,dose,gain\n{body}Total,,7\n,,\nSource: field book,,\n", encoding="utf-8")
    design = Design.from_frame(path, TableSpec(factors=("drug", "dose"), outcome="gain"))
    assert design.observed.rows.sum() == 120_000


def test_blanks_of_tables_beside_the_main_one_stay(tmp_path: Path) -> None:
    """There a blank stands for every level, and is no merged cell."""
    main, never = tmp_path / "main.csv", tmp_path / "never.csv"
    main.write_text("drug,dose,gain\na,1,1\na,2,2\nb,1,3\nb,2,4\nc,1,5\n", encoding="utf-8")
    never.write_text("drug,dose\na,1\n,2\n", encoding="utf-8")
    from recombine.jobs.advice.candidates import read_forbidden

    design = Design.from_frame(main, TableSpec(factors=("drug", "dose"), outcome="gain"))
    assert read_forbidden(never, design) == [{"drug": "a", "dose": "1"}, {"dose": "2"}]


@pytest.mark.parametrize(("wide", "words"), [("cell", "names no factor"), ("drug=drug", "names no factor")])
def test_a_wrong_wide_is_refused_with_the_cure(tmp_path: Path, wide: str, words: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("drug,1,2\na,1,2\nb,3,4\n", encoding="utf-8")
    spec: Any = TableSpec(wide=wide)
    with pytest.raises(InputError, match=words):
        Design.from_frame(path, spec)


def test_columns_that_may_be_levels_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = "".join(
        f"{time},{subject},{time * subject}.5,{time + subject}.25\n" for time in (1, 2, 3) for subject in (1, 2)
    )
    path.write_text(f"time,subject,tetrachel,tetracyn\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match=r"tetrachel, tetracyn of table.csv may be levels .* --wide factor=value"):
        Design.from_frame(path, TableSpec())
    said = Design.from_frame(path, TableSpec(wide="drug=level"))
    assert said.names == ("time", "subject", "drug")
    named = Design.from_frame(path, TableSpec(factors=("time", "subject"), outcome="tetracyn"))
    assert named.names == ("time", "subject")


@pytest.mark.parametrize("names", ["drugA_rep1,drugA_rep2,drugB_rep1", "drugA,drugA.1,drugB"])
def test_replicates_in_headers_said_to_be_wide_are_rows_of_one_combination(names: str) -> None:
    table = tidy(Grid([["line", *names.split(",")], ["x", "1", "2", "3"], ["y", "4", "5", "6"]]), wide="drug=gain")
    assert [row[1] for row in table.rows] == ["drugA", "drugA", "drugB"] * 2
    (note,) = table.notes
    assert (note.values, note.count) == (("gain", "drugA", "drugB"), 3)
    assert "replicates as rows of one combination" in reading_sentence(note, wide_said=True)


def test_doses_with_decimals_said_to_be_wide_stay_levels() -> None:
    table = tidy(Grid([["line", "1", "1.1", "2.5"], ["x", "1", "2", "3"], ["y", "4", "5", "6"]]), wide="dose=gain")
    assert [row[1] for row in table.rows[:3]] == ["1", "1.1", "2.5"]
