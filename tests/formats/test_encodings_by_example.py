"""Small cases of `recombine.formats.encodings`, each as a reader would try it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.formats.encodings import check_expansion, survey


def test_survey_by_example() -> None:
    import tempfile

    path = Path(tempfile.mkdtemp()) / "cafe.csv"
    _ = path.write_bytes("place\ncafé\n".encode("latin-1"))
    assert (survey(path).encoding) == "cp1252"


def test_check_expansion_by_example() -> None:
    message = (
        "table.csv.gz expands to 2,000,000,000 bytes or more, over 100 times its size; unpack it "
        "yourself if that is as it should be"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        check_expansion("table.csv.gz", packed=10**6, expanded=2 * 10**9)
