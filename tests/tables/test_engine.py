from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.design.design import Design
from recombine.errors import InputError
from recombine.tables.engine import MAX_JSON_DEPTH
from recombine.tables.frames import open_table
from recombine.tables.text_files import MISSING_WORDS

Writer = Callable[..., Path]

#: Texts a person can type into a cell, those that engines read as something else among them.
TRAPS = ["T", "t", "F", "f", "1E5", "100000", "yes", "YES", "0x10", "16", "01", "1", "1.0", "-0", "0", "true"]
TRAPS += ["TRUE", "2020-01-01", "2020-1-1", "inf", "1_000", "1000", "None", "#", "x,y", 'say "x"', "a;b", "é"]
texts = st.one_of(
    st.sampled_from(TRAPS),
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), min_size=1, max_size=5),
).filter(lambda text: text not in MISSING_WORDS and text == text.strip())
rows = st.lists(st.tuples(texts, texts), min_size=2, max_size=12).filter(
    lambda pairs: len({a for a, _ in pairs}) > 1 and len({b for _, b in pairs}) > 1
)


def cells(design: Design) -> list[tuple[tuple[str, ...], int]]:
    labels = zip(*design.space.decode(design.cells).values(), strict=True)
    return sorted(zip(labels, design.observed.rows.tolist(), strict=True))


def write(path: Path, names: list[str], pairs: list[tuple[str, str]], delimiter: str = ",") -> Path:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(pairs)
    return path


@pytest.mark.slow
@given(rows, st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_what_is_read_is_what_was_written(pairs: list[tuple[str, str]], random: object) -> None:
    """Distinct texts are distinct levels, in CSV, TSV, gzip and Parquet alike, in any order of rows and columns."""
    names = ["a.b", '__rows "x"']
    expected = sorted((pair, pairs.count(pair)) for pair in set(pairs))
    shuffled = sorted(pairs, key=lambda _: random.random())  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pl.DataFrame({name: [pair[place] for pair in pairs] for place, name in enumerate(names)}).write_parquet(
            folder / "t.parquet"
        )
        tables = [
            write(folder / "t.csv", names, pairs),
            write(folder / "t.tsv", names, shuffled, "\t"),
            write(folder / "t.csv.gz", names, pairs),
            write(folder / "turned.csv", names[::-1], [(b, a) for a, b in shuffled]),
            folder / "t.parquet",
        ]
        designs = [Design.from_frame(table, factors=names, as_levels=names) for table in tables]
    for design in designs:
        assert cells(design) == expected
        assert [factor.labels for factor in design.factors] == [factor.labels for factor in designs[0].factors]


def test_nested_values_are_the_texts_they_write(written: Writer, tmp_path: Path) -> None:
    lines = '{"a":[1],"b":{"x":1},"y":3}\n{"a":[1,2],"b":{"x":1},"y":4}\n{"a":[1],"b":{"x":2},"y":4}\n'
    path = written(lines, "t.jsonl")
    pl.read_ndjson(path).write_parquet(tmp_path / "t.parquet")
    for table in (path, tmp_path / "t.parquet"):
        design = Design.from_frame(table, factors=["a", "b"], outcome="y")
        assert design.factors[0].labels == ("[1, 2]", "[1]")
        assert design.factors[1].labels == ("{'x': 1}", "{'x': 2}")
        assert Design.from_frame(table).names == ("a", "b")


def test_a_number_is_written_without_underscores(written: Writer) -> None:
    with pytest.raises(InputError, match=r"outcome 'y' of table\.csv is text"):
        Design.from_frame(written("a,b,y\nu,p,1_10\nu,q,2\nv,p,3\n"), factors=["a", "b"], outcome="y")


def test_numbers_order_levels_and_stay_as_written(written: Writer) -> None:
    design = Design.from_frame(written("dose,b\n10,u\n1E1,v\n9.50,u\n2,w\n"), factors=["dose", "b"])
    assert design.factors[0].labels == ("2", "9.50", "10", "1E1")
    assert design.space.cell([9.5, "u"]).tolist() == design.space.cell(["9.50", "u"]).tolist()
    with pytest.raises(InputError, match=r"'10\.0' is not a level of factor 'dose'"):
        design.space.cell(["10.0", "u"])  # 10 or 1E1: nobody can tell


def test_types_that_are_declared_are_what_was_written(written: Writer) -> None:
    lines = '{"a": "2020-01-01", "b": 1, "u.v": "550E8400-e29b-41d4-a716-446655440000"}\n'
    lines += '{"a": "2020-1-1", "b": 2.5, "u.v": "550e8400-e29b-41d4-a716-446655440000"}\n'
    source = open_table(written(lines, "t.jsonl"))
    assert source.kinds == {"a": "text", "b": "number", "u.v": "text"}
    assert source.read(["a"])["a"].tolist() == ["2020-01-01", "2020-1-1"]
    assert len(set(source.read(["u.v"])["u.v"].tolist())) == 2


def test_a_relation_with_dots_in_its_names() -> None:
    relation = duckdb.sql("""SELECT * FROM (VALUES ('x', 1), ('y', 2)) t("a.b", "c ""d"" e") """)
    assert open_table(relation).read(["a.b", 'c "d" e'])['c "d" e'].tolist() == [1, 2]


@pytest.mark.slow
def test_only_named_columns_are_read(written: Writer) -> None:
    wide = 5_000
    text = ",".join(f"c{place}" for place in range(wide)) + "\n" + f"{','.join('x' * wide)}\n{','.join('y' * wide)}\n"
    design = Design.from_frame(written(text), factors=["c1", "c4999"])
    assert len(design.cells) == 2


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH + 1, 50_000])
def test_json_nested_beyond_reason_is_refused(written: Writer, depth: int) -> None:
    line = '{"a": "[[[[", "b": ' + "[" * depth + "]" * depth + "}\n"
    with pytest.raises(InputError, match=f"it opens more than {MAX_JSON_DEPTH} brackets inside one another"):
        open_table(written(line, "t.jsonl"))


