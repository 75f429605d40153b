"""JSON of anything that a result can hold."""

from __future__ import annotations

import json

import pytest

from recombine.report.json_text import json_text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("größe 日 \U0001f600", "größe 日 \U0001f600"),
        ("日.csv".encode().decode("ascii", "surrogateescape"), "日.csv"),  # as a locale without it reads a file's name
        ("\udcff.csv", "\ufffd.csv"),
        ("half \ud83d", "half ?"),
    ],
)
def test_every_text_is_written(text: str, meant: str) -> None:
    assert json.loads(json_text({text: [text]})) == {meant: [meant]}
