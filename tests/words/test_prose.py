"""Templates of reports lay out what words say: they hold headings and labels, no sentences of their own."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

TEMPLATES = [entry for entry in (files("recombine.report") / "templates").iterdir() if entry.name.endswith(".j2")]
#: Five words and a full stop.
SENTENCE = re.compile(r"(?:[A-Za-z][\w'-]*,?;? ){4,}[\w'-]+[.:](?=\s|$)")


def prose(text: str) -> list[str]:
    """Sentences of a template, without what its expressions say and without its style and scripts."""
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|<(style|script).*?</\1>", "\n", text, flags=re.S)
    quoted = re.findall(r'"([^"]*)"', " ".join(re.findall(r"\{\{.*?\}\}", text, flags=re.S)))
    bare = re.sub(r"\{\{.*?\}\}", "N", text, flags=re.S)
    return SENTENCE.findall(re.sub(r"<[^>]*>", "\n", bare)) + [
        each for line in quoted for each in SENTENCE.findall(line)
    ]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_of_a_report_holds_no_sentence(template) -> None:
    assert prose(template.read_text(encoding="utf-8")) == []


def test_a_sentence_in_a_template_is_seen() -> None:
    said = (files("recombine.words") / "templates" / "prose.html.j2").read_text(encoding="utf-8")
    assert len(prose(said)) > 20