def test_names_and_places_that_no_engine_opens(written: Writer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not UTF-8, so it cannot be opened; rename the file"):
        open_table(Path(os.fsdecode(b"\xff.csv")))
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="is a pipe or device, not a file"):
        open_table(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="a column name of more than 131,072 characters"):
        open_table(written("x" * 200_000 + ",b\n1,2\n"))
    with pytest.raises(InputError, match=r"t\.parquet\.gz is cut short or damaged; copy it again"):
        open_table(written(b"PAR1", "t.parquet.gz"))


def test_a_zero_character_in_a_name_is_said(written: Writer) -> None:
    path = written('{"x\\u0000z": "a", "b": "q", "y": 1}\n{"x\\u0000z": "c", "b": "p", "y": 2}\n', "t.jsonl")
    with pytest.raises(InputError, match=r"column 'x\\x00z' has a zero character in its name"):
        open_table(path).frame  # noqa: B018
    others = open_table(path).kept(["b", "y"])
    assert others.fetch(others.frame)["c0"].tolist() == ["q", "p"]


@pytest.mark.parametrize("name", ["~.csv", "~root.parquet", "~/x.csv"])
def test_a_tilde_is_a_letter_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    frame = pl.DataFrame({"a": ["x", "y"]})
    frame.write_csv(Path(name).absolute()) if name.endswith("csv") else frame.write_parquet(Path(name).absolute())
    assert open_table(name).columns == ("a",)


def test_the_engine_draws_nothing_on_the_terminal(written: Writer) -> None:
    """It would where Python is used line by line: there a bar is what it starts with."""
    path = written("a,b\nx,1\n")
    code = f"""
import duckdb, pathlib
from recombine.tables.engine import open_file
for connection in (duckdb.connect(), open_file(pathlib.Path({str(path)!r})).connection):
    print(connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "False"]
