"""Words as data: what the page takes from the package is what it shows."""

from __future__ import annotations

import re
from pathlib import Path

from recombine.words.vocabulary import PHRASES

VIEW = Path(__file__).parents[2] / "page" / "src" / "view"


def test_the_page_shows_every_phrase_and_no_other() -> None:
    used = {name for file in VIEW.glob("*.ts") for name in re.findall(r"\bphrases\.(\w+)", file.read_text("utf-8"))}
    assert used - {"json"} == set(PHRASES)  # phrases.json is where they are imported from


def test_phrases_of_one_and_of_several_have_the_same_holes_but_the_count() -> None:
    for singular, plural in (phrase for phrase in PHRASES.values() if not isinstance(phrase, str)):
        holes = [set(re.findall(r"{(\w+)}", text)) - {"count"} for text in (singular, plural)]
        assert holes[0] == holes[1]
