"""Words as data: what the page takes from the package is what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recombine.words.vocabulary import PHRASES, SERVED

SOURCES = Path(__file__).parents[2] / "page" / "src"


@pytest.mark.parametrize(("folder", "phrases"), [("view", PHRASES), ("served", SERVED)])
def test_the_page_shows_every_phrase_and_no_other(folder: str, phrases: dict[str, object]) -> None:
    texts = [file.read_text("utf-8") for file in (SOURCES / folder).glob("*.ts")]
    used = {name for text in texts for name in re.findall(r"\bphrases\.(\w+)", text)}
    assert used - {"json"} == set(phrases)  # phrases.json is where they are imported from


def test_files_of_the_served_page_hold_no_sentence() -> None:
    for file in (SOURCES / "served").glob("*.ts"):
        code = re.sub(r"/\*.*?\*/|//.*", "", file.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert not re.findall(r'"[A-Z][a-z]*(?: [a-z]+){3,}', code), file.name


def test_phrases_of_one_and_of_several_have_the_same_holes_but_the_count() -> None:
    for singular, plural in (phrase for phrase in PHRASES.values() if not isinstance(phrase, str)):
        holes = [set(re.findall(r"{(\w+)}", text)) - {"count"} for text in (singular, plural)]
        assert holes[0] == holes[1]
