from __future__ import annotations

import csv
import gzip
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.formats import encodings
from recombine.tables.sheet_files import look_through
from recombine.tables.text_files import broken_line, look_at, refuse_duplicates, split_names

Writer = Callable[..., Path]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_decides_the_delimiter(written: Writer, delimiter: str) -> None:
    other = ";" if delimiter == "," else ","
    row = delimiter.join([f"x{other * 9}", "y", "z"])
    assert look_at(written(f"{delimiter.join('abc')}\n{row}\n")).delimiter == delimiter


def test_blank_lines_above_the_header_are_passed_over(written: Writer) -> None:
    file = look_through(written("\n \ndrug,gain\na,1.5\nb,2.5\n"))
    assert file.columns == ("drug", "gain")
    assert file.readable.read_text().count("\n") == 3


def test_delimiters_inside_quoted_names_do_not_count(written: Writer) -> None:
    assert look_at(written('"a;b;c;d",y\n1,2\n')).delimiter == ","


def test_tsv_is_split_at_tabs_whatever_the_names_hold(written: Writer) -> None:
    assert look_at(written("a,b,c,d\ty\n", "t.tsv")).delimiter == "\t"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("a,b,a", "more than one column named 'a'"),
        ("a,b, a", "more than one column named 'a'"),
        (",,", "has no header"),
        ("", "has no header"),
    ],
)
def test_headers_that_name_no_or_equal_columns(written: Writer, names: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        look_at(written(f"{names}\n1,2,3\n"))


def test_several_unnamed_columns_are_not_duplicates(written: Writer) -> None:
    assert look_at(written("a,,b,,\n")).delimiter == ","


@pytest.mark.parametrize(
    "content",
    [bytes(range(128, 256)) * 9, b"PK\x03\x04\0\0junk\n", "a,b\n1,2\n".encode("utf-16-le")],
    ids=["bytes", "zip", "utf-16 without its mark"],
)
def test_what_is_not_text_is_refused(written: Writer, content: bytes) -> None:
    with pytest.raises(InputError, match=r"table\.csv is not a text table"):
        look_at(written(content))


def test_false_gzip_is_refused(written: Writer) -> None:
    with pytest.raises(InputError, match="is not a text table"):
        look_at(written(b"a,b\n1,2\n", "t.csv.gz"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(written: Writer) -> None:
    path = written("a,b\n")
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be opened: Permission denied"):
        look_at(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n1,2\n", None),
        ("a,b\n1,2\n\n3,4\n", None),
        ("a,b\n1,2,3\n", "line 2 has 3 fields but the header names 2"),
        ("a,b\n1,2\n3\n", "line 3 has 1 field but the header names 2"),
        ('a,b\n"x\ny",2\n3\n', "line 4 has 1 field but"),
        ('a,b\n"x"y,2\n', "line 2: .*mend the quotes"),
    ],
)
def test_broken_line(written: Writer, content: str | bytes, reason: str | None) -> None:
    found = broken_line(look_at(written(content)))
    if reason is None:
        assert found is None
    else:
        assert re.search(reason, str(found))


@pytest.mark.parametrize("lost", [1, 8, 12, 60])
def test_a_gzip_file_cut_short(written: Writer, lost: int) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 9999)
    assert look_at(written(whole, "whole.csv.gz")).delimiter == ","
    with pytest.raises(InputError, match=r"t\.csv\.gz is (cut short or damaged|not a text table)"):
        look_at(written(whole[:-lost], "t.csv.gz"))


def test_refuse_duplicates_lets_distinct_names_pass() -> None:
    refuse_duplicates(["a", "A", "b"], "t")
    with pytest.raises(InputError, match="more than one column named 'b'"):
        refuse_duplicates(["a", "A", "b", "b"], "t")


def test_names_with_line_ends_are_quoted_or_refused() -> None:
    assert split_names('"a\nb",c') == ["a\nb", "c"]
    with pytest.raises(InputError, match="is no list of names"):
        split_names("a\rb,c")


def test_what_is_cut_in_a_letter_is_refused_and_leaves_no_copy(written: Writer, tmp_path, monkeypatch) -> None:
    path = written(("a,b\n" + "x,y\n" * 9).encode("utf-16")[:-1])
    place = tmp_path / "copies"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with pytest.raises(InputError, match="is cut or damaged; copy it again"):
        look_at(path)
    assert not list(place.iterdir())


def test_a_packed_table_that_expands_beyond_measure_is_refused(written: Writer, monkeypatch) -> None:
    path = written(gzip.compress(b"a,b\n" + b"x,y\n" * 10**6), "bomb.csv.gz")
    look_at(path)
    monkeypatch.setattr(encodings, "EXPANSION_ALLOWED_BYTES", 2 * 10**6)
    with pytest.raises(InputError, match=r"bomb\.csv\.gz expands to .* bytes or more, over 100 times its size; unpack"):
        look_at(path)


def test_a_value_too_long_for_what_must_be_copied_is_named_with_its_line(written: Writer) -> None:
    path = written(f"a,b\nx,1\n{'y' * (csv.field_size_limit() + 1)},é\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"table\.csv, line 3: .*; save it as UTF-8 CSV"):
        look_at(path)


def test_a_blank_before_a_quote_is_no_part_of_a_field(tmp_path: Path) -> None:
    path = tmp_path / "spaced.csv"
    path.write_text('"drug", "dose", "gain"\n"a, b", "low", 1.5\n"c", "high", 2.5\n')
    read = look_through(path)
    assert read.columns == ("drug", "dose", "gain")
    assert read.readable.read_text().splitlines()[1] == '"a, b","low","1.5"'
