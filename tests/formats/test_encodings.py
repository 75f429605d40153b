from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.formats import encodings
from recombine.formats.encodings import survey
from recombine.tables.frames import open_table

Writer = Callable[..., Path]
TEXT = "place,n\ncafé,1\nnaïve “x”,2\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_labels_in_every_encoding(written: Writer, encoding: str, packed: bool) -> None:
    content = TEXT.encode(encoding)
    source = open_table(written(gzip.compress(content) if packed else content, "t.csv.gz" if packed else "t.csv"))
    assert source.read(["place"])["place"].tolist() == ["café", "naïve “x”"]
    assert source.kind("n") == "integer"
    assert ("Windows-1252 (Latin-1)" in source.reader.note) == (encoding == "cp1252")


@pytest.mark.parametrize("mixed", [b"a,b\nx,1\r\ny,2\nz,3\r\n", b"a,b\r\nx,1\ry,2\nz,3", b"a,b\rx,1\ry,2\rz,3\r"])
def test_any_line_ends(written: Writer, mixed: bytes) -> None:
    assert open_table(written(mixed)).read("ab")["b"].tolist() == ["1", "2", "3"]


def test_line_ends_inside_quotes_stay(written: Writer) -> None:
    source = open_table(written(b'a,b\n"x\r\ny",1\r\n"u\nv",2\n'))
    assert source.read("a")["a"].tolist() == ["x\r\ny", "u\nv"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nü,1\n".encode() + "é,2\n".encode("latin-1"), r"not in one encoding throughout \(line 2\)"),
        ("a,b\nx,1\n".encode("utf-16-le"), "NUL bytes, as binary files and unmarked UTF-16 do"),
        (b"a,b\n\xe9\x81,1\n", "not a text table"),
        (b"\xe9\xe8\xe0,b\n\xe9\xe8\xe0,\xe9\n", "not a text table"),
    ],
)
def test_what_cannot_be_told_is_refused(written: Writer, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        survey(written(content))


@given(st.lists(st.sampled_from([b"x", b"\r", b"\n", b"\r\n"])), st.data())
def test_line_ends_are_counted_alike_however_the_bytes_are_cut(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    cut = data.draw(st.integers(0, len(whole)))
    surveys = []
    for chunks in ([whole], [whole[:cut], whole[cut:]]):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(encodings, "_chunks", lambda path, chunks=chunks: filter(None, chunks))
            surveys.append(survey(Path("table.csv")))
    assert surveys[0] == surveys[1]
