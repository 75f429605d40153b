"""RC107: levels that look like one, measurements taken as labels, and encodings that were assumed."""

from __future__ import annotations

import pandas as pd
import pytest

import recombine as rc


def table(levels: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"site": levels, "b": ["u", "v", "u", "v"], "y": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("levels", [["Lyon", "lyon", "Paris", "Paris"], ["1E5", "100000", "7", "7"]])
def test_two_spellings_are_named(levels, found):
    finding = found(rc.Design.from_frame(table(levels), factors=["site", "b"], outcome="y"), "RC107")
    assert all(repr(level) in finding.message for level in levels[:2])
    assert finding.subjects == ("site",)


def test_a_dose_gets_a_word_and_a_code_does_not(found):
    dose = found(rc.Design.from_frame(table([0.5, 1, 2, 2]), factors=["site", "b"], outcome="y"), "RC107")
    assert "'site': 3 numbers taken as unordered labels (0.5 to 2)" in dose.message
    assert found(rc.Design.from_frame(table([1, 2, 3, 3]), factors=["site", "b"], outcome="y"), "RC107") is None


def test_an_assumed_encoding_is_said(found, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("site,b\ncafé,u\nx,v\nx,u\n".encode("latin-1"))
    finding = found(rc.Design.from_frame(path, factors=["site", "b"]), "RC107")
    assert "read as Windows-1252 (Latin-1)" in finding.message
    assert finding.subjects == ("the encoding",)


def test_plain_labels_are_not_named(found):
    assert (
        found(
            rc.Design.from_frame(table(["Lyon", "Paris", "Rome", "Rome"]), factors=["site", "b"], outcome="y"), "RC107"
        )
        is None
    )
