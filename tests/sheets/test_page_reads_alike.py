"""The page's TypeScript beside this package: the same sentences, the same cells."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recombine.sheets.notes import KINDS, Note
from recombine.words.reading import reading_sentence

PAGE = Path(__file__).parents[2] / "page"
NODE = shutil.which("node")
ESBUILD = PAGE / "node_modules" / ".bin" / "esbuild"
Ask = Callable[[list[dict[str, Any]]], list[Any]]
pytestmark = pytest.mark.skipif(
    NODE is None or not ESBUILD.exists(), reason="needs node and the page's tools: cd page && npm ci"
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Return what asks the page's code many questions at once."""
    program = tmp_path_factory.mktemp("page") / "read.mjs"
    flags = ["--bundle", "--platform=node", "--format=esm", "--log-level=warning"]
    subprocess.run([ESBUILD, PAGE / "test" / "read.ts", *flags, f"--outfile={program}"], check=True)

    def asked(questions: list[dict[str, Any]]) -> list[Any]:
        told = subprocess.run(
            [str(NODE), str(program)], input=json.dumps(questions), capture_output=True, encoding="utf-8", check=True
        )
        return json.loads(told.stdout)

    return asked


#: Letters that every version of Unicode has.
LETTERS = st.characters(max_codepoint=0x2FFF, exclude_categories=["Cc", "Cn"])
TEXTS = st.text(LETTERS, max_size=6) | st.sampled_from(["::x", "##w[", "a, b", "it's", 'a"b', "\u202e"])
NOTES = st.builds(
    Note,
    st.sampled_from(sorted(KINDS)),
    TEXTS,
    st.lists(st.integers(1, 10**6), max_size=6).map(tuple),
    st.lists(TEXTS, max_size=6).map(tuple),
    st.integers(0, 9_999),
)


#: Each example is many questions, since node takes long to start: what fails is named, and not made smaller.
MANY = settings(max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(notes=st.lists(NOTES, min_size=100, max_size=100))
def test_sentences_are_the_same(ask: Ask, notes: list[Note]) -> None:
    fields = ("kind", "column", "lines", "values", "count")
    told = ask([{"note": {name: getattr(note, name) for name in fields}} for note in notes])
    for note, sentence in zip(notes, told, strict=True):
        assert sentence == reading_sentence(note), note
