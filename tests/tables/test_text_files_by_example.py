"""Small cases of `recombine.tables.text_files`, each as a reader would try it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.tables.text_files import look_at, named, refuse_duplicates, split_names


def test_split_names_by_example() -> None:
    assert (split_names('dose, "cells, fixed"'), split_names(None)) == (["dose", "cells, fixed"], [])


def test_named_by_example() -> None:
    with pytest.raises(InputError, match=re.escape("--symmetric names nothing; give it names or leave it out")):
        named(" , ", "--symmetric")


def test_look_at_by_example() -> None:
    path = Path(tempfile.mkdtemp()) / "colours.csv"
    _ = path.write_text("colour;shape\nred;cube\n")
    found = look_at(path)
    assert (found.delimiter, found.columns) == (";", ("colour", "shape"))


def test_refuse_duplicates_by_example() -> None:
    message = "rename them so each name is unique, replicates to 'a rep 1', 'a rep 2'"
    with pytest.raises(InputError, match=re.escape(message)):
        refuse_duplicates(["a", "b", "a"], "the table")
